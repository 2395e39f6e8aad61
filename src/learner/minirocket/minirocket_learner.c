/* MiniRocket as a learner: 84 fixed kernels at many dilations, ridge behind them. */
#include "learner/series/series_learner.h"
#include "minirocket.h"

typedef struct minirocket_options {
  sr__minirocket_options minirocket;
  sr__series_ridge_options ridge;
} minirocket_options;

static const sr_option options_list[] = {
    SR_INTEGER_AT(minirocket_options, minirocket.features, "features", "10000", 84, 1e6,
                  "features of a member, rounded down to a multiple of 84"),
    SR_INTEGER_AT(minirocket_options, minirocket.dilations, "dilations", "32", 1, 32,
                  "most dilations of a kernel"),
    SR_FLAG_AT(minirocket_options, minirocket.whole, "int16", "no",
               "16-bit whole numbers: about twice as fast, features differ a little"),
    SR__SERIES_RIDGE_OPTIONS(minirocket_options, ridge), SR_OPTIONS_END};

static int64_t features(const void *options) {
  const minirocket_options *o = options;
  return o->minirocket.features;
}

static const sr__series_kind kind = {.transform = &sr__minirocket_series,
                                     .features = features,
                                     .ridge_at = offsetof(minirocket_options, ridge)};

static void memory(const void *options, const sr__fit_size *size, sr__fit_memory *memory) {
  sr__series_learner_memory(&kind, options, size, memory);
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  return sr__series_learner_prepare(ctx, table, &kind, encoder, training);
}

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  return sr__series_learner_fit(ctx, input, &kind, bag, random, member);
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  return sr__series_learner_load(reader, encoder, &kind, member);
}

const sr__learner sr__learner_minirocket = {
    .about = {"minirocket", "series: 84 fixed kernels, shares of outputs above biases, ridge",
              options_list, sizeof(minirocket_options), NULL},
    .memory = memory,
    .prepare = prepare,
    .fit = fit,
    .load_member = load_member,
    SR__SERIES_LEARNER_OPERATIONS};
