#!/usr/bin/env python3
"""Whether nets are better trained anew on all rows once held-out parts have chosen (`refit`), judged without any test file.

  bench/refit.py COMMAND ARCHIVE [LEARNER ...]   adds what is missing to bench/results/refit.jsonl
  bench/refit.py --page                          writes the tables of docs/methods/learner-NAME.md
  bench/refit.py --check                         fails where they are out of date

Of a set's training file, half of every class trains and the other half judges; the file of test cases is never opened. Sets of
100 to 1,200 training cases and at most 320 values, one of each family of names, without the four of docs/series.md.

The rule, fixed before the first run: a set's difference is the mean over seeds of accuracy with refit minus accuracy without.
`refit` is the default of a learner where the mean over sets is larger than its standard error over sets; else it is not, because
it costs more."""
import collections
import gzip
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results/refit.jsonl"
SETS = ("SyntheticControl MelbournePedestrian ECG200 PowerCons DistalPhalanxOutlineCorrect MedicalImages GunPointMaleVersusFemale "
        "ProximalPhalanxTW SwedishLeaf FaceAll ECG5000 ChlorineConcentration Adiac Strawberry WordSynonyms InsectWingbeatSound "
        "CricketX UWaveGestureLibraryX").split()
LEARNERS = ("transformer", "mamba")
SEEDS = (1, 2, 3)
BEGIN, END = "<!-- refit -->", "<!-- end refit -->"


def halves(path, seed):
    """Lines that train and lines that judge: half of every class each, at random."""
    lines = gzip.open(path, "rt").read().splitlines()
    of_class = collections.defaultdict(list)
    for line in lines:
        of_class[line.split("\t", 1)[0]].append(line)
    draw, parts = random.Random(seed), ([], [])
    for label in sorted(of_class):
        rows = of_class[label]
        draw.shuffle(rows)
        for i, row in enumerate(rows):
            parts[i % 2].append(row)
    return parts


def run(*arguments):
    return json.loads(subprocess.run(arguments, check=True, stdout=subprocess.PIPE).stdout)


def accuracy(command, learner, refit, seed, folder):
    model = folder + "/one.model"
    run(command, "train", folder + "/half_TRAIN.tsv", "--plan", "whole", "--learner", f"{learner}:refit={refit}", "--members", "1",
        "--vote", "soft", "--no-evaluation", "--seed", str(seed), "-o", model, "--threads", "1", "--json")
    judged = run(command, "predict", model, folder + "/half_TEST.tsv", "-o", folder + "/out.csv", "--threads", "1", "--json")
    return round(1 - judged["error"], 6)


def read():
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    return (lines[0], lines[1:]) if lines else ({}, [])


def record(command, archive, learners):
    done = {(line["learner"], line["set"], line["seed"]) for line in read()[1]}
    if not RESULTS.exists():
        commit = subprocess.run(["git", "describe", "--always"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        RESULTS.write_text(json.dumps({"command": "bench/refit.py COMMAND ARCHIVE", "commit": commit}) + "\n")
    for learner in learners or LEARNERS:
        for seed in SEEDS:
            for name in SETS:
                if (learner, name, seed) in done:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    for part, lines in zip(("TRAIN", "TEST"), halves(archive / name / f"{name}_TRAIN.tsv.gz", seed)):
                        pathlib.Path(folder, f"half_{part}.tsv").write_text("\n".join(lines) + "\n")
                    line = {"learner": learner, "set": name, "seed": seed, "train": len(lines),
                            **{refit: accuracy(command, learner, refit, seed, folder) for refit in ("yes", "no")}}
                with RESULTS.open("a") as file:
                    file.write(json.dumps(line) + "\n")


def summary(learner):
    """Sets, runs, mean difference, its standard error over sets, what the rule says."""
    differences = collections.defaultdict(list)
    for line in read()[1]:
        if line["learner"] == learner:
            differences[line["set"]].append(line["yes"] - line["no"])
    means = [sum(d) / len(d) for d in differences.values()]
    if len(means) < 2:
        return None
    mean = sum(means) / len(means)
    error = math.sqrt(sum((x - mean) ** 2 for x in means) / (len(means) - 1) / len(means))
    return {"sets": len(means), "runs": sum(map(len, differences.values())), "mean": mean, "error": error,
            "better": sum(x > 0 for x in means), "worse": sum(x < 0 for x in means), "default": "yes" if mean > error else "no"}


def block(learner):
    s = summary(learner)
    if not s:
        return "Whether nets are better trained anew was not measured for this learner yet; `refit=yes` stays its default."
    runs = len(SETS) * len(SEEDS)
    state = ("" if s["runs"] == runs else
             f" This is\nprovisional: {s['runs']} of {runs} runs are there, and results were looked at on the way, which the rule does not allow for.")
    return (f"Measured without a test file: half of each class of a training file trains, the other half judges, {s['sets']} sets, {s['runs']} runs\n"
            f"(`bench/refit.py`, commit {read()[0]['commit']}). Accuracy with `refit` minus without: mean over sets {s['mean']:+.4f}, standard error\n"
            f"{s['error']:.4f}; better on {s['better']}, worse on {s['worse']}. The rule, fixed before: `refit` is the default where the mean is larger than\n"
            f"its standard error. So the default is `refit={s['default']}`.{state}")


def pages():
    for learner in LEARNERS:
        path = ROOT / f"docs/methods/learner-{learner}.md"
        text = path.read_text()
        head, rest = text.split(BEGIN, 1)
        yield path, text, f"{head}{BEGIN}\n{block(learner)}\n{END}{rest.split(END, 1)[1]}"


def main(arguments):
    if arguments == ["--page"]:
        for path, _, new in pages():
            path.write_text(new)
    elif arguments == ["--check"]:
        for path, old, new in pages():
            if old != new:
                sys.exit(f"{path} is out of date: bench/refit.py --page")
    elif len(arguments) > 1:
        record(arguments[0], pathlib.Path(arguments[1]), arguments[2:])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
