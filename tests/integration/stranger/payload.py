"""A payload of docs/payload-format.md that parses and means nothing: random signs of whatever size, at the beginning of
each chunk."""
import struct

CHUNK, GROUP = 4096, 64 * 4096


def noise(author, parameters, k, size, rng):
    """With the author's key before it, as it is published (section 7 of docs/wire-format.md)."""
    groups = []
    for start in range(0, parameters, GROUP):
        group = min(GROUP, parameters - start)
        chunks = [min(CHUNK, group - at) for at in range(0, group, CHUNK)]
        entries = sum(-(-k * chunk // CHUNK) for chunk in chunks)
        codes = bytearray(rng.randbytes(-(-entries // 4)))
        codes[-1] &= (1 << 2 * ((entries - 1) % 4 + 1)) - 1
        # Rice code with b = 0: a gap of nothing is a single one.
        gaps = ((1 << entries) - 1).to_bytes(-(-entries // 8), "little")
        groups.append(struct.pack("<4fB", size, 2 * size, -size, -2 * size, 0) + bytes(codes) + gaps)
    table = b"".join(struct.pack("<I", len(group)) for group in groups)
    return author + b"PLP1" + struct.pack("<IQ", k, parameters) + table + b"".join(groups)
