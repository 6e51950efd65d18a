#!/usr/bin/env python3
"""Makes the jury's table of evidence from measurements of bench_jury, and says what it finds.

  jury_table.py FILE... [--table HEADER | --write core/run/jury/evidence_table.h] [--histograms] [--sample N]

Figures are divided as a juror divides them: own and own - other by the lower median over persons of the mean of each
person's last eight own figures, each by its claim's share of an ordinary one's (at most 1). The table has 1000 times
ln(P(bin | no work) / P(bin | work)), P of no work being the mean over the kinds that can be told. Two seeds of three
make the table; the rest test it (all of them, if there is only one seed). With --table all of them test the table of
that header, and none is made. With --sample, jurors that measure N of each round's contributions are followed, as real
ones do, with and without members among them that send noise. No dependencies.
"""
import argparse
import collections
import math
import random
import re
import sys

OWN_EDGES = [0.0, 0.15, 0.35, 0.6]
GAP_EDGES = [0.05, 0.15]
SHOWN_OWN = [-1.0, -0.5, -0.2, 0.0, 0.05, 0.15, 0.35, 0.6, 0.85, 1.1]
SHOWN_GAP = [-0.3, -0.15, 0.0, 0.05, 0.15, 0.3]
THRESHOLD = 13_816  # 1000 ln 10^6
REMEMBERED, PERSONS_MIN = 8, 3
AGREEMENT_MAX, AGREEING_MIN = 2.0, 4  # upper quartile of a round's own figures beside their lower median
ENTRY_MAX, ENTRY_MIN = 1_200, -2_000  # so that nobody is convicted by fewer than twelve measurements
JURORS, BAD = 12, 2  # of each training, with --sample
CHEAP_FROM = 0.35  # own figures from here on are never evidence: an honest member may train on another shard
KINDS = ["noise", "zero", "flipped", "copy of the round before", "own payload again", "copy of this round with noise",
         "another shard", "a tenth of the steps", "one batch again and again", "shuffled tokens"]
TELLABLE = ["noise", "zero", "flipped", "copy of the round before", "own payload again", "a tenth of the steps"]


def read(files):
    """Cells by (name, seed): rounds of rows (kind, member, share, own, other or None)."""
    cells = collections.defaultdict(lambda: collections.defaultdict(list))
    for file in files:
        for line in open(file):
            parts = line.rstrip("\n").split(",")
            if len(parts) != 8 or not parts[6]:
                continue  # cut off
            name, seed, number, kind, member, share, own, other = parts
            cells[name, int(seed)][int(number)].append(
                (kind, int(member), float(share), float(own), float(other) if other else None))
    return cells


def lower_median(values):
    values = sorted(values)
    return values[(len(values) - 1) // 2]


def of_everybody(rows):
    """Of a round: what a juror compares others with and asks whether it agrees, and what it measures."""
    return [row for row in rows if row[0] == "honest"], rows


def of_some(sample, bad, draw):
    """The same for one who measures `sample` members of each round, `bad` more of whom send noise."""
    def seen(rows):
        honest = [row for row in rows if row[0] == "honest"]
        noise = [row for row in rows if row[0] == "noise"]
        members = list(honest)
        for i in range(bad if noise else 0):
            members.append(("noise", 1000 + i, *noise[i % len(noise)][2:]))
        drawn = draw.sample(members, min(sample, len(members)))
        return drawn, drawn
    return seen


def measurements(rounds, seen=of_everybody):
    """(kind, member, round, own ratio, gap ratio or None), as a juror sees them.

    Rounds whose figures do not agree tell nothing of anybody and are left out: where a model stands still, what
    measuring on a few records adds is larger than what work changes.
    """
    remembered = collections.defaultdict(list)
    for number in sorted(rounds):
        rows = rounds[number]
        shares = [share for kind, _, share, _, _ in rows if kind == "honest"]
        if not shares:
            continue
        ordinary = lower_median(shares)
        scale = lambda share: min(1.0, share / ordinary)
        compared, measured = seen(rows)
        now = sorted(own / scale(share) for _, _, share, own, _ in compared)
        if len(now) < AGREEING_MIN or lower_median(now) <= 0:
            continue
        if now[3 * len(now) // 4] > AGREEMENT_MAX * lower_median(now):
            continue
        means = [sum(figures) / len(figures) for figures in remembered.values()]
        for _, member, share, own, _ in compared:
            remembered[member] = (remembered[member] + [own / scale(share)])[-REMEMBERED:]
        if len(means) < PERSONS_MIN or lower_median(means) <= 0:
            continue
        median = lower_median(means)
        for kind, member, share, own, other in measured:
            by = median * scale(share)
            yield kind, member, number, own / by, None if other is None else (own - other) / by


def bin_of(edges, value):
    return sum(edge <= value for edge in edges)


def place(own, gap):
    return bin_of(OWN_EDGES, own), len(GAP_EDGES) + 1 if gap is None else bin_of(GAP_EDGES, gap)


def table_of(found):
    """By counts with a little of the neighbours' added, so that an empty bin says nothing strong."""
    rows, columns = len(OWN_EDGES) + 1, len(GAP_EDGES) + 2
    counts = {kind: [[0.0] * columns for _ in range(rows)] for kind in ["honest"] + TELLABLE}
    sums = collections.Counter()
    for kind, _, _, own, gap in found:
        if kind not in counts:
            continue
        row, column = place(own, gap)
        sums[kind] += 1
        counts[kind][row][column] += 1
        if gap is not None:  # the last column: the same figure as if no other record had been measured
            counts[kind][row][columns - 1] += 1
    table = [[0] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            def share(kind):
                near = counts[kind][row][column]
                if column < columns - 1:  # of the row's, a tenth is spread over its columns
                    near = 0.9 * near + 0.1 * sum(counts[kind][row][:columns - 1]) / (columns - 1)
                return (near + 0.5) / (sums[kind] + 0.5 * rows)
            bad = sum(share(kind) for kind in TELLABLE) / len(TELLABLE)
            entry = round(1000 * math.log(bad / share("honest")))
            entry = max(ENTRY_MIN, min(ENTRY_MAX, entry))
            if row > 0 and OWN_EDGES[row - 1] >= CHEAP_FROM:
                entry = min(entry, 0)
            table[row][column] = entry
    # More own work is never more evidence against it.
    for column in range(columns):
        for row in range(1, rows):
            table[row][column] = min(table[row][column], table[row - 1][column])
    return table


def table_in(header):
    """The rows of four entries in it."""
    rows = re.findall(r"\{(-?\d+), (-?\d+), (-?\d+), (-?\d+)\},", open(header).read())
    return [[int(entry) for entry in row] for row in rows]


def followed(table, found):
    """The sum of each (kind, member) over its measurements in order: the highest; where it crossed, after how many and
    in which round."""
    sums, highest, crossed, counted = {}, {}, {}, collections.Counter()
    for kind, member, number, own, gap in found:
        key = kind, member
        counted[key] += 1
        row, column = place(own, gap)
        sums[key] = max(0, sums.get(key, 0) + table[row][column])
        highest[key] = max(highest.get(key, 0), sums[key])
        if sums[key] >= THRESHOLD and key not in crossed:
            crossed[key] = counted[key], number
    return highest, crossed, counted


def histogram(found, kind, which):
    edges = SHOWN_OWN if which == 0 else SHOWN_GAP
    values = [f[3 + which] for f in found if f[0] == kind and f[3 + which] is not None]
    counts = collections.Counter(bin_of(edges, value) for value in values)
    return len(values), [counts[i] / max(1, len(values)) for i in range(len(edges) + 1)]


def show_histograms(found):
    for which, name, edges in ((0, "own / median", SHOWN_OWN), (1, "(own - other) / median", SHOWN_GAP)):
        print(f"\n{name}: per cent of measurements, by bins from minus infinity; edges {edges}")
        for kind in ["honest"] + KINDS:
            number, shares = histogram(found, kind, which)
            print(f"{kind:30}{number:7} " + " ".join(f"{100 * share:5.1f}" for share in shares))


def show_found(table, by_cell):
    print("\nMeasurements until the verdict, median and most (in those that came to one), over all cells")
    for kind in ["honest"] + KINDS:
        times, never, measured, most = [], 0, 0, 0
        for found in by_cell.values():
            # An attacker is one person: the victims that it was compared with take turns.
            mine = [(k, m if k == "honest" else 0, r, o, g) for k, m, r, o, g in found if k == kind]
            highest, crossed, counted = followed(table, mine)
            for key in counted:
                measured += counted[key]
                most = max(most, highest[key])
                if key in crossed:
                    times.append(crossed[key][0])
                else:
                    never += 1
        times.sort()
        within = f"{times[len(times) // 2]:4} {times[-1]:4}" if times else "   -    -"
        print(f"{kind:30} found {len(times):4} of {len(times) + never:4}, after {within}; {measured:6} measurements, "
              f"highest sum {most}")


def show_sampled(table, cells, sample):
    print(f"\n{JURORS} jurors of each training, who measure {sample} contributions a round")
    for bad in (0, BAD):
        draw, accused, known, most, times, never = random.Random(1), 0, 0, 0, [], 0
        for rounds in cells.values():
            for _ in range(JURORS):
                highest, crossed, _ = followed(table, measurements(rounds, of_some(sample, bad, draw)))
                honest = [key for key in highest if key[0] == "honest"]
                known += len(honest)
                accused += sum(key in crossed for key in honest)
                most = max([most] + [highest[key] for key in honest])
                found = [number for (kind, _), (_, number) in crossed.items() if kind == "noise"]
                times += found
                never += bad - len(found)
        times.sort()
        said = f"; noise found {len(times)} of {len(times) + never}, by round {times[len(times) // 2]}" if times else ""
        print(f"{bad} of {8 + bad} send noise: {accused} of {known} honest members accused, highest sum {most}{said}")


def written(table, honest, cells):
    def numbers(values):
        return ", ".join(str(value) for value in values)
    lines = [
        "// What one measurement says of a person, in thousandths of a natural logarithm: 1000 ln(P(bin | no work) / P(bin |",
        "// work)). Rows are bins of what the contribution does for its own records, columns of how much more that is than for",
        "// others, both as shares of the median contribution's (sequential_test.h). The last column is for contributions that",
        "// claim a whole shard, so that there are no others.",
        "//",
        "// tests/bench/jury_table.py prints this file from what tests/bench/bench_jury.cpp measured:",
        f"// {honest} honest measurements of {cells} trainings (docs/measurements.md has the commands). No entry is larger than",
        f"// {ENTRY_MAX}, so twelve measurements are the fewest that convict: where models stand still, or windows are too long for",
        "// their rate, honest figures can be bad for several rounds in a row. What helps as much as others' work does is no",
        "// evidence, whichever shard it was trained on.",
        "#pragma once",
        "",
        "#include <array>",
        "",
        "namespace potluck::run {",
        "",
        f"inline constexpr std::array<double, {len(OWN_EDGES)}> own_edges{{{numbers(OWN_EDGES)}}};",
        f"inline constexpr std::array<double, {len(GAP_EDGES)}> gap_edges{{{numbers(GAP_EDGES)}}};",
        f"inline constexpr std::array<std::array<int, {len(GAP_EDGES) + 2}>, {len(OWN_EDGES) + 1}> evidence_table{{{{",
    ]
    says = ["worse than nothing", "next to nothing", "little", "less than others", "work"]
    rows = ["    {" + numbers(row) + "}," for row in table]
    width = max(len(row) for row in rows)
    lines += [f"{row:{width}}  // {said}" for row, said in zip(rows, says)]
    return "\n".join(lines + ["}};", "", "}  // namespace potluck::run", ""])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("files", nargs="+")
    made = options.add_mutually_exclusive_group()
    made.add_argument("--table")
    made.add_argument("--write")
    options.add_argument("--histograms", action="store_true")
    options.add_argument("--sample", type=int)
    chosen = options.parse_args()
    cells = read(chosen.files)
    by_cell = {key: list(measurements(rounds)) for key, rounds in cells.items()}
    seeds = sorted({seed for _, seed in by_cell})
    learned = [f for (_, seed), found in by_cell.items() for f in found if len(seeds) < 2 or seed % 3 != 0]
    everything = [f for found in by_cell.values() for f in found]
    table = table_in(chosen.table) if chosen.table else table_of(learned)
    if chosen.histograms:
        show_histograms(everything)
    print("\nTable: rows by own / median, columns by (own - other) / median, the last without others")
    for row, entries in enumerate(table):
        low = "-inf" if row == 0 else OWN_EDGES[row - 1]
        print(f"{low:>6} " + " ".join(f"{entry:6}" for entry in entries))
    show_found(table, by_cell)
    tested = {key: found for key, found in by_cell.items() if len(seeds) > 1 and key[1] % 3 == 0}
    if tested and not chosen.table:
        print("\nOf these, the seeds that the table was not made from:")
        show_found(table, tested)
    if chosen.sample:
        show_sampled(table, cells, chosen.sample)
    honest = sum(f[0] == "honest" for f in everything)
    print(f"\n{honest} honest measurements of {len(by_cell)} trainings")
    if chosen.write:
        open(chosen.write, "w").write(written(table, honest, len(by_cell)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
