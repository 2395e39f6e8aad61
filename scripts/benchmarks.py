#!/usr/bin/env python3
"""Writes docs/benchmarks.md: every recorded line of bench/results that stands beside a peer. And the tables of
docs/guide/replay.md, whose targets of speed are recorded there.

  scripts/benchmarks.py           writes the page
  scripts/benchmarks.py --check   fails where the page is not what the results give
"""
import json
import pathlib
import sys

import replay_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks.md"
HEAD = """# Benchmarks beside peers

Generated from `bench/results/` by `scripts/benchmarks.py`. Each block says the command, the commit and the machine.
The ratio is the peer's time over ours: above 1 we are faster. Where a file has processor time, the ratio of processor
times stands beside the ratio of wall times: the former holds on a busy machine too. A peer that was stopped at its time
limit is marked with `>`. `bench/run.sh` records every line anew.

## Summary

The largest size of each hot path on one thread, beside the best peer that gave an answer; of files with many cases the one
with the lowest and the one with the highest ratio. The ratio is of processor time where both were measured. Level: base (plain
x86-64), v3 (AVX2), v4 (AVX-512); several stand in this order. Files without one were recorded by builds made for the machine at
hand. `auto` stands beside plain bagging with the same members and its own honest error.
"""
MOST_CASES, WHOLE = 3, ("neighbors", "forest_levels")  # of the summary; files that it shows whole
# Not in the summary: what stands beside ourselves, and what newer files hold.
LEFT_OUT = {"before": None, "native": None, "forest": "forest_levels", "graph": "neighbors"}
# What a reader of a block asks first.
NOTES = {"before": """Where a line is slower than the earlier commit, our code does more than it did then, or was built for more machines:

- The earlier commit is built for the machine at hand; today's build runs on every processor, and chooses at run time what is a kernel.
  `dependence block`, sums of products of floats, was no kernel yet when this was recorded.
- `dependence diagnose` gave T by autocorrelation and by the transition graph. Since then T is the longest reach of the ranks of
  every feature, of how far they lie from their middle and of every class, each by a Fourier transform of all rows: most of the time goes there.
- `plan routed`, `plan spectral` and `plan lag-thin`: row numbers of bags have 64 bits instead of 32, so half as many bytes more are written per
  row. Plans that compute little per row take time for nothing else.
- `fiedler knn10`: neighbors are searched exactly today, which gives another graph; on it, and with a check that the first pair is
  not the second, Lanczos takes half as many products again.
- `parts grid4 exact`: other cuts, of a tenth fewer edges."""}
EXTRA = ("cut_ratio", "balance", "memory_over_graph", "peak_over_table", "beside_trees_over_binned", "ns_per_arc", "recall")


def number(value):
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def cpu_ratio(row):
    if "cpu_ratio" in row:
        return row["cpu_ratio"]
    ours, peers = row.get("us_cpu_seconds"), row.get("peer_cpu_seconds")
    return peers / ours if ours and peers else None


def read(path):
    """The first line, and the lines that stand beside a peer."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return lines[0], [row for row in lines[1:] if row.get("peer") and (row.get("ratio") or row.get("cpu_ratio"))]


def seconds(row, who):
    return next((row[key] for key in (who + "_seconds", who + "_cpu") if key in row), None)


def case_of(row):
    names = [row.get("case", ""), row.get("what", "")]
    if row.get("case") == "levels":
        names[0] = f"forest d={row['d']}"
    return " ".join(name for name in names if name)


def best_rows(path):
    """By case and level: the largest n on one thread, the peer that comes closest."""
    head, rows = read(path)
    best = {}
    for row in rows:
        if row.get("peer_stopped") or row.get("threads", 1) != 1:
            continue
        key = (case_of(row), row.get("isa", head.get("isa", "-")))
        rank = (-row.get("n", 0), cpu_ratio(row) or row["ratio"])
        if key not in best or rank < best[key][0]:
            best[key] = (rank, row)
    cases = {}
    for (case, level), (rank, row) in best.items():
        cases.setdefault((case, rank[0], row["peer"]), []).append((level, rank[1], row))
    shown = [(case, sorted(levels, key=lambda item: item[0])) for case, levels in cases.items()]
    if len(shown) > MOST_CASES and path.stem not in WHOLE:
        shown = [min(shown, key=lambda item: min(level[1] for level in item[1])),
                 max(shown, key=lambda item: max(level[1] for level in item[1]))]
    return head, shown


def auto_line(path):
    """What choosing costs, at the largest size."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    head, most = lines[0], max(line["n"] for line in lines[1:])
    some = [line for line in lines[1:] if line["n"] == most]
    auto, uniform = (sum(line[key] for line in some) / len(some) for key in ("auto_seconds", "uniform_seconds"))
    return (f"| auto: training, mean of {len(some)} tables | {most} | {number(auto)} | plan uniform | {number(uniform / auto)} | "
            f"{head.get('isa', '-')} | {head['commit']}, {head['machine'].split(';')[0]} |")


def summary(paths):
    """One line per file and case."""
    out = ["| hot path | n | us, s | best peer | ratio | level | commit, machine |", "|---|---:|---:|---|---:|---|---|"]
    names = {path.stem for path in paths}
    for path in paths:
        if path.stem == "honest_choice":
            out.append(auto_line(path))
        if path.stem in LEFT_OUT and (LEFT_OUT[path.stem] is None or LEFT_OUT[path.stem] in names):
            continue
        head, shown = best_rows(path)
        for (case, n, peer), levels in shown:
            cells = [" / ".join(column) for column in zip(*((number(seconds(row, "us")), number(float(ratio)), level)
                                                            for level, ratio, row in levels))]
            out.append(f"| {path.stem}: {case} | {-n or ''} | {cells[0]} | {peer} | {cells[1]} | {cells[2]} | "
                       f"{head.get('commit', '')}, {head.get('machine', '')} |")
    return out + [""]


def block(path):
    head, rows = read(path)
    if not rows:
        return []
    extra = [key for key in EXTRA if any(key in row for row in rows)]
    names = ["case", "n", "threads", "us, s", "peer", "peer, s", "ratio", "cpu ratio", *(k.replace("_", " ") for k in extra)]
    out = [f"## {path.stem}", "",
           f"`{head.get('command', '')}`, commit {head.get('commit', '')}, {head.get('machine', '')}"
           + (f", level {head['isa']}" if "isa" in head else "") + (f", load {head['load']}" if "load" in head else "") + f".{' ' + head['note'] if 'note' in head else ''}", "",
           *([NOTES[path.stem], ""] if path.stem in NOTES else []),
           "| " + " | ".join(names) + " |", "|---|" + "---:|" * 3 + "---|" + "---:|" * (len(names) - 5)]
    for row in rows:
        stopped = ">" if row.get("peer_stopped") else ""
        cells = [case_of(row) + (f", {row['isa']}" if "isa" in row else ""), number(row.get("n")), number(row.get("threads")),
                 number(seconds(row, "us")), row["peer"], stopped + number(seconds(row, "peer")),
                 stopped + number(row.get("ratio")), number(cpu_ratio(row)),
                 *(number(row.get(key)) for key in extra)]
        out.append("| " + " | ".join(cells) + " |")
    return out + [""]


def main():
    paths = sorted((ROOT / "bench/results").glob("*.jsonl"))
    text = HEAD + "\n" + "\n".join(summary(paths)) + "\n"
    for path in paths:
        text += "\n".join(block(path)) + ("\n" if block(path) else "")
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/benchmarks.md is not what bench/results gives: run scripts/benchmarks.py")
        print("docs/benchmarks.md is up to date")
        replay_page.main(True)
        return
    PAGE.write_text(text, encoding="utf-8")
    replay_page.main(False)


main()
