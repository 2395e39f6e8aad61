/* QUANT as a learner. */
#include "learner/series/table_series.h"
#include "quant.h"

static const sr_option options_list[] = {
    SR_INTEGER(sr__quant_options, trees, "2", 1, 1e6,
               "trees of a member; 100 members of 2 are the method's 200"),
    SR_REAL(sr__quant_options, share, "0.1", 1e-6, 1,
            "share of the features that a split looks at"),
    SR_OPTIONS_END};

/* At most 11 features a point; nodes down to pure leaves. */
static void memory(const void *options, const sr__fit_size *size, sr__fit_memory *memory) {
  enum { FEATURES = 11, MORE = 64, EDGE_BYTES = 4 * SR__QUANT_EDGES, BAG_BYTES = 48 };
  const sr__quant_options *o = options;
  const sr_table_view *view = size->view;
  double n = (double)view->rows, features = 0.0;
  double sampled = n < SR__QUANT_SAMPLE ? n : SR__QUANT_SAMPLE;
  for (int32_t c = 0; c < view->channels; c++)
    features += FEATURES * (double)sr__longest_series(view, c) + MORE;
  double chunk = 512.0 * features + 0x1p21, sorting = 96.0 * sampled;
  *memory = (sr__fit_memory){.preparing = (4.0 * sampled + n + EDGE_BYTES) * features +
                                          size->threads * (chunk > sorting ? chunk : sorting),
                             .common = (n + EDGE_BYTES) * features,
                             .each = BAG_BYTES * n,
                             .fitted = 2.0 * n * (double)o->trees * (double)sizeof(sr__quant_node),
                             .word = "what trees take depends on how early their leaves are pure"};
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  return sr__interval_learner_prepare(ctx, table, &sr__learner_quant, sr__quant_prepare, encoder,
                                      training);
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  sr__series_view series;
  *rows = NULL;
  sr_status status = sr__table_series(ctx, table, encoder->channels, &series);
  return status == SR_OK ? sr__quant_encode(ctx, encoder, &series, first, count, rows) : status;
}

static int32_t classes(const sr__encoder *encoder) { return encoder->classes; }
static int32_t channels(const sr__encoder *encoder) { return encoder->channels; }

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__quant_save_encoder(encoder, false, bytes);
}

const sr__learner sr__learner_quant = {
    .about = {"quant",
              "series: quantiles over dyadic intervals, extremely randomized trees on them",
              options_list, sizeof(sr__quant_options), NULL},
    SR__INTERVAL_LEARNER_OPERATIONS,
    .memory = memory,
    .prepare = prepare,
    .fit = sr__quant_fit,
    .encode = encode,
    .predict = sr__quant_predict,
    .classes = classes,
    .channels = channels,
    .save_encoder = save_encoder,
    .load_encoder = sr__quant_load_encoder,
    .save_member = sr__quant_save_member,
    .load_member = sr__quant_load_member,
    .free_encoder = sr__quant_free_encoder,
    .free_encoded = sr__quant_free_encoded,
    .free_member = sr__quant_free_member,
};
