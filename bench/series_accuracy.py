#!/usr/bin/env python3
"""Accuracy of the learners on series on the default splits of the UCR archive, and the memory they take, through the real
command.

  bench/series_accuracy.py COMMAND ARCHIVE [METHOD ...]   adds what is missing to bench/results/series_accuracy.jsonl
  bench/series_accuracy.py COMMAND --memory [ROWSxLENGTH METHOD]...   adds to bench/results/series_memory.jsonl
  bench/series_accuracy.py --page     writes docs/series.md from both
  bench/series_accuracy.py --check    fails where the page is out of date

ARCHIVE holds NAME/NAME_TRAIN.tsv.gz and reference_accuracy.csv (dataset,method,accuracy,source); sets that INDEX.tsv does
not call full are left out, smallest sets come first. ROCKET is compared with the authors' figures, whose penalties go as far
as ours, and beside that with tsml-eval's, whose do not; the others with the mean of their sources. transformer and mamba run on four sets, FordA as far as it is there, in two
forms: all rows, all steps, augmentation (that of the levels beside it), and their defaults."""
import collections
import csv
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACCURACY, MEMORY, PAGE = (ROOT / p for p in ("bench/results/series_accuracy.jsonl", "bench/results/series_memory.jsonl", "docs/series.md"))
# Learner, vote, name and source of the published figures, how close the mean over sets is to come.
METHODS = {
    "rocket": ("rocket", "hard", "ROCKET", "angus924", .003),
    "minirocket": ("minirocket", "hard", "MiniRocket", "", .003),
    "quant": ("quant:trees=200", "soft", "QUANT", "", .005),
    "tsf": ("tsf", "soft", "TSF", "", .01),
}
NETS = ("transformer", "mamba")
# What the same configuration reached in PyTorch and in a prototype: transformer, mamba.
REACHED = {"FordA": (".92-.93", ".94"), "TwoPatterns": (".999", "1.000"), "GunPoint": (".97-.99", ".99-1.00"),
           "Wafer": (".977-.990", ".995")}
# The configuration of these levels, and the defaults, which hold rows out to stop early and to choose the augmentation.
FORMS = {"fixed": ":augment=yes,validation=0", "default": ""}
LIMITS = {(10000, 1000): 1024, (100000, 500): 4096}  # MB


# ---- running ------------------------------------------------------------------------------------

def run(*arguments, log=None):
    """What the command printed, its processor seconds and its peak in MB; `log` gets what it said on the way."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(arguments, stdout=out, stderr=log, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{' '.join(arguments)} ended with {child.returncode}")
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def add(path, line):
    if not path.exists():
        commit = subprocess.run(["git", "describe", "--always"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        path.write_text(json.dumps({"command": f"bench/series_accuracy.py {'COMMAND ARCHIVE' if path == ACCURACY else 'COMMAND --memory'}",
                                    "commit": commit}) + "\n")
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def read(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return (lines[0], lines[1:]) if lines else ({}, [])


def measure(command, archive, name, options):
    train, test = (str(archive / name / f"{name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
    with tempfile.TemporaryDirectory() as folder:
        model = folder + "/one.model"
        _, fit, _ = run(command, "train", train, "--plan", "whole", *options, "--no-evaluation", "-o", model, "--threads", "1",
                        "--json")
        result, predict, _ = run(command, "predict", model, test, "-o", folder + "/out.csv", "--threads", "1", "--json")
        return {"accuracy": round(1 - result["error"], 6), "fit_seconds": round(fit, 2), "predict_seconds": round(predict, 2)}


def published(archive):
    found = collections.defaultdict(list)
    for row in csv.DictReader((archive / "reference_accuracy.csv").open()):
        for name, (_, _, method, source, _) in METHODS.items():
            if row["method"] == method and source in row["source"]:
                found[row["dataset"], name].append(float(row["accuracy"]))
    return {key: sum(values) / len(values) for key, values in found.items()}


def sets_of(archive):
    rows = list(csv.DictReader((archive / "INDEX.tsv").open(), delimiter="\t"))
    rows.sort(key=lambda row: int(row["n_train"]) * int(row["length_seen"]))
    return [row["dataset"] for row in rows if row["status"] == "full"]


def note_sources(archive, known):
    """Into the file: which sets have a published figure, and the second source of ROCKET's."""
    if not ACCURACY.exists():
        return
    head, lines = read(ACCURACY)
    second = {row["dataset"]: float(row["accuracy"]) for row in csv.DictReader((archive / "reference_accuracy.csv").open())
              if row["method"] == "ROCKET" and "tsml-eval" in row["source"]}
    head["sets"] = {method: sorted(name for name in sets_of(archive) if (name, method) in known) for method in METHODS}
    for line in lines:
        if line["method"] == "rocket" and line["set"] in second:
            line["tsml"] = second[line["set"]]
    ACCURACY.write_text("".join(json.dumps(line) + "\n" for line in (head, *lines)))


def accuracy(command, archive, methods):
    known = published(archive)
    note_sources(archive, known)
    done = {(line["set"], line["method"], line.get("form")) for line in read(ACCURACY)[1]}
    jobs = [(name, method, None) for name in sets_of(archive) for method in METHODS if (name, method) in known]
    jobs += [(name, method, form) for form in FORMS for name in REACHED for method in NETS]
    for name, method, form in jobs:
        if (methods and method not in methods) or (name, method, form) in done:
            continue
        if method in NETS:
            options = ["--learner", method + FORMS[form], "--members", "1", "--vote", "soft"]
        else:
            learner, vote = METHODS[method][:2]
            options = ["--learner", learner, "--members", "200" if method == "tsf" else "1", "--vote", vote]
        line = {"set": name, "method": method, **({"form": form} if form else {}), **measure(command, archive, name, options)}
        if method in METHODS:
            line["published"] = round(known[name, method], 6)
        add(ACCURACY, line)
    note_sources(archive, known)


def simulate(path, rows, length):
    """Noise, and a wave in one of the two classes; two digits, from a pool that is read at random places."""
    draw = random.Random(1)
    pool = [draw.gauss(0, 1) for _ in range(1 << 16)]
    wave = [.3 * math.sin(t / 5) for t in range(length)]
    plain = [f"{x:.2f}" for x in pool]
    with open(path, "w") as file:
        for i in range(rows):
            at = draw.randrange(len(pool) - length)
            values = plain[at:at + length] if i % 2 else (f"{x + w:.2f}" for x, w in zip(pool[at:at + length], wave))
            file.write(f"{i % 2 + 1}\t" + "\t".join(values) + "\n")


def memory(command, arguments):
    for size, method in zip(arguments[::2], arguments[1::2]):
        rows, length = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
            path = folder + "/simulated_TRAIN.tsv"
            simulate(path, rows, length)
            _, seconds, peak = run(command, "train", path, "--plan", "whole", "--learner", method, "--members", "1", "--no-evaluation",
                                   "-o", folder + "/one.model", "--threads", "1", "-v", "--json", log=log)
            log.seek(0)
            said = re.search(r": up to (\d+) MB", log.read())
        add(MEMORY, {"rows": rows, "length": length, "method": method, "peak_mb": round(peak), "seconds": round(seconds, 1),
                     **({"said_mb": round(int(said[1]) * 1e6 / 2**20)} if said else {})})


# ---- the page -----------------------------------------------------------------------------------

def spread(values):
    mean = sum(values) / len(values)
    error = math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values)) if len(values) > 1 else math.nan
    return mean, error


def source_rows(lines):
    """ROCKET beside each of its sources, where both are known."""
    rows = [line for line in lines if line["method"] == "rocket" and "tsml" in line]
    if not rows:
        return []
    text = ["", "ROCKET on the sets for which both sources are known:", "",
            "| ROCKET beside | sets | mean difference | standard error | without PigAirwayPressure |", "|---|---:|---:|---:|---:|"]
    for name, key in (("its authors", "published"), ("tsml-eval", "tsml")):
        mean, error = spread([line["accuracy"] - line[key] for line in rows])
        other = spread([line["accuracy"] - line[key] for line in rows if line["set"] != "PigAirwayPressure"])[0]
        text.append(f"| {name} | {len(rows)} | {mean:+.4f} | {error:.4f} | {other:+.4f} |")
    return text


def absent(head, lines):
    """Full sets with a published figure that a method was not run on."""
    found = {(line["set"], line["method"]) for line in lines}
    missing = {m: [name for name in names if (name, m) not in found] for m, names in head.get("sets", {}).items()}
    return [f"- {m} was not run on {', '.join(names)}." for m, names in missing.items() if names]


def page():
    head, lines = read(ACCURACY)
    text = ["# Learners on series: accuracy and memory", "",
            f"Made by `{head.get('command')}` and `... --memory`; first line recorded at commit {head.get('commit')}; `bench/series_accuracy.py --page`",
            "writes this page. Seconds are processor time of one thread on a busy machine. Speed beside other programs: [benchmarks](benchmarks.md).", "",
            "## Default splits of the UCR archive beside published figures", "",
            "One fit each, seed 1. ROCKET beside its authors' figures, the others beside the mean of their sources.", "",
            "| learner | sets | mean difference | standard error | aim | mean absolute |", "|---|---:|---:|---:|---:|---:|"]
    for method, (*_, aim) in METHODS.items():
        rows = [line for line in lines if line["method"] == method]
        if rows:
            differences = [line["accuracy"] - line["published"] for line in rows]
            mean, error = spread(differences)
            text.append(f"| {method} | {len(rows)} | {mean:+.4f} | {error:.4f} | {aim:g} | {sum(map(abs, differences)) / len(rows):.4f} |")
    text += source_rows(lines)
    nets = [line for line in lines if line["method"] in NETS]
    if nets:
        text += ["", "## Transformer and Mamba, one member", "",
                 "One fit each, seed 1. FordA has 576 of its 3,601 training cases here. *fixed*: all rows, 600 steps, augmentation, the",
                 "configuration of the levels beside it; *default*: 15 % of the rows are held out to stop early, to choose the augmentation and",
                 "to set the temperature; then all rows train anew. *Short*: how far a fit stays below the least that was reached elsewhere.", "",
                 "| set | learner | form | accuracy | reached elsewhere | short | seconds to fit |", "|---|---|---|---:|---|---:|---:|"]
        order = {(name, method, form): level for name, levels in REACHED.items() for method, level in zip(NETS, levels) for form in FORMS}
        for line in sorted(nets, key=lambda line: list(order).index((line["set"], line["method"], line["form"]))):
            key = line["set"], line["method"], line["form"]
            short = float(order[key].split("-")[0]) - line["accuracy"]
            text.append("| " + " | ".join(key) + f" | {line['accuracy']:.3f} | {order[key]} | {f'{short:.4f}' if short > 0 else ''} | {line['fit_seconds']:.0f} |")
    sizes = read(MEMORY)[1]
    if sizes:
        text += ["", "## Memory", "", "Simulated series read from a text file; peak of the whole command, reading included. *Said*: the bound that the learner",
                 "writes to the log before it begins; the program and its libraries, some 50 MB, come on top.", "",
                 "| cases x length | learner | peak, MB | said, MB | aim, MB | seconds |", "|---|---|---:|---:|---:|---:|"]
        text += [f"| {m['rows']:,} x {m['length']:,} | {m['method']} | {m['peak_mb']:,} | {m.get('said_mb', '')} | {LIMITS.get((m['rows'], m['length']), '')} | {m['seconds']:g} |"
                 for m in sizes]
    text += ["", "## Every set", "", *absent(head, lines), "", "| set | " + " | ".join(f"{m} | published" for m in METHODS) + " |", "|---|" + "---:|" * (2 * len(METHODS))]
    table = {(line["set"], line["method"]): line for line in lines if line["method"] in METHODS}
    for name in sorted({line["set"] for line in table.values()}):
        cells = [f"{table[name, m]['accuracy']:.4f} | {table[name, m]['published']:.4f}" if (name, m) in table else " | " for m in METHODS]
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main(arguments):
    if arguments == ["--page"]:
        PAGE.write_text(page())
    elif arguments == ["--check"]:
        if PAGE.read_text() != page():
            sys.exit(f"{PAGE} is out of date: bench/series_accuracy.py --page")
    elif arguments[1:2] == ["--memory"]:
        memory(arguments[0], arguments[2:] or ["10000x1000", "rocket", "10000x1000", "minirocket", "10000x1000", "quant:trees=200",
                                               "100000x500", "minirocket", "100000x500", "quant:trees=200", "100000x500", "rocket"])
    elif len(arguments) > 1:
        accuracy(arguments[0], pathlib.Path(arguments[1]), arguments[2:])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
