/* Runs kernels on made-up data and prints a hash of what they give. check_aarch64.sh builds it for
 * this machine and for AArch64: both print the same. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/maths.h"
#include "learner/tree/bins_kernel.h"
#include "learner/tree/walk_kernel.h"
#include "plan/draw_kernel.h"

enum { ROWS = 3000, FEATURES = 20, STRIDE = 32, NODES = 401 };

static uint64_t state = 88172645463325252u;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint64_t hash_bytes(const void *data, size_t count) {
  const unsigned char *byte = data;
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 1099511628211u;
  return hash;
}

static void show(const char *name, const void *data, size_t count) {
  printf("%s %016" PRIx64 "\n", name, hash_bytes(data, count));
}

static void search_bins(void) {
  static _Alignas(64) float edge[SR__BIN_EDGES];
  static float x[ROWS];
  static uint8_t bin[ROWS];
  for (int i = 0; i < SR__BIN_EDGES; i++) edge[i] = i < 200 ? (float)(i * i) : INFINITY;
  for (int i = 0; i < ROWS; i++) x[i] = i % 17 ? (float)(draw() % 45000) - 1000.0f : NAN;
  sr__bins_kernel_base.search(edge, x, ROWS, 1, bin);
  show("bins", bin, sizeof bin);
}

enum { SPLITS = NODES / 2, LEAVES = NODES - SPLITS };

/* Node k has the children 2 k + 1 and 2 k + 2; the tree is all crown. */
static uint32_t value_of(uint32_t node) {
  return (node < SPLITS ? SR__WALK_EXITS + SPLITS - 1 - node : node - SPLITS) * SR__WALK_LANES;
}

static void walk_tree(void) {
  static sr__node node[NODES];
  static uint8_t bins[(ROWS + 4) * STRIDE];
  static uint32_t given[ROWS], together[ROWS], leaf[LEAVES];
  static sr__pass_node pass[SPLITS];
  static sr__branch branch[LEAVES + 1];
  static uint8_t scratch[SR__WALK_SCRATCH];
  for (uint32_t i = 0; i < NODES; i++) {
    uint32_t what = (uint32_t)(draw() % FEATURES) << SR__NODE_FEATURE |
                    (draw() % 2 ? SR__NODE_SHIFT : 0) | (uint32_t)(draw() % 200 + 20);
    node[i] = i < SPLITS ? (sr__node){2 * i + 1, what} : (sr__node){i, SR__LEAF_WHAT};
  }
  for (uint32_t i = 0; i < SPLITS; i++) {
    uint32_t what = node[i].what, column = what >> SR__NODE_FEATURE;
    if (what & SR__NODE_SHIFT) column += (uint32_t)sr__walk_columns(FEATURES) / 2;
    pass[SPLITS - 1 - i] =
        (sr__pass_node){value_of(2 * i + 1), value_of(2 * i + 2), column * SR__WALK_LANES,
                        (((what + 1) & 0xff) ^ 0x80) * 0x01010101u};
  }
  for (uint32_t e = 0; e < LEAVES; e++) leaf[e] = SPLITS + e;
  for (uint32_t e = 0; e <= LEAVES; e++) branch[e] = (sr__branch){SPLITS, e};
  for (size_t i = 0; i < sizeof bins; i++) bins[i] = (uint8_t)draw();
  sr__walk_rows rows = {.bins = bins, .stride = STRIDE, .features = FEATURES};
  sr__walk_tree plain = {.node = node, .shifted = 1}, passed = plain;
  passed.pass = pass;
  passed.branch = branch;
  passed.exits = LEAVES;
  passed.pass_leaf = leaf;
  sr__walk_kernel_base.walk(&plain, &rows, ROWS, NULL, given);
  sr__walk_kernel_base.walk(&passed, &rows, ROWS, scratch, together);
  show("walk", given, sizeof given);
  show("walk", together, sizeof together);
  if (memcmp(given, together, sizeof given) != 0) exit(1);
}

static void draw_rows(void) {
  static int32_t cell[SR__DRAW_CELLS], rows[SR__DRAW_CELLS], counts[SR__DRAW_CELLS];
  int64_t heads = sr__draw_kernel_base.count_heads(7, 3, 100000);
  sr__draw_kernel_base.draw_cells(7, 3, 500, cell);
  int64_t kept = sr__draw_kernel_base.keep_counted(cell, 0, SR__DRAW_CELLS, NULL, rows, counts);
  show("heads", &heads, sizeof heads);
  show("cells", cell, sizeof cell);
  show("rows", rows, (size_t)kept * sizeof *rows);
}

static void take_functions(void) {
  static double value[ROWS][4];
  for (int i = 0; i < ROWS; i++) {
    double x = 0.0371 * (i + 1);
    value[i][0] = sr__exp_portable(-x);
    value[i][1] = sr__sin_portable(x);
    value[i][2] = sr__cos_portable(x);
    value[i][3] = sr__cbrt_portable(x);
  }
  show("maths", value, sizeof value);
}

int main(void) {
  search_bins();
  walk_tree();
  draw_rows();
  take_functions();
  return 0;
}
