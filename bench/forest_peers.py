#!/usr/bin/env python3
"""Our forest beside scikit-learn, ranger (R) and LightGBM's rf mode, in one run.

Usage: python bench/forest_peers.py BENCH_FOREST [speed] [accuracy] [scale] [levels] [tasks]
levels: 5,000 to 500,000 rows at every vector level of this machine, peers in turns with us; tasks: weights, several
classes and entropy beside gini.
Prints a JSON line as soon as a measurement is there. Timings are wall and processor seconds of the call
alone: no reading, no conversion; where the machine is busy with other work, compare processor seconds.
Full bootstrap, leaf 1, sqrt(d) features a node for all. Each peer runs in a process of its own, is
stopped after SR_PEER_SECONDS (900; its line then says so) and gives as memory how much its resident
set grew at most while it trained.
SR_PEERS=scikit-learn,ranger,LightGBM adds LightGBM's rf mode, which grows leaf-wise on 63 % of the rows
without replacement and takes several minutes at 50 features. SR_FEATURES=10 leaves out the tables of 50
features. SR_PEER_TREES=25 lets the peers of `speed` grow 25 trees instead of 100 and scales their
seconds, which are linear in the trees; the lines then say "peer_trees": 25. Prediction is scaled for
scikit-learn alone: the others convert the rows first, which does not depend on the trees.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

BENCH = sys.argv[1]
PARTS = sys.argv[2:] or ["speed", "accuracy", "scale"]
TREES = 100
TEST_ROWS = 10 ** 6
PEER_TREES = int(os.environ.get("SR_PEER_TREES", TREES))
PEER_SECONDS = float(os.environ.get("SR_PEER_SECONDS", 900))
PEERS = os.environ.get("SR_PEERS", "scikit-learn,ranger").split(",")
FEATURES = [int(d) for d in os.environ.get("SR_FEATURES", "10,50").split(",")]
COVERTYPE = os.path.join(os.path.dirname(__file__), "../../shared/data/tabular/covertype_93k.csv.gz")
COVERTYPE = os.environ.get("SR_COVERTYPE", COVERTYPE)


# ---- tables ------------------------------------------------------------------------------------

def path(name):
    return os.path.join(FOLDER, name + ".bin")


def write(name, x, y):
    with open(path(name), "wb") as file:
        np.array([*x.shape, int(y.max()) + 1], np.int64).tofile(file)
        np.ascontiguousarray(x.astype(np.float32).T).tofile(file)
        y.astype(np.int32).tofile(file)


def read(name):
    with open(name, "rb") as file:
        rows, features, _ = np.fromfile(file, np.int64, 3)
        x = np.fromfile(file, np.float32, rows * features).reshape(features, rows).T
        return np.ascontiguousarray(x), np.fromfile(file, np.int32, rows)


def witness(name, rows, d, replicate):
    subprocess.run([BENCH, "export", f"ar1:{rows}:{d}:{replicate}", path(name)], check=True)
    return path(name)


# ---- forests -----------------------------------------------------------------------------------

def ours(train, test, trees, threads, seed=1, case="", vote="hard", task=(), isa=None):
    command = [BENCH, train, test, str(trees), str(threads), str(seed), case, vote, *task]
    environment = dict(os.environ, **({"SPECROUTE_ISA": isa} if isa else {}))
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def memory_mb(key):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key + ":"))


def timed(model, train, test):
    """Runs in the peer's own process."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the peak starts from here
    before = memory_mb("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(*train)
    trained, trained_cpu = time.perf_counter(), time.process_time()
    peak = memory_mb("VmHWM") - before
    label = model.predict(test[0])
    return dict(train=trained - start, train_cpu=trained_cpu - cpu,
                predict=time.perf_counter() - trained, predict_cpu=time.process_time() - trained_cpu,
                accuracy=float((label == test[1]).mean()), memory=peak)


def sklearn_model(trees, threads, seed=1, features=0):
    del features  # sqrt of them is the default
    from sklearn.ensemble import RandomForestClassifier
    return RandomForestClassifier(trees, n_jobs=threads, random_state=seed)


def lightgbm_model(trees, threads, seed=1, features=1):
    import lightgbm
    return lightgbm.LGBMClassifier(
        boosting_type="rf", n_estimators=trees, num_leaves=1 << 14, min_child_samples=1,
        min_child_weight=0, subsample=0.632, subsample_freq=1, n_jobs=threads, random_state=seed,
        verbose=-1, feature_fraction_bynode=max(1, int(features ** 0.5)) / features)


MODELS = {"scikit-learn": sklearn_model, "LightGBM": lightgbm_model}
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
memory <- function(key) {
  line <- grep(paste0("^", key, ":"), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
train <- read(arg[1]); test <- read(arg[2])
threads <- as.integer(arg[4])
invisible(gc())
writeLines("5", "/proc/self/clear_refs")
before <- memory("VmRSS")
t <- system.time(f <- ranger(x = train$x, y = train$y, num.trees = as.integer(arg[3]),
                             num.threads = threads, min.node.size = 1, oob.error = FALSE, seed = 1))
peak <- memory("VmHWM") - before
p <- system.time(g <- predict(f, test$x, num.threads = threads)$predictions)
cpu <- function(s) s[["user.self"]] + s[["sys.self"]]
cat(sprintf('{"train": %f, "train_cpu": %f, "predict": %f, "predict_cpu": %f, "accuracy": %f, "memory": %f}\\n',
            t[["elapsed"]], cpu(t), p[["elapsed"]], cpu(p),
            mean(as.character(g) == as.character(test$y)), peak))
"""


def peer_command(peer, train, test, threads, trees):
    if peer == "ranger":
        return ["Rscript", "-e", RANGER, train, test, str(trees), str(threads)]
    return [sys.executable, __file__, BENCH, "peer", peer, train, test, str(trees), str(threads)]


def run_peer(peer, train, test, threads, trees=PEER_TREES):
    """What the peer measured, or None with a word on standard error."""
    try:
        run = subprocess.run(peer_command(peer, train, test, threads, trees), capture_output=True, text=True,
                             check=True, timeout=PEER_SECONDS)
        return json.loads(run.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return dict(stopped=True)
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError) as error:
        print(f"{peer} did not run:", getattr(error, "stderr", None) or error, file=sys.stderr)
        return None


def show(**fields):
    print(json.dumps(fields), flush=True)


# ---- parts -------------------------------------------------------------------------------------

def compare(case, what, us, peer, result):
    seconds, cpu, factor = us[what + "_seconds"], us[what + "_cpu"], TREES / PEER_TREES
    fields = dict(bench="forest", case=case, what=what, n=us["n"], d=us["d"], trees=us["trees"],
                  threads=us["threads"], us_seconds=seconds, us_cpu=cpu, peer=peer, peer_trees=PEER_TREES)
    if what == "train":
        fields.update({key: us[key] for key in
                       ("peak_mb", "trees_mb", "binned_mb", "beside_trees_over_binned")})
    else:
        fields.update(test_rows=us["test_rows"])
    if result.get("stopped"):
        show(**fields, peer_seconds=PEER_SECONDS, ratio=round(PEER_SECONDS / seconds, 2), peer_stopped=True)
        return
    peer_seconds, peer_cpu = result[what] * factor, result[what + "_cpu"] * factor
    if what == "train":
        fields.update(peer_peak_mb=round(result["memory"], 1))
    if factor == 1:
        fields.update(us_accuracy=us["accuracy"], peer_accuracy=round(result["accuracy"], 5))
    show(**fields, peer_seconds=round(peer_seconds, 4), ratio=round(peer_seconds / seconds, 2),
         peer_cpu=round(peer_cpu, 4), cpu_ratio=round(peer_cpu / cpu, 2))


def best_of(runs):
    """The least of each time."""
    best = dict(runs[0])
    for key in ("train_seconds", "train_cpu", "predict_seconds", "predict_cpu"):
        best[key] = min(run[key] for run in runs)
    return best


def speed():
    """100 trees on 50,000 rows, then 10^6 rows through them, 1 and 2 threads."""
    for d in FEATURES:
        train, test = witness(f"w{d}", 50000, d, 0), witness(f"w{d}t", TEST_ROWS, d, 1)
        for threads in (1, 2):
            us = best_of([ours(train, test, TREES, threads) for _ in range(3)])
            soft = best_of([ours(train, test, TREES, threads, vote="soft") for _ in range(3)])
            for peer in PEERS:
                result = run_peer(peer, train, test, threads)
                if not result:
                    continue
                compare(f"witness d={d}", "train", us, peer, result)
                if result.get("stopped") or (PEER_TREES < TREES and peer != "scikit-learn"):
                    continue
                compare(f"witness d={d}", "predict", us, peer, result)
                if peer == "scikit-learn":  # whose votes are soft
                    compare(f"witness d={d}, soft votes", "predict", soft, peer, result)
        os.remove(test)


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
    from sklearn.datasets import make_classification
    sets = {"witness d=10": (read(witness("a", 10000, 10, 0)), read(witness("at", 20000, 10, 1)))}
    x, y = make_classification(30000, 20, n_informative=8, n_redundant=4, n_classes=3, flip_y=0.05,
                               random_state=1)
    sets["make_classification"] = (x[:10000], y[:10000]), (x[10000:], y[10000:])
    forest_cover = covertype()
    if forest_cover:
        x, y = forest_cover
        sets["covertype_93k"] = (x[:10000], y[:10000]), (x[10000:40000], y[10000:40000])
    for case, (train, test) in sets.items():
        write("a", *train)
        write("at", *test)
        us = [ours(path("a"), path("at"), 100, 1, seed) for seed in range(1, 11)]
        train, test = read(path("a")), read(path("at"))
        peer = [(sklearn_model(100, 2, seed).fit(*train).predict(test[0]) == test[1]).mean()
                for seed in range(1, 11)]
        mine = [run["accuracy"] for run in us]
        print(json.dumps(dict(
            bench="forest", case=case, what="accuracy", n=len(train[0]), d=train[0].shape[1],
            trees=100, seeds=10, us_mean=round(np.mean(mine), 5), us_sd=round(np.std(mine), 5),
            peer="scikit-learn", peer_mean=round(np.mean(peer), 5), peer_sd=round(np.std(peer), 5),
            difference_points=round(100 * (np.mean(mine) - np.mean(peer)), 3))), flush=True)


def scale():
    """Time a row and tree, and a row, tree and level, as n grows to 10^7; few trees, one thread."""
    for n in (10 ** 5, 10 ** 6, 10 ** 7):
        us = best_of([ours(f"ar1:{n}:10:0", "ar1:20000:10:1", 4, 1, case="witness d=10")
                      for _ in range(3 if n < 10 ** 7 else 1)])
        each = 1e9 * us["train_cpu"] / (4 * n)
        show(**us, what="scale", nanoseconds_a_row_and_tree=round(each, 1),
             nanoseconds_a_row_tree_and_level=round(each / us["levels"], 2))


def levels_here():
    flags = open("/proc/cpuinfo", encoding="ascii").read() if os.path.exists("/proc/cpuinfo") else ""
    return ["base"] + ["v3"] * ("avx2" in flags) + ["v4"] * ("avx512_vpopcntdq" in flags)


def levels():
    """Processor time of one thread: us at each level, a peer, us again, the next peer. Peers grow fewer trees on
    more rows and are scaled."""
    for rows, trees, peer_trees in ((5000, TREES, 100), (50000, TREES, 20), (500000, 10, 1)):
        for d in FEATURES:
            train = witness("l", rows, d, 0)
            test = witness("lt", TEST_ROWS if rows == 50000 else 1000, d, 1)
            runs, results = {isa: [] for isa in levels_here()}, {}
            for peer in PEERS:
                for isa, had in runs.items():
                    had.append(ours(train, test, trees, 1, isa=isa))
                results[peer] = run_peer(peer, train, test, 1, peer_trees)
            for isa, had in runs.items():
                us = best_of(had)
                for peer, result in results.items():
                    for what in ("train", "predict")[:1 + (rows == 50000 and peer == "scikit-learn")]:
                        if not result or result.get("stopped"):
                            continue
                        cpu, peer_cpu = us[what + "_cpu"], result[what + "_cpu"] * trees / peer_trees
                        show(bench="forest", case="levels", isa=isa, what=what, n=rows, d=d, trees=trees, threads=1,
                             us_cpu=cpu, peer=peer, peer_trees=peer_trees, peer_cpu=round(peer_cpu, 4),
                             cpu_ratio=round(peer_cpu / cpu, 2), load=round(os.getloadavg()[0], 1))
            os.remove(test)


def tasks():
    """Processor time of training over that of gini on two classes without weights, three turns. More classes make larger
    trees of the same rows, so the same is told per node."""
    train, test = witness("w", 50000, 10, 0), witness("wt", 1000, 10, 1)
    names = ("gini", "weights", "entropy", "classes:3", "classes:5", "classes:10")
    for isa in levels_here():
        least = {name: (1e9, 1) for name in names}
        for _ in range(3):
            for name in names:
                us = ours(train, test, 50, 1, case="tasks", task=() if name == "gini" else (name,), isa=isa)
                least[name] = min(least[name], (us["train_cpu"], us["nodes"]))
        for name, (cpu, nodes) in least.items():
            gini_cpu, gini_nodes = least["gini"]
            show(bench="forest", case="tasks", isa=isa, what=name, n=50000, d=10, trees=50, threads=1, us_cpu=cpu, nodes=nodes,
                 over_gini=round(cpu / gini_cpu, 2), over_gini_per_node=round(cpu / nodes / (gini_cpu / gini_nodes), 2),
                 load=round(os.getloadavg()[0], 1))


if PARTS[0] == "peer":
    name, train_path, test_path, tree_count, thread_count = PARTS[1:]
    table = read(train_path)
    peer_model = MODELS[name](int(tree_count), int(thread_count), features=table[0].shape[1])
    show(**timed(peer_model, table, read(test_path)))
else:
    with tempfile.TemporaryDirectory(prefix="forest-") as FOLDER:
        for part in PARTS:
            {"speed": speed, "accuracy": accuracy, "scale": scale, "levels": levels, "tasks": tasks}[part]()
