/* Which writer a path belongs to. */
#include "packed_file.h"
#include "read.h"

sr_status sr_table_write(sr_context *ctx, const sr_table *table, const char *path) {
  const sr_table_view *t = sr_table_get(table);
  if (strcmp(path, "-") == 0 || sr__path_ends(path, ".csv"))
    return sr__write_csv(ctx, t, path, ',');
  if (sr__path_ends(path, ".tsv")) return sr__write_csv(ctx, t, path, '\t');
  if (sr__path_ends(path, ".npy")) return sr__write_npy(ctx, t, path);
  if (sr__path_ends(path, ".libsvm") || sr__path_ends(path, ".svm"))
    return sr__write_libsvm(ctx, t, path);
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                     "a table is not written as '%s'; expected an ending of .csv, .tsv, .npy or "
                     ".libsvm, text also with .gz",
                     path);
}
