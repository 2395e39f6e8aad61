/* ROCKET and MiniRocket with their ridge: time and accuracy. series_peers.py runs it beside aeon.
 *   bench_series METHOD TRAIN.bin TEST.bin [REPEATS [SEED [PENALTY [MEMORY_MB [KERNELS]]]]]
 * prints one line of JSON. METHOD is rocket, minirocket or minirocket-whole; a file holds int64
 * rows, length, classes, float32 values row by row (NaN = missing) and int32 labels. Seconds are
 * processor time of one thread, the best of REPEATS; with REPEATS 0 only accuracy is asked for.
 * PENALTY is the largest of the walk (0: the default rule). */
#include <malloc.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "learner/minirocket/minirocket.h"
#include "learner/rocket/rocket.h"
#include "learner/series/series_ridge.h"

typedef struct case_file {
  int64_t rows, length, classes;
  float *values;
  int64_t *offset;
  int32_t *label;
  sr__series_rows *prepared;
} case_file;

typedef struct bench_method {
  const char *name;
  const sr__series_transform *transform;
  const void *options;
  bool normalize;
} bench_method;

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

static void *read_items(FILE *file, size_t size, size_t count) {
  void *items = malloc(size * count);
  if (!items || fread(items, size, count, file) != count) {
    fprintf(stderr, "a file is too short\n");
    exit(1);
  }
  return items;
}

static case_file read_cases(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s cannot be opened\n", path);
    exit(1);
  }
  int64_t *head = read_items(file, sizeof *head, 3);
  case_file f = {.rows = head[0], .length = head[1], .classes = head[2]};
  f.values = read_items(file, sizeof *f.values, (size_t)(f.rows * f.length));
  f.label = read_items(file, sizeof *f.label, (size_t)f.rows);
  f.offset = malloc((size_t)(f.rows + 1) * sizeof *f.offset);
  for (int64_t i = 0; i <= f.rows; i++) f.offset[i] = i * f.length;
  free(head);
  fclose(file);
  return f;
}

static void prepare(sr_context *ctx, case_file *f, const bench_method *method) {
  sr__series_view view = {f->values, f->offset, f->rows, 1};
  must(ctx, sr__series_prepare(ctx, &view, 0, f->rows, method->normalize, &f->prepared));
}

/* All features of all rows, tile by tile, and of single rows. */
static void time_transform(sr_context *ctx, const bench_method *method, const case_file *f,
                           int repeats, uint64_t seed, double *all, double *one, double *setup) {
  const sr__series_transform *t = method->transform;
  sr__series_blocks *blocks = NULL;
  void *made = NULL;
  int64_t begin[4096], widest = 0;
  sr__random random;
  sr__series_cases cases = {.rows = f->prepared, .count = f->rows};
  sr__series_recipe recipe = {.options = method->options, .length = f->prepared->longest};
  *all = *one = *setup = 1e300;
  for (int r = 0; r < repeats; r++) {
    double start = processor_seconds();
    sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, 0);
    must(ctx, t->fit(ctx, &recipe, &cases, &random, &made));
    double taken = processor_seconds() - start;
    if (taken < *setup) *setup = taken;
    if (r + 1 < repeats) t->free(made);
  }
  int64_t tiles = t->tiles(made, begin);
  for (int64_t i = 0; i < tiles; i++)
    if (begin[i + 1] - begin[i] > widest) widest = begin[i + 1] - begin[i];
  int64_t stride = (f->rows + 7) / 8 * 8;
  float *out = malloc((size_t)(widest * stride) * sizeof *out);
  float *features = malloc((size_t)begin[tiles] * sizeof *features);
  for (int r = 0; r < repeats; r++) {
    double start = processor_seconds();
    must(ctx, sr__series_blocks_new(ctx, f->prepared, NULL, f->rows, &blocks));
    for (int64_t i = 0; i < tiles; i++)
      must(ctx, t->make(ctx, made, i, (sr__made_blocks){blocks, 0, blocks->blocks, out, stride}));
    double taken = processor_seconds() - start;
    if (taken < *all) *all = taken;
    sr__series_blocks_free(blocks);
    start = processor_seconds();
    for (int64_t i = 0; i < 10; i++)
      must(ctx, t->make_one(ctx, made, f->prepared, i % f->rows, features));
    taken = (processor_seconds() - start) / 10.0;
    if (taken < *one) *one = taken;
  }
  t->free(made);
  free(out);
  free(features);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr,
            "usage: bench_series METHOD TRAIN.bin TEST.bin [REPEATS [SEED [PENALTY "
            "[MEMORY_MB [KERNELS]]]]]\n");
    return 2;
  }
  int repeats = argc > 4 ? atoi(argv[4]) : 3;
  uint64_t seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
  int64_t kernels = argc > 8 ? atoll(argv[8]) : 10000;
  sr__rocket_options rocket = {.kernels = kernels};
  sr__minirocket_options floats = {.features = kernels, .dilations = 32};
  sr__minirocket_options whole = {.features = kernels, .dilations = 32, .whole = true};
  const bench_method methods[] = {{"rocket", &sr__rocket_series, &rocket, true},
                                  {"minirocket", &sr__minirocket_series, &floats, false},
                                  {"minirocket-whole", &sr__minirocket_series, &whole, false}};
  const bench_method *method = NULL;
  for (int i = 0; i < 3; i++)
    if (strcmp(argv[1], methods[i].name) == 0) method = &methods[i];
  if (!method) return 2;
  sr_context_options options;
  sr_context *ctx = NULL;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  case_file train = read_cases(argv[2]), test = read_cases(argv[3]);
  prepare(ctx, &train, method);
  prepare(ctx, &test, method);
  double all = 0.0, one = 0.0, setup = 0.0, fit = 0.0, predict = 0.0, latency = 1e300;
  if (repeats > 0) time_transform(ctx, method, &train, repeats, seed, &all, &one, &setup);
  sr__series_cases cases = {.rows = train.prepared,
                            .count = train.rows,
                            .label = train.label,
                            .classes = (int32_t)train.classes};
  sr__series_recipe recipe = {.transform = method->transform,
                              .options = method->options,
                              .length = train.prepared->longest,
                              .ridge = {.most_penalty = argc > 6 ? atof(argv[6]) : 0.0,
                                        .memory = (argc > 7 ? atoll(argv[7]) : 1024) << 20}};
  sr__series_ridge *model = NULL;
  sr__classes_report report;
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_LEARNER, 0, 0);
  int32_t *vote = malloc((size_t)test.rows * sizeof *vote);
  double start = processor_seconds();
  must(ctx, sr__series_ridge_fit(ctx, &recipe, &cases, &random, &report, &model));
  fit = processor_seconds() - start;
  start = processor_seconds();
  must(ctx, sr__series_ridge_predict(ctx, model, test.prepared, (sr__picked){NULL, test.rows},
                                     (sr__answers){.vote = vote}));
  predict = processor_seconds() - start;
  for (int r = 0; r < repeats; r++) {
    start = processor_seconds();
    for (int32_t i = 0; i < 10; i++) {
      int32_t row = i % (int32_t)test.rows, answer;
      must(ctx, sr__series_ridge_predict(ctx, model, test.prepared, (sr__picked){&row, 1},
                                         (sr__answers){.vote = &answer}));
    }
    double taken = (processor_seconds() - start) / 10.0;
    if (taken < latency) latency = taken;
  }
  int64_t right = 0;
  for (int64_t i = 0; i < test.rows; i++) right += vote[i] == test.label[i];
  printf(
      "{\"bench\": \"series\", \"case\": \"%s\", \"n\": %lld, \"length\": %lld, \"test\": %lld, "
      "\"setup_seconds\": %.6g, \"transform_seconds\": %.6g, \"one_seconds\": %.6g, "
      "\"fit_seconds\": %.6g, \"predict_seconds\": %.6g, \"predict_one_seconds\": %.6g, "
      "\"penalty\": %.4g, \"factorizations\": %d, \"held\": %d, \"stated_mb\": %.1f, "
      "\"peak_mb\": %.1f, \"left_out\": %.5f, \"accuracy\": %.5f}\n",
      method->name, (long long)train.rows, (long long)train.length, (long long)test.rows, setup,
      all, one, fit, predict, repeats > 0 ? latency : 0.0,
      model->classes->model ? model->classes->model->penalty : 0.0, report.linear.factorizations,
      report.linear.held, (double)report.linear.bytes / 1048576.0, bench_peak_mb(),
      1.0 - (double)report.wrong / (double)(report.judged ? report.judged : 1),
      (double)right / (double)test.rows);
  return 0;
}
