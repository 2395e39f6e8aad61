/* Time Series Forest as a learner. */
#include <math.h>

#include "learner/series/table_series.h"
#include "tsf.h"

static const sr_option options_list[] = {
    SR_INTEGER(sr__tsf_options, intervals, "0", 0, 1e6,
               "random intervals of a tree; 0 is the root of the number of values"),
    SR_OPTIONS_END};

/* Three sums a point; three sorted columns an interval while a tree grows. */
static void memory(const void *options, const sr__fit_size *size, sr__fit_memory *memory) {
  enum { BAG_BYTES = 96, CELL_BYTES = 8 };
  const sr__tsf_options *o = options;
  const sr_table_view *view = size->view;
  double n = (double)view->rows, rows = 8.0 * ceil(n / 8.0), points = 0.0;
  double width = rows < SR__TSF_TILE ? rows : SR__TSF_TILE;
  for (int32_t c = 0; c < view->channels; c++) points += (double)sr__longest_series(view, c);
  double columns = SR__TSF_KINDS * (o->intervals > 0 ? (double)o->intervals : sqrt(points));
  rows = width * ceil(rows / width);
  *memory =
      (sr__fit_memory){.common = 8.0 * rows * (3.0 * (points + view->channels) + view->channels),
                       .each = columns * (CELL_BYTES * n + 4.0 * width) + BAG_BYTES * n,
                       .fitted = 2.0 * n * (double)sizeof(sr__tsf_node),
                       .word = "what trees take depends on how early their leaves are pure"};
  memory->preparing = memory->common;
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  return sr__interval_learner_prepare(ctx, table, &sr__learner_tsf, sr__tsf_prepare, encoder,
                                      training);
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  sr__series_view series;
  *rows = NULL;
  sr_status status = sr__table_series(ctx, table, encoder->channels, &series);
  return status == SR_OK ? sr__tsf_encode(ctx, encoder, &series, first, count, rows) : status;
}

static int32_t classes(const sr__encoder *encoder) { return encoder->classes; }
static int32_t channels(const sr__encoder *encoder) { return encoder->channels; }

const sr__learner sr__learner_tsf = {
    .about = {"tsf", "series: a tree on means, deviations and slopes of random intervals",
              options_list, sizeof(sr__tsf_options), NULL},
    SR__INTERVAL_LEARNER_OPERATIONS,
    .memory = memory,
    .prepare = prepare,
    .fit = sr__tsf_fit,
    .encode = encode,
    .predict = sr__tsf_predict,
    .classes = classes,
    .channels = channels,
    .save_encoder = sr__tsf_save_encoder,
    .load_encoder = sr__tsf_load_encoder,
    .save_member = sr__tsf_save_member,
    .load_member = sr__tsf_load_member,
    .free_encoder = sr__tsf_free_encoder,
    .free_encoded = sr__tsf_free_encoded,
    .free_member = sr__tsf_free_member,
};
