#!/usr/bin/env python3
"""Writes payloads.txt, steps.txt, newcomer_steps.txt, coded_steps.txt and centered_steps.txt from docs/payload-format.md, independently of the C++ code: run it in its own folder.

A plain codec, a plain reader and a plain F: one coordinate after the other, the standard library only. The inputs are
those of tests/golden/numerics_inputs.h. tests/golden/test_numerics_golden.cpp checks that the product gives the same.
"""
import hashlib
import math
import multiprocessing
import struct
from array import array

CHUNK, GROUP = 4096, 64 * 4096
MASK = (1 << 64) - 1
GAP_CODES = [*range(13), *range(16, 29)]

PAYLOADS = [("uniform", 1, 64, 1), ("bell", 4096, 64, 2), ("bell", 4097, 1, 3), ("clustered", 50_000, 64, 4),
            ("ties", 20_000, 64, 5), ("uniform", 300_000, 64, 6), ("clustered", 700_001, 64, 7), ("bell", 270_000, 256, 8),
            ("clustered", 9_000, 4096, 9), ("ties", 5_000, 1000, 10),
            ("ties", 1, 64, 23)]
STEPS = [(1, 64, 1, 1, 100, 4), (5_000, 64, 2, 1000, 100, 4), (300_001, 64, 3, 123_456, 70, 4),
         (300_001, 64, 16, 99_999, 100, 4), (20_000, 256, 40, 7, 80, 1), (270_000, 64, 5, 2_305_843_009_213_693_952, 100, 10),
         (8_192, 4096, 7, 31, 50, 2)]
# With the number of newcomers, who come first, and of payloads of nothing but zeros, which come last.
NEWCOMER_STEPS = [(5_000, 64, 7, 1000, 100, 4, 3, 0), (300_001, 64, 9, 77, 80, 3, 4, 2), (5_000, 64, 4, 10, 100, 4, 4, 1),
                  (8_192, 256, 6, 5, 100, 2, 2, 4), (5_000, 64, 3, 10, 100, 4, 1, 3), (20_000, 64, 12, 9, 90, 5, 8, 1)]
CODED_STEPS = [(1, 64, 1, 1, 100, 4), (5_000, 64, 2, 1000, 100, 4), (20_001, 300, 3, 123_456, 70, 4), (8_192, 4096, 7, 31, 50, 2),
               (300_001, 64, 16, 99_999, 100, 4), (9_000, 256, 5, 10, 80, 1)]
# As those with newcomers.
CENTERED_STEPS = [(5_000, 64, 8, 1000, 100, 4, 0, 0), (8_192, 4096, 9, 31, 50, 2, 0, 0), (8_192, 4096, 16, 1, 100, 4, 3, 1),
                  (20_000, 1024, 12, 99_999, 80, 4, 2, 2), (300_001, 256, 9, 7, 100, 4, 0, 0), (5_000, 4096, 10, 5, 100, 1, 10, 0),
                  (5_000, 1000, 14, 1_152_921_504_606_846_976, 100, 4, 7, 0)]


def f32(x):
    """The nearest fp32; of a sum, difference or product of two of them this is the operation in fp32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


# The seeded inputs.

def splitmix(seed):
    """SplitMix64 (Steele, Lea, Flood 2014)."""
    while True:
        seed = seed + 0x9E3779B97F4A7C15 & MASK
        x = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
        yield x ^ x >> 31


def inputs(kind, size, seed):
    random = splitmix(seed)
    unit = lambda: (next(random) >> 11) * 2.0**-53
    heavy = lambda: 1.0 / (unit() + 0.02)
    bell = lambda: f32(((((((unit() - 3) + unit()) + unit()) + unit()) + unit()) + unit()))
    column, row, out = [heavy() for _ in range(768)], heavy(), array("f")
    for i in range(size):
        if i % 768 == 0:
            row = heavy()
        if kind == "uniform":
            out.append(2 * unit() - 1)
        elif kind == "bell":
            out.append(bell() * f32(0.001))
        elif kind == "clustered":
            out.append(f32(bell() * f32(row * column[i % 768])) * f32(1e-5))
        else:
            step = next(random) % 12
            out.append((step - 7) * 0.25 if step >= 4 else (0.0, -0.0)[step % 2])
    return out


# The payload: "Shape", "Which entries, which codes" and "Gaps" of the document.

class Bits:
    """A stream of bits that fills each byte from its lowest bit."""
    def __init__(self, data=b""):
        self.value, self.size = int.from_bytes(data, "little"), 0

    def put(self, number, width):
        self.value |= number << self.size
        self.size += width

    def take(self, width):
        self.size += width
        return self.value >> self.size - width & (1 << width) - 1

    def data(self):
        return self.value.to_bytes((self.size + 7) // 8, "little")


def chunks(size, k):
    """(first parameter, parameters, entries) of every chunk, group by group."""
    for group in range(0, size, GROUP):
        yield [(at, min(CHUNK, size - at), -(-k * min(CHUNK, size - at) // CHUNK))
               for at in range(group, min(group + GROUP, size), CHUNK)]


def mean_of(magnitudes):
    """The mean of what is not None, summed in eight lanes: a value's lane is its place modulo 8."""
    lanes, count = [0.0] * 8, 0
    for place, magnitude in enumerate(magnitudes):
        if magnitude is not None:
            lanes[place % 8] += magnitude
            count += 1
    total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    return total / count if count else 0.0


def quantise(values):
    negative = [math.copysign(1, v) < 0 for v in values]
    middle = [mean_of([abs(v) if n == sign else None for v, n in zip(values, negative)]) for sign in (False, True)]
    codes = [2 * n + (abs(v) > middle[n]) for v, n in zip(values, negative)]
    means = [mean_of([abs(v) if c == code else None for v, c in zip(values, codes)]) for code in range(4)]
    return codes, [math.copysign(f32(min(mean, 2.0**60)), -1 if code > 1 and code in codes else 1)
                   for code, mean in enumerate(means)]


def gap_bits(gap, code):
    """A gap as (number, width), its first bit lowest."""
    if code >= 16:
        b, v = code - 16, (gap >> code - 16) + 1
        n = v.bit_length() - 1
        return 1 << n | (v & (1 << n) - 1) << n + 1 | (gap & (1 << b) - 1) << 2 * n + 1, 2 * n + 1 + b
    q = gap >> code
    return (gap << 16, 28) if q >= 16 else (1 << q | (gap & (1 << code) - 1) << q + 1, q + 1 + code)


def encode(error, k):
    """The payload; `error` keeps what the receiver does not get."""
    for i, value in enumerate(error):
        if not math.isfinite(value):
            error[i] = 0.0
    table, groups = b"", b""
    for group in chunks(len(error), k):
        places, gaps = [], []
        for at, length, count in group:
            chosen = sorted(sorted(range(at, at + length), key=lambda i: -abs(error[i]))[:count])
            gaps += [place - before - 1 for place, before in zip(chosen, [at - 1] + chosen)]
            places += chosen
        codes, means = quantise([error[i] for i in places])
        for place, code in zip(places, codes):
            error[place] -= means[code]
        used = {gap: gaps.count(gap) for gap in set(gaps)}
        best = min(GAP_CODES, key=lambda code: sum(gap_bits(gap, code)[1] * n for gap, n in used.items()))
        code_data = bytearray((len(codes) + 3) // 4)
        for i, code in enumerate(codes):
            code_data[i // 4] |= code << 2 * (i % 4)
        gap_data = "".join(format(number, f"0{width}b")[::-1] for number, width in (gap_bits(gap, best) for gap in gaps))
        data = struct.pack("<4fB", *means, best) + code_data
        data += bytes(int(gap_data[i:i + 8][::-1], 2) for i in range(0, len(gap_data), 8))
        table += struct.pack("<I", len(data))
        groups += data
    return b"PLP1" + struct.pack("<IQ", k, len(error)) + table + groups


def decode(payload):
    """A list of groups: ({place: mean}, how often each mean is used as (count, mean) of codes 0 to 3)."""
    k, size = struct.unpack_from("<IQ", payload, 4)
    number = -(-size // GROUP)
    sizes, at, decoded = struct.unpack_from(f"<{number}I", payload, 16), 16 + 4 * number, []
    for group, length in zip(chunks(size, k), sizes):
        means, code = struct.unpack_from("<4f", payload, at), payload[at + 16]
        entries = sum(count for _, _, count in group)
        codes = [payload[at + 17 + i // 4] >> 2 * (i % 4) & 3 for i in range(entries)]
        gaps, values, entry = payload[at + 17 + (entries + 3) // 4:at + length], {}, 0
        bits = iter("".join(format(byte, "08b")[::-1] for byte in gaps))
        take = lambda width: int("".join(next(bits) for _ in range(width))[::-1] or "0", 2)
        for first, _, count in group:
            place = first
            for _ in range(count):
                zeros = 0
                while not (code < 16 and zeros == 16) and next(bits) == "0":
                    zeros += 1
                if code >= 16:
                    gap = ((1 << zeros | take(zeros)) - 1 << code - 16) | take(code - 16)
                else:
                    gap = take(12) if zeros == 16 else zeros << code | take(code)
                values[place + gap] = means[codes[entry]]
                place, entry = place + gap + 1, entry + 1
        decoded.append((values, [(codes.count(c), means[c]) for c in range(4)]))
        at += length
    return decoded


# F: "The agreed step" of the document.

def cut(values, weights, has_say):
    """"CenteredClip" of the document: the parts of `weights` that count in the end, what is left, and the centre. `values` has a
    {place: integer} for each payload."""
    total, centre = sum(weights), {}
    voters = [value for value, says in zip(values, has_say) if says]
    for place in {place for value in voters for place in value}:
        ordered = sorted(value.get(place, 0) for value in voters)
        lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        centre[place] = min((lower, upper), key=abs) if lower * upper > 0 else 0
    for iteration in range(3):
        distances = []
        for value in values:
            square = sum((value.get(place, 0) - centre.get(place, 0)) ** 2 for place in value.keys() | centre.keys())
            distances.append(math.sqrt(float(square >> 32) * 2.0**32 + float(square & 0xFFFFFFFF)))
        with_say = sorted(distance for distance, says in zip(distances, has_say) if says)
        radius = with_say[(len(with_say) - 1) // 2]
        factors = [round(radius / distance * 2.0**30) if distance > radius else 1 << 30 for distance in distances]
        pulls = [weight * factor + (1 << 29) >> 30 for weight, factor in zip(weights, factors)]
        rest = total - sum(pulls)
        if iteration == 2:
            return pulls, rest, centre
        sums = {place: rest * value for place, value in centre.items()}
        for value, pull in zip(values, pulls):
            for place, x in value.items():
                sums[place] = sums.get(place, 0) + pull * x
        centre = {place: round(float(value) / float(total)) for place, value in sums.items()}


def means_of(payloads, weights, amplification, newcomers=0, newcomers_norm=0.0, centered=False):
    """Steps 1 to 6: what each coordinate with entries moves by. The first `newcomers` payloads are those of newcomers, whose
    norms count for nothing if another does."""
    decoded = [decode(payload) for payload in payloads]
    norms, peaks = [], []
    for groups in decoded:
        squares = 0.0
        for _, used in groups:
            for count, mean in used:
                squares += count * (mean * mean)
        norms.append(math.sqrt(squares))
        peaks.append(max(abs(mean) for _, used in groups for count, mean in used if count))
    others = [norm for norm in norms[newcomers:] if norm > 0]
    counted = others or [norm for norm in norms[:newcomers] if norm > 0] or [0.0]
    median = sorted(counted)[(len(counted) - 1) // 2]
    if not others and newcomers_norm > 0:
        median = min(median, newcomers_norm)
    factors = [median / norm if norm > median else 1.0 for norm in norms]
    halvings = next(n for n in range(64) if sum(max(weight >> n, 1) for weight in weights) < 1 << 32)
    weights = [max(weight >> halvings, 1) for weight in weights]
    largest = max(peak * factor for peak, factor in zip(peaks, factors))
    exponent = 30 - math.frexp(largest)[1] if largest > 0 else 0
    values = [{place: round(math.ldexp(mean * factor, exponent)) for entries, _ in groups for place, mean in entries.items()}
              for groups, factor in zip(decoded, factors)]
    has_say = [norm > 0 and (i >= newcomers) == bool(others) for i, norm in enumerate(norms)]
    pulls, rest, centre = weights, 0, {}
    if centered and sum(has_say) >= 8:
        doublings = 32 - sum(weights).bit_length()
        weights = [weight << doublings for weight in weights]
        pulls, rest, centre = cut(values, weights, has_say)
    least = sum(weights) / amplification
    sums = {}
    for value, weight, pull in zip(values, weights, pulls):
        for place, x in value.items():
            total, senders = sums.get(place, (rest * centre.get(place, 0), 0))
            sums[place] = total + x * pull, senders + weight
    return {place: f32(total / max(float(senders), least) * math.ldexp(1.0, -exponent))
            for place, (total, senders) in sums.items()}


def outer_step(theta, payloads, weights, alpha, amplification, newcomers=0, newcomers_norm=0.0,
               centered=False):
    after = array("f", theta)
    for place, mean in means_of(payloads, weights, amplification, newcomers, newcomers_norm, centered).items():
        after[place] = after[place] - f32(alpha * mean)
    return after


# "The coded step" of the document.

def coded_step(size, payloads, weights, amplification, newcomers=0, newcomers_norm=0.0, centered=False):
    """The step's bytes, and {place: what is decoded}."""
    means = means_of(payloads, weights, amplification, newcomers, newcomers_norm, centered)
    kept = min(max(2 * max(struct.unpack_from("<I", payload, 4)[0] for payload in payloads), 512), CHUNK)
    table, groups, decoded = b"", b"", {}
    for group in chunks(size, kept):
        gaps, scales, values = [], b"", []
        for at, length, count in group:
            chosen = sorted(sorted(range(at, at + length), key=lambda i: -abs(means.get(i, 0.0)))[:count])
            gaps += [place - before - 1 for place, before in zip(chosen, [at - 1] + chosen)]
            for first in range(0, count, 256):
                block = chosen[first:first + 256]
                largest = max(abs(means.get(place, 0.0)) for place in block)
                scale = next(e for e in range(-126, 128) if round(math.ldexp(largest, -e)) <= 7) if largest else 0
                scales += struct.pack("<b", scale)
                for place in block:
                    value = round(math.ldexp(means.get(place, 0.0), -scale))
                    values.append(value & 15)
                    decoded[place] = math.ldexp(float(value), scale)
        packed = bytes(low | high << 4 for low, high in zip(values[::2], values[1::2] + [0] * (len(values) % 2)))
        best, gap_data = 0, ""
        if kept < CHUNK:
            used = {gap: gaps.count(gap) for gap in set(gaps)}
            best = min(GAP_CODES, key=lambda code: sum(gap_bits(gap, code)[1] * n for gap, n in used.items()))
            gap_data = "".join(format(number, f"0{width}b")[::-1] for number, width in (gap_bits(gap, best) for gap in gaps))
        data = bytes([best]) + scales + packed + bytes(int(gap_data[i:i + 8][::-1], 2) for i in range(0, len(gap_data), 8))
        table += struct.pack("<I", len(data))
        groups += data
    return b"PLS1" + struct.pack("<IQ", kept, size) + table + groups, decoded


def moved(theta, decoded, alpha):
    """By what a coded step says of each coordinate that it moves."""
    after = array("f", theta)
    for place, mean in decoded.items():
        if mean != 0:
            after[place] = after[place] - f32(alpha * mean)
    return after


def digest(floats):
    if struct.pack("=I", 1) != struct.pack("<I", 1):
        floats = array("f", floats)
        floats.byteswap()
    return hashlib.sha256(floats.tobytes()).hexdigest()


def payload_row(row):
    kind, size, k, seed = row
    error = inputs(kind, size, seed)
    payload = encode(error, k)
    return f"{kind} {size} {k} {seed} {hashlib.sha256(payload).hexdigest()} {digest(error)}"


def step_row(row):
    size, k, count, weight, alpha, amplification, newcomers, zeros = (row + (0, 0))[:8]
    kinds = ("bell", "clustered", "uniform", "ties")
    payloads = [encode(inputs(kinds[i % 4], size, 1000 + i) if i < count - zeros else array("f", bytes(4 * size)), k)
                for i in range(count)]
    weights = [weight * (i + 1) & MASK for i in range(count)]
    after = outer_step(inputs("bell", size, 99), payloads, weights, f32(f32(alpha) / 100), amplification,
                       newcomers)
    return " ".join(map(str, row)) + " " + digest(after)


def centered_row(row):
    size, k, count, weight, alpha, amplification, newcomers, zeros = row
    kinds = ("bell", "clustered", "uniform", "ties")
    payloads = [encode(inputs(kinds[i % 4], size, 1000 + i) if i < count - zeros else array("f", bytes(4 * size)), k)
                for i in range(count)]
    weights = [weight * (i + 1) & MASK for i in range(count)]
    after = outer_step(inputs("bell", size, 99), payloads, weights, f32(f32(alpha) / 100), amplification, newcomers, 0.0, True)
    coded, _ = coded_step(size, payloads, weights, amplification, newcomers, centered=True)
    return " ".join(map(str, row)) + f" {hashlib.sha256(coded).hexdigest()} {digest(after)}"


def coded_row(row):
    size, k, count, weight, alpha, amplification = row
    kinds = ("bell", "clustered", "uniform", "ties")
    payloads = [encode(inputs(kinds[i % 4], size, 1000 + i), k) for i in range(count)]
    step, decoded = coded_step(size, payloads, [weight * (i + 1) & MASK for i in range(count)], amplification)
    after = moved(inputs("bell", size, 99), decoded, f32(f32(alpha) / 100))
    return " ".join(map(str, row)) + f" {hashlib.sha256(step).hexdigest()} {digest(after)}"


def main():
    with multiprocessing.Pool() as pool:
        payloads, steps = pool.map_async(payload_row, PAYLOADS, 1), pool.map_async(step_row, STEPS, 1)
        newcomer_steps = pool.map_async(step_row, NEWCOMER_STEPS, 1)
        with open("payloads.txt", "w", newline="\n") as file:
            file.write("# kind, parameters, k, seed; SHA-256 of the payload, "
                       "SHA-256 of what stays in the error (fp32, little-endian)\n")
            file.write("".join(row + "\n" for row in payloads.get()))
        with open("steps.txt", "w", newline="\n") as file:
            file.write("# parameters, k, payloads, first weight, alpha in hundredths, amplification cap; "
                       "SHA-256 of the next state (fp32, little-endian)\n")
            file.write("".join(row + "\n" for row in steps.get()))
        coded_steps = pool.map_async(coded_row, CODED_STEPS, 1)
        with open("coded_steps.txt", "w", newline="\n") as file:
            file.write("# parameters, k, payloads, first weight, alpha in hundredths, amplification cap; SHA-256 of the coded step, "
                       "SHA-256 of the next state (fp32, little-endian)\n")
            file.write("".join(row + "\n" for row in coded_steps.get()))
        centered_steps = pool.map_async(centered_row, CENTERED_STEPS, 1)
        with open("centered_steps.txt", "w", newline="\n") as file:
            file.write("# parameters, k, payloads, first weight, alpha in hundredths, amplification cap, newcomers (the first), "
                       "zeros (the last); SHA-256 of the coded step, SHA-256 of the next state (fp32, little-endian)\n")
            file.write("".join(row + "\n" for row in centered_steps.get()))
        with open("newcomer_steps.txt", "w", newline="\n") as file:
            file.write("# parameters, k, payloads, first weight, alpha in hundredths, amplification cap, newcomers (the first), "
                       "zeros (the last); SHA-256 of the next state (fp32, little-endian)\n")
            file.write("".join(row + "\n" for row in newcomer_steps.get()))


if __name__ == "__main__":
    main()
