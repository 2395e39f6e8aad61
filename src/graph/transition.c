/* The reversible transition graph of one coordinate: how often its steps go between quantile cells.
 */
#include <math.h>

#include "core/sort.h"
#include "graph.h"

enum { MOST_CELLS = 4096 };

typedef struct transition_work {
  const double *coordinate;
  int64_t rows;
  int32_t cells;
  double *cut;   /* cells - 1 lower ends of the cells after the first */
  int32_t *cell; /* of each row, -1 where the coordinate is not finite */
  double *count; /* cells x cells steps, both directions */
} transition_work;

/* ---- cells -------------------------------------------------------------------------------- */

/* One cell a value where they are that few; false where they are not. */
static bool cut_between_values(transition_work *work, const double *sorted, int64_t count) {
  int32_t cells = 1;
  for (int64_t i = 1; i < count; i++) {
    if (sorted[i] == sorted[i - 1]) continue;
    if (cells == work->cells) return false;
    work->cut[cells++ - 1] = sorted[i];
  }
  work->cells = cells;
  return true;
}

/* Cell c begins at the value with rank c m / cells, so equal values share a cell. */
static sr_status find_cuts(sr_context *ctx, transition_work *work) {
  sr_status status = SR_OK;
  double *sorted = NULL;
  int64_t finite = 0;
  SR_NEW(ctx, sorted, work->rows);
  for (int64_t i = 0; i < work->rows; i++) {
    if (isfinite(work->coordinate[i])) sorted[finite++] = work->coordinate[i];
  }
  if (finite == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "none of %lld values of the coordinate is finite; choose another one",
                    (long long)work->rows));
  SR_TRY(sr__sort(ctx, sorted, finite, sizeof *sorted, sr__compare_doubles));
  if (cut_between_values(work, sorted, finite)) goto cleanup;
  for (int32_t c = 1; c < work->cells; c++) work->cut[c - 1] = sorted[c * finite / work->cells];
cleanup:
  sr__free(ctx, sorted);
  return status;
}

/* The number of cuts at or below a value. */
static int32_t cell_of(const transition_work *work, double value) {
  int32_t low = 0, high = work->cells - 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (work->cut[middle] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Names the cells that hold a value 0, 1, ... and gives their number. */
static sr_status assign_cells(sr_context *ctx, transition_work *work, int32_t *used) {
  sr_status status = SR_OK;
  int32_t *name = NULL;
  SR_NEW_ZERO(ctx, name, work->cells);
  for (int64_t i = 0; i < work->rows; i++) {
    bool finite = isfinite(work->coordinate[i]);
    work->cell[i] = finite ? cell_of(work, work->coordinate[i]) : -1;
    if (finite) name[work->cell[i]] = 1;
  }
  *used = 0;
  for (int32_t c = 0; c < work->cells; c++) name[c] = name[c] ? (*used)++ : -1;
  for (int64_t i = 0; i < work->rows; i++) {
    if (work->cell[i] >= 0) work->cell[i] = name[work->cell[i]];
  }
cleanup:
  sr__free(ctx, name);
  return status;
}

/* ---- steps -------------------------------------------------------------------------------- */

/* `order` holds the rows group by group; a step joins places `lag` apart in one group. */
static void count_steps(transition_work *work, const int32_t *order, const int32_t *group,
                        int64_t lag, int32_t used) {
  for (int64_t p = 0; p + lag < work->rows; p++) {
    int64_t i = order ? order[p] : p, j = order ? order[p + lag] : p + lag;
    if (group && group[i] != group[j]) continue;
    int32_t from = work->cell[i], to = work->cell[j];
    if (from < 0 || to < 0) continue;
    work->count[(int64_t)from * used + to] += 1.0;
    work->count[(int64_t)to * used + from] += 1.0;
  }
}

static sr_status graph_of_counts(sr_context *ctx, const double *count, int32_t used,
                                 sr_graph **graph) {
  sr_status status = SR_OK;
  sr_graph *made = NULL;
  SR_TRY(sr__graph_begin(ctx, used, "transition", &made));
  for (int32_t a = 0; a < used; a++) {
    int64_t degree = 0;
    for (int32_t b = 0; b < used; b++) degree += a != b && count[(int64_t)a * used + b] > 0;
    made->offset[a + 1] = degree;
  }
  SR_TRY(sr__graph_sum_degrees(ctx, made, true));
  for (int32_t a = 0; a < used; a++) {
    int64_t place = made->offset[a];
    for (int32_t b = 0; b < used; b++) {
      double steps = count[(int64_t)a * used + b];
      if (a == b || steps == 0) continue;
      made->neighbor[place] = b;
      made->weight[place++] = (float)steps;
    }
  }
  sr__graph_finish(made);
  *graph = made;
  made = NULL;
cleanup:
  sr_graph_free(&made);
  return status;
}

static sr_status check_request(sr_context *ctx, int64_t rows, int32_t cells, int64_t lag) {
  if (cells < 2 || cells > MOST_CELLS)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%d cells were asked for; use 2 to %d", cells,
                    MOST_CELLS);
  if (lag < 1 || lag >= rows)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "a lag of %lld does not fit %lld rows; use 1 to %lld",
                    (long long)lag, (long long)rows, (long long)rows - 1);
  return SR_OK;
}

sr_status sr__transition_graph_count(sr_context *ctx, const double *coordinate, int64_t rows,
                                     const int32_t *group, int32_t cells, int64_t lag,
                                     sr__transition_graph *transition) {
  sr_status status = SR_OK;
  transition_work work = {.coordinate = coordinate, .rows = rows, .cells = cells};
  int32_t *order = NULL, used = 0;
  int64_t *run = NULL, runs = 0;
  *transition = (sr__transition_graph){0};
  SR_TRY(check_request(ctx, rows, cells, lag));
  SR_NEW(ctx, work.cut, cells);
  SR_NEW(ctx, work.cell, rows);
  SR_TRY(find_cuts(ctx, &work));
  SR_TRY(assign_cells(ctx, &work, &used));
  if (group) SR_TRY(sr__group_runs(ctx, group, rows, &run, &runs, &order));
  SR_NEW_ZERO(ctx, work.count, (int64_t)used * used);
  count_steps(&work, order, group, lag, used);
  SR_NEW(ctx, transition->stay, used);
  for (int32_t c = 0; c < used; c++) transition->stay[c] = work.count[(int64_t)c * used + c];
  SR_TRY(graph_of_counts(ctx, work.count, used, &transition->graph));
  transition->cell = work.cell;
  work.cell = NULL;
cleanup:
  sr__free(ctx, order);
  sr__free(ctx, run);
  sr__free(ctx, work.cut);
  sr__free(ctx, work.cell);
  sr__free(ctx, work.count);
  if (status != SR_OK) sr__transition_graph_free(ctx, transition);
  return status;
}

void sr__transition_graph_free(sr_context *ctx, sr__transition_graph *transition) {
  sr_graph_free(&transition->graph);
  sr__free(ctx, transition->cell);
  sr__free(ctx, transition->stay);
  *transition = (sr__transition_graph){0};
}

/* ---- the builder -------------------------------------------------------------------------- */

typedef struct transition_options {
  int64_t cells, lag;
} transition_options;

static sr_status build_transition(sr_context *ctx, const sr_table_view *table, const void *options,
                                  uint64_t seed, sr_graph **graph) {
  (void)seed;
  enum { CELLS_OF_LONG_TABLES = 256, CELLS_OF_SHORT_TABLES = 64, LONG_TABLE = 20000 };
  sr_status status = SR_OK;
  const transition_options *o = options;
  sr__transition_graph transition = {0};
  double *coordinate = NULL;
  int32_t cells = (int32_t)o->cells;
  if (cells == 0) cells = table->rows < LONG_TABLE ? CELLS_OF_SHORT_TABLES : CELLS_OF_LONG_TABLES;
  if (table->features < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "the transition graph follows the first feature and the table has none"));
  SR_NEW(ctx, coordinate, table->rows);
  for (int64_t i = 0; i < table->rows; i++) coordinate[i] = table->x[i];
  SR_TRY(sr__transition_graph_count(ctx, coordinate, table->rows, table->group, cells, o->lag,
                                    &transition));
  *graph = transition.graph;
  transition.graph = NULL;
cleanup:
  sr__free(ctx, coordinate);
  sr__transition_graph_free(ctx, &transition);
  return status;
}

static const sr_option options_of_transition[] = {
    SR_INTEGER(transition_options, cells, "0", 0, MOST_CELLS,
               "quantile cells; 0: 64, or 256 for 20,000 rows and more"),
    SR_INTEGER(transition_options, lag, "1", 1, 1e9, "rows that a step spans"), SR_OPTIONS_END};

const sr__graph_builder sr__builder_transition = {
    .about = {"transition", "steps between quantile cells of the first feature",
              options_of_transition, sizeof(transition_options), NULL},
    .relation = SR_RELATION_STEPS,
    .build = build_transition};
