"""Computers in one local network, without the internet, whose only word of each other is an invite without addresses."""
import re
import time

import network
import nodes
from scene import text_of_this_repository

MEET_WITHIN = 10  # seconds, from the start of the program that joins


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
