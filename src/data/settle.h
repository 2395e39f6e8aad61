/* What is done with a table that was just read: its rows are put in the order of time, and columns
 * that count or name the rows are left out of the features. Internal to src/data. */
#ifndef SR_DATA_SETTLE_H
#define SR_DATA_SETTLE_H

#include "table.h"

/* Changes *table; says what it did in the log. `file` is for messages. SR_ERROR_DATA where time
 * does not tell the order of the rows. */
SR_MUST_CHECK sr_status sr__settle(sr_context *ctx, const char *file,
                                   const sr_read_options *options, sr_table **table);

/* Features that count or name the rows: marks them in counts[0..features). Tables below 50 rows are
 * too small to tell. */
SR_MUST_CHECK sr_status sr__find_counters(sr_context *ctx, const sr_table_view *view, bool *counts);
/* A feature that alone tells the class of every row but `wrong`, or -1. */
SR_MUST_CHECK sr_status sr__find_disguised_target(sr_context *ctx, const sr_table_view *view,
                                                  int64_t *feature, int64_t *wrong);

#endif
