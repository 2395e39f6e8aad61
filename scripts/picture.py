#!/usr/bin/env python3
"""Draws docs/naive_and_honest.svg and writes the table of README.md from bench/results/real_gain.jsonl.

  scripts/picture.py           writes both
  scripts/picture.py --check   fails where they are not what the results give
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BARS = (("naive", "naive: rows that a tree did not draw", "#c9ced6"), ("told", "honest: told by specroute", "#3b6ea5"),
        ("truth", "truth: on data taken away before", "#d98032"))
BEGIN, END = "<!-- made by scripts/picture.py from bench/results/real_gain.jsonl -->", "<!-- end -->"
WIDTH, LEFT, BAR, GAP, ROOM = 760, 20, 20, 46, 330


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def read_cases():
    """A dictionary per case with means over its splits and the seeds that were run on all of them, for both plans."""
    lines = (ROOT / "bench/results/real_gain.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "case" in row]
    cases = []
    for name in dict.fromkeys(row["case"] for row in rows):
        here = [r for r in rows if r["case"] == name]
        splits = {r["split"] for r in here}
        whole = [seed for seed in {r.get("seed", 1) for r in here} if sum(r.get("seed", 1) == seed for r in here) == 2 * len(splits)]
        of = {plan: [r for r in here if r["plan"] == plan and r.get("seed", 1) in whole] for plan in ("uniform", "auto")}
        if not whole:
            continue  # not yet measured to the end
        case = {"name": name, "held_out": of["auto"][0]["held_out"], "splits": len(splits), "seeds": len(whole)}
        for plan, found in of.items():
            case[plan] = {key: mean(r[key] for r in found) for key in ("naive", "truth", "baseline")}
            case[plan]["told"] = mean(r["honest"] if r["regions"] is None else r["regions"] for r in found)
        cases.append(case)
    return cases


def picture(cases):
    most = max(case["uniform"][key] for case in cases for key, _, _ in BARS)
    scale = (WIDTH - LEFT - ROOM) / most
    height = 40 + len(cases) * (GAP + len(BARS) * BAR)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="13" fill="#222">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">Error of a random forest: what it says, what is told, what is true</text>']
    y = 40
    for case in cases:
        out.append(f'<text x="{LEFT}" y="{y + 16}">{case["name"]}, {case["splits"]} {case["held_out"]} taken away</text>')
        y += 24
        for key, label, color in BARS:
            value = case["uniform"][key]
            out.append(f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR - 3}" rx="2" fill="{color}"/>')
            out.append(f'<text x="{LEFT + value * scale + 8:.1f}" y="{y + BAR - 7}">{value:.3f}  {label}</text>')
            y += BAR
        y += GAP - 24
    return "\n".join(out + ["</svg>"]) + "\n"


def table(cases):
    lines = [BEGIN, "", "| data | taken away | a forest says | specroute tells | really | really, by the default | always one class |",
             "|---|---|---|---|---|---|---|"]
    for case in cases:
        forest, default = case["uniform"], case["auto"]
        seeds = f'{case["seeds"]} seed{"s" if case["seeds"] > 1 else ""}'
        lines.append(f'| {case["name"]} | {case["splits"]} {case["held_out"]}, {seeds} | {forest["naive"]:.3f} | {forest["told"]:.3f} | '
                     f'{forest["truth"]:.3f} | {default["truth"]:.3f} | {forest["baseline"]:.3f} |')
    return "\n".join(lines + ["", END])


def main():
    cases = read_cases()
    readme, svg = ROOT / "README.md", ROOT / "docs/naive_and_honest.svg"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    made = before + table(cases) + rest.split(END, 1)[1]
    if "--check" in sys.argv:
        if made != text or svg.read_text(encoding="utf-8") != picture(cases):
            sys.exit("README.md or docs/naive_and_honest.svg is not what bench/results gives: run scripts/picture.py")
        return
    readme.write_text(made, encoding="utf-8")
    svg.write_text(picture(cases), encoding="utf-8")


main()
