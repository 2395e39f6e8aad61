#!/usr/bin/env python3
"""The Python package beside scikit-learn, LightGBM's and XGBoost's random forests, conversion included.

Usage: PYTHONPATH=build/release/python python bench/python_peers.py [import] [convert] [call] [forest]
Prints a JSON line as soon as a measurement is there. `import`: a fresh interpreter imports the package,
or NumPy. `convert`: a table of 10^6 x 10 of several types and layouts becomes the library's;
the peer is NumPy's copy to columns of single precision. `call`: predicting one row. `forest`: 100 trees
from a NumPy array to probabilities, full bootstrap, leaf 1, sqrt(d) features per node (LightGBM: 63 % of
the rows without repeats and as many leaves as rows allow; XGBoost: 63 % and depth 20). Everything runs
on one thread, ours and the peer in turns; wall and processor seconds are the best of the turns.
SR_ROWS sets the rows of `forest` (50000), SR_TURNS its turns (2).
"""
import json
import os
import subprocess
import sys
import time

import numpy as np

PARTS = sys.argv[1:] or ["import", "convert", "call", "forest"]
ROWS, TURNS = int(os.environ.get("SR_ROWS", 50000)), int(os.environ.get("SR_TURNS", 2))
TREES = 100


def seconds(work):
    """Wall and processor seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def in_turns(ours, theirs, turns):
    """The best seconds of each, which run one after the other `turns` times."""
    both = [(seconds(ours), seconds(theirs)) for _ in range(turns)]
    return [[min(turn[who][clock] for turn in both) for clock in (0, 1)] for who in (0, 1)]


def tell(what, case, peer, times, **more):
    (ours, our_cpu), (theirs, their_cpu) = times
    print(json.dumps({"bench": "python", "case": case, "what": what, "threads": 1, "us_seconds": round(ours, 7),
                      "us_cpu_seconds": round(our_cpu, 7), "peer": peer, "peer_seconds": round(theirs, 7),
                      "peer_cpu_seconds": round(their_cpu, 7), "ratio": round(theirs / ours, 3), **more}), flush=True)


def importing():
    code = ("import time; wall, cpu = time.perf_counter(), time.process_time(); import {}; "
            "print(time.perf_counter() - wall, time.process_time() - cpu)")

    def fresh(name):
        told = subprocess.run([sys.executable, "-c", code.format(name)], check=True, stdout=subprocess.PIPE, text=True)
        return [float(word) for word in told.stdout.split()]

    turns = [(fresh("specroute"), fresh("numpy")) for _ in range(5)]
    tell("import", "package", "numpy", [[min(turn[who][clock] for turn in turns) for clock in (0, 1)]
                                        for who in (0, 1)])


def convert():
    from specroute.table import features

    rng = np.random.default_rng(0)
    X = rng.normal(size=(10**6, 10))
    layouts = {"float64 rows": X, "float64 columns": np.asfortranarray(X), "float32 rows": X.astype(np.float32),
               "int32 rows": X.astype(np.int32), "every second of 20 columns": np.repeat(X, 2, axis=1)[:, ::2]}
    import pandas
    import polars

    layouts["pandas"] = pandas.DataFrame(X, columns=list("abcdefghij"))
    layouts["polars"] = polars.DataFrame({name: X[:, j] for j, name in enumerate("abcdefghij")})
    for name, layout in layouts.items():
        times = in_turns(lambda: features(layout, threads=1),
                         lambda: np.asfortranarray(np.asarray(layout, dtype=np.float32)), 7)
        tell("convert", name, "NumPy", times, n=10**6, features=10)


def calling():
    import specroute
    from sklearn.ensemble import RandomForestClassifier

    table, _ = specroute.simulate("ar1:n=300,tmix=5,d=4", random_state=1)
    X = np.array(table.X)
    ours = specroute.SpecrouteClassifier(n_estimators=10, evaluate=False, n_jobs=1).fit(X, table.y)
    peer = RandomForestClassifier(10, n_jobs=1).fit(X, table.y)
    times = in_turns(lambda: ours.predict(X[:1]), lambda: peer.predict(X[:1]), 300)
    tell("predict", "one row, 10 trees", "scikit-learn", times, n=1)


def peers(d):
    import lightgbm
    import xgboost
    from sklearn.ensemble import RandomForestClassifier

    yield "scikit-learn", lambda: RandomForestClassifier(TREES, n_jobs=1, random_state=0)
    yield "LightGBM", lambda: lightgbm.LGBMClassifier(
        boosting_type="rf", n_estimators=TREES, subsample=0.632, subsample_freq=1,
        num_leaves=min(ROWS, 131072), min_child_samples=1, feature_fraction_bynode=1 / np.sqrt(d), n_jobs=1,
        verbose=-1, random_state=0)
    yield "XGBoost", lambda: xgboost.XGBRFClassifier(
        n_estimators=TREES, subsample=0.632, colsample_bynode=1 / np.sqrt(d), max_depth=20,
        min_child_weight=0, tree_method="hist", n_jobs=1, random_state=0)


def forest():
    import specroute

    d = 10
    table, _ = specroute.simulate(f"ar1:n={2 * ROWS},tmix=5,d={d}", random_state=1)
    X, y = np.array(table.X, dtype=np.float64, order="C"), (np.array(table.y) == "1").astype(int)
    for name, make in peers(d):
        ours = specroute.SpecrouteClassifier("tree", "uniform", n_estimators=TREES, evaluate=False, n_jobs=1,
                                             random_state=0)
        peer = make()
        errors = {}
        for what in ("fit", "predict_proba"):
            given = (X[:ROWS], y[:ROWS]) if what == "fit" else (X[ROWS:],)
            times = in_turns(lambda: getattr(ours, what)(*given), lambda: getattr(peer, what)(*given), TURNS)
            if what != "fit":
                errors = {who: float((model.predict(X[ROWS:]) != y[ROWS:]).mean())
                          for who, model in (("us_error", ours), ("peer_error", peer))}
            tell(what, f"witness d={d}", name, times, n=ROWS, trees=TREES, **errors)


for part in PARTS:
    {"import": importing, "convert": convert, "call": calling, "forest": forest}[part]()
