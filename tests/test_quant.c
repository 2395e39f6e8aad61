/* QUANT: features against a slow reference in double, kernels against scalar loops and each other,
 * trees against what must hold for any. */
#include "interval_kit.h"
#include "learner/quant/quant_kernel.h"

static const sr__quant_options DEFAULTS = {.trees = 1, .share = 0.1};

/* ---- features ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int32_t slow_interval(const double *z, int32_t from, int32_t to, double *out) {
  int32_t width = to - from, quantiles = 1 + (width - 1) / 4;
  double *sorted = malloc(sizeof *sorted * (size_t)width), mean = 0.0;
  for (int32_t i = 0; i < width; i++) {
    sorted[i] = z[from + i];
    mean += z[from + i] / width;
  }
  qsort(sorted, (size_t)width, sizeof *sorted, by_value);
  for (int32_t i = 0; i < quantiles; i++) {
    double rank = quantiles == 1 ? 0.5 * (width - 1) : (double)i * (width - 1) / (quantiles - 1);
    int32_t at = (int32_t)(rank + 1e-9);
    out[i] = at + 1 < width ? sorted[at] + (rank - at) * (sorted[at + 1] - sorted[at])
                            : sorted[width - 1];
    if (i % 2) out[i] -= mean;
  }
  free(sorted);
  return quantiles;
}

static int32_t slow_kind(const double *z, int32_t m, double *out) {
  int32_t made = 0, levels = 0;
  while (levels < 6 && m >> levels) levels++;
  for (int32_t level = 0; level < levels; level++) {
    int32_t pieces = 1 << level, wider_than_one = 0;
    for (int32_t j = 0; j < pieces; j++) {
      int32_t from = (int32_t)floor((double)j * m / pieces);
      int32_t to = (int32_t)floor((double)(j + 1) * m / pieces);
      wider_than_one += to - from > 1;
      made += slow_interval(z, from, to, out + made);
    }
    if (pieces == 1 || pieces - wider_than_one > (pieces - 1) / 2) continue;
    int32_t shift = (int32_t)ceil((double)m / pieces / 2);
    for (int32_t j = 0; j + 1 < pieces; j++)
      made += slow_interval(z, (int32_t)floor((double)j * m / pieces) + shift,
                            (int32_t)floor((double)(j + 1) * m / pieces) + shift, out + made);
  }
  return made;
}

static double slow_magnitude(const float *x, int32_t length, int32_t k) {
  double re = 0.0, im = 0.0;
  for (int32_t t = 0; t < length; t++) {
    double angle = 6.283185307179586 * (double)((int64_t)k * t % length) / length;
    re += x[t] * cos(angle);
    im += x[t] * sin(angle);
  }
  return sqrt(re * re + im * im);
}

static int32_t slow_features(const float *x, int32_t length, double *out) {
  double *z = malloc(sizeof *z * (size_t)(length + 1));
  int32_t made = 0;
  for (int32_t t = 0; t < length; t++) z[t] = x[t];
  made += slow_kind(z, length, out);
  for (int32_t t = 0; t + 1 < length; t++) {
    z[t] = 0.0;
    for (int32_t k = t - 2; k <= t + 2; k++) {
      int32_t u = k < 0 ? 0 : k > length - 2 ? length - 2 : k;
      z[t] += ((double)x[u + 1] - x[u]) / 5.0;
    }
  }
  made += slow_kind(z, length - 1, out + made);
  for (int32_t t = 0; t + 2 < length; t++) z[t] = (double)x[t + 2] - 2.0 * x[t + 1] + x[t];
  if (length > 2) made += slow_kind(z, length - 2, out + made);
  for (int32_t k = 0; k <= length / 2; k++) z[k] = slow_magnitude(x, length, k);
  made += slow_kind(z, length / 2 + 1, out + made);
  free(z);
  return made;
}

/* Random walks and, in one row of eight, heaps of equal values. */
static kit_series walks(int64_t rows, int32_t length, uint64_t seed) {
  kit_shape shape = {
      .rows = rows, .channels = 1, .classes = 2, .length = length, .shortest = length};
  kit_series series = kit_shapelets(&shape, 1.0, seed);
  for (int64_t i = 0; i < rows * length; i++) {
    if (i % length) series.values[i] += 0.9f * series.values[i - 1];
    if (i / length % 8 == 3) series.values[i] = rintf(series.values[i]);
  }
  return series;
}

static void features_agree_with_a_slow_reference(void **state) {
  (void)state;
  /* 37, 41, 131, 577 and others have a prime factor above 31. */
  int32_t more[] = {97, 100, 127, 128, 129, 131, 150, 286, 343, 470, 500, 577, 1024};
  sr_context *ctx = test_context(1);
  for (int32_t k = 1; k <= 70 + (int32_t)(sizeof more / sizeof *more); k++) {
    int32_t length = k <= 70 ? k : more[k - 71];
    int64_t rows = k <= 70 ? 11 : 3;
    kit_series series = walks(rows, length, (uint64_t)length);
    sr__encoder *encoder = NULL;
    sr__encoded *made = NULL;
    assert_ok(ctx, sr__quant_encoder_new(ctx, &(sr__even_shape){2, 1, &length}, &encoder));
    assert_ok(ctx, sr__quant_encode(ctx, encoder, &series.ragged, 0, rows, &made));
    double *slow = malloc(sizeof *slow * (size_t)(encoder->features + 64));
    for (int64_t i = 0; i < rows; i++) {
      assert_int_equal(slow_features(series.values + i * length, length, slow), encoder->features);
      double largest = 1e-30;
      for (int32_t f = 0; f < encoder->features; f++) largest = fmax(largest, fabs(slow[f]));
      for (int32_t f = 0; f < encoder->features; f++) {
        double fast = made->value[(i / 8 * encoder->features + f) * 8 + i % 8];
        if (fabs(fast - slow[f]) > 1e-6 * largest)
          fail_msg("length %d row %d feature %d: %g, expected %g", length, (int)i, f, fast,
                   slow[f]);
      }
    }
    free(slow);
    sr__quant_free_encoded(made);
    sr__quant_free_encoder(encoder);
    kit_free(&series);
  }
  sr_context_free(&ctx);
}

/* python3 -c "from aeon.transformations.collection.interval_based import QUANTTransformer as Q;
 * import numpy as np; [print(L, Q().fit_transform(np.random.rand(2, 1, L)).shape[1]) for L in
 * (...)]" */
static void there_are_as_many_features_as_published(void **state) {
  (void)state;
  static const int32_t known[][2] = {{10, 75},     {11, 79},     {16, 134},   {17, 153},
                                     {24, 212},    {33, 359},    {64, 692},   {65, 697},
                                     {80, 900},    {100, 1042},  {131, 1214}, {150, 1556},
                                     {255, 2247},  {256, 2253},  {500, 4469}, {577, 5222},
                                     {1000, 8911}, {2000, 17752}};
  sr_context *ctx = test_context(1);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    sr__quant_shape *shape = NULL;
    assert_ok(ctx, sr__quant_shape_new(ctx, known[i][0], &shape));
    assert_int_equal(shape->features, known[i][1]);
    sr__quant_shape_free(&shape);
  }
  sr_context_free(&ctx);
}

/* A constant added moves quantiles of the series and nothing else; twice the series doubles every
 * feature to the bit; reversed channels reverse the features. */
static void features_have_the_symmetries_of_quantiles(void **state) {
  (void)state;
  enum { ROWS = 9, LENGTH = 90 };
  sr_context *ctx = test_context(1);
  kit_shape shape = {
      .rows = ROWS, .channels = 2, .classes = 3, .length = LENGTH, .shortest = LENGTH};
  kit_series plain = kit_shapelets(&shape, 1.0, 3), moved = kit_shapelets(&shape, 1.0, 3);
  kit_series doubled = kit_shapelets(&shape, 1.0, 3), swapped = kit_shapelets(&shape, 1.0, 3);
  for (int64_t i = 0; i < 2 * ROWS * LENGTH; i++) {
    /* Whole multiples of 2^-10, so that sums with a whole number are exact. */
    plain.values[i] = rintf(plain.values[i] * 1024.0f) / 1024.0f;
    moved.values[i] = plain.values[i] + 3.0f;
    doubled.values[i] = 2.0f * plain.values[i];
    int64_t channel = i / LENGTH;
    swapped.values[(channel ^ 1) * LENGTH + i % LENGTH] = plain.values[i];
  }
  int32_t length[2] = {LENGTH, LENGTH};
  sr__encoder *encoder = NULL;
  sr__encoded *rows[4] = {0};
  const kit_series *all[4] = {&plain, &moved, &doubled, &swapped};
  assert_ok(ctx, sr__quant_encoder_new(ctx, &(sr__even_shape){3, 2, length}, &encoder));
  for (int k = 0; k < 4; k++)
    assert_ok(ctx, sr__quant_encode(ctx, encoder, &all[k]->ragged, 0, ROWS, &rows[k]));
  int32_t half = encoder->features / 2, series_features = encoder->shape[0]->kind[1].at[0][0];
  int32_t fourier = encoder->shape[0]->kind[3].at[0][0];
  for (int64_t i = 0; i < ROWS; i++) {
    for (int32_t f = 0; f < encoder->features; f++) {
      int64_t at = (i / 8 * encoder->features + f) * 8 + i % 8;
      int64_t other = (i / 8 * encoder->features + (f + half) % (2 * half)) * 8 + i % 8;
      double value = rows[0]->value[at];
      assert_true(rows[2]->value[at] == 2.0f * rows[0]->value[at]);
      assert_true(rows[3]->value[other] == rows[0]->value[at]);
      double change = rows[1]->value[at] - value;
      if (f % half < series_features)
        assert_true(fabs(change) < 1e-5 || fabs(change - 3.0) < 1e-5);
      else if (f % half < fourier)
        assert_true(rows[1]->value[at] == rows[0]->value[at]);
    }
  }
  for (int k = 0; k < 4; k++) sr__quant_free_encoded(rows[k]);
  sr__quant_free_encoder(encoder);
  kit_free(&plain);
  kit_free(&moved);
  kit_free(&doubled);
  kit_free(&swapped);
  sr_context_free(&ctx);
}

/* ---- series that are made even ------------------------------------------------------------- */

static void even_series_are_straight_lines(void **state) {
  (void)state;
  float line[40], gaps[40], to[200];
  for (int t = 0; t < 40; t++) line[t] = gaps[t] = 3.0f - 0.5f * (float)t;
  gaps[7] = gaps[8] = gaps[9] = NAN;
  gaps[20] = INFINITY;
  for (int64_t length = 2; length < 100; length += 7) { /* a line stays a line */
    for (int k = 0; k < 2; k++) {
      sr__even_points(k ? gaps : line, 40, length, 2, to);
      for (int64_t t = 0; t < length; t++)
        assert_close(to[2 * t], 3.0 - 0.5 * 39.0 * (double)t / (double)(length - 1), 1e-6);
    }
  }
  sr__even_points(gaps, 40, 40, 1, to);
  for (int t = 0; t < 40; t++) assert_true(to[t] == line[t]);
  gaps[0] = gaps[1] = gaps[38] = gaps[39] = NAN; /* ends are repeated */
  sr__even_points(gaps, 40, 40, 1, to);
  assert_true(to[0] == line[2] && to[1] == line[2] && to[38] == line[37] && to[39] == line[37]);
  sr__even_points(line, 40, 1, 1, to);
  assert_close(to[0], 3.0 - 0.5 * 19.5, 1e-6);
  sr__even_points(line, 1, 5, 1, to);
  for (int t = 0; t < 5; t++) assert_true(to[t] == line[0]);
  for (int t = 0; t < 40; t++) gaps[t] = NAN;
  sr__even_points(gaps, 40, 3, 1, to);
  assert_true(isnan(to[0]) && isnan(to[1]) && isnan(to[2]));
  sr__even_points(gaps, 0, 2, 1, to);
  assert_true(isnan(to[0]) && isnan(to[1]));
}

/* Missing values behind the last one of all channels are not part of a series. */
static void padding_is_no_part_of_a_series(void **state) {
  (void)state;
  float values[] = {1, 2, 3, NAN, NAN, /**/ 5, NAN, NAN, 8, NAN, /**/ 4, 6, /**/ NAN, 2, NAN};
  int64_t offset[] = {0, 5, 10, 12, 15};
  sr__series_view series = {values, offset, 2, 2};
  sr__even_shape shape;
  float to[4];
  sr_context *ctx = test_context(1);
  assert_ok(ctx, sr__even_shape_find(ctx, &series, 2, &shape));
  assert_int_equal(shape.length[0], 4);
  assert_int_equal(shape.length[1], 4);
  sr__free(ctx, shape.length);
  float expected[4][4] = {{1, 2, 3, 3},
                          {5, 6, 7, 8},
                          {4, 14.0f / 3.0f, 16.0f / 3.0f, 6},
                          {2, 2, 2, 2}};
  for (int s = 0; s < 4; s++) {
    sr__even_series(&series, s / 2, s % 2, 4, 1, to);
    for (int t = 0; t < 4; t++) assert_close(to[t], expected[s][t], 1e-6);
  }
  sr_context_free(&ctx);
}

/* ---- kernels ------------------------------------------------------------------------------- */

static int kernel_levels(const sr__quant_kernel *level[3]) {
  int levels = 0;
  level[levels++] = &sr__quant_kernel_base;
#if defined(__x86_64__)
  if (sr__isa() >= SR__ISA_V3) level[levels++] = &sr__quant_kernel_v3;
  if (sr__isa() >= SR__ISA_V4) level[levels++] = &sr__quant_kernel_v4;
#endif
  return levels;
}

static void *aligned_floats(int64_t count) {
  return aligned_alloc(64, (size_t)(count * 4 + 63) / 64 * 64 + 64);
}

static void every_level_gives_the_same_features(void **state) {
  (void)state;
  const sr__quant_kernel *level[3];
  int levels = kernel_levels(level);
  sr_context *ctx = test_context(1);
  for (int32_t length = 1; length < 600; length += length < 40 ? 1 : 61) {
    sr__quant_shape *shape = NULL;
    sr__quant_scratch scratch = {0};
    assert_ok(ctx, sr__quant_shape_new(ctx, length, &shape));
    assert_ok(ctx, sr__quant_scratch_new(ctx, &shape, 1, &scratch));
    float *out[2] = {aligned_floats(8 * shape->features), aligned_floats(8 * shape->features)};
    sr__random random;
    sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, (uint64_t)length);
    float *series = malloc(sizeof *series * 8 * (size_t)length);
    for (int64_t i = 0; i < 8 * length; i++)
      series[i] = i % 8 == 2 ? (float)sr__random_below(&random, 3) - 1.0f
                             : (float)sr__random_normal(&random);
    for (int k = 0; k < levels; k++) {
      memcpy(scratch.series, series, sizeof *series * 8 * (size_t)length);
      level[k]->features(shape, &scratch, out[k > 0]);
      if (k) assert_memory_equal(out[0], out[1], sizeof *series * 8 * (size_t)shape->features);
    }
    free(series);
    free(out[0]);
    free(out[1]);
    sr__quant_scratch_free(ctx, &scratch);
    sr__quant_shape_free(&shape);
  }
  sr_context_free(&ctx);
}

static void columns_are_sorted_at_every_level(void **state) {
  (void)state;
  const sr__quant_kernel *level[3];
  int levels = kernel_levels(level);
  sr__random random;
  sr__random_init(&random, 2, SR_PURPOSE_TEST, 0, 0);
  for (int64_t count = 1; count < 300; count += count < 40 ? 1 : 37) {
    float *from = aligned_floats(8 * count), *spare = aligned_floats(8 * count);
    float *to = aligned_floats(8 * count);
    double *column = malloc(sizeof *column * (size_t)count);
    for (int64_t i = 0; i < 8 * count; i++)
      from[i] = i % 8 < 2 ? (float)sr__random_below(&random, 4) : (float)sr__random_normal(&random);
    for (int k = 0; k < levels; k++) {
      level[k]->sort(from, count, spare, to);
      for (int j = 0; j < 8; j++) {
        for (int64_t i = 0; i < count; i++) column[i] = from[8 * i + j];
        qsort(column, (size_t)count, sizeof *column, by_value);
        for (int64_t i = 0; i < count; i++) assert_true(to[8 * i + j] == (float)column[i]);
      }
    }
    free(from);
    free(spare);
    free(to);
    free(column);
  }
}

/* The bin of a value is the number of edges below it. */
static void bins_count_edges_at_every_level(void **state) {
  (void)state;
  enum { BLOCKS = 5, FEATURES = 9, PLACES = 32 };
  const sr__quant_kernel *level[3];
  int levels = kernel_levels(level);
  int32_t place_of[FEATURES];
  sr__random random;
  sr__random_init(&random, 4, SR_PURPOSE_TEST, 0, 0);
  float *value = aligned_floats(BLOCKS * FEATURES * 8), edge[FEATURES][SR__QUANT_EDGES];
  for (int f = 0; f < FEATURES; f++) {
    int used = f == 0 ? 1 : f == 1 ? 255 : 1 + (int)sr__random_below(&random, 255);
    for (int b = 0; b < SR__QUANT_EDGES; b++)
      edge[f][b] = b == 0 ? -INFINITY : b < used ? -3.0f + 6.0f * (float)b / (float)used : INFINITY;
    place_of[f] = (7 * f + 3) % PLACES;
  }
  for (int64_t i = 0; i < BLOCKS * FEATURES * 8; i++) {
    value[i] = (float)(1.5 * sr__random_normal(&random));
    if (i % 7 == 0) value[i] = edge[i / 8 % FEATURES][(i * 31) % SR__QUANT_EDGES]; /* on an edge */
    if (i % 23 == 0) value[i] = NAN;
  }
  for (int k = 0; k < levels; k++) {
    uint8_t coded[BLOCKS * PLACES * 8];
    memset(coded, 77, sizeof coded);
    level[k]->bins(value, BLOCKS, FEATURES, edge[0], place_of, PLACES, coded);
    int untouched = 0;
    for (int i = 0; i < BLOCKS * PLACES * 8; i++) untouched += coded[i] == 77;
    assert_true(untouched >= BLOCKS * (PLACES - FEATURES) * 8);
    for (int i = 0; i < BLOCKS * FEATURES * 8; i++) {
      int f = i / 8 % FEATURES, expected = 0;
      for (int b = 0; b < SR__QUANT_EDGES; b++) expected += edge[f][b] < value[i];
      assert_int_equal(coded[(i / 8 / FEATURES * PLACES + place_of[f]) * 8 + i % 8], expected);
    }
  }
  free(value);
}

static uint32_t slow_hash(uint32_t key, uint32_t lane) {
  uint32_t x = lane * 0x9e3779b9u + key;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* One feature at a time. */
static sr__quant_cut slow_search(sr__quant_search *node, const int32_t *class_of) {
  sr__quant_cut cut = {-1, 0};
  int64_t best = INT64_MIN;
  for (int32_t v = 0; v < node->tiles && (v < node->wanted || cut.place < 0); v++) {
    int32_t drawn = v + (int32_t)sr__quant_draw_below(&node->draw, (uint32_t)(node->tiles - v));
    int32_t tile = node->order[drawn];
    node->order[drawn] = node->order[v];
    node->order[v] = tile;
    uint32_t key = (uint32_t)sr__quant_draw_bits(&node->draw);
    for (int32_t j = 0; j < 32; j++) {
      const uint8_t *bin = node->bin + tile * node->rows * 32 + j;
      int32_t low = 255, high = 0, left = 0, count[64][2] = {{0}};
      for (int32_t i = 0; i < node->count; i++) {
        int32_t here = bin[node->row[i] * 32];
        low = here < low ? here : low;
        high = here > high ? here : high;
      }
      uint32_t word = slow_hash(key, (uint32_t)(j % 2 * 8 + j / 4));
      uint32_t random = word >> (16 * (j / 2 % 2)) & 65535;
      int32_t at = low + (int32_t)((uint32_t)(high - low) * random >> 16);
      if (low == high) continue;
      for (int32_t i = 0; i < node->count; i++) {
        bool right = bin[node->row[i] * 32] > at;
        count[class_of[node->row[i]]][right]++;
        left += !right;
      }
      int64_t score = -(int64_t)node->entropy[left] - node->entropy[node->count - left];
      for (int c = 0; c < 64; c++)
        score += (int64_t)node->entropy[count[c][0]] + node->entropy[count[c][1]];
      if (score <= best) continue;
      best = score;
      cut = (sr__quant_cut){tile * 32 + j, at};
    }
    if (best == 0) break;
  }
  return cut;
}

static void searches_agree_with_a_slow_one(void **state) {
  (void)state;
  enum { ROWS = 700, TILES = 6 };
  const sr__quant_kernel *level[3];
  int levels = kernel_levels(level);
  uint8_t *bin = aligned_floats(TILES * ROWS * 8);
  int32_t *entropy = malloc(sizeof *entropy * (ROWS + 1)), class_of[ROWS], end[64];
  uint32_t row[ROWS];
  sr__random random;
  sr__random_init(&random, 5, SR_PURPOSE_TEST, 0, 0);
  for (int k = 0; k <= ROWS; k++) entropy[k] = k < 2 ? 0 : (int32_t)rint(4096.0 * k * log2(k));
  for (int trial = 0; trial < 60; trial++) {
    int32_t classes = 2 + (int32_t)sr__random_below(&random, trial % 2 ? 3 : 60);
    int32_t count = 2 + (int32_t)sr__random_below(&random, trial % 3 ? 30 : ROWS - 2), present = 0;
    int constant = trial % 5 == 0;
    for (int i = 0; i < ROWS; i++)
      class_of[i] = (int32_t)sr__random_below(&random, (uint64_t)classes);
    for (int64_t i = 0; i < TILES * ROWS * 32; i++) {
      int32_t label = class_of[i / 32 % ROWS];
      bin[i] = (uint8_t)(constant && i / 32 / ROWS < 4 ? 9
                         : i % 3                       ? sr__random_below(&random, 256)
                                 : (uint64_t)(3 * label) + sr__random_below(&random, 9));
    }
    int32_t taken = 0;
    for (int32_t c = 0; c < classes; c++) {
      for (int i = 0; i < ROWS && taken < count; i++)
        if (class_of[i] == c) row[taken++] = (uint32_t)i;
      if (taken > (present ? end[present - 1] : 0)) end[present++] = taken;
    }
    for (int k = 0; k < levels; k++) {
      int32_t order[2][TILES];
      for (int t = 0; t < TILES; t++) order[0][t] = order[1][t] = t;
      sr__quant_search node = {.bin = bin,
                               .rows = ROWS,
                               .tiles = TILES,
                               .order = order[0],
                               .row = row,
                               .count = count,
                               .present = present,
                               .end = end,
                               .entropy = entropy,
                               .wanted = 1 + trial % 4,
                               .draw = {(uint64_t)trial}};
      sr__quant_search slow = node;
      slow.order = order[1];
      sr__quant_cut cut = level[k]->search(&node), expected = slow_search(&slow, class_of);
      assert_int_equal(cut.place, expected.place);
      assert_int_equal(cut.bin, expected.bin);
      assert_true(node.draw.state == slow.draw.state);
      assert_memory_equal(order[0], order[1], sizeof order[0]);
    }
  }
  free(bin);
  free(entropy);
}

/* ---- trees --------------------------------------------------------------------------------- */

static sr_status fit_series(sr_context *ctx, const kit_series *series, const int32_t *bag,
                            const int32_t *counts, int64_t length, const sr__quant_options *options,
                            kit_fitted *f) {
  sr_status status = SR_OK;
  sr__random random;
  *f = (kit_fitted){0};
  sr__random_init(&random, 7, SR_PURPOSE_LEARNER, 0, 0);
  SR_TRY(sr__quant_prepare(ctx, &series->ragged, series->classes, &f->encoder, &f->rows));
  sr__bag rows = {.rows = bag, .counts = counts, .length = length};
  SR_TRY(kit_fit(ctx, &sr__learner_quant, series, rows, options, &random, f));
cleanup:
  return status;
}

static void fitted_free(kit_fitted *f) { kit_fitted_free(&sr__learner_quant, f); }

static void assert_same_member(const sr__member *a, const sr__member *b) {
  assert_int_equal(a->nodes, b->nodes);
  assert_memory_equal(a->node, b->node, sizeof *a->node * (size_t)a->nodes);
}

/* Binned rows and floats of the same rows go to the same leaves, and rows that differ are learned
 * by heart; with ragged series, gaps and several channels. */
static void training_rows_are_known_by_heart(void **state) {
  (void)state;
  kit_shape shapes[] = {{60, 1, 2, 50, 50, 0.0},    {90, 2, 5, 33, 20, 0.1},
                        {40, 3, 3, 9, 1, 0.3},      {30, 1, 2, 1, 1, 0.0},
                        {2200, 1, 3, 12, 12, 0.02}, {70, 1, 7, 131, 100, 0.0}};
  sr_context *ctx = test_context(2);
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    kit_series series = kit_shapelets(&shapes[k], 0.5, 20 + k);
    int64_t rows = shapes[k].rows;
    sr__quant_options options = {.trees = 3, .share = 0.1};
    int32_t *all = kit_all_rows(rows), *vote = malloc(sizeof *vote * (size_t)rows);
    float *share[2];
    sr__encoded *values = NULL;
    kit_fitted f;
    assert_ok(ctx, fit_series(ctx, &series, all, NULL, rows, &options, &f));
    assert_ok(ctx, sr__quant_encode(ctx, f.encoder, &series.ragged, 0, rows, &values));
    for (int v = 0; v < 2; v++) {
      share[v] = malloc(sizeof **share * (size_t)(rows * shapes[k].classes));
      assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, v ? values : f.rows,
                                       (sr__picked){all, rows},
                                       (sr__answers){.vote = vote, .share = share[v]}));
    }
    assert_memory_equal(share[0], share[1], sizeof **share * (size_t)(rows * shapes[k].classes));
    /* Bins of a small set keep all values apart; of series of up to nine points, a third of them
     * missing, some are equal. */
    if (k != 2 && k != 4) assert_true(kit_accuracy(&series, vote) == 1.0);
    assert_true(kit_accuracy(&series, vote) > 0.9);
    free(share[0]);
    free(share[1]);
    free(all);
    free(vote);
    sr__quant_free_encoded(values);
    fitted_free(&f);
    kit_free(&series);
  }
  sr_context_free(&ctx);
}

static void new_shapelets_are_told_apart(void **state) {
  (void)state;
  kit_shape shape = {.rows = 200, .channels = 1, .classes = 4, .length = 120, .shortest = 120};
  kit_shape ragged = {300, 2, 4, 120, 80, 0.05};
  sr_context *ctx = test_context(2);
  for (int k = 0; k < 2; k++) {
    const kit_shape *form = k ? &ragged : &shape;
    kit_series train = kit_shapelets(form, 0.3, 1), test = kit_shapelets(form, 0.3, 2);
    int32_t *all = kit_all_rows(form->rows), *vote = malloc(sizeof *vote * (size_t)form->rows);
    sr__quant_options options = {.trees = 100, .share = 0.1};
    sr__encoded *values = NULL;
    kit_fitted f;
    assert_ok(ctx, fit_series(ctx, &train, all, NULL, form->rows, &options, &f));
    assert_ok(ctx, sr__quant_encode(ctx, f.encoder, &test.ragged, 0, form->rows, &values));
    assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, values,
                                     (sr__picked){NULL, form->rows}, (sr__answers){.vote = vote}));
    if (kit_accuracy(&test, vote) < 0.9) fail_msg("accuracy %g", kit_accuracy(&test, vote));
    free(all);
    free(vote);
    sr__quant_free_encoded(values);
    fitted_free(&f);
    kit_free(&train);
    kit_free(&test);
  }
  sr_context_free(&ctx);
}

/* A row that counts k times is k rows; rows without a class and rows that do not count are not
 * there. */
static void counts_are_repeated_rows(void **state) {
  (void)state;
  enum { ROWS = 80 };
  kit_shape shape = {ROWS, 1, 3, 30, 30, 0.0};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 9);
  kit_counted made = kit_count_rows(&series);
  kit_fitted by_count, by_row;
  assert_ok(ctx, fit_series(ctx, &series, made.bag, made.counts, made.rows, &DEFAULTS, &by_count));
  assert_ok(ctx,
            fit_series(ctx, &series, made.repeated, NULL, made.repeated_rows, &DEFAULTS, &by_row));
  assert_same_member(by_count.member, by_row.member);
  fitted_free(&by_count);
  fitted_free(&by_row);
  for (int i = 0; i < ROWS; i++) series.label[i] = -1;
  assert_int_equal(fit_series(ctx, &series, made.bag, made.counts, made.rows, &DEFAULTS, &by_count),
                   SR_ERROR_DATA);
  fitted_free(&by_count);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* Equal series of different classes end in one leaf with their shares; a class alone is a tree of
 * one leaf; a channel without any value tells nothing and harms nothing. */
static void leaves_hold_shares(void **state) {
  (void)state;
  kit_shape shape = {12, 2, 3, 20, 20, 0.0};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 4);
  int32_t *all = kit_all_rows(12), vote[12];
  float share[12 * 3];
  kit_fitted f;
  for (int i = 0; i < 12 * 2; i++)
    for (int t = 0; t < 20; t++) series.values[20 * i + t] = i % 2 ? (float)(i / 2 % 2) : NAN;
  for (int i = 0; i < 12; i++) series.label[i] = i % 2 ? 2 : i % 4 / 2; /* even rows: 0 1 0 1 0 1 */
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 12, &DEFAULTS, &f));
  assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, f.rows, (sr__picked){NULL, 12},
                                   (sr__answers){.vote = vote, .share = share}));
  kit_assert_shared_leaf(vote, share);
  fitted_free(&f);
  for (int i = 0; i < 12; i++) series.label[i] = 1;
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 12, &DEFAULTS, &f));
  assert_int_equal(f.member->nodes, 1);
  assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, f.rows, (sr__picked){all, 12},
                                   (sr__answers){.vote = vote}));
  for (int i = 0; i < 12; i++) assert_int_equal(vote[i], 1);
  fitted_free(&f);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* Missing values are a value of their own: rows with a channel and rows without it are told apart.
 */
static void missing_channels_are_seen(void **state) {
  (void)state;
  kit_shape shape = {60, 2, 2, 25, 25, 0.0};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 6);
  int32_t *all = kit_all_rows(60), vote[60];
  sr__quant_options options = {.trees = 20, .share = 0.3};
  sr__encoded *values = NULL;
  kit_fitted f;
  for (int i = 0; i < 60; i++)
    for (int t = 0; t < 25; t++) {
      series.values[(2 * i) * 25 + t] = i % 2 ? NAN : (float)(i * t % 7);
      series.values[(2 * i + 1) * 25 + t] = 1.0f;
    }
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 40, &options, &f));
  assert_ok(ctx, sr__quant_encode(ctx, f.encoder, &series.ragged, 0, 60, &values));
  assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, values, (sr__picked){NULL, 60},
                                   (sr__answers){.vote = vote}));
  assert_true(kit_accuracy(&series, vote) == 1.0);
  free(all);
  sr__quant_free_encoded(values);
  fitted_free(&f);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* Values near the largest float overflow in differences: an answer all the same, and one for both
 * forms of rows. */
static void huge_values_have_an_answer(void **state) {
  (void)state;
  kit_shape shape = {50, 1, 2, 40, 40, 0.0};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 8);
  for (int i = 0; i < 50 * 40; i++) series.values[i] *= i % 3 ? 1e38f : 1e-38f;
  int32_t *all = kit_all_rows(50), vote[2][50];
  sr__quant_options options = {.trees = 5, .share = 0.2};
  sr__encoded *values = NULL;
  kit_fitted f;
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 50, &options, &f));
  assert_ok(ctx, sr__quant_encode(ctx, f.encoder, &series.ragged, 0, 50, &values));
  assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, values, (sr__picked){NULL, 50},
                                   (sr__answers){.vote = vote[0]}));
  assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, f.rows, (sr__picked){NULL, 50},
                                   (sr__answers){.vote = vote[1]}));
  assert_memory_equal(vote[0], vote[1], sizeof vote[0]);
  assert_true(kit_accuracy(&series, vote[0]) == 1.0);
  free(all);
  sr__quant_free_encoded(values);
  fitted_free(&f);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* ---- storing ------------------------------------------------------------------------------- */

static void save_all(sr_context *ctx, const kit_fitted *f, sr__bytes *bytes) {
  *bytes = (sr__bytes){.ctx = ctx};
  sr__quant_save_encoder(f->encoder, true, bytes);
  sr__quant_save_member(f->encoder, f->member, bytes);
  assert_ok(ctx, bytes->status);
}

static sr_status load_all(sr_context *ctx, const uint8_t *data, int64_t size, kit_fitted *f) {
  return kit_load(ctx, &sr__learner_quant, data, size, f);
}

static void what_is_stored_is_what_was(void **state) {
  (void)state;
  kit_shape shape = {50, 2, 3, 23, 15, 0.05};
  sr_context *ctx = test_context(1);
  kit_series series = kit_shapelets(&shape, 1.0, 12);
  int32_t *all = kit_all_rows(50);
  sr__quant_options options = {.trees = 4, .share = 0.1};
  kit_fitted f, back;
  sr__bytes bytes, again;
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 50, &options, &f));
  save_all(ctx, &f, &bytes);
  assert_ok(ctx, load_all(ctx, bytes.data, bytes.size, &back));
  save_all(ctx, &back, &again);
  kit_assert_same_bytes(&bytes, &again);
  assert_memory_equal(f.encoder->edge, back.encoder->edge,
                      sizeof(float) * SR__QUANT_EDGES * (size_t)f.encoder->features);
  fitted_free(&back);
  /* Cut short anywhere and with any byte changed it is refused or predicts within its arrays. */
  for (int64_t size = 0; size < bytes.size; size += 1 + size / 40) {
    assert_int_equal(load_all(ctx, bytes.data, size, &back), SR_ERROR_FORMAT);
    fitted_free(&back);
  }
  for (int64_t at = 0; at < bytes.size; at += 1 + at / 300) {
    int32_t vote[50];
    sr__encoded *values = NULL;
    bytes.data[at] ^= (uint8_t)(1 + at % 255);
    if (at >= 16 && load_all(ctx, bytes.data, bytes.size, &back) == SR_OK &&
        sr__quant_encode(ctx, back.encoder, &series.ragged, 0, 50, &values) == SR_OK)
      assert_ok(ctx, sr__quant_predict(ctx, back.encoder, back.member, values,
                                       (sr__picked){NULL, 50}, (sr__answers){.vote = vote}));
    bytes.data[at] ^= (uint8_t)(1 + at % 255);
    sr__quant_free_encoded(values);
    if (at >= 16) fitted_free(&back);
  }
  sr__bytes_free(&bytes);
  sr__bytes_free(&again);
  fitted_free(&f);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

/* ---- memory, threads, levels ---------------------------------------------------------------- */

static sr_status whole_life(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  const kit_series *series = data;
  int32_t all[20], vote[20];
  kit_fitted f = {0}, back = {0};
  sr__encoded *values = NULL;
  sr__bytes bytes = {.ctx = ctx};
  for (int i = 0; i < 20; i++) all[i] = i;
  sr__quant_options options = {.trees = 2, .share = 0.1};
  SR_TRY(fit_series(ctx, series, all, NULL, 20, &options, &f));
  SR_TRY(sr__quant_encode(ctx, f.encoder, &series->ragged, 0, 20, &values));
  SR_TRY(sr__quant_predict(ctx, f.encoder, f.member, values, (sr__picked){NULL, 20},
                           (sr__answers){.vote = vote}));
  sr__quant_save_encoder(f.encoder, true, &bytes);
  sr__quant_save_member(f.encoder, f.member, &bytes);
  SR_TRY(bytes.status);
  SR_TRY(load_all(ctx, bytes.data, bytes.size, &back));
cleanup:
  sr__bytes_free(&bytes);
  sr__quant_free_encoded(values);
  fitted_free(&f);
  fitted_free(&back);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  kit_shape shape = {20, 2, 3, 37, 30, 0.05}; /* 37: a prime, so that the chirp is made too */
  kit_series series = kit_shapelets(&shape, 1.0, 13);
  for (int i = 0; i < 40; i++) series.label[i % 20] = i % 3;
  test_every_allocation(whole_life, &series);
  kit_free(&series);
}

/* A model, its bins and its shares as bytes. */
static void model_bytes(int threads, sr__bytes *bytes, sr_context **context) {
  kit_shape shape = {150, 2, 4, 90, 70, 0.02};
  sr_context *ctx = *context = test_context(threads);
  kit_series series = kit_shapelets(&shape, 0.7, 15);
  int32_t *all = kit_all_rows(150);
  float share[150 * 4];
  sr__quant_options options = {.trees = 5, .share = 0.1};
  sr__encoded *values = NULL;
  kit_fitted f;
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 100, &options, &f));
  save_all(ctx, &f, bytes);
  assert_ok(ctx, sr__quant_encode(ctx, f.encoder, &series.ragged, 0, 150, &values));
  assert_ok(ctx, sr__quant_predict(ctx, f.encoder, f.member, values, (sr__picked){NULL, 150},
                                   (sr__answers){.share = share}));
  sr__put_raw(bytes, share, sizeof share);
  sr__put_raw(bytes, f.rows->bin, f.rows->count * f.rows->tiles * 32);
  assert_ok(ctx, bytes->status);
  sr__quant_free_encoded(values);
  fitted_free(&f);
  free(all);
  kit_free(&series);
}

static void threads_do_not_change_a_byte(void **state) {
  (void)state;
  sr__bytes one, two;
  sr_context *ctx[2];
  model_bytes(1, &one, &ctx[0]);
  model_bytes(2, &two, &ctx[1]);
  kit_assert_same_bytes(&one, &two);
  sr__bytes_free(&one);
  sr__bytes_free(&two);
  sr_context_free(&ctx[0]);
  sr_context_free(&ctx[1]);
}

static const char *own_path;

/* This program again, at each level, writing its model to a file. */
static void levels_do_not_change_a_byte(void **state) {
  (void)state;
  char line[2048], path[2][1024];
  char *file[2];
  size_t size[2];
  if (sr__isa() == SR__ISA_BASE) skip();
  for (int k = 0; k < 2; k++) {
    snprintf(path[k], sizeof path[k], "%s/model_%d", test_folder(), k);
    snprintf(line, sizeof line, "SPECROUTE_ISA=%s '%s' write '%s'", k ? "v3" : "base", own_path,
             path[k]);
    assert_int_equal(system(line), 0);
    file[k] = test_read_file(path[k], &size[k]);
    assert_non_null(file[k]);
  }
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(file[0], file[1], size[0]);
  free(file[0]);
  free(file[1]);
}

static int write_model(const char *path) {
  sr__bytes bytes;
  sr_context *ctx;
  model_bytes(1, &bytes, &ctx);
  FILE *file = fopen(path, "wb");
  bool written = file && fwrite(bytes.data, 1, (size_t)bytes.size, file) == (size_t)bytes.size;
  if (file && fclose(file)) written = false;
  sr__bytes_free(&bytes);
  sr_context_free(&ctx);
  return !written;
}

static void what_cannot_be_is_said(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  kit_shape shape = {10, 2, 2, 8, 8, 0.0};
  kit_series series = kit_shapelets(&shape, 1.0, 17);
  int32_t *all = kit_all_rows(10);
  sr__quant_options options[] = {{0, 0.1}, {1, 0.0}, {1, 1.5}, {1, NAN}};
  kit_fitted f;
  for (int k = 0; k < 4; k++) {
    assert_int_equal(fit_series(ctx, &series, all, NULL, 10, &options[k], &f), SR_ERROR_ARGUMENT);
    fitted_free(&f);
  }
  assert_ok(ctx, fit_series(ctx, &series, all, NULL, 10, &DEFAULTS, &f));
  sr__series_view one_channel = series.ragged;
  one_channel.channels = 1;
  sr__encoded *values = NULL;
  assert_int_equal(sr__quant_encode(ctx, f.encoder, &one_channel, 0, 10, &values), SR_ERROR_DATA);
  fitted_free(&f);
  series.ragged.rows = 0;
  assert_int_equal(fit_series(ctx, &series, all, NULL, 0, &DEFAULTS, &f), SR_ERROR_DATA);
  fitted_free(&f);
  int64_t long_offset[] = {0, (int64_t)SR__MAX_SERIES_LENGTH + 1};
  sr__series_view long_series = {series.values, long_offset, 1, 1};
  sr__even_shape even;
  assert_int_equal(sr__even_shape_find(ctx, &long_series, 2, &even), SR_ERROR_DATA);
  sr__free(ctx, even.length);
  series.ragged.rows = 10;
  assert_int_equal(sr__even_shape_find(ctx, &series.ragged, SR__EVEN_MAX_CLASSES + 1, &even),
                   SR_ERROR_DATA);
  sr__free(ctx, even.length);
  free(all);
  kit_free(&series);
  sr_context_free(&ctx);
}

int main(int count, char **argument) {
  own_path = argument[0];
  if (count == 3 && strcmp(argument[1], "write") == 0) return write_model(argument[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(features_agree_with_a_slow_reference),
      cmocka_unit_test(there_are_as_many_features_as_published),
      cmocka_unit_test(features_have_the_symmetries_of_quantiles),
      cmocka_unit_test(even_series_are_straight_lines),
      cmocka_unit_test(padding_is_no_part_of_a_series),
      cmocka_unit_test(every_level_gives_the_same_features),
      cmocka_unit_test(columns_are_sorted_at_every_level),
      cmocka_unit_test(bins_count_edges_at_every_level),
      cmocka_unit_test(searches_agree_with_a_slow_one),
      cmocka_unit_test(training_rows_are_known_by_heart),
      cmocka_unit_test(new_shapelets_are_told_apart),
      cmocka_unit_test(counts_are_repeated_rows),
      cmocka_unit_test(leaves_hold_shares),
      cmocka_unit_test(missing_channels_are_seen),
      cmocka_unit_test(huge_values_have_an_answer),
      cmocka_unit_test(what_is_stored_is_what_was),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(threads_do_not_change_a_byte),
      cmocka_unit_test(levels_do_not_change_a_byte),
      cmocka_unit_test(what_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
