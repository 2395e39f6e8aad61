/* Small tables and one-member fits, for the tests of learners. */
#ifndef SR_TESTS_LEARNER_KIT_H
#define SR_TESTS_LEARNER_KIT_H

#include "harness.h"
#include "learner/learner.h"

/* A learner by name; the numbers are those of trees, and left out for others. */
typedef struct kit_options {
  const char *name;
  int criterion;
  int64_t max_features, max_depth, min_leaf, max_bins;
  double min_share;
} kit_options;

static inline void kit_options_init(kit_options *options) {
  *options = (kit_options){.name = "tree", .min_leaf = 1, .max_bins = 256};
}

/* A learner with what it made of one table. */
typedef struct fitted {
  sr__configuration configuration;
  const sr__learner *learner;
  sr__encoder *encoder;
  sr__training *training;
  sr__member *member;
  sr_allocator allocator;
} fitted;

static inline void fitted_free(fitted *f) {
  if (f->learner) {
    f->learner->free_member(f->member);
    f->learner->free_training(f->training);
    f->learner->free_encoder(f->encoder);
    sr__configuration_free(&f->allocator, &f->configuration);
  }
  *f = (fitted){0};
}

/* All rows once where `bag` is NULL. */
static inline sr_status fit_table(sr_context *ctx, const sr_table *table,
                                  const kit_options *options, const sr__bag *bag, uint64_t seed,
                                  fitted *f) {
  sr_status status = SR_OK;
  int64_t rows = sr_table_get(table)->rows;
  int32_t *all = NULL;
  sr__random random;
  char text[200];
  *f = (fitted){.allocator = sr__allocator(ctx)};
  if (strcmp(options->name, "tree") == 0)
    snprintf(text, sizeof text,
             "tree:criterion=%s,max_features=%lld,max_depth=%lld,min_leaf=%lld,max_bins=%lld,"
             "min_share=%g",
             options->criterion ? "entropy" : "gini", (long long)options->max_features,
             (long long)options->max_depth, (long long)options->min_leaf,
             (long long)options->max_bins, options->min_share);
  else
    snprintf(text, sizeof text, "%s", options->name);
  SR_TRY(sr__configure(ctx, "learner", sr_learner_method, text, &f->configuration));
  f->learner = (const sr__learner *)f->configuration.method;
  SR_TRY(sr__learner_check_table(ctx, f->learner, table));
  SR_TRY(f->learner->prepare(ctx, table, f->configuration.options, &f->encoder, &f->training));
  SR_NEW(ctx, all, rows);
  for (int64_t i = 0; i < rows; i++) all[i] = (int32_t)i;
  sr__bag every = {.rows = all, .length = rows};
  sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, 0);
  sr__fit_input input = {f->encoder, f->training, f->configuration.options, 1};
  SR_TRY(f->learner->fit(ctx, &input, bag ? bag : &every, &random, &f->member));
cleanup:
  sr__free(ctx, all);
  return status;
}

static inline sr_status predict_table(sr_context *ctx, const fitted *f, const sr_table *table,
                                      int32_t *vote, float *proba) {
  sr_status status = SR_OK;
  sr__encoded *rows = NULL;
  int64_t count = sr_table_get(table)->rows;
  SR_TRY(f->learner->encode(ctx, f->encoder, table, 0, count, &rows));
  SR_TRY(f->learner->predict(ctx, f->encoder, f->member, rows, (sr__picked){NULL, count},
                             (sr__answers){.vote = vote, .share = proba}));
cleanup:
  f->learner->free_encoded(rows);
  return status;
}

static inline double share_correct(const sr_table *table, const int32_t *vote) {
  const sr_table_view *view = sr_table_get(table);
  int64_t right = 0;
  for (int64_t i = 0; i < view->rows; i++) right += vote[i] == view->label[i];
  return (double)right / (double)view->rows;
}

/* Shared data and member as bytes; freed by the caller with sr__bytes_free. */
static inline void save_fitted(sr_context *ctx, const fitted *f, sr__bytes *encoder,
                               sr__bytes *member) {
  *encoder = (sr__bytes){.ctx = ctx};
  *member = (sr__bytes){.ctx = ctx};
  f->learner->save_encoder(f->encoder, encoder);
  f->learner->save_member(f->encoder, f->member, member);
}

static const char *const kit_names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                        "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};

#endif
