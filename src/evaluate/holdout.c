/* A plan fitted on the training rows of a fold. */
#include "evaluate.h"

sr_status sr__fold_rows_new(sr_context *ctx, const sr_folds *folds, int32_t fold,
                            sr__fold_rows *rows) {
  sr_status status = SR_OK;
  const sr_folds_view *view = sr_folds_get(folds);
  const uint8_t *role = view->role + fold * view->rows;
  int64_t count[SR_ROLE_FREE + 1] = {0}; /* rows as large as they are: there are many folds */
  *rows = (sr__fold_rows){0};
  for (int64_t i = 0; i < view->rows; i++) count[role[i]]++;
  SR_NEW(ctx, rows->train, count[SR_ROLE_TRAIN]);
  SR_NEW(ctx, rows->test, count[SR_ROLE_TEST]);
  for (int64_t i = 0; i < view->rows; i++) {
    if (role[i] == SR_ROLE_TRAIN) rows->train[rows->train_count++] = (int32_t)i;
    if (role[i] == SR_ROLE_TEST) rows->test[rows->test_count++] = (int32_t)i;
  }
cleanup:
  if (status != SR_OK) sr__fold_rows_free(ctx, rows);
  return status;
}

void sr__fold_rows_free(sr_context *ctx, sr__fold_rows *rows) {
  sr__free(ctx, rows->train);
  sr__free(ctx, rows->test);
  *rows = (sr__fold_rows){0};
}

sr_status sr__holdout_fit(sr_context *ctx, const sr__holdout *h, int32_t fold,
                          const sr__fold_rows *rows, sr__members *members) {
  sr_status status = SR_OK;
  sr_plan *plan = NULL;
  sr__plan_scope scope = {.structure = h->structure,
                          .subset = rows->train,
                          .rows = rows->train_count};
  *members = (sr__members){0};
  SR_TRY(sr__plan_new(ctx, &scope, h->plan, h->plan_members, h->seed, &plan));
  int32_t all = sr_plan_get(plan).members;
  bool some = h->count > 0;
  sr__fit fit = {.plan = plan,
                 .subset = rows->train,
                 .first = h->first,
                 .count = some ? h->count : all,
                 .stride = some ? sr__fair_stride(all) : 1,
                 .seed = h->seed,
                 .replicate = h->replicate + (uint64_t)fold + 1,
                 .leaves = h->leaves,
                 .keep_drawn = h->keep_drawn,
                 .asked = h->once ? rows->test_count : 0};
  SR_TRY(sr__fit_plan(ctx, h->prepared, &fit, members));
cleanup:
  sr_plan_free(&plan);
  return status;
}
