/* QUANT and Time Series Forest on one training and one test set: processor seconds and accuracy.
 *   bench_intervals quant|tsf|tsf-bootstrap TRAIN TEST TREES SEEDS REPEATS [THREADS]  one line of
 * JSON A set is a file: int64 rows, channels, classes; int64 offsets (rows x channels + 1); float32
 * values; int32 labels. Seconds are those of the best of REPEATS runs with the first seed, accuracy
 * the mean over SEEDS. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/isa.h"
#include "learner/quant/quant.h"
#include "learner/tsf/tsf.h"

typedef struct series_set {
  sr__series_view ragged;
  int32_t classes;
  float *values;
  int64_t *offset;
  int32_t *label;
} series_set;

typedef struct outcome {
  double prepare, fit, encode, predict,
      one; /* processor seconds; `one`: a series alone, all of it */
  int32_t *vote;
} outcome;

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

static void *read_items(FILE *file, int64_t count, size_t size) {
  void *items = malloc((size_t)count * size + 1);
  if (!items || fread(items, size, (size_t)count, file) != (size_t)count) exit(2);
  return items;
}

static series_set read_set(const char *path) {
  series_set set = {0};
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  int64_t *size = read_items(file, 3, sizeof *size), all = size[0] * size[1];
  set.classes = (int32_t)size[2];
  set.offset = read_items(file, all + 1, sizeof *set.offset);
  set.values = read_items(file, set.offset[all], sizeof *set.values);
  set.label = read_items(file, size[0], sizeof *set.label);
  set.ragged = (sr__series_view){set.values, set.offset, size[0], (int32_t)size[1]};
  free(size);
  fclose(file);
  return set;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int32_t *all_rows(int64_t rows) {
  int32_t *row = malloc(sizeof *row * (size_t)rows + 1);
  for (int64_t i = 0; i < rows; i++) row[i] = (int32_t)i;
  return row;
}

static void vote_by_shares(const float *sum, int64_t rows, int32_t classes, int32_t *vote) {
  for (int64_t i = 0; i < rows; i++) {
    vote[i] = 0;
    for (int32_t c = 1; c < classes; c++)
      if (sum[i * classes + c] > sum[i * classes + vote[i]]) vote[i] = c;
  }
}

static void run_quant(sr_context *ctx, const series_set *train, const series_set *test,
                      int32_t trees, uint64_t seed, outcome *to) {
  sr__quant_encoder *encoder = NULL;
  sr__quant_rows *rows = NULL, *encoded = NULL;
  sr__quant_member *member = NULL;
  sr__quant_options options = {.trees = trees, .share = 0.1};
  sr__random random;
  int64_t n = train->ragged.rows, tests = test->ragged.rows;
  int32_t *bag = all_rows(n);
  sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, 0);
  double at[6] = {processor_seconds()};
  must(ctx, sr__quant_prepare(ctx, &train->ragged, train->classes, &encoder, &rows));
  at[1] = processor_seconds();
  must(ctx,
       sr__quant_fit(ctx, encoder, rows, train->label, bag, NULL, n, &options, &random, &member));
  at[2] = processor_seconds();
  must(ctx, sr__quant_encode(ctx, encoder, &test->ragged, 0, tests, &encoded));
  at[3] = processor_seconds();
  must(ctx, sr__quant_predict(ctx, encoder, member, encoded, (sr__picked){NULL, tests},
                              (sr__answers){to->vote, NULL}));
  at[4] = processor_seconds();
  sr__quant_rows_free(&encoded);
  for (int i = 0; i < 20; i++) {
    int32_t vote;
    must(ctx, sr__quant_encode(ctx, encoder, &test->ragged, i % tests, 1, &encoded));
    must(ctx, sr__quant_predict(ctx, encoder, member, encoded, (sr__picked){NULL, 1},
                                (sr__answers){&vote, NULL}));
    sr__quant_rows_free(&encoded);
  }
  at[5] = processor_seconds();
  to->prepare = at[1] - at[0], to->fit = at[2] - at[1], to->encode = at[3] - at[2];
  to->predict = at[4] - at[3], to->one = (at[5] - at[4]) / 20.0;
  sr__quant_member_free(&member);
  sr__quant_rows_free(&rows);
  sr__quant_encoder_free(&encoder);
  free(bag);
}

/* Every row once, or n draws with replacement. */
static int64_t draw_bag(sr__random *random, int64_t rows, bool bootstrap, int32_t *bag,
                        int32_t *counts) {
  int64_t length = 0;
  memset(counts, 0, sizeof *counts * (size_t)rows);
  for (int64_t i = 0; i < rows; i++)
    counts[bootstrap ? (int64_t)sr__random_below(random, (uint64_t)rows) : i]++;
  for (int64_t i = 0; i < rows; i++) {
    if (!counts[i]) continue;
    bag[length] = (int32_t)i;
    counts[length++] = counts[i];
  }
  return length;
}

enum { CHUNK_ROWS = 64 };

static void run_tsf(sr_context *ctx, const series_set *train, const series_set *test, int32_t trees,
                    uint64_t seed, bool bootstrap, outcome *to) {
  sr__tsf_encoder *encoder = NULL;
  sr__tsf_rows *rows = NULL, *encoded = NULL;
  sr__tsf_member **member = calloc((size_t)trees, sizeof *member);
  int64_t n = train->ragged.rows, tests = test->ragged.rows, cells = tests * train->classes;
  int32_t *bag = all_rows(n), *counts = malloc(sizeof *counts * (size_t)n);
  float *share = malloc(sizeof *share * (size_t)cells), *sum = calloc((size_t)cells, sizeof *sum);
  sr__random random;
  double at[6] = {processor_seconds()};
  must(ctx, sr__tsf_prepare(ctx, &train->ragged, train->classes, &encoder, &rows));
  at[1] = processor_seconds();
  for (int32_t t = 0; t < trees; t++) {
    sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, (uint64_t)t);
    int64_t length = draw_bag(&random, n, bootstrap, bag, counts);
    must(ctx, sr__tsf_fit(ctx, encoder, rows, train->label, bag, bootstrap ? counts : NULL, length,
                          0, &random, &member[t]));
  }
  at[2] = processor_seconds();
  /* A few rows at a time through all trees, as they stay in the cache. */
  double encode = 0.0;
  for (int64_t first = 0; first < tests; first += CHUNK_ROWS) {
    int64_t rows_now = tests - first < CHUNK_ROWS ? tests - first : CHUNK_ROWS;
    double start = processor_seconds();
    must(ctx, sr__tsf_encode(ctx, encoder, &test->ragged, first, rows_now, &encoded));
    encode += processor_seconds() - start;
    for (int32_t t = 0; t < trees; t++) {
      must(ctx, sr__tsf_predict(ctx, encoder, member[t], encoded, (sr__picked){NULL, rows_now},
                                (sr__answers){NULL, share}));
      for (int64_t i = 0; i < rows_now * train->classes; i++)
        sum[first * train->classes + i] += share[i];
    }
    sr__tsf_rows_free(&encoded);
  }
  vote_by_shares(sum, tests, train->classes, to->vote);
  at[4] = processor_seconds();
  for (int i = 0; i < 20; i++) {
    must(ctx, sr__tsf_encode(ctx, encoder, &test->ragged, i % tests, 1, &encoded));
    for (int32_t t = 0; t < trees; t++)
      must(ctx, sr__tsf_predict(ctx, encoder, member[t], encoded, (sr__picked){NULL, 1},
                                (sr__answers){NULL, share}));
    sr__tsf_rows_free(&encoded);
  }
  at[5] = processor_seconds();
  to->prepare = at[1] - at[0], to->fit = at[2] - at[1], to->encode = encode;
  to->predict = at[4] - at[2] - encode, to->one = (at[5] - at[4]) / 20.0;
  for (int32_t t = 0; t < trees; t++) sr__tsf_member_free(&member[t]);
  sr__tsf_rows_free(&rows);
  sr__tsf_encoder_free(&encoder);
  free(member);
  free(bag);
  free(counts);
  free(share);
  free(sum);
}

static void keep_least(double *best, double seconds, int repeat) {
  if (repeat == 0 || seconds < *best) *best = seconds;
}

int main(int count, char **argument) {
  if (count < 7) return 2;
  const char *method = argument[1];
  series_set train = read_set(argument[2]), test = read_set(argument[3]);
  int trees = atoi(argument[4]), seeds = atoi(argument[5]), repeats = atoi(argument[6]);
  int64_t tests = test.ragged.rows;
  outcome now = {.vote = malloc(sizeof *now.vote * (size_t)tests + 1)}, best = {0};
  double accuracy = 0.0;
  sr_context *ctx = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = count > 7 ? atoi(argument[7]) : 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  for (int run = 0; run < seeds + repeats; run++) {
    uint64_t seed = (uint64_t)(run < repeats ? 1 : run - repeats + 1);
    if (strcmp(method, "quant") == 0)
      run_quant(ctx, &train, &test, trees, seed, &now);
    else
      run_tsf(ctx, &train, &test, trees, seed, strcmp(method, "tsf-bootstrap") == 0, &now);
    if (run < repeats) {
      keep_least(&best.prepare, now.prepare, run);
      keep_least(&best.fit, now.fit, run);
      keep_least(&best.encode, now.encode, run);
      keep_least(&best.predict, now.predict, run);
      keep_least(&best.one, now.one, run);
      continue;
    }
    for (int64_t i = 0; i < tests; i++)
      accuracy += (now.vote[i] == test.label[i]) / ((double)tests * seeds);
  }
  printf(
      "{\"method\": \"%s\", \"trees\": %d, \"level\": \"%s\", \"prepare\": %.6g, \"fit\": %.6g, "
      "\"encode\": %.6g, \"predict\": %.6g, \"one\": %.6g, \"accuracy\": %.6f, \"peak_mb\": "
      "%.0f}\n",
      method, trees, sr__isa_name(sr__isa()), best.prepare, best.fit, best.encode, best.predict,
      best.one, accuracy, bench_peak_mb());
  sr_context_free(&ctx);
  free(now.vote);
  free(train.values), free(train.offset), free(train.label);
  free(test.values), free(test.offset), free(test.label);
  return 0;
}
