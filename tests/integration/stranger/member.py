"""A bare member of an open run: no trainer and no seat, but everything else that section 6 of docs/wire-format.md (A round)
asks of a volunteer. It follows the chain from the first list, computes each state itself, and contributes a movement of
next to nothing to every round. What it does not do: take back what the host has, pass on, or vote."""
import asyncio
import math
import pathlib
import sys
import time
from array import array

import sodium
import wire
from attacks import attack
from chain import Chain
from fetching import fetch

# F and the codec, written from docs/payload-format.md.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "golden" / "numerics"))
import reference  # noqa: E402

TICK = 0.02  # seconds
HEARTBEAT, REPEATED_EVERY = 1, 2
ASKED_AGAIN_AFTER = 1
TOKENS = 1000
MOVEMENT = 1e-7  # of a parameter in a round


@attack
async def member(stranger):
    """Not an attack at all: it takes part."""
    await Member(stranger).take_part()


class Member:
    def __init__(self, stranger):
        self._stranger, self._manifest = stranger, stranger.manifest
        self._key, self._chain = stranger.new_key(), Chain(stranger.manifest)
        self._sessions, self._payloads = {}, {}  # by peer; by root
        self._round, self._theta, self._digest, self._header = None, None, None, b""
        self._counter, self._said_at, self._asked_at = 0, 0, 0
        self._contribution = None  # (body, blob) of this round
        self._entered_at, self._closed, self._sent_at = 0, False, None
        stranger.facts = self._facts = {"key": self._key.id.hex(), "digests": {}, "offered": [], "accepted": []}

    async def take_part(self):
        for address in self._stranger.nodes:
            session = await self._stranger.session(address, self._key, listens=False)
            session.hears = lambda fields, session=session: self._hear(session, fields)
            session.send_raw(wire.framed(self._key.id, wire.GREETING, self._stranger.rng.randbytes(33), bytes(64)))
            self._sessions[session.peer] = session
            self._stranger.in_background(session.listen())
        while not self._stranger.over():
            await self._go_on()
            await asyncio.sleep(TICK)
        self._broadcast(wire.GOODBYE, b"")

    async def _go_on(self):
        """Whatever can be done next."""
        now = time.monotonic()
        furthest = self._stranger.heard.newest()
        if furthest and furthest.round > self._chain.height() and now > self._asked_at + ASKED_AGAIN_AFTER:
            self._asked_at = now
            self._ask(wire.HISTORY_REQUEST, wire.u64(self._chain.height()))
        if self._round is None:
            await self._begin()
        elif self._round < self._chain.height():
            await self._apply(self._chain.lists[self._round])
        else:
            self._play(now)
        if now > self._said_at + HEARTBEAT:
            self._say_status()

    async def _begin(self):
        """From the newest checkpoint that the chain certifies, else from the state of the manifest."""
        statuses = [one for one in self._stranger.heard.statuses.values() if one.checkpoint]
        offers = sorted(((one.checkpoint_round, one.checkpoint) for one in statuses), reverse=True)
        offers = [offer for offer in offers if self._chain.digest_at(offer[0]) == offer[1][:32]]
        if not offers and self._chain.height() > 0 and self._chain.height() < 4:
            offers = [(0, self._manifest.initial)]
        for round_, blob in offers[:1]:
            state = await self._fetch(blob)
            if state is not None:
                size = len(state) - 4 * self._manifest.parameters
                self._header, theta = state[:size], array("f")
                theta.frombytes(state[size:])
                self._hold(round_, theta)

    async def _apply(self, accepted):
        """theta[r+1] = F(theta[r], L[r]), which needs every payload."""
        if accepted.base != self._digest:
            raise SystemExit(f"theta[{self._round}] is another one here than the list says")
        for entry in accepted.entries:
            if entry.root not in self._payloads:
                content = await self._fetch(entry.payload)
                if content is None:
                    return
                self._payloads[entry.root] = content
        weighted = accepted.weighted()
        weighted.sort(key=lambda one: accepted.has_say(one[0]))
        theta = self._theta
        if weighted:
            theta = self._moved(theta, [self._payloads[entry.root][32:] for entry, _ in weighted],
                                [weight for _, weight in weighted],
                                sum(not accepted.has_say(entry) for entry, _ in weighted),
                                self._newcomers_norm(accepted.bounds))
        for entry in accepted.entries:
            if entry.peer == self._key.id:
                self._facts["accepted"].append(accepted.round)
            del self._payloads[entry.root]
        self._hold(accepted.round + 1, theta)

    def _moved(self, theta, payloads, weights, newcomers, newcomers_norm):
        """By the step in the form that the recipe names."""
        manifest = self._manifest
        if not manifest.has_coded_steps:
            return reference.outer_step(theta, payloads, weights, manifest.alpha, manifest.amplification, newcomers, newcomers_norm)
        _, decoded = reference.coded_step(len(theta), payloads, weights, manifest.amplification, newcomers, newcomers_norm)
        return reference.moved(theta, decoded, manifest.alpha)

    def _newcomers_norm(self, bounds):
        """What newcomers are clipped to where no other norm counts; 0: to their median."""
        if bounds is None or self._manifest.newcomer_rms == 0:
            return 0.0
        return bounds.norm or self._manifest.newcomer_rms * math.sqrt(self._manifest.parameters)

    def _hold(self, round_, theta):
        self._round, self._theta = round_, theta
        self._digest = wire.merkle_root(self._header + theta.tobytes())
        self._facts["digests"][str(round_)] = self._digest.hex()
        self._entered_at, self._closed, self._sent_at = time.monotonic(), False, None
        # Made before the window ends, so that nobody waits for Python.
        movement = array("f", (MOVEMENT * self._stranger.rng.uniform(-1, 1) for _ in theta))
        blob = self._key.id + reference.encode(movement, self._manifest.k)
        body = wire.contribution(round_, self._digest, self._stranger.seed.offer(blob), TOKENS)
        self._contribution = body, blob
        self._payloads[wire.merkle_root(blob)] = blob
        self._say_status()

    def _play(self, now):
        """Training is over in time; Closes are heard by _hear."""
        manifest = self._manifest
        self._closed = self._closed or now > self._entered_at + manifest.window + manifest.collect / 2
        if self._closed and (self._sent_at is None or now > self._sent_at + REPEATED_EVERY):
            first, self._sent_at = self._sent_at is None, now
            body, blob = self._contribution
            self._broadcast(wire.CONTRIBUTION, body, blob if first else b"")
            if first:
                self._facts["offered"].append(self._round)
                self._say_status()

    def _hear(self, session, fields):
        sender, kind, body, payload = fields[b"f"], fields[b"k"], fields[b"m"], fields.get(b"p", b"")
        if kind >= len(wire.NAMES) or not sodium.verify(sender, f"potluck/{wire.NAMES[kind]}/1",
                                                        self._manifest.run + body, fields[b"s"]):
            return
        if kind == wire.CLOSE:
            in_time = time.monotonic() > self._entered_at + self._manifest.window / 2
            of_round = self._round is not None and body == wire.u64(self._round)
            self._closed = self._closed or (in_time and of_round and sender in self._chain.committee())
        elif kind == wire.CONTRIBUTION and payload and wire.merkle_root(payload) == body[40:72]:
            self._payloads[body[40:72]] = payload
        elif kind == wire.BALLOT:
            self._chain.take_ballot(body)
        elif kind == wire.HISTORY:
            self._chain.take_history(body)
        elif kind == wire.PAYLOAD_REQUEST and self._contribution and self._contribution[0][40:72] == body:
            session.send(wire.CONTRIBUTION, self._contribution[0], payload=self._contribution[1])

    async def _fetch(self, blob):
        for address in self._stranger.nodes:
            try:
                return await fetch(address, blob)
            except (OSError, EOFError):
                continue
        return None

    def _say_status(self):
        self._said_at, self._counter = time.monotonic(), self._counter + 1
        sequence = (int(time.time() * 1000) << 20) + self._counter
        held = self._round if self._round is not None else 0
        phase = wire.JOINING if self._round is None else wire.COLLECTING if self._closed else wire.TRAINING
        digest, before = self._digest or self._manifest.initial[:32], self._chain.hash_before(held)
        self._broadcast(wire.STATUS, wire.status(sequence, held, digest, before, phase=phase, window_tokens=TOKENS,
                                                 name=b"member"))

    def _ask(self, kind, body):
        """Each neighbour in turn."""
        peer, session = next(iter(self._sessions.items()))
        self._sessions[peer] = self._sessions.pop(peer)
        session.send(kind, body)

    def _broadcast(self, kind, body, payload=b""):
        for session in self._sessions.values():
            if not session.closed:
                session.send(kind, body, payload=payload)
