/* The graph without edges: rows that do not depend on each other. */
#include "graph.h"

static sr_status build_none(sr_context *ctx, const sr_table_view *table, const void *options,
                            uint64_t seed, sr_graph **graph) {
  (void)options, (void)seed;
  sr_status status = SR_OK;
  SR_TRY(sr__graph_begin(ctx, table->rows, "none", graph));
  for (int64_t i = 0; i < table->rows; i++) (*graph)->offset[i + 1] = 0;
  SR_TRY(sr__graph_sum_degrees(ctx, *graph, false));
  sr__graph_finish(*graph);
cleanup:
  return status;
}

const sr__graph_builder sr__builder_none = {
    .about = {"none", "no edges: rows that do not depend on each other", NULL, 0, NULL},
    .relation = SR_RELATION_NONE,
    .build = build_none};
