/* Somebody's predictions, read from a file and put in the order of a table's rows. */
#include <math.h>

#include "data/dictionary.h"
#include "data/source.h"
#include "evaluate.h"

struct sr_prediction_file {
  sr_predictions view;
  sr_allocator allocator;
  int32_t *label;
  float *proba;
};

typedef struct reading {
  const char *path;
  const sr_table_view *rows; /* of the table that is predicted */
  sr_prediction_columns given;
  char *bytes;
  size_t size;
  sr_table *raw, *table;       /* every column as a feature; then with their roles */
  const char *row, *predicted; /* columns; NULL: none */
  int32_t *proba_column;       /* per class: the feature of `table`; -1: none */
  int32_t proba_columns;
  int64_t *at; /* row of the table for each row of its file, -1: none */
  int64_t file_rows;
} reading;

/* ---- the file ----------------------------------------------------------------------------- */

static sr_status slurp(sr_context *ctx, reading *r) {
  enum { STEP = 1 << 20 };
  sr_status status = SR_OK;
  sr__source *source = NULL;
  int64_t room = 0;
  size_t got = 1;
  SR_TRY(sr__source_open(ctx, r->path, &source));
  while (got > 0) {
    SR_GROW(ctx, r->bytes, room, (int64_t)r->size + STEP);
    SR_TRY(sr__source_read(ctx, source, r->bytes + r->size, (size_t)room - r->size, &got));
    r->size += got;
  }
cleanup:
  sr__source_close(ctx, &source);
  return status;
}

static const char *bare_path(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input.csv" : path;
}

/* A schema without columns: rows keep their order, and no column is left out. */
static sr_status read_columns(sr_context *ctx, const reading *r, const char *target,
                              const char *time, sr_table **table) {
  static const sr_table_view nothing = {0};
  sr_read_options options;
  sr_read_options_init(&options);
  options.schema = &nothing;
  options.target = target;
  options.time = time;
  return sr_table_read_bytes(ctx, r->bytes, r->size, bare_path(r->path), &options, table);
}

/* ---- which column is what ------------------------------------------------------------------- */

static int64_t find_column(const sr_table_view *view, const char *name) {
  for (int64_t j = 0; name && view->feature_names && j < view->features; j++)
    if (strcmp(view->feature_names[j], name) == 0) return j;
  return -1;
}

static const char *first_of(const sr_table_view *view, const char *const *names) {
  for (; *names; names++)
    if (find_column(view, *names) >= 0) return *names;
  return NULL;
}

static sr_status check_named(sr_context *ctx, const reading *r, const char *name) {
  if (!name || find_column(sr_table_get(r->raw), name) >= 0) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_NOT_FOUND, r->path, 0, 0, "'%s' has no column '%s'", r->path,
                     name);
}

/* The class that a column gives the probability of, or -1. */
static int32_t class_of_column(const sr_dictionary *classes, const char *column) {
  static const char *const before[] = {"p_", "proba_", "prob_", ""};
  for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
    size_t length = strlen(before[k]);
    if (strncmp(column, before[k], length) != 0) continue;
    for (int32_t c = 0; c < classes->count; c++)
      if (strcmp(column + length, classes->names[c]) == 0) return c;
  }
  return -1;
}

static sr_status find_probabilities(sr_context *ctx, reading *r) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(r->table);
  const sr_dictionary *classes = &r->rows->classes;
  int32_t absent = -1;
  SR_NEW(ctx, r->proba_column, classes->count);
  for (int32_t c = 0; c < classes->count; c++) r->proba_column[c] = -1;
  for (int64_t j = 0; view->feature_names && j < view->features; j++) {
    int32_t c = class_of_column(classes, view->feature_names[j]);
    if (c < 0 || r->proba_column[c] >= 0) continue;
    if (view->categories && view->categories[j].count)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                         "column '%s' of '%s' should hold probabilities and holds text ('%s')",
                         view->feature_names[j], r->path, view->categories[j].names[0]));
    r->proba_column[c] = (int32_t)j;
    r->proba_columns++;
  }
  for (int32_t c = 0; c < classes->count; c++)
    if (r->proba_column[c] < 0) absent = c;
  bool other_of_two = classes->count == 2 && r->proba_columns == 1;
  if (r->proba_columns > 0 && absent >= 0 && !other_of_two)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                       "'%s' has probabilities of %d of %d classes; a column 'p_%s' is missing",
                       r->path, r->proba_columns, classes->count, classes->names[absent]));
cleanup:
  return status;
}

static sr_status find_columns(sr_context *ctx, reading *r) {
  static const char *const row_names[] = {"row", "index", "Unnamed: 0", NULL};
  const char *const class_names[] = {
      "prediction", "predicted", "y_pred",
      "pred",       "yhat",      r->rows->target_name ? r->rows->target_name : "prediction",
      "class",      "label",     NULL};
  sr_status status = SR_OK;
  SR_TRY(read_columns(ctx, r, NULL, NULL, &r->raw));
  const sr_table_view *raw = sr_table_get(r->raw);
  SR_TRY(check_named(ctx, r, r->given.row));
  SR_TRY(check_named(ctx, r, r->given.prediction));
  r->row = r->given.row ? r->given.row : first_of(raw, row_names);
  r->predicted = r->given.prediction ? r->given.prediction : first_of(raw, class_names);
  /* One column beside the rows can only be the prediction, whatever it is called. */
  for (int64_t j = 0; !r->predicted && raw->feature_names && j < raw->features; j++) {
    const char *name = raw->feature_names[j];
    if (raw->features != 1 + (r->row != NULL) || (r->row && strcmp(name, r->row) == 0)) continue;
    if (class_of_column(&r->rows->classes, name) < 0) r->predicted = name;
  }
  SR_TRY(read_columns(ctx, r, r->predicted, r->row, &r->table));
  SR_TRY(find_probabilities(ctx, r));
  if (!r->predicted && r->proba_columns == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                       "'%s' has neither a column 'prediction' nor columns p_CLASS ('p_%s', ...); "
                       "name the column of the class with --prediction",
                       r->path, r->rows->classes.count ? r->rows->classes.names[0] : ""));
cleanup:
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

sr_status sr__rows_of_file(sr_context *ctx, const sr_table_view *view, int64_t **at,
                           int64_t *count) {
  sr_status status = SR_OK;
  *count = view->rows;
  for (int64_t i = 0; view->source_row && i < view->rows; i++)
    if (view->source_row[i] >= *count) *count = view->source_row[i] + 1;
  SR_NEW(ctx, *at, *count);
  for (int64_t k = 0; k < *count; k++) (*at)[k] = -1;
  for (int64_t i = 0; i < view->rows; i++) (*at)[view->source_row ? view->source_row[i] : i] = i;
cleanup:
  return status;
}

/* The table's row of line `k`, or -1 where the table left that row of its file out. */
static sr_status row_of_line(sr_context *ctx, const reading *r, int64_t k, int64_t *row) {
  const sr_table_view *view = sr_table_get(r->table);
  double number = view->time ? view->time[k] : (double)k;
  if (!(number >= 0.0 && number < (double)r->file_rows) || number != floor(number))
    return sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                       "'%s', prediction %lld: row %.17g, expected 0 to %lld (rows are counted "
                       "from 0, in the order of the file)",
                       r->path, (long long)k + 1, number, (long long)r->file_rows - 1);
  *row = r->at[(int64_t)number];
  return SR_OK;
}

static sr_status check_lines(sr_context *ctx, const reading *r) {
  int64_t lines = sr_table_get(r->table)->rows;
  if (r->row || lines == r->file_rows) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                     "'%s' has %lld predictions for %lld rows; add a column 'row' that counts the "
                     "rows from 0, in the order of the file",
                     r->path, (long long)lines, (long long)r->file_rows);
}

/* ---- values ------------------------------------------------------------------------------- */

static sr_status take_labels(sr_context *ctx, const reading *r, sr_prediction_file *f) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(r->table);
  int32_t *code = NULL;
  if (!r->predicted) return SR_OK;
  SR_TRY(sr__classes_match(ctx, r->rows->classes, view->classes, &code));
  for (int64_t k = 0; k < view->rows; k++) {
    int64_t row;
    int32_t c = view->label[k];
    SR_TRY(row_of_line(ctx, r, k, &row));
    if (c >= 0 && code[c] < 0)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                         "'%s', prediction %lld: '%s' is none of the %d classes ('%s', ...)",
                         r->path, (long long)k + 1, view->classes.names[c], r->rows->classes.count,
                         r->rows->classes.names[0]));
    if (row >= 0) f->label[row] = c < 0 ? -1 : code[c];
  }
cleanup:
  sr__free(ctx, code);
  return status;
}

static sr_status take_probabilities(sr_context *ctx, const reading *r, sr_prediction_file *f) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(r->table);
  int32_t classes = r->rows->classes.count;
  for (int64_t k = 0; r->proba_columns > 0 && k < view->rows; k++) {
    int64_t row;
    SR_TRY(row_of_line(ctx, r, k, &row));
    for (int32_t c = 0; row >= 0 && c < classes; c++) {
      int32_t column = r->proba_column[c];
      float share = column >= 0 ? view->x[column * view->rows + k] : 0.0f;
      if (share < 0.0f || share > 1.0f)
        SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                           "'%s', prediction %lld: the probability '%s' is %g, expected 0 to 1",
                           r->path, (long long)k + 1, view->feature_names[column], (double)share));
      float *to = &f->proba[row * classes + c];
      *to = column >= 0 ? view->x[column * view->rows + k]
                        : 1.0f - view->x[r->proba_column[1 - c] * view->rows + k];
    }
  }
cleanup:
  return status;
}

/* A column `truth` that says other classes than the file was made for other rows. */
static sr_status check_truth(sr_context *ctx, const reading *r) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  int32_t *code = NULL;
  if (find_column(sr_table_get(r->raw), "truth") < 0 || !r->predicted ||
      strcmp(r->predicted, "truth") == 0)
    return SR_OK;
  SR_TRY(read_columns(ctx, r, "truth", r->row, &table));
  const sr_table_view *view = sr_table_get(table);
  if (!view->label) goto cleanup;
  SR_TRY(sr__classes_match(ctx, r->rows->classes, view->classes, &code));
  for (int64_t k = 0; k < view->rows; k++) {
    int64_t row;
    int32_t c = view->label[k];
    SR_TRY(row_of_line(ctx, r, k, &row));
    if (c < 0 || row < 0 || r->rows->label[row] < 0 || code[c] == r->rows->label[row]) continue;
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                       "'%s', prediction %lld: the truth is '%s' there and '%s' in the data; are "
                       "these predictions of another file, or of its rows in another order?",
                       r->path, (long long)k + 1, view->classes.names[c],
                       r->rows->classes.names[r->rows->label[row]]));
  }
cleanup:
  sr__free(ctx, code);
  sr_table_free(&table);
  return status;
}

static sr_status check_once(sr_context *ctx, const reading *r) {
  sr_status status = SR_OK;
  uint8_t *seen = NULL;
  int64_t lines = sr_table_get(r->table)->rows;
  SR_NEW_ZERO(ctx, seen, r->rows->rows);
  for (int64_t k = 0; r->row && k < lines; k++) {
    int64_t row;
    SR_TRY(row_of_line(ctx, r, k, &row));
    if (row < 0) continue;
    if (seen[row])
      SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, r->path, 0, 0,
                         "'%s' predicts row %.17g twice; keep one prediction per row, or judge "
                         "each repetition by itself",
                         r->path, sr_table_get(r->table)->time[k]));
    seen[row] = 1;
  }
cleanup:
  sr__free(ctx, seen);
  return status;
}

static sr_status fill(sr_context *ctx, reading *r, sr_prediction_file *f) {
  sr_status status = SR_OK;
  int64_t rows = r->rows->rows, values = rows * r->rows->classes.count;
  SR_TRY(find_columns(ctx, r));
  SR_TRY(sr__rows_of_file(ctx, r->rows, &r->at, &r->file_rows));
  SR_TRY(check_lines(ctx, r));
  SR_TRY(check_truth(ctx, r));
  SR_TRY(check_once(ctx, r));
  if (r->predicted) {
    SR_NEW(ctx, f->label, rows);
    for (int64_t i = 0; i < rows; i++) f->label[i] = -1;
  }
  if (r->proba_columns > 0) {
    SR_NEW(ctx, f->proba, values);
    for (int64_t i = 0; i < values; i++) f->proba[i] = NAN;
  }
  SR_TRY(take_labels(ctx, r, f));
  SR_TRY(take_probabilities(ctx, r, f));
  f->view = (sr_predictions){.label = f->label, .proba = f->proba};
cleanup:
  return status;
}

sr_status sr_prediction_file_read(sr_context *ctx, const char *path, const sr_table *table,
                                  const sr_prediction_columns *columns, sr_prediction_file **file) {
  sr_status status = SR_OK;
  sr_prediction_file *made = NULL;
  reading r = {.path = path, .rows = sr_table_get(table)};
  *file = NULL;
  if (columns) r.given = *columns;
  if (!r.rows->label) SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has no classes to judge by"));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(slurp(ctx, &r));
  SR_TRY(fill(ctx, &r, made));
  *file = made;
  made = NULL;
cleanup:
  sr_prediction_file_free(&made);
  sr_table_free(&r.raw);
  sr_table_free(&r.table);
  sr__free(ctx, r.bytes);
  sr__free(ctx, r.proba_column);
  sr__free(ctx, r.at);
  return status;
}

void sr_prediction_file_free(sr_prediction_file **file) {
  if (!file || !*file) return;
  sr_allocator allocator = (*file)->allocator;
  sr__release(&allocator, (*file)->label);
  sr__release(&allocator, (*file)->proba);
  sr__release(&allocator, *file);
  *file = NULL;
}

const sr_predictions *sr_prediction_file_get(const sr_prediction_file *file) { return &file->view; }
