#!/usr/bin/env python3
"""The chosen plan on real streams, held-out blocks or runs: auto against uniform and a few fixed plans.

auto chooses anew inside every fold, from the fold's training rows alone.

  auto_real.py SPECROUTE DATA_FOLDER [MEMBERS]
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

COMMAND, DATA = sys.argv[1], sys.argv[2]
MEMBERS = sys.argv[3] if len(sys.argv) > 3 else "100"


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


def main():
    made = beijing()
    streams = f"{DATA}/streams"
    cases = [("elec2", f"{streams}/elec2.csv.gz", ["--target", "class"]),
             ("beijing_pm25", made, ["--target", "high"]),
             ("weather", f"{streams}/weather.csv.gz", ["--target", "target"]),
             ("skab", f"{streams}/skab_valve1_other.csv.gz",
              ["--target", "anomaly", "--group", "run", "--drop", "datetime,changepoint", "--folds", "10"])]
    for name, path, options in cases:
        result = json.loads(subprocess.run(
            [COMMAND, "compare", path, *options, "--members", MEMBERS, "--json",
             "--plans", "uniform,uniform-nm,routed:0.5:1,routed:0.2:1,routed:0.5:0.2,auto"],
            check=True, capture_output=True).stdout)
        errors = {row["label"]: row for row in result["rows"]}
        auto, uniform = errors["auto"], errors["uniform"]
        print(json.dumps({"bench": "auto_real", "case": name, "members": int(MEMBERS), "folds": result["folds"],
                          "blocks": result["blocks"], "held_out": result["held_out"], "buffer": result["buffer"],
                          "auto": round(auto["error"], 5), "uniform": round(uniform["error"], 5),
                          "gain": round(uniform["error"] - auto["error"], 5),
                          "errors": {label: round(row["error"], 5) for label, row in errors.items()},
                          "uniform_interval": [round(uniform["low"], 5), round(uniform["high"], 5)],
                          "seconds": {label: round(row["seconds"], 2) for label, row in errors.items()}}),
              flush=True)
    os.unlink(made)


main()
