/* One bisection: the Fiedler vector of a coarse level makes the cut, and every finer level improves
 * it, down to the exact sizes. Aggregates are connected, so a coarse level has the components of
 * the finest one. */
#include "partition.h"

/* Searches do not move a long border that begins in the wrong place, so large graphs are shrunk
 * little; in small ones they improve a cut more than the eigenvector of a finer level would. */
enum { COARSEST = 96, MOST_SHRINKING = 4, PATIENCE = 100, PASSES = 6 };

static sr_status find_border_nodes(sr_context *ctx, const sr__working_graph *working,
                                   const int32_t *side, int32_t **border, int64_t *count) {
  sr_status status = SR_OK;
  const sr__csr *graph = &working->graph;
  int64_t capacity = 0;
  *border = NULL;
  *count = 0;
  for (int64_t node = 0; node < graph->nodes; node++) {
    int32_t own = side[node], cut = 0;
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++)
      cut |= side[graph->neighbor[arc]] ^ own;
    if (!cut) continue;
    SR_GROW(ctx, *border, capacity, *count + 1);
    (*border)[(*count)++] = (int32_t)node;
  }
cleanup:
  return status;
}

/* Where the border cannot give the rows that are asked for (it may be empty, between components),
 * whole nodes move in order of their index. */
static void force_rows(const sr__working_graph *working, const sr__pair_limits *limits,
                       int64_t *rows, int32_t *side) {
  for (int64_t i = 0; i < working->graph.nodes; i++) {
    int64_t size = sr__node_size(working, i);
    bool leaves = side[i] == 0 && *rows - size >= limits->lowest && *rows > limits->highest;
    bool enters = side[i] == 1 && *rows + size <= limits->highest && *rows < limits->lowest;
    if (!leaves && !enters) continue;
    side[i] = leaves;
    *rows += leaves ? -size : size;
  }
}

static sr_status refine_level(sr_context *ctx, const sr__working_graph *working, int64_t rows,
                              const sr__bisection *bisection, bool finest, int32_t *side) {
  sr_status status = SR_OK;
  sr__refiner refiner = {.working = NULL};
  sr__pair_scratch scratch = {.clock = 0};
  int32_t *border = NULL;
  sr__searched_pair pair = {.a = 0, .b = 1};
  sr__pair_limits limits = {.largest_node = sr__largest_node(working),
                            .patience = PATIENCE,
                            .passes = PASSES};
  int64_t slack = (int64_t)(bisection->slack * (double)working->rows);
  if (finest && bisection->exact)
    slack = 0;
  else if (slack < limits.largest_node)
    slack = limits.largest_node;
  limits.lowest = rows - slack > 1 ? rows - slack : 1;
  limits.highest = rows + slack < working->rows ? rows + slack : working->rows - 1;
  SR_TRY(sr__refiner_init(ctx, working, side, &refiner));
  SR_TRY(find_border_nodes(ctx, working, side, &border, &pair.seed_count));
  pair.seed = border;
  for (int64_t i = 0; i < working->graph.nodes; i++)
    pair.rows_a += side[i] == 0 ? sr__node_size(working, i) : 0;
  SR_TRY(sr__refine_pair(ctx, &refiner, &scratch, &limits, &pair));
  if (finest && bisection->exact) force_rows(working, &limits, &pair.rows_a, side);
cleanup:
  sr__free(ctx, border);
  sr__pair_scratch_free(ctx, &scratch);
  sr__refiner_free(ctx, &refiner);
  return status;
}

static sr_status bisect_levels(sr_context *ctx, const sr__coarse_levels *levels, int64_t rows,
                               sr__bisection *bisection, int32_t *side) {
  sr_status status = SR_OK;
  int32_t *coarse = NULL, *fine = NULL;
  int top = levels->count - 1;
  for (int k = top; k >= 0; k--) {
    const sr__working_graph *working = &levels->working[k];
    if (k == 0)
      fine = side;
    else
      SR_NEW(ctx, fine, working->graph.nodes);
    if (k == top) {
      SR_TRY(sr__split_at_median(ctx, working, rows, bisection, fine));
    } else {
      for (int64_t i = 0; i < working->graph.nodes; i++) fine[i] = coarse[levels->aggregate[k][i]];
    }
    sr__free(ctx, coarse);
    coarse = fine;
    SR_TRY(refine_level(ctx, working, rows, bisection, k == 0, fine));
  }
cleanup:
  if (coarse != side) sr__free(ctx, coarse);
  if (fine != side && fine != coarse) sr__free(ctx, fine);
  return status;
}

sr_status sr__bisect(sr_context *ctx, const sr__working_graph *working, int64_t rows,
                     sr__bisection *bisection, int32_t *side) {
  if (!bisection->refine) return sr__split_at_median(ctx, working, rows, bisection, side);
  sr_status status = SR_OK;
  sr__coarse_levels levels = {.count = 0};
  int64_t shrunk = working->graph.nodes / MOST_SHRINKING;
  int64_t coarsest = shrunk > COARSEST ? shrunk : COARSEST;
  SR_TRY(sr__coarse_levels_build(ctx, working, coarsest, &levels));
  SR_TRY(bisect_levels(ctx, &levels, rows, bisection, side));
cleanup:
  sr__coarse_levels_free(ctx, &levels);
  return status;
}
