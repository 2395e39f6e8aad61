/* Bags of one's own: every member learns from one week out of ten, and all of them vote.
 *   cc own_bags.c $(pkg-config --cflags --libs specroute) && ./a.out */
#include <stdio.h>
#include <stdlib.h>

#include <specroute/specroute.h>

enum { ROWS = 700, WEEK = 7, MEMBERS = 10 };

int main(void) {
  static float x[ROWS];
  static int32_t label[ROWS], vote[ROWS];
  static int64_t offset[MEMBERS + 1], row[ROWS];
  static const char *const classes[] = {"low", "high"};
  int64_t used = 0;
  int wrong = 0;
  for (int i = 0; i < ROWS; i++) {
    x[i] = (float)(rand() / (double)RAND_MAX);
    label[i] = x[i] > 0.4f;
  }
  for (int member = 0; member < MEMBERS; member++) {
    for (int64_t i = 0; i < ROWS; i++)
      if (i / WEEK % MEMBERS == member) row[used++] = i;
    offset[member + 1] = used;
  }
  sr_status status = SR_OK;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = NULL;
  sr_table_view view = {
      .rows = ROWS, .features = 1, .x = x, .label = label, .classes = {2, classes}};
  sr_ensemble_options options;
  sr_ensemble_options_init(&options);
  options.learner = "tree:min_leaf=2";
  SR_TRY(sr_context_new(NULL, &ctx));
  SR_TRY(sr_table_new(ctx, &view, &table));
  SR_TRY(sr_plan_from_bags(ctx, ROWS, MEMBERS, offset, row, NULL, &plan));
  SR_TRY(sr_ensemble_fit(ctx, table, plan, &options, 1, &ensemble));
  SR_TRY(sr_ensemble_predict(ctx, ensemble, table, vote, NULL));
  for (int i = 0; i < ROWS; i++) wrong += vote[i] != label[i];
  printf("%d members, %d of %d rows are named wrong\n", sr_ensemble_get(ensemble)->members, wrong,
         ROWS);
cleanup:
  if (status != SR_OK) fprintf(stderr, "%s\n", ctx ? sr_context_error(ctx).message : "no context");
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return status == SR_OK && wrong < ROWS / 10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
