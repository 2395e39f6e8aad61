/* Parts: a binary hierarchy of balanced, connected-as-possible pieces of a dependency graph. */
#ifndef SPECROUTE_PARTITION_H
#define SPECROUTE_PARTITION_H

#include <specroute/spectrum.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_parts sr_parts;

typedef struct sr_parts_view {
  int64_t nodes;
  int32_t parts;
  const int32_t *part; /* part of each node, in [0, parts); every part is non-empty */
  const int64_t *size; /* nodes in each part */
  int64_t cut_edges;   /* edges between different parts */
  double cut_weight;
  double balance; /* largest part / (nodes / parts) */
  int64_t components;
  double seconds_spectrum, seconds_bisection;
  const char *method; /* window, exact, fast, or given */
} sr_parts_view;

typedef enum sr_parts_mode {
  SR_PARTS_EXACT, /* recursive Fiedler bisection at the median: sizes differ by at most one */
  SR_PARTS_FAST   /* multilevel: bisect a coarse graph, project, refine */
} sr_parts_mode;

/* Parts of a pure window graph are contiguous blocks in both modes: the bisection in closed form.
 */
typedef struct sr_parts_options {
  int64_t parts; /* 0 = min(nodes, 64) */
  sr_parts_mode mode;
  int pure;         /* 0: every cut is improved by moving nodes across it, sizes kept; 1: the
                     * median of the Fiedler vector as it is. Fast always improves. */
  double imbalance; /* fast: a part may hold (1 + imbalance) nodes / parts: 0.03 */
} sr_parts_options;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_parts_option_list(void);
SR_API void sr_parts_options_init(sr_parts_options *options);
/* Exactly `parts` non-empty parts, the same at any thread count. Components are handled at every
 * cut: whole components go to one side, at most one of them is split. Memory and, at a given number
 * of parts, time are linear in nodes and arcs. Free with sr_parts_free. Errors: SR_ERROR_DATA (no
 * nodes), SR_ERROR_ARGUMENT, SR_ERROR_INTERRUPTED, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_parts_compute(sr_context *ctx, const sr_graph *graph,
                                                const sr_parts_options *options, sr_parts **parts);
SR_API void sr_parts_free(sr_parts **parts);
/* Valid as long as the parts. */
SR_API const sr_parts_view *sr_parts_get(const sr_parts *parts);
/* Labels of the coarser cut into `count` <= parts pieces from the same hierarchy: starting from the
 * whole, the largest piece (ties: the one with the lowest label) is split until there are `count`.
 * Labels are numbered so that every piece of the hierarchy is a range of parts. `label` holds one
 * entry per node. Errors: SR_ERROR_ARGUMENT (no such count), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_parts_coarsen(sr_context *ctx, const sr_parts *parts,
                                                int32_t count, int32_t *label);
/* Parts that the user brings: a label per node in [0, parts), none empty; `graph` (may be NULL) for
 * the cut. Their hierarchy joins neighboring labels. Labels are copied. Free with sr_parts_free.
 * Errors: SR_ERROR_ARGUMENT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_parts_new(sr_context *ctx, int64_t nodes, const int32_t *label,
                                            const sr_graph *graph, sr_parts **parts);

#ifdef __cplusplus
}
#endif
#endif
