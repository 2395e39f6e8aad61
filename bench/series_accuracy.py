#!/usr/bin/env python3
"""Accuracy of the learners on series on the default splits of the UCR archive, through the real command, beside published
figures. Writes one JSON line per set and method; sets that are in the file already are passed over.

  bench/series_accuracy.py COMMAND ARCHIVE OUT.jsonl [--methods rocket,minirocket,...] [--most-cells N]

ARCHIVE holds NAME/NAME_TRAIN.tsv.gz and reference_accuracy.csv (dataset,method,accuracy,source); sets that INDEX.tsv does
not call full are left out. ROCKET is compared with the authors' figures, whose penalties go as far as ours; the others with
the mean of their sources. --most-cells leaves out sets with more training values, smallest sets come first."""
import argparse
import collections
import csv
import json
import math
import pathlib
import subprocess
import tempfile
import time

METHODS = {
    "rocket": ("ROCKET", ["--learner", "rocket", "--members", "1"], "angus924"),
    "minirocket": ("MiniRocket", ["--learner", "minirocket", "--members", "1"], ""),
    "quant": ("QUANT", ["--learner", "quant:trees=200", "--members", "1", "--vote", "soft"], ""),
    "tsf": ("TSF", ["--learner", "tsf", "--members", "200", "--vote", "soft"], ""),
}


def references(path):
    found = collections.defaultdict(list)
    for row in csv.DictReader(path.open()):
        for name, (published, _, source) in METHODS.items():
            if row["method"] == published and source in row["source"]:
                found[row["dataset"], name].append(float(row["accuracy"]))
    return {key: sum(values) / len(values) for key, values in found.items()}


def full_sets(archive):
    rows = list(csv.DictReader((archive / "INDEX.tsv").open(), delimiter="\t"))
    sizes = {row["dataset"]: int(row["n_train"]) * int(row["length_seen"]) for row in rows if row["status"] == "full"}
    return sorted(sizes.items(), key=lambda item: item[1])


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure(command, archive, name, options):
    train, test = (str(archive / name / f"{name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
    with tempfile.TemporaryDirectory() as folder:
        model = folder + "/one.model"
        start = time.time()
        run(command, "train", train, "--plan", "whole", *options, "--no-evaluation", "-o", model, "--threads", "1", "--json")
        result = run(command, "predict", model, test, "-o", folder + "/out.csv", "--threads", "1", "--json")
        return 1 - result["error"], time.time() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--most-cells", type=int, default=10**12)
    given = parser.parse_args()
    published = references(given.archive / "reference_accuracy.csv")
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    done = {(line["set"], line["method"]): line for line in lines}
    for name, cells in full_sets(given.archive):
        for method in given.methods.split(","):
            if cells > given.most_cells or (name, method) in done or (name, method) not in published:
                continue
            accuracy, seconds = measure(given.command, given.archive, name, METHODS[method][1])
            line = {"set": name, "method": method, "accuracy": round(accuracy, 6),
                    "published": round(published[name, method], 6), "seconds": round(seconds, 2)}
            done[name, method] = line
            with given.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
    for method in METHODS:
        list_ = [line["accuracy"] - line["published"] for (_, m), line in done.items() if m == method]
        if len(list_) > 1:
            mean = sum(list_) / len(list_)
            error = math.sqrt(sum((x - mean) ** 2 for x in list_) / (len(list_) - 1) / len(list_))
            print(f"{method}: {len(list_)} sets, mean difference {mean:+.4f} (s.e. {error:.4f})")


if __name__ == "__main__":
    main()
