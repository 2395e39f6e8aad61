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
  static sr__bin_grid grid;
  for (int i = 0; i < SR__BIN_EDGES; i++) grid.edge[i] = i < 200 ? (float)(250 * i) : INFINITY;
  sr__bins_kernel_base.make_grid(&grid, 200);
  sr__bins_kernel_base.search_grid(&grid, x, ROWS, 1, bin);
  show("grid", bin, sizeof bin);
}

enum { SPLITS = NODES / 2, LEAVES = NODES - SPLITS };

/* Node k has the children 2 k + 1 and 2 k + 2; three levels are the crown. */
static sr__node node[NODES];
static sr__pass_node pass[SPLITS], vote_pass[SPLITS];
static uint32_t leaf[LEAVES];

static uint16_t column_of(uint32_t what) {
  uint32_t column = what >> SR__NODE_FEATURE;
  if (what & SR__NODE_SHIFT) column += (uint32_t)sr__walk_columns(FEATURES);
  return (uint16_t)(column * SR__WALK_LANES);
}

static uint8_t threshold_of(uint32_t what) { return (uint8_t)((what + 1) ^ 0x80); }

/* A leaf votes for its number's remainder. */
enum { CLASSES = 7 };

static uint16_t vote_at(uint32_t child, uint32_t value) {
  return (uint16_t)(child < SPLITS ? value : child % CLASSES * SR__WALK_BLOCK);
}

/* The branch below a node from its last split to its first, those with two leaves before. */
static sr__branch add_branch(uint32_t root, sr__branch at) {
  static uint32_t list[NODES], value[NODES];
  uint32_t listed = 1, leaves = 0, splits = 0;
  list[0] = root;
  for (uint32_t i = 0; i < listed; i++) {
    if (list[i] < SPLITS) {
      list[listed++] = 2 * list[i] + 1;
      list[listed++] = 2 * list[i] + 2;
    } else {
      value[list[i]] = leaves * SR__WALK_BLOCK;
      leaf[at.leaf + leaves++] = list[i];
    }
  }
  for (int twigs = 1; twigs >= 0; twigs--)
    for (uint32_t i = listed; i-- > 0;) {
      uint32_t k = list[i], left = 2 * k + 1;
      if (k >= SPLITS || (left >= SPLITS) != twigs) continue;
      value[k] = (SR__WALK_EXITS + splits) * SR__WALK_BLOCK;
      int shift = node[k].what & SR__NODE_SHIFT ? SR__PASS_SHIFT : 0;
      sr__pass_node made = {(uint16_t)value[left], (uint16_t)value[left + 1],
                            (uint16_t)((node[k].what >> SR__NODE_FEATURE) * SR__WALK_BLOCK),
                            (uint8_t)(threshold_of(node[k].what) - shift),
                            (uint8_t)(shift | (twigs ? SR__PASS_TWIGS : 0))};
      pass[at.node + splits] = made;
      made.left = vote_at(left, value[left]);
      made.right = vote_at(left + 1, value[left + 1]);
      vote_pass[at.node + splits++] = made;
    }
  return (sr__branch){at.node + splits, at.leaf + leaves};
}

static void walk_tree(void) {
  static uint8_t bins[(ROWS + 4) * STRIDE];
  static uint32_t given[ROWS], together[ROWS];
  static uint8_t vote[ROWS];
  static sr__branch branch[SR__PIECE_ENDS + 1];
  static uint8_t scratch[SR__WALK_SCRATCH];
  sr__crown_piece piece = {.exit = 0};
  for (uint32_t i = 0; i < NODES; i++) {
    uint32_t what = (uint32_t)(draw() % FEATURES) << SR__NODE_FEATURE |
                    (draw() % 2 ? SR__NODE_SHIFT : 0) | (uint32_t)(draw() % 200 + 20);
    node[i] = i < SPLITS ? (sr__node){2 * i + 1, what} : (sr__node){i, SR__LEAF_WHAT};
  }
  for (int i = 0; i < SR__PIECE_ENDS - 1; i++) {
    piece.column[i] = column_of(node[i].what);
    piece.threshold[i] = threshold_of(node[i].what) * 0x01010101u;
  }
  for (uint32_t e = 0; e < SR__PIECE_ENDS; e++)
    branch[e + 1] = add_branch(SR__PIECE_ENDS - 1 + e, branch[e]);
  for (size_t i = 0; i < sizeof bins; i++) bins[i] = (uint8_t)draw();
  sr__walk_rows rows = {.bins = bins, .stride = STRIDE, .features = FEATURES};
  sr__walk_tree plain = {.node = node, .shifted = 1}, passed = plain;
  passed.piece = &piece;
  passed.pieces = 1;
  passed.pass = pass;
  passed.branch = branch;
  passed.exits = SR__PIECE_ENDS;
  passed.pass_leaf = leaf;
  passed.vote_pass = vote_pass;
  sr__walk_kernel_base.walk(&plain, &rows, ROWS, NULL, given);
  sr__walk_kernel_base.walk(&passed, &rows, ROWS, scratch, together);
  show("walk", given, sizeof given);
  show("walk", together, sizeof together);
  if (memcmp(given, together, sizeof given) != 0) exit(1);
  sr__walk_kernel_base.ask((sr__walk_trees){&passed, 1}, &rows, ROWS, scratch, vote);
  show("votes", vote, sizeof vote);
  for (int i = 0; i < ROWS; i++)
    if (vote[i] != given[i] % CLASSES) exit(1);
}

static void draw_rows(void) {
  static sr__bit_source source = {.key = 7, .next = 3};
  static int32_t block[40], rows[SR__DRAW_CELLS], counts[SR__DRAW_CELLS];
  int64_t behind = sr__draw_kernel_base.deal_draws(&source, 100000, 40, block);
  int32_t draws = 500;
  int64_t kept = sr__draw_kernel_base.draw_blocks(&source, &draws, 1, 0, NULL,
                                                  (sr__entries){.rows = rows, .counts = counts});
  show("behind", &behind, sizeof behind);
  show("blocks", block, sizeof block);
  show("rows", rows, (size_t)kept * sizeof *rows);
  show("counts", counts, (size_t)kept * sizeof *counts);
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
