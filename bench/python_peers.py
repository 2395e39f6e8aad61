#!/usr/bin/env python3
"""The Python package beside scikit-learn, LightGBM's and XGBoost's random forests, conversion included.

Usage: PYTHONPATH=build/release/python python bench/python_peers.py [import] [convert] [call] [forest]
Prints a JSON line as soon as a measurement is there. `import`: a fresh interpreter imports the package,
or NumPy; and the package with its estimator, or scikit-learn's forest. `convert`: a table of 10^6 x 10 of several types and layouts becomes the library's;
the peer is NumPy's copy to columns of single precision. `call`: predicting one row. `forest`: 100 trees
from a NumPy array to probabilities, sqrt(d) features per node, full bootstrap (LightGBM and XGBoost: 63 %
of the rows without repeats, as they have no other). Two settings: "whole trees", leaves of one row; LightGBM
and XGBoost grow as many leaves a tree, best first, as ours have on average. "depth 8": trees of at
most eight levels everywhere. Above 20,000 rows LightGBM and XGBoost, which grow whole trees leaf by leaf for minutes,
are measured at depth 8 alone. Everything runs on one thread, ours and the peer in turns; wall and processor
seconds are the best of the turns.
SR_ROWS sets the rows of `forest` (20000,100000), SR_TURNS its turns (2), SR_SETTINGS its settings.
"""
import json
import os
import subprocess
import sys
import time

import numpy as np

PARTS = sys.argv[1:] or ["import", "convert", "call", "forest"]
ROWS = [int(rows) for rows in os.environ.get("SR_ROWS", "20000,100000").split(",")]
TURNS = int(os.environ.get("SR_TURNS", 2))
MOST_WHOLE = 20000  # rows for which LightGBM and XGBoost grow whole trees
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

    for case, ours, peer in (("package", "specroute", "numpy"),
                             ("package and estimator", "specroute.estimator", "sklearn.ensemble")):
        turns = [(fresh(ours), fresh(peer)) for _ in range(5)]
        tell("import", case, peer, [[min(turn[who][clock] for turn in turns) for clock in (0, 1)] for who in (0, 1)])


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


def peers(d, depth, leaves):
    """Every peer with trees of `depth` levels, or, where that is None, of about `leaves` leaves."""
    import lightgbm
    import xgboost
    from sklearn.ensemble import RandomForestClassifier

    features = 1 / np.sqrt(d)
    yield "scikit-learn", lambda: RandomForestClassifier(TREES, max_depth=depth, n_jobs=1, random_state=0)
    size = {"max_depth": depth, "num_leaves": 2**depth} if depth else {"num_leaves": leaves}
    yield "LightGBM", lambda: lightgbm.LGBMClassifier(
        boosting_type="rf", n_estimators=TREES, subsample=0.632, subsample_freq=1, min_child_samples=1,
        min_child_weight=0, feature_fraction_bynode=features, n_jobs=1, verbose=-1, random_state=0, **size)
    size = {"max_depth": depth} if depth else {"max_depth": 0, "max_leaves": leaves, "grow_policy": "lossguide"}
    yield "XGBoost", lambda: xgboost.XGBRFClassifier(
        n_estimators=TREES, subsample=0.632, colsample_bynode=features, min_child_weight=0, tree_method="hist",
        n_jobs=1, random_state=0, **size)


def forest():
    for rows in ROWS:
        forest_of(rows)


def forest_of(rows):
    import specroute

    d = 10
    table, _ = specroute.simulate(f"ar1:n={2 * rows},tmix=5,d={d}", random_state=1)
    X, y = np.array(table.X, dtype=np.float64, order="C"), (np.array(table.y) == "1").astype(int)
    for setting in os.environ.get("SR_SETTINGS", "whole trees,depth 8").split(","):
        depth = 8 if setting == "depth 8" else None
        ours = specroute.SpecrouteClassifier(f"tree:max_depth={depth}" if depth else "tree", "uniform",
                                             n_estimators=TREES, evaluate=False, n_jobs=1, random_state=0)
        ours.fit(X[:rows], y[:rows])
        leaves = int(np.mean([(ours.nodes(j)["feature"] < 0).sum() for j in range(10)]))
        for name, make in peers(d, depth, leaves):
            if name != "scikit-learn" and not depth and rows > MOST_WHOLE:
                continue
            peer = make()
            errors = {}
            for what in ("fit", "predict_proba"):
                given = (X[:rows], y[:rows]) if what == "fit" else (X[rows:],)
                times = in_turns(lambda: getattr(ours, what)(*given), lambda: getattr(peer, what)(*given), TURNS)
                if what != "fit":
                    errors = {who: float((model.predict(X[rows:]) != y[rows:]).mean())
                              for who, model in (("us_error", ours), ("peer_error", peer))}
                tell(what, f"witness d={d}, {setting}", name, times, n=rows, trees=TREES, leaves=leaves, **errors)


for part in PARTS:
    {"import": importing, "convert": convert, "call": calling, "forest": forest}[part]()
