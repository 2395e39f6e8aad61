/* Which writer a path belongs to. */
#include <sys/stat.h>

#include "format/format.h"
#include "packed_file.h"
#include "series_columns.h"

static sr_status refuse_ending(sr_context *ctx, const char *path) {
  char list[256] = "";
  size_t used = 0;
  for (int i = 0; sr__format_at(i) && used < sizeof list; i++) {
    if (sr__format_at(i)->write)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? " " : "",
                               sr__format_at(i)->endings_text);
  }
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                     "a table is not written as '%s'; expected an ending of %s, text also with .gz",
                     path, list);
}

/* Standard output, and a device or FIFO whose name says nothing, take the first format: csv. */
static const sr__format *format_of_output(const char *path) {
  const sr__format *found = sr__format_of_path(path);
  struct stat info;
  if (strcmp(path, "-") == 0) return sr__format_at(0);
  if (found || stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
    return found;
  return sr__format_at(0);
}

sr_status sr_table_write(sr_context *ctx, const sr_table *table, const char *path) {
  sr_status status = SR_OK;
  sr_table *as_columns = NULL;
  const sr__format *format = format_of_output(path);
  if (!format || !format->write || (sr__path_is_packed(path) && !format->is_text))
    SR_TRY(refuse_ending(ctx, path));
  SR_TRY(sr_method_check(ctx, "format", sr_format_method, format->about.name, NULL));
  if (!format->holds_series) SR_TRY(sr__series_columns(ctx, table, 0, &as_columns));
  SR_TRY(format->write(ctx, sr_table_get(as_columns ? as_columns : table), path));
cleanup:
  sr_table_free(&as_columns);
  return status;
}
