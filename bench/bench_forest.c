/* Training and prediction of a forest of full bootstrap bags: time, accuracy and memory.
 *   bench_forest TRAIN.bin TEST.bin TREES THREADS [SEED] [CASE]
 * The files are written by forest_peers.py: int64 rows, features, classes; float32 columns; int32
 * labels. One line of JSON goes to standard output. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "learner/learner.h"

enum { PREDICT_BLOCK = 16384 };

typedef struct forest {
  const sr__learner *learner;
  sr_learner_options options;
  sr__shared *shared;
  sr__training *training;
  sr__member **member;
  int64_t rows, trees;
  uint64_t seed;
} forest;

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

static sr_table *read_table(sr_context *ctx, const char *path) {
  static const char *names[4096];
  int64_t head[3];
  FILE *file = fopen(path, "rb");
  if (!file || fread(head, sizeof *head, 3, file) != 3) exit(2);
  size_t values = (size_t)(head[0] * head[1]), rows = (size_t)head[0];
  float *x = malloc(values * sizeof *x);
  int32_t *label = malloc(rows * sizeof *label);
  if (!x || !label || fread(x, sizeof *x, values, file) != values ||
      fread(label, sizeof *label, rows, file) != rows)
    exit(2);
  fclose(file);
  for (int64_t c = 0; c < head[2]; c++) names[c] = "class";
  sr_table_view view = {.rows = head[0],
                        .features = head[1],
                        .x = x,
                        .label = label,
                        .classes = {(int32_t)head[2], names}};
  sr_table *table = NULL;
  must(ctx, sr_table_new(ctx, &view, &table));
  free(x);
  free(label);
  return table;
}

/* n draws with replacement as distinct rows with counts. */
static sr_status fit_member(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  sr_status status = SR_OK;
  forest *f = data;
  int32_t *counts = NULL, *rows = NULL;
  sr__random random;
  SR_NEW_ZERO(ctx, counts, f->rows);
  SR_NEW(ctx, rows, f->rows);
  sr__random_init(&random, f->seed, SR_PURPOSE_BAG, 0, (uint64_t)item);
  for (int64_t i = 0; i < f->rows; i++)
    counts[sr__random_below(&random, (uint64_t)f->rows)]++;
  int64_t length = 0;
  for (int64_t i = 0; i < f->rows; i++) {
    if (counts[i] == 0) continue;
    rows[length] = (int32_t)i;
    counts[length++] = counts[i];
  }
  sr__bag bag = {rows, counts, length};
  sr__random_init(&random, f->seed, SR_PURPOSE_LEARNER, 0, (uint64_t)item);
  SR_TRY(f->learner->fit(ctx, f->shared, f->training, &f->options, &bag, &random,
                         &f->member[item]));
cleanup:
  sr__free(ctx, counts);
  sr__free(ctx, rows);
  return status;
}

typedef struct prediction {
  const forest *forest;
  const sr__rows *rows;
  int64_t count;
  int32_t classes;
  int32_t *label;
} prediction;

static sr_status predict_block(sr_context *ctx, void *data, int64_t block, int slot) {
  (void)slot;
  sr_status status = SR_OK;
  prediction *p = data;
  int64_t begin = block * PREDICT_BLOCK;
  int64_t count = p->count - begin < PREDICT_BLOCK ? p->count - begin : PREDICT_BLOCK;
  int32_t *vote = NULL, *tally = NULL, *index = NULL;
  SR_NEW(ctx, vote, count);
  SR_NEW(ctx, index, count);
  SR_NEW_ZERO(ctx, tally, count * p->classes);
  for (int64_t i = 0; i < count; i++) index[i] = (int32_t)(begin + i);
  for (int64_t t = 0; t < p->forest->trees; t++) {
    SR_TRY(p->forest->learner->predict(ctx, p->forest->shared, p->forest->member[t], p->rows, index,
                                       count, vote, NULL));
    for (int64_t i = 0; i < count; i++) tally[i * p->classes + vote[i]]++;
  }
  for (int64_t i = 0; i < count; i++) {
    int32_t best = 0;
    for (int32_t c = 1; c < p->classes; c++)
      if (tally[i * p->classes + c] > tally[i * p->classes + best]) best = c;
    p->label[begin + i] = best;
  }
cleanup:
  sr__free(ctx, vote);
  sr__free(ctx, tally);
  sr__free(ctx, index);
  return status;
}

static double accuracy(const sr_table_view *view, const int32_t *label) {
  int64_t right = 0;
  for (int64_t i = 0; i < view->rows; i++) right += label[i] == view->label[i];
  return (double)right / (double)view->rows;
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  sr_context_options context_options;
  sr_context_options_init(&context_options);
  context_options.threads = atoi(arguments[4]);
  sr_context *ctx = NULL;
  if (sr_context_new(&context_options, &ctx) != SR_OK) return 1;
  sr_table *train = read_table(ctx, arguments[1]), *test = read_table(ctx, arguments[2]);
  const sr_table_view *view = sr_table_get(train), *test_view = sr_table_get(test);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);

  forest f = {.rows = view->rows, .trees = atoll(arguments[3])};
  f.seed = count > 5 ? strtoull(arguments[5], NULL, 10) : 1;
  sr_learner_options_init(&f.options);
  must(ctx, sr__learner_find(ctx, "tree", &f.learner));
  f.member = calloc((size_t)f.trees, sizeof *f.member);
  double started = sr__seconds();
  must(ctx, f.learner->prepare(ctx, &(sr__input){.table = train}, &f.options, &f.shared,
                               &f.training));
  double prepared = sr__seconds();
  must(ctx, sr__parallel_for(ctx, f.trees, fit_member, &f));
  double trained = sr__seconds();
  getrusage(RUSAGE_SELF, &after);

  sr__rows *rows = NULL;
  int32_t *label = malloc(sizeof *label * (size_t)test_view->rows);
  double predict_start = sr__seconds();
  must(ctx, f.learner->encode(ctx, f.shared, &(sr__input){.table = test}, 0, test_view->rows,
                              &rows));
  double encoded = sr__seconds();
  prediction p = {&f, rows, test_view->rows, test_view->classes.count, label};
  must(ctx, sr__parallel_for(ctx, (test_view->rows + PREDICT_BLOCK - 1) / PREDICT_BLOCK,
                             predict_block, &p));
  double predicted = sr__seconds();
  sr__bytes bytes = {.ctx = ctx};
  for (int64_t t = 0; t < f.trees; t++) f.learner->save_member(f.shared, f.member[t], &bytes);
  printf("{\"case\":\"%s\",\"n\":%lld,\"d\":%lld,\"trees\":%lld,\"threads\":%d,\"seed\":%llu,"
         "\"prepare_seconds\":%.4f,\"fit_seconds\":%.4f,\"train_seconds\":%.4f,"
         "\"test_rows\":%lld,\"encode_seconds\":%.4f,\"predict_seconds\":%.4f,\"accuracy\":%.5f,"
         "\"peak_growth_mb\":%.1f,\"binned_mb\":%.1f,\"model_mb\":%.1f}\n",
         count > 6 ? arguments[6] : "", (long long)view->rows, (long long)view->features,
         (long long)f.trees, sr_context_threads(ctx), (unsigned long long)f.seed,
         prepared - started, trained - prepared, trained - started, (long long)test_view->rows,
         encoded - predict_start, predicted - predict_start, accuracy(test_view, label),
         (double)(after.ru_maxrss - before.ru_maxrss) / 1024.0,
         (double)view->rows * (double)view->features / 1048576.0, (double)bytes.size / 1048576.0);

  sr__bytes_free(&bytes);
  f.learner->free_rows(rows);
  for (int64_t t = 0; t < f.trees; t++) f.learner->free_member(f.member[t]);
  free(f.member);
  f.learner->free_training(f.training);
  f.learner->free_shared(f.shared);
  free(label);
  sr_table_free(&train);
  sr_table_free(&test);
  sr_context_free(&ctx);
  return 0;
}
