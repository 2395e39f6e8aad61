/* A stream with groups: twelve machines, each with its own bias. Whole machines are held out, so
 * the honest error is that of a machine never seen before. cc groups.c $(pkg-config --cflags --libs
 * specroute) && ./a.out */
#include <stdio.h>
#include <stdlib.h>

#include <specroute/specroute.h>

enum { MACHINES = 12, PER_MACHINE = 200, ROWS = MACHINES * PER_MACHINE };

static double noise(void) { return rand() / (double)RAND_MAX - 0.5; }

int main(void) {
  static float x[2 * ROWS];
  static int32_t label[ROWS], group[ROWS];
  static char name[MACHINES][32];
  static const char *names[MACHINES], *const classes[] = {"fine", "worn"};
  for (int m = 0, i = 0; m < MACHINES; m++) {
    double bias = 2.0 * noise(), wear = 0.0;
    snprintf(name[m], sizeof name[m], "machine %d", m + 1);
    names[m] = name[m];
    for (int t = 0; t < PER_MACHINE; t++, i++) {
      wear = 0.97 * wear + 0.4 * noise();
      x[i] = (float)(wear + bias);
      x[ROWS + i] = (float)(wear + noise());
      label[i] = wear > 0.0;
      group[i] = m;
    }
  }
  sr_status status = SR_OK;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = "routed";
  options.members = 40;
  sr_table_view view = {.rows = ROWS,
                        .features = 2,
                        .x = x,
                        .label = label,
                        .classes = {2, classes},
                        .group = group,
                        .groups = {MACHINES, names}};
  SR_TRY(sr_context_new(NULL, &ctx));
  SR_TRY(sr_table_new(ctx, &view, &table));
  SR_TRY(sr_train(ctx, table, &options, 1, &ensemble));
  const sr_evaluation *worth = sr_ensemble_get(ensemble)->evaluation;
  printf("error on single rows %.3f, on one of %d %ss never seen %.3f (%.3f to %.3f)\n",
         worth->naive, worth->units, sr_unit_name(worth->held_out), worth->honest,
         worth->honest_low, worth->honest_high);
cleanup:
  if (status != SR_OK) fprintf(stderr, "%s\n", ctx ? sr_context_error(ctx).message : "no context");
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return status == SR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
