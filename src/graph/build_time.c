/* The window graph |i - j| <= tau over the rows of each group, in the order in which they came. */
#include "graph.h"

/* Rows in group order, cut into runs: places [run[r], run[r+1]) of `order` are one group. */
typedef struct window_work {
  int64_t rows, runs, tau;
  int64_t *run;
  int32_t *order; /* row at each place; NULL = the places are the rows */
  sr_graph *graph;
} window_work;

/* ---- arcs --------------------------------------------------------------------------------- */

/* The run that holds a place: the last one that starts at or before it and is not empty. */
static int64_t run_of_place(const window_work *work, int64_t place) {
  int64_t low = 0, high = work->runs - 1;
  while (low < high) {
    int64_t middle = low + (high - low + 1) / 2;
    if (work->run[middle] <= place)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static int64_t row_at(const window_work *work, int64_t place) {
  return work->order ? work->order[place] : place;
}

static sr_status count_window(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  window_work *work = data;
  sr__span span = sr__graph_chunk(work->rows, chunk);
  int64_t run = run_of_place(work, span.begin);
  for (int64_t p = span.begin; p < span.end; p++) {
    while (p >= work->run[run + 1]) run++;
    int64_t before = p - work->run[run], after = work->run[run + 1] - 1 - p;
    work->graph->offset[row_at(work, p) + 1] =
        (before < work->tau ? before : work->tau) + (after < work->tau ? after : work->tau);
  }
  return SR_OK;
}

/* The rows at places [first, last]. */
static int32_t *put_rows(const window_work *work, int64_t first, int64_t last, int32_t *next) {
  if (work->order)
    for (int64_t q = first; q <= last; q++) *next++ = work->order[q];
  else
    for (int64_t q = first; q <= last; q++) *next++ = (int32_t)q;
  return next;
}

static sr_status fill_window(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  window_work *work = data;
  sr__span span = sr__graph_chunk(work->rows, chunk);
  int64_t run = run_of_place(work, span.begin);
  for (int64_t p = span.begin; p < span.end; p++) {
    while (p >= work->run[run + 1]) run++;
    int64_t first = p - work->tau, last = p + work->tau;
    first = first < work->run[run] ? work->run[run] : first;
    last = last >= work->run[run + 1] ? work->run[run + 1] - 1 : last;
    int32_t *next = work->graph->neighbor + work->graph->offset[row_at(work, p)];
    put_rows(work, p + 1, last, put_rows(work, first, p - 1, next));
  }
  return SR_OK;
}

typedef struct time_options {
  int64_t tau;
  int weights;
} time_options;

static sr_status build_time(sr_context *ctx, const sr_table_view *table, const void *options,
                            uint64_t seed, sr_graph **graph) {
  (void)seed;
  sr_status status = SR_OK;
  const time_options *o = options;
  window_work work = {.rows = table->rows, .tau = o->tau};
  SR_TRY(sr__group_runs(ctx, table->group, table->rows, &work.run, &work.runs, &work.order));
  SR_TRY(sr__graph_begin(ctx, table->rows, "time", &work.graph));
  int64_t chunks = sr__graph_chunks(table->rows);
  SR_TRY(sr__parallel_for(ctx, chunks, count_window, &work));
  SR_TRY(sr__graph_sum_degrees(ctx, work.graph, false));
  SR_TRY(sr__parallel_for(ctx, chunks, fill_window, &work));
  if (!work.order) {
    work.graph->view.window = (int32_t)work.tau;
    work.graph->view.runs = work.runs;
    work.graph->run_offset = work.run;
    work.run = NULL;
  }
  sr__graph_finish(work.graph);
  if (o->weights == SR__WEIGHTS_RBF)
    SR_TRY(sr__graph_weigh(ctx, table, SR__METRIC_FEATURES, work.graph));
  *graph = work.graph;
  work.graph = NULL;
cleanup:
  sr_graph_free(&work.graph);
  sr__free(ctx, work.run);
  sr__free(ctx, work.order);
  return status;
}

static const sr_option options_of_time[] = {SR_INTEGER(time_options, tau, "1", 1, 1e9,
                                                       "rows at most this far apart are joined"),
                                            SR__WEIGHTS_OPTION(time_options), SR_OPTIONS_END};

const sr__graph_builder sr__builder_time = {.about = {"time",
                                                      "rows at most tau apart in their group",
                                                      options_of_time, sizeof(time_options), NULL},
                                            .relation = SR_RELATION_ORDER,
                                            .build = build_time};
