"""Dependence: us and the peers in one run.

Run: bench/record.sh dependence PYTHON bench/dependence.py [build/release/bench/bench_dependence]
PYTHON needs numpy, scipy, arch, statsmodels; deeptime where it is installed.
"""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from scipy.signal import lfilter

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/release/bench/bench_dependence"


def us(*arguments):
    out = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def chain(n, d, tmix, seed=1):
    lam, noise = 1 - 1 / tmix, np.random.default_rng(seed).standard_normal((n, d))
    return lfilter([np.sqrt(1 - lam * lam)], [1, -lam], noise, axis=0)


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def line(case, n, threads, ours, peer, peer_seconds, **more):
    ratio = peer_seconds / ours["seconds"] if peer_seconds is not None else None
    print(json.dumps({"bench": "dependence", "case": case, "n": n, "threads": threads,
                      "us_seconds": ours["seconds"], "peer": peer, "peer_seconds": peer_seconds,
                      "ratio": ratio, **{k: v for k, v in ours.items() if k != "seconds"}, **more}),
          flush=True)


def block_length():
    from arch.bootstrap import optimal_block_length
    for n in (100_000, 1_000_000):
        x = chain(n, 1, 10)[:, 0]
        line("politis-white", n, 1, us("block", n), "arch optimal_block_length",
             seconds(lambda: optimal_block_length(x)))


def whole_diagnosis(n, d):
    ours = us("diagnose", n, d, 1)
    x = chain(n, d, 50)
    from statsmodels.tsa.stattools import acf
    line(f"diagnose d={d}", n, 1, ours, "statsmodels acf, all columns, 1000 lags, FFT",
         seconds(lambda: [acf(x[:, j], nlags=1000, fft=True) for j in range(d)]))
    try:
        from deeptime.decomposition import TICA
        line(f"diagnose d={d}", n, 1, ours, "deeptime TICA, direction only",
             seconds(lambda: TICA(lagtime=1, dim=1).fit_fetch(x)))
    except ImportError:
        pass
    line(f"diagnose d={d}", n, 2, us("diagnose", n, d, 2), None, None)


block_length()
whole_diagnosis(1_000_000, 20)
