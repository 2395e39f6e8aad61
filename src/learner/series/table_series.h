/* What learners on series take from a table. Internal. */
#ifndef SR_LEARNER_TABLE_SERIES_H
#define SR_LEARNER_TABLE_SERIES_H

#include <specroute/data.h>

#include "series_rows.h"

/* SR_ERROR_DATA where the rows do not have `channels` series each. */
SR_MUST_CHECK sr_status sr__table_series(sr_context *ctx, const sr_table *table, int32_t channels,
                                         sr__series_view *series);
/* For learners that count rows: SR_ERROR_UNSUPPORTED where the table has weights. */
SR_MUST_CHECK sr_status sr__refuse_weights(sr_context *ctx, const sr_table_view *view,
                                           const char *learner);

/* Points of the longest series of a channel. */
int64_t sr__longest_series(const sr_table_view *view, int32_t channel);

#endif
