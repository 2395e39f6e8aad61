/* Features as bytes: at most 255 bins by quantiles, and one bin for missing. Learners that work on
 * bins share this. Internal. */
#ifndef SR_LEARNER_BINS_H
#define SR_LEARNER_BINS_H

#include <specroute/data.h>

#include "core/bytes.h"
#include "core/core.h"

enum {
  SR__BIN_MISSING = 255, /* also a category that the training table did not hold */
  SR__BIN_VALUES = 255   /* bins 0 .. 254 are values */
};

typedef struct sr__bin_feature {
  int32_t bins;             /* in use, missing not counted; 0 where every row is missing */
  float *edge;              /* numeric: bins - 1 increasing numbers; x <= edge[b] has a bin <= b */
  sr_dictionary categories; /* categorical where count > 0 */
  uint8_t *bin_of_code;     /* categorical: one entry a category */
} sr__bin_feature;

typedef struct sr__binning {
  sr_allocator allocator;
  int64_t features;
  sr__bin_feature *feature;
} sr__binning;

/* Numeric edges lie halfway between neighboring values, so that a column with few distinct values
 * is split exactly where an exhaustive search would. Columns of more than 2^18 rows are judged by
 * one random row from each of 2^18 strata. Categories beyond max_bins - 1 share the last bin,
 * rarest first. `max_bins` counts the bin of missing values: 2 to 256. */
SR_MUST_CHECK sr_status sr__binning_new(sr_context *ctx, const sr_table *table, int32_t max_bins,
                                        sr__binning **binning);
void sr__binning_free(sr__binning **binning);
/* Bins of rows [first, first + count), row-major: out[(i - first) * stride + j]. Categories are
 * matched by name. SR_ERROR_DATA where the table's features are not those of the binning. */
SR_MUST_CHECK sr_status sr__binning_apply(sr_context *ctx, const sr__binning *binning,
                                          const sr_table *table, int64_t first, int64_t count,
                                          int64_t stride, uint8_t *out);
bool sr__binning_is_categorical(const sr__binning *binning, int64_t feature);
void sr__binning_save(const sr__binning *binning, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__binning_load(sr__byte_reader *reader, sr__binning **binning);

#endif
