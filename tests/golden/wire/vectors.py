#!/usr/bin/env python3
"""Writes the wire vectors from docs/wire-format.md, independently of the C++ code: run it in its own folder.

Each .hex file is one value; blanks are ignored and '#' begins a comment that names the field before it.
tests/golden/test_wire_vectors.cpp checks that the product writes and reads exactly these bytes.
"""
import hashlib
import json
import struct

RUN, BACKBONE, PREVIOUS, BASE = b"\x11" * 32, b"\x22" * 32, b"\x33" * 32, b"\x44" * 32
PEER_A, PEER_B, HOST, PERSON = b"\xa1" * 32, b"\xb2" * 32, b"\x05" * 32, b"\x77" * 32
ROOT_A, ROOT_B, INFO = b"\xc1" * 32, b"\xc2" * 32, b"\xd1" * 32
SIGNATURE, SUSPECT = b"\x5a" * 64, b"\xe1" * 32


def u8(n): return struct.pack("<B", n)
def u16(n): return struct.pack("<H", n)
def u32(n): return struct.pack("<I", n)
def u64(n): return struct.pack("<Q", n)
def f32(x): return struct.pack("<f", x)


def save(name, fields):
    """fields: (bytes, name of the field)"""
    with open(name + ".hex", "w") as file:
        for value, meaning in fields:
            digits = value.hex()
            rows = [digits[i:i + 64] for i in range(0, len(digits), 64)] or [""]
            rows[-1] += f"  # {meaning}" if rows[-1] else f"# {meaning}"
            file.write("\n".join(rows) + "\n")
    return b"".join(value for value, _ in fields)


def blob_fields(root, size, kind, info, what=""):
    return [(root, what + "root"), (u64(size), what + "size"), (u8(kind), what + "kind"), (info, what + "info-hash")]


def x25519(secret, point):
    """RFC 7748: the ladder of Montgomery on u coordinates."""
    prime, bits = 2**255 - 19, int.from_bytes(secret, "little")
    scalar = bits & ~7 & (1 << 254) - 1 | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3 = 1, 0, u, 1
    for t in reversed(range(255)):
        if scalar >> t & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, e = d * a, c * b, a * a - b * b
        x3, z3, after_x2, after_z2 = (da + cb) ** 2, u * (da - cb) ** 2, a * a * b * b, e * (a * a + 121_665 * e)
        x2, z2, x3, z3 = after_x2 % prime, after_z2 % prime, x3 % prime, z3 % prime
        if scalar >> t & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, prime - 2, prime) % prime).to_bytes(32, "little")


def channel_fields():
    """Keys of a session, and what side 0 signs."""
    base = (9).to_bytes(32, "little")
    (key0, secret0), (key1, secret1) = sorted((x25519(secret, base), secret) for secret in (b"\x21" * 32, b"\x31" * 32))
    shared = x25519(secret0, key1)
    assert shared == x25519(secret1, key0)
    keys = hashlib.blake2b(b"potluck/channel-keys/1" + shared + key0 + key1 + RUN).digest()
    return [(secret0, "secret of side 0"), (secret1, "secret of side 1"), (key0, "key of side 0"), (key1, "key of side 1"),
            (shared, "shared secret"), (keys[:32], "seals what side 0 sends"), (keys[32:], "seals what side 1 sends")], [
            (u64(len(RUN)), "length of the run's id"), (RUN, "run"), (key0, "key of side 0"), (key1, "key of side 1"),
            (u8(0), "side that signs")]


def lot_fields(previous, keys):
    """Lots, the lowest first, each with its key."""
    lots = sorted((hashlib.sha256(previous + key).digest(), key) for key in keys)
    return [field for number, (lot, key) in enumerate(lots) for field in ((key, f"key {number}"), (lot, "its lot"))]


def certificate_of(person, what=""):
    """Of a computer: of nobody else, or of `person`."""
    if person is None:
        return [(u8(0), what + "certificate: its own person")]
    return [(u8(1), what + "certificate"), (person, what + "person"), (b"\x66" * 64, what + "person's signature")]


def key_action_fields(number, kind, name, key):
    return [(u32(number), "number"), (u8(kind), "kind: " + name), (key, "key")]


def roll_back_fields(number):
    return [(u32(number), "number"), (u8(4), "kind: roll-back"), (u64(5), "round")] + blob_fields(ROOT_B, 1 << 40, 1, INFO, "state ")


MARKS = ("none", "newcomer", "late", "newcomer, late", "vouched")


def list_fields(committee, entries, actions_before=0, actions=(), table=(), owners={}, bounds=None, suspensions=(), measured=()):
    """entries: (peer, root, size, tokens, marks, byte of the signature); actions: (fields, byte of the signature); owners: whose computers some keys are"""
    fields = [(RUN, "run"), (u32(2), "term"), (u64(7), "round"), (PREVIOUS, "previous"), (BASE, "base"), (u16(128), "k"),
              (u8(len(committee)), "members"), (u16(len(entries)), "entries")]
    for number, key in enumerate(committee):
        fields += [(key, f"member {number}")] + certificate_of(owners.get(key), f"member {number} ")
    for number, (peer, root, size, tokens, marks, signature) in enumerate(entries):
        what = f"entry {number} "
        fields += [(peer, what + "peer")] + blob_fields(root, size, 0, bytes(32), what + "payload ")
        fields += [(u64(tokens), what + "tokens"), (u8(marks), what + "marks: " + MARKS[marks]),
                   (bytes([signature]) * 64, what + "signature")] + certificate_of(owners.get(peer), what)
    fields += [(u32(actions_before), "actions before"), (u8(len(actions)), "actions")]
    for place, (action, signature) in enumerate(actions):
        what = f"action {place} "
        fields += [(value, what + name) for value, name in action] + [(bytes([signature]) * 64, what + "signature")]
    tail = bool(table) + 2 * (bounds is not None) + 4 * bool(suspensions) + 8 * bool(measured)
    names = {0: "has a table", 1: "has a table", 2: "has bounds", 3: "has a table and bounds", 4: "has suspensions", 8: "has losses"}
    fields += [(u8(tail), names[tail])] + list(table)
    if suspensions:
        return fields + [(u8(len(suspensions)), "suspensions")] + [field for one in suspensions for field in one]
    if bounds is None:
        return fields + list(measured)
    norm, claim, unvouched = bounds
    return fields + [(struct.pack("<d", norm), f"bounds norm: {norm}"), (u64(claim), f"bounds claim: {claim}"),
                     (u16(unvouched), f"bounds unvouched: {unvouched}")]


def figures_fields(what=""):
    return [(u32(1), what + "times"), (u64(2), what + "first round"), (u64(6), what + "last round"), (u32(4), what + "contributions judged"),
            (u32((1 << 32) - 14_000), what + "own: -14000"), (u32(2_000), what + "other: 2000"), (u32(75_000), what + "median: 75000")]


def suspension_fields():
    fields = [(SUSPECT, "suspension 0 person"), (u8(2), "suspension 0 verdicts")]
    for number, (juror, signature) in enumerate(((HOST, 0x74), (BACKBONE, 0x75))):
        what = f"verdict {number} "
        fields += [(juror, what + "juror")] + figures_fields(what) + [(bytes([signature]) * 64, what + "signature")]
    return fields


def measured_fields():
    """Of two members, the second of which is a person's computer."""
    fields = [(u64(5), "losses of round"), (u64(8_192), "losses tokens"), (u8(2), "losses")]
    for number, (member, person, loss, signature) in enumerate(((PEER_A, None, 3_000_000, 0x76), (PEER_B, PERSON, 3_100_000, 0x77))):
        what = f"loss {number} "
        fields += [(member, what + "member")] + certificate_of(person, what)
        fields += [(u32(loss), what + f"millionths: {loss}"), (bytes([signature]) * 64, what + "signature")]
    return fields


def curve_fields():
    fields = [(u32(0), "suspended"), (u64(20), "curve stride"), (u16(3), "curve points")]
    for number, (round_, loss) in enumerate(((0, 5_545_177), (20, 4_100_000), (30, 3_900_000))):
        fields += [(u64(round_), f"point {number} round"), (u32(loss), f"point {number} loss")]
    return fields


def table_fields(suspended=False, curve=False):
    fields = [(b"PLKTAB1\n", "magic"), (RUN, "run"), (u64(1_000), "round"), (u64(70_000), "tokens"), (u64(12), "contributions"),
              (u32(5), "actions"), (u32(1), "vouched"), (PEER_A, "vouched 0"), (u32(1), "banned"), (PEER_B, "banned 0"), (u32(2), "credits")]
    for number, (peer, tokens, rounds) in enumerate(((PEER_A, 65_536, 10), (PEER_B, 4_464, 2))):
        fields += [(peer, f"credit {number} peer"), (u64(tokens), f"credit {number} tokens"), (u64(rounds), f"credit {number} rounds")]
    if suspended:
        fields += [(u32(1), "suspended"), (SUSPECT, "suspended 0 person"), (u64(1_040), "suspended 0 until"), (u32(1), "suspended 0 times")]
    if curve:
        fields += curve_fields()
    return fields


def committed_fields(list_bytes, certificate, what=""):
    return [(u32(len(list_bytes)), what + "length"), (list_bytes, what + "accept list"),
            (u16(len(certificate)), what + "length of certificate"), (certificate, what + "certificate")]


def weights(entries):
    """entries: (person, tokens, is a newcomer's)"""
    claims = {}
    for person, tokens, newcomer in entries:
        claims[person] = (claims.get(person, (0, newcomer))[0] + tokens, newcomer)
    counted = sorted([tokens for tokens, newcomer in claims.values() if not newcomer] or [tokens for tokens, _ in claims.values()])
    most = 4 * counted[(len(counted) - 1) // 2]
    capped = [tokens if claims[person][0] <= most else tokens * most // claims[person][0] for person, tokens, _ in entries]
    others = sum(weight for weight, (_, _, newcomer) in zip(capped, entries) if not newcomer)
    newcomers = sum(capped) - others
    if others == 0 or newcomers <= others // 4:
        return capped
    return [weight * (others // 4) // newcomers if newcomer else weight for weight, (_, _, newcomer) in zip(capped, entries)]


def weight_fields(entries):
    """entries: (tokens, is a newcomer's) and, where it is not the only one of its person, a number of that person"""
    entries = [(entry[2] if len(entry) > 2 else 100 + number, *entry[:2]) for number, entry in enumerate(entries)]
    fields = [(u16(len(entries)), "entries")]
    for number, ((person, tokens, newcomer), weight) in enumerate(zip(entries, weights(entries))):
        what = f"entry {number} "
        fields += [(u8(person), f"{what}person: {person}"), (u64(tokens), f"{what}tokens: {tokens}"), (u8(newcomer), what + "newcomer: " + ("yes" if newcomer else "no")),
                   (u64(weight), f"{what}weight: {weight}")]
    return fields


def status_fields(checkpoint, person=None, team="", light=False):
    fields = [(u64(42), "sequence"), (u8(1), "role: backbone"), (u8(2), "phase: collecting"), (u64(7), "round"),
              (BASE, "digest"), (PREVIOUS, "list"), (u64(65_536), "window tokens"), (u32(1_250), "tokens per second"),
              (f32(2.5), "loss"), (u64(5 if checkpoint else 0), "checkpoint round"), (u8(bool(checkpoint) + 2 * bool(team) + 4 * light),
               "takes steps" if light else "has a checkpoint" + " and a team" * bool(team))]
    named = [(u16(6881), "port"), (u16(len("Büro".encode())), "length of name"), ("Büro".encode(), "name")]
    if team:
        named += [(u16(len(team.encode())), "length of team"), (team.encode(), "team")]
    return fields + checkpoint + named + certificate_of(person)


def gpt2_tensors(vocabulary, context, layers, width):
    c = width
    tensors = [("wte.weight", [vocabulary, c]), ("wpe.weight", [context, c])]
    for i in range(layers):
        for name, shape in (("ln_1", [c]), ("attn.c_attn", [c, 3 * c]), ("attn.c_proj", [c, c]), ("ln_2", [c]),
                            ("mlp.c_fc", [c, 4 * c]), ("mlp.c_proj", [4 * c, c])):
            tensors += [(f"h.{i}.{name}.weight", shape), (f"h.{i}.{name}.bias", shape[-1:])]
    return tensors + [("ln_f.weight", [c]), ("ln_f.bias", [c])]


def opt_tensors(vocabulary, context, layers, width, embedding, norm):
    c, e = width, embedding or width
    tensors = [("embed_tokens.weight", [vocabulary, e]), ("embed_positions.weight", [context + 2, c])]
    if embedding:
        tensors += [("project_in.weight", [c, e]), ("project_out.weight", [e, c])]

    def affine(name, shape):
        return [(name + ".weight", shape), (name + ".bias", shape[:1])]

    for i in range(layers):
        layer, attention = f"layers.{i}.", f"layers.{i}.self_attn."
        tensors += affine(layer + "self_attn_layer_norm", [c])
        tensors += [(f"{attention}{part}_proj.weight", [c, c]) for part in "qkv"]
        tensors += [(f"{attention}{part}_proj.bias", [c]) for part in "qkv"]
        tensors += affine(attention + "out_proj", [c, c]) + affine(layer + "final_layer_norm", [c])
        tensors += affine(layer + "fc1", [4 * c, c]) + affine(layer + "fc2", [c, 4 * c])
    if norm == "before":
        tensors += affine("final_layer_norm", [c])
    return [("model.decoder." + name, shape) for name, shape in tensors]


def llama_tensors(vocabulary, layers, width, heads, kv_heads, head, inner, own_head=False, bias=False, norm=False):
    c, tensors = width, [("model.embed_tokens", [vocabulary, width])]
    if own_head:
        tensors.append(("lm_head", [vocabulary, c]))
    for i in range(layers):
        layer, attention = f"model.layers.{i}.", f"model.layers.{i}.self_attn."
        sizes = {"q": heads * head, "k": kv_heads * head, "v": kv_heads * head}
        tensors += [(layer + "input_layernorm", [c])]
        tensors += [(f"{attention}{part}_proj", [size, c]) for part, size in sizes.items()]
        if bias:
            tensors += [(f"{attention}{part}_proj.bias", [size]) for part, size in sizes.items()]
        if norm:
            tensors += [(f"{attention}{part}_norm", [head]) for part in "qk"]
        tensors += [(attention + "o_proj", [c, heads * head]), (layer + "post_attention_layernorm", [c]),
                    (layer + "mlp.gate_proj", [inner, c]), (layer + "mlp.up_proj", [inner, c]),
                    (layer + "mlp.down_proj", [c, inner])]
    tensors.append(("model.norm", [c]))
    return [(name if name.endswith(".bias") else name + ".weight", shape) for name, shape in tensors]


def state_header(tensors):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in tensors:
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 16_384)
    return u64(len(text)) + text, offset


def manifest_json(byte_bpe=False, hosted_elsewhere=False):
    def blob(root, size, info=None):
        value = {"root": root.hex(), "size": size, "kind": "open" if info else "plain"}
        return value | ({"info_hash": info.hex()} if info else {})

    header, content = state_header(gpt2_tensors(256, 16, 1, 8))
    manifest = {
        "name": "Küche", "purpose": "Shows the layout.\nTwo lines.", "licence": "CC0-1.0", "host": HOST.hex(),
        "host_device": PEER_A.hex() if hosted_elsewhere else "", "host_device_signature": "66" * 64 if hosted_elsewhere else "",
        "backbones": [BACKBONE.hex()], "allowed": [PEER_A.hex(), PEER_B.hex()], "created": 1_750_000_000,
        "model": {"family": "gpt2", "vocabulary": 256, "context": 16, "layers": 1, "heads": 2, "width": 8,
                  "activation": "gelu_tanh", "dropout": 0.0},
        "tokenizer": {"kind": "bytes"},
        "shards": [{"blob": blob(ROOT_A, 3_400, INFO), "records": 100}],
        "validation": {"blob": blob(ROOT_B, 340), "records": 10},
        "bigram_loss": 2.5, "initial_state": blob(b"\xc3" * 32, len(header) + content),
        "recipe": {"optimizer": "adamw", "state_bits": 8, "epsilon": 1e-8, "learning_rate": 0.003, "final_fraction": 0.1, "beta1": 0.9, "beta2": 0.95, "weight_decay": 0.1,
                   "clip_norm": 1.0, "batch": 8, "warmup_rounds": 2, "total_rounds": 1000, "window_ms": 60000, "k": 64, "k_max": 4096,
                   "error_decay": struct.unpack("<f", f32(0.95))[0], "alpha": 1.0, "amplification": 4,
                   "checkpoint_every": 10, "collect_ms": 10000, "grace_ms": 5000, "fit_rounds": 50, "probation_rounds": 10,
                   "rounds_late_max": 0, "table_every": 1000, "seed": 1}}
    if byte_bpe:
        manifest["tokenizer"] = {"kind": "bpe", "model": blob(ROOT_A, 1_042_301), "merges": blob(ROOT_B, 456_318)}
    return json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def place_fields(view, what=""):
    return [(u32(2), what + "term"), (u64(7), what + "round"), (u32(view), what + "view")]


def signer_fields(what=""):
    return [(u8(0b1011), what + "signers: members 0, 1 and 3")] + [
        (bytes([0x50 + member]) * 64, what + f"signature of member {member}") for member in (0, 1, 3)]


def vote_fields(view, step, root, author=PEER_A, what=""):
    fields = [(u8(2), what + "kind: vote"), (RUN, what + "run"), (author, what + "author")] + place_fields(view, what)
    fields += [(u8(step), what + "step: " + ("prevote" if step == 1 else "precommit")), (u8(root is not None), what + "names a list")]
    return fields + ([(root, what + "list")] if root else []) + [(SIGNATURE, what + "signature")]


def proposal_fields(view, root, proof_view=None, what=""):
    fields = [(u8(1), what + "kind: proposal"), (RUN, what + "run"), (PEER_A, what + "author")] + place_fields(view, what)
    fields += [(root, what + "list"), (u8(proof_view is not None), what + "has a proof")]
    if proof_view is not None:
        fields += [(u32(proof_view), what + "proof view")] + signer_fields(what + "proof ")
    return fields + [(SIGNATURE, what + "signature")]


def certificate_fields(view, step, root, what=""):
    return ([(RUN, what + "run")] + place_fields(view, what) + [(u8(step), what + "step: " + ("prevote" if step == 1 else "precommit")),
            (root, what + "list")] + signer_fields(what))


def record_fields():
    fields = [(b"PLKVOT1\n", "magic"), (PEER_A, "author"), (RUN, "run")] + place_fields(3) + [(u8(31), "parts: all"),
              (u32(1), "lock view"), (ROOT_A, "lock list")] + certificate_fields(1, 1, ROOT_A, "valid ")
    fields += proposal_fields(3, ROOT_A, 1, "own proposal ") + vote_fields(3, 1, ROOT_A, what="own prevote ")
    fields += vote_fields(3, 2, None, what="own precommit ")
    fields += [(u8(1), "entries")] + vote_fields(2, 2, None, PEER_B, "entry ")
    return fields + [(hashlib.sha256(b"".join(value for value, _ in fields)).digest(), "SHA-256 of what stands before")]


def announcement_fields(decided):
    texts = [("name", "Küche"), ("purpose", "Writes recipes."), ("language", "de"), ("licence", "CC0-1.0"),
             ("model", "GPT-2 shape, 4 layers"), ("family", "GPT-2"), ("host_name", "Béa"), ("page", "https://example.org/kueche")]
    fields = [(u32(2), "layout"), (u64(1_790_000_000_000), "made"), (RUN, "run"), (HOST, "host"), (u64(800_000), "parameters"),
              (u64(8_000_000), "memory"), (u64(3_500_000), "download"), (u64(8 if decided else 0), "round"), (u64(1_000), "rounds"),
              (f32(2.25 if decided else 0), "loss"), (f32(2.5), "baseline"), (f32(5e6), "flops"),
              (u32(3), "volunteers"), (u32(70), "round_seconds")]
    for what, text in texts:
        fields += [(u16(len(text.encode())), "length of " + what), (text.encode(), what)]
    fields += [(u8(2), "hints")]
    for number, (host, port) in enumerate([(b"192.0.2.7", 6881), (b"2001:db8::1", 6882)]):
        fields += [(u16(len(host)), f"length of host {number}"), (host, f"host {number}"), (u16(port), f"port {number}")]
    seats = sorted([HOST, BACKBONE, PEER_A, PEER_B]) if decided else []
    fields += [(u8(len(seats)), "committee")] + [(seat, f"member {number}") for number, seat in enumerate(seats)]
    certificate = b"".join(value for value, _ in [(u8(3), "")] + certificate_fields(3, 2, ROOT_A)) if decided else b""
    fields += [(u16(len(certificate)), "length of certificate")] + [(certificate, "certificate: agreement_certificate.hex")] * decided
    return fields + [(SIGNATURE, "signature")]


def main():
    save("blob_ref_plain", blob_fields(ROOT_A, 65_536, 0, bytes(32)))
    open_blob = blob_fields(ROOT_B, 1 << 40, 1, INFO)
    save("blob_ref_open", open_blob)
    committee = [HOST, BACKBONE, PEER_A, PEER_B]
    entries = [(PEER_A, ROOT_A, 4_096, 65_536, 0, 0x61), (PEER_B, ROOT_B, 8_192, 1 << 40, 1, 0x62)]
    accepted = save("accept_list", list_fields(committee, entries))
    save("accept_list_late", list_fields(committee, [entry[:4] + (entry[4] + 2, entry[5]) for entry in entries]))
    save("accept_list_moderated", list_fields(committee, entries, 3, [(key_action_fields(4, 1, "ban", PEER_B), 0x71),
                                                                      (key_action_fields(5, 3, "allow", PEER_A), 0x72)]))
    save("accept_list_roll_back", list_fields(committee, [], 5, [(roll_back_fields(6), 0x73)]))
    save("accept_list_computers", list_fields(committee, entries, owners={HOST: BASE, PEER_A: PERSON}))
    table = save("credit_table", table_fields())  # shorter than a block, so that its root is its hash
    save("accept_list_table", list_fields(committee, entries, table=blob_fields(hashlib.sha256(table).digest(), len(table), 0, bytes(32),
                                                                               "table ")))
    save("accept_list_bounds", list_fields(committee, [entries[0][:4] + (4, 0x61), entries[1][:4] + (1, 0x62)], bounds=(1.5, 262_144, 500)))
    save("accept_list_suspensions", list_fields(committee, entries, suspensions=[suspension_fields()]))
    save("credit_table_suspended", table_fields(suspended=True))
    save("accept_list_losses", list_fields(committee, entries, measured=measured_fields()))
    save("credit_table_curve", table_fields(curve=True))
    accepted_hash = hashlib.sha256(accepted).digest()
    save("accept_list_hash", [(accepted_hash, "SHA-256 of accept_list.hex")])
    certificate = save("accept_list_certificate", [(u8(3), "kind: certificate")] + certificate_fields(3, 2, accepted_hash))
    save("weights", weight_fields([(100, False), (200, False), (300, False), (2_000, False), (50, True), (5_000, True)]))
    save("weights_of_newcomers", weight_fields([(100, True), (200, True), (900, True)]))
    save("weights_at_the_limits", weight_fields([(1 << 40, False), (1 << 40, False), (1, False)] + [(1 << 40, True)] * 6
                                                + [(3, True)]))
    save("weights_of_persons", weight_fields([(100, False), (200, False), (100, False, 1), (500, False, 1), (300, False, 1), (40, True, 2), (60, True, 2)]))
    save("status", status_fields([(value, "checkpoint " + name) for value, name in open_blob]))
    save("status_without_checkpoint", status_fields([]))
    save("status_of_computer", status_fields([], PERSON))
    save("status_of_light", status_fields([], light=True))
    save("status_with_team", status_fields([(value, "checkpoint " + name) for value, name in open_blob], team="Physik Universität Graz"))
    close = save("close", [(u64(7), "round")])
    save("contribution", [(u64(7), "round"), (BASE, "base")] + blob_fields(ROOT_A, 4_096, 0, bytes(32), "payload ")
         + [(u64(65_536), "tokens")] + certificate_of(None))
    save("contribution_of_computer", [(u64(7), "round"), (BASE, "base")] + blob_fields(ROOT_A, 4_096, 0, bytes(32), "payload ")
         + [(u64(65_536), "tokens")] + certificate_of(PERSON))
    save("device_signed_bytes", [(PERSON, "person"), (PEER_A, "computer")])
    proposal = b"".join(value for value, _ in proposal_fields(3, accepted_hash))
    vote = b"".join(value for value, _ in vote_fields(3, 2, accepted_hash))
    save("ballot", [(u16(len(proposal)), "length of statement"), (proposal, "statement: a proposal"),
                    (u32(len(accepted)), "length of list"), (accepted, "accept list")])
    save("ballot_without_list", [(u16(len(vote)), "length of statement"), (vote, "statement: a vote"),
                                 (u32(0), "length of list")])
    save("history_request", [(u64(7), "first")])
    save("history", [(u16(2), "lists")] + committed_fields(accepted, certificate, "list 0 ")
         + committed_fields(accepted, certificate, "list 1 "))
    save("layer_request", [(BASE, "state"), (u32(3), "first piece")])
    save("layer", [(BASE, "state"), (u32(3), "first piece"), (u16(2), "hashes"), (ROOT_A, "hash 3"), (ROOT_B, "hash 4")])
    save("goodbye", [(b"", "nothing")])
    save("host_action_ban", key_action_fields(4, 1, "ban", PEER_B))
    save("host_action_readmit", key_action_fields(5, 2, "readmit", PEER_B))
    save("host_action_allow", key_action_fields(6, 3, "allow", PEER_A))
    save("host_action_roll_back", roll_back_fields(7))
    save("host_action_replace", [(u32(8), "number"), (u8(5), "kind: replace"), (u32(3), "term"), (u64(7), "round"),
                                 (PREVIOUS, "previous"), (u8(1), "members"), (HOST, "member 0")] + certificate_of(None, "member 0 "))
    save("host_action_lift", key_action_fields(9, 6, "lift", SUSPECT))
    save("verdict", [(SUSPECT, "person")] + figures_fields())
    save("loss", [(u64(5), "round"), (u32(3_000_000), "millionths of a nat a token"), (u64(8_192), "tokens")])
    save("payload_request", [(ROOT_A, "payload")])
    save("committee_request", [(u64(7), "first")])
    save("step", [(u64(7), "round"), (PREVIOUS, "list")] + blob_fields(ROOT_A, 4_242, 0, bytes(32), "step ")
         + [(BASE, "result")])
    save("step_request", [(u64(7), "round")])
    save("list_request", [(accepted_hash, "hash of accept_list.hex")])
    save("list", [(u32(len(accepted)), "length of list"), (accepted, "accept list")])
    save("committee", [(u16(2), "lists")] + committed_fields(accepted, certificate, "list 0 ")
         + committed_fields(accepted, certificate, "list 1 "))
    keys, proof = channel_fields()
    save("channel_keys", keys)
    save("channel_proof", proof)
    save("lots", lot_fields(PREVIOUS, [HOST, BACKBONE, PEER_A, PEER_B]))
    save("signed_bytes", [(RUN, "run"), (close, "body: close.hex")])
    save("agreement_proposal", proposal_fields(3, ROOT_A))
    save("agreement_proposal_again", proposal_fields(3, ROOT_A, 1))
    save("agreement_vote", vote_fields(3, 2, ROOT_A))
    save("agreement_nil", vote_fields(3, 1, None))
    save("agreement_certificate", [(u8(3), "kind: certificate")] + certificate_fields(3, 2, ROOT_A))
    save("agreement_evidence", vote_fields(3, 2, ROOT_A, what="first ") + vote_fields(3, 2, ROOT_B, what="second "))
    save("vote_record", record_fields())
    save("announcement", announcement_fields(True))
    save("announcement_of_round_0", announcement_fields(False))
    save("manifest", [(b"PLKMAN6\n", "magic"), (SIGNATURE, "signature"), (manifest_json(), "JSON")])
    save("manifest_of_computer", [(b"PLKMAN6\n", "magic"), (SIGNATURE, "signature"), (manifest_json(hosted_elsewhere=True), "JSON")])
    save("manifest_bpe", [(b"PLKMAN6\n", "magic"), (SIGNATURE, "signature"), (manifest_json(byte_bpe=True), "JSON")])
    link = b"magnet:?xt=urn:btmh:1220" + RUN.hex().encode() + b"&dn=K%c3%bcche%20%26%20Co&x.pe=192.0.2.7:6881&x.pe=[2001:db8::1]:6882"
    save("invite", [(link, "the link, ASCII")])
    save("state_header_small", [(hashlib.sha256(state_header(gpt2_tensors(256, 16, 1, 8))[0]).digest(), "SHA-256 of the header")])
    save("state_header_gpt2", [(hashlib.sha256(state_header(gpt2_tensors(50_257, 1_024, 12, 768))[0]).digest(), "SHA-256 of the header")])
    for name, tensors in (("opt_125m", opt_tensors(50_272, 2_048, 12, 768, 0, "before")),
                          ("opt_350m", opt_tensors(50_272, 2_048, 24, 1_024, 512, "after")),
                          ("smollm2_135m", llama_tensors(49_152, 30, 576, 9, 3, 64, 1_536)),
                          ("qwen2_small", llama_tensors(256, 2, 8, 2, 1, 6, 24, own_head=True, bias=True)),
                          ("qwen3_small", llama_tensors(256, 2, 8, 2, 1, 6, 24, norm=True))):
        save("state_header_" + name, [(hashlib.sha256(state_header(tensors)[0]).digest(), "SHA-256 of the header")])


main()
