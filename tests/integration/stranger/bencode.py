"""Bencoding (BEP 3): integers, byte strings, lists and dictionaries with sorted keys."""


def encode(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    if isinstance(value, list):
        return b"l" + b"".join(encode(one) for one in value) + b"e"
    return b"d" + b"".join(encode(key) + encode(value[key]) for key in sorted(value)) + b"e"


def decode(text):
    """The first value of `text`; a ValueError or IndexError where it is none."""
    return decode_at(text, 0)[0]


def decode_at(text, at):
    """The value at `at`, and where it ends."""
    first = text[at:at + 1]
    if first == b"i":
        end = text.index(b"e", at)
        return int(text[at + 1:end]), end + 1
    if first in (b"l", b"d"):
        values, at = [], at + 1
        while text[at:at + 1] != b"e":
            value, at = decode_at(text, at)
            values.append(value)
        whole = dict(zip(values[::2], values[1::2])) if first == b"d" else values
        return whole, at + 1
    colon = text.index(b":", at)
    end = colon + 1 + int(text[at:colon])
    if end > len(text):
        raise ValueError("a string that is cut short")
    return text[colon + 1:end], end
