/* Uses the plan, the learner and the format of the templates as any other, by their names and
 * through the public header. The build links them with registries of one line more. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <specroute/specroute.h>

enum { ROWS = 700, STEP = 7, MEMBERS = 5 };

/* What the file gives back is what was written: classes and features, to the last bit. */
static sr_status check_format(sr_context *ctx, const sr_table *table, const char *path,
                              bool *good) {
  sr_status status = SR_OK;
  sr_table *back = NULL;
  SR_TRY(sr_table_write(ctx, table, path));
  SR_TRY(sr_table_read(ctx, path, NULL, &back));
  const sr_table_view *x = sr_table_get(table), *y = sr_table_get(back);
  *good = *good && x->rows == y->rows && x->features == y->features &&
          memcmp(x->x, y->x, (size_t)(x->rows * x->features) * sizeof *x->x) == 0 &&
          memcmp(x->label, y->label, (size_t)x->rows * sizeof *x->label) == 0;
cleanup:
  sr_table_free(&back);
  return status;
}

/* Each bag is every STEP-th row from its own offset. */
static sr_status check_plan(sr_context *ctx, const sr_table *table, bool *good) {
  sr_status status = SR_OK;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  int64_t rows[ROWS], length = 0, offsets = 0;
  int32_t counts[ROWS];
  SR_TRY(sr_structure_estimate(ctx, table, NULL, 1, &structure));
  SR_TRY(sr_plan_new(ctx, structure, "every:step=7", MEMBERS, 1, &plan));
  for (int32_t member = 0; member < MEMBERS; member++) {
    SR_TRY(sr_plan_bag(ctx, plan, member, rows, counts, &length));
    *good = *good && length == ROWS / STEP && rows[0] < STEP;
    for (int64_t i = 1; i < length; i++) *good = *good && rows[i] == rows[i - 1] + STEP;
    offsets |= 1 << rows[0];
  }
  *good = *good && (offsets & (offsets - 1)); /* not all the same */
cleanup:
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  return status;
}

/* An ensemble of both is trained, judged, stored and read again, and names classes that can be
 * told. */
static sr_status check_learner(sr_context *ctx, const sr_table *table, const char *path,
                               bool *good) {
  sr_status status = SR_OK;
  sr_train_options options;
  sr_ensemble *ensemble = NULL, *stored = NULL;
  int32_t vote[ROWS], again[ROWS];
  int64_t wrong = 0;
  sr_train_options_init(&options);
  options.plan = "every:step=7";
  options.learner = "means:power=1";
  options.members = MEMBERS;
  SR_TRY(sr_train(ctx, table, &options, 1, &ensemble));
  SR_TRY(sr_ensemble_save(ctx, ensemble, path));
  SR_TRY(sr_ensemble_load(ctx, path, &stored));
  SR_TRY(sr_ensemble_predict(ctx, ensemble, table, vote, NULL));
  SR_TRY(sr_ensemble_predict(ctx, stored, table, again, NULL));
  for (int i = 0; i < ROWS; i++) wrong += vote[i] != sr_table_get(table)->label[i];
  printf("%lld of %d rows are named wrong\n", (long long)wrong, ROWS);
  *good = *good && wrong < ROWS / 3 && memcmp(vote, again, sizeof vote) == 0;
cleanup:
  sr_ensemble_free(&stored);
  sr_ensemble_free(&ensemble);
  return status;
}

int main(void) {
  char folder[] = "/tmp/specroute_template_XXXXXX", file[64], model[64];
  sr_status status = SR_OK;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  bool good = true;
  if (!mkdtemp(folder)) return EXIT_FAILURE;
  snprintf(file, sizeof file, "%s/rows.blanks", folder);
  snprintf(model, sizeof model, "%s/means.model", folder);
  SR_TRY(sr_context_new(NULL, &ctx));
  SR_TRY(sr_simulate(ctx, "ar1:n=700,d=2,tmix=5,delta=1", 1, 0, &table, NULL));
  SR_TRY(check_format(ctx, table, file, &good));
  SR_TRY(check_plan(ctx, table, &good));
  SR_TRY(check_learner(ctx, table, model, &good));
cleanup:
  if (status != SR_OK) fprintf(stderr, "%s\n", ctx ? sr_context_error(ctx).message : "no context");
  unlink(file);
  unlink(model);
  rmdir(folder);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return status == SR_OK && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
