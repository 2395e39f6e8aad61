#!/usr/bin/env python3
"""The chosen plan on real streams, held-out blocks or runs: auto against uniform and a few fixed plans.

auto chooses anew inside every fold, from the fold's training rows alone.

  auto_real.py SPECROUTE DATA_FOLDER [MEMBERS]
"""
import csv
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile

COMMAND, DATA = sys.argv[1], sys.argv[2]
MEMBERS = sys.argv[3] if len(sys.argv) > 3 else "100"
SEEDS = range(1, 6)


def beijing():
    """pm2.5 above 75, with pm2.5 itself left out; hours without a measurement have no class."""
    file = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="")
    with gzip.open(f"{DATA}/streams/beijing_pm25.csv.gz", "rt") as source:
        rows = [row for row in csv.DictReader(source) if row["pm2.5"] != "NA"]
    names = ["month", "hour", "DEWP", "TEMP", "PRES", "cbwd", "Iws", "Is", "Ir", "high"]
    writer = csv.DictWriter(file, names, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        row["high"] = int(float(row["pm2.5"]) > 75)
        writer.writerow(row)
    file.close()
    return file.name


def compare(path, options, seed):
    """The rows of the comparison by plan; the seed draws the bags and the folds of the choice."""
    result = json.loads(subprocess.run(
        [COMMAND, "compare", path, *options, "--members", MEMBERS, "--seed", str(seed), "--json",
         "--plans", "uniform,uniform-nm,routed:0.5:1,routed:0.2:1,routed:0.5:0.2,auto"],
        check=True, capture_output=True).stdout)
    return {row["label"]: row for row in result["rows"]}


def main():
    made = beijing()
    streams = f"{DATA}/streams"
    cases = [("elec2", f"{streams}/elec2.csv.gz", ["--target", "class"]),
             ("beijing_pm25", made, ["--target", "high"]),
             ("weather", f"{streams}/weather.csv.gz", ["--target", "target"]),
             ("skab", f"{streams}/skab_valve1_other.csv.gz",
              ["--target", "anomaly", "--group", "run", "--drop", "datetime,changepoint", "--folds", "10"])]
    for name, path, options in cases:
        runs = [compare(path, options, seed) for seed in SEEDS]
        errors = {label: [run[label]["error"] for run in runs] for label in runs[0]}
        gains = [uniform - auto for uniform, auto in zip(errors["uniform"], errors["auto"])]
        print(json.dumps({"bench": "auto_real", "case": name, "members": int(MEMBERS), "seeds": len(SEEDS),
                          "auto": round(statistics.mean(errors["auto"]), 5),
                          "uniform": round(statistics.mean(errors["uniform"]), 5),
                          "gain": round(statistics.mean(gains), 5),
                          "gain_se": round(statistics.stdev(gains) / len(gains) ** 0.5, 5),
                          "gain_of_each_seed": [round(gain, 5) for gain in gains],
                          "errors": {label: round(statistics.mean(list_), 5) for label, list_ in errors.items()},
                          "uniform_interval": [round(runs[0]["uniform"][end], 5) for end in ("low", "high")],
                          "seconds": {label: round(runs[0][label]["seconds"], 2) for label in errors}}),
              flush=True)
    os.unlink(made)


main()
