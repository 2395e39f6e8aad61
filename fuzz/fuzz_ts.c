/* The reader of .ts files, as series and as a table. */
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sr_context *ctx = fuzz_context();
  sr_read_options options;
  sr_read_options_init(&options);
  options.format = "ts";
  sr_series *series = NULL, *copy = NULL;
  sr_status status = sr__series_read_memory(ctx, data, size, "input", &options, &series);
  fuzz_must((status == SR_OK) == (series != NULL));
  if (series) {
    fuzz_must(sr_series_get(series)->cases > 0);
    fuzz_must(sr_series_new(ctx, sr_series_get(series), &copy) == SR_OK);
    sr_table *table = NULL;
    status = sr__table_from_series(ctx, series, &table);
    fuzz_must(status == SR_OK || status == SR_ERROR_UNSUPPORTED);
    if (table) fuzz_check_table(ctx, table);
    sr_table_free(&table);
  }
  sr_series_free(&copy);
  sr_series_free(&series);
  sr_context_free(&ctx);
  return 0;
}
