/* Training and prediction of a forest of full bootstrap bags: time, accuracy and memory.
 *   bench_forest TRAIN TEST TREES THREADS [SEED [CASE]]   one line of JSON
 *   bench_forest export TABLE FILE.bin                    writes a table for the peers
 * A table is ar1:ROWS:FEATURES:REPLICATE (the simulated witness) or a file: int64 rows, features,
 * classes; float32 columns; int32 labels. */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "learner/learner.h"
#include "plan/plan.h"

enum { PREDICT_BLOCK = 8192 /* as sr_ensemble_predict */ };

typedef struct forest {
  const sr__learner *learner;
  sr_learner_options options;
  sr__shared *shared;
  sr__training *training;
  sr_plan *plan; /* full bootstrap */
  sr__member **member;
  int64_t rows, trees;
  uint64_t seed;
} forest;

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

/* ---- memory: what the library holds, and the most it held ---------------------------------- */

static atomic_llong live_bytes, peak_bytes;

static void count_bytes(long long change) {
  long long live = atomic_fetch_add(&live_bytes, change) + change, peak = atomic_load(&peak_bytes);
  while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live)) {
  }
}

static void *counted_allocate(void *data, size_t bytes) {
  (void)data;
  void *block = malloc(bytes);
  if (block) count_bytes((long long)malloc_usable_size(block));
  return block;
}

static void *counted_resize(void *data, void *block, size_t bytes) {
  (void)data;
  long long before = block ? (long long)malloc_usable_size(block) : 0;
  void *resized = realloc(block, bytes);
  if (resized) count_bytes((long long)malloc_usable_size(resized) - before);
  return resized;
}

static void counted_release(void *data, void *block) {
  (void)data;
  if (block) count_bytes(-(long long)malloc_usable_size(block));
  free(block);
}

/* ---- tables ------------------------------------------------------------------------------- */

static sr_table *simulate_table(sr_context *ctx, const char *text) {
  sr_simulate_options options;
  sr_table *table = NULL;
  long long n, replicate;
  int d;
  sr_simulate_options_init(&options);
  if (sscanf(text, "ar1:%lld:%d:%lld", &n, &d, &replicate) != 3) exit(2);
  options.n = n;
  options.d = d;
  options.replicate = (uint64_t)replicate;
  options.tmix = 50.0;
  options.noise_sd = 0.3;
  must(ctx, sr_simulate(ctx, &options, &table, NULL));
  return table;
}

static sr_table *read_table(sr_context *ctx, const char *path) {
  static const char *names[4096];
  if (strncmp(path, "ar1:", 4) == 0) return simulate_table(ctx, path);
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

static void write_table(const sr_table *table, const char *path) {
  const sr_table_view *view = sr_table_get(table);
  int64_t head[3] = {view->rows, view->features, view->classes.count};
  FILE *file = fopen(path, "wb");
  size_t values = (size_t)(view->rows * view->features), rows = (size_t)view->rows;
  if (!file || fwrite(head, sizeof *head, 3, file) != 3 ||
      fwrite(view->x, sizeof *view->x, values, file) != values ||
      fwrite(view->label, sizeof *view->label, rows, file) != rows || fclose(file) != 0)
    exit(1);
}

/* ---- the forest --------------------------------------------------------------------------- */

typedef struct bag_maker {
  const sr_plan *plan;
  int32_t member;
} bag_maker;

static sr_status read_bag(sr_context *ctx, const void *data, sr__bag_taker take, void *taker) {
  const bag_maker *maker = data;
  return sr__plan_read_bag(ctx, maker->plan, maker->member, take, taker);
}

static sr_status fit_member(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  forest *f = data;
  bag_maker maker = {f->plan, (int32_t)item};
  sr__bag bag = {.read = read_bag, .maker = &maker};
  sr__random random;
  sr__random_init(&random, f->seed, SR_PURPOSE_LEARNER, 0, (uint64_t)item);
  return f->learner->fit(ctx, f->shared, f->training, &f->options, &bag, &random,
                         &f->member[item]);
}

static void plan_bags(sr_context *ctx, forest *f) {
  sr_plan_input input = {.rows = f->rows};
  sr_plan_options options;
  sr_plan_options_init(&options);
  options.members = (int32_t)f->trees;
  options.seed = f->seed;
  must(ctx, sr_plan_new(ctx, &input, &options, &f->plan));
}

typedef struct prediction {
  const forest *forest;
  const sr_table *table;
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
  int32_t *vote = NULL, *tally = NULL;
  sr__rows *rows = NULL;
  SR_NEW(ctx, vote, count);
  SR_NEW_ZERO(ctx, tally, count * p->classes);
  SR_TRY(p->forest->learner->encode(ctx, p->forest->shared, &(sr__input){.table = p->table}, begin,
                                    count, &rows));
  for (int64_t t = 0; t < p->forest->trees; t++) {
    SR_TRY(p->forest->learner->predict(ctx, p->forest->shared, p->forest->member[t], rows, NULL,
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
  p->forest->learner->free_rows(rows);
  return status;
}

static double accuracy(const sr_table_view *view, const int32_t *label) {
  int64_t right = 0;
  for (int64_t i = 0; i < view->rows; i++) right += label[i] == view->label[i];
  return (double)right / (double)view->rows;
}

/* Of all threads: what a loaded machine cannot distort. */
static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double megabytes(long long bytes) { return (double)bytes / 1048576.0; }

static void train(sr_context *ctx, const sr_table *table, forest *f) {
  f->member = calloc((size_t)f->trees, sizeof *f->member);
  long long held = atomic_load(&live_bytes);
  atomic_store(&peak_bytes, held);
  double started = sr__seconds(), cpu = cpu_seconds();
  must(ctx, f->learner->prepare(ctx, &(sr__input){.table = table}, &f->options, &f->shared,
                                &f->training));
  double prepared = sr__seconds();
  long long before_trees = atomic_load(&live_bytes);
  must(ctx, sr__parallel_for(ctx, f->trees, fit_member, f));
  double trained = sr__seconds();
  double binned = (double)f->rows * (double)sr_table_get(table)->features;
  printf("\"prepare_seconds\": %.4f, \"train_seconds\": %.4f, \"train_cpu\": %.4f, \"peak_mb\": %.2f, "
         "\"trees_mb\": %.2f, \"binned_mb\": %.2f, ",
         prepared - started, trained - started, cpu_seconds() - cpu, megabytes(atomic_load(&peak_bytes) - held),
         megabytes(atomic_load(&live_bytes) - before_trees), binned / 1048576.0);
}

static void test(sr_context *ctx, const sr_table *table, const forest *f) {
  const sr_table_view *view = sr_table_get(table);
  int32_t *label = malloc(sizeof *label * (size_t)view->rows);
  double started = sr__seconds(), cpu = cpu_seconds();
  prediction p = {f, table, view->rows, f->learner->classes(f->shared), label};
  must(ctx, sr__parallel_for(ctx, (view->rows + PREDICT_BLOCK - 1) / PREDICT_BLOCK, predict_block,
                             &p));
  double predicted = sr__seconds();
  printf("\"test_rows\": %lld, \"predict_seconds\": %.4f, "
         "\"predict_cpu\": %.4f, \"accuracy\": %.5f",
         (long long)view->rows, predicted - started, cpu_seconds() - cpu,
         accuracy(view, label));
  free(label);
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = count > 4 ? atoi(arguments[4]) : 1;
  options.allocator = (sr_allocator){counted_allocate, counted_resize, counted_release, NULL};
  sr_context *ctx = NULL;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  bool export = strcmp(arguments[1], "export") == 0;
  sr_table *first = read_table(ctx, arguments[export ? 2 : 1]), *second = NULL;
  if (export) {
    write_table(first, arguments[3]);
  } else {
    second = read_table(ctx, arguments[2]);
    forest f = {.rows = sr_table_get(first)->rows, .trees = atoll(arguments[3])};
    f.seed = count > 5 ? strtoull(arguments[5], NULL, 10) : 1;
    sr_learner_options_init(&f.options);
    must(ctx, sr__learner_find(ctx, "tree", &f.learner));
    printf("{\"bench\": \"forest\", \"case\": \"%s\", \"n\": %lld, \"d\": %lld, "
           "\"trees\": %lld, \"threads\": %d, \"seed\": %llu, ",
           count > 6 ? arguments[6] : "", (long long)f.rows,
           (long long)sr_table_get(first)->features, (long long)f.trees, sr_context_threads(ctx),
           (unsigned long long)f.seed);
    plan_bags(ctx, &f);
    train(ctx, first, &f);
    test(ctx, second, &f);
    printf("}\n");
    for (int64_t t = 0; t < f.trees; t++) f.learner->free_member(f.member[t]);
    free(f.member);
    sr_plan_free(&f.plan);
    f.learner->free_training(f.training);
    f.learner->free_shared(f.shared);
  }
  sr_table_free(&first);
  sr_table_free(&second);
  sr_context_free(&ctx);
  return 0;
}
