/* Windows of a recording that follow what a model knows. Internal. */
#ifndef SR_DATA_WINDOWS_H
#define SR_DATA_WINDOWS_H

#include "table.h"

/* sr_table_windows with the channels of a model's schema, found by name; NULL: all features. */
SR_MUST_CHECK sr_status sr__table_windows(sr_context *ctx, const sr_table *table,
                                          const sr_table_view *schema, int64_t length,
                                          int64_t stride, sr_table **windows);

#endif
