"""What a stranger does to a run, by name. Each attack is a coroutine that goes on until its time is over; sessions
that a node has closed are opened again under a new key, since keys are free."""
import asyncio
import os
import struct
import time

import bencode
import payload
import wire
from session import packed, EXTENDED

TABLE = {}
PACE = 0.1  # seconds between looks at what is new


def attack(function):
    TABLE[function.__name__] = function
    return function


@attack
async def silence(stranger):
    """The control: it listens and does nothing."""
    while not stranger.over():
        await asyncio.sleep(PACE)


@attack
async def forged_lists(stranger):
    """24 lists in a row for the round that is being decided, in proposals, votes and certificates: under its own key,
    one that nobody knows, and the host's without the host's signature."""
    run, host = stranger.manifest.run, stranger.manifest.host
    crowd = stranger.crowd(per_node=1)
    while not stranger.over():
        now = stranger.heard.newest()
        for session in crowd.sessions():
            for number in range(24):
                forged = stranger.list_on(now, entries=number % 3, seal=number)
                author = [session.key, stranger.new_key(), session.key.posing_as(host)][number % 3]
                name, view = wire.sha256(forged), number // 6
                statement = [lambda: wire.proposal(author, run, now.round, view, name),
                             lambda: wire.vote(author, run, now.round, view, wire.PRECOMMIT, name),
                             lambda: wire.certificate([author], run, now.round, view, name)][number // 3 % 3]()
                session.send(wire.BALLOT, wire.ballot(statement, b"" if statement[0] == 2 else forged))
        await asyncio.sleep(5 * PACE)


@attack
async def forged_history(stranger):
    """Statuses from 300 rounds ahead make members ask for the lists in between. They get as many as a message holds, of
    up to 900 KiB, the first of which follows on the true chain."""
    run = stranger.manifest.run

    def answer(session, kind, body):
        if kind != wire.HISTORY_REQUEST:
            return
        now, first = stranger.heard.newest(), struct.unpack("<Q", body)[0]
        lists, previous, base = [], now.list_hash, now.digest
        rows = [stranger.entry(session.key) for _ in range((0, 1, 18)[stranger.number() % 3])]
        for round_ in range(first, first + 256):
            forged = wire.accept_list(run, round_, previous, base, stranger.manifest.k, [stranger.manifest.host], rows)
            previous, base = wire.sha256(forged), os.urandom(32)
            lists.append((forged, wire.certificate([session.key], run, round_, 0, previous)))
        session.send(wire.HISTORY, wire.history(lists))

    crowd = stranger.crowd(per_node=1)
    while not stranger.over():
        for session in crowd.sessions():
            session.asked = lambda kind, body, session=session: answer(session, kind, body)
            ahead = stranger.heard.newest().round + 300
            session.send(wire.STATUS, wire.status(stranger.number(), ahead, os.urandom(32), os.urandom(32)))
            session.send(wire.HISTORY, wire.history([]))  # that nobody asked for
        await asyncio.sleep(PACE)


@attack
async def copied_payloads(stranger):
    """Whatever a member contributes is offered again under three other names with a claim of 2^40 tokens, and under
    those names with the member's own signature."""
    crowd, seen = stranger.crowd(per_node=3), set()
    while not stranger.over():
        sessions = crowd.sessions()
        for body, signature in list(stranger.heard.contributions.values()):
            if body in seen:
                continue
            seen.add(body)
            for session in sessions:
                session.send(wire.CONTRIBUTION, body[:-9] + wire.u64(wire.TOKENS_MAX) + wire.OWN)
                session.send_raw(wire.framed(session.key.id, wire.CONTRIBUTION, body, signature))
        await asyncio.sleep(PACE / 10)


@attack
async def lying_statuses(stranger):
    """Five keys, lower than those of all members, agree on another digest, on rounds to come, and on checkpoints that
    nobody can fetch: some with a root that is the chain's own."""
    crowd = stranger.crowd(per_node=5, below=min(stranger.members()))
    while not stranger.over():
        now, digest = stranger.heard.newest(), wire.sha256(b"another state")
        size = stranger.manifest.state_bytes
        for session in crowd.sessions():
            lie = stranger.number() % 4
            fields = dict(round_=now.round, digest=digest, list_hash=now.list_hash)
            if lie == 1:
                fields.update(round_=now.round + 1, phase=wire.APPLYING)
            if lie == 2:
                fields.update(checkpoint_round=now.round, checkpoint=wire.blob_ref(digest, size, 1, os.urandom(32)))
            if lie == 3 and now.checkpoint:
                true_root = wire.blob_ref(now.checkpoint[:32], size, 1, os.urandom(32))
                fields.update(checkpoint_round=now.checkpoint_round, checkpoint=true_root)
            session.send(wire.STATUS, wire.status(stranger.number(), **fields))
        await asyncio.sleep(3 * PACE)


@attack
async def absurd_statuses(stranger):
    """Every figure of a status at its end, or beyond it, each under a key of its own."""
    now = stranger.heard.newest()
    odd = [dict(round_=1 << 40), dict(round_=(1 << 40) + 1), dict(window_tokens=1 << 40), dict(window_tokens=1 << 63),
           dict(speed=(1 << 32) - 1), dict(role=wire.BACKBONE, phase=wire.FINISHED), dict(role=7), dict(phase=99),
           dict(name=b"\x1b[2J\x1b[31mroot\x07\x00\r\n"), dict(name="\u202egpj.exe".encode()), dict(name=b"\xff\xfe"),
           dict(name=b"n" * 41), dict(name=("\U0001f4a3" * 10).encode()), dict(name="e\u0301\u0302\u0303".encode() * 5),
           dict(checkpoint_round=1 << 40, checkpoint=wire.blob_ref(os.urandom(32), 1 << 40, 1, os.urandom(32))),
           dict(checkpoint_round=1, checkpoint=wire.blob_ref(os.urandom(32), 0, 9, wire.NOTHING))]
    odd += [dict(loss=wire.f32(loss)) for loss in (float("nan"), float("inf"), -float("inf"), 1e38, -1e38, 1e19, -1.0)]
    crowd, sequence = stranger.crowd(per_node=len(odd)), (1 << 64) - 1000
    while not stranger.over():
        for session in crowd.sessions():
            everything = dict(round_=now.round, digest=now.digest, list_hash=now.list_hash) | odd[session.number]
            session.send(wire.STATUS, wire.status(sequence, **everything))
        sequence += 1
        await asyncio.sleep(5 * PACE)


@attack
async def flood(stranger):
    """32 sessions from one address send as fast as the line takes it: well-formed messages and forged ones."""
    crowd = stranger.crowd(per_node=32, nodes=1)
    while not stranger.over():
        for session in crowd.sessions():
            close = wire.u64(1 << 40)
            good = wire.signed_message(session.key, stranger.manifest.run, wire.CLOSE, close)
            forged = wire.framed(session.key.id, wire.CLOSE, close, os.urandom(64))
            for number in range(100):
                session.send_raw(forged if number % 10 == 0 else good)
            stranger.count("close", 100)
            await session.drain()
        await asyncio.sleep(0)


@attack
async def garbage(stranger):
    """Connections that end at every step of the handshake or stay there, and frames that are none."""
    while not stranger.over():
        for address in stranger.nodes:
            for spoil in SPOILS:
                stranger.in_background(spoil(stranger, address))
        await asyncio.sleep(5 * PACE)


async def _half_open(stranger, address):
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"\x13BitTorrent proto")
    stranger.keep(writer)


async def _no_extension(stranger, address):
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"\x13BitTorrent protocol" + bytes(8) + stranger.manifest.run[:20] + os.urandom(20))
    stranger.keep(writer)


async def _endless_message(stranger, address):
    session = await stranger.connected(address)
    session.writer.write(struct.pack(">IB", 1 << 31, EXTENDED) + os.urandom(4096))


async def _no_hello(stranger, address):
    await stranger.connected(address)


async def _false_hello(stranger, address):
    (await stranger.connected(address)).send_frame(os.urandom(33))


async def _hello_and_noise(stranger, address):
    session = await stranger.connected(address)
    session.send_frame(b"\x01" + os.urandom(32))
    session.send_frame(os.urandom(24 + 17 + 96))


async def _oversize_frame(stranger, address):
    (await stranger.connected(address)).send_frame(bytes(1_048_513))


async def _unsealed(stranger, address):
    (await stranger.session(address, stranger.new_key())).send_frame(os.urandom(500))


async def _not_bencoded(stranger, address):
    (await stranger.session(address, stranger.new_key())).send_raw(b"l" * 900_000)


async def _cut_short(stranger, address):
    """Each kind of message, cut off somewhere or with a count that promises more, and a kind that does not exist."""
    session = await stranger.session(address, stranger.new_key())
    now = stranger.heard.newest()
    whole = {wire.STATUS: wire.status(1, now.round, now.digest, now.list_hash), wire.CLOSE: wire.u64(1),
             wire.CONTRIBUTION: wire.contribution(now.round, now.digest, wire.blob_ref(os.urandom(32), 100), 1),
             wire.BALLOT: wire.ballot(wire.vote(session.key, stranger.manifest.run, now.round, 0, wire.PREVOTE, None)),
             wire.HISTORY_REQUEST: wire.u64(0), wire.LAYER_REQUEST: now.digest + wire.u32(0),
             wire.LAYER: wire.layer(now.digest, 0, [os.urandom(32)])}
    for kind, body in whole.items():
        session.send(kind, body[:stranger.number() % len(body)])
        session.send(kind, body + b"\0")
    session.send(wire.HISTORY, wire.u16(0xffff) + bytes(900))
    session.send(wire.LAYER, now.digest + wire.u32(0) + wire.u16(0xffff) + bytes(64))
    session.send_raw(bencode.encode({b"f": session.key.id, b"k": 99, b"m": b"", b"s": bytes(64)}))
    session.send_raw(bencode.encode({b"f": session.key.id, b"k": wire.CLOSE, b"m": b"", b"s": b"short"}))


SPOILS = [_half_open, _no_extension, _endless_message, _no_hello, _false_hello, _hello_and_noise, _oversize_frame,
          _unsealed, _not_bencoded, _cut_short]


@attack
async def withheld_payloads(stranger):
    """Contributions to every round whose payloads are said to be here, and never come."""
    async for now, sessions in stranger.rounds(per_node=3):
        for session in sessions:
            reference = stranger.seed.pretend(wire.sha256(session.key.id + wire.u64(now.round)), 1000)
            session.send(wire.CONTRIBUTION, wire.contribution(now.round, now.digest, reference, 1000))


def offer_of(stranger, key, now):
    """A contribution of `key` to this round whose payload nobody has, as a message."""
    root = wire.sha256(key.id + now.digest)
    body = wire.contribution(now.round, now.digest, wire.blob_ref(root, 1000), 1000)
    return wire.signed_message(key, stranger.manifest.run, wire.CONTRIBUTION, body)


@attack
async def fresh_keys_at_once(stranger):
    """3,200 contributions a round, each of another key, through two sessions with each node, as fast as they go."""
    keys, last = [stranger.new_key() for _ in range(3200)], None
    async for now, sessions in stranger.rounds(per_node=2):
        if now.round == last:
            continue
        last = now.round
        for number, key in enumerate(keys):
            message = offer_of(stranger, key, now)
            for session in sessions:
                if session.number == number % 2:
                    session.send_raw(message)
            stranger.count("contribution")
            if number % 100 == 99:
                await asyncio.gather(*(session.drain() for session in sessions))
                await asyncio.sleep(0)


@attack
async def fresh_keys_in_time(stranger):
    """60 contributions a second to one node, each of another key: within the budget of a session."""
    crowd, sent, begun = stranger.crowd(per_node=1, nodes=1), 0, time.monotonic()
    while not stranger.over():
        now = stranger.heard.newest()
        for session in crowd.sessions():
            while sent < 60 * (time.monotonic() - begun):
                session.send_raw(offer_of(stranger, stranger.new_key(), now))
                stranger.count("contribution")
                sent += 1
        await asyncio.sleep(PACE / 4)


@attack
async def replays(stranger):
    """Says again what members said, signed by them, from sessions of its own and to everybody."""
    crowd = stranger.crowd(per_node=2)
    while not stranger.over():
        for sender, kind, body, signature in stranger.heard.messages[-60:]:
            for session in crowd.sessions():
                session.send_raw(wire.framed(sender, kind, body, signature))
                session.send_raw(wire.framed(session.key.id, kind, body, signature))
        stranger.count("replay", 60)
        await asyncio.sleep(5 * PACE)


@attack
async def vast_noise(stranger):
    """Payloads that parse, of a norm beyond all others, served as they should be, with a claim of 2^40 tokens."""
    manifest, offered = stranger.manifest, {}
    async for now, sessions in stranger.rounds(per_node=2):
        for session in sessions:
            place = session.key.id, now.round
            if place not in offered:
                noise = payload.noise(session.key.id, manifest.parameters, manifest.k, 2.0 ** 58, stranger.rng)
                offered[place] = stranger.seed.offer(noise), noise
            reference, noise = offered[place]
            body = wire.contribution(now.round, now.digest, reference, wire.TOKENS_MAX)
            session.send(wire.CONTRIBUTION, body, payload=noise)


@attack
async def false_payloads(stranger):
    """Contributions that bring another payload than they name, of the size that they name."""
    async for now, sessions in stranger.rounds(per_node=3):
        for session in sessions:
            content = session.key.id + wire.u64(now.round) * 100
            reference = wire.blob_ref(wire.sha256(content), len(content))
            session.send(wire.CONTRIBUTION, wire.contribution(now.round, now.digest, reference, 1000), payload=content)


@attack
async def endless_questions(stranger):
    """Asks for every layer and all history again and again. Every other session does not read what it gets."""
    crowd = stranger.crowd(per_node=8, deaf=lambda number: number % 2 == 0)
    while not stranger.over():
        now = stranger.heard.newest()
        for session in crowd.sessions():
            for _ in range(20):
                session.send(wire.HISTORY_REQUEST, wire.u64(0))
                session.send(wire.LAYER_REQUEST, now.digest + wire.u32(0))
        await asyncio.sleep(PACE)
