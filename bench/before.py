#!/usr/bin/env python3
"""The programs of this tree beside those of an earlier commit, in turns, on one thread.

Usage: python bench/before.py COMMIT|native [plan] [csv] [graph] [fiedler] [parts] [dependence] [forest]
The commit is built in .cache/before-COMMIT once, release preset; "native" is this tree in build/native, compiled for this machine
alone (SR_NATIVE) instead of choosing kernels at run time. Each program runs TURNS times (3), the other one and ours after each
other with the same arguments; a line holds the least seconds of both. The peers of the programs are left out.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURNS = int(os.environ.get("TURNS", 3))
QUIET = dict(os.environ, SR_BENCH_PYTHON="/bin/false")


def points(name, array):
    """A file of columns for bench_graph."""
    path = os.path.join(FOLDER, name)
    np.ascontiguousarray(array.T).tofile(path)
    return path


def graph_jobs():
    random = np.random.default_rng(1)
    n = 10 ** 6
    plane, space = random.random((n, 2)), random.random((n, 3))
    walk = np.cumsum(random.standard_normal((50000, 10)), axis=0) * 0.1 + random.standard_normal((50000, 10))
    few = random.standard_normal((n, 5)).astype(np.float32)
    center = random.standard_normal((200, 20)) * 2
    many = (center[random.integers(0, 200, 300000)] + random.standard_normal((300000, 20))).astype(np.float32)
    return [["graph", "space", "8", "1", "2", str(n), "2", points("plane", plane)],
            ["graph", "space", "8", "1", "2", str(n), "3", points("space", space)],
            ["graph", "features", "10", "1", "1", "50000", "10", points("walk", walk.astype(np.float32))],
            ["graph", "features", "10", "1", "1", str(n), "5", points("few", few)],
            ["graph", "features", "10", "1", "1", "300000", "20", points("many", many)],
            ["graph", "time", "5", "1", "3", str(n), "1"]]


def jobs(name):
    """Programs with their arguments."""
    if name == "plan":
        return [["plan", "20", "9", "100000"], ["plan", "20", "5", "1000000"], ["plan", "20", "3", "10000000"]]
    if name == "csv":
        return [["csv", "10"], ["csv", "100"]]
    if name == "graph":
        return graph_jobs()
    if name == "fiedler":
        return [["fiedler", "1e5", "path,window,grid,holes,knn2,knn5,knn10", "none"], ["fiedler", "1e6", "grid,holes,knn2", "none"]]
    if name == "parts":
        return [["parts", "1e5", case] for case in ("grid4", "hole4", "knn2", "window5")]
    if name == "dependence":
        return [["dependence", "diagnose", n, "20", "1"] for n in ("100000", "1000000")] + [["dependence", "block", "1000000"]]
    return [["forest", f"ar1:{rows}:{d}:0", f"ar1:{test}:{d}:1", str(trees), "1"]
            for rows, test, trees in ((5000, 1000, 100), (50000, 1000000, 50)) for d in (10, 50)]


def build(commit):
    """The folder of the other programs."""
    tree, where, options = ROOT / f".cache/before-{commit}", "build/release", ["--preset", "release"]
    if commit == "native":
        tree, where = ROOT, "build/native"
        options = ["-B", where, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSR_BUILD_BENCH=ON", "-DSR_NATIVE=ON"]
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", tree, commit], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", *options], cwd=tree, check=True, stdout=sys.stderr)
    targets = ["bench_" + name for name in NAMES]
    subprocess.run(["cmake", "--build", where, "-j", "2", "--target", *targets], cwd=tree, check=True, stdout=sys.stderr)
    return tree / where / "bench"


def times(folder, job):
    """Seconds of one run by case and what was timed; processor time where the program gives it."""
    run = subprocess.run([folder / ("bench_" + job[0]), *job[1:]], check=True, capture_output=True, text=True, env=QUIET)
    found = {}
    if job[0] == "dependence":  # one object without a case
        row = json.loads(run.stdout)
        return {(" ".join([job[1], *(f"d={d}" for d in job[3:4])]), int(job[2]), ""): row["seconds"]}
    for row in (json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")):
        if row.get("threads", 1) != 1:
            continue
        for key, what in (("us_cpu_seconds", ""), ("us_cpu", ""), ("us_seconds", ""), ("train_cpu", "train"), ("predict_cpu", "predict")):
            if key in row and not (key == "us_seconds" and ("us_cpu_seconds" in row or "us_cpu" in row)):
                case = (f"{row.get('case') or 'witness'} d={row['d']}" if "d" in row else row["case"], row["n"], what)
                found[case] = min(row[key], found.get(case, 1e300))
    return found


def compare(folders, job):
    least = [{}, {}]
    for turn in range(2 * TURNS):
        for case, seconds in times(folders[turn % 2], job).items():
            least[turn % 2][case] = min(seconds, least[turn % 2].get(case, 1e300))
    for (case, n, what), old in least[0].items():
        if (case, n, what) in least[1]:
            new = least[1][case, n, what]
            print(json.dumps(dict(bench="before", case=f"{job[0]} {case}", what=what, n=n, threads=1, us_seconds=new,
                                  peer=PEER, peer_seconds=old, ratio=round(old / new, 3))), flush=True)


COMMIT, NAMES = sys.argv[1], sys.argv[2:] or ["plan", "csv", "graph", "fiedler", "parts", "dependence", "forest"]
PEER = "native build" if COMMIT == "native" else "commit " + COMMIT
FOLDERS = build(COMMIT), ROOT / "build/release/bench"
if os.environ.get("BUILD_ONLY"):
    sys.exit()
with tempfile.TemporaryDirectory(prefix="before-") as FOLDER:
    for one in NAMES:
        for a_job in jobs(one):
            compare(FOLDERS, a_job)
