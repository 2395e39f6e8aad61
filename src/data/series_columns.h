/* Series as columns, for whoever takes features alone. Internal. */
#ifndef SR_DATA_SERIES_COLUMNS_H
#define SR_DATA_SERIES_COLUMNS_H

#include "table.h"

/* The table with each step of each channel as a feature after its own, named t1, t2, ... or, with
 * several channels, c1_t1, ...; NaN where a series is over. Every channel gets `length` columns: 0
 * stands for the longest series of the table. *made is NULL where the table has no series.
 * SR_ERROR_UNSUPPORTED where nearly all of it would be padding. */
SR_MUST_CHECK sr_status sr__series_columns(sr_context *ctx, const sr_table *table, int64_t length,
                                           sr_table **made);
/* The table with the means of up to eight equal stretches of each channel as features after its
 * own: what a row's series looks like from afar. *made is NULL where the table has no series. */
SR_MUST_CHECK sr_status sr__series_summary(sr_context *ctx, const sr_table *table, sr_table **made);
/* The other way, for files that hold one series per row: all features, numbers alone, become the
 * one channel; NaN at a row's end are padding. */
SR_MUST_CHECK sr_status sr__columns_to_series(sr_context *ctx, const char *file,
                                              const sr_table *table, sr_table **made);

#endif
