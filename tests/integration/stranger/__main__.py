"""A stranger to a run of Potluck: python3 stranger ATTACK MANIFEST SECONDS SEED HOST:PORT...

Opens a session with every node that is named and says "open" when it hears them; attacks for SECONDS; then prints one
line of JSON: the keys it used, what it sent, how many sessions it had. A HOST:PORT on standard input is a node that
came later. Exits with 77 where libsodium is missing.
"""
import asyncio
import json
import os
import random
import sys
import time

try:
    import sodium
except OSError as missing:
    print(missing)
    sys.exit(77)
import attacks
import member  # noqa: F401  (one more of attacks.TABLE)
import wire
from seeding import Seed
from session import Heard, Session

HEARD_WITHIN = 10  # seconds
HANDSHAKE_WITHIN = 5
REPEATED_EVERY = 0.5


class Stranger:
    def __init__(self, manifest, seconds, seed, nodes):
        self.manifest, self.nodes = manifest, nodes
        self.rng = random.Random(seed)
        self.heard, self.seed = Heard(), Seed()
        self.keys, self.sent, self.opened, self.refused = [], {}, 0, 0
        self.facts = {}  # of an attack's own
        self._seconds, self._ends, self._number = seconds, None, 0
        self._kept, self._tasks = [], set()

    def over(self):
        return time.monotonic() >= self._ends

    def new_key(self, below=None):
        """With `below`, one that is sorted before that."""
        while True:
            key = sodium.Key(self.rng.randbytes(32))
            if below is None or key.id < below:
                self.keys.append(key.id)
                return key

    def number(self):
        """Another one each time: sequences of statuses, choices."""
        self._number += 1
        return self._number

    def count(self, what, many=1):
        self.sent[what] = self.sent.get(what, 0) + many

    def members(self):
        return list(self.heard.statuses)

    def keep(self, writer):
        """A connection that stays as it is."""
        self._kept.append(writer)

    async def session(self, address, key, listens=True):
        session = Session(self, address, key)
        await asyncio.wait_for(session.open(), HANDSHAKE_WITHIN)
        self.opened += 1
        if listens:
            self.in_background(session.listen())
        return session

    async def connected(self, address):
        """As far as the extension's handshake, and no further."""
        session = Session(self, address, self.new_key())
        await asyncio.wait_for(session.connect(), HANDSHAKE_WITHIN)
        self.keep(session.writer)
        return session

    async def everywhere(self, key):
        """A session of one key with every node."""
        return await asyncio.gather(*(self.session(address, key) for address in self.nodes))

    def crowd(self, **what):
        return Crowd(self, **what)

    def in_background(self, attempt):
        """Of a connection, which may fail."""
        task = asyncio.create_task(attempt)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task):
        self._tasks.discard(task)
        failure = task.exception()
        if isinstance(failure, (OSError, EOFError, asyncio.TimeoutError)):
            self.refused += 1
        elif failure is not None:
            raise failure

    async def rounds(self, per_node):
        """Each round as soon as a member begins it, and again twice a second for those who are later, with the sessions
        that are open then."""
        crowd, last, said_at = Crowd(self, per_node), None, 0
        while not self.over():
            now, sessions = self.heard.newest(), crowd.sessions()
            if sessions and (now.round != last or time.monotonic() > said_at + REPEATED_EVERY):
                last, said_at = now.round, time.monotonic()
                yield now, sessions
            await asyncio.sleep(attacks.PACE / 5)

    def entry(self, key):
        reference = wire.blob_ref(self.rng.randbytes(32), 1000)
        return self.rng.randbytes(32), reference, wire.TOKENS_MAX, 1, key.sign("potluck/contribution/1", reference)

    def list_on(self, now, entries, seal):
        """A list that could be the next one, but for its entries."""
        rows = [self.entry(self.new_key()) for _ in range(entries)]
        for sender, (body, signature) in self.heard.contributions.items():
            if body[:40] == wire.u64(now.round) + now.digest:
                rows.append((sender, body[40:113], wire.TOKENS_MAX - seal, 1, signature))
        return wire.accept_list(self.manifest.run, now.round, now.list_hash, now.digest, self.manifest.k,
                                [self.manifest.host], rows)

    def meet_newcomers(self):
        lines = os.read(sys.stdin.fileno(), 4096).decode().split()
        self.nodes += [address_of(line) for line in lines]
        if not lines:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())

    async def run(self, attack):
        listener = await self.everywhere(self.new_key())
        end = time.monotonic() + HEARD_WITHIN
        while len(self.heard.statuses) < len(self.nodes) and time.monotonic() < end:
            await asyncio.sleep(attacks.PACE)
        if len(self.heard.statuses) < len(self.nodes):
            raise SystemExit(f"of {len(listener)} nodes {len(self.heard.statuses)} were heard")
        print("open", flush=True)
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self.meet_newcomers)
        self._ends = time.monotonic() + self._seconds
        await attack(self)
        print(json.dumps({"keys": [key.hex() for key in self.keys], "sent": self.sent, "sessions": self.opened,
                          "refused": self.refused, "served": self.seed.served,
                          "contributions_heard": len(self.heard.contributions), "ballots_heard": self.heard.ballots,
                          "facts": self.facts}),
              flush=True)
        os._exit(0)  # all connections end at once, as those of a process that is killed


class Crowd:
    """Sessions with all nodes, or the first few of them, each under a key of its own. Where one has ended another is
    opened in the background. `number` of a session is its place among those with its node."""

    def __init__(self, stranger, per_node, nodes=None, below=None, deaf=lambda number: False):
        self._stranger, self._per_node, self._nodes, self._below, self._deaf = stranger, per_node, nodes, below, deaf
        self._places = {}  # (address, number) -> session; None while it is being opened

    def sessions(self):
        """Those that are open now."""
        for address in self._stranger.nodes[:self._nodes]:
            for number in range(self._per_node):
                session = self._places.get((address, number))
                ended = session is not None and (session.closed or session.writer.is_closing())
                if ended or (address, number) not in self._places:
                    self._places[address, number] = None
                    self._stranger.in_background(self._open(address, number))
        return [session for session in self._places.values() if session is not None]

    async def _open(self, address, number):
        try:
            key = self._stranger.new_key(self._below)
            session = await self._stranger.session(address, key, not self._deaf(number))
            session.number = number
            self._places[address, number] = session
        finally:
            if self._places[address, number] is None:
                del self._places[address, number]


def address_of(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def main():
    name, manifest, seconds, seed, *nodes = sys.argv[1:]
    with open(manifest, "rb") as file:
        read = wire.Manifest(file.read())
    stranger = Stranger(read, float(seconds), int(seed), [address_of(node) for node in nodes])
    asyncio.run(stranger.run(attacks.TABLE[name]))


main()
