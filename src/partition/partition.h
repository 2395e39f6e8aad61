/* Inside the partition room: the working graph, the shape of the hierarchy, packing, bisection and
 * refinement. */
#ifndef SR_PARTITION_PARTITION_H
#define SR_PARTITION_PARTITION_H

#include <specroute/partition.h>

#include "spectrum/spectrum.h"

/* A working graph: its nodes may stand for several rows. */
typedef struct sr__working_graph {
  sr__csr graph;
  int32_t *size; /* rows that a node stands for; NULL = 1 each */
  int64_t rows;  /* sum of sizes */
} sr__working_graph;

static inline double sr__arc_weight(const sr__working_graph *working, int64_t arc) {
  return working->graph.weight ? (double)working->graph.weight[arc] : 1.0;
}
static inline int64_t sr__node_size(const sr__working_graph *working, int64_t node) {
  return working->size ? working->size[node] : 1;
}
int64_t sr__largest_node(const sr__working_graph *working);
/* Weight of the edges between nodes of different labels. */
double sr__cut_weight(const sr__working_graph *working, const int32_t *label);

/* Frees what the working graph owns; not for one that shows the arrays of a graph. */
void sr__working_graph_free(sr_context *ctx, sr__working_graph *working);
/* The nodes of side 0 and of side 1, each in their order, as graphs of their own; local[i] gets the
 * number of node i in its graph. */
SR_MUST_CHECK sr_status sr__working_graph_split(sr_context *ctx, const sr__working_graph *working,
                                                const int32_t *side, int32_t *local,
                                                sr__working_graph half[2]);
/* Component of each node and rows of each component (freed by the caller). */
SR_MUST_CHECK sr_status sr__working_graph_components(sr_context *ctx,
                                                     const sr__working_graph *working,
                                                     int32_t *component, int64_t **rows,
                                                     int64_t *count);

/* Ever coarser graphs. Level 0 is the one they were made from, which is not owned. */
enum { SR_MAX_COARSE_LEVELS = 32 };
typedef struct sr__coarse_levels {
  int count;
  sr__working_graph working[SR_MAX_COARSE_LEVELS];
  int32_t *aggregate[SR_MAX_COARSE_LEVELS]; /* of level k: the node of level k + 1 */
} sr__coarse_levels;
/* Coarsens until at most `coarsest` nodes are left or coarsening stalls. */
SR_MUST_CHECK sr_status sr__coarse_levels_build(sr_context *ctx, const sr__working_graph *working,
                                                int64_t coarsest, sr__coarse_levels *levels);
void sr__coarse_levels_free(sr_context *ctx, sr__coarse_levels *levels);

/* ---- the object --------------------------------------------------------------------------- */

/* Takes `label` (one per node, made by `ctx`, values in [0, view.parts)) over, also where it fails,
 * and measures sizes, cut and balance. The view names nodes, parts and method. */
SR_MUST_CHECK sr_status sr__parts_adopt(sr_context *ctx, sr_parts_view view, int32_t *label,
                                        const sr_graph *graph, sr_parts **parts);
void sr__parts_set_seconds(sr_parts *parts, double spectrum, double bisection);
void sr__parts_set_components(sr_parts *parts, int64_t components);

/* ---- the hierarchy ------------------------------------------------------------------------ */

/* The tree is a function of the number of leaves alone: a node of P leaves has ceil(P/2) to its
 * left, and leaves are numbered from left to right, so that every node is a range of labels. */
static inline int32_t sr__left_leaves(int32_t leaves) { return leaves - leaves / 2; }
/* Rows that go left so that all leaves hold floor or ceil of rows / leaves. */
int64_t sr__left_rows(int64_t rows, int32_t leaves);

/* ---- packing ------------------------------------------------------------------------------ */

/* Whole blocks to the left or right side so that the left holds exactly `left` rows, with at most
 * one block split. Largest first, to the side with more room, ties by index and to the left. */
typedef struct sr__packing {
  int64_t split;      /* the block to split, -1 = none */
  int64_t split_left; /* rows of it that go left */
} sr__packing;
SR_MUST_CHECK sr_status sr__pack_whole(sr_context *ctx, int64_t blocks, const int64_t *size,
                                       int64_t left, uint8_t *side, sr__packing *packing);

/* Contiguous blocks of a pure window graph, whole runs packed first. */
SR_MUST_CHECK sr_status sr__window_labels(sr_context *ctx, const sr_graph_view *view, int32_t parts,
                                          int32_t *label);

/* ---- bisection ---------------------------------------------------------------------------- */

typedef struct sr__bisection {
  bool refine;
  bool exact;              /* end with exactly the rows that were asked for */
  double slack;            /* else: share of the rows that a side may be off */
  double seconds_spectrum; /* out: spent on eigenvectors */
} sr__bisection;

/* Puts `rows` rows on side 0, the rest on side 1: the straddling component is split at the weighted
 * median of its Fiedler vector. */
SR_MUST_CHECK sr_status sr__split_at_median(sr_context *ctx, const sr__working_graph *working,
                                            int64_t rows, sr__bisection *bisection, int32_t *side);
SR_MUST_CHECK sr_status sr__bisect(sr_context *ctx, const sr__working_graph *working, int64_t rows,
                                   sr__bisection *bisection, int32_t *side);

/* The whole tree: label (one entry a node) in [0, parts). Where a branch has fewer nodes than
 * leaves, which needs nodes of several rows, some labels stay unused. */
enum { SR_MAX_DEPTHS = 32 };
typedef struct sr__cut_options {
  bool refine, exact;
  double slack;
  const double *rival; /* what other labels cut, see sr__cut_by_depth; NULL = go on to the end */
  bool given_up;       /* out: behind the rival before the last depth; labels mean nothing */
  double seconds_spectrum; /* out */
} sr__cut_options;
SR_MUST_CHECK sr_status sr__bisect_tree(sr_context *ctx, const sr__working_graph *working,
                                        int32_t parts, sr__cut_options *options, int32_t *label);
/* Cut weight of labels of a tree when all that is joined at a depth or above counts as one part. */
void sr__cut_by_depth(const sr__working_graph *working, int32_t parts, const int32_t *label,
                      double cut[SR_MAX_DEPTHS]);
/* The tree of a coarse graph, improved on the way back. */
typedef struct sr__coarse_cut {
  bool exact;              /* parts hold the rows of the tree */
  double imbalance;        /* else: at most (1 + imbalance) times their fair share */
  double seconds_spectrum; /* out: spent on eigenvectors */
  /* out: false where the sizes were not reached, or where the graph is too small to be coarsened:
   * sr__bisect_tree always ends exact */
  bool balanced;
} sr__coarse_cut;
SR_MUST_CHECK sr_status sr__coarse_tree(sr_context *ctx, const sr__working_graph *working,
                                        int32_t parts, sr__coarse_cut *cut, int32_t *label);

/* Straight cuts of a box lattice of two or three axes without weights, sizes as in the tree; with
 * `planes` also of one of two axes where nodes have eight neighbors. *found is false for other
 * graphs. */
SR_MUST_CHECK sr_status sr__lattice_tree(sr_context *ctx, const sr__working_graph *working,
                                         int32_t parts, bool planes, int32_t *label, bool *found);

/* Orders entries so that the first ones, `rows` rows together (or the last state below that the
 * node sizes allow), have the smallest (value, node); gives how many there are. */
typedef struct sr__valued_node {
  double value;
  int32_t node;
} sr__valued_node;
int64_t sr__select_rows(const sr__working_graph *working, sr__valued_node *entry, int64_t count,
                        int64_t rows);

/* ---- refinement --------------------------------------------------------------------------- */

/* Limits of the search between two parts a and b: rows of a when it ends. */
typedef struct sr__pair_limits {
  int64_t lowest, highest; /* rows of a */
  int64_t largest_node;    /* how far a step may leave the limits before it must return */
  int64_t patience;        /* moves without a new best before a pass ends */
  int passes;
  bool oldest_first; /* among nodes of equal gain */
} sr__pair_limits;

/* One entry a node, shared by searches that run at once: pairs that have no part in common touch
 * no common entry. */
typedef struct sr__refiner {
  const sr__working_graph *working;
  int32_t *part;      /* labels, moved in place */
  double *gain;       /* what the cut loses when the node changes sides */
  int32_t *place;     /* where it stands in its heap, or a negative state */
  double mean_weight; /* of an arc */
} sr__refiner;

typedef struct sr__gain_heap {
  uint64_t *key;
  int32_t *node;
  int64_t count, capacity;
} sr__gain_heap;

/* Scratch of one search; a zeroed struct is ready. */
typedef struct sr__pair_scratch {
  sr__gain_heap heap[2];
  int32_t *touched, *moved, *seed;
  int64_t touched_count, touched_capacity;
  int64_t moved_count, moved_capacity;
  int64_t seed_count, seed_capacity;
  uint32_t clock;
} sr__pair_scratch;
void sr__pair_scratch_free(sr_context *ctx, sr__pair_scratch *scratch);

SR_MUST_CHECK sr_status sr__refiner_init(sr_context *ctx, const sr__working_graph *working,
                                         int32_t *part, sr__refiner *refiner);
void sr__refiner_free(sr_context *ctx, sr__refiner *refiner);

/* Two parts to search between. */
typedef struct sr__searched_pair {
  int32_t a, b;
  const int32_t *seed; /* nodes of a or b near their common border */
  int64_t seed_count;
  int64_t rows_a; /* in and out */
  double gained;  /* out: what the cut weight lost; below 0 only where the limits demanded moves */
} sr__searched_pair;

/* Fiduccia-Mattheyses between two parts, starting at the seeds. */
SR_MUST_CHECK sr_status sr__refine_pair(sr_context *ctx, const sr__refiner *refiner,
                                        sr__pair_scratch *scratch, const sr__pair_limits *limits,
                                        sr__searched_pair *pair);

/* All pairs of neighboring parts, in rounds of pairs that have no part in common. */
typedef struct sr__kway_options {
  int64_t highest; /* rows that a part may hold; 0 = every part keeps the size it has */
  int64_t lowest;  /* rows that it must hold where its neighbors can give them */
  int64_t patience;
  int rounds;
  int passes;
} sr__kway_options;
SR_MUST_CHECK sr_status sr__refine_kway(sr_context *ctx, const sr__working_graph *working,
                                        int32_t parts, int32_t *part,
                                        const sr__kway_options *options);
/* Moves rows between neighbors until part p holds target[p] of them; *reached says whether it
 * does. */
SR_MUST_CHECK sr_status sr__balance_rows(sr_context *ctx, const sr__working_graph *working,
                                         int32_t parts, const int64_t *target, int32_t *part,
                                         bool *reached);

#endif
