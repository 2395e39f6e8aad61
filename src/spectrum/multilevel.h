/* The multilevel solver from inside: levels in a sliced layout, the K-cycle, block LOBPCG. */
#ifndef SR_SPECTRUM_MULTILEVEL_H
#define SR_SPECTRUM_MULTILEVEL_H

#include "spectrum.h"

/* Rows of a slice: what the vector code works on at once. */
enum { SR__SLICE = 8 };

/* Nodes of one chunk: matching, relaxation and partial sums stay inside it, so nothing depends on
 * the thread count. A power of two. */
enum { SR__CHUNK_BITS = 13, SR__CHUNK = 1 << SR__CHUNK_BITS };
static inline int64_t sr__chunks_of(int64_t nodes) {
  return (nodes + SR__CHUNK - 1) >> SR__CHUNK_BITS;
}

/* A graph in slices of eight rows. A chunk's nodes are split into eight stretches; slice t holds
 * the t-th node of each, one a lane. The eight rows of a slice are thus far apart in the graph, so
 * relaxing them together is Gauss-Seidel in all but name, while the neighbors of a lane's nodes
 * along a path or a grid line still lie side by side. The place of a node is its slot; vectors are
 * indexed by slot and have one more slice of zeros at the end, which padding points to. */
typedef struct sr__level {
  int64_t nodes;
  int64_t chunks;
  int32_t slots;    /* a multiple of eight; up to seven of them hold no node */
  uint32_t *first;  /* slice: its first group of eight columns; slices + 1 entries */
  uint32_t *middle; /* slice: groups below point to earlier slices of the same chunk */
  int32_t *column;  /* eight a group: the slot of a neighbor, `slots` = padding; or NULL and */
  int16_t *step;    /* eight a group: how far it is from the own slot, 0 = padding */
  float *value;     /* eight a group: its weight, 0 = padding; NULL = all 1 */
  float *degree;    /* slot: weighted degree, 0 where it holds no node */
  float *mass;      /* slot: diagonal of D; NULL = the degree */
  int32_t *coarse;  /* slot: its aggregate's slot in the next level; NULL on the last */
  /* Vectors of the cycle. y and z are one block, z at y + stride. */
  int32_t stride;
  float *b, *y, *z, *p, *q;
  double *partial; /* sums of each chunk */
} sr__level;

/* Nodes of the last level at most. */
enum { SR__LEVELS = 40, SR__SUMS = 128, SR__DENSE_MAX = 1024 };

typedef struct sr__hierarchy {
  int count;
  sr__level level[SR__LEVELS];
  double volume;   /* sum of masses */
  int32_t dense;   /* nodes of the last level */
  float *solve;    /* dense x dense: inverse of its Laplacian, made regular on constants */
  double *vectors; /* dense x wanted: its lowest non-trivial eigenvectors, one after another */
  double *values;
  int32_t wanted;
  double kept_arcs; /* arcs of the first coarse graph / arcs of the graph */
} sr__hierarchy;

/* The slot of a node and back; -1 where a slot holds no node. */
static inline int32_t sr__stretch(int64_t nodes, int64_t chunk) {
  int64_t left = nodes - (chunk << SR__CHUNK_BITS);
  return left >= SR__CHUNK ? SR__CHUNK / SR__SLICE : (int32_t)((left + SR__SLICE - 1) / SR__SLICE);
}
static inline int32_t sr__slot_of(int64_t nodes, int32_t node) {
  int32_t base = node & ~(SR__CHUNK - 1), local = node - base;
  const int32_t whole = SR__CHUNK / SR__SLICE; /* full chunks: no division */
  if ((int64_t)base + SR__CHUNK <= nodes) return base + local % whole * SR__SLICE + local / whole;
  int32_t stretch = sr__stretch(nodes, node >> SR__CHUNK_BITS);
  return base + local % stretch * SR__SLICE + local / stretch;
}
static inline int32_t sr__node_at(int64_t nodes, int32_t slot) {
  int32_t base = slot & ~(SR__CHUNK - 1), local = slot - base;
  int32_t stretch = sr__stretch(nodes, slot >> SR__CHUNK_BITS);
  int64_t node = base + (int64_t)(local % SR__SLICE) * stretch + local / SR__SLICE;
  return node < nodes ? (int32_t)node : -1;
}
static inline const float *sr__level_mass(const sr__level *level) {
  return level->mass ? level->mass : level->degree;
}
/* Slots of one chunk. */
static inline int32_t sr__chunk_begin(int64_t chunk) { return (int32_t)(chunk << SR__CHUNK_BITS); }
static inline int32_t sr__chunk_end(const sr__level *level, int64_t chunk) {
  int64_t end = (chunk + 1) << SR__CHUNK_BITS;
  return (int32_t)(end < level->slots ? end : level->slots);
}

SR_MUST_CHECK sr_status sr__level_add_vectors(sr_context *ctx, sr__level *level, bool inner);
void sr__level_free(sr_context *ctx, sr__level *level);

/* Coarsens until the graph is small and lays every level out. Where coarsening stalls, or the
 * first coarse graph keeps more than `arc_limit` of the arcs, *stalled is set and the hierarchy is
 * of no use: another solver should be taken. `wanted` eigenvectors of the last level are kept. */
SR_MUST_CHECK sr_status sr__hierarchy_build(sr_context *ctx, const sr__csr *graph, int32_t wanted,
                                            double arc_limit, sr__hierarchy *hierarchy,
                                            bool *stalled);
void sr__hierarchy_free(sr_context *ctx, sr__hierarchy *hierarchy);

/* What the kernels of the cycle get. */
typedef struct sr__pass {
  const sr__level *level;
  const sr__level *next;
  const float *in;
  float factor[2];
} sr__pass;
/* Runs a kernel over the chunks of a level; small levels stay on the calling thread. `sums` gets
 * the chunks' partial sums added in order, `count` of them. `pass` is handed to the kernel. */
SR_MUST_CHECK sr_status sr__run(sr_context *ctx, const sr__level *level, sr__item_fn kernel,
                                void *pass, double *sums, int count);

/* z of level k := approximately the solution of L z = b by one K-cycle. */
SR_MUST_CHECK sr_status sr__cycle(sr_context *ctx, sr__hierarchy *hierarchy, int k, const float *b);

/* Block LOBPCG on one level. */
enum { SR__BLOCK_MAX = 17 };
typedef struct sr__block {
  int size;        /* vectors carried */
  int wanted;      /* vectors that must converge */
  bool guard;      /* one more vector is carried at least */
  bool lifted;     /* x comes from the next coarser level */
  bool may_freeze; /* the others, once they are clearly apart */
  int64_t stride;  /* entries of each vector: slots + 8 at least */
  double *x[SR__BLOCK_MAX];
  float *p[SR__BLOCK_MAX]; /* those of guards come when they are needed */
  float *z[SR__BLOCK_MAX]; /* all but the last: that one is the cycle's */
  float *r;
  double value[SR__BLOCK_MAX];
  double error[SR__BLOCK_MAX]; /* estimate of the relative error of the value */
  int64_t iterations;
  bool converged;
} sr__block;
SR_MUST_CHECK sr_status sr__lobpcg(sr_context *ctx, sr__hierarchy *hierarchy, int k,
                                   sr__block *block, double tolerance, int64_t max_iterations);

/* Lowest pairs of a connected graph by the multilevel solver. x[p] (nodes entries) and value[p] get
 * the pairs; with a guard one more of both is written (x may be NULL there), as exact as it got
 * before it was frozen.
 * A graph that does not coarsen, or whose first coarse graph keeps more than `arc_limit` of the
 * arcs, is handed to Lanczos. */
#define SR__EXPANDER_ARCS 0.6 /* more arcs kept than this: Lanczos is faster */
typedef struct sr__multilevel_options {
  int32_t pairs;
  bool guard;
  double tolerance;
  int64_t max_iterations; /* 0 = 200 */
  double arc_limit;
  const double *start;
  /* Called once all but the result is freed, to make room for it: to set x. NULL = x is set. */
  sr_status (*make_room)(sr_context *ctx, void *data);
  void *data;
} sr__multilevel_options;
typedef struct sr__multilevel_result {
  double error;
  int64_t iterations;
  int levels; /* 0 = it was Lanczos */
  bool converged;
} sr__multilevel_result;
SR_MUST_CHECK sr_status sr__multilevel_pairs(sr_context *ctx, const sr__csr *graph,
                                             const sr__multilevel_options *options,
                                             double *const *x, double *value,
                                             sr__multilevel_result *result);

/* Lowest `wanted` non-trivial eigenpairs of a small graph by LAPACK, x' D x = 1; vectors one after
 * another, nodes entries each. */
SR_MUST_CHECK sr_status sr__dense_pairs(sr_context *ctx, const sr__csr *graph, int32_t wanted,
                                        double *values, double *vectors);
/* Largest `wanted` pairs of B c = theta A c, A positive definite (both size x size, destroyed);
 * column w of `vectors` has c' A c = 1. False where A is not positive definite. */
bool sr__small_pencil(int size, double *b, double *a, int wanted, double *theta, double *vectors);

#endif
