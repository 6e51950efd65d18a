"""Programs that know nothing of Potluck fetch a checkpoint by its magnet link: Debian's aria2 and transmission-cli.

A client of BitTorrent's first version (plain_v1.py) fetches it first, so that a failure of the others is theirs. A torrent
of both versions has a dictionary with an empty key (BEP 52: the length of a file stands under ""), which is valid bencode
and which two clients cannot read:

  aria2 1.36          src/XmlRpcRequestParserController.h, validMember(): `return value_ && !name_.empty();` drops the
                      entry, and the info-hash is computed from what is left (src/bittorrent_helper.cc: `bencode2::encode`)
  transmission 3.00   libtransmission/variant-benc.c, get_node(): `*key != 0` takes the empty key (TR_KEY_NONE, 0) for none
                      and fails with EILSEQ

Each is shown with the client's own program and the torrent; a version without the fault has to fetch the file.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "integration" / "stranger"))

import bencode  # noqa: E402
import network  # noqa: E402
import nodes  # noqa: E402
from scene import text_of_this_repository  # noqa: E402

CLIENTS = ("aria2c", "transmission-cli")
FETCH_WITHIN = 120  # seconds, from the start of the client


def command_of(client, magnet, folder, entry):
    """As a person would give it, but for the DHT, whose public entries are not here."""
    if client == "aria2c":
        return [client, "--dir", str(folder), "--seed-time=0", "--enable-dht=true", f"--dht-entry-point={entry}",
                f"--dht-file-path={folder}/dht.dat", "--bt-enable-lpd=true", "--summary-interval=0", magnet]
    # It reads entries of its own from this file (tr_dhtInit in libtransmission/tr-dht.c).
    settings = folder / "settings"
    settings.mkdir()
    (settings / "dht.bootstrap").write_text(entry.replace(":", " ") + "\n", encoding="utf-8")
    done = folder / "done.sh"
    done.write_text("#!/bin/sh\nkill -TERM $PPID\n", encoding="utf-8")
    done.chmod(0o755)
    return [client, "-g", str(settings), "-w", str(folder), "-f", str(done), magnet]


def fetched(client, namespace, magnet, folder, entry):
    """The file, and the seconds it took."""
    folder.mkdir()
    log = open(folder / "client.log", "wb")
    begun = time.monotonic()
    one = subprocess.Popen(["ip", "netns", "exec", network.PREFIX + namespace, *command_of(client, magnet, folder, entry)],
                           stdout=log, stderr=subprocess.STDOUT, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    try:
        def whole():
            files = [file for file in folder.rglob("*.safetensors") if not pathlib.Path(f"{file}.aria2").exists()]
            return files[0] if files else None
        file = nodes.wait_for(whole, FETCH_WITHIN, f"{client} has fetched nothing in {FETCH_WITHIN} s: "
                              + (folder / "client.log").read_text(errors="replace")[-600:])
        return file, time.monotonic() - begun
    finally:
        one.terminate()
        one.wait()


def without_empty_keys(value):
    if not isinstance(value, dict):
        return value
    return {key: without_empty_keys(one) for key, one in value.items() if key}


def output_of(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def fault_of(client, info, folder):
    """Why the client cannot read a torrent with an empty key, as one sentence; None if it can. `info`: the bytes."""
    whole, stripped = folder / "whole.torrent", folder / "stripped.torrent"
    left = bencode.encode(without_empty_keys(bencode.decode(info)))
    for file, dictionary in ((whole, info), (stripped, left)):
        file.write_bytes(b"d4:info" + dictionary + b"e")
    right, wrong = hashlib.sha1(info).hexdigest(), hashlib.sha1(left).hexdigest()
    if client == "aria2c":
        shown = re.search(r"Info Hash: ([0-9a-f]{40})", output_of("aria2c", "-S", str(whole))[1])
        assert shown, "aria2c shows no info-hash"
        if shown[1] == right:
            return None
        assert shown[1] == wrong, f"aria2c has {shown[1]} for the info-hash, for another reason than the empty key"
        return f"aria2c -S says {shown[1]} and not {right}: the hash without the empty key of the file tree"
    failed, said = output_of("transmission-show", str(whole))
    if not failed:
        return None
    # A torrent without a tracker is fine with it, and so is all else in this one.
    again, more = output_of("transmission-show", str(stripped))
    assert not again and wrong in more, f"transmission-show refuses the torrent for another reason than the empty key: {more}"
    return f"{said.strip().replace(str(whole), whole.name)}, says transmission-show; it reads the same torrent without the empty key"


def fetch_as_first_version(namespace, row, folder):
    """The bytes of the torrent's info dictionary, once the whole file came by its v1 info-hash."""
    folder.mkdir()
    peer, = re.findall(r"x\.pe=([0-9.]+:\d+)", row["magnet"])
    info_hash, = re.findall(r"urn:btih:([0-9a-f]{40})", row["magnet"])
    begun = time.monotonic()
    done = subprocess.run(["ip", "netns", "exec", network.PREFIX + namespace, sys.executable, str(HERE / "plain_v1.py"), peer,
                           info_hash, str(folder)], capture_output=True, text=True, timeout=FETCH_WITHIN)
    assert done.returncode == 0, f"the v1 hash is not served: {done.stderr[-300:]}"
    assert (folder / "file").read_bytes() == pathlib.Path(row["file"]).read_bytes(), "the v1 hash has another file"
    print(f"  a client of the first version: metadata and {(folder / 'file').stat().st_size:,} bytes after "
          f"{time.monotonic() - begun:.0f} s, equal")
    return (folder / "info").read_bytes()


def stock_clients_fetch_a_checkpoint(net, program, folder):
    absent = [client for client in CLIENTS if shutil.which(client) is None]
    if absent:
        print(f"  skipped: {', '.join(absent)} not installed")
        return
    middle, entry = net.add_public()
    there, address = net.add_public()
    dht = nodes.Node(program, middle, folder / "dht", "--port", str(nodes.PORT))
    host = nodes.Node(program, there, folder / "host", "--port", str(nodes.PORT), "--address", f"{address}:{nodes.PORT}",
                      "--dht", f"{entry}:{nodes.PORT}")
    try:
        dht.start("serve", "--standalone")
        host.start("host", "--text", str(text_of_this_repository(folder)), "--name", "for all", "--model", "tiny", "--window",
                   "5", "--rounds", "400", "--volunteer", "--checkpoint-every", "2")
        rows = nodes.wait_for(lambda: (host.ask("checkpoints") or {}).get("rows"), 180, "the host has no checkpoint")
        row = rows[0]
        both = "xt=urn:btih:" in row["magnet"] and "xt=urn:btmh:1220" in row["magnet"]
        assert both, f"the magnet is no hybrid's: {row['magnet']}"
        assert "x.pe=" in row["magnet"] and "&tr=" not in row["magnet"], f"a tracker, or no address: {row['magnet']}"
        print(f"  {row['magnet']}")
        info = fetch_as_first_version(net.add_public()[0], row, folder / "first")
        for client in CLIENTS:
            if fault := fault_of(client, info, folder / "first"):
                print(f"  {client}: cannot, by its own fault: {fault}")
                continue
            file, took = fetched(client, net.add_public()[0], row["magnet"], folder / client, f"{entry}:{nodes.PORT}")
            assert file.read_bytes() == pathlib.Path(row["file"]).read_bytes(), f"{client} has another file"
            print(f"  {client}: {file.stat().st_size:,} bytes after {took:.0f} s, equal")
    finally:
        host.stop()
        dht.stop()
