#!/usr/bin/env python3
"""QUANT and Time Series Forest beside aeon, on sets of the UCR archive, in one run and one thread.

Usage: python bench/intervals_peers.py BENCH_INTERVALS FOLDER [speed] [accuracy] [scale]
FOLDER holds <Name>/<Name>_{TRAIN,TEST}.tsv.gz and reference_accuracy.csv. Prints a JSON line as soon as a
measurement is there. Seconds are processor seconds of the calls alone, ours the best of five, aeon's the
best of SR_PEER_RUNS (2) after a warm-up on a small set. SR_SETS=GunPoint,FordA takes these sets;
SR_SEEDS=3 runs behind an accuracy; SR_LEVELS=v3,base the vector levels of `speed`. aeon's Time Series
Forest grows SR_TSF_TREES (50) trees; seconds per tree are compared.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

BENCH, DATA = sys.argv[1:3]
PARTS = sys.argv[3:] or ["speed", "accuracy", "scale"]
RUNS = int(os.environ.get("SR_PEER_RUNS", 2))
SEEDS = int(os.environ.get("SR_SEEDS", 3))
LEVELS = os.environ.get("SR_LEVELS", "v3,base").split(",")
TREES = 200
TSF_TREES = int(os.environ.get("SR_TSF_TREES", 50))
SPEED_SETS = ["ItalyPowerDemand", "GunPoint", "ECG5000", "PhalangesOutlinesCorrect", "Wafer", "FordA",
              "EOGVerticalSignal", "HouseTwenty"]


# ---- sets ---------------------------------------------------------------------------------------

def read(name, part):
    with gzip.open(os.path.join(DATA, name, f"{name}_{part}.tsv.gz"), "rt") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip()]
    y = np.array([row[0] for row in rows])
    x = np.array([[float(v) if v else np.nan for v in row[1:]] for row in rows], np.float32)
    return x, y


def load(name):
    """Training and test series and labels as whole numbers; None where a part is missing."""
    try:
        (x, y), (tx, ty) = read(name, "TRAIN"), read(name, "TEST")
    except FileNotFoundError:
        return None
    if len(y) == 0 or len(ty) == 0:
        return None
    classes = {c: i for i, c in enumerate(sorted(set(y) | set(ty), key=float))}
    return x, np.array([classes[c] for c in y]), tx, np.array([classes[c] for c in ty]), len(classes)


def write(path, x, y, classes):
    """Series end with their last value that is not missing."""
    lengths = [max(1, int(np.max(np.nonzero(np.isfinite(row))[0], initial=-1)) + 1) for row in x]
    with open(path, "wb") as file:
        np.array([len(x), 1, classes], np.int64).tofile(file)
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tofile(file)
        np.concatenate([row[:n] for row, n in zip(x, lengths)]).astype(np.float32).tofile(file)
        np.asarray(y, np.int32).tofile(file)
    return path


def ours(method, train, test, trees, seeds, repeats, level=None):
    environment = dict(os.environ)
    if level:
        environment["SPECROUTE_ISA"] = level
    out = subprocess.run([BENCH, method, train, test, str(trees), str(seeds), str(repeats)], check=True,
                         capture_output=True, text=True, env=environment).stdout
    return json.loads(out)


# ---- speed --------------------------------------------------------------------------------------

def seconds(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def peer(make, x, y, tx, ty):
    best = [np.inf, np.inf]
    for _ in range(RUNS):
        model = make()
        fit, _ = seconds(lambda: model.fit(x[:, None, :], y))
        predict, labels = seconds(lambda: model.predict(tx[:, None, :]))
        best = [min(best[0], fit), min(best[1], predict)]
    return best[0], best[1], float(np.mean(labels == ty))


def line(name, n, us, who, them, **more):
    print(json.dumps({"bench": "intervals", "case": name, "n": int(n), "threads": 1, "us_seconds": us,
                      "peer": who, "peer_seconds": them, "ratio": them / us, **more}), flush=True)


def speed(folder):
    from aeon.classification.interval_based import QUANTClassifier, TimeSeriesForestClassifier

    def quant():
        return QUANTClassifier(random_state=1)

    def forest():
        return TimeSeriesForestClassifier(n_estimators=TSF_TREES, random_state=1, n_jobs=1)

    warm = load("GunPoint")
    for make in (quant, forest):
        model = make().fit(warm[0][:20, None, :], warm[1][:20])
        model.predict(warm[2][:5, None, :])
    for name in os.environ.get("SR_SETS", ",".join(SPEED_SETS)).split(","):
        x, y, tx, ty, classes = load(name)
        train = write(os.path.join(folder, "train"), x, y, classes)
        test = write(os.path.join(folder, "test"), tx, ty, classes)
        fit, predict, accuracy = peer(quant, x, y, tx, ty)
        for level in LEVELS:
            us = ours("quant", train, test, TREES, 1, 5, level)
            shared = {"length": x.shape[1], "isa": us["level"], "accuracy": us["accuracy"],
                      "peer_accuracy": accuracy}
            our_fit, our_predict = us["prepare"] + us["fit"], us["encode"] + us["predict"]
            line(f"quant {name} fit", len(x), our_fit, "aeon QUANT", fit, transform=us["prepare"], **shared)
            line(f"quant {name} predict", len(tx), our_predict, "aeon QUANT", predict, one=us["one"], **shared)
            line(f"quant {name} all", len(x), our_fit + our_predict, "aeon QUANT", fit + predict, **shared)
        fit, predict, accuracy = peer(forest, x, y, tx, ty)
        us = ours("tsf", train, test, TSF_TREES, 1, 5)
        shared = {"length": x.shape[1], "accuracy": us["accuracy"], "peer_accuracy": accuracy,
                  "trees": TSF_TREES}
        line(f"tsf {name} fit", len(x), us["prepare"] + us["fit"], "aeon TSF", fit, **shared)
        line(f"tsf {name} predict", len(tx), us["encode"] + us["predict"], "aeon TSF", predict, **shared)


# ---- accuracy -----------------------------------------------------------------------------------

def accuracy(folder):
    published = {}
    with open(os.path.join(DATA, "reference_accuracy.csv"), newline="") as file:
        for row in csv.DictReader(file):
            published.setdefault((row["method"], row["dataset"]), []).append(float(row["accuracy"]))
    names = os.environ.get("SR_SETS", ",".join(sorted({d for m, d in published if m in ("QUANT", "TSF")})))
    differences = {}
    for name in names.split(","):
        data = load(name)
        if data is None:
            continue
        x, y, tx, ty, classes = data
        train = write(os.path.join(folder, "train"), x, y, classes)
        test = write(os.path.join(folder, "test"), tx, ty, classes)
        for method, source in (("quant", "QUANT"), ("tsf", "TSF"), ("tsf-bootstrap", "TSF")):
            known = published.get((source, name))
            us = ours(method, train, test, TREES, SEEDS, 0)["accuracy"]
            difference = us - np.mean(known) if known else None
            if known:
                differences.setdefault(method, []).append(difference)
            print(json.dumps({"bench": "intervals", "case": f"{method} {name} accuracy", "n": len(x),
                              "tests": len(tx), "seeds": SEEDS, "accuracy": us,
                              "published": float(np.mean(known)) if known else None,
                              "difference": difference}), flush=True)
    for method, d in differences.items():
        print(json.dumps({"bench": "intervals", "case": f"{method} minus published", "sets": len(d),
                          "mean": float(np.mean(d)), "standard_error": float(np.std(d, ddof=1) / len(d) ** .5),
                          "mean_absolute": float(np.mean(np.abs(d))), "seeds": SEEDS, "trees": TREES}),
              flush=True)


# ---- scale --------------------------------------------------------------------------------------

def scale(folder):
    """Memory and time where rows are many: noise with a class-dependent wave."""
    random = np.random.default_rng(1)
    for rows, length in ((10 ** 4, 1000), (10 ** 5, 500)):
        y = random.integers(0, 2, rows)
        x = random.standard_normal((rows, length), np.float32)
        x += (0.3 * y[:, None] * np.sin(np.arange(length) / 5)).astype(np.float32)
        train = write(os.path.join(folder, "train"), x, y, 2)
        test = write(os.path.join(folder, "test"), x[:100], y[:100], 2)
        for method in ("quant", "tsf"):
            us = ours(method, train, test, 5, 1, 1)
            print(json.dumps({"bench": "intervals", "case": f"{method} {rows} x {length}", "n": rows,
                              "length": length, **us}), flush=True)


with tempfile.TemporaryDirectory() as FOLDER:
    for part in PARTS:
        {"speed": speed, "accuracy": accuracy, "scale": scale}[part](FOLDER)
