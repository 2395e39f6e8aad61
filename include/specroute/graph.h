/* Dependency graphs over the rows of a table. */
#ifndef SPECROUTE_GRAPH_H
#define SPECROUTE_GRAPH_H

#include <specroute/data.h>
#include <specroute/method.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What two neighbors of a graph have in common. */
typedef enum sr_graph_relation {
  SR_RELATION_GIVEN,    /* the user joined them */
  SR_RELATION_ORDER,    /* they follow each other */
  SR_RELATION_PLACE,    /* they are near in space or on a lattice */
  SR_RELATION_FEATURES, /* their features are alike */
  SR_RELATION_STEPS,    /* steps lead from one to the other; the nodes are not the rows */
  SR_RELATION_NONE      /* there are no edges: rows that do not depend on each other */
} sr_graph_relation;

/* Undirected, without self-loops, in compressed sparse rows. Read-only once made. */
typedef struct sr_graph sr_graph;

typedef struct sr_graph_view {
  int64_t nodes;
  int64_t arcs;            /* twice the number of edges */
  const int64_t *offset;   /* nodes + 1 */
  const int32_t *neighbor; /* arcs, increasing inside a row */
  const float *weight;     /* a weight > 0 for each arc, symmetric; NULL = all 1 */
  const char *builder;     /* name of the builder that made it, "" where it was given */
  sr_graph_relation relation;
  /* A pure window graph |i - j| <= window inside each run [run_offset[r], run_offset[r+1]) of
   * consecutive nodes, so that closed forms apply; window 0 elsewhere. */
  int32_t window;
  int64_t runs;
  const int64_t *run_offset;
  double recall; /* of approximate neighbors, measured on a sample; 1 = exact */
} sr_graph_view;

/* Builds the graph of a table's rows. `text` names a builder with its options,
 * NAME[:KEY=VALUE,...]: "time:tau=3", "space:8", "features:k=10,weights=rbf", "grid:8",
 * "edges:FILE", "transition", "none"; NULL: grid where the rows are cells of a lattice, space where
 * they have coordinates, else time. The seed is of approximate neighbors. *graph is freed with
 * sr_graph_free. Errors: SR_ERROR_NOT_FOUND (name or key), SR_ERROR_ARGUMENT (value), SR_ERROR_DATA
 * (the table lacks what the builder needs), SR_ERROR_IO and SR_ERROR_FORMAT (file of edges),
 * SR_ERROR_MEMORY. Cost: linear in rows and arcs; neighbors by features or in space n log n in few
 * dimensions, up to n^2 d where there are many. */
SR_API SR_MUST_CHECK sr_status sr_graph_build(sr_context *ctx, const sr_table *table,
                                              const char *text, uint64_t seed, sr_graph **graph);
/* Copies and checks offsets, neighbors and weights of a view (symmetric, sorted, no loops); the
 * window and run fields are ignored. Free with sr_graph_free. Errors: SR_ERROR_ARGUMENT (names the
 * node), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_graph_new(sr_context *ctx, const sr_graph_view *view,
                                            sr_graph **graph);
SR_API void sr_graph_free(sr_graph **graph);
/* Valid as long as the graph. */
SR_API const sr_graph_view *sr_graph_get(const sr_graph *graph);
/* Component of each node, numbered by their lowest node; `component` holds one entry per node,
 * *count becomes the number of components. Errors: SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_graph_components(sr_context *ctx, const sr_graph *graph,
                                                   int32_t *component, int64_t *count);

/* The registry: builders in a fixed order; NULL past the end. */
SR_API const sr_method *sr_graph_method(int index);

#ifdef __cplusplus
}
#endif
#endif
