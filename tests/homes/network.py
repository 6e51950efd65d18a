"""A piece of the internet on one computer: homes behind routers of their own, and public computers.

Namespaces, veth pairs, nftables and tbf; needs root. Everything is named with a prefix, so that what an interrupted run
left behind is found and removed. The addresses: 10.77.0.0/16 is the public network, unless another one is named, and
192.168.N.0/24 is home N.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import time

PREFIX = "plk-"
HERE = pathlib.Path(__file__).resolve().parent


def missing():
    """What is needed and not here, as one sentence; empty if nothing."""
    if not pathlib.Path("/proc/self/uid_map").exists() or not has_root():
        return "Network namespaces need root."
    absent = [tool for tool in ("ip", "tc", "nft") if shutil.which(tool) is None]
    return f"These programs are missing: {', '.join(absent)} (packages iproute2 and nftables)." if absent else ""


def has_root():
    return subprocess.run(["id", "-u"], capture_output=True, text=True, check=True).stdout.strip() == "0"


def run(*words):
    subprocess.run(words, check=True)


def inside(namespace, *words):
    run("ip", "netns", "exec", PREFIX + namespace, *words)


def has_device(namespace, device):
    return subprocess.run(["ip", "-n", PREFIX + namespace, "link", "show", device], capture_output=True).returncode == 0


def listening_ports(namespace):
    """TCP ports on which a program in the namespace accepts connections at addresses other than loopback's."""
    listed = subprocess.run(["ip", "netns", "exec", PREFIX + namespace, "ss", "-Hltn"], capture_output=True, text=True,
                            check=True).stdout
    ends = [line.split()[3].rpartition(":") for line in listed.splitlines()]
    return {int(port) for address, _, port in ends if not address.startswith(("127.", "[::1]"))}


def remove_all():
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    for name in (line.split()[0] for line in listed.splitlines()):
        if not name.startswith(PREFIX):
            continue
        for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
            subprocess.run(["kill", "-9", pid], check=False)
        run("ip", "netns", "del", name)


def make_room_for_neighbours():
    """All namespaces share one table of who is where, of 1,024 places. In one piece of the internet every router knows
    every other, which real ones do not: from thirty-two homes on packets were lost for lack of a place. Returns the
    limits as they were; a container, which has none of its own, leaves them to its computer."""
    folder = pathlib.Path("/proc/sys/net/ipv4/neigh/default")
    paths = [folder / f"gc_thresh{number}" for number in (3, 2, 1)]
    before = {path: path.read_text(encoding="utf-8") for path in paths if path.exists()}
    for path in before:
        path.write_text("65536", encoding="utf-8")
    return before


class Network:
    """`with Network() as network:` has nothing but a public network at first. Programs take the usual one for a local
    network, as its addresses are private; "198.18", which is kept for tests (RFC 2544), they take for the internet."""

    def __init__(self, public="10.77"):
        self.public = public
        self.publics = 0
        self.neighbours = 0
        self.homes = 0

    def __enter__(self):
        remove_all()
        self.limits = make_room_for_neighbours()
        run("ip", "netns", "add", PREFIX + "inet")
        inside("inet", "ip", "link", "add", "br0", "type", "bridge")
        inside("inet", "ip", "addr", "add", f"{self.public}.0.1/16", "dev", "br0")
        inside("inet", "ip", "link", "set", "br0", "up")
        return self

    def __exit__(self, *_):
        remove_all()
        for path, limit in self.limits.items():
            path.write_text(limit, encoding="utf-8")

    def plug(self, namespace, device, address, port):
        """A link from the public network into `namespace`, as `device`; without `address` the caller gives it one."""
        run("ip", "link", "add", device, "netns", PREFIX + namespace, "type", "veth", "peer", "name", port, "netns",
            PREFIX + "inet")
        inside("inet", "ip", "link", "set", port, "master", "br0", "up")
        inside(namespace, "ip", "link", "set", device, "up")
        inside(namespace, "ip", "link", "set", "lo", "up")
        if address is not None:
            inside(namespace, "ip", "addr", "add", address + "/16", "dev", device)
            inside(namespace, "ip", "route", "add", "default", "via", f"{self.public}.0.1")

    def add_public(self):
        """A computer with an address of its own: its namespace and that address."""
        self.publics += 1
        name, address = f"p{self.publics}", f"{self.public}.0.{10 + self.publics}"
        run("ip", "netns", "add", PREFIX + name)
        self.plug(name, "eth0", address, f"{name}-port")
        return name, address

    def add_v6(self):
        """A public computer that has an IPv6 address only."""
        self.publics += 1
        return self.add_with(f"p{self.publics}", f"2001:db8:77::{10 + self.publics}", "64", "nodad")

    def add_neighbour(self):
        """A computer in one network with all others of its kind, which has no router."""
        self.neighbours += 1
        return self.add_with(f"n{self.neighbours}", f"192.168.200.{10 + self.neighbours}", "24")

    def add_with(self, name, address, bits, *more):
        """A computer whose only address is of another network than the public one: its namespace and that address."""
        run("ip", "netns", "add", PREFIX + name)
        self.plug(name, "eth0", None, f"{name}-port")
        inside(name, "ip", "addr", "add", f"{address}/{bits}", "dev", "eth0", *more)
        return name, address

    def add_home(self, up, down, nat="cone", lost=0, delay=0):
        """A computer behind a router that lets no connection in; `up` and `down` as tc writes rates. `nat` is cone, or
        symmetric: another port for each destination. Of a hundred packets `lost` are, and each takes `delay`
        milliseconds to the router. Returns its namespace."""
        self.homes += 1
        number, router, home = self.homes, f"r{self.homes}", f"h{self.homes}"
        for namespace in (router, home):
            run("ip", "netns", "add", PREFIX + namespace)
        self.plug(router, "wan", f"{self.public}.1.{number}", f"{router}-port")
        if delay > 0:
            self.start(home, sys.executable, HERE / "delay.py", PREFIX + router, PREFIX + home, delay)
            end = time.monotonic() + 10
            while not (has_device(router, "lan") and has_device(home, "eth0")):
                assert time.monotonic() < end, "no TUN device can be made here"
                time.sleep(0.1)
        else:
            run("ip", "link", "add", "lan", "netns", PREFIX + router, "type", "veth", "peer", "name", "eth0", "netns",
                PREFIX + home)
        for namespace, device, address in ((router, "lan", "1"), (home, "eth0", "2")):
            inside(namespace, "ip", "addr", "add", f"192.168.{number}.{address}/24", "dev", device)
            inside(namespace, "ip", "link", "set", device, "up")
        inside(home, "ip", "link", "set", "lo", "up")
        inside(home, "ip", "route", "add", "default", "via", f"192.168.{number}.1")
        inside(router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        inside(router, "nft", "add table ip potluck")
        inside(router, "nft", "add chain ip potluck out { type nat hook postrouting priority 100 ; }")
        inside(router, "nft", "add rule ip potluck out oifname wan masquerade"
               + (" fully-random" if nat == "symmetric" else ""))
        inside(router, "nft", "add chain ip potluck through { type filter hook forward priority 0 ; policy accept ; }")
        inside(router, "nft", "add rule ip potluck through iifname wan ct state new drop")
        # Nor does a router answer for itself: who tries an address behind it waits in vain.
        inside(router, "nft", "add chain ip potluck in { type filter hook input priority 0 ; policy accept ; }")
        inside(router, "nft", "add rule ip potluck in iifname wan ct state new drop")
        if lost > 0:
            inside(router, "nft", f"add rule ip potluck through numgen random mod 100 < {lost} drop")
        for device, rate in (("wan", up), ("lan", down)):
            inside(router, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "32kb", "latency",
                   "300ms")
        return home

    def stop_bittorrent(self, home):
        """From now on what begins like a BitTorrent client's connection does not pass the router of `home`: the first
        eight bytes of its handshake, behind headers of TCP, with and without time stamps, and of uTP."""
        for protocol, bits in (("tcp", 160), ("tcp", 256), ("udp", 224)):
            inside("r" + home[1:], "nft", f"add rule ip potluck through meta l4proto {protocol} "
                   f"@th,{bits},64 0x13426974546f7272 counter drop")

    def stopped(self, home):
        """How many packets stop_bittorrent() has dropped."""
        words = ["ip", "netns", "exec", PREFIX + "r" + home[1:], "nft", "list chain ip potluck through"]
        rules = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return sum(int(count) for count in re.findall(r"counter packets (\d+)", rules))

    def let_in_when_asked(self, home):
        """The router of `home` has NAT-PMP switched on."""
        number = home[1:]
        self.start("r" + number, sys.executable, HERE / "natpmp.py", f"192.168.{number}.1", f"192.168.{number}.2")

    @staticmethod
    def can_connect(namespace, address, port):
        """Whether a TCP connection from there gets through within two seconds."""
        words = f"import socket; socket.create_connection(('{address}', {port}), 2)"
        return subprocess.run(["ip", "netns", "exec", PREFIX + namespace, sys.executable, "-c", words],
                              capture_output=True).returncode == 0

    def shape(self, public, up, down=None):
        """The line of a public computer sends `up` from now on and, if that is named, receives `down`."""
        for namespace, device, rate in ((public, "eth0", up), ("inet", f"{public}-port", down)):
            if rate is not None:
                inside(namespace, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "32kb",
                       "latency", "300ms")

    def set_line(self, home, state):
        """Whether the cable between `home` and its router is plugged in, `state` being up or down."""
        inside("r" + home[1:], "ip", "link", "set", "lan", state)

    def change_address(self, home):
        """The provider gives the router of `home` another address, as many do every night."""
        router, number = "r" + home[1:], int(home[1:])
        inside(router, "ip", "addr", "del", f"{self.public}.1.{number}/16", "dev", "wan")
        inside(router, "ip", "addr", "add", f"{self.public}.2.{number}/16", "dev", "wan")
        inside(router, "ip", "route", "replace", "default", "via", f"{self.public}.0.1")

    @staticmethod
    def start(namespace, *words):
        """A program in it, which ends with the network."""
        subprocess.Popen(["ip", "netns", "exec", PREFIX + namespace, *map(str, words)])

    def bytes_of(self, home):
        """Sent and received by the computer in `home` since it has been there."""
        counters = []
        for way in ("tx", "rx"):
            path = f"/sys/class/net/eth0/statistics/{way}_bytes"
            shown = subprocess.run(["ip", "netns", "exec", PREFIX + home, "cat", path], capture_output=True, text=True,
                                   check=True)
            counters.append(int(shown.stdout))
        return tuple(counters)
