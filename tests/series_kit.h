/* Random series and plain views of them, for the tests of learners on series. */
#ifndef SR_TESTS_SERIES_KIT_H
#define SR_TESTS_SERIES_KIT_H

#include <math.h>

#include "core/isa.h"
#include "core/random.h"
#include "harness.h"
#include "learner/series/series_rows.h"

typedef struct test_series {
  float *values;
  int64_t *offset;
  sr__series_view view;
} test_series;

static inline void test_series_free(test_series *s) {
  free(s->values);
  free(s->offset);
  *s = (test_series){0};
}

/* Autoregressive series; row r has lengths between `shortest` and `longest`, the same in all
 * channels. `spread` 0: ordinary values, else the exponents of two range over +-spread. */
static inline test_series test_series_new(int64_t rows, int32_t channels, int64_t shortest,
                                          int64_t longest, int spread, uint64_t seed) {
  test_series s = {.values = malloc((size_t)(rows * channels * longest) * sizeof(float)),
                   .offset = malloc((size_t)(rows * channels + 1) * sizeof(int64_t))};
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  s.offset[0] = 0;
  for (int64_t r = 0; r < rows; r++) {
    int64_t length =
        shortest + (int64_t)sr__random_below(&random, (uint64_t)(longest - shortest + 1));
    for (int32_t c = 0; c < channels; c++) {
      int64_t at = r * channels + c;
      double state = 0.0;
      s.offset[at + 1] = s.offset[at] + length;
      for (int64_t t = s.offset[at]; t < s.offset[at + 1]; t++) {
        state = 0.8 * state + sr__random_normal(&random);
        double exponent = spread ? (sr__random_uniform(&random) * 2.0 - 1.0) * spread : 0.0;
        s.values[t] = (float)(state * exp2(exponent));
      }
    }
  }
  s.view = (sr__series_view){s.values, s.offset, rows, channels};
  return s;
}

/* All rows as the learners read them. */
static inline sr__series_rows *test_prepare(sr_context *ctx, const sr__series_view *view,
                                            bool normalize) {
  sr__series_rows *rows = NULL;
  assert_ok(ctx, sr__series_prepare(ctx, view, 0, view->rows, normalize, &rows));
  return rows;
}

/* The levels that this machine can run. */
static inline int test_levels(void) { return (int)sr__isa() + 1; }

#endif
