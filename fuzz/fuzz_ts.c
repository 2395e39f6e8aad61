/* The reader of .ts files, and what it gives as columns and as a file again. */
#include "data/series_columns.h"
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sr_context *ctx = fuzz_context();
  sr_read_options options;
  sr_read_options_init(&options);
  options.format = "ts";
  sr_table *table = NULL, *columns = NULL;
  sr_status status = sr_table_read_bytes(ctx, data, size, "input", &options, &table);
  fuzz_must((status == SR_OK) == (table != NULL));
  if (table) {
    fuzz_must(sr_table_get(table)->channels > 0);
    fuzz_check_table(ctx, table);
    status = sr__series_columns(ctx, table, 0, &columns);
    fuzz_must(status == SR_OK || status == SR_ERROR_UNSUPPORTED);
    if (columns) fuzz_check_table(ctx, columns);
  }
  sr_table_free(&columns);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return 0;
}
