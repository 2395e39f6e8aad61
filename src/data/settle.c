#include "settle.h"

#include <math.h>

#include "core/sort.h"
#include "geographic.h"
#include "names.h"

/* ---- the order of time ---------------------------------------------------------------------- */

typedef struct timed_row {
  double time;
  int32_t group, row;
} timed_row;

static int by_group_and_time(const void *left, const void *right) {
  const timed_row *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* Whether time never falls inside a group, in the order of the file. */
static sr_status is_in_order(sr_context *ctx, const sr_table_view *view, bool *in_order) {
  sr_status status = SR_OK;
  double *last = NULL;
  int32_t groups = view->group ? view->groups.count : 1;
  SR_NEW(ctx, last, groups);
  for (int32_t g = 0; g < groups; g++) last[g] = -INFINITY;
  *in_order = true;
  for (int64_t i = 0; i < view->rows && *in_order; i++) {
    int32_t g = view->group ? view->group[i] : 0;
    *in_order = view->time[i] >= last[g];
    last[g] = view->time[i];
  }
cleanup:
  sr__free(ctx, last);
  return status;
}

/* Rows of one group and one time have no order that could be restored. */
static sr_status check_ties(sr_context *ctx, const char *file, const sr_table_view *view,
                            const timed_row *order) {
  for (int64_t i = 1; i < view->rows; i++) {
    const timed_row *a = &order[i - 1], *b = &order[i];
    if (a->group != b->group || a->time != b->time) continue;
    return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                       "the rows are not in the order of time, and rows %d and %d have the same "
                       "time (%.17g)%s, so their order cannot be told; name the column that tells "
                       "the series apart as group, or a finer time",
                       a->row, b->row, a->time, view->group ? " in the same group" : "");
  }
  return SR_OK;
}

/* The rows in the order of group and time, to be freed by sr__free; NULL where they stand in it. */
static sr_status find_order(sr_context *ctx, const char *file, const sr_table_view *view,
                            int32_t **rows) {
  sr_status status = SR_OK;
  timed_row *order = NULL;
  bool in_order = false;
  *rows = NULL;
  if (!view->time || view->cell) return SR_OK;
  SR_TRY(is_in_order(ctx, view, &in_order));
  if (in_order) return SR_OK;
  SR_NEW(ctx, order, view->rows);
  for (int64_t i = 0; i < view->rows; i++)
    order[i] = (timed_row){view->time[i], view->group ? view->group[i] : 0, (int32_t)i};
  SR_TRY(sr__sort(ctx, order, view->rows, sizeof *order, by_group_and_time));
  SR_TRY(check_ties(ctx, file, view, order));
  SR_NEW(ctx, *rows, view->rows);
  for (int64_t i = 0; i < view->rows; i++) (*rows)[i] = order[i].row;
cleanup:
  sr__free(ctx, order);
  return status;
}

/* Puts rows in the order of group and time where they are not. *moved says whether it did. */
static sr_status order_by_time(sr_context *ctx, const char *file, sr_table **table, bool *moved) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(*table);
  int32_t *rows = NULL;
  sr_table *sorted = NULL;
  *moved = false;
  SR_TRY(find_order(ctx, file, view, &rows));
  if (!rows) return SR_OK;
  SR_TRY(sr__table_select(ctx, *table, rows, view->rows, &sorted));
  SR_TRY(sr__table_name_rows(ctx, sorted, rows, view->rows));
  sr_table_free(table);
  *table = sorted;
  sorted = NULL;
  *moved = true;
cleanup:
  sr_table_free(&sorted);
  sr__free(ctx, rows);
  return status;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Keeps the features that are not marked, in place. */
static void drop_features(sr_table *table, const bool *marked) {
  sr_table_view *view = &table->view;
  float *x = (float *)(uintptr_t)view->x;
  const char **names = (const char **)(uintptr_t)view->feature_names;
  sr_dictionary *categories = (sr_dictionary *)(uintptr_t)view->categories;
  int64_t kept = 0;
  for (int64_t j = 0; j < view->features; j++) {
    if (marked[j]) {
      if (categories) sr__dictionary_free(&table->allocator, &categories[j]);
      continue;
    }
    if (kept != j)
      memmove(x + kept * view->rows, x + j * view->rows, (size_t)view->rows * sizeof *x);
    names[kept] = names[j];
    if (categories) categories[kept] = categories[j];
    kept++;
  }
  view->features = kept;
}

static bool is_named(const char *const *list, const char *name) {
  for (; list && *list; list++) {
    if (strcmp(*list, name) == 0) return true;
  }
  return false;
}

/* Readers with named columns have looked for these names already. */
static sr_status check_kept(sr_context *ctx, const char *file, const sr_read_options *options,
                            const sr_table_view *view) {
  if (options->time || options->group || options->weight || options->coordinates ||
      options->target || options->drop)
    return SR_OK;
  for (const char *const *name = options->keep; name && *name; name++) {
    int64_t j = 0;
    while (j < view->features && view->feature_names && strcmp(view->feature_names[j], *name) != 0)
      j++;
    if (!view->feature_names || j == view->features)
      return sr__fail_at(ctx, SR_ERROR_NOT_FOUND, file, 0, 0, "keep '%.100s' is no column", *name);
  }
  return SR_OK;
}

/* "column 'id'", or its number where it has no name. */
static void name_column(const sr_table_view *view, int64_t j, char *name, size_t size) {
  if (view->feature_names)
    snprintf(name, size, "'%.100s'", view->feature_names[j]);
  else
    snprintf(name, size, "%lld", (long long)j + 1);
}

static void warn_of_counters(sr_context *ctx, const char *file, const sr_table_view *view,
                             const bool *marked, const char *what) {
  char name[128];
  for (int64_t j = 0; j < view->features; j++) {
    if (!marked[j]) continue;
    name_column(view, j, name, sizeof name);
    sr__log(ctx, SR_LOG_WARNING, "%s: column %s counts or names the rows%s", file, name, what);
  }
}

static void warn_of_order(sr_context *ctx, const char *file, const sr_table_view *view) {
  sr__log(ctx, SR_LOG_WARNING, "%s: the rows were not in the order of time and have been sorted%s",
          file, view->group ? " by group and time" : "");
}

static sr_status leave_out_counters(sr_context *ctx, const char *file,
                                    const sr_read_options *options, sr_table *table) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  bool *marked = NULL;
  int64_t count = 0;
  SR_NEW(ctx, marked, view->features);
  SR_TRY(check_kept(ctx, file, options, view));
  SR_TRY(sr__find_counters(ctx, view, marked));
  for (int64_t j = 0; j < view->features; j++) {
    if (view->feature_names && is_named(options->keep, view->feature_names[j])) marked[j] = false;
    count += marked[j];
  }
  if (count == 0 || count == view->features) goto cleanup;
  if (!view->feature_names) { /* a model finds its columns by their place */
    warn_of_counters(ctx, file, view, marked, "; leave it out of the file");
    goto cleanup;
  }
  warn_of_counters(ctx, file, view, marked,
                   " and is left out of the features; name it as time or group, or keep it with "
                   "--keep");
  drop_features(table, marked);
cleanup:
  sr__free(ctx, marked);
  return status;
}

/* ---- what a reader would have said ----------------------------------------------------------- */

static sr_status warn_of_disguise(sr_context *ctx, const char *file, const sr_table_view *view) {
  int64_t feature, wrong;
  char name[128], rows[64] = "every row";
  sr_status status = sr__find_disguised_target(ctx, view, &feature, &wrong);
  if (status != SR_OK || feature < 0) return status;
  name_column(view, feature, name, sizeof name);
  if (wrong)
    snprintf(rows, sizeof rows, "all but %lld of %lld rows", (long long)wrong,
             (long long)view->rows);
  sr__log(ctx, SR_LOG_WARNING,
          "%s: feature %s alone tells the class of %s; drop it if it is the target under another "
          "name",
          file, name, rows);
  return SR_OK;
}

sr_status sr_table_examine(sr_context *ctx, const sr_table *table, int64_t *order, int *moved) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  static const char name[] = "the table";
  bool *marked = NULL;
  int32_t *rows = NULL;
  *moved = 0;
  for (int64_t i = 0; i < view->rows; i++) {
    order[i] = i;
    if (view->time && isnan(view->time[i]))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "time is missing in row %lld; every row needs one",
                      (long long)i));
  }
  SR_TRY(find_order(ctx, "", view, &rows));
  for (int64_t i = 0; rows && i < view->rows; i++) order[i] = rows[i];
  *moved = rows != NULL;
  if (rows) warn_of_order(ctx, name, view);
  SR_NEW(ctx, marked, view->features);
  if (!view->cell) SR_TRY(sr__find_counters(ctx, view, marked));
  if (!view->cell) warn_of_counters(ctx, name, view, marked, "; leave it out of the features");
  SR_TRY(warn_of_disguise(ctx, name, view));
cleanup:
  sr__free(ctx, marked);
  sr__free(ctx, rows);
  return status;
}

/* Classes that the model never saw come after its own, which keep their codes. */
static sr_status follow_classes(sr_context *ctx, const char *file, sr_dictionary known,
                                sr_table *table) {
  sr_status status = SR_OK;
  sr_table_view *view = &table->view;
  int32_t *code = NULL, *label = (int32_t *)(uintptr_t)view->label, total = known.count;
  const char **names = NULL;
  sr_dictionary all;
  if (!view->label || known.count == 0) return SR_OK;
  SR_TRY(sr__classes_match(ctx, known, view->classes, &code));
  SR_NEW(ctx, names, (int64_t)known.count + view->classes.count);
  for (int32_t c = 0; c < known.count; c++) names[c] = known.names[c];
  for (int32_t c = 0; c < view->classes.count; c++) {
    if (code[c] >= 0) continue;
    sr__log(ctx, SR_LOG_WARNING, "%s: the model was never shown the class '%s'", file,
            view->classes.names[c]);
    names[total] = view->classes.names[c];
    code[c] = total++;
  }
  SR_TRY(sr__dictionary_copy(ctx, (sr_dictionary){total, names}, &all));
  for (int64_t i = 0; i < view->rows; i++) label[i] = label[i] < 0 ? -1 : code[label[i]];
  sr__dictionary_free(&table->allocator, &view->classes);
  view->classes = all;
cleanup:
  sr__free(ctx, names);
  sr__free(ctx, code);
  return status;
}

static sr_status tell_equal_names(sr_context *ctx, const char *file, const sr_table_view *view) {
  sr_status status = SR_OK;
  sr__names names = {0};
  int32_t code;
  for (int64_t j = 0; view->feature_names && j < view->features; j++) {
    const char *name = view->feature_names[j];
    SR_TRY(sr__names_add(ctx, &names, name, strlen(name), j, &code));
    if (names.count == j + 1) continue;
    sr__log(ctx, SR_LOG_WARNING,
            "%s: several columns are named '%s'; only their order tells them apart", file, name);
    break;
  }
cleanup:
  sr__names_free(ctx, &names);
  return status;
}

sr_status sr__settle(sr_context *ctx, const char *file, const sr_read_options *options,
                     sr_table **table) {
  sr_status status = SR_OK;
  bool moved = false;
  SR_TRY(sr__settle_degrees(ctx, options, *table));
  SR_TRY(tell_equal_names(ctx, file, sr_table_get(*table)));
  /* Rows keep their order for predictions; windows are cut in the order of time. */
  if (!options->schema || options->window) SR_TRY(order_by_time(ctx, file, table, &moved));
  if (moved) warn_of_order(ctx, file, sr_table_get(*table));
  /* The schema of a model decides what is a feature. */
  if (options->schema) return follow_classes(ctx, file, options->schema->classes, *table);
  const sr_table_view *view = sr_table_get(*table);
  if (!view->cell) SR_TRY(leave_out_counters(ctx, file, options, *table));
  SR_TRY(warn_of_disguise(ctx, file, view));
cleanup:
  return status;
}
