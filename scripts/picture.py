#!/usr/bin/env python3
"""Draws docs/naive_and_honest.svg from bench/results/honest.jsonl (the rows of the plan uniform)."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLES = {"maipo": "Maipo crops, 7,713 pixels, 400 fields",
          "sentinel2_germany": "Sentinel-2 Germany, 36,600 pixels, 183 polygons"}
BARS = (("naive", "naive: rows not drawn", "#c9ced6"), ("honest", "honest: parts never seen", "#3b6ea5"),
        ("leave_group_out", "truth: whole fields or polygons left out", "#d98032"))
WIDTH, LEFT, SCALE, BAR, GAP = 760, 20, 1800, 20, 46


def read_rows():
    lines = (ROOT / "bench/results/honest.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return [row for row in map(json.loads, lines) if row["plan"] == "uniform"]


def draw_bar(row, key, label, color, y):
    value = row[key]
    length = value * SCALE
    parts = [f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 3}" rx="2" fill="{color}"/>']
    end = length
    if key == "honest":
        low, high = row["low"] * SCALE, row["high"] * SCALE
        middle = y + (BAR - 3) / 2
        parts.append(f'<path d="M{LEFT + low:.1f} {middle}H{LEFT + high:.1f}" stroke="#16324f" stroke-width="2"/>')
        end = max(end, high)
    parts.append(f'<text x="{LEFT + end + 8:.1f}" y="{y + BAR - 7}">{value:.3f}  {label}</text>')
    return parts


def main():
    rows = read_rows()
    height = 40 + len(rows) * (GAP + len(BARS) * BAR)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="13" fill="#222">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">Error of a random forest, by what was held out</text>']
    y = 40
    for row in rows:
        out.append(f'<text x="{LEFT}" y="{y + 16}">{TITLES[row["case"]]}</text>')
        y += 24
        for key, label, color in BARS:
            out += draw_bar(row, key, label, color, y)
            y += BAR
        y += GAP - 24
    out.append("</svg>")
    (ROOT / "docs/naive_and_honest.svg").write_text("\n".join(out) + "\n", encoding="utf-8")


main()
