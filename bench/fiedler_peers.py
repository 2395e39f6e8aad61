"""Python peers of bench_fiedler:  fiedler_peers.py PEER GRAPH  prints processor seconds and lambda_2.

GRAPH is what bench_fiedler writes: nodes, arcs (int64), offsets (int64), neighbors (int32).
lambda_2 is the Rayleigh quotient of the vector that came back, from edge differences."""
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

warnings.filterwarnings("ignore")


def load(path):
    with open(path, "rb") as file:
        nodes, arcs = np.fromfile(file, np.int64, 2)
        offset = np.fromfile(file, np.int64, nodes + 1)
        neighbor = np.fromfile(file, np.int32, arcs)
    return sp.csr_matrix((np.ones(arcs), neighbor, offset), shape=(nodes, nodes))


def eigsh(a, laplacian, top, rng):
    values, vectors = sla.eigsh(a, k=2, which="LA", tol=1e-6, v0=rng, maxiter=10**7)
    return vectors[:, np.argsort(-values)[1]]


def eigsh_shift(a, laplacian, top, rng):
    values, vectors = sla.eigsh(laplacian.tocsc(), k=2, sigma=-1e-6, which="LM", v0=rng)
    return vectors[:, np.argsort(values)[1]]


def lobpcg(a, laplacian, top, rng):
    import pyamg

    matrix = laplacian.tocsr()
    shifted = (matrix + 1e-6 * sp.identity(matrix.shape[0])).tocsr()
    preconditioner = pyamg.smoothed_aggregation_solver(shifted).aspreconditioner()
    start = np.column_stack([rng, np.random.default_rng(1).standard_normal((len(rng), 2))])
    values, vectors = sla.lobpcg(matrix, start, M=preconditioner, Y=top[:, None], largest=False,
                                 tol=1e-6, maxiter=500)
    return vectors[:, np.argmin(values)]


def sklearn_embedding(a, laplacian, top, rng, weights=None):
    from sklearn.manifold import spectral_embedding

    embedding = spectral_embedding(weights, n_components=1, eigen_solver="amg", random_state=0,
                                   drop_first=True)
    return embedding[:, 0] * top


def main():
    peer, path = sys.argv[1:3]
    weights = load(path)
    degree = np.asarray(weights.sum(1)).ravel()
    scale = sp.diags(degree**-0.5)
    a = (scale @ weights @ scale).tocsr()
    laplacian = sp.identity(len(degree)) - a
    top = np.sqrt(degree / degree.sum())
    rng = np.random.default_rng(0).standard_normal(len(degree))
    run = {"eigsh": eigsh, "eigsh-shift": eigsh_shift, "lobpcg": lobpcg, "sklearn": sklearn_embedding}[peer]
    if peer == "lobpcg" or peer == "sklearn":
        import pyamg  # noqa: F401  (import time is not the solver's)
    if peer == "sklearn":
        import sklearn.manifold  # noqa: F401
    start = time.process_time()
    v = run(a, laplacian, top, rng, weights) if peer == "sklearn" else run(a, laplacian, top, rng)
    taken = time.process_time() - start
    v = v - top * (top @ v)
    x = v / np.linalg.norm(v) / np.sqrt(degree)
    rows = np.repeat(np.arange(len(degree)), np.diff(weights.indptr))
    value = 0.5 * ((x[rows] - x[weights.indices]) ** 2).sum() / (degree @ (x * x))
    print(taken, value)


main()
