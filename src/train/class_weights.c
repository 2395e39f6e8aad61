/* What each class weighs: by its rows, or as a file says. */
#include <math.h>

#include "data/dictionary.h"
#include "train.h"

/* n / (classes n_c): every class weighs as much as the others together. */
static sr_status balance(sr_context *ctx, const sr_table_view *view, double *weight) {
  sr_status status = SR_OK;
  int64_t *rows = NULL, all = 0;
  int32_t present = 0;
  SR_NEW_ZERO(ctx, rows, view->classes.count);
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0) continue;
    present += rows[view->label[i]]++ == 0;
    all++;
  }
  for (int32_t c = 0; c < view->classes.count; c++)
    weight[c] = rows[c] ? (double)all / ((double)present * (double)rows[c]) : 1.0;
cleanup:
  sr__free(ctx, rows);
  return status;
}

/* Lines CLASS,WEIGHT for every class. */
static sr_status read_weights(sr_context *ctx, const char *path, const sr_table_view *view,
                              double *weight) {
  static const sr_table_view nothing = {0};
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_read_options options;
  int32_t *code = NULL;
  sr_read_options_init(&options);
  options.schema = &nothing; /* lines keep their order, and no column is left out */
  options.target = "1";
  SR_TRY(sr_table_read(ctx, path, &options, &table));
  const sr_table_view *given = sr_table_get(table);
  if (given->features != 1 || (given->categories && given->categories[0].count))
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, path, 0, 0,
                       "'%s' has %lld columns beside the class, expected one of weights: lines "
                       "CLASS,WEIGHT",
                       path, (long long)given->features));
  SR_TRY(sr__classes_match(ctx, view->classes, given->classes, &code));
  for (int32_t c = 0; c < view->classes.count; c++) weight[c] = NAN;
  for (int64_t i = 0; i < given->rows; i++) {
    int32_t c = given->label[i] < 0 ? -1 : code[given->label[i]];
    if (c < 0)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, path, 0, 0,
                         "'%s' weighs the class '%s', which the table has not", path,
                         given->label[i] < 0 ? "" : given->classes.names[given->label[i]]));
    weight[c] = (double)given->x[i];
    if (!(weight[c] > 0.0) || !isfinite(weight[c]))
      SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, path, 0, 0,
                         "'%s' gives the class '%s' the weight %g, expected a number above 0", path,
                         view->classes.names[c], weight[c]));
  }
  for (int32_t c = 0; c < view->classes.count; c++)
    if (isnan(weight[c]))
      SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, path, 0, 0,
                         "'%s' has no weight for the class '%s'; add a line %s,WEIGHT", path,
                         view->classes.names[c], view->classes.names[c]));
cleanup:
  sr__free(ctx, code);
  sr_table_free(&table);
  return status;
}

sr_status sr__class_weights_new(sr_context *ctx, const sr_table *table, const char *text,
                                sr__class_weights *weights) {
  sr_status status = SR_OK;
  sr_table_view view = *sr_table_get(table);
  if (!text || !*text) return SR_OK;
  SR_NEW(ctx, weights->of_class, view.classes.count);
  SR_NEW(ctx, weights->of_row, view.rows);
  SR_TRY(strcmp(text, "balanced") == 0 ? balance(ctx, &view, weights->of_class)
                                       : read_weights(ctx, text, &view, weights->of_class));
  for (int64_t i = 0; i < view.rows; i++) {
    double own = view.weight ? (double)view.weight[i] : 1.0;
    weights->of_row[i] = (float)(view.label[i] < 0 ? own : own * weights->of_class[view.label[i]]);
  }
  view.weight = weights->of_row;
  SR_TRY(sr_table_wrap(ctx, &view, &weights->table));
cleanup:
  if (status != SR_OK) sr__class_weights_free(ctx, weights);
  return status;
}

void sr__class_weights_free(sr_context *ctx, sr__class_weights *weights) {
  sr_table_free(&weights->table);
  sr__free(ctx, weights->of_class);
  sr__free(ctx, weights->of_row);
  *weights = (sr__class_weights){0};
}
