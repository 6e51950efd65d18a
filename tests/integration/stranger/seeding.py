"""An ordinary BitTorrent seed for blobs of one piece, such as the payloads of small models."""
import asyncio
import struct

import wire
from session import handshake, packed

INTERESTED, UNCHOKE, BITFIELD, REQUEST, PIECE = 2, 1, 5, 6, 7


class Seed:
    def __init__(self):
        self.served = 0
        self._contents = {}

    async def listen(self):
        """On one more port, which it returns."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return server.sockets[0].getsockname()[1]

    def offer(self, content):
        """Its reference. Who asks for it gets it."""
        root = wire.merkle_root(content)
        self._contents[wire.info_hash(root, len(content))[:20]] = content
        return wire.blob_ref(root, len(content))

    def pretend(self, root, size):
        """Who asks for it is told that it is here, and never gets it."""
        self._contents[wire.info_hash(root, size)[:20]] = None
        return wire.blob_ref(root, size)

    async def _serve(self, reader, writer):
        try:
            info_hash = (await reader.readexactly(68))[28:48]
            if info_hash in self._contents:
                writer.write(handshake(info_hash) + packed(BITFIELD, b"\x80"))
                await self._answer(self._contents[info_hash], reader, writer)
        except (OSError, EOFError):
            pass
        writer.close()

    async def _answer(self, content, reader, writer):
        while True:
            size = struct.unpack(">I", await reader.readexactly(4))[0]
            message = await reader.readexactly(size)
            if size == 0:
                continue
            if message[0] == INTERESTED:
                writer.write(packed(UNCHOKE))
            elif message[0] == REQUEST and content is not None:
                index, begin, length = struct.unpack(">III", message[1:13])
                block = content[begin:begin + length].ljust(length, b"\0")  # asked for up to the end of the piece
                writer.write(packed(PIECE, struct.pack(">II", index, begin) + block))
                self.served += 1
