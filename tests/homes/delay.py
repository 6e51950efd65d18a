"""A line that takes its time: delay.py ROUTER-NAMESPACE HOME-NAMESPACE MILLISECONDS

Makes a TUN device `lan` in the one network namespace and `eth0` in the other, and carries IP packets between them, each
way so much later and in order. It does what netem does where the kernel has none. Ends when it is killed.
"""
import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
PACKET_BYTES_MAX = 65_536
WAITING_MAX = 10_000  # packets; more is a line that is full, and they are lost as there

libc = ctypes.CDLL(None, use_errno=True)


def device_in(namespace, name):
    with open(f"/run/netns/{namespace}", "rb") as place:
        if libc.setns(place.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"namespace {namespace}")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


def main():
    router, home = device_in(sys.argv[1], "lan"), device_in(sys.argv[2], "eth0")
    delay = float(sys.argv[3]) / 1e3
    other = {router: home, home: router}
    waiting = collections.deque()  # (when, to, packet), by time
    while True:
        patience = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([router, home], [], [], patience)
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, to, packet = waiting.popleft()
            try:
                os.write(to, packet)
            except OSError:
                pass  # not up yet, or its queue is full: lost
        for device in ready:
            try:
                packet = os.read(device, PACKET_BYTES_MAX)
            except BlockingIOError:
                continue
            if len(waiting) < WAITING_MAX:
                waiting.append((now + delay, other[device], packet))


main()
