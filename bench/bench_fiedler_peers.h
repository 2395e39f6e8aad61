/* Peers of bench_fiedler that are C libraries: the Fiedler pair of an unweighted connected graph.
 */
#ifndef SR_BENCH_FIEDLER_PEERS_H
#define SR_BENCH_FIEDLER_PEERS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/random.h"
#ifdef SR_HAVE_CHOLMOD
#include <suitesparse/cholmod.h>
#endif
#ifdef SR_HAVE_SLEPC
#include <slepceps.h>
#endif

typedef struct fiedler_outcome {
  double seconds; /* < 0: not in this build, or failed */
  double value;
} fiedler_outcome;

/* Processor time of this process: on one thread the same as the time on the wall of an idle
 * machine, and still right on a busy one. */
static inline double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double peer_degree(const sr_graph_view *g, int64_t i) {
  return (double)(g->offset[i + 1] - g->offset[i]);
}

static inline double peer_rayleigh(const sr_graph_view *g, const double *x) {
  double energy = 0, norm = 0, mean = 0;
  for (int64_t i = 0; i < g->nodes; i++) mean += peer_degree(g, i) * x[i] / (double)g->arcs;
  for (int64_t i = 0; i < g->nodes; i++) {
    for (int64_t a = g->offset[i]; a < g->offset[i + 1]; a++) {
      double d = x[i] - x[g->neighbor[a]];
      energy += 0.5 * d * d;
    }
    norm += peer_degree(g, i) * (x[i] - mean) * (x[i] - mean);
  }
  return energy / norm;
}

#ifdef SR_HAVE_CHOLMOD
/* The Laplacian without its last node, lower triangle. */
static inline cholmod_sparse *peer_grounded(const sr_graph_view *g, cholmod_common *c) {
  int64_t n = g->nodes - 1, filled = 0;
  cholmod_sparse *a = cholmod_l_allocate_sparse((size_t)n, (size_t)n, (size_t)(n + g->arcs / 2), 1,
                                                1, -1, CHOLMOD_REAL, c);
  int64_t *start = a->p, *row = a->i;
  double *value = a->x;
  for (int64_t i = 0; i < n; i++) {
    start[i] = filled;
    row[filled] = i;
    value[filled++] = peer_degree(g, i);
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
      if (g->neighbor[e] <= i || g->neighbor[e] >= n) continue;
      row[filled] = g->neighbor[e];
      value[filled++] = -1;
    }
  }
  start[n] = filled;
  return a;
}

/* x := x minus its D-mean; gives the D-norm. */
static inline double peer_center(const sr_graph_view *g, double *x) {
  double mean = 0, norm = 0;
  for (int64_t i = 0; i < g->nodes; i++) mean += peer_degree(g, i) * x[i] / (double)g->arcs;
  for (int64_t i = 0; i < g->nodes; i++) {
    x[i] -= mean;
    norm += peer_degree(g, i) * x[i] * x[i];
  }
  return sqrt(norm);
}

/* Lanczos on the inverse in the D-inner product, fully orthogonalized: 12 solves give lambda_2 far
 * below 1e-6 on these graphs. The Ritz vector is that of the tridiagonal matrix's top value, found
 * by power steps on the small matrix. */
enum { PEER_SOLVES = 12 };

static inline void fiedler_cholmod(const sr_graph_view *g, fiedler_outcome *out) {
  cholmod_common c;
  int64_t n = g->nodes;
  double *q[PEER_SOLVES + 1], t[PEER_SOLVES][PEER_SOLVES] = {{0}}, s[PEER_SOLVES];
  cholmod_l_start(&c);
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 0);
  for (int k = 0; k <= PEER_SOLVES; k++) q[k] = malloc((size_t)n * sizeof(double));
  for (int64_t i = 0; i < n; i++) q[0][i] = sr__random_normal(&random);
  double start = cpu_seconds();
  cholmod_sparse *a = peer_grounded(g, &c);
  cholmod_factor *f = cholmod_l_analyze(a, &c);
  cholmod_l_factorize(a, f, &c);
  if (c.status < 0) return;
  cholmod_dense *b = cholmod_l_zeros((size_t)n - 1, 1, CHOLMOD_REAL, &c);
  double norm = peer_center(g, q[0]);
  for (int64_t i = 0; i < n; i++) q[0][i] /= norm;
  for (int k = 0; k < PEER_SOLVES; k++) {
    for (int64_t i = 0; i < n - 1; i++) ((double *)b->x)[i] = peer_degree(g, i) * q[k][i];
    cholmod_dense *x = cholmod_l_solve(CHOLMOD_A, f, b, &c);
    memcpy(q[k + 1], x->x, (size_t)(n - 1) * sizeof(double));
    q[k + 1][n - 1] = 0;
    cholmod_l_free_dense(&x, &c);
    peer_center(g, q[k + 1]);
    for (int j = k; j >= 0; j--) {
      double dot = 0;
      for (int64_t i = 0; i < n; i++) dot += peer_degree(g, i) * q[k + 1][i] * q[j][i];
      for (int64_t i = 0; i < n; i++) q[k + 1][i] -= dot * q[j][i];
      t[j][k] = t[k][j] = dot;
    }
    norm = peer_center(g, q[k + 1]);
    for (int64_t i = 0; i < n; i++) q[k + 1][i] /= norm;
  }
  for (int k = 0; k < PEER_SOLVES; k++) s[k] = 1;
  for (int round = 0; round < 20000; round++) {
    double next[PEER_SOLVES] = {0}, length = 0;
    for (int i = 0; i < PEER_SOLVES; i++) {
      for (int j = 0; j < PEER_SOLVES; j++) next[i] += t[i][j] * s[j];
      length += next[i] * next[i];
    }
    for (int i = 0; i < PEER_SOLVES; i++) s[i] = next[i] / sqrt(length);
  }
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < PEER_SOLVES; k++) sum += s[k] * q[k][i];
    q[PEER_SOLVES][i] = sum;
  }
  out->seconds = cpu_seconds() - start;
  out->value = peer_rayleigh(g, q[PEER_SOLVES]);
}
#else
static inline void fiedler_cholmod(const sr_graph_view *g, fiedler_outcome *out) {
  (void)g, (void)out;
}
#endif

#ifdef SR_HAVE_SLEPC
/* LOBPCG preconditioned by algebraic multigrid, PETSc's "gamg" or "hypre" (BoomerAMG); the matrix
 * is made outside the clock. */
static inline void fiedler_slepc(const sr_graph_view *g, const char *multigrid,
                                 fiedler_outcome *out) {
  Mat a;
  EPS eps;
  Vec top, x;
  PetscInt n = (PetscInt)g->nodes, found = 0, *counts = malloc((size_t)n * sizeof *counts);
  PetscScalar *entry;
  if (SlepcInitializeNoArguments()) return;
  PetscOptionsInsertString(NULL, "-eps_type lobpcg -st_type precond");
  PetscOptionsSetValue(NULL, "-st_pc_type", multigrid);
  for (PetscInt i = 0; i < n; i++) counts[i] = (PetscInt)peer_degree(g, i) + 1;
  MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, counts, &a);
  for (PetscInt i = 0; i < n; i++) {
    MatSetValue(a, i, i, 1, INSERT_VALUES);
    for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
      MatSetValue(a, i, g->neighbor[e],
                  -1 / sqrt(peer_degree(g, i) * peer_degree(g, g->neighbor[e])), INSERT_VALUES);
  }
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE);
  MatCreateVecs(a, &top, &x);
  VecGetArray(top, &entry);
  for (PetscInt i = 0; i < n; i++) entry[i] = sqrt(peer_degree(g, i) / (double)g->arcs);
  VecRestoreArray(top, &entry);
  double start = cpu_seconds();
  EPSCreate(PETSC_COMM_SELF, &eps);
  EPSSetOperators(eps, a, NULL);
  EPSSetProblemType(eps, EPS_HEP);
  EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL);
  EPSSetDimensions(eps, 1, PETSC_DEFAULT, PETSC_DEFAULT);
  EPSSetDeflationSpace(eps, 1, &top);
  /* A residual of lambda / 100 already gives lambda to about 1e-6 here. */
  EPSSetTolerances(eps, 1e-2, 100000);
  EPSSetConvergenceTest(eps, EPS_CONV_REL);
  EPSSetFromOptions(eps);
  EPSSolve(eps);
  double taken = cpu_seconds() - start;
  EPSGetConverged(eps, &found);
  if (found < 1) return;
  EPSGetEigenpair(eps, 0, &out->value, NULL, x, NULL);
  out->seconds = taken;
}
#else
static inline void fiedler_slepc(const sr_graph_view *g, const char *multigrid,
                                 fiedler_outcome *out) {
  (void)g, (void)multigrid, (void)out;
}
#endif

#endif
