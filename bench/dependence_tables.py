"""Writes the tables of docs/coverage.md and docs/guide/diagnose.md from the recorded results.

Run: python3 bench/dependence_tables.py            rewrites the files
     python3 bench/dependence_tables.py --check    fails where they are out of date
Text between <!-- NAME --> and <!-- end --> is replaced.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read(name):
    lines = [json.loads(l) for l in (ROOT / "bench/results" / name).read_text().splitlines()]
    return lines[0], lines[1:]


def number(x):
    return "-" if x is None else f"{x:.3g}" if abs(x) < 1000 else f"{x:,.0f}"


def coverage():
    head, rows = read("coverage.jsonl")
    out = [f"Recorded with `{head['command']}` at commit {head['commit']} ({head['machine']}).", ""]
    names = {"ar1": "AR(1), n = 50,000, parameter = T", "slow": "one AR(1) coordinate among independent ones, parameter = T",
             "grid": "Ornstein-Uhlenbeck field, 224 x 224 cells, parameter = range",
             "chain": "two states left with probability p and p/2, parameter = p",
             "ring": "lazy walk on a ring, parameter = states"}
    for family, title in names.items():
        out += [f"## {title}", "", "| d | parameter | truth | estimator | mean / truth | sd / truth | coverage | runs |",
                "|---|---|---|---|---|---|---|---|"]
        for r in rows:
            if r["family"] == family and r["method"] != "trusted":  # T itself: bench/honest_tables.py
                out.append(f"| {r['d']} | {r['parameter']:g} | {r['truth']:.4g} | {r['method']} | {r['mean_over_truth']:.3f} "
                           f"| {r['sd_over_truth']:.3f} | {r['coverage']:.2f} | {r['runs']} |")
        out.append("")
    return "\n".join(out)


def real():
    head, rows = read("real_dependence.jsonl")
    out = ["| set | rows | T (90 %) | by | worth (independent rows) | labels' T | Politis-White | plan |", "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        t, labels = r["tmix"], [e["estimate"] for e in r["estimates"] if e["method"] == "labels"]
        cap = " (cap)" if r["politis_white_saturated"] else ""
        out.append(f"| {r['set']} | {r['n']:,} | {number(t['estimate'])} ({number(t['low'])} to {number(t['high'])}) | {t['method']} "
                   f"| {number(r['ess'])} | {number(labels[0]) if labels else '-'} | {number(r['politis_white'])}{cap} | {r['recommend']} |")
    out += ["", f"From `bench/results/real_dependence.jsonl`, commit {head['commit']}; the options used are in the file."]
    return "\n".join(out)


def replace(path, name, text):
    file = ROOT / path
    old = file.read_text()
    new = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + text.strip() + "\n" + m[2], old, flags=re.S)
    if "--check" in sys.argv:
        return new == old
    file.write_text(new)
    return True


same = [replace("docs/coverage.md", "coverage", coverage()), replace("docs/guide/diagnose.md", "real", real())]
sys.exit(0 if all(same) else "run python3 bench/dependence_tables.py: the tables are out of date")
