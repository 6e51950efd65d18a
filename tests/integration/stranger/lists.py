"""Accept lists, certificates, ballots and histories as a member reads them: sections 5, 6 and 9 of docs/wire-format.md."""
import struct

import wire

BLOB_BYTES = 73
ROLL_BACK, REPLACE = 4, 5


class Reader:
    """Fields one after the other; what is missing or left over is malformed."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def raw(self, size):
        part = self._data[self._at:self._at + size]
        if len(part) != size:
            raise ValueError("cut short")
        self._at += size
        return part

    def _number(self, code):
        return struct.unpack("<" + code, self.raw(struct.calcsize(code)))[0]

    def u8(self): return self._number("B")
    def u16(self): return self._number("H")
    def u32(self): return self._number("I")
    def u64(self): return self._number("Q")

    def end(self):
        if self._at != len(self._data):
            raise ValueError("bytes left over")

    def certificate(self, key):
        """The person whose computer `key` is, and the bytes that say so."""
        if self.u8() == 0:
            return key, wire.OWN
        person, signature = self.raw(32), self.raw(64)
        return person, b"\1" + person + signature


class Entry:
    def __init__(self, reader):
        self.peer, self.payload, self.tokens = reader.raw(32), reader.raw(BLOB_BYTES), reader.u64()
        marks, self.signature = reader.u8(), reader.raw(64)
        self.newcomer, self.late, self.vouched = bool(marks & 1), bool(marks & 2), bool(marks & 4)
        self.person, self.certificate = reader.certificate(self.peer)
        self.root, self.size = self.payload[:32], struct.unpack("<Q", self.payload[32:40])[0]


class Bounds:
    def __init__(self, reader):
        self.norm, self.claim_max, self.unvouched = struct.unpack("<d", reader.raw(8))[0], reader.u64(), reader.u16()


class AcceptList:
    def __init__(self, data):
        reader = Reader(data)
        self.hash, self.bytes = wire.sha256(data), data
        self.run, self.term, self.round = reader.raw(32), reader.u32(), reader.u64()
        self.previous, self.base, self.k = reader.raw(32), reader.raw(32), reader.u16()
        members, entries = reader.u8(), reader.u16()
        self.members = []
        for _ in range(members):
            self.members.append(reader.raw(32))
            reader.certificate(self.members[-1])
        self.entries = [Entry(reader) for _ in range(entries)]
        self.actions_before = reader.u32()
        self.actions = [self._action(reader) for _ in range(reader.u8())]
        tail = reader.u8()
        self.table = reader.raw(BLOB_BYTES) if tail & 1 else None
        self.bounds = Bounds(reader) if tail & 2 else None
        self.suspended = []  # persons
        for _ in range(reader.u8() if tail & 4 else 0):
            self.suspended.append(reader.raw(32))
            reader.raw((32 + 36 + 64) * reader.u8())
        reader.end()

    @staticmethod
    def _action(reader):
        """Its kind."""
        reader.u32()
        kind = reader.u8()
        if kind == ROLL_BACK:
            reader.raw(8 + BLOB_BYTES)
        elif kind == REPLACE:
            reader.raw(4 + 8 + 32)
            for _ in range(reader.u8()):
                reader.certificate(reader.raw(32))
        else:
            reader.raw(32)
        reader.raw(64)
        return kind

    def weighted(self):
        """Section 5, Weights: (entry, weight) of those that take part in F."""
        claims, share = {}, self.bounds.unvouched if self.bounds else 1000
        for entry in self.entries:
            tokens, newcomer = claims.get(entry.person, (0, entry.newcomer))
            claims[entry.person] = tokens + entry.tokens, newcomer
        known = sorted(tokens for tokens, newcomer in claims.values() if not newcomer)
        known = known or sorted(tokens for tokens, _ in claims.values())
        limit = 4 * known[(len(known) - 1) // 2] if known else 0
        limit = self.bounds.claim_max if self.bounds else limit
        weights = []
        for entry in self.entries:
            claim = claims[entry.person][0]
            weights.append(entry.tokens * limit // claim if claim > limit else entry.tokens)
        of_known = sum(w for entry, w in zip(self.entries, weights) if not entry.newcomer)
        of_newcomers = sum(w for entry, w in zip(self.entries, weights) if entry.newcomer)
        if 0 < of_known and of_newcomers > of_known // 4:
            weights = [w * (of_known // 4) // of_newcomers if entry.newcomer else w
                       for entry, w in zip(self.entries, weights)]
        of_vouched = sum(w for entry, w in zip(self.entries, weights) if entry.vouched)
        of_unvouched = sum(weights) - of_vouched
        if share < 1000 and 0 < of_vouched and of_unvouched > of_vouched * share // (1000 - share):
            weights = [w if entry.vouched else w * (of_vouched * share // (1000 - share)) // of_unvouched
                       for entry, w in zip(self.entries, weights)]
        return [(entry, w) for entry, w in zip(self.entries, weights) if w > 0]


    def has_say(self, entry):
        """Whether the entry's norm counts in the median that F clips to."""
        if self.bounds and self.bounds.unvouched < 1000 and any(one.vouched for one in self.entries):
            return entry.vouched
        return not entry.newcomer


class Statement:
    """A proposal (1), vote (2) or certificate (3) of section 9, as far as somebody without a seat looks at it."""

    def __init__(self, data):
        reader = Reader(data)
        self.kind, self.run = reader.u8(), reader.raw(32)
        self.author = reader.raw(32) if self.kind != 3 else None
        self.term, self.round, self.view = reader.u32(), reader.u64(), reader.u32()
        self.step = reader.u8() if self.kind != 1 else None
        self.list = reader.raw(32) if self.kind != 2 or reader.u8() else None
        if self.kind == 1:
            return
        if self.kind == 2:
            self.signatures = {self.author: reader.raw(64)}
        else:
            signers = reader.u8()
            self.signatures = {member: reader.raw(64) for member in range(7) if signers >> member & 1}
        reader.end()

    def vote(self):
        """What a vote with these fields says: the body that is signed."""
        named = wire.u8(0) if self.list is None else wire.u8(1) + self.list
        return wire.u32(self.term) + wire.u64(self.round) + wire.u32(self.view) + wire.u8(self.step) + named


def ballot(body):
    """Statement and list, which may be empty."""
    reader = Reader(body)
    statement, accept_list = Statement(reader.raw(reader.u16())), reader.raw(reader.u32())
    reader.end()
    return statement, accept_list


def history(body):
    """Committed lists: (list, certificate)."""
    reader = Reader(body)
    lists = [(reader.raw(reader.u32()), Statement(reader.raw(reader.u16()))) for _ in range(reader.u16())]
    reader.end()
    return lists
