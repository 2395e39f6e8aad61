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

enum { ROWS = 3000, FEATURES = 20, STRIDE = 32, NODES = 4001 };

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

/* Node k has the children 2 k + 1 and 2 k + 2, so place i of the crown is node i - 1. */
static void make_crown(const sr__node *node, sr__crown *crown) {
  for (uint32_t i = 1; i < SR__CROWN_EXITS; i++) {
    uint32_t what = node[i - 1].what;
    crown->node[i].threshold = (((what + 1) & 0xff) ^ 0x80) * 0x01010101u;
    crown->node[i].column =
        (what >> SR__NODE_FEATURE) + (what & SR__NODE_SHIFT ? SR__CROWN_FEATURES : 0);
  }
  for (uint32_t place = SR__CROWN_EXITS; place < 2 * SR__CROWN_EXITS; place++) {
    uint32_t code = place & 1 ? 0 : SR__CROWN_EXITS - 1;
    for (int level = 1; level < SR__CROWN_LEVELS; level++)
      code ^= place >> level & 1 ? 0 : 1u << level;
    crown->exit[code] = place - 1;
  }
}

static void walk_tree(void) {
  static sr__node node[NODES];
  static uint8_t bins[(ROWS + 4) * STRIDE], scratch[(ROWS + SR__WALK_SPARE) * STRIDE];
  static uint32_t given[ROWS], by_crown[ROWS];
  static const uint8_t next[SR__CROWN_EXITS];
  static sr__crown crown;
  for (uint32_t i = 0; i < NODES; i++) {
    uint32_t what = (uint32_t)(draw() % FEATURES) << SR__NODE_FEATURE |
                    (draw() % 2 ? SR__NODE_SHIFT : 0) | (uint32_t)(draw() % 200 + 20);
    node[i] = 2 * i + 2 < NODES ? (sr__node){2 * i + 1, what} : (sr__node){i, SR__LEAF_WHAT};
  }
  for (size_t i = 0; i < sizeof bins; i++) bins[i] = (uint8_t)draw();
  sr__walk_rows rows = {bins, STRIDE, FEATURES, NULL};
  sr__walk_tree plain = {.node = node, .shifted = 1};
  sr__walk_tree crowned = {.node = node, .crown = &crown, .next = next, .shifted = 1};
  make_crown(node, &crown);
  sr__walk_kernel_base.walk(&plain, &rows, ROWS, scratch, given);
  sr__walk_kernel_base.walk(&crowned, &rows, ROWS, scratch, by_crown);
  show("walk", given, sizeof given);
  show("walk", by_crown, sizeof by_crown);
  if (memcmp(given, by_crown, sizeof given) != 0) exit(1);
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
