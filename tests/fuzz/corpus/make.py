#!/usr/bin/env python3
"""Writes the first corpus from the wire vectors: run it in its own folder. Files are valid, cut short or hostile."""
import json
import os
import pathlib
import struct
import sys
import zlib

WIRE = pathlib.Path("../../golden/wire")
CHECKPOINTS = pathlib.Path("../../golden/checkpoints")


def vector(name):
    return bytes.fromhex("".join(line.split("#")[0] for line in (WIRE / f"{name}.hex").read_text().splitlines()))


def save(target, name, content):
    os.makedirs(target, exist_ok=True)
    pathlib.Path(target, name).write_bytes(content)


def messages():
    kinds = ["status", "close", "contribution", "ballot", "history_request", "history", "layer_request", "layer", "goodbye", "host_action",
             "payload_request", "committee_request", "committee", "step", "step_request", "verdict", "loss",
             "list_request", "list"]
    for number, kind in enumerate(kinds, 1):
        body = vector("host_action_roll_back" if kind == "host_action" else kind)
        save("message", kind, bytes([number]) + body)
        save("message", kind + "_cut", bytes([number]) + body[:len(body) // 2])
    save("message", "status_without_checkpoint", b"\x01" + vector("status_without_checkpoint"))
    save("message", "status_loss_nan", b"\x01" + vector("status")[:94] + b"\x00\x00\xc0\x7f" + vector("status")[98:])
    save("message", "status_name_beyond_end", b"\x01" + vector("status")[:-8] + b"\xff\xff" + b"n" * 8)
    save("message", "status_of_computer", b"\x01" + vector("status_of_computer"))
    of_team = vector("status_with_team")
    save("message", "status_with_team", b"\x01" + of_team)
    save("message", "status_team_empty", b"\x01" + of_team[:-27] + b"\x00\x00\x00")
    save("message", "status_team_cut", b"\x01" + of_team[:-8])
    save("message", "status_marks_8", b"\x01" + of_team[:106] + b"\x0b" + of_team[107:])
    save("message", "status_of_light", b"\x01" + vector("status_of_light"))
    save("message", "list_claims_all", b"\x13" + b"\xff" * 4 + bytes(600))
    owned = vector("contribution_of_computer")
    save("message", "contribution_of_computer", b"\x03" + owned)
    save("message", "contribution_of_nobody", b"\x03" + owned[:-96] + bytes(32) + owned[-64:])
    save("message", "contribution_certificate_2", b"\x03" + owned[:-97] + b"\x02" + owned[-96:])
    save("message", "contribution_certificate_cut", b"\x03" + owned[:-1])
    save("message", "history_claims_all", b"\x06\x00\x01" + b"\xff" * 4)
    save("message", "history_no_certificate", b"\x06" + vector("history")[:6 + 600] + b"\x00\x00")
    save("message", "ballot_without_list", b"\x04" + vector("ballot_without_list"))
    save("message", "ballot_claims_all", b"\x04\xff\xff" + bytes(600))
    save("message", "ballot_no_statement", b"\x04\x00\x00" + vector("ballot")[180:])
    save("message", "ballot_list_too_short", b"\x04" + vector("ballot_without_list")[:-4] + b"\x93\x00\x00\x00" + bytes(147))
    for name in ("ban", "readmit", "allow", "lift"):
        save("message", "host_action_" + name, b"\x0a" + vector("host_action_" + name))
    ban = vector("host_action_ban")
    save("message", "host_action_number_0", b"\x0a" + bytes(4) + ban[4:])
    save("message", "host_action_kind_7", b"\x0a" + ban[:4] + b"\x07" + ban[5:])
    save("message", "verdict_judges_nothing", b"\x10" + vector("verdict")[:52] + bytes(4) + vector("verdict")[56:])
    save("message", "verdict_figure_beyond", b"\x10" + vector("verdict")[:-4] + b"\xff\xff\xff\x7f")
    loss = vector("loss")
    save("message", "loss_0", b"\x11" + loss[:8] + bytes(4) + loss[12:])
    save("message", "loss_beyond", b"\x11" + loss[:8] + b"\xff" * 4 + loss[12:])
    save("message", "loss_of_nothing", b"\x11" + loss[:12] + bytes(8))
    save("message", "host_action_round_beyond", b"\x0a" + vector("host_action_roll_back")[:5] + b"\xff" * 8
         + vector("host_action_roll_back")[13:])
    save("message", "layer_claims_all", b"\x08" + bytes(32) + b"\xff" * 6 + bytes(64))
    save("message", "kind_unknown", b"\xff" + vector("close"))
    save("message", "empty", b"")


def accept_lists():
    whole = vector("accept_list")  # four members, two entries
    head, members, first, second, no_action = whole[:113], whole[113:245], whole[245:424], whole[424:603], whole[603:]

    def listed(*entries, claim=None, size=None, seats=members, tail=no_action):
        count = len(entries) if claim is None else claim
        return head[:110] + struct.pack("<BH", len(seats) // 33 if size is None else size, count) + seats + b"".join(entries) + tail

    def acted(before, *actions, claim=None):
        """The end of a list: so many actions before, and these."""
        return struct.pack("<IB", before, len(actions) if claim is None else claim) + b"".join(actions) + b"\0"

    def ban(number):
        return struct.pack("<IB", number, 1) + bytes(32) + bytes([0x71]) * 64

    def entry(number, tokens, newcomer=0):
        """Of a peer and with a payload of its own."""
        return bytes([number]) * 32 + bytes([number]) * 32 + first[64:105] + struct.pack("<QB", tokens, newcomer) + first[114:]

    save("accept_list", "two", whole)
    save("accept_list", "one", listed(first))
    save("accept_list", "none", listed())
    save("accept_list", "first_round", whole[:36] + bytes(8) + bytes(32) + whole[76:])
    save("accept_list", "late_in_first_round", whole[:36] + bytes(8) + bytes(32) + listed(first[:113] + b"\x02" + first[114:])[76:])
    save("accept_list", "cut", whole[:300])
    save("accept_list", "unsorted", listed(second, first))
    save("accept_list", "twice", listed(first, first))
    save("accept_list", "payload_twice", listed(first, second[:32] + first[32:64] + second[64:]))
    save("accept_list", "claims_65535", listed(first, claim=65_535))
    save("accept_list", "no_tokens", listed(first[:105] + bytes(8) + first[113:]))
    save("accept_list", "late", listed(first[:113] + b"\x02" + first[114:]))
    save("accept_list", "late_newcomer", vector("accept_list_late"))
    save("accept_list", "marks_4", listed(first[:113] + b"\x04" + first[114:]))
    save("accept_list", "many", listed(*(entry(i, 1 + i * i) for i in range(64))))
    save("accept_list", "crowd", listed(*(entry(i, 1 << 40, i > 1) for i in range(64))))
    save("accept_list", "all_newcomers", listed(*(entry(i, 1 << i % 40, 1) for i in range(8))))
    save("accept_list", "tiny_share", listed(entry(1, 3), entry(2, 1 << 40, 1)))
    save("accept_list", "no_member", listed(first, seats=b""))
    save("accept_list", "seven_members", listed(first, seats=b"".join(bytes([i]) * 32 + b"\0" for i in range(7))))
    save("accept_list", "eight_members", listed(first, seats=b"".join(bytes([i]) * 32 + b"\0" for i in range(8))))
    save("accept_list", "members_unsorted", listed(first, seats=members[33:66] + members[:33]))
    save("accept_list", "member_twice", listed(first, seats=members[:33] * 2))
    other = lambda key: bytes([key]) * 32 + b"\1" + bytes([0x77]) * 32 + bytes([0x66]) * 64  # a computer of one person
    save("accept_list", "computers", vector("accept_list_computers"))
    save("accept_list", "one_person_twice", listed(first, seats=other(1) + other(2), size=2))
    save("accept_list", "own_person_named", listed(first, seats=other(0x77), size=1))
    save("accept_list", "entry_of_nobody", listed(first[:-1] + b"\1" + bytes(32) + bytes([0x66]) * 64))
    save("accept_list", "members_claimed", listed(first, size=255))
    roll_back = vector("host_action_roll_back")[4:] + bytes([0x73]) * 64
    save("accept_list", "moderated", vector("accept_list_moderated"))
    save("accept_list", "roll_back", vector("accept_list_roll_back"))
    save("accept_list", "sixteen_actions", listed(first, tail=acted(0, *(ban(i) for i in range(1, 17)))))
    save("accept_list", "seventeen_actions", listed(first, tail=acted(0, *(ban(i) for i in range(1, 18)))))
    save("accept_list", "actions_claimed", listed(first, tail=acted(0, ban(1), claim=255)))
    save("accept_list", "actions_gap", listed(first, tail=acted(3, ban(4), ban(6))))
    save("accept_list", "actions_beyond", listed(first, tail=acted((1 << 20) + 1)))
    save("accept_list", "roll_back_beside", listed(first, tail=acted(6, struct.pack("<I", 7) + roll_back)))
    save("accept_list", "roll_back_behind", listed(tail=acted(5, ban(6), struct.pack("<I", 7) + roll_back)))
    table = vector("accept_list_table")[-73:]
    save("accept_list", "table", listed(first, tail=no_action[:-1] + b"\1" + table))
    save("accept_list", "table_cut", listed(first, tail=no_action[:-1] + b"\1" + table[:40]))
    save("accept_list", "table_marks_2", listed(first, tail=no_action[:-1] + b"\2" + table))
    save("accept_list", "table_open", listed(first, tail=no_action[:-1] + b"\1" + table[:40] + b"\1" + bytes([0xd1]) * 32))
    save("accept_list", "table_in_first_round", whole[:36] + bytes(8) + bytes(32) + listed(first, tail=no_action[:-1] + b"\1" + table)[76:])
    save("accept_list", "term_beyond", whole[:32] + b"\x01\x00\x10\x00" + whole[36:])


def suspensions():
    whole = vector("accept_list_suspensions")
    save("accept_list", "suspensions", whole)
    save("accept_list", "suspensions_cut", whole[:-70])
    save("accept_list", "suspensions_claimed", whole[:-298] + b"\xff" + whole[-297:])
    losses = vector("accept_list_losses")
    save("accept_list", "losses", losses)
    save("accept_list", "losses_cut", losses[:-70])
    save("accept_list", "losses_claimed", losses[:-299] + b"\xff" + losses[-298:])
    save("accept_list", "losses_of_this_round", losses[:-315] + struct.pack("<Q", 7) + losses[-307:])
    save("accept_list", "losses_of_one_person", losses[:-298] + losses[-197:-165] + losses[-266:])
    save("accept_list", "suspensions_of_contributor", whole[:-297] + b"\xa1" * 32 + whole[-265:])


def credit_tables():
    whole = vector("credit_table")
    head, tail = whole[:68], whole[140:]  # before the lists of keys, and the credits
    keys = lambda *numbers: struct.pack("<I", len(numbers)) + b"".join(bytes([number]) * 32 for number in numbers)
    credit = lambda number, tokens=1, rounds=1: bytes([number]) * 32 + struct.pack("<QQ", tokens, rounds)
    credits = lambda *all: struct.pack("<I", len(all)) + b"".join(all)
    save("credit_table", "whole", whole)
    save("credit_table", "cut", whole[:200])
    save("credit_table", "other_magic", b"PLKTAB2\n" + whole[8:])
    save("credit_table", "nobody", head + keys() + keys() + credits())
    save("credit_table", "keys_unsorted", head + keys(2, 1) + keys() + tail)
    save("credit_table", "key_twice", head + keys() + keys(3, 3) + tail)
    save("credit_table", "keys_claimed", head + b"\xff" * 4 + whole[72:])
    save("credit_table", "credits_claimed", head + keys() + keys() + b"\xff" * 4)
    save("credit_table", "credits_unsorted", head + keys() + keys() + credits(credit(9), credit(8)))
    save("credit_table", "credit_twice", head + keys() + keys() + credits(credit(9), credit(9)))
    save("credit_table", "no_rounds", head + keys() + keys() + credits(credit(9, rounds=0)))
    save("credit_table", "great_tokens", head + keys() + keys() + credits(credit(9, tokens=1 << 63)))
    save("credit_table", "round_0", whole[:40] + bytes(8) + whole[48:])
    save("credit_table", "left_over", whole + b"\0")
    suspended = vector("credit_table_suspended")
    save("credit_table", "suspended", suspended)
    save("credit_table", "suspended_nobody", suspended[:-48] + bytes(4))
    save("credit_table", "suspended_claimed", suspended[:-48] + b"\xff" * 4 + suspended[-44:])
    save("credit_table", "suspended_never", suspended[:-4] + bytes(4))
    curve = vector("credit_table_curve")
    save("credit_table", "curve", curve)
    save("credit_table", "curve_without_points", curve[:-38] + bytes(2))
    save("credit_table", "curve_claimed", curve[:-38] + b"\xff\xff" + curve[-36:])
    save("credit_table", "curve_too_close", curve[:-46] + struct.pack("<Q", 21) + curve[-38:])
    save("credit_table", "curve_falls", curve[:-12] + struct.pack("<Q", 20) + curve[-4:])
    save("credit_table", "curve_of_the_future", curve[:-12] + struct.pack("<Q", 1_000) + curve[-4:])
    save("credit_table", "empty", b"")


SWAV = {"area_min": 0.2, "area_split": 0.5, "block": "basic", "embedding": 8, "epsilon": 0.05, "frozen": 0, "hidden": 8,
        "large_side": 8, "prototypes": 4, "queue": 0, "queue_from": 0, "side": 8, "small_crops": 1, "small_side": 8,
        "stages": [1, 1, 1, 1], "stem": "small", "temperature": 0.1, "together": 2}


def manifests():
    whole = vector("manifest")
    prefix, text = whole[:72], whole[72:]
    save("manifest", "whole", whole)
    save("manifest", "cut", whole[:900])
    save("manifest", "prefix", prefix)
    save("manifest", "other_magic", b"PLKMAN9\n" + whole[8:])
    save("manifest", "of_computer", vector("manifest_of_computer"))
    save("manifest", "computer_without_signature", prefix + text.replace(b'"host_device":""', b'"host_device":"' + b"a1" * 32 + b'"'))
    save("manifest", "older", b"PLKMAN1\n" + whole[8:])
    save("manifest", "no_fit_rounds", prefix + text.replace(b'"fit_rounds":50,', b""))
    save("manifest", "great_probation", prefix + text.replace(b'"probation_rounds":10', b'"probation_rounds":10001'))
    save("manifest", "deep", prefix + b"[" * 5_000)
    save("manifest", "deep_closed", prefix + b"[" * 5_000 + b"]" * 5_000)
    save("manifest", "twice", prefix + text[:-1] + b',"name":"again"}')
    save("manifest", "huge_numbers", prefix + text.replace(b'"layers":1', b'"layers":1e308').replace(b'"k":64', b'"k":1e400'))
    save("manifest", "bad_text", prefix + text.replace(b"che", b"\xff\xfe\x00"))
    save("manifest", "surrogate", prefix + text.replace(b"che", b"\\ud800"))
    save("manifest", "sentencepiece", prefix + text.replace(b'{"kind":"bytes"}', b'{"kind":"sentencepiece","model":{"kind":"plain",'
         b'"root":"' + b"ab" * 32 + b'","size":500000}}'))
    save("manifest", "bpe", vector("manifest_bpe"))
    save("manifest", "no_tokenizer", prefix + text.replace(b'{"kind":"bytes"}', b'{"kind":"none"}'))
    save("manifest", "opt", prefix + text.replace(b'"family":"gpt2"', b'"embedding":4,"family":"opt","norm":"after"'))
    llama = (b'"head_width":4,"inner":24,"kv_heads":1,"norm_epsilon":1e-05,"qk_norm":false,"qkv_bias":true,"rope_theta":10000.0,'
             b'"tied":false,')
    save("manifest", "llama", prefix + text.replace(b'"activation":"gelu_tanh",', b"").replace(
        b'"family":"gpt2",', b'"family":"llama",').replace(b'"heads":2,', b'"heads":2,' + llama))
    albert = b'"cls":2,"embedding":8,"inner":24,"mask":4,"mask_share":0.15,"pad":0,"sep":3,'
    save("manifest", "albert", prefix + text.replace(b'"activation":"gelu_tanh",', b"").replace(
        b'"family":"gpt2",', b'"family":"albert",').replace(b'"heads":2,', b'"heads":2,' + albert))
    coder = b'"halvings":2,"levels":[8,5],"side":8,'
    save("manifest", "coder", prefix + text.replace(b'"activation":"gelu_tanh",', b"").replace(
        b'"family":"gpt2",', b'"family":"coder",').replace(b'"heads":2,', coder + b'"heads":1,'))
    dalle = b'"blocks":1,"grid":2,"text":12,"text_vocabulary":250,'
    save("manifest", "dalle", prefix + text.replace(b'"activation":"gelu_tanh",', b"").replace(
        b'"family":"gpt2",', b'"family":"dalle",').replace(b'"heads":2,', dalle + b'"heads":1,').replace(
        b'"layers":1', b'"layers":2').replace(b'"width":8', b'"width":12').replace(
        b'{"kind":"bytes"}', b'{"kind":"none","pictures":{"model":{"context":192,"dropout":0.0,"family":"coder",'
        b'"halvings":2,"levels":[3,2],"side":8,"heads":1,"layers":1,"vocabulary":256,"width":8},"state":{"kind":"plain",'
        b'"root":"' + 32 * b"c4" + b'","size":68384}}}'))
    swav = json.dumps(SWAV, separators=(",", ":")).encode()[1:-1]
    save("manifest", "swav", prefix + text.replace(b'"activation":"gelu_tanh",', b"").replace(
        b'"family":"gpt2",', b'"family":"swav",').replace(b'"heads":2,', swav + b',"heads":1,').replace(
        b'"layers":1', b'"layers":4').replace(b'{"kind":"bytes"}', b'{"kind":"none"}'))
    save("manifest", "great_model", prefix + text.replace(b'"layers":1', b'"layers":256').replace(b'"width":8', b'"width":16384'))


def byte_bpe():
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = [chr(byte) for byte in kept] + [chr(256 + i) for i in range(256 - len(kept))]

    def vocabulary(more):
        return json.dumps({token: i for i, token in enumerate(symbols + more)}, separators=(",", ":")).encode()

    merges = b"#version: 0.2\na b\nab a\nab ab\n"
    whole = vocabulary(["ab", "aba", "abab", "</s>", "<|endoftext|>"])
    save("byte_bpe", "whole", whole + b"\0" + merges)
    save("byte_bpe", "no_merges", whole)
    save("byte_bpe", "cut", whole[:1_000])
    save("byte_bpe", "unknown_token", whole + b"\0a c\n")
    save("byte_bpe", "not_two", whole + b"\0a b c\n \n")
    save("byte_bpe", "twice", whole + b"\0a b\na b\n")
    save("byte_bpe", "great_id", whole.replace(b":256,", b":70000,"))
    save("byte_bpe", "fractional_id", whole.replace(b":256,", b":2.5e2,"))
    save("byte_bpe", "deep", b"[" * 5_000)
    digits = b'{"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":false}'
    file = (b'{"normalizer":null,"pre_tokenizer":{"type":"Sequence","pretokenizers":[' + digits + b']},"added_tokens":[{"id":'
            + str(len(json.loads(whole))).encode() + b',"content":"<|endoftext|>"}],"model":{"type":"BPE","vocab":' + whole
            + b',"merges":[["a","b"]]}}')
    save("byte_bpe", "tokenizer_json", file)
    composed = file.replace(b'"normalizer":null', b'"normalizer":{"type":"NFC"}')
    save("byte_bpe", "tokenizer_json_normalizer", composed)
    words = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    for name, source, count in (("llama3", file.replace(b'"BPE"', b'"BPE","ignore_merges":true'), "{1,3}"), ("qwen2", composed, "")):
        split = {"type": "Split", "pattern": {"Regex": words % count}, "behavior": "Isolated", "invert": False}
        steps = json.dumps(split).encode() + b',{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}'
        save("byte_bpe", "tokenizer_json_" + name, source.replace(digits, steps))


def sentencepiece():
    """Fields of sentencepiece_model.proto: a model's pieces (1), trainer (2) and normalizer (3)."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    def field(number, content):
        return varint(number << 3 | 2) + varint(len(content)) + content

    def piece(text, score, kind=1):
        return field(1, field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + b"\x18" + varint(kind))

    specials = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3)
    pieces = b"".join(piece(word, -i) for i, word in enumerate(["\u2581", "ab", "\u2581a", *"abc\xfc"], 1))
    unigram, pairs = field(2, b"\x18\x01"), field(2, b"\x18\x02")  # model_type
    identity = field(3, field(1, b"identity") + b"\x18\x01")
    bytewise = b"".join(piece(f"<0x{byte:02X}>", 0, 6) for byte in range(256))
    save("sentencepiece", "unigram", specials + pieces + unigram + identity)
    save("sentencepiece", "bpe", specials + pieces + pairs + identity)
    save("sentencepiece", "no_spec", specials + pieces)
    save("sentencepiece", "byte_fallback", specials + bytewise + pieces + field(2, b"\x18\x01\x98\x02\x01") + identity)
    save("sentencepiece", "no_unknown", pieces + unigram)
    save("sentencepiece", "twice", specials + pieces + pieces + unigram)
    save("sentencepiece", "cut", (specials + pieces)[:60])
    save("sentencepiece", "charsmap", specials + pieces + unigram + field(3, field(2, b"\x08\0\0\0" + bytes(12))))
    save("sentencepiece", "charsmap_lies", specials + pieces + unigram + field(3, field(2, b"\xff" * 16)))
    trie = [1 << 31] * 768  # "a" becomes "b": test_charsmap.cpp has the layout
    trie[0], trie[256 ^ 97] = 256 << 10, (256 ^ 97 ^ 512) << 10 | 1 << 8 | 97
    sound = struct.pack("<I768I", 4 * 768, *trie) + b"b\0"
    save("sentencepiece", "charsmap_sound", specials + pieces + unigram + field(3, field(2, sound)))
    save("sentencepiece", "nan_score", specials + piece("ab", float("nan")) + pieces + unigram)
    save("sentencepiece", "empty_piece", specials + piece("", -9) + pieces + unigram + identity)
    save("sentencepiece", "empty", b"")


def records():
    contribution = vector("contribution")[:-1]
    deferred = contribution[40:-8] + struct.pack("<h", -3)  # which names no certificate
    older, head = (bytes([version]) + struct.pack("<Q", 12) for version in (2, 3))
    one, nothing = b"\x01\0" + contribution, b"\0\0"
    save("record", "none", head + nothing * 2)
    save("record", "one", head + one + nothing)
    save("record", "deferred", head + one + b"\x02\0" + deferred * 2)
    save("record", "full", head + b"\x20\0" + contribution * 32 + b"\x80\0" + deferred * 128)
    save("record", "too_many", head + b"\x21\0" + contribution * 33 + nothing)
    save("record", "too_many_deferred", head + nothing + b"\x81\0" + deferred * 129)
    save("record", "cut", (head + one)[:70])
    save("record", "older", older + one + nothing * 2)
    save("record", "other_version", b"\x04" + (head + one)[1:] + nothing)


def safetensors():
    def header(json, content, length=None, size=None):
        length = len(json) if length is None else length
        return struct.pack("<QQ", 8 + len(json) + content if size is None else size, length) + json

    one = b'{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
    two = (b'{"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]},' + one[1:] + b"   ")
    save("safetensors", "one", header(one, 16))
    save("safetensors", "two", header(two, 20))
    save("safetensors", "none", header(b"{}", 0))
    save("safetensors", "cut", header(one, 16)[:40])
    save("safetensors", "length_lies", header(one, 16, length=1 << 63))
    save("safetensors", "length_at_limit", header(one, 16, length=16 << 20, size=1 << 40))
    save("safetensors", "file_too_small", header(one, 16, size=4))
    save("safetensors", "product_wraps", header(one.replace(b"[2,2]", b"[4611686018427387908]"), 16))
    save("safetensors", "overlap", header(two.replace(b"[16,20]", b"[12,16]"), 16))
    save("safetensors", "zero_times_many", header(one.replace(b"[2,2]", b"[0,18446744073709551615]").replace(b"0,16", b"0,0"), 0))
    save("safetensors", "deep", header(b'{"a":' + b"[" * 2_000, 16))


def albert_part():
    """The head's bias under its second name, and numbers from 0 on that are no parameter."""
    header = json.dumps({"albert.embeddings.position_ids": {"dtype": "I64", "shape": [1, 2], "data_offsets": [0, 16]},
                         "predictions.decoder.bias": {"dtype": "F32", "shape": [20], "data_offsets": [16, 96]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(96)


def hf_checkpoints():
    for kind, name, path in (("c", "config_gpt2", "gpt2_fp32/config.json"),
                             ("c", "config_opt", "opt_post_fp32_sharded/config.json"),
                             ("i", "index", "gpt2_bf16_sharded/model.safetensors.index.json"),
                             ("g", "gpt2", "gpt2_fp32/model.safetensors"), ("g", "gpt2_old", "gpt2_old/model.safetensors"),
                             ("c", "config_llama", "llama_fp32/config.json"), ("c", "config_qwen2", "qwen2_bf16_sharded/config.json"),
                             ("l", "llama", "llama_fp32/model.safetensors"),
                             ("o", "opt", "opt_fp16/model.safetensors"),
                             ("o", "opt_part", "opt_post_fp32_sharded/model-00002-of-00003.safetensors")):
        save("hf_checkpoint", name, kind.encode() + (CHECKPOINTS / path).read_bytes())
    save("hf_checkpoint", "config_albert", b"c" + (CHECKPOINTS / "../training/config_albert.json").read_bytes())
    save("hf_checkpoint", "albert_part", b"a" + albert_part())
    config = {"halvings": 2, "layers": 1, "levels": [8, 5, 5, 5], "model_type": "potluck_coder", "side": 64, "width": 64}
    for name, change in (("config_coder", {}), ("config_coder_levels", {"levels": [64, 64, 64]}),
                         ("config_coder_side", {"side": 1 << 31})):
        save("hf_checkpoint", name, b"c" + json.dumps({**config, **change}).encode())
    save("hf_checkpoint", "coder_part", b"p" + coder_part())
    config = {"_class_name": "VQModel", "block_out_channels": [8, 12], "down_block_types": ["DownEncoderBlock2D"] * 2,
              "latent_channels": 2, "norm_num_groups": 4, "num_vq_embeddings": 6, "sample_size": 8,
              "up_block_types": ["UpDecoderBlock2D"] * 2}
    for name, change in (("config_book", {}), ("config_book_groups", {"norm_num_groups": 0}),
                         ("config_book_widths", {"block_out_channels": []}), ("config_book_side", {"sample_size": 1 << 23}),
                         ("config_book_blocks", {"up_block_types": ["AttnUpDecoderBlock2D", 7]})):
        save("hf_checkpoint", name, b"c" + json.dumps({**config, **change}).encode())
    save("hf_checkpoint", "book_part", b"b" + book_part())
    config = {"blocks": 4, "context": 112, "grid": 8, "heads": 4, "layers": 16, "model_type": "potluck_dalle", "text": 48,
              "text_vocabulary": 256, "vocabulary": 1256, "width": 256}
    for name, change in (("config_dalle", {}), ("config_dalle_grid", {"grid": 1 << 31}), ("config_dalle_heads", {"heads": 0})):
        save("hf_checkpoint", name, b"c" + json.dumps({**config, **change}).encode())
    save("hf_checkpoint", "dalle_part", b"d" + dalle_part())
    config = {**SWAV, "context": 192, "heads": 1, "layers": 4, "model_type": "potluck_swav", "vocabulary": 256, "width": 8}
    for name, change in (("config_swav", {}), ("config_swav_stages", {"stages": [1 << 31] * 4}),
                         ("config_swav_side", {"side": 1 << 31})):
        save("hf_checkpoint", name, b"c" + json.dumps({**config, **change}).encode())
    save("hf_checkpoint", "swav_part", b"s" + swav_part())


def swav_part():
    """A first convolution under the name that distributed training gives it, and a counter that is no parameter."""
    tensors = json.dumps({"module.conv1.weight": {"dtype": "F32", "shape": [8, 3, 3, 3], "data_offsets": [0, 864]},
                          "bn1.num_batches_tracked": {"dtype": "I64", "shape": [], "data_offsets": [864, 872]}}).encode()
    return struct.pack("<Q", len(tensors)) + tensors + bytes(872)


def dalle_part():
    tensors = json.dumps({"text_image_table.weight": {"dtype": "F32", "shape": [20, 8], "data_offsets": [0, 640]},
                          "text_image_table.bias": {"dtype": "F32", "shape": [20], "data_offsets": [640, 720]}}).encode()
    return struct.pack("<Q", len(tensors)) + tensors + bytes(720)


def book_part():
    tensors = json.dumps({"encoder.conv_in.weight": {"dtype": "F32", "shape": [8, 3, 3, 3], "data_offsets": [0, 864]},
                          "quantize.embedding.weight": {"dtype": "F32", "shape": [6, 2], "data_offsets": [864, 912]}}).encode()
    return struct.pack("<Q", len(tensors)) + tensors + bytes(912)


def coder_part():
    tensors = json.dumps({"encoder.in.weight": {"dtype": "F32", "shape": [8, 3, 3, 3], "data_offsets": [0, 864]},
                          "encoder.in.bias": {"dtype": "F32", "shape": [8], "data_offsets": [864, 896]}}).encode()
    return struct.pack("<Q", len(tensors)) + tensors + bytes(896)


def png(width, height, colour, rows, depth=8):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def pictures():
    rgb = png(3, 2, 2, bytes([0, *range(9), 1, *range(9)]))
    save("picture", "rgb", rgb)
    save("picture", "cut", rgb[:-20])
    save("picture", "grey_alpha", png(2, 1, 4, bytes([0, 10, 255, 200, 128])))
    save("picture", "bits16", png(1, 1, 2, bytes(7), depth=16))
    save("picture", "too_wide", png(1 << 20, 1, 2, bytes(4)))
    save("picture", "too_large", png(8192, 8192, 0, bytes(100)))
    save("picture", "few_rows", png(2000, 2000, 2, bytes(100)))
    save("picture", "ppm", b"P6 # a comment\n2 1\n255\nabcdef")
    save("picture", "ppm_cut", b"P6 2 1 255\nabc")
    save("picture", "ppm_numbers", b"P6 99999 99999 255\n")


def invites():
    link = vector("invite")
    topic = link.split(b"&")[0]
    save("invite", "whole", link)
    save("invite", "potluck", link.replace(b"magnet:", b"potluck:"))
    save("invite", "topic_only", topic)
    save("invite", "cut", topic[:50])
    save("invite", "two_topics", topic + b"&" + topic[8:])
    save("invite", "unknown_keys", topic + b"&tr=udp://x&ws=&&=&xs&x.pe=[::ffff:1.2.3.4]:1")
    save("invite", "bad_escape", topic + b"&dn=%g1%")
    save("invite", "bad_text", topic + b"&dn=%ff%c0%80%ed%a0%80")
    save("invite", "sixteen_hints", topic + b"&x.pe=a.example:1" * 16)
    save("invite", "many_hints", topic + b"&x.pe=a.example:1" * 200)
    save("invite", "long", topic + b"&dn=" + b"%" * 4_200)
    save("invite", "plus", topic + b"&dn=a+b%2Bc%26%3D%23")


def votes():
    names = ["agreement_proposal", "agreement_proposal_again", "agreement_vote", "agreement_nil", "agreement_certificate"]
    for name in names:
        save("vote", name[10:], b"\x00" + vector(name))
        save("vote", name[10:] + "_cut", b"\x00" + vector(name)[:-40])
    vote, evidence, record = vector("agreement_vote"), vector("agreement_evidence"), vector("vote_record")[:-32]
    save("vote", "view_beyond", b"\x00" + vote[:77] + b"\x01\x00\x10\x00" + vote[81:])
    save("vote", "step_unknown", b"\x00" + vote[:81] + b"\x03" + vote[82:])
    save("vote", "no_signers", b"\x00" + vector("agreement_certificate")[:82] + b"\x00")
    save("vote", "all_signers", b"\x00" + vector("agreement_certificate")[:82] + b"\xff" + bytes(64 * 8))
    half = len(evidence) // 2
    save("vote", "evidence", b"\x01" + evidence)
    save("vote", "evidence_reversed", b"\x01" + evidence[half:] + evidence[:half])
    save("vote", "evidence_of_nothing", b"\x01" + evidence[:half] * 2)
    save("vote", "record", b"\x02" + record)
    save("vote", "record_cut", b"\x02" + record[:300])
    save("vote", "record_claims_255", b"\x02" + record[:88] + b"\x00" + b"\xff" + bytes(200))


def announcements():
    whole, fresh = vector("announcement"), vector("announcement_of_round_0")
    save("announcement", "decided", b"\x00" + whole)
    save("announcement", "of_round_0", b"\x00" + fresh)
    save("announcement", "cut", b"\x00" + whole[:len(whole) // 2])
    save("announcement", "left_over", b"\x00" + fresh + b"\x00")
    save("announcement", "layout_1", b"\x00\x01" + whole[1:])
    save("announcement", "loss_nan", b"\x00" + whole[:116] + b"\x00\x00\xc0\x7f" + whole[120:])
    save("announcement", "round_without_proof", b"\x00" + fresh[:100] + b"\x08" + fresh[101:])
    save("announcement", "name_beyond_end", b"\x00" + fresh[:136] + b"\xff\xff" + fresh[138:])
    save("announcement", "too_long", b"\x00" + fresh + bytes(2048))
    save("announcement", "question", b"\x01\x00")
    save("announcement", "passed_on", b"\x01\x01" + fresh)
    save("announcement", "first_hand", b"\x01\x02" + fresh)
    save("announcement", "no_message", b"\x01\x03" + fresh)


def proofs():
    """From `run` and `initial`, which test_proof writes, since they are signed."""
    whole, initial = pathlib.Path("proof/run").read_bytes(), pathlib.Path("proof/initial").read_bytes()
    after_manifest = 12 + struct.unpack("<I", whole[8:12])[0]
    save("proof", "cut", whole[:-100])
    save("proof", "left_over", whole + b"\0")
    save("proof", "other_magic", b"PLKPRF9\n" + whole[8:])
    save("proof", "manifest_beyond", whole[:8] + b"\xff\xff\xff\xff" + whole[12:])
    save("proof", "no_manifest", whole[:8] + bytes(4) + whole[after_manifest:])
    save("proof", "round_beyond", whole[:after_manifest] + b"\xff" * 8 + whole[after_manifest + 8:])
    save("proof", "lists_beyond", initial[:-8] + b"\xff" * 8)
    save("proof", "list_beyond", whole[:-1000] + b"\xff" * 1000)


def false_steps():
    """From `run`, which test_false_step writes, since it is signed."""
    whole = pathlib.Path("false_step/run").read_bytes()
    after_manifest = 12 + struct.unpack("<I", whole[8:12])[0]
    words = after_manifest + 4 + struct.unpack("<I", whole[after_manifest:after_manifest + 4])[0]
    save("false_step", "cut", whole[:-100])
    save("false_step", "left_over", whole + b"\0")
    save("false_step", "other_magic", b"PLKFST9\n" + whole[8:])
    save("false_step", "manifest_beyond", whole[:8] + b"\xff" * 4 + whole[12:])
    save("false_step", "list_beyond", whole[:after_manifest] + b"\xff" * 4 + whole[after_manifest + 4:])
    save("false_step", "nobody", whole[:words] + b"\0" + whole[words + 1 + 241:])
    save("false_step", "eight_seats", whole[:words] + b"\x08" + whole[words + 1:words + 242] * 8 + whole[words + 242:])
    save("false_step", "seat_twice", whole[:words] + b"\x02" + whole[words + 1:words + 242] * 2 + whole[words + 242:])
    save("false_step", "other_round", whole[:words + 33] + b"\xff" + whole[words + 34:])
    save("false_step", "other_list", whole[:words + 41] + b"\xff" + whole[words + 42:])


def steps():
    """Coded steps of the reference of the numerics, and what is wrong with them."""
    sys.path.insert(0, "../../golden/numerics")
    import reference
    for name, size, k, count in (("ten", 10, 64, 1), ("two_chunks", 5_000, 64, 2), ("everything", 4_100, 4096, 1)):
        payloads = [reference.encode(reference.inputs("ties", size, 7 + i), k) for i in range(count)]
        whole = reference.coded_step(size, payloads, [1] * count, 4)[0]
        save("step", name, whole)
        save("step", name + "_cut", whole[:len(whole) // 2])
        save("step", name + "_longer", whole + b"\0")
        save("step", name + "_scale", whole[:21] + b"\x7f" + whole[22:])
        save("step", name + "_values", whole[:22] + b"\x88" + whole[23:])
        save("step", name + "_gap_code", whole[:20] + b"\x0d" + whole[21:])
        save("step", name + "_kept", whole[:4] + b"\x01" + whole[5:])
        save("step", name + "_table", whole[:16] + b"\xff" * 4 + whole[20:])


def release_indexes():
    """Indexes as installer/package writes them, and names of members of archives."""
    pack = {"name": "potluck-trainer-0.1.0-linux-x86_64-cpu.tar.xz", "kind": "cpu", "apps": ["0.1.0"], "system": "linux",
            "architecture": "x86_64", "size": 1000, "unpacked": 4000, "files": 10, "sha256": "11" * 32, "root": "22" * 32,
            "torrent": "33" * 32, "magnet": "magnet:?xt=urn:btmh:1220" + "33" * 32, "driver": 0,
            "url": "https://example.org/pack.tar.xz"}
    release = {"version": "0.3.0", "date": "2026-11-20", "protocol": 1, "notes": "Faster.", "page": "https://example.org"}
    index = {"format": "potluck-releases-1", "serial": 7, "issued": 1000, "expires": 2000, "releases": [release],
             "packs": [pack]}
    save("release_index", "whole", json.dumps(index).encode())
    save("release_index", "cut", json.dumps(index).encode()[:300])
    save("release_index", "empty_lists", json.dumps(index | {"releases": [], "packs": []}).encode())
    save("release_index", "name_is_a_path", json.dumps(index | {"packs": [pack | {"name": "../../x"}]}).encode())
    save("release_index", "no_web_link", json.dumps(index | {"packs": [pack | {"url": "file:///x"}]}).encode())
    for number, name in enumerate([b"licences/torch/LICENSE", b"../x", b"/x", b"a//b", b"a/./b", b"lib/libc10.so.1"]):
        save("release_index", f"member_{number}", name)


messages()
announcements()
proofs()
false_steps()
votes()
accept_lists()
suspensions()
credit_tables()
release_indexes()
steps()
manifests()
byte_bpe()
sentencepiece()
records()
safetensors()
hf_checkpoints()
pictures()
invites()
