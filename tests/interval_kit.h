/* Series to test the learners on intervals with, and members of them. */
#ifndef SR_TESTS_INTERVAL_KIT_H
#define SR_TESTS_INTERVAL_KIT_H

#include <math.h>

#include "core/random.h"
#include "harness.h"
#include "learner/intervals/interval_learner.h"

typedef struct kit_series {
  sr__series_view ragged;
  int32_t classes;
  float *values;
  int64_t *offset;
  int32_t *label;
} kit_series;

typedef struct kit_shape {
  int64_t rows;
  int32_t channels;
  int32_t classes;
  int32_t length, shortest; /* lengths are even between both */
  double missing;           /* share of the values */
} kit_shape;

static inline void kit_free(kit_series *series) {
  free(series->values);
  free(series->offset);
  free(series->label);
}

/* Noise with a shapelet of the class, an eighth of the series long, at a random place: class 0
 * none, 1 a hump, 2 a ramp, 3 a wave, and so on; in the last channel. */
static inline kit_series kit_shapelets(const kit_shape *shape, double noise, uint64_t seed) {
  kit_series made = {.classes = shape->classes};
  sr__random random;
  int64_t all = shape->rows * shape->channels, total = 0;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  made.offset = malloc(sizeof *made.offset * (size_t)(all + 1));
  made.label = malloc(sizeof *made.label * (size_t)shape->rows);
  made.offset[0] = 0;
  for (int64_t s = 0; s < all; s++) {
    uint64_t span = (uint64_t)(shape->length - shape->shortest + 1);
    total += shape->shortest + (int64_t)sr__random_below(&random, span);
    made.offset[s + 1] = total;
  }
  made.values = malloc(sizeof *made.values * (size_t)(total + 1));
  for (int64_t t = 0; t < total; t++) made.values[t] = (float)(noise * sr__random_normal(&random));
  for (int64_t i = 0; i < shape->rows; i++) {
    int64_t s = i * shape->channels + shape->channels - 1;
    int64_t length = made.offset[s + 1] - made.offset[s], width = length / 8 + 1;
    float *at = made.values + made.offset[s];
    int32_t label = made.label[i] = (int32_t)(i % shape->classes);
    if (length > width) at += sr__random_below(&random, (uint64_t)(length - width));
    for (int64_t t = 0; t < width && t < length && label > 0; t++) {
      double u = ((double)t + 0.5) / (double)width;
      double hump = sin(3.14159265358979 * u), wave = sin(6.28318530717959 * label * u);
      at[t] += (float)(label == 1 ? 2.0 * hump : label == 2 ? 4.0 * (u - 0.5) : 2.0 * wave);
    }
  }
  for (int64_t t = 0; t < total; t++)
    if (sr__random_uniform(&random) < shape->missing) made.values[t] = NAN;
  made.ragged = (sr__series_view){made.values, made.offset, shape->rows, shape->channels};
  return made;
}

/* Every row once. */
static inline int32_t *kit_all_rows(int64_t rows) {
  int32_t *all = malloc(sizeof *all * (size_t)rows);
  for (int64_t i = 0; i < rows; i++) all[i] = (int32_t)i;
  return all;
}

static inline double kit_accuracy(const kit_series *series, const int32_t *vote) {
  double right = 0.0;
  for (int64_t i = 0; i < series->ragged.rows; i++) right += vote[i] == series->label[i];
  return right / (double)series->ragged.rows;
}

/* Some rows that count one to four times, and the same rows written out; every seventh row loses
 * its class. */
enum { KIT_MOST_COUNTED = 80 };
typedef struct kit_counted {
  int32_t bag[KIT_MOST_COUNTED], counts[KIT_MOST_COUNTED], repeated[4 * KIT_MOST_COUNTED];
  int64_t rows, repeated_rows;
} kit_counted;

static inline kit_counted kit_count_rows(kit_series *series) {
  kit_counted made = {.rows = 0};
  int32_t rows = (int32_t)series->ragged.rows;
  for (int32_t i = 0; i < rows; i += 7) series->label[i] = -1;
  for (int32_t i = 0; i < rows; i += 1 + i % 2) {
    int32_t count = 1 + i % 4;
    for (int32_t c = 0; c < count && series->label[i] >= 0; c++)
      made.repeated[made.repeated_rows++] = i;
    made.bag[made.rows] = i;
    made.counts[made.rows++] = count;
  }
  return made;
}

/* Of twelve rows the even ones, alike but of the classes 0 and 1, share a leaf; the odd ones are of
 * class 2. */
static inline void kit_assert_shared_leaf(const int32_t *vote, const float *share) {
  for (int i = 0; i < 12; i++) {
    assert_int_equal(vote[i], i % 2 ? 2 : 0);
    assert_close(share[3 * i], i % 2 ? 0.0 : 0.5, 1e-6);
    assert_close(share[3 * i + 1], i % 2 ? 0.0 : 0.5, 1e-6);
    assert_close(share[3 * i + 2], i % 2 ? 1.0 : 0.0, 1e-6);
  }
}

static inline void kit_assert_same_bytes(const sr__bytes *a, const sr__bytes *b) {
  assert_int_equal(a->size, b->size);
  assert_memory_equal(a->data, b->data, (size_t)a->size);
}

/* A member, and what it was learned from. */
typedef struct kit_fitted {
  sr__encoder *encoder;
  sr__encoded *rows; /* NULL where it was loaded */
  sr__member *member;
} kit_fitted;

/* From f->rows, which are those of the series. */
static inline sr_status kit_fit(sr_context *ctx, const sr__learner *learner,
                                const kit_series *series, sr__bag bag, const void *options,
                                sr__random *random, kit_fitted *f) {
  sr__training training = {.rows = f->rows, .label = series->label};
  sr__fit_input input = {f->encoder, &training, options, 1};
  return learner->fit(ctx, &input, &bag, random, &f->member);
}

static inline sr_status kit_load(sr_context *ctx, const sr__learner *learner, const uint8_t *data,
                                 int64_t size, kit_fitted *f) {
  sr_status status = SR_OK;
  sr__byte_reader reader = {.ctx = ctx, .data = data, .size = size, .what = "the test"};
  *f = (kit_fitted){0};
  SR_TRY(learner->load_encoder(&reader, &f->encoder));
  SR_TRY(learner->load_member(&reader, f->encoder, &f->member));
cleanup:
  return status;
}

static inline void kit_fitted_free(const sr__learner *learner, kit_fitted *f) {
  learner->free_member(f->member);
  learner->free_encoded(f->rows);
  learner->free_encoder(f->encoder);
}

#endif
