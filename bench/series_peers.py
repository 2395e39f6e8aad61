#!/usr/bin/env python3
"""ROCKET and MiniRocket beside aeon (Numba, warm) and scikit-learn's RidgeClassifierCV: one thread,
processor time, in turn.

  series_peers.py BENCH transform [LENGTH ...]  features of simulated series, four shapes or those of these lengths
  series_peers.py BENCH fit [ROWS LENGTH]  fit end to end; aeon's ROCKET scaled from 192 series
  series_peers.py BENCH speed            both
  series_peers.py BENCH accuracy DIR [SEED [METHOD ...]]
        default splits of the UCR sets in DIR beside reference_accuracy.csv there; one line per set

BENCH is the program bench_series.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np


def write_cases(path, values, labels, classes):
    with open(path, "wb") as file:
        np.array([values.shape[0], values.shape[1], classes], dtype=np.int64).tofile(file)
        values.astype(np.float32).tofile(file)
        labels.astype(np.int32).tofile(file)


def run(bench, method, train, test, *more):
    line = subprocess.run([bench, method, train, test, *map(str, more)], check=True, capture_output=True,
                          text=True).stdout
    return json.loads(line)


def simulated(rows, length, seed):
    """Autoregressive series; the class is where a bump stands up or down first."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, length))
    for t in range(1, length):
        values[:, t] += .8 * values[:, t - 1]
    labels = random.integers(0, 2, rows)
    width = max(4, length // 20)
    for i in range(rows):
        at = random.integers(0, length - width)
        sign = 2 * labels[i] - 1
        values[i, at:at + width // 2] += 2.5 * sign
        values[i, at + width // 2:at + width] -= 2.5 * sign
    values -= values.mean(1, keepdims=True)
    values /= values.std(1, keepdims=True)
    return values.astype(np.float32), labels


def timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def transform(bench, folder, *lengths):
    from aeon.transformations.collection.convolution_based import MiniRocket, Rocket
    for rows, length, rocket_rows in ((1000, 24, 1000), (1024, 140, 256), (600, 500, 128), (96, 2000, 24)):
        if lengths and length not in lengths:
            continue
        values, labels = simulated(rows, length, 1)
        for method, peer, n in (("rocket", Rocket(10000, random_state=1), rocket_rows),
                                ("minirocket", MiniRocket(random_state=1), rows),
                                ("minirocket-whole", None, rows)):
            path = os.path.join(folder, "cases.bin")
            write_cases(path, values[:n], labels[:n], 2)
            cube = values[:n, None, :]
            if peer:
                peer.fit(cube[:8])
                peer.transform(cube[:8])  # compiled now
            ours, theirs = [], []
            for _ in range(3):
                ours.append(run(bench, method, path, path, 2))
                if peer:
                    theirs.append(timed(lambda: peer.transform(cube))[0])
            best = min(line["transform_seconds"] for line in ours)
            last = min(theirs) if theirs else last
            print(json.dumps({"bench": "series", "case": f"{method} transform {n} x {length}", "n": n, "threads": 1,
                              "us_seconds": best, "peer": "aeon", "peer_seconds": round(last, 4),
                              "ratio": round(last / best, 2),
                              "one_ms": round(1e3 * min(line["one_seconds"] for line in ours), 4),
                              "predict_one_ms": round(1e3 * min(line["predict_one_seconds"] for line in ours), 4)}),
                  flush=True)


def fit(bench, folder, rows=3601, length=500):
    from aeon.transformations.collection.convolution_based import MiniRocket, Rocket
    from sklearn.linear_model import RidgeClassifierCV
    values, labels = simulated(rows + 400, length, 1)
    train, test = os.path.join(folder, "train.bin"), os.path.join(folder, "test.bin")
    write_cases(train, values[:rows], labels[:rows], 2)
    write_cases(test, values[rows:], labels[rows:], 2)
    cube = values[:, None, :]
    for method, peer, part in (("rocket", Rocket(10000, random_state=1), min(rows, 192)),
                               ("minirocket", MiniRocket(random_state=1), rows)):
        held = run(bench, method, train, test, 0, 1, 1e3, 4096)
        streamed = run(bench, method, train, test, 0, 1, 1e3, 0)
        peer.fit(cube[:8])
        peer.transform(cube[:8])
        setup, _ = timed(lambda: peer.fit(cube[:rows]))
        made, features = timed(lambda: np.asarray(peer.transform(cube[:part])))
        features_seconds = setup + made * rows / part
        # The ridge's time does not depend on the values, but on n and p alone.
        if part < rows:
            features = np.random.default_rng(1).standard_normal((rows, features.shape[1]), dtype=np.float32)
        features /= features.std(0) + 1e-8
        model = RidgeClassifierCV(alphas=np.logspace(-3, 3, 10))
        ridge, _ = timed(lambda: model.fit(features, labels[:rows]))
        again = run(bench, method, train, test, 0, 1, 1e3, 4096)
        best = min(held["fit_seconds"], again["fit_seconds"])
        for name, seconds, line in (("held", best, held), ("streamed", streamed["fit_seconds"], streamed)):
            print(json.dumps({"bench": "series", "case": f"{method} fit {rows} x {length} {name}", "n": rows, "threads": 1,
                              "us_seconds": round(seconds, 3), "peer": "aeon + RidgeClassifierCV",
                              "peer_seconds": round(features_seconds + ridge, 3),
                              "ratio": round((features_seconds + ridge) / seconds, 2),
                              "peer_transform": round(features_seconds, 2), "peer_ridge": round(ridge, 2),
                              "stated_mb": line["stated_mb"], "peak_mb": line["peak_mb"],
                              "accuracy": line["accuracy"]}), flush=True)


def read_ucr(path):
    with gzip.open(path, "rt") as file:
        table = np.array([[float(v) if v not in ("", "NaN") else np.nan for v in line.split("\t")] for line in file])
    return table[:, 1:], table[:, 0]


def accuracy(bench, folder, directory, seed="1", *methods):
    methods = methods or ("rocket", "minirocket", "minirocket-whole")
    names = {"rocket": "ROCKET", "minirocket": "MiniRocket", "minirocket-whole": "MiniRocket"}
    published = {}
    with open(os.path.join(directory, "reference_accuracy.csv")) as file:
        for row in csv.DictReader(file):
            source = "tsml-eval" if "tsml-eval" in row["source"] else "authors"
            published.setdefault((row["dataset"], row["method"]), {})[source] = float(row["accuracy"])
    with open(os.path.join(directory, "INDEX.tsv")) as file:
        sets = [row["dataset"] for row in csv.DictReader(file, delimiter="\t") if row["status"] == "full"]
    differences = {}
    for name in sets:
        if (name, "ROCKET") not in published:
            continue
        values, labels = read_ucr(os.path.join(directory, name, f"{name}_TRAIN.tsv.gz"))
        more, truth = read_ucr(os.path.join(directory, name, f"{name}_TEST.tsv.gz"))
        classes = np.unique(np.concatenate([labels, truth]))
        train, test = os.path.join(folder, "train.bin"), os.path.join(folder, "test.bin")
        write_cases(train, values, np.searchsorted(classes, labels), len(classes))
        write_cases(test, more, np.searchsorted(classes, truth), len(classes))
        for method in methods:
            if (name, names[method]) not in published:
                continue
            for grid, penalty in (("1e3", 1e3), ("default", 0)):
                line = run(bench, method, train, test, 0, seed, penalty)
                record = {"set": name, "method": method, "grid": grid, "accuracy": line["accuracy"],
                          "left_out": line["left_out"], "penalty": line["penalty"], "fit": line["fit_seconds"],
                          "predict": line["predict_seconds"], **published[(name, names[method])]}
                print(json.dumps(record), flush=True)
                if len(published[(name, names[method])]) == 2:
                    for source, value in published[(name, names[method])].items():
                        differences.setdefault((method, grid, source), []).append(line["accuracy"] - value)
    for (method, grid, source), list_ in differences.items():
        list_ = np.array(list_)
        print(json.dumps({"method": method, "grid": grid, "source": source, "sets": len(list_),
                          "mean": round(float(list_.mean()), 5),
                          "standard_error": round(float(list_.std(ddof=1) / len(list_) ** .5), 5),
                          "mean_absolute": round(float(np.abs(list_).mean()), 5)}), flush=True)


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("transform", "fit", "speed", "accuracy"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2] == "transform":
            transform(sys.argv[1], folder, *map(int, sys.argv[3:]))
        elif sys.argv[2] == "fit":
            fit(sys.argv[1], folder, *map(int, sys.argv[3:]))
        elif sys.argv[2] == "speed":
            transform(sys.argv[1], folder)
            fit(sys.argv[1], folder)
        else:
            accuracy(sys.argv[1], folder, *sys.argv[3:])


if __name__ == "__main__":
    main()
