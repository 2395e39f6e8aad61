/* Columns of a new table in the order of the training table, by name. Internal. */
#ifndef SR_DATA_MATCH_COLUMNS_H
#define SR_DATA_MATCH_COLUMNS_H

#include "table.h"

/* The table with the schema's columns in the schema's order; *owned is NULL where it already is. */
SR_MUST_CHECK sr_status sr__match_columns(sr_context *ctx, const sr_table_view *schema,
                                          const sr_table *table, const sr_table **matched,
                                          sr_table **owned);

#endif
