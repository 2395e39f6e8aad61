#include "walk_kernel.h"

#include <stdbool.h>
#include <stddef.h>

#include "block_lanes.h"
#include "core/vectors.h"

#if defined(__AVX2__)
enum { LANES = 32 };
#else
enum { LANES = 16 };
#endif

enum {
  GROUP = SR__WALK_GROUP,
  COMPANY = 512, /* rows that go from node to node together, so that their memory reads overlap */
  STEPS = 2,     /* that a row takes before it is asked whether it has arrived */
  FEW = 8        /* rows that are not worth a pass of lanes */
};

/* ---- node by node -------------------------------------------------------------------------- */

/* A leaf leads to itself, so that a step has no branch. */
SR__INLINE uint32_t steps(const sr__node *node, uint32_t at, const uint8_t *row, bool shifted) {
  for (int s = 0; s < STEPS; s++) {
    sr__node here = node[at];
    uint8_t bin = row[here.what >> SR__NODE_FEATURE];
    if (shifted) bin = (uint8_t)(bin + (here.what >> 8 & 1));
    at = here.left + (bin > (uint8_t)here.what);
  }
  return at;
}

/* Rows k < count that stand one after the other, from the nodes `at` to their leaves; `number` is
 * where each gives. Those that have not arrived stand in front. */
SR__INLINE void walk_company(const sr__walk_tree *tree, const uint8_t *row, int64_t stride,
                             const uint16_t *number, uint32_t *at, int count, uint32_t *given,
                             bool shifted) {
  const sr__node *node = tree->node;
  uint16_t left[COMPANY];
  int kept = 0;
  for (int k = 0; k < count; k++) {
    uint32_t to = steps(node, at[k], row + k * stride, shifted);
    given[number[k]] = tree->value ? tree->value[to] : to;
    left[kept] = (uint16_t)k;
    at[kept] = to;
    kept += node[to].left != to;
  }
  while (kept > 0) {
    count = kept;
    kept = 0;
    for (int i = 0; i < count; i++) {
      uint16_t k = left[i];
      uint32_t to = steps(node, at[i], row + k * stride, shifted);
      given[number[k]] = tree->value ? tree->value[to] : to;
      left[kept] = k;
      at[kept] = to;
      kept += node[to].left != to;
    }
  }
}

static void walk_nodes(const sr__walk_tree *tree, const uint8_t *row, int64_t stride,
                       const uint16_t *number, uint32_t *at, int count, uint32_t *given) {
  if (tree->shifted)
    walk_company(tree, row, stride, number, at, count, given, true);
  else if (stride == 16)
    walk_company(tree, row, 16, number, at, count, given, false);
  else
    walk_company(tree, row, stride, number, at, count, given, false);
}

/* ---- many rows through a crown ------------------------------------------------------------- */

typedef uint8_t bytes __attribute__((vector_size(LANES)));

/* The bins of LANES rows, feature by feature, with the sign bit turned over, so that they compare
 * as signed bytes; from SR__CROWN_FEATURES on, one more. */
typedef struct columns {
  bytes of[2 * SR__CROWN_FEATURES];
} columns;

SR__INLINE bytes spread(uint32_t four_bytes) {
  typedef uint32_t words __attribute__((vector_size(LANES)));
  return (bytes)((words){0} + four_bytes);
}

/* Lanes that are set in `mask` from yes, the others from no. */
SR__INLINE bytes choose(bytes mask, bytes yes, bytes no) {
#if defined(__AVX2__)
  return (bytes)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)mask);
#else
  return no ^ (mask & (no ^ yes));
#endif
}

/* Sixteen bytes each of row k and, in wider lanes, of row k + 16. */
SR__INLINE bytes load_rows(const uint8_t *row, int64_t stride, int k) {
  bytes both;
#if defined(__AVX2__)
  __m128i low = _mm_loadu_si128((const void *)(row + k * stride));
  both =
      (bytes)_mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                     _mm_loadu_si128((const void *)(row + (k + 16) * stride)), 1);
#else
  memcpy(&both, row + k * stride, sizeof both);
#endif
  return both;
}

SR__INLINE bytes weave_low(bytes a, bytes b) {
#if defined(__AVX2__)
  return (bytes)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#endif
}

SR__INLINE bytes weave_high(bytes a, bytes b) {
#if defined(__AVX2__)
  return (bytes)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
#endif
}

/* Weaving the first half of sixteen vectors into the second four times turns rows into columns. */
SR__INLINE void turn(const uint8_t *row, int64_t stride, bytes *column) {
  bytes a[16], b[16];
  for (int k = 0; k < 16; k++) a[k] = load_rows(row, stride, k);
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 8; k++) {
      b[2 * k] = weave_low(a[k], a[k + 8]);
      b[2 * k + 1] = weave_high(a[k], a[k + 8]);
    }
    for (int k = 0; k < 8; k++) {
      a[2 * k] = weave_low(b[k], b[k + 8]);
      a[2 * k + 1] = weave_high(b[k], b[k + 8]);
    }
  }
  for (int k = 0; k < 16; k++) column[k] = a[k] ^ 0x80;
}

SR__INLINE void fill_columns(const uint8_t *row, int64_t stride, int64_t features, bool shifted,
                             columns *c) {
  for (int64_t first = 0; first < features; first += 16) turn(row + first, stride, c->of + first);
  if (!shifted) return;
  for (int64_t j = 0; j < features; j++) /* the sign bit does not take part in a sum */
    c->of[SR__CROWN_FEATURES + j] = c->of[j] + 1;
}

/* The lanes that node i sends left. */
SR__INLINE bytes goes_left(const sr__crown *crown, const columns *c, int i) {
  typedef int8_t signed_bytes __attribute__((vector_size(LANES)));
  sr__crown_node node = crown->node[i];
  return (bytes)((signed_bytes)spread(node.threshold) > (signed_bytes)c->of[node.column]);
}

/* The exits below node i, so many levels above the last. */
#define EXITS_ABOVE(level, below)                                                   \
  SR__INLINE bytes exits_##level(const sr__crown *crown, const columns *c, int i) { \
    bytes left = exits_##below(crown, c, 2 * i) ^ (uint8_t)(1 << level);            \
    bytes right = exits_##below(crown, c, 2 * i + 1);                               \
    return choose(goes_left(crown, c, i), left, right);                             \
  }
#define exits_0 goes_left
EXITS_ABOVE(1, 0)
EXITS_ABOVE(2, 1)
EXITS_ABOVE(3, 2)
EXITS_ABOVE(4, 3)
EXITS_ABOVE(5, 4)

/* The exits of LANES rows that stand one after the other. */
SR__INLINE void pass(const sr__crown *crown, const uint8_t *row, int64_t stride, int64_t features,
                     bool shifted, uint8_t *exit) {
  columns c;
  fill_columns(row, stride, features, shifted, &c);
  bytes exits = exits_5(crown, &c, 1) & (SR__CROWN_EXITS - 1);
  memcpy(exit, &exits, sizeof exits);
}

static void pass_crown(const sr__crown *crown, const uint8_t *row, int64_t stride, int64_t features,
                       int shifted, uint8_t *exit) {
  if (stride == 16 && shifted)
    pass(crown, row, 16, 16, true, exit);
  else if (stride == 16)
    pass(crown, row, 16, 16, false, exit);
  else
    pass(crown, row, stride, features, shifted, exit);
}

/* ---- a group of rows ----------------------------------------------------------------------- */

SR__INLINE const uint8_t *bins_of(const sr__walk_rows *rows, int64_t i) {
  return rows->bins + (rows->index ? rows->index[i] : i) * rows->stride;
}

SR__INLINE void copy_row(const uint8_t *from, int64_t stride, uint8_t *to) {
  for (int64_t at = 0; at < stride; at += 16) memcpy(to + at, from + at, 16);
}

/* Exits of all rows from the first crown; rows are moved together where they do not stand so. */
static void pass_first(const sr__walk_tree *tree, const sr__walk_rows *rows, int count,
                       uint8_t *scratch, uint8_t *exit) {
  int64_t stride = sr__walk_stride(rows->features);
  for (int first = 0; first < count; first += LANES) {
    int here = count - first < LANES ? count - first : LANES;
    if (!rows->index && here == LANES) {
      pass_crown(tree->crown, bins_of(rows, first), rows->stride, rows->features, tree->shifted,
                 exit + first);
    } else {
      for (int k = 0; k < here; k++)
        copy_row(bins_of(rows, first + k), stride, scratch + k * stride);
      pass_crown(tree->crown, scratch, stride, rows->features, tree->shifted, exit + first);
    }
  }
}

enum { STREAMS = 4 /* that are counted apart, so that equal exits in a row do not wait */ };

typedef struct group {
  uint8_t exit[GROUP + LANES];
  uint16_t number[GROUP]; /* rows by their exit */
  int end[SR__CROWN_EXITS];
} group;

/* Rows that took the same exit stand together in `sorted`. */
SR__INLINE void sort_by_exit(const sr__walk_rows *rows, int64_t stride, int count, group *g,
                             uint8_t *sorted) {
  int at[SR__CROWN_EXITS][STREAMS] = {{0}}, sum = 0, length = (count + STREAMS - 1) / STREAMS;
  for (int i = 0; i < length; i++)
    for (int s = 0; s < STREAMS; s++)
      if (s * length + i < count) at[g->exit[s * length + i]][s]++;
  for (int e = 0; e < SR__CROWN_EXITS; e++) {
    for (int s = 0; s < STREAMS; s++) {
      int size = at[e][s];
      at[e][s] = sum;
      sum += size;
    }
    g->end[e] = sum;
  }
  for (int i = 0; i < length; i++)
    for (int s = 0; s < STREAMS; s++) {
      int row = s * length + i;
      if (row >= count) continue;
      int to = at[g->exit[row]][s]++;
      g->number[to] = (uint16_t)row;
      copy_row(bins_of(rows, row), stride, sorted + to * stride);
    }
}

/* Rows that stand at one exit of the first crown. */
static void walk_below(const sr__walk_tree *tree, int exit, const uint8_t *row, int64_t features,
                       const uint16_t *number, int count, uint32_t *given) {
  const sr__crown *crown = tree->next[exit] ? tree->crown + tree->next[exit] : NULL;
  uint32_t node = tree->crown->exit[exit], at[COMPANY];
  int64_t stride = sr__walk_stride(features);
  uint8_t second[COMPANY + LANES];
  for (int first = 0; first < count; first += COMPANY) {
    int here = count - first < COMPANY ? count - first : COMPANY;
    if (crown && here >= FEW) {
      for (int k = 0; k < here; k += LANES)
        pass_crown(crown, row + (first + k) * stride, stride, features, tree->shifted, second + k);
      for (int k = 0; k < here; k++) at[k] = crown->exit[second[k]];
    } else {
      for (int k = 0; k < here; k++) at[k] = node;
    }
    walk_nodes(tree, row + first * stride, stride, number + first, at, here, given);
  }
}

static void walk_group(const sr__walk_tree *tree, const sr__walk_rows *rows, int count, group *g,
                       uint8_t *scratch, uint32_t *given) {
  int64_t stride = sr__walk_stride(rows->features);
  pass_first(tree, rows, count, scratch, g->exit);
  if (stride == 16)
    sort_by_exit(rows, 16, count, g, scratch);
  else
    sort_by_exit(rows, stride, count, g, scratch);
  for (int e = 0, begin = 0; e < SR__CROWN_EXITS; begin = g->end[e++])
    walk_below(tree, e, scratch + begin * stride, rows->features, g->number + begin,
               g->end[e] - begin, given);
}

/* Without crowns; rows by index one by one. */
static void walk_alone(const sr__walk_tree *tree, const sr__walk_rows *rows, int count,
                       uint32_t *given) {
  uint16_t number[COMPANY];
  uint32_t at[COMPANY];
  for (int k = 0; k < count; k++) {
    number[k] = (uint16_t)k;
    at[k] = 0;
  }
  if (!rows->index) walk_nodes(tree, rows->bins, rows->stride, number, at, count, given);
  for (int k = 0; rows->index && k < count; k++)
    walk_nodes(tree, bins_of(rows, k), rows->stride, number + k, at + k, 1, given);
}

/* ---- by blocks ----------------------------------------------------------------------------- */

/* A few instructions fetch the bins that all 31 nodes of a block ask for, one compares them, and
 * the path is then read off the answers without touching memory. */
#if SR__HAVE_BLOCKS

enum {
  BLOCK_GROUP = 1024, /* rows that walk together */
  TILE = 128,         /* rows that pass their blocks together */
  AHEAD = 64          /* rows whose blocks are on their way from memory */
};

typedef struct block_walk {
  const sr__tree_block *block;
  const uint8_t *bins;
  int64_t stride;
  const int32_t *index; /* of the group; NULL: rows in order */
} block_walk;

/* Rows under way, by number in the group, and the blocks they stand at, with ONWARD. */
typedef struct travelers {
  uint16_t row[BLOCK_GROUP + SR__BLOCK_LANES];
  uint16_t at[BLOCK_GROUP + SR__BLOCK_LANES + AHEAD];
} travelers;

SR__INLINE const sr__tree_block *block_at(const block_walk *w, uint16_t at) {
  return w->block + (at & (SR__BLOCK_ONWARD - 1));
}

/* Bit i: node i of the block sends the row right. */
SR__INLINE uint32_t goes_right(const sr__tree_block *block, sr__row_bytes row, int width) {
  __m256i feature = _mm256_load_si256((const void *)block->feature);
  __m256i threshold = _mm256_load_si256((const void *)block->threshold);
  /* The look-up ignores the bit SR__BLOCK_SHIFTED, which is the sign. */
  __m256i bin = sr__look_up(row, feature, width);
  __m256i minus_shift = _mm256_cmpgt_epi8(_mm256_setzero_si256(), feature);
  return sr__bytes_above(_mm256_sub_epi8(bin, minus_shift), threshold);
}

/* Past the last row something else stands in `coming`; then the address means nothing, and it is
 * not read. */
SR__INLINE void fetch_block(const block_walk *w, uint16_t coming) {
  uintptr_t at = (uintptr_t)w->block + (coming & (SR__BLOCK_ONWARD - 1)) * sizeof *w->block;
  __builtin_prefetch((const void *)at);
  __builtin_prefetch((const void *)(at + sizeof *w->block / 2));
}

/* Takes travelers [k, k + count) through one block each, in passes that do not wait for each
 * other's memory. Those that go on stand from `kept` on; gives where they end. */
SR__INLINE int64_t pass_blocks(const block_walk *w, travelers *t, int64_t k, int count,
                               int64_t kept, int32_t *leaf, int width, bool indexed) {
  uint32_t right[TILE], node[TILE], exit[TILE];
  for (int j = 0; j < count; j++) {
    int64_t row = t->row[k + j];
    fetch_block(w, t->at[k + j + AHEAD]);
    const uint8_t *bins = w->bins + (indexed ? w->index[row] : row) * w->stride;
    right[j] = goes_right(block_at(w, t->at[k + j]), sr__load_row(bins, width), width);
  }
  for (int j = count; j % SR__BLOCK_LANES; j++) right[j] = exit[j] = 0;
  for (int j = 0; j < count; j += SR__BLOCK_LANES) sr__find_exits(right + j, node + j);
  for (int j = 0; j < count; j++) {
    exit[j] = block_at(w, t->at[k + j])->exit[node[j] - SR__BLOCK_EXITS];
    leaf[t->row[k + j]] = (int32_t)exit[j];
  }
  for (int j = 0; j < count; j += SR__BLOCK_LANES)
    kept += sr__keep_onward(t->row + k + j, exit + j, t->row + kept, t->at + kept);
  return kept;
}

/* All rows take one block, then those that have not arrived the next one: rows do not wait for
 * each other's reads, and short paths not for long ones. */
SR__INLINE void walk_block_group(const block_walk *w, int64_t count, int32_t *leaf, int width,
                                 bool indexed) {
  travelers t = {{0}, {0}};
  for (int64_t i = 0; i < count; i++) t.row[i] = (uint16_t)i;
  for (int64_t left = count; left > 0;) {
    int64_t kept = 0;
    for (int64_t k = 0; k < left; k += TILE) {
      int here = (int)(left - k < TILE ? left - k : TILE);
      kept = pass_blocks(w, &t, k, here, kept, leaf, width, indexed);
    }
    left = kept;
  }
}

static void walk_block_rows(const block_walk *w, int64_t features, int64_t count, int32_t *leaf) {
  if (w->index)
    walk_block_group(w, count, leaf, SR__BLOCK_FEATURES, true);
  else if (features <= 16)
    walk_block_group(w, count, leaf, 16, false);
  else if (features <= 32)
    walk_block_group(w, count, leaf, 32, false);
  else
    walk_block_group(w, count, leaf, SR__BLOCK_FEATURES, false);
}

static void leaves_by_blocks(const sr__tree_block *block, const sr__walk_rows *rows, int64_t count,
                             int32_t *leaf) {
  block_walk w = {.block = block, .stride = rows->stride};
  for (int64_t first = 0; first < count; first += BLOCK_GROUP) {
    int64_t here = count - first < BLOCK_GROUP ? count - first : BLOCK_GROUP;
    w.index = rows->index ? rows->index + first : NULL;
    w.bins = rows->bins + (rows->index ? 0 : first * rows->stride);
    walk_block_rows(&w, rows->features, here, leaf + first);
  }
}

static void walk_blocks(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
                        uint32_t *given) {
  leaves_by_blocks(tree->block, rows, count, (int32_t *)given);
  if (tree->value)
    for (int64_t i = 0; i < count; i++) given[i] = tree->block_value[given[i]];
  else
    for (int64_t i = 0; i < count; i++) given[i] = tree->block_leaf[given[i]];
}

#endif

static void walk(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
                 uint8_t *scratch, uint32_t *given) {
#if SR__HAVE_BLOCKS
  if (tree->block) {
    walk_blocks(tree, rows, count, given);
    return;
  }
#endif
  bool by_crowns = tree->crown && count >= FEW;
  int64_t part = by_crowns ? GROUP : COMPANY;
  sr__walk_rows from = *rows;
  group g;
  for (int64_t first = 0; first < count; first += part) {
    int64_t here = count - first < part ? count - first : part;
    if (by_crowns)
      walk_group(tree, &from, (int)here, &g, scratch, given + first);
    else
      walk_alone(tree, &from, (int)here, given + first);
    if (from.index)
      from.index += here;
    else
      from.bins += here * from.stride;
  }
}

const sr__walk_kernel SR__KERNEL(sr__walk_kernel) = {walk, SR__HAVE_BLOCKS};
