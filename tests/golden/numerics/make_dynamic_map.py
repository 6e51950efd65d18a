"""Prints core/numerics/optimizer/dynamic_map_values.inl: the two dynamic-tree maps and how the quantiser finds a code.

    make_dynamic_map.py > core/numerics/optimizer/dynamic_map_values.inl

The maps follow Dettmers et al. 2022 in the fp32 arithmetic of torch.linspace on a CPU, as the widespread
implementation does. The segments are straight lines from a magnitude to its code, one per decade; the thresholds are
the magnitudes at which they turn, found by bisection over all floats.
"""
import struct

import numpy as np
import torch

f32 = np.float32


def magnitudes(doubled):
    """The map's values from zero up: 129 (mean) or 256 (variance)."""
    values = [0.0]
    for i in range(7):
        cells = 2**i * doubled
        bounds = torch.linspace(0.1, 1, cells + 1, dtype=torch.float32)
        values += (10 ** (i - 6) * (bounds[:-1] + bounds[1:]) / 2).tolist()
    return np.array(values + [1.0], dtype=f32)


def segments(values, doubled):
    """Nine pieces (above, slope, offset, last): code = trunc(min(y * slope + offset, last)) for y > above.

    The low four bits of piece i's `above` are i - 1, so that one lookup gives a boundary and what lies below it.
    """
    middle = lambda k: f32((float(values[k]) + float(values[k + 1])) / 2)
    pieces = [(f32(-1), f32(0), f32(0), f32(0.5))]
    marked = lambda x, segment: number(bits(x) & 0xFFFFFFF0 | segment)
    first, above = 1, marked(middle(0), 0)
    for i in range(7):
        cells = 2**i * doubled
        slope = cells / 0.9 * 10.0 ** (6 - i)
        last = first + cells - 1
        pieces.append((above, f32(slope), f32(first - 0.1 * cells / 0.9), f32(last + 0.5)))
        above, first = marked(middle(last), i + 1), last + 1
    if doubled == 2:  # whatever is above zero gets code 1 at least; the line turns to 2 where it did
        pieces[1] = (f32(0), f32(1 / middle(1)), f32(1), pieces[1][3])
    return pieces + [(above, f32(0), f32(first), f32(first + 0.5))]


def code(pieces, y):
    chosen = [piece for piece in pieces if y > piece[0]][-1]
    return int(min(f32(f32(y * chosen[1]) + chosen[2]), chosen[3]))


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def number(pattern):
    return f32(struct.unpack("<f", struct.pack("<I", pattern))[0])


def thresholds(pieces, count):
    """The largest magnitude of each code but the last."""
    found = []
    for k in range(count - 1):
        low, high = 0, bits(1.0)  # code(low) <= k < code(high)
        while high - low > 1:
            half = (low + high) // 2
            low, high = (half, high) if code(pieces, number(half)) <= k else (low, half)
        found.append(number(low))
    return found


def text(value):
    """A hex float without the zeros at its end."""
    mantissa, exponent = float(value).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}F" if value else "0.0F"


def show(name, values):
    print(f"POTLUCK_MAP({name}, {len(values)}) = {{")
    for at in range(0, len(values), 6):
        print("    " + ", ".join(map(text, values[at:at + 6])) + ("," if at + 6 < len(values) else ""))
    print("};")


def main():
    print("// clang-format off")
    print("// Written by tests/golden/numerics/make_dynamic_map.py, whose rules dynamic_map.h tells. Included where")
    print("// POTLUCK_MAP(name, count) declares an array of floats for the processor or for a GPU.")
    for name, doubled in (("mean", 1), ("variance", 2)):
        values = magnitudes(doubled)
        pieces = segments(values, doubled)
        limits = thresholds(pieces, len(values))
        for k, limit in enumerate(limits):
            exact = (float(values[k]) + float(values[k + 1])) / 2
            lost = k == 0 and doubled == 2
            assert (limit == 0) if lost else abs(float(limit) - exact) <= 4e-6 * exact, (name, k, limit, exact)
        table = values if doubled == 2 else np.concatenate([-values[127:0:-1], values])
        assert len(table) == 256 and (np.diff(table) > 0).all()
        show(f"{name}_map", table)
        show(f"{name}_limits", limits)
        for part, field in enumerate(("above", "slope", "offset", "last")):
            show(f"{name}_{field}", [piece[part] for piece in pieces])


main()
