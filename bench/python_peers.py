#!/usr/bin/env python3
"""The Python package beside scikit-learn, LightGBM's and XGBoost's random forests, conversion included.

Usage: PYTHONPATH=build/release/python python bench/python_peers.py [convert] [forest] [call]
Prints a JSON line as soon as a measurement is there. `convert`: a table of 10^6 x 10 of several types
and layouts becomes the library's. `forest`: fit and predict of 100 trees from a NumPy array, full
bootstrap, leaf 1, sqrt(d) features a node (LightGBM: 63 % of the rows without replacement and as many
leaves as rows allow; XGBoost: 63 % and depth 20); processor and wall seconds, each peer in turn, all on
one thread. `call`: what a small call costs. SR_ROWS sets the rows of `forest` (100000).
"""
import json
import os
import sys
import time

import numpy as np

PARTS = sys.argv[1:] or ["convert", "call", "forest"]
ROWS = int(os.environ.get("SR_ROWS", 100000))
TREES = 100


def timed(work, repeats):
    """Best wall and processor seconds."""
    wall, cpu = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    return min(wall), min(cpu)


def convert():
    from specroute.table import features

    rng = np.random.default_rng(0)
    X = rng.normal(size=(10**6, 10))
    layouts = {"float64 rows": X, "float64 columns": np.asfortranarray(X), "float32 rows": X.astype(np.float32),
               "int32 rows": X.astype(np.int32), "every second of 20 columns": np.repeat(X, 2, axis=1)[:, ::2]}
    try:
        import pandas

        layouts["pandas"] = pandas.DataFrame(X, columns=list("abcdefghij"))
        import polars

        layouts["polars"] = polars.DataFrame({name: X[:, j] for j, name in enumerate("abcdefghij")})
    except ImportError:
        pass
    for name, layout in layouts.items():
        wall, cpu = timed(lambda: features(layout), 7)
        copy = timed(lambda: np.asfortranarray(np.asarray(layout, dtype=np.float32)), 3) \
            if isinstance(layout, np.ndarray) else (None, None)
        print(json.dumps({"what": "convert", "from": name, "rows": 10**6, "features": 10,
                          "seconds": wall, "processor_seconds": cpu, "numpy_seconds": copy[0],
                          "numpy_processor_seconds": copy[1]}), flush=True)


def call():
    from specroute import _library

    wall, _ = timed(lambda: [_library.lib.sr_seconds() for _ in range(10000)], 5)
    print(json.dumps({"what": "call", "of": "ctypes", "seconds": wall / 10000}), flush=True)
    wall, _ = timed(lambda: _library.threads_of(1), 5)
    import specroute

    table, _ = specroute.simulate("ar1:n=300,tmix=5,d=4", random_state=1)
    X = np.array(table.X)
    model = specroute.SpecrouteClassifier(n_estimators=10, evaluate=False, n_jobs=1).fit(X, table.y)
    from sklearn.ensemble import RandomForestClassifier

    peer = RandomForestClassifier(10, n_jobs=1).fit(X, table.y)
    for name, one in (("specroute", model), ("scikit-learn", peer)):
        wall, cpu = timed(lambda: one.predict(X[:1]), 50)
        print(json.dumps({"what": "call", "of": "predict one row", "library": name, "seconds": wall,
                          "processor_seconds": cpu}), flush=True)


def peers(d):
    import specroute

    leaves = min(ROWS, 131072)
    yield "specroute", lambda: specroute.SpecrouteClassifier(
        "tree", "uniform", n_estimators=TREES, evaluate=False, n_jobs=1, random_state=0)
    from sklearn.ensemble import RandomForestClassifier

    yield "scikit-learn", lambda: RandomForestClassifier(TREES, n_jobs=1, random_state=0)
    try:
        import lightgbm

        yield "LightGBM", lambda: lightgbm.LGBMClassifier(
            boosting_type="rf", n_estimators=TREES, subsample=0.632, subsample_freq=1, num_leaves=leaves,
            min_child_samples=1, feature_fraction_bynode=1 / np.sqrt(d), n_jobs=1, verbose=-1,
            random_state=0)
    except ImportError:
        pass
    try:
        import xgboost

        yield "XGBoost", lambda: xgboost.XGBRFClassifier(
            n_estimators=TREES, subsample=0.632, colsample_bynode=1 / np.sqrt(d), max_depth=20,
            min_child_weight=0, tree_method="hist", n_jobs=1, random_state=0)
    except ImportError:
        pass


def forest():
    import specroute

    for d in (10,):
        table, risk = specroute.simulate(f"ar1:n={2 * ROWS},tmix=5,d={d}", random_state=1)
        X, y = np.array(table.X, dtype=np.float64, order="C"), (np.array(table.y) == "1").astype(int)
        train, test = (X[:ROWS], y[:ROWS]), (X[ROWS:], y[ROWS:])
        ours = None
        for name, make in peers(d):
            model = make()
            fit = timed(lambda: model.fit(*train), 1)
            predict = timed(lambda: model.predict_proba(test[0]), 1)
            error = float((model.predict(test[0]) != test[1]).mean())
            total = fit[1] + predict[1]
            ours = ours or total
            print(json.dumps({"what": "forest", "library": name, "rows": ROWS, "features": d, "trees": TREES,
                              "fit": fit[0], "fit_processor": fit[1], "predict": predict[0],
                              "predict_processor": predict[1], "error": error, "bayes_risk": risk,
                              "times_ours": total / ours}), flush=True)


for part in PARTS:
    {"convert": convert, "call": call, "forest": forest}[part]()
