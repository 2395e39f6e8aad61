/* Weak stand-ins so that the command links before the readers land; the strong ones win. */
#include "table.h"

__attribute__((weak)) void sr_read_options_init(sr_read_options *options) {
  *options = (sr_read_options){.header = -1};
}

__attribute__((weak)) sr_status sr_table_read(sr_context *ctx, const char *path,
                                              const sr_read_options *options, sr_table **table) {
  (void)options;
  *table = NULL;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "cannot read '%s' yet", path);
}

__attribute__((weak)) sr_status sr_table_write(sr_context *ctx, const sr_table *table,
                                               const char *path) {
  (void)table;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "cannot write '%s' yet", path);
}
