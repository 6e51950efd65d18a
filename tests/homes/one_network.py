"""Computers in one local network, without the internet, whose only word of each other is an invite without addresses."""
import json
import pathlib
import re
import subprocess
import sys
import time

import network
import nodes
from scene import text_of_this_repository

WEB_SERVER = pathlib.Path(__file__).resolve().parent.parent / "fresh" / "web_server.py"
MEET_WITHIN = 10  # seconds, from the start of the program that joins
FOUND_WITHIN = 60  # likewise, for one that has no invite and looks for a run first


def add_second_interface(namespace, number):
    """As a VPN makes one: a point-to-point device of its own network on which nobody answers, with a lower metric."""
    network.inside(namespace, "ip", "link", "add", "vpn0", "type", "veth", "peer", "name", "nobody")
    network.inside(namespace, "ip", "link", "set", "nobody", "up")
    network.inside(namespace, "ip", "addr", "add", f"10.8.0.{number}/24", "dev", "vpn0")
    network.inside(namespace, "ip", "link", "set", "vpn0", "up")
    network.inside(namespace, "ip", "route", "add", "default", "dev", "vpn0", "metric", "50")


def without_addresses(invite):
    return re.sub(r"&x\.pe=[^&]*", "", invite)


def seconds_to_meet(net, program, folder, joiners, second_interface):
    """Of each computer that joins, until it has a session with another member."""
    namespaces = [net.add_neighbour()[0] for _ in range(1 + joiners)]
    if second_interface:
        for number, namespace in enumerate(namespaces, 1):
            add_second_interface(namespace, number)
    started = [nodes.Node(program, namespace, folder / namespace) for namespace in namespaces]
    host = started[0]
    try:
        host.start("host", "--text", str(text_of_this_repository(folder)), "--name", "one network", "--model", "tiny",
                   "--window", "10", "--rounds", "100")
        invite = nodes.wait_for(lambda: host.printed("invite:"), 60, "the host has printed no invite")
        took = []
        for joiner in started[1:]:
            begun = time.monotonic()
            joiner.start("join", without_addresses(invite))
            nodes.wait_for(lambda: is_in_company(joiner), 60, "a computer met nobody in 60 s", every=0.2)
            took.append(time.monotonic() - begun)
        ports = {one.ask("status")["network"]["port"] for one in started}
        heard = {port for one in started for port in network.listening_ports(one.namespace)}
        assert heard == ports, f"nodes say that they listen on {ports}, and listen on {heard}"
        return took, invite
    finally:
        for one in started:
            one.stop()


def is_in_company(node):
    run = (node.ask("status") or {}).get("run") or {}
    return any(member["connected"] for member in run.get("members", []))


def meet(net, program, folder, times, joiners=1, second_interface=False):
    took = []
    for number in range(times):
        here = folder / str(number)
        here.mkdir()
        seconds, invite = seconds_to_meet(net, program, here, joiners, second_interface)
        took += seconds
    print(f"  met after {', '.join(f'{one:.1f}' for one in took)} s, of an invite without addresses; the host's own: {invite}")
    assert max(took) <= MEET_WITHIN, f"it took more than {MEET_WITHIN} s"
    assert "x.pe=192.168.200." in invite, "the invite does not name the host's address in its network"
    assert "x.pe=127." not in invite and "fe80" not in invite, "the invite names an address that leads nowhere"


def two_in_one_network_meet(net, program, folder):
    meet(net, program, folder, 2)


def three_in_one_network_meet(net, program, folder):
    meet(net, program, folder, 1, joiners=2)


def two_in_one_network_meet_ten_times(net, program, folder):
    meet(net, program, folder, 10)


def two_in_one_network_with_a_vpn_meet(net, program, folder):
    meet(net, program, folder, 2, second_interface=True)


def find_runs(program, namespace, folder):
    """What `runs find` prints in a computer where no node runs."""
    done = subprocess.run(["ip", "netns", "exec", network.PREFIX + namespace, str(program), "--data-dir", str(folder), "runs",
                           "find", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, f"runs find failed: {done.stderr}"
    return json.loads(done.stdout)


def vouch_by_list(program, folder, row, line):
    """A list that names the run, made in one data folder and followed in another; returns the second."""
    maker, follower, runs = folder / "maker", folder / "follower", folder / "runs.json"

    def do(data, *words):
        done = subprocess.run([str(program), "--data-dir", str(data), "list", *words], capture_output=True, text=True)
        assert done.returncode == 0, f"list {words[0]} failed: {done.stderr}"
        return done.stdout

    do(maker, "create", str(runs), "--title", "Kitchen")
    printed = do(maker, "add", str(runs), "--run", row["magnet"], "--host", row["host"], "--line", line)
    do(follower, "follow", str(runs), printed.split()[-1])
    return follower


def a_list_travels_as_a_torrent(net, program, folder):
    """One follows a list by its magnet from a web server that only its own computer reaches, the other from that one; a
    newer version comes from the web seed."""
    namespaces = [net.add_neighbour()[0] for _ in range(2)]
    first, second = (nodes.Node(program, namespace, folder / namespace) for namespace in namespaces)
    site, maker, runs = folder / "site", folder / "maker", folder / "site" / "runs.json"
    site.mkdir()
    web = subprocess.Popen(["ip", "netns", "exec", network.PREFIX + first.namespace, sys.executable,
                            str(WEB_SERVER), str(site)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def make(*words):
        done = subprocess.run([str(program), "--data-dir", str(maker), "list", *words, "--at", place], capture_output=True,
                              text=True)
        assert done.returncode == 0, f"list {words[0]} failed: {done.stderr}"
        return re.search(r"potluck:list\?from=magnet\S+", done.stdout)[0]

    def follow(node, link):
        begun = time.monotonic()
        done = subprocess.run([str(program), "--data-dir", str(node.folder), "list", "follow", link], capture_output=True,
                              text=True)
        assert done.returncode == 0, f"the list is not followed in {node.namespace}: {done.stderr}"
        return time.monotonic() - begun

    def serial(node):
        shown = subprocess.run([str(program), "--data-dir", str(node.folder), "list", "show", "--json"], capture_output=True,
                               text=True, check=True)
        return [one["serial"] for one in json.loads(shown.stdout)["lists"]]

    try:
        place = f"http://127.0.0.1:{web.stdout.readline().split()[1]}/runs.json"
        link = make("create", str(runs), "--title", "Kitchen")
        for node in (first, second):
            node.start("serve", "--standalone")
            nodes.wait_for(lambda: node.ask("status"), 30, "a node does not start")
        web_took, peer_took = follow(first, link), follow(second, link)
        assert serial(first) == serial(second) == [1], f"the serials are {serial(first)} and {serial(second)}"
        make("add", str(runs), "--run", "1" * 64, "--host", "2" * 64, "--line", "Good soup.")
        begun = time.monotonic()
        nodes.wait_for(lambda: serial(first) == [2], 180, "the newer version did not come from the web seed")
        print(f"  followed after {web_took:.1f} s from the web seed, after {peer_took:.1f} s from the other computer; the newer "
              f"version {time.monotonic() - begun:.0f} s after it was made")
        assert serial(second) == [1], "the second computer reaches the web server"
    finally:
        web.terminate()
        for node in (first, second):
            node.stop()


def a_run_is_found_without_an_invite(net, program, folder):
    """One hosts and announces, the other knows nothing but its network."""
    namespaces = [net.add_neighbour()[0] for _ in range(2)]
    host, other = (nodes.Node(program, namespace, folder / namespace) for namespace in namespaces)
    try:
        host.start("host", "--text", str(text_of_this_repository(folder)), "--name", "found here", "--model", "tiny", "--window",
                   "5", "--rounds", "100", "--volunteer", "--announce", "--language", "en")
        nodes.wait_for(lambda: ((host.ask("status") or {}).get("run") or {}).get("round", 0) >= 4, 180, "the host has finished no rounds")
        begun = time.monotonic()
        found = find_runs(program, other.namespace, folder / "nobody")
        heard = time.monotonic() - begun
        assert [row["name"] for row in found["rows"]] == ["found here"], f"this was found: {found}"
        row = found["rows"][0]
        assert row["round"] >= 1, f"no round is proved: {found}"
        assert row["vouched_by"] == "network", f"it is vouched for by {row['vouched_by']}"
        assert not (folder / "nobody").exists(), "looking for runs has made a data folder"
        follower = vouch_by_list(program, folder, row, "Good soup.")
        listed = find_runs(program, other.namespace, follower)["rows"][0]
        assert (listed["vouched_by"], listed["line"]) == ("list", "Good soup."), f"the list vouches for nothing: {listed}"
        begun = time.monotonic() - heard  # lists take a look of their own
        other.start("join", row["magnet"])
        nodes.wait_for(lambda: is_in_company(other), 60, "the run that was found has nobody in it after 60 s", every=0.2)
        took = time.monotonic() - begun
        print(f"  found after {heard:.1f} s (round {row['round']} of {row['total_rounds']}, {row['volunteers']} volunteer), in company "
              f"after {took:.1f} s; {found['neighbours']} neighbour on the board")
        assert took <= FOUND_WITHIN, f"it took more than {FOUND_WITHIN} s"
    finally:
        for one in (host, other):
            one.stop()


def a_backbone_tells_of_a_run_whose_host_has_gone(net, program, folder):
    """A newcomer starts after the host has been killed, and finds and joins the run by what the backbone says of it."""
    namespaces = [net.add_neighbour()[0] for _ in range(3)]
    host, backbone, newcomer = (nodes.Node(program, namespace, folder / namespace) for namespace in namespaces)
    try:
        host.start("host", "--text", str(text_of_this_repository(folder)), "--name", "carried on", "--model", "tiny",
                   "--window", "5", "--rounds", "400", "--volunteer", "--announce")
        invite = nodes.wait_for(lambda: host.printed("invite:"), 60, "the host has printed no invite")
        backbone.start("backbone", invite)
        nodes.wait_for(lambda: is_in_company(backbone), 60, "the backbone has met nobody")

        def tells():
            rows = (backbone.ask("runs", "find") or {}).get("rows", [])
            return [row for row in rows if row["name"] == "carried on" and row["round"] >= 1]
        told = nodes.wait_for(tells, 180, "the backbone has heard of no round")[0]
        host.kill()
        gone = time.monotonic()
        nodes.wait_for(lambda: not is_in_company(backbone), 60, "the backbone still has a session with the host")
        begun = time.monotonic()
        found = find_runs(program, newcomer.namespace, folder / "nobody")
        heard = time.monotonic() - begun
        assert [row["name"] for row in found["rows"]] == ["carried on"], f"this was found: {found}"
        row = found["rows"][0]
        assert row["host"] == told["host"] and row["round"] >= 1, f"another host, or no proved round: {row}"
        newcomer.start("join", row["magnet"])
        nodes.wait_for(lambda: is_in_company(newcomer), 60, "the newcomer is in nobody's company after 60 s")
        print(f"  found after {heard:.1f} s, {begun - gone:.0f} s after the host was killed (round {row['round']}, vouched for by "
              f"{row['vouched_by']}); in company after {time.monotonic() - begun:.1f} s")
    finally:
        for one in (newcomer, backbone, host):
            one.stop()
