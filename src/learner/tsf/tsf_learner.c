/* Time Series Forest as a learner. */
#include "learner/series/table_series.h"
#include "tsf.h"

static const sr_option options_list[] = {
    SR_INTEGER(sr__tsf_options, intervals, "0", 0, 1e6,
               "random intervals of a tree; 0 is the root of the number of values"),
    SR_OPTIONS_END};

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
