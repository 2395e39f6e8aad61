/* Text that grows in memory, and files that may be packed with gzip. Internal to src/data. */
#ifndef SR_DATA_OUTPUT_H
#define SR_DATA_OUTPUT_H

#include "core/core.h"

/* A struct of zeros is empty text. */
typedef struct sr__words {
  char *bytes;
  int64_t used, capacity;
} sr__words;

/* Makes room for `count` more bytes. */
SR_MUST_CHECK sr_status sr__words_reserve(sr_context *ctx, sr__words *text, int64_t count);
SR_MUST_CHECK sr_status sr__words_put(sr_context *ctx, sr__words *text, const char *bytes,
                                      size_t count);

/* An atomic file, packed where its name ends in .gz. */
typedef struct sr__output sr__output;
SR_MUST_CHECK sr_status sr__output_open(sr_context *ctx, const char *path, sr__output **output);
SR_MUST_CHECK sr_status sr__output_put(sr_context *ctx, sr__output *output, const void *bytes,
                                       size_t count);
SR_MUST_CHECK sr_status sr__output_commit(sr_context *ctx, sr__output **output);
/* Null-safe; a no-op after commit. */
void sr__output_abort(sr_context *ctx, sr__output **output);

/* Whether the path, without .gz, ends in this. */
bool sr__path_ends(const char *path, const char *ending);

#endif
