/* QUANT and Time Series Forest on one training and one test set: processor seconds and accuracy.
 *   bench_intervals quant|tsf|tsf-bootstrap TRAIN TEST TREES SEEDS REPEATS [THREADS]  one line of
 * JSON A set is a file: int64 rows, channels, classes; int64 offsets (rows x channels + 1); float32
 * values; int32 labels. Seconds are those of the best of REPEATS runs with the first seed, accuracy
 * the mean over SEEDS. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/isa.h"
#include "learner/learner.h"

typedef struct series_set {
  sr_table *table;
  int64_t rows;
  int32_t classes;
  const int32_t *label;
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

static series_set read_set(sr_context *ctx, const char *path) {
  series_set set = {0};
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  int64_t *size = read_items(file, 3, sizeof *size), all = size[0] * size[1];
  int64_t *offset = read_items(file, all + 1, sizeof *offset);
  float *values = read_items(file, offset[all], sizeof *values);
  int32_t *label = read_items(file, size[0], sizeof *label);
  const char **names = malloc(sizeof *names * (size_t)size[2] + 1);
  for (int64_t c = 0; c < size[2]; c++) {
    char *name = malloc(16);
    snprintf(name, 16, "%08lld", (long long)c);
    names[c] = name;
  }
  sr_table_view view = {.rows = size[0],
                        .channels = (int32_t)size[1],
                        .series_offset = offset,
                        .series = values,
                        .label = label,
                        .classes = {(int32_t)size[2], names}};
  must(ctx, sr_table_new(ctx, &view, &set.table));
  set.rows = size[0];
  set.classes = (int32_t)size[2];
  set.label = sr_table_get(set.table)->label;
  for (int64_t c = 0; c < size[2]; c++) free((char *)(uintptr_t)names[c]);
  free(names), free(offset), free(values), free(label);
  free(size);
  fclose(file);
  return set;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void vote_by_shares(const float *sum, int64_t rows, int32_t classes, int32_t *vote) {
  for (int64_t i = 0; i < rows; i++) {
    vote[i] = 0;
    for (int32_t c = 1; c < classes; c++)
      if (sum[i * classes + c] > sum[i * classes + vote[i]]) vote[i] = c;
  }
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

/* What is measured: `members` members, asked for `chunk` rows at a time. */
typedef struct forest {
  const sr__learner *learner;
  const void *options;
  int32_t members;
  bool bootstrap;
  int64_t chunk;
} forest;

static void run_forest(sr_context *ctx, const forest *f, const series_set *train,
                       const series_set *test, uint64_t seed, outcome *to) {
  const sr__learner *learner = f->learner;
  sr__encoder *encoder = NULL;
  sr__training *training = NULL;
  sr__encoded *encoded = NULL;
  sr__member **member = calloc((size_t)f->members, sizeof *member);
  int64_t n = train->rows, tests = test->rows, cells = tests * train->classes;
  int32_t *bag = malloc(sizeof *bag * (size_t)n), *counts = malloc(sizeof *counts * (size_t)n);
  float *share = malloc(sizeof *share * (size_t)cells), *sum = calloc((size_t)cells, sizeof *sum);
  sr__random random;
  double at[5] = {processor_seconds()}, encode = 0.0;
  must(ctx, learner->prepare(ctx, train->table, f->options, &encoder, &training));
  at[1] = processor_seconds();
  for (int32_t t = 0; t < f->members; t++) {
    sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, (uint64_t)t);
    sr__bag drawn = {.rows = bag, .counts = f->bootstrap ? counts : NULL};
    drawn.length = draw_bag(&random, n, f->bootstrap, bag, counts);
    must(ctx, learner->fit(ctx, &(sr__fit_input){encoder, training, f->options}, &drawn, &random,
                           &member[t]));
  }
  at[2] = processor_seconds();
  for (int64_t first = 0; first < tests; first += f->chunk) {
    int64_t rows = tests - first < f->chunk ? tests - first : f->chunk;
    double start = processor_seconds();
    must(ctx, learner->encode(ctx, encoder, test->table, first, rows, &encoded));
    encode += processor_seconds() - start;
    for (int32_t t = 0; t < f->members; t++) {
      must(ctx, learner->predict(ctx, encoder, member[t], encoded, (sr__picked){NULL, rows},
                                 (sr__answers){.share = share}));
      for (int64_t i = 0; i < rows * train->classes; i++)
        sum[first * train->classes + i] += share[i];
    }
    learner->free_encoded(encoded);
  }
  vote_by_shares(sum, tests, train->classes, to->vote);
  at[3] = processor_seconds();
  for (int i = 0; i < 20; i++) {
    must(ctx, learner->encode(ctx, encoder, test->table, i % tests, 1, &encoded));
    for (int32_t t = 0; t < f->members; t++)
      must(ctx, learner->predict(ctx, encoder, member[t], encoded, (sr__picked){NULL, 1},
                                 (sr__answers){.share = share}));
    learner->free_encoded(encoded);
  }
  at[4] = processor_seconds();
  to->prepare = at[1] - at[0], to->fit = at[2] - at[1], to->encode = encode;
  to->predict = at[3] - at[2] - encode, to->one = (at[4] - at[3]) / 20.0;
  for (int32_t t = 0; t < f->members; t++) learner->free_member(member[t]);
  learner->free_training(training);
  learner->free_encoder(encoder);
  free(member), free(bag), free(counts), free(share), free(sum);
}

static void keep_least(double *best, double seconds, int repeat) {
  if (repeat == 0 || seconds < *best) *best = seconds;
}

int main(int count, char **argument) {
  if (count < 7) return 2;
  const char *method = argument[1];
  int trees = atoi(argument[4]), seeds = atoi(argument[5]), repeats = atoi(argument[6]);
  double accuracy = 0.0;
  sr_context *ctx = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = count > 7 ? atoi(argument[7]) : 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  series_set train = read_set(ctx, argument[2]), test = read_set(ctx, argument[3]);
  int64_t tests = test.rows;
  outcome now = {.vote = malloc(sizeof *now.vote * (size_t)tests + 1)}, best = {0};
  /* One member of QUANT has all trees; trees of the other see a few rows at a time, as they stay in
   * the cache. */
  bool quant = strcmp(method, "quant") == 0;
  char text[32] = "tsf";
  sr__configuration chosen = {0};
  if (quant) snprintf(text, sizeof text, "quant:trees=%d", trees);
  must(ctx, sr__configure(ctx, "learner", sr_learner_method, text, &chosen));
  forest f = {.learner = (const sr__learner *)(const void *)chosen.method,
              .options = chosen.options,
              .members = quant ? 1 : trees,
              .bootstrap = strcmp(method, "tsf-bootstrap") == 0,
              .chunk = quant ? tests : 64};
  for (int run = 0; run < seeds + repeats; run++) {
    uint64_t seed = (uint64_t)(run < repeats ? 1 : run - repeats + 1);
    run_forest(ctx, &f, &train, &test, seed, &now);
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
  sr_table_free(&train.table);
  sr_table_free(&test.table);
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration_free(&allocator, &chosen);
  sr_context_free(&ctx);
  free(now.vote);
  return 0;
}
