/* Columns of any type and stride as floats. Internal to src/data. */
#ifndef SR_DATA_TYPED_COLUMNS_H
#define SR_DATA_TYPED_COLUMNS_H

#include "table.h"

/* Bytes of a value; 0 for bits and what is no type. */
int sr__type_size(sr_type type);
/* Rows [begin, end) of a column as floats, NaN where missing. Gives the first row whose value is
 * infinite as a float, or -1. */
int64_t sr__column_floats(const sr_column *column, int64_t begin, int64_t end, float *to);
/* One value as a double, NaN where missing. */
double sr__column_double(const sr_column *column, int64_t row);
/* Whether a row has no value. */
bool sr__column_missing(const sr_column *column, int64_t row);
/* Names and values of all columns become features of the view, which then owns them. */
SR_MUST_CHECK sr_status sr__set_feature_columns(sr_context *ctx, int64_t rows, int64_t count,
                                                const sr_column *columns, sr_table_view *view);

#endif
