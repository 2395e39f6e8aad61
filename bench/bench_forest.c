/* Training and prediction of a forest of full bootstrap bags: time, accuracy and memory.
 *   bench_forest TRAIN TEST TREES THREADS [SEED [CASE [hard|soft [WHAT...]]]]   one line of JSON
 * WHAT changes the task: weights (each row a random one), entropy, classes:K (instead of the
 * table's labels, K equal classes of a noisy sum of the features).
 *   bench_forest export TABLE FILE.bin                              writes a table for the peers
 * A table is ar1:ROWS:FEATURES:REPLICATE (the simulated witness) or a file: int64 rows, features,
 * classes; float32 columns; int32 labels. */
#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <specroute/specroute.h>

#include "ensemble/ensemble.h"
#include "learner/tree/tree.h"

typedef struct forest {
  sr_plan *plan; /* full bootstrap */
  sr_ensemble *ensemble;
  sr_vote vote;
  int64_t rows;
  int32_t trees;
  uint64_t seed;
  bool entropy;
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
  char witness[160];
  sr_table *table = NULL;
  long long n, replicate;
  int d;
  if (sscanf(text, "ar1:%lld:%d:%lld", &n, &d, &replicate) != 3) exit(2);
  snprintf(witness, sizeof witness, "ar1:n=%lld,d=%d,tmix=50,noise=0.3", n, d);
  must(ctx, sr_simulate(ctx, witness, 1, (uint64_t)replicate, &table, NULL));
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

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* K classes of equal size, by a noisy sum of the features whose weights fall. */
static void classify(const sr_table_view *view, int32_t classes, int32_t *label) {
  size_t rows = (size_t)view->rows;
  double *sum = malloc(2 * rows * sizeof *sum), *sorted = sum + rows;
  sr_random_normal(1, 2, 3, view->rows, sum);
  for (int64_t i = 0; i < view->rows; i++)
    for (int64_t j = 0; j < view->features; j++)
      sum[i] += 2.0 * (double)view->x[j * view->rows + i] / (double)(j + 1);
  memcpy(sorted, sum, rows * sizeof *sum);
  qsort(sorted, rows, sizeof *sum, by_value);
  for (int64_t i = 0; i < view->rows; i++) {
    label[i] = 0;
    for (int32_t c = 1; c < classes; c++) label[i] += sum[i] >= sorted[c * view->rows / classes];
  }
  free(sum);
}

/* The same table with other labels or weights. */
static sr_table *change_table(sr_context *ctx, sr_table *table, int32_t classes, bool weights) {
  static const char *names[4096];
  sr_table_view view = *sr_table_get(table);
  int32_t *label = malloc(sizeof *label * (size_t)view.rows);
  float *weight = malloc(sizeof *weight * (size_t)view.rows);
  double *uniform = malloc(sizeof *uniform * (size_t)view.rows);
  sr_table *changed = NULL;
  if (classes > 0) {
    for (int32_t c = 0; c < classes; c++) names[c] = "class";
    classify(&view, classes, label);
    view.label = label;
    view.classes = (sr_dictionary){classes, names};
  }
  if (weights) {
    sr_random_uniform(1, 1, 1, view.rows, uniform);
    for (int64_t i = 0; i < view.rows; i++) weight[i] = (float)(0.1 + 2.0 * uniform[i]);
    view.weight = weight;
  }
  must(ctx, sr_table_new(ctx, &view, &changed));
  sr_table_free(&table);
  free(label);
  free(weight);
  free(uniform);
  return changed;
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

static void plan_bags(sr_context *ctx, forest *f) {
  sr_structure_input known = {.rows = f->rows, .tmix = 1.0};
  sr_structure *structure = NULL;
  must(ctx, sr_structure_new(ctx, &known, &structure));
  must(ctx, sr_plan_new(ctx, structure, "uniform", f->trees, f->seed, &f->plan));
  sr_structure_free(&structure);
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

/* How many splits a training row meets on its way to a leaf, on average; of a table without
 * categories. */
static double mean_levels(sr_context *ctx, const sr_table *table, const sr_ensemble *ensemble) {
  enum { WALKS = 5000 };
  int64_t walks = sr_table_get(table)->rows < WALKS ? sr_table_get(table)->rows : WALKS;
  sr__encoded *rows = NULL;
  double levels = 0.0;
  must(ctx, ensemble->learner->encode(ctx, ensemble->encoder, table, 0, walks, &rows));
  for (int32_t t = 0; t < ensemble->view.members; t++) {
    const sr__node *node = ensemble->member[t]->node;
    for (int64_t k = 0; k < walks; k++) {
      const uint8_t *row = rows->bins + k * rows->stride;
      for (uint32_t at = 0; node[at].left != at; levels++) {
        uint32_t what = node[at].what;
        uint8_t bin = (uint8_t)(row[what >> SR__NODE_FEATURE] + (what & SR__NODE_SHIFT ? 1 : 0));
        at = node[at].left + (bin > (uint8_t)what);
      }
    }
  }
  ensemble->learner->free_encoded(rows);
  return levels / ((double)walks * ensemble->view.members);
}

static void train(sr_context *ctx, const sr_table *table, forest *f) {
  sr_ensemble_options options;
  sr_ensemble_options_init(&options);
  options.learner = f->entropy ? "tree:criterion=entropy" : "tree";
  options.vote = f->vote;
  long long held = atomic_load(&live_bytes);
  atomic_store(&peak_bytes, held);
  double started = sr_seconds(), cpu = cpu_seconds();
  must(ctx, sr_ensemble_fit(ctx, table, f->plan, &options, f->seed, &f->ensemble));
  double trained = sr_seconds(), trained_cpu = cpu_seconds();
  double nodes = 0.0;
  for (int32_t t = 0; t < f->trees; t++) nodes += (double)f->ensemble->member[t]->nodes / f->trees;
  long long peak = atomic_load(&peak_bytes) - held;
  long long trees = atomic_load(&live_bytes) - held;
  double binned = (double)f->rows * (double)sr_table_get(table)->features;
  printf(
      "\"train_seconds\": %.4f, \"train_cpu\": %.4f, \"peak_mb\": %.2f, \"trees_mb\": %.2f, "
      "\"binned_mb\": %.2f, \"beside_trees_over_binned\": %.2f, \"levels\": %.2f, \"nodes\": "
      "%.0f, ",
      trained - started, trained_cpu - cpu, megabytes(peak), megabytes(trees), binned / 1048576.0,
      (double)(peak - trees) / binned, mean_levels(ctx, table, f->ensemble), nodes);
}

/* The best of a few runs: wall and processor seconds apart. */
static void test(sr_context *ctx, const sr_table *table, const forest *f) {
  enum { RUNS = 3 };
  const sr_table_view *view = sr_table_get(table);
  int32_t *label = malloc(sizeof *label * (size_t)view->rows);
  double wall = 1e300, cpu = 1e300;
  for (int run = 0; run < RUNS; run++) {
    double started = sr_seconds(), used = cpu_seconds();
    must(ctx, sr_ensemble_predict(ctx, f->ensemble, table, label, NULL));
    wall = fmin(wall, sr_seconds() - started);
    cpu = fmin(cpu, cpu_seconds() - used);
  }
  printf(
      "\"vote\": \"%s\", \"test_rows\": %lld, \"predict_seconds\": %.4f, "
      "\"predict_cpu\": %.4f, \"accuracy\": %.5f",
      f->vote == SR_VOTE_SOFT ? "soft" : "hard", (long long)view->rows, wall, cpu,
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
    forest f = {.rows = sr_table_get(first)->rows, .trees = atoi(arguments[3])};
    f.seed = count > 5 ? strtoull(arguments[5], NULL, 10) : 1;
    int32_t classes = 0;
    bool weights = false;
    for (int k = 8; k < count; k++) {
      if (strcmp(arguments[k], "weights") == 0) weights = true;
      if (strcmp(arguments[k], "entropy") == 0) f.entropy = true;
      sscanf(arguments[k], "classes:%d", &classes);
    }
    if (weights || classes > 0) {
      first = change_table(ctx, first, classes, weights);
      second = change_table(ctx, second, classes, false);
    }
    f.vote = count > 7 && strcmp(arguments[7], "soft") == 0 ? SR_VOTE_SOFT : SR_VOTE_HARD;
    printf(
        "{\"bench\": \"forest\", \"case\": \"%s\", \"n\": %lld, \"d\": %lld, "
        "\"trees\": %d, \"threads\": %d, \"level\": \"%s\", \"seed\": %llu, ",
        count > 6 ? arguments[6] : "", (long long)f.rows, (long long)sr_table_get(first)->features,
        f.trees, sr_context_threads(ctx), sr__isa_name(sr__isa()), (unsigned long long)f.seed);
    plan_bags(ctx, &f);
    train(ctx, first, &f);
    test(ctx, second, &f);
    printf("}\n");
    sr_ensemble_free(&f.ensemble);
    sr_plan_free(&f.plan);
  }
  sr_table_free(&first);
  sr_table_free(&second);
  sr_context_free(&ctx);
  return 0;
}
