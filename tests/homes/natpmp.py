#!/usr/bin/env python3
"""What a router with NAT-PMP (RFC 6886) does: natpmp.py ADDRESS HOME

Answers on ADDRESS and passes the ports that are asked for on to HOME. Runs in the router's namespace, until it is ended.
"""
import socket
import struct
import subprocess
import sys
import time

PORT = 5351
UNSUPPORTED_VERSION, SUCCESS = 1, 0
PROTOCOLS = {1: "udp", 2: "tcp"}


def let_in(protocol, port, home):
    """From `port` of the router to the same of the computer, ahead of the rules that let nothing in."""
    for rule in ("add chain ip potluck mapped { type nat hook prerouting priority -100 ; }",
                 f"add rule ip potluck mapped iifname wan {protocol} dport {port} dnat to {home}:{port}",
                 f"insert rule ip potluck through iifname wan {protocol} dport {port} accept"):
        subprocess.run(["nft", rule], check=True)


def answer(request, began, home):
    if len(request) < 2 or request[0] != 0:  # PCP, which is newer: its clients then ask in the old way
        return struct.pack("!BBHI", 0, 128, UNSUPPORTED_VERSION, int(time.monotonic() - began))
    code = request[1]
    if code == 0:
        return struct.pack("!BBHI", 0, 128, SUCCESS, int(time.monotonic() - began)) + socket.inet_aton("203.0.113.1")
    protocol = PROTOCOLS.get(code)
    if protocol is None or len(request) < 12:
        return None
    inside, _, lifetime = struct.unpack("!HHI", request[4:12])
    if lifetime > 0:
        let_in(protocol, inside, home)
    return struct.pack("!BBHIHHI", 0, 128 + code, SUCCESS, int(time.monotonic() - began), inside, inside, lifetime)


def main():
    address, home = sys.argv[1:]
    began = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.bind((address, PORT))
        while True:
            request, asker = door.recvfrom(1100)
            reply = answer(request, began, home)
            if reply:
                door.sendto(reply, asker)


if __name__ == "__main__":
    main()
