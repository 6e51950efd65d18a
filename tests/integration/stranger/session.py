"""A connection to a node: BitTorrent's handshake (BEP 3), the extension protocol (BEP 10) and in it "potluck1" with the
sealed channel. What members say is remembered in Heard, which all sessions of a stranger share."""
import asyncio
import os
import struct

import bencode
import wire
from channel import Channel

EXTENDED, OWN_MESSAGE_ID = 20, 33
EXTENSION_BIT = bytes([0, 0, 0, 0, 0, 0x10, 0, 0])
MESSAGES_KEPT = 2000


def handshake(info_hash):
    return b"\x13BitTorrent protocol" + EXTENSION_BIT + info_hash[:20] + b"-XX0001-" + os.urandom(12)


def packed(kind, content=b""):
    return struct.pack(">IB", 1 + len(content), kind) + content


class Heard:
    """What the honest say: their newest statuses, contributions, and every message as it came."""

    def __init__(self):
        self.statuses, self.contributions, self.messages = {}, {}, []
        self.ballots = 0

    def take(self, sender, kind, body, signature):
        if len(self.messages) < MESSAGES_KEPT:
            self.messages.append((sender, kind, body, signature))
        if kind == wire.STATUS:
            self.statuses[sender] = wire.Status(body)
        elif kind == wire.CONTRIBUTION:
            self.contributions[sender] = body, signature
        elif kind == wire.BALLOT:
            self.ballots += 1

    def newest(self):
        """The status of whoever is furthest; None before anybody was heard."""
        trusted = [one for one in self.statuses.values() if one.phase != wire.JOINING]
        return max(trusted, key=lambda one: one.round, default=None)


class Session:
    """Open once `open` has returned; `peer` is the node's key. `asked` is called with each question of the node, `hears`
    with the fields of every message."""

    def __init__(self, stranger, address, key):
        self.address, self.key, self.closed = address, key, False
        self._stranger = stranger
        self._channel = Channel(key, stranger.manifest.run)
        self._remote_id = None
        self.peer = None
        self.asked = lambda kind, body: None
        self.hears = lambda fields: None

    async def connect(self):
        """As far as BEP 10: the other end has told its message id."""
        self.reader, self.writer = await asyncio.open_connection(*self.address)
        self.writer.write(handshake(self._stranger.manifest.run))
        await self.reader.readexactly(68)
        # A port of its own for each session: of two connections that name one port BitTorrent keeps one.
        own = {b"m": {b"potluck1": OWN_MESSAGE_ID}, b"p": await self._stranger.seed.listen()}
        self.writer.write(packed(EXTENDED, b"\0" + bencode.encode(own)))
        while self._remote_id is None:
            extension, content = await self._next_extended()
            if extension == 0:
                self._remote_id = bencode.decode(content)[b"m"].get(b"potluck1")
                if self._remote_id is None:
                    raise ConnectionError("a node that is not in the run yet")

    async def open(self):
        await self.connect()
        self.send_frame(self._channel.hello())
        self.send_frame(self._channel.take_hello(await self._next_frame()))
        self._channel.take_proof(await self._next_frame())
        self.peer = self._channel.peer
        return self

    async def listen(self):
        """Until the connection ends."""
        try:
            while True:
                fields = bencode.decode(self._channel.open(await self._next_frame()))
                sender, kind, body = fields[b"f"], fields[b"k"], fields[b"m"]
                self._stranger.heard.take(sender, kind, body, fields[b"s"])
                self.hears(fields)
                if sender == self.peer:
                    self.asked(kind, body)
        except (OSError, EOFError):
            self.closed = True

    def send_frame(self, frame):
        self.writer.write(packed(EXTENDED, bytes([self._remote_id]) + frame))

    def send_raw(self, content):
        self.send_frame(self._channel.seal(content))

    def send(self, kind, body, key=None, payload=b""):
        """A message of `key`, by default the session's own."""
        self.send_raw(wire.signed_message(key or self.key, self._stranger.manifest.run, kind, body, payload))
        self._stranger.count(wire.NAMES[kind])
        self._stranger.seed.served += 1 if payload else 0

    async def drain(self):
        """Waits until the line has taken what was sent."""
        try:
            await self.writer.drain()
        except OSError:
            self.closed = True

    async def _next_frame(self):
        while True:
            extension, content = await self._next_extended()
            if extension == OWN_MESSAGE_ID:
                return content

    async def _next_extended(self):
        while True:
            size = struct.unpack(">I", await self.reader.readexactly(4))[0]
            message = await self.reader.readexactly(size)
            if size > 1 and message[0] == EXTENDED:
                return message[1], message[2:]
