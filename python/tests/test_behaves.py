"""Ctrl-C is answered, nothing crashes, memory stays, forks and threads work."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import specroute
from specroute import SpecrouteClassifier
from specroute._library import Handle, _Call

INTERRUPTED = """
import sys, time, threading, os, signal
import numpy as np, specroute
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have it ignored
X = np.random.default_rng(0).normal(size=(60000, 20))
y = np.arange(60000) % 2
model = specroute.SpecrouteClassifier(n_estimators=100000, plan="uniform", evaluate=False)
sent = []
def send():
    time.sleep(2)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send, daemon=True).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
    small = specroute.SpecrouteClassifier(n_estimators=3).fit(X[:300], y[:300])
    print(small.predict(X[:2]).shape)
"""


def test_an_interrupt_is_answered_at_once():
    told = subprocess.run([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True,
                          timeout=300, check=True).stdout.split("\n")
    assert float(told[0]) < 2 and told[1] == "(2,)"


OFTEN_INTERRUPTED = """
import random, signal
import numpy as np, specroute
signal.signal(signal.SIGALRM, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(400, 3)), np.arange(400) % 2
model = specroute.SpecrouteClassifier(n_estimators=5, plan="uniform", evaluate=False, tmix=1, n_jobs=2)
model.fit(X, y)
random.seed(0)
stopped = 0
for _ in range(150):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.03))
        for _ in range(3):
            model.fit(X, y)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except (KeyboardInterrupt, Exception):  # Python's own code turns some interrupts into other errors
        stopped += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(stopped, model.fit(X, y).predict(X).shape)
"""


def test_interrupts_at_any_moment_do_no_harm():
    told = subprocess.run([sys.executable, "-c", OFTEN_INTERRUPTED], stdout=subprocess.PIPE, text=True,
                          timeout=300, check=True).stdout.split(maxsplit=1)
    assert int(told[0]) > 10 and told[1].strip() == "(400,)"


def random_input(rng):
    """Something that a user might give by accident."""
    rows, columns = rng.choice([0, 1, 2, 3, 10, 50]), rng.choice([0, 1, 2, 5])
    kind = rng.integers(12)
    X = rng.normal(size=(rows, columns))
    if kind == 0:
        X[rng.random(X.shape) < 0.3] = np.nan
    elif kind == 1:
        X[rng.random(X.shape) < 0.1] = rng.choice([np.inf, -np.inf, 1e300, -1e308])
    elif kind == 2:
        X = X.astype(rng.choice(["int8", "uint64", "float16", "bool", ">f4", "object", "str", "complex"]))
    elif kind == 3:
        X = X[::-1, ::-1][:, ::2]
    elif kind == 4:
        X = np.full((rows, columns), rng.choice([0.0, np.nan, 1e38]))
    elif kind == 5:
        X = rng.normal(size=(rows, 2, columns))
    elif kind == 6:
        X = [rng.normal(size=rng.integers(0, 5)) for _ in range(rows)]
    elif kind == 7:
        X = X.tolist()
    elif kind == 8:
        X = X.reshape(-1)
    elif kind == 9:
        X = np.asfortranarray(X)
        X.flags.writeable = False
    elif kind == 10:
        X = [{"a": 1}, None, "text"]
    length = rows if rng.random() < 0.8 else rng.integers(0, 60)
    y = [rng.integers(0, rng.integers(1, 4), length), rng.normal(size=length),
         np.array(["a", "b"])[rng.integers(0, 2, length)], rng.integers(0, 2, length).astype(bool),
         np.array([None] * length), rng.integers(0, 2, (length, 1)), "text", None,
         np.array([1, "x"] * length, dtype=object)][rng.integers(9)]
    return X, y


@pytest.mark.parametrize("seed", range(6))
def test_no_input_crashes(seed):
    rng = np.random.default_rng(seed)
    answered = 0
    for _ in range(60 if not os.environ.get("SR_FULL") else 1000):
        X, y = random_input(rng)
        how = SpecrouteClassifier(n_estimators=int(rng.integers(-1, 4)), random_state=0,
                                  learner=rng.choice(["tree", "ridge", "tree:max_depth=1", ""]),
                                  plan=rng.choice(["uniform", "routed", "auto", "spectral"]),
                                  graph=rng.choice(np.array([None, "none", "features:2", "time"], object)),
                                  vote=rng.choice(["hard", "soft", "gated"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fitted = how.fit(X, y)
                fitted.predict(X)
                fitted.predict(random_input(rng)[0])
                answered += 1
            except (ValueError, TypeError, NotImplementedError, MemoryError):
                pass
            try:
                specroute.diagnose(X, None if isinstance(y, str) else y)
            except (ValueError, TypeError, NotImplementedError, MemoryError):
                pass
    assert answered >= 0


@pytest.mark.parametrize("size", [10**13, 2**40])
def test_huge_sizes_are_refused(size):
    X = np.broadcast_to(np.float32(0), (size, 1))
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        specroute.diagnose(X)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_stays(witness):
    X, y = witness[0][:200], witness[1][:200]
    how = SpecrouteClassifier(n_estimators=3, random_state=0, plan="uniform", n_jobs=1, importance=False)
    fits = 1000 if os.environ.get("SR_FULL") else 60

    def fit(times):
        for _ in range(times):
            how.fit(X, y)
            how.predict_proba(X)
            specroute.plan(X, n_estimators=2, random_state=1)[0]
        gc.collect()

    fit(fits // 3)
    before = resident()
    fit(fits)
    # A leak of the 100 kB that one fit holds would be a hundred megabytes in the full test.
    assert resident() - before < 24e6


def test_nothing_waits_for_the_collector(witness):
    X, y = witness

    def alive():
        return [type(one).__name__ for one in gc.get_objects() if isinstance(one, (_Call, Handle))]

    gc.collect()
    gc.disable()
    try:
        before = alive()
        fitted = SpecrouteClassifier(n_estimators=3, random_state=0, plan="uniform").fit(X, y)
        fitted.predict_proba(X)
        specroute.diagnose(X, y)
        specroute.plan(X, n_estimators=2, random_state=1)[0]
        del fitted
        assert alive() == before
    finally:
        gc.enable()


def test_threads_do_not_meet(witness):
    X, y = witness
    wanted = SpecrouteClassifier(n_estimators=4, random_state=0, evaluate=False).fit(X, y).predict_proba(X)
    found = []

    def work():
        found.append(SpecrouteClassifier(n_estimators=4, random_state=0, evaluate=False,
                                         n_jobs=2).fit(X, y).predict_proba(X))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(one, wanted) for one in found)


def _child(X, y, queue):
    queue.put(SpecrouteClassifier(n_estimators=4, random_state=0, evaluate=False).fit(X, y).predict_proba(X))


def test_forks_work(witness):
    X, y = witness
    wanted = SpecrouteClassifier(n_estimators=4, random_state=0, evaluate=False).fit(X, y).predict_proba(X)
    how = multiprocessing.get_context("fork")
    queue = how.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = how.Process(target=_child, args=(X, y, queue))
        child.start()
    np.testing.assert_array_equal(queue.get(timeout=120), wanted)
    child.join()
    assert child.exitcode == 0


def test_joblib_shares_nothing(witness):
    joblib = pytest.importorskip("joblib")
    X, y = witness
    how = SpecrouteClassifier(n_estimators=4, random_state=0, evaluate=False, n_jobs=1)
    found = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(lambda: how.__class__(**how.get_params()).fit(X, y).predict_proba(X))()
        for _ in range(4))
    assert all(np.array_equal(one, found[0]) for one in found)


def test_progress_is_shown(witness, capfd):
    SpecrouteClassifier(n_estimators=5, random_state=0, verbose=1, evaluate=False).fit(*witness)
    assert "specroute: fit" in capfd.readouterr().err
    SpecrouteClassifier(n_estimators=5, random_state=0, evaluate=False).fit(*witness)
    assert capfd.readouterr().err == ""
