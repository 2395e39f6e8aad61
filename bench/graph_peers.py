#!/usr/bin/env python3
"""Graph builders beside their peers on the same points, in one run.

    graph_peers.py BENCH_GRAPH [quick]

Peers find neighbors and join them into a symmetric sparse matrix, as the builders do; peer_search_seconds is their
search alone. Everything runs on one thread unless a line says otherwise; ratios are of processor time, because the
machine may be shared. Lines without a peer show our own scaling."""
import json, os, subprocess, sys, tempfile, time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import scipy.sparse as sparse
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

BENCH, QUICK = sys.argv[1], "quick" in sys.argv[2:]


def ours(builder, k, threads, points, rows=0):
    with tempfile.NamedTemporaryFile(suffix=".bin", dir="/dev/shm") as file:
        size = rows if points is None else points.size * (1 if builder == "space" else 20)
        arguments = [BENCH, builder, str(k), str(threads), "1" if size > 15_000_000 else "3"]
        if points is None:
            arguments += [str(rows), "0"]
        else:
            kind = np.float64 if builder == "space" else np.float32
            points.T.astype(kind).tofile(file.name)  # column-major
            arguments += [str(points.shape[0]), str(points.shape[1]), file.name]
        return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def union(index, rows, k):
    matrix = sparse.csr_matrix((np.ones(rows * k, np.int8), index.ravel(), np.arange(0, rows * k + 1, k)), (rows, rows))
    return matrix.maximum(matrix.T)


def without_self(index):
    """k + 1 found neighbors to k: drops the point itself, or the last where repeats hide it."""
    own = index == np.arange(len(index))[:, None]
    own[~own.any(1), -1] = True
    return index[~own].reshape(len(index), -1)


def recall(index, points, k, sample=200):
    rows = np.random.default_rng(5).choice(len(points), sample, replace=False)
    d = ((points[rows, None, :].astype(np.float64) - 0) ** 2).sum(2) + (points.astype(np.float64) ** 2).sum(1) - 2 * points[rows].astype(np.float64) @ points.T.astype(np.float64)
    d[np.arange(sample), rows] = np.inf
    truth = np.argpartition(d, k, axis=1)[:, :k]
    return np.mean([len(set(a) & set(b)) / k for a, b in zip(truth, index[rows])])


def peer(line, name, find, points, k):
    wall, start = time.perf_counter(), time.process_time()
    index = find()
    searched = time.process_time()
    index = without_self(index) if index.shape[1] > k else index
    arcs = union(index, len(points), k).nnz
    total = time.process_time() - start
    shown = dict(line, peer=name, peer_seconds=round(time.perf_counter() - wall, 4), peer_cpu_seconds=round(total, 4),
                 peer_search_cpu_seconds=round(searched - start, 4), peer_arcs=int(arcs),
                 ratio=round(total / line["us_cpu_seconds"], 2),
                 search_ratio=round((searched - start) / line["us_cpu_seconds"], 2))
    if points.shape[1] > 8:
        shown["peer_recall"] = round(float(recall(index, points, k)), 4)
    print(json.dumps(shown), flush=True)


def space(rows, k, peers):
    points = np.random.default_rng(1).random((rows, 2))
    one = ours("space", k, 1, points)
    if peers:
        peer(one, "scipy cKDTree", lambda: cKDTree(points).query(points, k + 1, workers=1)[1], points, k)
        peer(one, "scikit-learn kd_tree", lambda: NearestNeighbors(n_neighbors=k, algorithm="kd_tree", n_jobs=1).fit(points).kneighbors(return_distance=False), points, k)
    else:
        print(json.dumps(one), flush=True)
    scaling(one, ours("space", k, 2, points))


def scaling(one, two):
    print(json.dumps(dict(two, one_thread_seconds=one["us_seconds"], speedup=round(one["us_seconds"] / two["us_seconds"], 2))), flush=True)


def clusters(rows, d):
    generator = np.random.default_rng(2)
    centers = generator.normal(size=(10, d)) * 3
    return (centers[np.arange(rows) % 10] + generator.normal(size=(rows, d))).astype(np.float32)


def features(rows, d, k, kinds):
    points = clusters(rows, d)
    points = (points - points.mean(0)) / points.std(0)
    one = ours("features", k, 1, points)
    finders = {}
    if "tree" in kinds:
        finders["scipy cKDTree"] = lambda: cKDTree(points).query(points, k + 1, workers=1)[1]
    if "brute" in kinds:
        finders["scikit-learn brute"] = lambda: NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=1).fit(points).kneighbors(return_distance=False)
    if "faiss" in kinds:
        import faiss
        faiss.omp_set_num_threads(1)

        def flat():
            index = faiss.IndexFlatL2(d)
            index.add(points)
            return index.search(points, k + 1)[1]
        finders["faiss flat"] = flat
    if "hnsw" in kinds:
        import hnswlib

        def hnsw():
            index = hnswlib.Index("l2", d)
            index.init_index(rows, M=16, ef_construction=100)
            index.add_items(points, num_threads=1)
            index.set_ef(60)
            return index.knn_query(points, k + 1, num_threads=1)[0].astype(np.int64)
        finders["hnswlib"] = hnsw
    for name, find in finders.items():
        peer(one, name, find, points, k)
    scaling(one, ours("features", k, 2, points))


def main():
    for builder, k in (("time", 1), ("time", 5), ("grid", 4), ("grid", 8)):
        rows = 1_000_000 if QUICK else 10_000_000
        one = ours(builder, k, 1, None, rows)
        print(json.dumps(one), flush=True)
        scaling(one, ours(builder, k, 2, None, rows))
    sizes = (10_000, 100_000) if QUICK else (10_000, 100_000, 1_000_000)
    for rows in sizes:
        space(rows, 8, True)
    for rows in sizes:
        features(rows, 5, 10, ("tree",))
    for rows in (5_000, 20_000) if QUICK else (5_000, 20_000, 50_000):
        features(rows, 20, 10, ("brute", "faiss", "hnsw"))
    if not QUICK:
        features(100_000, 20, 10, ("hnsw",))
        space(10_000_000, 8, False)


main()
