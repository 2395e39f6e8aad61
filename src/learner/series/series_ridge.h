/* A transform of series with a ridge classifier behind it: what ROCKET and MiniRocket have in
 * common. Internal. */
#ifndef SR_LEARNER_SERIES_RIDGE_H
#define SR_LEARNER_SERIES_RIDGE_H

#include "core/random.h"
#include "learner/answers.h"
#include "learner/linear/linear_classes.h"
#include "series_rows.h"

typedef struct sr__series_cases sr__series_cases;
typedef struct sr__series_recipe sr__series_recipe;

/* Features of series in tiles. `made` is the transform's own object. */
typedef struct sr__series_transform {
  /* From the series of the cases; their labels are not looked at. */
  sr_status (*fit)(sr_context *ctx, const sr__series_recipe *recipe, const sr__series_cases *cases,
                   sr__random *random, void **made);
  /* The number of tiles; tile_begin (NULL: not asked for) gets their first features and, last, the
   * number of features. */
  int64_t (*tiles)(const void *made, int64_t *tile_begin);
  sr_status (*make)(sr_context *ctx, const void *made, int64_t tile, sr__made_blocks blocks);
  sr_status (*make_one)(sr_context *ctx, const void *made, const sr__series_rows *rows, int64_t r,
                        float *out);
  int32_t (*channels)(const void *made);
  void (*save)(const void *made, sr__bytes *bytes);
  sr_status (*load)(sr__byte_reader *reader, void **made);
  void (*free)(void *made);
} sr__series_transform;

extern const sr__series_transform sr__rocket_series, sr__minirocket_series;

typedef struct sr__series_ridge {
  sr_allocator allocator;
  const sr__series_transform *transform;
  void *made;
  sr__linear_classes *classes;
  int64_t tiles;
  int64_t *tile_begin; /* tiles + 1 */
} sr__series_ridge;

/* Training rows: entries of a list, with one label and weight (NULL: 1) each. Sets that are left
 * out name entries. */
struct sr__series_cases {
  const sr__series_rows *rows;
  const int32_t *row; /* NULL: all rows */
  int64_t count;
  const int32_t *label;
  const double *weight;
  int32_t classes;
  const sr__left_out *left_out; /* NULL: every row by itself */
  float *judged; /* gets count x classes left-out shares, NaN where an entry is not judged; NULL */
};

/* What is made of the cases. */
struct sr__series_recipe {
  const sr__series_transform *transform;
  const void *options; /* of the transform */
  int64_t length;      /* of the longest series that may come */
  sr__linear_classes_options ridge;
};

/* `report` may be NULL. */
SR_MUST_CHECK sr_status sr__series_ridge_fit(sr_context *ctx, const sr__series_recipe *recipe,
                                             const sr__series_cases *cases, sr__random *random,
                                             sr__classes_report *report, sr__series_ridge **model);
void sr__series_ridge_free(sr__series_ridge *model);

/* A few rows run one at a time, with the same bytes. */
SR_MUST_CHECK sr_status sr__series_ridge_predict(sr_context *ctx, const sr__series_ridge *model,
                                                 const sr__series_rows *rows, sr__picked picked,
                                                 sr__answers answers);

void sr__series_ridge_save(const sr__series_ridge *model, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__series_ridge_load(sr__byte_reader *reader,
                                              const sr__series_transform *transform,
                                              int32_t channels, int32_t classes,
                                              sr__series_ridge **model);

#endif
