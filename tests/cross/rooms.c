/* Trees, neighbors, parts of the spectrum and filters on made-up data, through the functions of
 * their rooms, and a hash of what they give. check_aarch64.sh builds it for this machine and for
 * AArch64: both print the same. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"
#include "graph/equal_rows.h"
#include "graph/graph.h"
#include "graph/knn.h"
#include "graph/knn_pairs.h"
#include "learner/learner.h"
#include "learner/rocket/rocket.h"
#include "learner/tree/tree.h"
#include "spectrum/multilevel.h"

extern const sr__learner sr__learner_tree;

static uint64_t hash = 1469598103934665603u;

static void add(const void *data, int64_t count) {
  const unsigned char *byte = data;
  for (int64_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 1099511628211u;
}

static void show(const char *name) {
  printf("%s %016" PRIx64 "\n", name, hash);
  hash = 1469598103934665603u;
}

static void need(sr_status status) {
  if (status == SR_OK) return;
  printf("%s\n", sr_status_name(status));
  exit(1);
}

static void *room(sr_context *ctx, int64_t count, size_t size) {
  void *block = sr__alloc(ctx, count, size);
  if (!block) exit(1);
  return block;
}

static sr__random stream(uint64_t seed) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  return random;
}

/* ---- trees ---------------------------------------------------------------------------------- */

enum { ROWS = 3000, FEATURES = 12 };

typedef struct tree_case {
  const char *name;
  int32_t classes;
  bool missing, weights;
  sr__tree_options options;
} tree_case;

static void fill_rows(const tree_case *c, float *x, int32_t *label, float *weight) {
  sr__random random = stream(3);
  for (int i = 0; i < ROWS; i++) {
    double sum = 0.0;
    for (int j = 0; j < FEATURES; j++) {
      double value = sr__random_uniform(&random) * (j % 3 ? 1000.0 : 9.0);
      if (j % 3 == 0) value = floor(value); /* few values */
      bool none = c->missing && sr__random_below(&random, 9) == 0;
      sum += none || j > 3 ? 0.0 : value / (j % 3 ? 1000.0 : 9.0);
      x[j * ROWS + i] = none ? NAN : (float)value;
    }
    bool noise = sr__random_below(&random, 6) == 0;
    label[i] = noise ? (int32_t)sr__random_below(&random, (uint64_t)c->classes)
                     : (int32_t)(sum * 0.2499 * c->classes);
    weight[i] = (float)sr__random_uniform(&random) + 0.01f;
  }
}

static void grow_tree(sr_context *ctx, const tree_case *c) {
  static float x[ROWS * FEATURES], weight[ROWS];
  static int32_t label[ROWS], all[ROWS], counts[ROWS];
  static const char *const class_name[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  sr_table *table = NULL;
  fill_rows(c, x, label, weight);
  sr_table_view view = {.rows = ROWS,
                        .features = FEATURES,
                        .x = x,
                        .label = label,
                        .classes = {c->classes, class_name},
                        .weight = c->weights ? weight : NULL};
  need(sr_table_new(ctx, &view, &table));
  sr__encoder *encoder = NULL;
  sr__training *training = NULL;
  const sr__learner *learner = &sr__learner_tree;
  need(learner->prepare(ctx, table, &c->options, &encoder, &training));
  for (int i = 0; i < ROWS; i++) {
    all[i] = i;
    counts[i] = 1 + i % 3;
  }
  sr__bag bag = {.rows = all, .counts = counts, .length = ROWS};
  sr__random random = stream(5);
  sr__fit_input input = {encoder, training, &c->options};
  sr__member *member = NULL;
  need(learner->fit(ctx, &input, &bag, &random, &member));
  sr__bytes bytes = {.ctx = ctx};
  learner->save_encoder(encoder, &bytes);
  learner->save_member(encoder, member, &bytes);
  need(bytes.status);
  add(bytes.data, bytes.size);
  sr__bytes_free(&bytes);
  sr__encoded *rows = NULL;
  need(learner->encode(ctx, encoder, table, 0, ROWS, &rows));
  need(learner->predict(ctx, encoder, member, rows, (sr__picked){NULL, ROWS},
                        (sr__answers){all, NULL}));
  add(all, sizeof all);
  show(c->name);
  learner->free_encoded(rows);
  learner->free_member(member);
  learner->free_training(training);
  learner->free_encoder(encoder);
  sr_table_free(&table);
}

static void grow_trees(sr_context *ctx) {
  const sr__tree_options gini = {.min_leaf = 1, .max_bins = 256},
                         wide = {.min_leaf = 5, .max_bins = 256};
  const sr__tree_options entropy = {.min_leaf = 1, .max_bins = 256, .criterion = SR__TREE_ENTROPY};
  const tree_case cases[] = {{"two classes", 2, false, false, gini},
                             {"missing values", 2, true, false, gini},
                             {"weights", 2, true, true, gini},
                             {"three classes", 3, false, false, gini},
                             {"ten classes", 10, true, false, gini},
                             {"ten classes, weights", 10, true, true, gini},
                             {"entropy", 2, false, false, entropy},
                             {"entropy, ten classes", 10, true, false, entropy},
                             {"entropy, weights", 3, true, true, entropy},
                             {"large leaves", 5, true, false, wide}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) grow_tree(ctx, &cases[k]);
}

/* ---- neighbors and the spectrum ------------------------------------------------------------- */

static void show_graph(const char *name, sr_graph *graph) {
  add(graph->offset, (graph->view.nodes + 1) * (int64_t)sizeof *graph->offset);
  add(graph->neighbor, graph->offset[graph->view.nodes] * (int64_t)sizeof *graph->neighbor);
  show(name);
}

static void join_neighbors(sr_context *ctx, int32_t dimension, const char *name) {
  enum { POINTS = 5000 };
  sr__random random = stream((uint64_t)dimension);
  double *column = room(ctx, (int64_t)POINTS * dimension, sizeof *column);
  for (int64_t i = 0; i < (int64_t)POINTS * dimension; i++) {
    column[i] = sr__random_uniform(&random);
    if (i % 4 == 0) column[i] = floor(column[i] * 32.0) / 32.0; /* equal distances */
  }
  sr__points points = {.rows = POINTS, .dimension = dimension, .column = column};
  sr__knn knn = {0};
  sr_graph *graph = NULL;
  need(sr__knn_tree(ctx, &points, 8, &knn));
  need(sr__graph_from_knn(ctx, &knn, "space", &graph));
  show_graph(name, graph);
  sr_graph_free(&graph);
  sr__free(ctx, column);
}

static sr_graph *compare_pairs(sr_context *ctx) {
  enum { POINTS = 2000, DIMENSION = 11 };
  sr__random random = stream(77);
  float *x = room(ctx, POINTS * DIMENSION, sizeof *x);
  for (int i = 0; i < POINTS; i++)
    for (int j = 0; j < DIMENSION; j++)
      x[i * DIMENSION + j] =
          j < 2 ? (float)sr__random_normal(&random) * 20.0f : (float)sr__random_normal(&random);
  sr__knn knn = {0};
  sr_graph *graph = NULL;
  sr__equal_rows equal = {0};
  need(sr__equal_rows_find(ctx, x, POINTS, DIMENSION, &equal));
  need(sr__knn_pairs(ctx, x, &equal, DIMENSION, 10, sr__pair_kernel_now(), &knn));
  sr__equal_rows_free(ctx, &equal);
  need(sr__graph_from_knn(ctx, &knn, "features", &graph));
  show_graph("pairs", graph);
  sr__free(ctx, x);
  return graph;
}

/* The K-cycle on a lattice: no library decides a bit of it. */
static void run_cycle(sr_context *ctx) {
  enum { SIDE = 120, NODES = SIDE * SIDE };
  int64_t *offset = room(ctx, NODES + 1, sizeof *offset), arcs = 0;
  int32_t *neighbor = room(ctx, 4 * NODES, sizeof *neighbor);
  for (int i = 0; i < NODES; i++) {
    offset[i] = arcs;
    if (i >= SIDE) neighbor[arcs++] = i - SIDE;
    if (i % SIDE) neighbor[arcs++] = i - 1;
    if (i % SIDE < SIDE - 1) neighbor[arcs++] = i + 1;
    if (i < NODES - SIDE) neighbor[arcs++] = i + SIDE;
  }
  offset[NODES] = arcs;
  sr__csr graph = {.nodes = NODES, .arcs = arcs, .offset = offset, .neighbor = neighbor};
  sr__hierarchy hierarchy = {0};
  bool stalled = false;
  need(sr__hierarchy_build(ctx, &graph, 2, 1.0, &hierarchy, &stalled));
  if (stalled) exit(1);
  sr__level *level = &hierarchy.level[0];
  float *b = room(ctx, level->slots + SR__SLICE, sizeof *b);
  for (int i = 0; i < level->slots + SR__SLICE; i++) {
    int32_t node = i < level->slots ? sr__node_at(NODES, i) : -1;
    b[i] = node < 0 ? 0.0f : (float)(node % 7 - 3) / 8.0f;
  }
  need(sr__cycle(ctx, &hierarchy, 0, b));
  add(level->z, level->slots * (int64_t)sizeof *level->z);
  show("cycle");
  sr__free(ctx, b);
  sr__hierarchy_free(ctx, &hierarchy);
  sr__free(ctx, offset);
  sr__free(ctx, neighbor);
}

/* ---- filters -------------------------------------------------------------------------------- */

static void filter_series(sr_context *ctx) {
  enum { SERIES = 20, LENGTH = 150, CHANNELS = 2, FILTERS = 200 };
  static float values[SERIES * CHANNELS * LENGTH], out[2 * FILTERS];
  static int64_t offset[SERIES * CHANNELS + 1];
  sr__random random = stream(9);
  for (int i = 0; i < SERIES * CHANNELS * LENGTH; i++)
    values[i] = i % 41 ? (float)sr__random_normal(&random) : NAN;
  for (int i = 0; i <= SERIES * CHANNELS; i++) offset[i] = (int64_t)i * LENGTH;
  sr__series_view view = {values, offset, SERIES, CHANNELS};
  sr__series_rows *rows = NULL;
  sr__rocket *rocket = NULL;
  need(sr__series_prepare(ctx, &view, 0, SERIES, true, &rows));
  need(sr__rocket_draw(ctx, FILTERS, LENGTH, CHANNELS, &random, &rocket));
  for (int r = 0; r < SERIES; r++) {
    need(sr__rocket_transform_one(ctx, rocket, rows, r, out));
    add(out, sizeof out);
  }
  show("rocket");
  sr__rocket_free(rocket);
  sr__series_rows_free(rows);
}

int main(void) {
  sr_context_options options;
  sr_context *ctx = NULL;
  sr_context_options_init(&options);
  options.threads = 2;
  need(sr_context_new(&options, &ctx));
  grow_trees(ctx);
  join_neighbors(ctx, 2, "plane");
  join_neighbors(ctx, 3, "space");
  join_neighbors(ctx, 6, "six dimensions");
  sr_graph *graph = compare_pairs(ctx);
  sr_graph_free(&graph);
  run_cycle(ctx);
  filter_series(ctx);
  sr_context_free(&ctx);
  return 0;
}
