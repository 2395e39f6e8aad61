/* Columns of a new table in the order of the training table, by name. Internal. */
#ifndef SR_DATA_MATCH_COLUMNS_H
#define SR_DATA_MATCH_COLUMNS_H

#include "table.h"

/* Whether the columns of a raster or grid are those of the schema by their position: their names
 * come from files, so those of another scene or month are other ones. There must be as many, and
 * either no name is known, or all are steps of one variable moved by the same number. */
SR_MUST_CHECK sr_status sr__match_by_position(sr_context *ctx, const sr_table_view *schema,
                                              const sr_table_view *table, bool *by_position);
/* The table with the schema's columns in the schema's order; *owned is NULL where it already is. */
SR_MUST_CHECK sr_status sr__match_columns(sr_context *ctx, const sr_table_view *schema,
                                          const sr_table *table, const sr_table **matched,
                                          sr_table **owned);

#endif
