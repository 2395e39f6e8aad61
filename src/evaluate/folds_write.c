/* Folds for another trainer. */

#include "core/text.h"
#include "data/npy.h"
#include "evaluate.h"

static const char *const role_names[] = {"train", "test", "free"};

/* The row as the file counts it. */
static int64_t file_row(const sr_table_view *table, int64_t row) {
  return table && table->source_row ? table->source_row[row] : row;
}

static sr_status write_csv(sr_context *ctx, const sr_folds_view *folds, const sr_table_view *table,
                           sr__writer *out) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, "row,fold,role\n"));
  for (int32_t fold = 0; fold < folds->folds; fold++) {
    SR_TRY(sr__check_interrupt(ctx));
    for (int64_t row = 0; row < folds->rows; row++)
      SR_TRY(sr__writer_print(out, "%lld,%d,%s\n", (long long)file_row(table, row), fold,
                              role_names[folds->role[fold * folds->rows + row]]));
  }
cleanup:
  return status;
}

/* A line of bytes per fold: 0 train, 1 test, 2 free. */
static sr_status write_npy(sr_context *ctx, const sr_folds_view *folds, const sr_table_view *table,
                           sr__writer *out) {
  sr_status status = SR_OK;
  char header[SR__NPY_HEADER_BYTES];
  uint8_t *line = NULL;
  const sr__npy array = {.kind = 'u', .size = 1, .rows = folds->folds, .columns = folds->rows};
  SR_NEW(ctx, line, folds->rows);
  SR_TRY(sr__writer_put(out, header, sr__npy_print_header(&array, header)));
  for (int32_t fold = 0; fold < folds->folds; fold++) {
    for (int64_t row = 0; row < folds->rows; row++)
      line[file_row(table, row)] = folds->role[fold * folds->rows + row];
    SR_TRY(sr__writer_put(out, line, (size_t)folds->rows));
  }
cleanup:
  sr__free(ctx, line);
  return status;
}

static sr_status write_rows(const sr_folds_view *folds, const sr_table_view *table, int32_t fold,
                            sr_fold_role role, sr__writer *out) {
  sr_status status = SR_OK;
  bool any = false;
  SR_TRY(sr__writer_print(out, "\"%s\":[", role_names[role]));
  for (int64_t row = 0; row < folds->rows; row++) {
    if (folds->role[fold * folds->rows + row] != role) continue;
    SR_TRY(sr__writer_print(out, "%s%lld", any ? "," : "", (long long)file_row(table, row)));
    any = true;
  }
  SR_TRY(sr__writer_print(out, "]"));
cleanup:
  return status;
}

static sr_status write_json(sr_context *ctx, const sr_folds_view *folds, const sr_table_view *table,
                            sr__writer *out) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, "{\"rows\":%lld,\"unit\":\"%s\",\"units\":%d,\"buffer\":%lld,",
                          (long long)folds->rows, sr_unit_name(folds->unit), folds->units,
                          (long long)folds->buffer));
  SR_TRY(sr__writer_print(out, "\"folds\":["));
  for (int32_t fold = 0; fold < folds->folds; fold++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(sr__writer_print(out, "%s{", fold ? "," : ""));
    SR_TRY(write_rows(folds, table, fold, SR_ROLE_TRAIN, out));
    SR_TRY(sr__writer_print(out, ","));
    SR_TRY(write_rows(folds, table, fold, SR_ROLE_TEST, out));
    SR_TRY(sr__writer_print(out, "}"));
  }
  SR_TRY(sr__writer_print(out, "]}\n"));
cleanup:
  return status;
}

sr_status sr_folds_write(sr_context *ctx, const sr_folds *folds, const sr_table *table,
                         const char *path) {
  sr_status status = SR_OK;
  sr__writer *out = NULL;
  const sr_folds_view *view = sr_folds_get(folds);
  const sr_table_view *rows = table ? sr_table_get(table) : NULL;
  bool csv = sr__ends_in(path, ".csv") || strcmp(path, "-") == 0;
  bool npy = sr__ends_in(path, ".npy"), json = sr__ends_in(path, ".json");
  if (!csv && !npy && !json)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "folds are written as .csv, .npy or .json, and '%s' ends in none of these",
                    path));
  SR_TRY(sr__writer_open(ctx, path, &out));
  if (csv) SR_TRY(write_csv(ctx, view, rows, out));
  if (npy) SR_TRY(write_npy(ctx, view, rows, out));
  if (json) SR_TRY(write_json(ctx, view, rows, out));
  SR_TRY(sr__writer_commit(&out));
cleanup:
  sr__writer_abort(&out);
  return status;
}
