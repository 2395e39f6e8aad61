/* Rows as text, put together by all threads, chunk by chunk. Internal. */
#ifndef SR_DATA_ROW_TEXT_H
#define SR_DATA_ROW_TEXT_H

#include <specroute/data.h>

#include "core/text.h"

/* Appends rows [begin, end) of `from` to the text. */
typedef sr_status (*sr__row_writer)(sr_context *ctx, const void *from, char separator,
                                    int64_t begin, int64_t end, sr__text *text);

typedef struct sr__written_rows {
  sr__row_writer write;
  const void *from;
  int64_t count;
  char separator;
} sr__written_rows;

/* Writes the header and all rows to a file, packed where its name ends in .gz. */
SR_MUST_CHECK sr_status sr__write_rows(sr_context *ctx, const char *path, const sr__text *header,
                                       sr__written_rows rows);

/* Text that would be cut, trimmed or taken for a missing value is put in quotes. */
SR_MUST_CHECK sr_status sr__put_name(sr_context *ctx, sr__text *text, const char *name,
                                     char separator);
/* The name of a code, NA where it is negative. */
SR_MUST_CHECK sr_status sr__put_code(sr_context *ctx, sr__text *text, const sr_dictionary *names,
                                     int32_t code, char separator);
SR_MUST_CHECK sr_status sr__put_float(sr_context *ctx, sr__text *text, float value);
SR_MUST_CHECK sr_status sr__put_double(sr_context *ctx, sr__text *text, double value);
SR_MUST_CHECK sr_status sr__put_char(sr_context *ctx, sr__text *text, char c);

#endif
