/* ROCKET as a learner: 10,000 random kernels, ridge behind them. */
#include "learner/series/series_learner.h"
#include "rocket.h"

typedef struct rocket_options {
  sr__rocket_options rocket;
  sr__series_ridge_options ridge;
} rocket_options;

static const sr_option options_list[] = {
    SR_INTEGER_AT(rocket_options, rocket.kernels, "kernels", "10000", 1, 1e6,
                  "random kernels of a member; each gives two features"),
    SR__SERIES_RIDGE_OPTIONS(rocket_options, ridge), SR_OPTIONS_END};

static int64_t features(const void *options) {
  const rocket_options *o = options;
  return 2 * o->rocket.kernels;
}

static const sr__series_kind kind = {.transform = &sr__rocket_series,
                                     .normalize = true,
                                     .features = features,
                                     .ridge_at = offsetof(rocket_options, ridge)};

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

const sr__learner sr__learner_rocket = {
    .about = {"rocket",
              "series: random kernels, share of positive outputs and maximum, ridge on them",
              options_list, sizeof(rocket_options), NULL},
    .memory = memory,
    .prepare = prepare,
    .fit = fit,
    .load_member = load_member,
    SR__SERIES_LEARNER_OPERATIONS};
