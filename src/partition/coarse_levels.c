/* Ever coarser graphs of one graph. */
#include "partition.h"

static sr_status add_level(sr_context *ctx, sr__coarse_levels *levels, bool *stalled) {
  sr_status status = SR_OK;
  int k = levels->count - 1;
  const sr__working_graph *fine = &levels->working[k];
  sr__working_graph coarse = {.rows = fine->rows};
  int32_t *aggregate = NULL;
  SR_NEW(ctx, aggregate, fine->graph.nodes);
  SR_TRY(sr__coarsen(ctx, &fine->graph, aggregate, &coarse.graph));
  *stalled = coarse.graph.nodes > fine->graph.nodes - fine->graph.nodes / 10;
  if (*stalled) goto cleanup;
  SR_NEW_ZERO(ctx, coarse.size, coarse.graph.nodes);
  for (int64_t i = 0; i < fine->graph.nodes; i++)
    coarse.size[aggregate[i]] += (int32_t)sr__node_size(fine, i);
  levels->aggregate[k] = aggregate;
  levels->working[levels->count++] = coarse;
  return SR_OK;
cleanup:
  sr__free(ctx, aggregate);
  sr__working_graph_free(ctx, &coarse);
  return status;
}

sr_status sr__coarse_levels_build(sr_context *ctx, const sr__working_graph *working,
                                  int64_t coarsest, sr__coarse_levels *levels) {
  sr_status status = SR_OK;
  *levels = (sr__coarse_levels){.count = 1, .working = {*working}};
  while (levels->count < SR_MAX_COARSE_LEVELS &&
         levels->working[levels->count - 1].graph.nodes > coarsest) {
    bool stalled = false;
    SR_TRY(add_level(ctx, levels, &stalled));
    if (stalled) break;
  }
cleanup:
  if (status != SR_OK) sr__coarse_levels_free(ctx, levels);
  return status;
}

void sr__coarse_levels_free(sr_context *ctx, sr__coarse_levels *levels) {
  for (int k = 0; k < levels->count; k++) {
    sr__free(ctx, levels->aggregate[k]);
    if (k > 0) sr__working_graph_free(ctx, &levels->working[k]);
  }
  *levels = (sr__coarse_levels){0};
}
