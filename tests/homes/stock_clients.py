"""Programs that know nothing of Potluck fetch a checkpoint by its magnet link: Debian's aria2 and transmission-cli."""
import hashlib
import pathlib
import shutil
import subprocess
import time

import network
import nodes
from scene import text_of_this_repository

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
        assert "xt=urn:btih:" in row["magnet"] and "xt=urn:btmh:1220" in row["magnet"], f"the magnet is no hybrid's: {row['magnet']}"
        assert "x.pe=" in row["magnet"] and "&tr=" not in row["magnet"], f"a tracker, or no address: {row['magnet']}"
        print(f"  {row['magnet']}")
        for client in CLIENTS:
            here = net.add_public()[0]
            file, took = fetched(client, here, row["magnet"], folder / client, f"{entry}:{nodes.PORT}")
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            kept = hashlib.sha256(pathlib.Path(row["file"]).read_bytes()).hexdigest()
            print(f"  {client}: {file.stat().st_size:,} bytes after {took:.0f} s, {'equal' if digest == kept else 'NOT equal'}")
            assert digest == kept, f"{client} has another file"
    finally:
        host.stop()
        dht.stop()
