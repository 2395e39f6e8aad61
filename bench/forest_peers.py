#!/usr/bin/env python3
"""Our forest beside scikit-learn, ranger (R) and LightGBM's rf mode, in one run.

Usage: python bench/forest_peers.py BENCH_FOREST [speed] [predict] [accuracy] [scale]
Prints JSON lines. Timings are wall and processor seconds of the call alone: no reading, no
conversion; where the machine is busy with other work, compare processor seconds. Full
bootstrap, leaf 1, sqrt(d) features a node for all; LightGBM grows leaf-wise on 63 % of the rows
without replacement and is listed for orientation. SR_PEER_TREES=25 lets the peers of `speed` and
`predict` grow 25 trees instead of 100 and scales their seconds, which are linear in the trees; the
lines then say "peer_trees": 25. SR_FEATURES=10 leaves out the tables of 50 features,
SR_PEERS=scikit-learn,ranger the peers that are not named.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

BENCH = sys.argv[1]
PARTS = sys.argv[2:] or ["speed", "predict", "accuracy", "scale"]
TREES = 100
PEER_TREES = int(os.environ.get("SR_PEER_TREES", TREES))
PEERS = os.environ.get("SR_PEERS", "scikit-learn,ranger,LightGBM rf").split(",")
FEATURES = [int(d) for d in os.environ.get("SR_FEATURES", "10,50").split(",")]
FOLDER = tempfile.mkdtemp(prefix="forest-")
COVERTYPE = os.path.join(os.path.dirname(__file__), "../../shared/data/tabular/covertype_93k.csv.gz")
COVERTYPE = os.environ.get("SR_COVERTYPE", COVERTYPE)


def path(name):
    return os.path.join(FOLDER, name + ".bin")


def write(name, x, y):
    with open(path(name), "wb") as file:
        np.array([*x.shape, int(y.max()) + 1], np.int64).tofile(file)
        np.ascontiguousarray(x.astype(np.float32).T).tofile(file)
        y.astype(np.int32).tofile(file)
    return x.astype(np.float32), y


def read(name):
    with open(path(name), "rb") as file:
        rows, features, _ = np.fromfile(file, np.int64, 3)
        x = np.fromfile(file, np.float32, rows * features).reshape(features, rows).T
        return np.ascontiguousarray(x), np.fromfile(file, np.int32, rows)


def witness(name, rows, d, replicate):
    subprocess.run([BENCH, "export", f"ar1:{rows}:{d}:{replicate}", path(name)], check=True)
    return read(name)


def ours(train, test, trees, threads, seed=1, case=""):
    command = [BENCH, train, test, str(trees), str(threads), str(seed), case]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def timed(model, train, test):
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(*train)
    trained, trained_cpu = time.perf_counter(), time.process_time()
    label = model.predict(test[0])
    return dict(train=trained - start, train_cpu=trained_cpu - cpu,
                predict=time.perf_counter() - trained, predict_cpu=time.process_time() - trained_cpu,
                accuracy=float((label == test[1]).mean()))


def sklearn_forest(train, test, trees, threads, seed=1):
    model = RandomForestClassifier(trees, n_jobs=threads, random_state=seed)
    return timed(model, train, test)


RANGER = """
suppressMessages(library(ranger))
arg <- commandArgs(TRUE)
read <- function(path) {
  file <- file(path, "rb")
  head <- sapply(1:3, function(i) { w <- readBin(file, "integer", 2); w[1] })
  x <- matrix(readBin(file, "numeric", head[1] * head[2], size = 4), head[1], head[2])
  colnames(x) <- paste0("x", 1:head[2])
  y <- factor(readBin(file, "integer", head[1]))
  close(file)
  list(x = x, y = y)
}
train <- read(arg[1]); test <- read(arg[2])
threads <- as.integer(arg[4])
t <- system.time(f <- ranger(x = train$x, y = train$y, num.trees = as.integer(arg[3]),
                             num.threads = threads, min.node.size = 1, oob.error = FALSE, seed = 1))
p <- system.time(g <- predict(f, test$x, num.threads = threads)$predictions)
cpu <- function(s) s[["user.self"]] + s[["sys.self"]]
cat(t[["elapsed"]], cpu(t), p[["elapsed"]], cpu(p), mean(as.character(g) == as.character(test$y)), "\\n")
"""


def ranger_forest(train, test, trees, threads):
    try:
        run = subprocess.run(["Rscript", "-e", RANGER, train, test, str(trees), str(threads)],
                             capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print("ranger is not here:", getattr(error, "stderr", error), file=sys.stderr)
        return None
    names = ("train", "train_cpu", "predict", "predict_cpu", "accuracy")
    return dict(zip(names, map(float, run.stdout.split())))


def lightgbm_forest(train, test, trees, threads):
    import lightgbm
    d = train[0].shape[1]
    model = lightgbm.LGBMClassifier(
        boosting_type="rf", n_estimators=trees, num_leaves=1 << 14, min_child_samples=1,
        min_child_weight=0, subsample=0.632, subsample_freq=1, n_jobs=threads, verbose=-1,
        feature_fraction_bynode=max(1, int(d ** 0.5)) / d)
    return timed(model, train, test)


def line(case, what, us, peer, result, **more):
    factor = TREES / PEER_TREES
    result = {key: value * (1 if key == "accuracy" else factor) for key, value in result.items()}
    if PEER_TREES == TREES:
        more.update(us_accuracy=us["accuracy"], peer_accuracy=round(result["accuracy"], 5))
    seconds, cpu = us[what + "_seconds"], us[what + "_cpu"]
    print(json.dumps(dict(
        bench="forest", case=case, what=what, n=us["n"], d=us["d"], trees=us["trees"],
        threads=us["threads"], us_seconds=round(seconds, 4), peer=peer,
        peer_seconds=round(result[what], 4), ratio=round(result[what] / seconds, 2),
        us_cpu=round(cpu, 4), peer_cpu=round(result[what + "_cpu"], 4),
        cpu_ratio=round(result[what + "_cpu"] / cpu, 2),
        peer_trees=PEER_TREES, **more)), flush=True)


def speed():
    """100 trees on 50,000 rows, 1 and 2 threads."""
    for d in FEATURES:
        train, test = witness(f"w{d}", 50000, d, 0), witness(f"w{d}t", 20000, d, 1)
        for threads in (1, 2):
            case, args = f"witness d={d}", (path(f"w{d}"), path(f"w{d}t"), TREES, threads)
            runs = [ours(*args)]
            peers = {"scikit-learn": lambda: sklearn_forest(train, test, PEER_TREES, threads),
                     "ranger": lambda: ranger_forest(*args[:2], PEER_TREES, threads),
                     "LightGBM rf": lambda: lightgbm_forest(train, test, PEER_TREES, threads)}
            results = {peer: peers[peer]() for peer in PEERS}
            runs.append(ours(*args))
            us = min(runs, key=lambda run: run["train_seconds"])
            memory = {key: us[key] for key in ("peak_mb", "trees_mb", "binned_mb")}
            for peer, result in results.items():
                if result:
                    line(case, "train", us, peer, result, **memory)


def predict():
    """10^6 rows through 100 trees."""
    for d in FEATURES:
        train, test = witness(f"p{d}", 50000, d, 0), witness(f"p{d}t", 1000000, d, 1)
        for threads in (1, 2):
            us = ours(path(f"p{d}"), path(f"p{d}t"), TREES, threads)
            line(f"witness d={d}", "predict", us, "scikit-learn",
                 sklearn_forest(train, test, PEER_TREES, threads), test_rows=us["test_rows"])
        os.remove(path(f"p{d}t"))


def covertype():
    if not os.path.exists(COVERTYPE):
        print("no covertype_93k: set SR_COVERTYPE to its path", file=sys.stderr)
        return None
    with gzip.open(COVERTYPE, "rt") as file:
        table = np.genfromtxt(file, delimiter=",", skip_header=1)
    label = np.unique(table[:, -1], return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(table))
    return table[order, :-1].astype(np.float32), label[order].astype(np.int32)


def accuracy():
    """Ten seeds: our mean test accuracy beside scikit-learn's, 100 trees, 10,000 training rows."""
    sets = {"witness d=10": (witness("a", 10000, 10, 0), witness("at", 20000, 10, 1))}
    x, y = make_classification(30000, 20, n_informative=8, n_redundant=4, n_classes=3, flip_y=0.05,
                               random_state=1)
    sets["make_classification"] = (x[:10000], y[:10000]), (x[10000:], y[10000:])
    forest_cover = covertype()
    if forest_cover:
        x, y = forest_cover
        sets["covertype_93k"] = (x[:10000], y[:10000]), (x[10000:40000], y[10000:40000])
    for case, (train, test) in sets.items():
        train, test = write("a", *train), write("at", *test)
        us = [ours(path("a"), path("at"), 100, 1, seed) for seed in range(1, 11)]
        peer = [sklearn_forest(train, test, 100, 2, seed)["accuracy"] for seed in range(1, 11)]
        mine = [run["accuracy"] for run in us]
        print(json.dumps(dict(
            bench="forest", case=case, what="accuracy", n=len(train[0]), d=train[0].shape[1],
            trees=100, seeds=10, us_mean=round(np.mean(mine), 5), us_sd=round(np.std(mine), 5),
            peer="scikit-learn", peer_mean=round(np.mean(peer), 5), peer_sd=round(np.std(peer), 5),
            difference_points=round(100 * (np.mean(mine) - np.mean(peer)), 3))), flush=True)


def scale():
    """Time a row and tree as n grows to 10^7; few trees, one thread."""
    for n in (10 ** 5, 10 ** 6, 10 ** 7):
        us = ours(f"ar1:{n}:10:0", "ar1:20000:10:1", 4, 1, case="witness d=10")
        us["what"] = "scale"
        us["nanoseconds_a_row_and_tree"] = round(1e9 * us["train_seconds"] / (4 * n), 1)
        print(json.dumps(us), flush=True)


for part in PARTS:
    {"speed": speed, "predict": predict, "accuracy": accuracy, "scale": scale}[part]()
