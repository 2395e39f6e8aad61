/* What the readers share: where bytes come from and what they become. Internal to src/data. */
#ifndef SR_DATA_READ_H
#define SR_DATA_READ_H

#include "source.h"
#include "table.h"

/* ---- entries ------------------------------------------------------------------------------ */

/* The readers by format. They do not close the source. */
typedef sr_status (*sr__table_reader)(sr_context *ctx, sr__source *source,
                                      const sr_read_options *options, sr_table **table);
sr_status sr__read_csv(sr_context *ctx, sr__source *source, const sr_read_options *options,
                       sr_table **table);
sr_status sr__read_tsv(sr_context *ctx, sr__source *source, const sr_read_options *options,
                       sr_table **table);
/* The UCR archive's layout: no header, class first. */
sr_status sr__read_ucr(sr_context *ctx, sr__source *source, const sr_read_options *options,
                       sr_table **table);
sr_status sr__read_arff(sr_context *ctx, sr__source *source, const sr_read_options *options,
                        sr_table **table);
sr_status sr__read_npy(sr_context *ctx, sr__source *source, const sr_read_options *options,
                       sr_table **table);
sr_status sr__read_libsvm(sr_context *ctx, sr__source *source, const sr_read_options *options,
                          sr_table **table);
sr_status sr__read_ts(sr_context *ctx, sr__source *source, sr_series **series);
/* Grids are read by libraries that open the file themselves. */
sr_status sr__read_netcdf(sr_context *ctx, const char *path, const sr_read_options *options,
                          sr_table **table);
sr_status sr__read_geotiff(sr_context *ctx, const char *path, const sr_read_options *options,
                           sr_table **table);

/* The writers by format. */
SR_MUST_CHECK sr_status sr__write_csv(sr_context *ctx, const sr_table_view *t, const char *path,
                                      char separator);
SR_MUST_CHECK sr_status sr__write_npy(sr_context *ctx, const sr_table_view *t, const char *path);
SR_MUST_CHECK sr_status sr__write_libsvm(sr_context *ctx, const sr_table_view *t, const char *path);

/* The bytes of a file from memory, as sr_table_read and sr_series_read would read it under `name`.
 * `step` as in sr__source_set_step, 0 for that of files. */
SR_MUST_CHECK sr_status sr__table_read_memory(sr_context *ctx, const void *bytes, size_t size,
                                              size_t step, const char *name,
                                              const sr_read_options *options, sr_table **table);
SR_MUST_CHECK sr_status sr__series_read_memory(sr_context *ctx, const void *bytes, size_t size,
                                               const char *name, const sr_read_options *options,
                                               sr_series **series);

/* ---- series as tables --------------------------------------------------------------------- */

SR_MUST_CHECK sr_status sr__series_from_table(sr_context *ctx, const char *file,
                                              const sr_table *table, sr_series **series);
SR_MUST_CHECK sr_status sr__table_from_series(sr_context *ctx, const sr_series *series,
                                              sr_table **table);

#endif
