/* Training from arrays: rows in memory, everything at its default, and what a person would read.
 *   cc train_arrays.c $(pkg-config --cflags --libs specroute) && ./a.out */
#include <stdio.h>
#include <stdlib.h>

#include <specroute/specroute.h>

enum { ROWS = 2000, FEATURES = 2 };

static double noise(void) { return rand() / (double)RAND_MAX - 0.5; }

int main(void) {
  static float x[ROWS * FEATURES]; /* column-major: all of the first feature, then the second */
  static int32_t label[ROWS];
  static const char *const classes[] = {"down", "up"};
  double level = 0.0, slope = 0.0;
  for (int t = 0; t < ROWS; t++) {
    slope = 0.95 * slope + noise();
    level = 0.9 * level + slope;
    x[t] = (float)level;
    x[ROWS + t] = (float)(slope + noise());
    label[t] = slope > 0.0;
  }
  sr_status status = SR_OK;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  char *text = NULL;
  sr_table_view view = {
      .rows = ROWS, .features = FEATURES, .x = x, .label = label, .classes = {2, classes}};
  SR_TRY(sr_context_new(NULL, &ctx));
  SR_TRY(sr_table_new(ctx, &view, &table));
  SR_TRY(sr_train(ctx, table, NULL, 1, &ensemble));
  SR_TRY(sr_describe_ensemble(ctx, ensemble, SR_DESCRIPTION_TEXT, &text));
  fputs(text, stdout);
cleanup:
  if (status != SR_OK) fprintf(stderr, "%s\n", ctx ? sr_context_error(ctx).message : "no context");
  sr_bytes_free((void **)&text);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return status == SR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
