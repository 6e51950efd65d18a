#!/usr/bin/env python3
"""Writes vocab.json, merges.txt and encodings.json: a small byte-level BPE and what Python makes of difficult strings, once
cut as GPT-2 does (tokens), with every digit cut off first, as SmolLM does (digits), as Qwen2 does (qwen2), and as Llama 3
does (llama3): words that are tokens are taken whole, and to show it, the last WHOLE merges are left out.

Needs tokenizers, transformers and regex. Run it in its own folder; the texts are the repository's sources.
The expected tokens come from a plain byte-level BPE in Python below and must equal those of GPT2Tokenizer.
"""
import glob
import json
import os
import regex
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import GPT2Tokenizer

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PATTERN = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WHOLE = 300
WORLD = ["Übung macht den Meister, größer, naïve café", "Привет, мир! Как дела?", "你好世界，这是一个测试。", "こんにちは世界", "مرحبا بالعالم",
         "नमस्ते दुनिया", "שלום עולם", "안녕하세요 세계", "Ελληνικά γράμματα", "👋🌍🎉 emoji"]

STRINGS = [
    "", " ", "a", "Hello world", " Hello world", "Hello  world", "I'm you're we've he'll she'd it's don't", "I'M YOU'RE WE'VE 'S'T", "''s 'sx'tx",
    "tabs\tand\t\ttabs\n", "\tindent\n\t\tmore\n", "line\r\nline\r\n\r\n", "\r\r\n\n", "no\u00a0break\u00a0 space\u00a0", "next\u0085line \u0085 \u0085\u0085x",
    "ideographic\u3000space \u3000\u3000x\u3000", "\u2003em\u2009thin\u200bzero\u200dwidth\u2028ls\u2029ps\u202f\u205f", "mongolian\u180evowel \u180e\u180e x",
    "\x1c\x1d\x1e\x1f x\x1c y", "\x00\x01\x02 \x7f\x00", "\x0b\x0c \x0b", "123 4567 89.01 ½ ¾ ² ³ Ⅷ ①", "٠١٢٣ ०१२३ ๑๒๓ 一二三 𝟘𝟙𝟚", "x" * 70, "ab" * 200, "a" * 999,
    " " * 1, " " * 2, " " * 3, " " * 17, "a" + " " * 40 + "b", " " * 64 + "\n" + " " * 64, "\n" * 30, " \n \n\n  x", "e\u0301 a\u0308o\u0302 n\u0303\u0301 \u0301 \u0301x",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽!", "你好，世界！ 这是\u3000测试。", "こんにちは カタカナ 漢字ー", "السلام عليكم ٣٤ ـــ \u064b\u064e", "हिन्दी में लिखना क्षत्रिय",
    "ไทยภาษา ทดสอบ", "שָׁלוֹם עוֹלָם", "안녕하세요, 세계!", "Ελληνικά ΑΒΓ ῥήτωρ", "Ünïcödé ß ſ ŉ ǅ ﬁ", "_snake_case camelCase PascalCase kebab-case a_b__c", "if (x<y&&z>=1){return -1;} // why?",
    "<|endoftext|> </s> <s> [MASK]", "a<|endoftext|>b", "\ufeffBOM", "\ufffd\ufffe\uffff\U0010ffff", "\ue000 private \U000f0000", "math ∑∫√≤ → ← ∞ x² + y² = z²",
    "“quotes” ‘single’ don’t it’s … – —", "$€£¥ 5% #tag @name a@b.c http://x.y/z?q=1&r=2", "word" * 50 + " " + "12" * 60, "\u1680ogham\u1680", "\u00ad soft\u00adhyphen",
    "a  1", "  12  34 ", "2023-11-23 04:20:59", "x 7\n 8\t9\t\t10", " 's 't ' s", "'", "' '", "'ll'd've're'm", "don't'", "0x1F 1e-9 1_000 ４５６", "\u0e33 \u17b4 \u115f \u3164x", "   leading and trailing   ", "\u2000\u2001 \u2002",
    "'\u017ft 'S'T a'Ll'rE'", "\u1112\u1161\u11ab\u1100\u1173\u11af", "\u212b \u2126 \u0958 \u0344x q\u0307\u0323", "!word (word) \tword\n\tword \r\n  \r\n!\n\n?\r\nx", "12345 1234567 a12b",
]


def byte_symbols():
    kept = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    symbols, more = {b: chr(b) for b in kept}, 0
    for byte in range(256):
        if byte not in symbols:
            symbols[byte] = chr(256 + more)
            more += 1
    return symbols


def plain_encode(text, vocab, ranks, symbols):
    ids = []
    for piece in PATTERN.findall(text):
        word = [symbols[b] for b in piece.encode("utf-8")]
        while True:
            pairs = [(ranks[p], p) for p in zip(word, word[1:]) if p in ranks]
            if not pairs:
                break
            first, second = min(pairs)[1]
            merged, i = [], 0
            while i < len(word):
                if i + 1 < len(word) and word[i] == first and word[i + 1] == second:
                    merged.append(first + second)
                    i += 2
                else:
                    merged.append(word[i])
                    i += 1
            word = merged
        ids += [vocab[w] for w in word]
    return ids


def train():
    texts = []
    for pattern in ("docs/*.md", "core/*/*.h", "core/run/*.cpp"):
        texts += [open(name, encoding="utf-8").read() for name in sorted(glob.glob(os.path.join(ROOT, pattern)))]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=["<|endoftext|>"], show_progress=False,
                                  initial_alphabet=sorted(byte_symbols().values()))
    tokenizer.train_from_iterator(texts + WORLD * 40, trainer)
    trained = json.loads(tokenizer.to_str())["model"]
    order = [t for t, _ in sorted(trained["vocab"].items(), key=lambda item: item[1]) if t != "<|endoftext|>"]
    order.append("<|endoftext|>")  # last, as in GPT-2
    with open("vocab.json", "w") as file:
        json.dump({token: number for number, token in enumerate(order)}, file, separators=(",", ":"))
    with open("merges.txt", "w", encoding="utf-8", newline="\n") as file:
        file.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in trained["merges"]))


def digits_tokenizer(vocab, merges):
    """Of the tokenizers library, with SmolLM's pre-tokenizer."""
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def split_tokenizer(digits, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(WORDS % digits), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def main():
    if not os.path.exists("vocab.json"):
        train()
    vocab = json.load(open("vocab.json"))
    merges = [tuple(line.split(" ")) for line in open("merges.txt", encoding="utf-8").read().split("\n")[1:-1]]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    rows = []
    fast = GPT2Tokenizer(vocab="vocab.json", merges="merges.txt")
    digits = digits_tokenizer(vocab, merges)
    qwen2 = split_tokenizer("", vocab=vocab, merges=merges)
    qwen2.normalizer = normalizers.NFC()
    llama3 = split_tokenizer("{1,3}", vocab=vocab, merges=merges[:-WHOLE], ignore_merges=True)
    assert len(fast) == len(vocab), (len(fast), len(vocab))
    for text in STRINGS:
        tokens = plain_encode(text, vocab, ranks, byte_symbols())
        if "<|endoftext|>" not in text:  # which GPT2Tokenizer takes for the special token, and we never do
            other = fast(text)["input_ids"]
            assert other == tokens, (text, tokens, other)
            assert fast.decode(tokens, clean_up_tokenization_spaces=False) == text, repr(text)
        rows.append({"text": text, "tokens": tokens, "digits": digits.encode(text).ids,
                     "qwen2": qwen2.encode(text).ids, "llama3": llama3.encode(text).ids})
    with open("encodings.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")


main()
