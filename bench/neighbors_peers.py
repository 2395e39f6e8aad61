#!/usr/bin/env python3
"""Neighbor graphs beside the best searches we know, on the same points, in turns.

    neighbors_peers.py FOLDER_OF_BENCH_PROGRAMS [CASE...]

Processor seconds of one thread, so that a busy machine does not decide; every line says level and load. All repeat what
they do in one process and the least counts: the first run pays for pages that the host has not given to this machine yet.
Ours is the whole graph, at each vector level, the least of the runs before and after the peers. Peers give lists (in space they get the points sorted
along a tree, which is kind to them; sorting is not counted); SciPy joins them into a symmetric graph, counted apart:
ratio = (search + union) / ours. Recall of a peer: its neighbors that are no farther than the true k-th, on 200 rows."""
import json, os, subprocess, sys, tempfile, time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import scipy.sparse as sparse
from scipy.spatial import cKDTree

PROGRAMS, CHOSEN = sys.argv[1], sys.argv[2:]
RUNS, ENOUGH = 4, 20  # runs of each; seconds after which a slow one is not run again
FOLDER = tempfile.mkdtemp(dir="/dev/shm")


def ours(builder, k, threads, path, shape, level="v4"):
    command = [os.path.join(PROGRAMS, "bench_graph"), builder, str(k), str(threads), str(RUNS), *map(str, shape), path]
    environment = dict(os.environ, SPECROUTE_ISA=level)
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def every_level(*arguments):
    """What each level of this machine gives; the graph is the same."""
    found = {}
    for level in ("base", "v3", "v4"):
        line = ours(*arguments, level)
        found[line["isa"]] = line
    assert len({line["hash"] for line in found.values()}) == 1
    return found


def union_seconds(lists):
    rows, k = lists.shape

    def join():
        matrix = sparse.csr_matrix((np.ones(rows * k, np.int8), lists.ravel(), np.arange(0, rows * k + 1, k)), (rows, rows))
        return matrix.maximum(matrix.T)
    return timed(join)[0]


def without_self(found, k):
    own = found == np.arange(len(found))[:, None]
    own[~own.any(1), -1] = True
    return found[~own].reshape(len(found), -1)[:, :k]


def recall(lists, points):
    k, rows = lists.shape[1], np.random.default_rng(5).choice(len(points), 200, replace=False)
    good = 0
    for row in rows:
        distance = ((points - points[row]).astype(np.float64) ** 2).sum(1)
        distance[row] = np.inf
        bar = np.partition(distance, k - 1)[k - 1]
        good += (distance[lists[row]] <= bar * (1 + 1e-6)).sum()
    return good / (200 * k)


def nanoflann(points, k, path):
    out = os.path.join(FOLDER, "lists")
    run = subprocess.run([os.path.join(PROGRAMS, "nanoflann_peer"), str(k), str(RUNS), *map(str, points.shape), path, out],
                         check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["cpu"], np.fromfile(out, np.int32).reshape(len(points), k)


def timed(find):
    least, spent = np.inf, 0.0
    for _ in range(RUNS):
        start = time.process_time()
        found = find()
        seconds = time.process_time() - start
        least, spent = min(least, seconds), spent + seconds
        if spent > ENOUGH:
            break
    return least, found


def scipy_tree(points, k, _):
    seconds, found = timed(lambda: cKDTree(points).query(points, k + 1, workers=1)[1])
    return seconds, without_self(found, k)


def faiss_flat(points, k, _):
    import faiss
    faiss.omp_set_num_threads(1)

    def find():
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(points)
        return index.search(points, k + 1)[1]
    seconds, found = timed(find)
    return seconds, without_self(found, k)


def pynndescent(points, k, _):
    import pynndescent

    def find(rows):
        index = pynndescent.NNDescent(rows, n_neighbors=k + 1, random_state=1, n_jobs=1, compressed=False)
        return index.neighbor_graph[0]
    find(points)  # compiles
    seconds, found = timed(lambda: find(points))
    return seconds, without_self(np.abs(found), k)


def hnswlib(points, k, _):
    import hnswlib

    def find():
        index = hnswlib.Index("l2", points.shape[1])
        index.init_index(len(points), M=24, ef_construction=150)
        index.add_items(points, num_threads=1)
        index.set_ef(150)
        return index.knn_query(points, k + 1, num_threads=1)[0].astype(np.int64)
    seconds, found = timed(find)
    return seconds, without_self(found, k)


def compare(case, builder, points, k, peers):
    if CHOSEN and case not in CHOSEN:
        return
    if builder == "space":
        points = points[cKDTree(points, leafsize=16).indices]
    kind, path = (np.float64 if builder == "space" else np.float32), os.path.join(FOLDER, "points")
    points = np.ascontiguousarray(points.astype(kind))
    points.T.tofile(path)
    first, results = every_level(builder, k, 1, path, points.shape), []
    for find in peers:
        try:
            seconds, lists = find(points, k, path)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            print(f"{find.__name__} did not run: {error}", file=sys.stderr)
            continue
        results.append((find.__name__, seconds, union_seconds(lists),
                        1.0 if builder == "space" else recall(lists, points)))
    second = every_level(builder, k, 1, path, points.shape)
    for level, line in first.items():
        assert line["hash"] == second[level]["hash"]
        us = min(line["us_cpu_seconds"], second[level]["us_cpu_seconds"])
        for name, seconds, union, good in results:
            print(json.dumps(dict(
                bench="neighbors", case=case, n=len(points), d=points.shape[1], k=k, threads=1, isa=level, us_cpu=us,
                recall=line["recall"], peer=name.replace("_", " "), peer_search_cpu=round(seconds, 4),
                peer_cpu=round(seconds + union, 4), peer_recall=round(good, 4), cpu_ratio=round((seconds + union) / us, 2),
                lists_ratio=round(seconds / us, 2), hash=line["hash"], load=round(os.getloadavg()[0], 1))), flush=True)


def two_threads(builder, k, shape):
    """On both cores, beside ourselves on one; wall clock."""
    path = os.path.join(FOLDER, "points")
    one, two = ours(builder, k, 1, path, shape), ours(builder, k, 2, path, shape)
    assert one["hash"] == two["hash"]
    print(json.dumps(dict(
        bench="neighbors", case="10^7 points", n=shape[0], d=shape[1], k=k, threads=2, isa=two["isa"],
        us_seconds=two["us_seconds"], peer="our one thread", peer_seconds=one["us_seconds"],
        ratio=round(one["us_seconds"] / two["us_seconds"], 2), us_cpu=two["us_cpu_seconds"], hash=two["hash"],
        load=round(os.getloadavg()[0], 1))), flush=True)


def ar1(generator, rows, d, length):
    from scipy.signal import lfilter
    rho = np.exp(-1 / length)
    return lfilter([np.sqrt(1 - rho * rho)], [1, -rho], generator.normal(size=(rows, d)), axis=0)


def standard(points):
    return (points - points.mean(0)) / points.std(0)


def main():
    generator, n = np.random.default_rng(1), 1_000_000
    space = (nanoflann, scipy_tree)
    compare("uniform 2-D", "space", generator.random((n, 2)), 8, space)
    centers = generator.random((200, 2)) * 4000
    blobs = np.rint(centers[generator.integers(0, 200, n)] + generator.normal(size=(n, 2)) * 60)
    compare("blobs on a raster, with repeats", "space", blobs, 8, space)
    cells = np.sort(generator.choice(1_250_000, n, replace=False))
    compare("lattice with 20 % holes", "space", np.stack([cells // 1118, cells % 1118], 1).astype(float), 8, space)
    compare("uniform 3-D", "space", generator.random((n, 3)), 8, space)
    other = np.random.default_rng(2)
    spots = other.random((200, 3)) * 1000
    compare("clusters 3-D", "space", spots[other.integers(0, 200, n)] + other.normal(size=(n, 3)) * 20, 8, space)
    gauss = generator.normal(size=(100_000, 20))
    compare("AR(1) rows, T = 50", "features", standard(ar1(generator, 100_000, 20, 50)), 10, (pynndescent, faiss_flat))
    kinds = generator.normal(size=(11_241, 62))
    compare("many copies", "features", standard(kinds[generator.integers(0, 11_241, 93_778)]), 10, (pynndescent,))
    compare("Gaussian 50-D", "features", standard(generator.normal(size=(50_000, 50))), 10, (faiss_flat,))
    compare("Gaussian 20-D", "features", standard(gauss), 10, (faiss_flat, hnswlib))
    if not CHOSEN or "10^7 points" in CHOSEN:
        many = generator.random((10_000_000, 2))
        compare("10^7 points", "space", many, 8, (nanoflann,))
        two_threads("space", 8, many.shape)


try:
    main()
finally:
    subprocess.run(["rm", "-rf", FOLDER], check=False)
