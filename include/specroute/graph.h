/* Dependency graphs over the rows of a table. */
#ifndef SPECROUTE_GRAPH_H
#define SPECROUTE_GRAPH_H

#include <specroute/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Undirected, without self-loops, in compressed sparse rows. Read-only once made. */
typedef struct sr_graph sr_graph;

typedef struct sr_graph_view {
  int64_t nodes;
  int64_t arcs;            /* twice the number of edges */
  const int64_t *offset;   /* nodes + 1 */
  const int32_t *neighbor; /* arcs, increasing inside a row */
  const float *weight;     /* a weight > 0 for each arc, symmetric; NULL = all 1 */
  const char *builder;     /* name of the builder that made it, "" where it was given */
  /* A pure window graph |i - j| <= window inside each run [run_offset[r], run_offset[r+1]) of
   * consecutive nodes, so that closed forms apply; window 0 elsewhere. */
  int32_t window;
  int64_t runs;
  const int64_t *run_offset;
  double recall; /* of approximate neighbours, measured on a sample; 1 = exact */
} sr_graph_view;

typedef enum sr_graph_weights { SR_WEIGHTS_NONE, SR_WEIGHTS_RBF } sr_graph_weights;

typedef struct sr_graph_options {
  const char *builder; /* time, space, features, grid, edges, transition */
  int32_t k;           /* neighbours (space: 8, features: 10), grid: 4 or 8; 0 = default */
  int32_t tau;         /* time window; 0 = 1 */
  sr_graph_weights weights;
  const char *edges_path; /* edges: a file of "i j [w]" lines, 0-based */
  int exact;              /* 1: never approximate neighbours */
  uint64_t seed;
} sr_graph_options;

SR_API void sr_graph_options_init(sr_graph_options *options);
/* Parses "time:5", "space", "features:10", "grid:8", "edges:FILE" into `options`; strings are
 * referred to, not copied. */
SR_API SR_MUST_CHECK sr_status sr_graph_options_parse(sr_context *ctx, const char *text,
                                                      sr_graph_options *options);
SR_API SR_MUST_CHECK sr_status sr_graph_build(sr_context *ctx, const sr_table *table,
                                              const sr_graph_options *options, sr_graph **graph);
/* Copies and checks offsets, neighbours and weights (symmetric, sorted, no loops); the window and
 * run fields are ignored. */
SR_API SR_MUST_CHECK sr_status sr_graph_new(sr_context *ctx, const sr_graph_view *view,
                                            sr_graph **graph);
SR_API void sr_graph_free(sr_graph **graph);
SR_API const sr_graph_view *sr_graph_get(const sr_graph *graph);
/* Component of each node, numbered by their lowest node; `component` holds one entry a node. */
SR_API SR_MUST_CHECK sr_status sr_graph_components(sr_context *ctx, const sr_graph *graph,
                                                   int32_t *component, int64_t *count);

/* The registry: builders in a fixed order; NULL past the end. */
typedef struct sr_method_info {
  const char *name;
  const char *help;
} sr_method_info;
SR_API const sr_method_info *sr_graph_builder(int index);

#ifdef __cplusplus
}
#endif
#endif
