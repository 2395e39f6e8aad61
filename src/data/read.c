/* Which format a file has: by its first bytes where these tell, else by its name. */
#include <strings.h>
#include <unistd.h>

#include "format/format.h"
#include "settle.h"
#include "windows.h"

void sr_read_options_init(sr_read_options *options) { *options = (sr_read_options){.header = -1}; }

/* ---- detection ---------------------------------------------------------------------------- */

static const sr__format *recognized(const sr__beginning *beginning, sr__recognition *best) {
  const sr__format *found = NULL;
  *best = SR__NOT_RECOGNIZED;
  for (int i = 0; sr__format_at(i); i++) {
    const sr__format *format = sr__format_at(i);
    sr__recognition here = format->recognize ? format->recognize(beginning) : SR__NOT_RECOGNIZED;
    if (here <= *best) continue;
    *best = here;
    found = format;
  }
  return found;
}

/* The format that the options name, else the one that the beginning or the name of the file tells,
 * else the first of the registry. Refuses what this build lacks. */
static sr_status find_format(sr_context *ctx, const char *path, sr__source *source,
                             const sr_read_options *options, const sr__format **format) {
  enum { LOOKED_AT = 1 << 16 };
  sr_status status = SR_OK;
  const sr_method *method = NULL;
  const char *name = options->format;
  char *start = NULL;
  if (!name) {
    size_t got, room = sr__source_room(source, LOOKED_AT);
    SR_NEW(ctx, start, (int64_t)room);
    SR_TRY(sr__source_peek(ctx, source, start, room, &got));
    const sr__beginning beginning = {path, start, got, got < room, options};
    sr__recognition how;
    const sr__format *by_bytes = recognized(&beginning, &how), *by_path = sr__format_of_path(path);
    *format = by_bytes && (how >= SR__MORE_LIKELY || !by_path) ? by_bytes : by_path;
    if (!*format) *format = sr__format_at(0);
    name = (*format)->about.name;
  }
  SR_TRY(sr_method_check(ctx, "format", sr_format_method, name, &method));
  *format = (const sr__format *)method; /* `about` comes first */
cleanup:
  sr__free(ctx, start);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static sr_status read_path(sr_context *ctx, const char *path, const sr__format *format,
                           const sr_read_options *options, sr_table **table) {
  if (strcmp(path, "-") == 0)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "%s is not read from standard input; give a file",
                    format->about.name);
  return format->read_path(ctx, path, options, table);
}

/* "a.tif,b.tif" names several files, unless a file has that very name. */
static const sr__format *format_of_list(const char *path) {
  const sr__format *format = sr__format_of_path(path);
  return format && format->is_list && strchr(path, ',') && access(path, F_OK) != 0 ? format : NULL;
}

static sr_status check_labels(sr_context *ctx, const char *path, const sr__format *format,
                              const sr_read_options *options) {
  if (!options->labels || format->takes_labels) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, path, 0, 0,
                     "labels are laid over a GeoTIFF; '%s' is a %s file, whose rows carry their "
                     "own target",
                     path, format->about.name);
}

static sr_status cut_windows(sr_context *ctx, const sr_read_options *options, sr_table **table) {
  sr_table *windows = NULL;
  if (options->window == 0) return SR_OK;
  sr_status status =
      sr__table_windows(ctx, *table, options->schema, options->window,
                        options->stride ? options->stride : options->window, &windows);
  if (status != SR_OK) return status;
  sr_table_free(table);
  *table = windows;
  return SR_OK;
}

sr_status sr_table_read(sr_context *ctx, const char *path, const sr_read_options *options,
                        sr_table **table) {
  sr_status status = SR_OK;
  sr__source *source = NULL;
  sr_read_options defaults;
  const sr__format *format = format_of_list(path);
  *table = NULL;
  sr_read_options_init(&defaults);
  if (!options) options = &defaults;
  if (format) {
    SR_TRY(sr_method_check(ctx, "format", sr_format_method, format->about.name, NULL));
  } else {
    SR_TRY(sr__source_open(ctx, path, &source));
    SR_TRY(find_format(ctx, path, source, options, &format));
  }
  SR_TRY(check_labels(ctx, path, format, options));
  if (format->read) {
    SR_TRY(format->read(ctx, source, options, table));
  } else {
    sr__source_close(ctx, &source);
    SR_TRY(read_path(ctx, path, format, options, table));
  }
  SR_TRY(sr__settle(ctx, path, options, table));
  SR_TRY(cut_windows(ctx, options, table));
cleanup:
  if (status != SR_OK) sr_table_free(table);
  sr__source_close(ctx, &source);
  return status;
}

sr_status sr__table_read_memory(sr_context *ctx, sr__memory_file file,
                                const sr_read_options *options, sr_table **table) {
  sr_status status = SR_OK;
  sr__source *source = NULL;
  const sr__format *format = NULL;
  *table = NULL;
  SR_TRY(sr__source_open_memory(ctx, file.bytes, file.size, file.name, &source));
  if (file.step) sr__source_set_step(source, file.step);
  SR_TRY(find_format(ctx, file.name, source, options, &format));
  if (!format->read)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, file.name, 0, 0,
                       "a %s file cannot be read from memory", format->about.name));
  SR_TRY(check_labels(ctx, file.name, format, options));
  SR_TRY(format->read(ctx, source, options, table));
  SR_TRY(sr__settle(ctx, file.name, options, table));
  SR_TRY(cut_windows(ctx, options, table));
cleanup:
  if (status != SR_OK) sr_table_free(table);
  sr__source_close(ctx, &source);
  return status;
}

sr_status sr_table_read_bytes(sr_context *ctx, const void *bytes, size_t size, const char *name,
                              const sr_read_options *options, sr_table **table) {
  sr_read_options defaults;
  sr_read_options_init(&defaults);
  sr__memory_file file = {.bytes = bytes, .size = size, .name = name ? name : "memory"};
  return sr__table_read_memory(ctx, file, options ? options : &defaults, table);
}
