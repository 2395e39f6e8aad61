#!/usr/bin/env python3
"""What is told of an ensemble, and what it is worth, on real data that it never saw.

Of each stream four stretches (a tenth of the rows each, with a fiftieth left free on both sides), of other sets four whole
regions, quarters of the map or sets of runs are taken away one at a time, before specroute sees anything. A line per split and
plan: naive and honest error as `train` tells them on the rest, and the error on what was taken away.

  real_gain.py SPECROUTE DATA_FOLDER [RESULTS]

Three seeds, all cases with one before the next. Lines that RESULTS (bench/results/real_gain.jsonl) holds already are not made
again.
"""
import csv
import gzip
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

COMMAND, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else ROOT / "bench/results/real_gain.jsonl"
PLANS = ("uniform", "auto")
SEEDS = (1, 2, 3)
SPLITS = 4


def read(path):
    with gzip.open(DATA / path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return rows


def stretches(rows):
    n = len(rows)
    for k in range(SPLITS):
        first, last = int(n * ((k + 0.5) / SPLITS - 0.05)), int(n * ((k + 0.5) / SPLITS + 0.05))
        free = n // 50
        yield rows[:max(0, first - free)] + rows[last + free:], rows[first:last]


def by_key(rows, key):
    names = sorted({key(row) for row in rows})
    for k in range(SPLITS):
        held = set(names[k::SPLITS])
        yield [r for r in rows if key(r) not in held], [r for r in rows if key(r) in held]


def quarter(rows):
    """The quarter of the map that a row lies in."""
    middle = [sorted(float(r[c]) for r in rows)[len(rows) // 2] for c in ("utmx", "utmy")]
    return lambda r: (float(r["utmx"]) > middle[0], float(r["utmy"]) > middle[1])


def beijing():
    rows = [row for row in read("streams/beijing_pm25.csv.gz") if row["pm2.5"] != "NA"]
    for row in rows:
        row["high"] = int(float(row["pm2.5"]) > 75)
        for name in ("No", "pm2.5", "year", "day"):
            row.pop(name)
    return rows


def cases():
    """Name, what was taken away, target, further options, splits."""
    yield "EEG eye state", "stretches", "class", [], lambda: stretches(read("streams/eeg_eye_state.csv.gz"))
    yield "electricity price", "stretches", "class", [], lambda: stretches(read("streams/elec2.csv.gz"))
    yield "Beijing PM2.5", "stretches", "high", [], lambda: stretches(beijing())
    yield "NOAA weather", "stretches", "target", [], lambda: stretches(read("streams/weather.csv.gz"))
    yield ("water circulation", "runs", "anomaly", ["--group", "run", "--drop", "datetime,changepoint"],
           lambda: by_key(read("streams/skab_valve1_other.csv.gz"), lambda r: r["run"]))
    rows = read("satellite/maipo_crops.csv.gz")
    yield ("Maipo crops", "quarters of the map", "croptype", ["--group", "field", "--drop", "utmx,utmy"],
           lambda: by_key(rows, quarter(rows)))
    yield ("Sentinel-2 land cover", "regions", "Label", ["--coords", "Lon,Lat", "--drop", "ID,ClassID,Region"],
           lambda: by_key(read("satellite/sentinel2_germany.csv.gz"), lambda r: r["Region"]))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def call(*words):
    made = subprocess.run([COMMAND, *map(str, words), "--json"], capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{made.stderr}")
    return json.loads(made.stdout)


def measure(folder, target, options, plan, seed):
    model = folder / "a.model"
    told = call("train", folder / "train.csv", "--target", target, *options, "--plan", plan, "--seed", seed, "--no-importance",
                "--threads", 1, "-o", model)
    found = call("predict", model, folder / "test.csv", "-o", folder / "said.csv")
    error = told["error"]
    asked = {q["name"]: q for q in error["questions"]}
    region = asked.get("regions") or {}
    return {"naive": error["naive"], "honest": error["honest"], "low": error["honest_low"], "high": error["honest_high"],
            "regions": region.get("estimate"), "truth": found["error"], "balanced_accuracy": found.get("metrics", {}).get("balanced_accuracy"),
            "baseline": error["baseline"]}


def main():
    build = json.loads(subprocess.run([COMMAND, "--version", "--json"], capture_output=True, text=True, check=True).stdout)
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    done = {(r["case"], r["split"], r["plan"], r["seed"]) for r in map(json.loads, lines) if "case" in r}
    with open(RESULTS, "a", encoding="utf-8") as out, tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if not lines:
            out.write(json.dumps({"bench": "real_gain", "command": "bench/real_gain.py SPECROUTE DATA_FOLDER", "version": build["version"],
                                  "commit": build["commit"], "machine": platform.processor() or platform.machine()}) + "\n")
        for seed in SEEDS:
            for name, what, target, options, splits in cases():
                if all((name, k, plan, seed) in done for k in range(SPLITS) for plan in PLANS):
                    continue
                for k, (train, test) in enumerate(splits()):
                    write(folder / "train.csv", train)
                    write(folder / "test.csv", test)
                    for plan in PLANS:
                        if (name, k, plan, seed) in done:
                            continue
                        line = {"case": name, "held_out": what, "split": k, "plan": plan, "seed": seed, "rows": len(train),
                                "tested": len(test)}
                        line.update(measure(folder, target, options, plan, seed))
                        out.write(json.dumps(line) + "\n")
                        out.flush()
                        print(line, flush=True)


main()
