"""An ordinary BitTorrent peer that fetches a blob from one node: section 8, Blobs as torrents."""
import asyncio
import struct

import wire
from session import handshake, packed

INTERESTED, UNCHOKE, REQUEST, PIECE = 2, 1, 6, 7
BLOCKS_AT_ONCE = 16
FETCHED_WITHIN = 5  # seconds


async def fetch(address, reference):
    """The content of a blob reference; OSError or EOFError if this node does not have it."""
    try:
        return await asyncio.wait_for(_fetch(address, reference), FETCHED_WITHIN)
    except asyncio.TimeoutError as late:
        raise ConnectionError("it does not come") from late


async def _fetch(address, reference):
    root, size = reference[:32], struct.unpack("<Q", reference[32:40])[0]
    info = wire.info_hash(root, size) if reference[40] == 0 else reference[41:]
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(handshake(info) + packed(INTERESTED))
        await reader.readexactly(68)
        piece = wire.piece_bytes(size)
        wanted = [(at, min(wire.BLOCK_BYTES, size - at)) for at in range(0, size, wire.BLOCK_BYTES)]
        blocks, asked, unchoked = {}, 0, False
        while len(blocks) < len(wanted):
            kind, message = await _next_message(reader)
            unchoked = unchoked or kind == UNCHOKE
            if kind == PIECE:
                index, begin = struct.unpack(">II", message[:8])
                blocks[index * piece + begin] = message[8:]
            while unchoked and asked < len(wanted) and asked - len(blocks) < BLOCKS_AT_ONCE:
                at, length = wanted[asked]
                writer.write(packed(REQUEST, struct.pack(">III", at // piece, at % piece, length)))
                asked += 1
        content = b"".join(blocks[at] for at, _ in wanted)
    finally:
        writer.close()
    if wire.merkle_root(content) != root:
        raise ConnectionError("another content")
    return content


async def _next_message(reader):
    size = struct.unpack(">I", await reader.readexactly(4))[0]
    message = await reader.readexactly(size)
    return (message[0], message[1:]) if size > 0 else (None, b"")
