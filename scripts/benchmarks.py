#!/usr/bin/env python3
"""Writes docs/benchmarks.md: every recorded line of bench/results that stands beside a peer.

  scripts/benchmarks.py           writes the page
  scripts/benchmarks.py --check   fails where the page is not what the results give
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks.md"
HEAD = """# Benchmarks beside peers

Generated from `bench/results/` by `scripts/benchmarks.py`. Each block says the command, the commit and the machine.
The ratio is the peer's time over ours: above 1 we are faster. Where a file has processor time, the ratio of processor
times stands beside the ratio of wall times: the former holds on a busy machine too. A peer that was stopped at its time
limit is marked with `>`.
"""
EXTRA = ("cut_ratio", "balance", "memory_over_graph", "peak_over_table", "beside_trees_over_binned", "ns_per_arc", "recall")


def number(value):
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def cpu_ratio(row):
    if "cpu_ratio" in row:
        return row["cpu_ratio"]
    ours, peers = row.get("us_cpu_seconds"), row.get("peer_cpu_seconds")
    return peers / ours if ours and peers else None


def block(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [row for row in lines[1:] if row.get("ratio") is not None and row.get("peer")]
    if not rows:
        return []
    extra = [key for key in EXTRA if any(key in row for row in rows)]
    names = ["case", "n", "threads", "us, s", "peer", "peer, s", "ratio", "cpu ratio", *(k.replace("_", " ") for k in extra)]
    out = [f"## {path.stem}", "",
           f"`{lines[0].get('command', '')}`, commit {lines[0].get('commit', '')}, {lines[0].get('machine', '')}.", "",
           "| " + " | ".join(names) + " |", "|---|" + "---:|" * 3 + "---|" + "---:|" * (len(names) - 5)]
    for row in rows:
        stopped = ">" if row.get("peer_stopped") else ""
        what = f" {row['what']}" if "what" in row else ""
        cells = [row.get("case", "") + what, number(row.get("n")), number(row.get("threads")), number(row["us_seconds"]), row["peer"],
                 stopped + number(row["peer_seconds"]), stopped + number(row["ratio"]), number(cpu_ratio(row)),
                 *(number(row.get(key)) for key in extra)]
        out.append("| " + " | ".join(cells) + " |")
    return out + [""]


def main():
    text = HEAD + "\n"
    for path in sorted((ROOT / "bench/results").glob("*.jsonl")):
        text += "\n".join(block(path)) + ("\n" if block(path) else "")
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/benchmarks.md is not what bench/results gives: run scripts/benchmarks.py")
        print("docs/benchmarks.md is up to date")
        return
    PAGE.write_text(text, encoding="utf-8")


main()
