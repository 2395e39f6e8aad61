/* What can be learned from: a target of two classes or more, and the rows that can teach. */
#include "data/table.h"
#include "train.h"

static double weight_of(const sr_table_view *view, int64_t row) {
  return view->weight ? (double)view->weight[row] : 1.0;
}

static bool can_teach(const sr_table_view *view, int64_t row) {
  return view->label[row] >= 0 && weight_of(view, row) != 0.0;
}

/* Two classes at least must be there; those without weight are named. */
static sr_status check_classes(sr_context *ctx, const sr_table_view *view) {
  sr_status status = SR_OK;
  bool *seen = NULL, *taught = NULL;
  int32_t classes = 0, with_weight = 0, last = 0;
  SR_NEW_ZERO(ctx, seen, view->classes.count);
  SR_NEW_ZERO(ctx, taught, view->classes.count);
  for (int64_t i = 0; i < view->rows; i++) {
    if (view->label[i] < 0) continue;
    seen[view->label[i]] = true;
    taught[view->label[i]] |= can_teach(view, i);
  }
  for (int32_t c = 0; c < view->classes.count; c++) {
    classes += seen[c];
    with_weight += taught[c];
    if (taught[c]) last = c;
  }
  if (with_weight == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    classes == 0 ? "no row has a class; fill in the target column"
                                 : "every row has weight 0; give positive weights"));
  if (with_weight == 1)
    SR_TRY(
        sr__fail(ctx, SR_ERROR_DATA,
                 "every row%s is of the class '%s': there is nothing to tell apart; name another "
                 "target%s",
                 classes > 1 ? " with a weight above 0" : "", view->classes.names[last],
                 classes > 1 ? ", or give other classes some weight"
                             : ", or make two classes of a number, as in \"NAME > median\""));
  for (int32_t c = 0; c < view->classes.count; c++) {
    if (seen[c] && !taught[c])
      sr__log(ctx, SR_LOG_WARNING, "class '%s' has no row of a weight above 0 and is never named",
              view->classes.names[c]);
  }
cleanup:
  sr__free(ctx, seen);
  sr__free(ctx, taught);
  return status;
}

sr_status sr__check_target(sr_context *ctx, const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  if (view->value)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the target is a number, and what is learned here are classes; compare it with "
                    "a number to make two, as in \"%s > median\"",
                    view->target_name ? view->target_name : "target");
  if (!view->label)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the table has no classes to learn; name the target column");
  return check_classes(ctx, view);
}

/* One row that outweighs all others is mostly a slip of the pen. */
static void warn_of_heavy_row(sr_context *ctx, const sr_table_view *view) {
  double sum = 0.0, largest = 0.0;
  int64_t heaviest = 0, count = 0;
  for (int64_t i = 0; i < view->rows; i++) {
    if (!can_teach(view, i)) continue;
    count++;
    sum += weight_of(view, i);
    if (weight_of(view, i) <= largest) continue;
    largest = weight_of(view, i);
    heaviest = i;
  }
  if (count > 2 && 2.0 * largest > sum)
    sr__log(ctx, SR_LOG_WARNING,
            "row %lld weighs %g, more than all other rows together: members that draw it learn "
            "little else; look at the weights",
            (long long)(view->source_row ? view->source_row[heaviest] : heaviest), largest);
}

sr_status sr__keep_teaching_rows(sr_context *ctx, const sr_table *table, sr_table **kept) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  int32_t *rows = NULL;
  int64_t count = 0, without_class = 0;
  if (view->weight) warn_of_heavy_row(ctx, view);
  SR_NEW(ctx, rows, view->rows);
  for (int64_t i = 0; i < view->rows; i++) {
    without_class += view->label[i] < 0;
    if (can_teach(view, i)) rows[count++] = (int32_t)i;
  }
  if (count == view->rows) goto cleanup;
  if (without_class)
    sr__log(ctx, SR_LOG_WARNING, "%lld of %lld rows have no class and are left out",
            (long long)without_class, (long long)view->rows);
  if (count + without_class < view->rows)
    sr__log(ctx, SR_LOG_WARNING, "%lld of %lld rows have weight 0 and are left out",
            (long long)(view->rows - count - without_class), (long long)view->rows);
  SR_TRY(sr__table_select(ctx, table, rows, count, kept));
  SR_TRY(sr__table_name_rows(ctx, *kept, rows, view->rows));
cleanup:
  sr__free(ctx, rows);
  return status;
}
