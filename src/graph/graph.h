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
/* Turns degrees into offsets and allocates neighbours (and weights where asked for). */
SR_MUST_CHECK sr_status sr__graph_sum_degrees(sr_context *ctx, sr_graph *graph, bool weighted);
/* Shows the finished arrays in the view. */
void sr__graph_finish(sr_graph *graph);

/* Sorts the neighbours of a row, and their weights (may be NULL) with them. */
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
static inline int64_t sr__graph_chunks(int64_t n) {
  return sr__chunk_count(n, SR__GRAPH_GRAIN);
}

/* ---- derived graphs ----------------------------------------------------------------------- */

/* The subgraph induced by `nodes` (distinct, in any order): node i of the result is nodes[i]. With
 * all nodes in another order it is the relabelled graph. The window fields are not kept. Takes
 * O(nodes of the graph + arcs of the chosen nodes). */
SR_MUST_CHECK sr_status sr__graph_extract(sr_context *ctx, const sr_graph *graph,
                                          const int32_t *nodes, int64_t count, sr_graph **sub);
/* The nodes of the component with most nodes (ties: the lowest number), increasing. */
SR_MUST_CHECK sr_status sr__graph_largest(sr_context *ctx, const sr_graph *graph, int32_t **nodes,
                                          int64_t *count);

/* The reversible transition graph of a coordinate: cells that hold equal shares of the values, an
 * arc between two cells weighted by the number of steps i -> i + lag (inside a group) that go from
 * one to the other in either direction. Steps that stay in a cell are loops, which a graph here
 * does not have: `stay` (may be NULL) gets their number a cell, `cells_used` entries. `group` may
 * be NULL. Cells no value falls into (ties) are left out, so the graph may have fewer nodes. */
typedef struct sr__transition {
  sr_graph *graph;
  int32_t *cell; /* of each row; -1 where the coordinate is not finite */
  double *stay;  /* one entry a node: twice the number of steps that stay, so that the row sum of
                  * arcs plus stay counts both directions */
} sr__transition;
SR_MUST_CHECK sr_status sr__graph_transition(sr_context *ctx, const double *coordinate,
                                             int64_t rows, const int32_t *group, int32_t cells,
                                             int64_t lag, sr__transition *transition);
void sr__transition_free(sr_context *ctx, sr__transition *transition);

/* ---- builders ----------------------------------------------------------------------------- */

typedef struct sr__graph_builder {
  sr_method_info info;
  bool takes_rbf; /* can weigh arcs by distance */
  sr_status (*build)(sr_context *ctx, const sr_table_view *table, const sr_graph_options *options,
                     sr_graph **graph);
} sr__graph_builder;

extern const sr__graph_builder sr__builder_time;
extern const sr__graph_builder sr__builder_space;
extern const sr__graph_builder sr__builder_features;
extern const sr__graph_builder sr__builder_grid;
extern const sr__graph_builder sr__builder_edges;
extern const sr__graph_builder sr__builder_transition;

#endif
