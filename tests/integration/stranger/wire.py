"""Layouts of docs/wire-format.md, written from that page: manifest, blobs, messages, lists, votes and certificates."""
import hashlib
import json
import struct

import bencode

STATUS, CLOSE, CONTRIBUTION, BALLOT, HISTORY_REQUEST, HISTORY, LAYER_REQUEST, LAYER, GOODBYE = range(1, 10)
PAYLOAD_REQUEST, GREETING = 11, 255
NAMES = ["", "status", "close", "contribution", "ballot", "history-request", "history", "layer-request", "layer",
         "goodbye", "host-action", "payload-request"]
VOLUNTEER, BACKBONE = 0, 1
JOINING, TRAINING, COLLECTING, APPLYING, REPAIRING, PAUSED, FINISHED = range(7)
PREVOTE, PRECOMMIT = 1, 2
BLOCK_BYTES, PIECES_MAX = 16384, 4096
TOKENS_MAX = 1 << 40
NOTHING = bytes(32)
OWN = b"\0"  # the certificate of a key that is its own person's


def u8(n): return struct.pack("<B", n)
def u16(n): return struct.pack("<H", n)
def u32(n): return struct.pack("<I", n)
def u64(n): return struct.pack("<Q", n)
def f32(x): return struct.pack("<f", x)
def f32_of(x): return struct.unpack("<f", f32(x))[0]
def sha256(data): return hashlib.sha256(data).digest()


# Blobs (section 2) and the torrents that they are (section 8).

def merkle_root(content):
    row = [sha256(content[at:at + BLOCK_BYTES]) for at in range(0, len(content), BLOCK_BYTES)]
    while len(row) & (len(row) - 1):
        row.append(NOTHING)
    while len(row) > 1:
        row = [sha256(row[i] + row[i + 1]) for i in range(0, len(row), 2)]
    return row[0]


def piece_bytes(size):
    piece = BLOCK_BYTES
    while (size + piece - 1) // piece > PIECES_MAX:
        piece *= 2
    return piece


def info_hash(root, size, name=b"blob"):
    """The v2 info-hash of the torrent whose description follows from root and size."""
    tree = {name: {b"": {b"length": size, b"pieces root": root}}}
    return sha256(bencode.encode({b"file tree": tree, b"meta version": 2, b"name": name,
                                b"piece length": piece_bytes(size)}))


def blob_ref(root, size, kind=0, info=NOTHING):
    return root + u64(size) + u8(kind) + info


class Manifest:
    """A run by its manifest's file (section 3)."""

    def __init__(self, file):
        if file[:8] != b"PLKMAN6\n":
            raise ValueError("not a manifest of this protocol")
        self.run = info_hash(merkle_root(file), len(file), b"manifest.potluck")
        fields = json.loads(file[72:])
        self.host, self.k = bytes.fromhex(fields["host"]), fields["recipe"]["k"]
        state, recipe = fields["initial_state"], fields["recipe"]
        self.state_bytes = state["size"]
        self.initial = blob_ref(bytes.fromhex(state["root"]), state["size"], state["kind"] == "open",
                                bytes.fromhex(state.get("info_hash", "00" * 32)))
        self.window, self.collect = recipe["window_ms"] / 1000, recipe["collect_ms"] / 1000
        self.alpha, self.amplification = f32_of(recipe["alpha"]), recipe["amplification"]
        self.has_coded_steps = recipe.get("step", "exact") == "coded"
        self.newcomer_rms = recipe.get("newcomer_rms", 0)
        seated = bytes.fromhex(fields["host_device"]) or self.host
        backbones = [bytes.fromhex(key) for key in fields["backbones"] if bytes.fromhex(key) != self.host]
        others = 6 if len(backbones) >= 6 else 3 if len(backbones) >= 3 else 0
        self.first_committee = sorted([seated] + backbones[:others])
        model = fields["model"]
        width, layers = model["width"], model["layers"]
        # Family "gpt2": embeddings, in each layer two norms, c_attn, c_proj, c_fc and c_proj with biases, a last norm.
        self.parameters = (model["vocabulary"] + model["context"]) * width + 2 * width
        self.parameters += layers * (12 * width * width + 13 * width)


# Messages (section 6).

def signed_message(key, run, kind, body, payload=b""):
    """A frame before it is sealed (section 8), from `key` and signed by it."""
    return framed(key.id, kind, body, key.sign(f"potluck/{NAMES[kind]}/1", run + body), payload)


def framed(sender, kind, body, signature, payload=b""):
    fields = {b"f": sender, b"k": kind, b"m": body, b"s": signature}
    if payload:
        fields[b"p"] = payload
    return bencode.encode(fields)


def status(sequence, round_, digest, list_hash, role=VOLUNTEER, phase=TRAINING, window_tokens=100, speed=100,
           loss=f32(2), checkpoint_round=0, checkpoint=None, port=0, name=b"stranger"):
    """`loss` and `name` are bytes: they may be what no honest member would write."""
    return (u64(sequence) + u8(role) + u8(phase) + u64(round_) + digest + list_hash + u64(window_tokens) + u32(speed) +
            loss + u64(checkpoint_round) + (u8(0) if checkpoint is None else u8(1) + checkpoint) + u16(port) +
            u16(len(name)) + name + OWN)


class Status:
    """Of another member, as far as attacks look at it."""

    def __init__(self, body):
        self.role, self.phase = body[8], body[9]
        self.round = struct.unpack_from("<Q", body, 10)[0]
        self.digest, self.list_hash = body[18:50], body[50:82]
        self.checkpoint_round = struct.unpack_from("<Q", body, 98)[0]
        self.checkpoint = body[107:180] if body[106] else None


def contribution(round_, base, payload, tokens):
    return u64(round_) + base + payload + u64(tokens) + OWN


def ballot(statement, accept_list=b""):
    return u16(len(statement)) + statement + u32(len(accept_list)) + accept_list


def history(lists):
    """`lists`: (accept list, certificate)"""
    parts = [u32(len(one)) + one + u16(len(proof)) + proof for one, proof in lists]
    return u16(len(lists)) + b"".join(parts)


def layer(state, first, hashes):
    return state + u32(first) + u16(len(hashes)) + b"".join(hashes)


# Lists and the committee's messages (sections 5 and 9).

def accept_list(run, round_, previous, base, k, members, entries):
    """`k`: the most that contributions of the next round send. `entries`: (peer, blob reference, tokens, is a
    newcomer's, signature). Names no action of the host and no table."""
    rows = [peer + payload + u64(tokens) + u8(newcomer) + signature + OWN
            for peer, payload, tokens, newcomer, signature in sorted(entries)]
    return (run + u32(0) + u64(round_) + previous + base + u16(k) + u8(len(members)) + u16(len(rows)) +
            b"".join(member + OWN for member in sorted(members)) + b"".join(rows) + u32(0) + u8(0) + u8(0))


def vote(key, run, round_, view, step, list_hash):
    """As `key` says it; without a hash it votes for nil."""
    body = u32(0) + u64(round_) + u32(view) + u8(step) + (u8(0) if list_hash is None else u8(1) + list_hash)
    return u8(2) + run + key.id + body + key.sign("potluck/vote/1", run + body)


def proposal(key, run, round_, view, list_hash):
    body = u32(0) + u64(round_) + u32(view) + list_hash + u8(0)
    return u8(1) + run + key.id + body + key.sign("potluck/proposal/1", run + body)


def certificate(keys, run, round_, view, list_hash, step=PRECOMMIT):
    """Votes of `keys`, who pose as the first members of the committee."""
    signatures = [vote(key, run, round_, view, step, list_hash)[-64:] for key in keys]
    return (u8(3) + run + u32(0) + u64(round_) + u32(view) + u8(step) + list_hash + u8((1 << len(keys)) - 1) +
            b"".join(signatures))
