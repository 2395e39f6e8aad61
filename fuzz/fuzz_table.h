/* What the fuzzers of table readers share: options from the first byte, and what must hold. */
#ifndef SR_FUZZ_TABLE_H
#define SR_FUZZ_TABLE_H

#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "data/format/format.h"

static inline void fuzz_must(bool holds) {
  if (!holds) abort();
}

static inline sr_context *fuzz_context(void) {
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  sr_context *ctx = NULL;
  fuzz_must(sr_context_new(&options, &ctx) == SR_OK);
  return ctx;
}

/* Codes stay in their dictionaries and sizes agree: sr_table_new checks it all. */
static inline void fuzz_check_table(sr_context *ctx, const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  sr_table *copy = NULL;
  fuzz_must(view->rows > 0);
  fuzz_must(sr_table_new(ctx, view, &copy) == SR_OK);
  sr_table_free(&copy);
  for (int64_t j = 0; view->categories && j < view->features; j++) {
    for (int64_t i = 0; view->categories[j].count && i < view->rows; i++) {
      float code = view->x[j * view->rows + i];
      fuzz_must(code != code || (code >= 0 && code < (float)view->categories[j].count));
    }
  }
}

static inline void fuzz_same_table(const sr_table *left, const sr_table *right) {
  const sr_table_view *a = sr_table_get(left), *b = sr_table_get(right);
  fuzz_must(a->rows == b->rows && a->features == b->features);
  size_t values = (size_t)(a->rows * a->features);
  if (values) fuzz_must(memcmp(a->x, b->x, values * sizeof *a->x) == 0);
  fuzz_must(!a->label == !b->label && a->classes.count == b->classes.count);
  if (a->label) fuzz_must(memcmp(a->label, b->label, (size_t)a->rows * sizeof *a->label) == 0);
  for (int32_t c = 0; c < a->classes.count; c++)
    fuzz_must(strcmp(a->classes.names[c], b->classes.names[c]) == 0);
}

/* Reads the bytes at once and in blocks of 7; both must succeed alike. A failure must say why. */
static inline void fuzz_table(const uint8_t *data, size_t size, const char *format) {
  if (size < 1) return;
  sr_context *ctx = fuzz_context();
  sr_read_options options;
  sr_read_options_init(&options);
  static const char *const two_columns[] = {"2", "3", NULL}, *const dropped[] = {"1", NULL};
  uint8_t choice = data[0];
  options.format = format;
  if (choice & 1) options.target = "1";
  if (choice & 2) options.coordinates = two_columns;
  if (choice & 4) options.time = "4";
  if (choice & 8) options.group = "1", options.target = NULL;
  if (choice & 16) options.header = choice & 32 ? 1 : 0;
  if (choice & 64) options.drop = dropped;
  if (choice & 128) options.weight = "5", options.separator = ',';
  sr_table *table = NULL, *in_blocks = NULL;
  sr_status status = sr__table_read_memory(ctx, (sr__memory_file){data + 1, size - 1, "input", 0},
                                           &options, &table);
  fuzz_must((status == SR_OK) == (table != NULL));
  if (status != SR_OK) fuzz_must(sr_context_error(ctx).message[0] != '\0');
  sr_status again = sr__table_read_memory(ctx, (sr__memory_file){data + 1, size - 1, "input", 7},
                                          &options, &in_blocks);
  fuzz_must((status == SR_OK) == (again == SR_OK)); /* a block may meet a later error first */
  if (table) {
    fuzz_check_table(ctx, table);
    fuzz_same_table(table, in_blocks);
  }
  sr_table_free(&in_blocks);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

#endif
