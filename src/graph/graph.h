/* The graph object from inside: what builders fill and what other rooms may derive from it. */
#ifndef SR_GRAPH_GRAPH_H
#define SR_GRAPH_GRAPH_H

#include <specroute/graph.h>

#include "core/core.h"

/* `view` shows the arrays that the other pointers own. */
struct sr_graph {
  sr_graph_view view;
  int64_t *offset;
  int32_t *neighbor;
  float *weight;
  int64_t *run_offset;
  sr_allocator allocator;
};

/* ---- making a graph in two passes --------------------------------------------------------- */

/* A graph of `nodes` nodes with an offset array that is not filled yet. Builders store the degree
 * of node i in offset[i + 1], call sr__graph_sum_degrees, and fill the rows. */
SR_MUST_CHECK sr_status sr__graph_begin(sr_context *ctx, int64_t nodes, const char *builder,
                                        sr_graph **graph);
/* Turns degrees into offsets and allocates neighbors (and weights where asked for). */
SR_MUST_CHECK sr_status sr__graph_sum_degrees(sr_context *ctx, sr_graph *graph, bool weighted);
/* Shows the finished arrays in the view. */
void sr__graph_finish(sr_graph *graph);

/* Sorts the neighbors of a row, and their weights (may be NULL) with them. */
void sr__graph_sort_row(int32_t *neighbor, float *weight, int64_t count);

/* Rows of a graph are worked on in these pieces: chunk c of [0, n). */
enum { SR__GRAPH_GRAIN = 16384 };
typedef struct sr__span {
  int64_t begin, end;
} sr__span;
static inline sr__span sr__graph_chunk(int64_t n, int64_t chunk) {
  int64_t size = sr__chunk_size(n, SR__GRAPH_GRAIN);
  int64_t end = (chunk + 1) * size;
  return (sr__span){chunk * size, end < n ? end : n};
}
static inline int64_t sr__graph_chunks(int64_t n) { return sr__chunk_count(n, SR__GRAPH_GRAIN); }

/* ---- derived graphs ----------------------------------------------------------------------- */

/* The subgraph induced by `nodes` (distinct, in any order): node i of the result is nodes[i]. With
 * all nodes in another order it is the relabeled graph. The window fields are not kept. Takes
 * O(nodes of the graph + arcs of the chosen nodes). */
SR_MUST_CHECK sr_status sr__graph_extract(sr_context *ctx, const sr_graph *graph,
                                          const int32_t *nodes, int64_t count, sr_graph **sub);
/* The nodes of the component with most nodes (ties: the lowest number), increasing. */
SR_MUST_CHECK sr_status sr__graph_largest(sr_context *ctx, const sr_graph *graph, int32_t **nodes,
                                          int64_t *count);

/* The rows of each group in the order in which they came. Where every group is one stretch of rows,
 * *order is NULL and stretch r is [run[r], run[r + 1]); else *order holds the rows group by group
 * and group g has the places [run[g], run[g + 1]). `group` may be NULL: one run. Both are freed
 * with sr__free. */
SR_MUST_CHECK sr_status sr__group_runs(sr_context *ctx, const int32_t *group, int64_t rows,
                                       int64_t **run, int64_t *runs, int32_t **order);

/* The reversible transition graph of a coordinate. Its nodes are cells that hold equal shares of
 * the finite values; an arc weighs the number of steps from row i to the row `lag` later in its
 * group that go from one cell to the other, in either direction. A step that stays in a cell would
 * be a loop, which a graph here does not have: `stay` counts these apart, so that the steps of
 * node a are stay[a] plus its weights. Equal values share a cell, so there may be fewer nodes than
 * cells asked for; where there are no more values than cells, each has its own. `group` may be
 * NULL. */
typedef struct sr__transition_graph {
  sr_graph *graph;
  int32_t *cell; /* of each row; -1 where the coordinate is not finite */
  double *stay;  /* a node: twice the number of steps that stay (both directions) */
} sr__transition_graph;
SR_MUST_CHECK sr_status sr__transition_graph_count(sr_context *ctx, const double *coordinate,
                                                   int64_t rows, const int32_t *group,
                                                   int32_t cells, int64_t lag,
                                                   sr__transition_graph *transition);
void sr__transition_graph_free(sr_context *ctx, sr__transition_graph *transition);

/* ---- builders ----------------------------------------------------------------------------- */

typedef enum sr__graph_metric { SR__METRIC_COORDINATES, SR__METRIC_FEATURES } sr__graph_metric;
/* Gives the arcs the weights exp(-d^2 / (2 s^2)), s the median of the lengths above 0. */
SR_MUST_CHECK sr_status sr__graph_weigh(sr_context *ctx, const sr_table_view *table,
                                        sr__graph_metric metric, sr_graph *graph);

/* The choices of the option `weights` that builders have whose edges have lengths. */
typedef enum sr__graph_weights { SR__WEIGHTS_NONE, SR__WEIGHTS_RBF } sr__graph_weights;
#define SR__WEIGHTS_OPTION(type) \
  SR_CHOICE(type, weights, "none", "none|rbf", "rbf: near neighbors count more")

/* One builder. `build` gets the struct that about.options fills. */
typedef struct sr__graph_builder {
  sr_method about;
  sr_graph_relation relation;
  sr_status (*build)(sr_context *ctx, const sr_table_view *table, const void *options,
                     uint64_t seed, sr_graph **graph);
} sr__graph_builder;

/* The builder that a text names, checked with its options. Errors as sr_graph_build. */
SR_MUST_CHECK sr_status sr__graph_builder_of(sr_context *ctx, const char *text,
                                             const sr__graph_builder **builder);
/* The builder of a table where none is named. */
const char *sr__graph_default(const sr_table_view *table);

#endif
