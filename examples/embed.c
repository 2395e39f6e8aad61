/* Embedding: rows from memory, an ensemble, its honest error, new rows classified.
 *   cc embed.c $(pkg-config --cflags --libs specroute) && ./a.out */
#include <stdio.h>
#include <stdlib.h>

#include <specroute/specroute.h>

enum { ROWS = 4000, FEATURES = 2 };

/* Two sensors that wander slowly; the class says which of them is higher, with a slow disturbance.
 */
static void fill(float *x, int32_t *label) {
  double a = 0.0, b = 0.0, disturbance = 0.0;
  for (int t = 0; t < ROWS; t++) {
    a = 0.98 * a + 0.2 * (rand() / (double)RAND_MAX - 0.5);
    b = 0.98 * b + 0.2 * (rand() / (double)RAND_MAX - 0.5);
    disturbance = 0.98 * disturbance + 0.2 * (rand() / (double)RAND_MAX - 0.5);
    x[t] = (float)a;
    x[ROWS + t] = (float)b;
    label[t] = a - b + disturbance > 0.0;
  }
}

static int fail(const char *what, const sr_context *ctx) {
  fprintf(stderr, "%s: %s\n", what, ctx ? sr_context_error(ctx).message : "no context");
  return EXIT_FAILURE;
}

int main(void) {
  static float x[ROWS * FEATURES];
  static int32_t label[ROWS], predicted[ROWS];
  static const char *const features[] = {"left", "right"}, *const classes[] = {"lower", "higher"};
  fill(x, label);

  sr_context *ctx = NULL;
  if (sr_context_new(NULL, &ctx) != SR_OK) return fail("context", ctx);

  sr_table_view view = {.rows = ROWS,
                        .features = FEATURES,
                        .x = x,
                        .feature_names = features,
                        .label = label,
                        .classes = {2, classes}};
  sr_table *table = NULL;
  if (sr_table_new(ctx, &view, &table) != SR_OK) return fail("table", ctx);

  sr_train_options options;
  sr_train_options_init(&options);
  options.members = 50;
  sr_ensemble *ensemble = NULL;
  if (sr_train(ctx, table, &options, 1, &ensemble) != SR_OK) return fail("train", ctx);

  const sr_ensemble_view *trained = sr_ensemble_get(ensemble);
  const sr_evaluation *worth = trained->evaluation;
  printf("plan %s: %s\n", trained->mix[0].plan, trained->reason);
  printf("error on rows that members did not draw: %.3f\n", worth->naive);
  printf("error on %ss that members never saw: %.3f (%.3f to %.3f)\n",
         sr_unit_name(worth->held_out), worth->honest, worth->honest_low, worth->honest_high);

  if (sr_ensemble_predict(ctx, ensemble, table, predicted, NULL) != SR_OK)
    return fail("predict", ctx);
  printf("row 0 is '%s'\n", classes[predicted[0]]);

  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return EXIT_SUCCESS;
}
