#include "walk_kernel.h"

#include <stdbool.h>
#include <stddef.h>

#include "core/vectors.h"

#if defined(__AVX512BW__)
enum { LANES = 64 };
#elif defined(__AVX2__)
enum { LANES = 32 };
#else
enum { LANES = 16 };
#endif

enum {
  ROWS = SR__WALK_LANES,
  GROUP = SR__WALK_GROUP,
  TILE = SR__WALK_TILE,
  BLOCK = SR__WALK_BLOCK,
  AT_ONCE = 512, /* rows that go from node to node together, so that their memory reads overlap */
  STEPS = 2      /* that a row takes before it is asked whether it has arrived */
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

/* What rows give, one of the two: the node that is their leaf, or its vote. */
typedef struct answer {
  uint32_t *leaf;
  uint8_t *vote;
} answer;

SR__INLINE answer answer_at(answer to, int64_t row) {
  return (answer){to.leaf ? to.leaf + row : NULL, to.vote ? to.vote + row : NULL};
}

SR__INLINE void give(const sr__walk_tree *tree, answer to, int64_t row, uint32_t leaf) {
  if (to.vote)
    to.vote[row] = tree->vote[leaf];
  else
    to.leaf[row] = leaf;
}

/* Rows k < count that stand one after the other, from the root to their leaves. Those that have not
 * arrived stand in front. */
SR__INLINE void walk_in_step(const sr__walk_tree *tree, const uint8_t *row, int64_t stride,
                             int count, answer to, bool shifted) {
  const sr__node *node = tree->node;
  uint16_t left[AT_ONCE];
  uint32_t at[AT_ONCE];
  int kept = count;
  for (int k = 0; k < count; k++) {
    left[k] = (uint16_t)k;
    at[k] = 0;
  }
  while (kept > 0) {
    count = kept;
    kept = 0;
    for (int i = 0; i < count; i++) {
      uint16_t k = left[i];
      uint32_t next = steps(node, at[i], row + k * stride, shifted);
      give(tree, to, k, next);
      left[kept] = k;
      at[kept] = next;
      kept += node[next].left != next;
    }
  }
}

static void walk_nodes(const sr__walk_tree *tree, const uint8_t *row, int64_t stride, int count,
                       answer to) {
  if (tree->shifted)
    walk_in_step(tree, row, stride, count, to, true);
  else
    walk_in_step(tree, row, stride, count, to, false);
}

/* ---- bins by columns ----------------------------------------------------------------------- */

typedef uint8_t bytes __attribute__((vector_size(LANES)));

SR__INLINE bytes weave_low(bytes a, bytes b) {
#if defined(__AVX512BW__)
  return (bytes)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (bytes)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#endif
}

SR__INLINE bytes weave_high(bytes a, bytes b) {
#if defined(__AVX512BW__)
  return (bytes)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (bytes)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
#else
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
#endif
}

SR__INLINE const uint8_t *bins_of(const sr__walk_rows *rows, int64_t i) {
  return rows->bins + (rows->index ? rows->index[i] : i) * rows->stride;
}

/* Sixteen bytes each of row k and, in wider lanes, of row k + 16 and so on. */
SR__INLINE bytes load_rows(const uint8_t *const *row, int64_t feature) {
  bytes all;
#if defined(__AVX2__)
  __m128i part[LANES / 16];
  for (int i = 0; i < LANES / 16; i++)
    part[i] = _mm_loadu_si128((const void *)(row[16 * i] + feature));
  __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(part[0]), part[1], 1);
#if defined(__AVX512BW__)
  __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(part[2]), part[3], 1);
  all = (bytes)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#else
  all = (bytes)low;
#endif
#else
  memcpy(&all, row[0] + feature, sizeof all);
#endif
  return all;
}

/* Weaving the first half of the vectors into the second. */
SR__INLINE void weave(bytes *a, int count) {
  bytes b[16];
  for (int k = 0; k < count / 2; k++) {
    b[2 * k] = weave_low(a[k], a[k + count / 2]);
    b[2 * k + 1] = weave_high(a[k], a[k + count / 2]);
  }
  for (int k = 0; k < count; k++) a[k] = b[k];
}

/* The sign bit is turned over, so that bins compare as signed bytes. */
SR__INLINE void store_columns(const bytes *a, int count, uint8_t *column, int width) {
  for (int k = 0; k < count; k++) {
    bytes signed_bins = a[k] ^ 0x80;
    memcpy(column + k * width, &signed_bins, sizeof signed_bins);
  }
}

/* Sixteen vectors woven four times turn rows into columns. */
SR__INLINE void turn_sixteen(const uint8_t *const *row, int64_t feature, uint8_t *column,
                             int width) {
  bytes a[16];
  for (int k = 0; k < 16; k++) a[k] = load_rows(row + k, feature);
  for (int round = 0; round < 4; round++) weave(a, 16);
  store_columns(a, 16, column, width);
}

/* The same for eight columns: the other halves are left out. */
SR__INLINE void turn_eight(const uint8_t *const *row, int64_t feature, uint8_t *column, int width) {
  bytes a[8];
  for (int k = 0; k < 8; k++)
    a[k] = weave_low(load_rows(row + k, feature), load_rows(row + k + 8, feature));
  for (int round = 0; round < 3; round++) weave(a, 8);
  store_columns(a, 8, column, width);
}

/* One more: the sign bit does not take part in a sum. */
SR__INLINE void shift_column(const uint8_t *column, uint8_t *shifted) {
  bytes bins;
  memcpy(&bins, column, sizeof bins);
  bins += 1;
  memcpy(shifted, &bins, sizeof bins);
}

/* The columns of `count` rows; `row` has entries up to the next LANES. Columns of one feature and
 * the next are `width` bytes apart. */
SR__INLINE void fill_columns(const uint8_t *const *row, int64_t features, int count, bool shifted,
                             int width, uint8_t *column) {
  int64_t columns = sr__walk_columns(features);
  for (int first = 0; first < count; first += LANES) {
    for (int64_t j = 0; j < columns; j += 16)
      if (features - j > 8)
        turn_sixteen(row + first, j, column + j * width + first, width);
      else
        turn_eight(row + first, j, column + j * width + first, width);
    for (int64_t j = 0; shifted && j < features; j++)
      shift_column(column + j * width + first, column + (columns + j) * width + first);
  }
}

/* Rows [first, first + ROWS), the last again where there are no more. */
SR__INLINE void find_rows(const sr__walk_rows *rows, int64_t first, int64_t count,
                          const uint8_t *row[ROWS]) {
  for (int64_t k = first; k < first + ROWS; k++)
    row[k - first] = bins_of(rows, k < count ? k : count - 1);
}

/* Whether a bin of the columns is that of missing values. */
SR__INLINE bool any_missing(const uint8_t *columns, int64_t count) {
  bytes found = {0};
  for (int64_t k = 0; k < count * ROWS; k += LANES) {
    bytes bins;
    memcpy(&bins, columns + k, sizeof bins);
    found |= (bytes)(bins == (UINT8_MAX ^ 0x80));
  }
  uint64_t word[LANES / 8], any = 0;
  memcpy(word, &found, sizeof found);
  for (int i = 0; i < LANES / 8; i++) any |= word[i];
  return any != 0;
}

static int turn(const sr__walk_rows *rows, int64_t count, uint8_t *columns) {
  const uint8_t *row[ROWS];
  bool missing = false;
  for (int64_t first = 0; first < count; first += ROWS) {
    int64_t stride = sr__turned_columns(rows->features, !missing);
    find_rows(rows, first, count, row);
    fill_columns(row, rows->features, ROWS, missing, ROWS, columns + first * stride);
    if (missing || !any_missing(columns + first * stride, rows->features)) continue;
    missing = true; /* also in the columns so far */
    first = -ROWS;
  }
  return !missing;
}

/* ---- many rows pass nodes together --------------------------------------------------------- */

enum { WIDE = LANES };
typedef bytes wide;
typedef uint8_t wide_at __attribute__((vector_size(WIDE), aligned(WIDE), may_alias));

/* Rows whose bins are below the threshold: a mask. */
#if defined(__AVX512BW__)
typedef __mmask64 sides;
SR__INLINE wide spread(uint32_t four_bytes) { return (wide)_mm512_set1_epi32((int)four_bytes); }
SR__INLINE wide spread_byte(uint8_t byte) { return (wide)_mm512_set1_epi8((char)byte); }
SR__INLINE sides below(wide bins, wide threshold) {
  return _mm512_cmpgt_epi8_mask((__m512i)threshold, (__m512i)bins);
}
SR__INLINE wide choose(sides side, wide yes, wide no) {
  return (wide)_mm512_mask_blend_epi8(side, (__m512i)no, (__m512i)yes);
}
SR__INLINE wide one_less(sides side, uint8_t value) {
  return (wide)_mm512_mask_blend_epi8(side, _mm512_set1_epi8((char)value),
                                      _mm512_set1_epi8((char)(value - 1)));
}
#else
typedef wide sides;
SR__INLINE wide spread(uint32_t four_bytes) {
  typedef uint32_t words __attribute__((vector_size(WIDE)));
  return (wide)((words){0} + four_bytes);
}
SR__INLINE wide spread_byte(uint8_t byte) { return (wide){0} + byte; }
SR__INLINE sides below(wide bins, wide threshold) {
  typedef int8_t signed_bytes __attribute__((vector_size(WIDE)));
  return (sides)((signed_bytes)threshold > (signed_bytes)bins);
}
SR__INLINE wide choose(sides side, wide yes, wide no) {
#if defined(__AVX2__)
  return (wide)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)side);
#else
  return no ^ (side & (no ^ yes));
#endif
}
/* The value, one less where the side is taken. */
SR__INLINE wide one_less(sides side, uint8_t value) { return side + spread_byte(value); }
#endif

/* Columns of tiles of ROWS rows each, the next one `stride` bytes behind. */
typedef struct tiles {
  const uint8_t *column;
  int64_t stride;
  int count;
} tiles;

SR__INLINE sides side_at(const sr__crown_piece *piece, int node, const uint8_t *column,
                         const wide *threshold) {
  return below(*(const wide_at *)(column + piece->column[node]), threshold[node]);
}

SR__INLINE void spread_thresholds(const sr__crown_piece *piece, wide threshold[]) {
  for (int i = 0; i < SR__PIECE_ENDS - 1; i++) threshold[i] = spread(piece->threshold[i]);
}

/* A piece whose ends are exits, numbered one after the other. */
static void pass_last(const sr__crown_piece *piece, tiles rows, uint8_t *given) {
  wide threshold[SR__PIECE_ENDS - 1], first = spread_byte((uint8_t)piece->exit);
  sr__crown_piece here = *piece;
  spread_thresholds(piece, threshold);
  for (int t = 0; t < rows.count; t++, rows.column += rows.stride, given += ROWS)
    for (int k = 0; k < ROWS; k += WIDE) {
      const uint8_t *column = rows.column + k;
      wide a = one_less(side_at(&here, 3, column, threshold), 1);
      wide b = one_less(side_at(&here, 4, column, threshold), 3);
      wide c = one_less(side_at(&here, 5, column, threshold), 5);
      wide d = one_less(side_at(&here, 6, column, threshold), 7);
      a = choose(side_at(&here, 1, column, threshold), a, b);
      c = choose(side_at(&here, 2, column, threshold), c, d);
      *(wide_at *)(given + k) = choose(side_at(&here, 0, column, threshold), a, c) + first;
    }
}

/* A piece with others below it. */
static void pass_inner(const sr__crown_piece *piece, tiles rows, const uint8_t *const *end,
                       uint8_t *given) {
  wide threshold[SR__PIECE_ENDS - 1];
  sr__crown_piece here = *piece;
  spread_thresholds(piece, threshold);
  for (int64_t t = 0; t < rows.count * ROWS; t += ROWS, rows.column += rows.stride)
    for (int k = 0; k < ROWS; k += WIDE) {
      const uint8_t *column = rows.column + k;
      wide at[SR__PIECE_ENDS];
      for (int e = 0; e < SR__PIECE_ENDS; e++) at[e] = *(const wide_at *)(end[e] + t + k);
      for (int i = 0; i < 4; i++)
        at[i] = choose(side_at(&here, 3 + i, column, threshold), at[2 * i], at[2 * i + 1]);
      for (int i = 0; i < 2; i++)
        at[i] = choose(side_at(&here, 1 + i, column, threshold), at[2 * i], at[2 * i + 1]);
      *(wide_at *)(given + t + k) = choose(side_at(&here, 0, column, threshold), at[0], at[1]);
    }
}

SR__INLINE void fill_tile(uint8_t byte, uint8_t *tile) {
  wide all = spread_byte(byte);
  for (int k = 0; k < TILE; k += WIDE) *(wide_at *)(tile + k) = all;
}

/* The exits of rows from one tree. */
static void pass_crown(const sr__walk_tree *tree, bool whole, tiles rows, sr__walk_scratch *s,
                       uint8_t *exit) {
  const sr__crown_piece *first = tree->piece + (whole && tree->shifted ? tree->pieces : 0);
  for (int32_t p = tree->pieces - 1; p >= 0; p--) {
    const sr__crown_piece *piece = first + p;
    uint8_t *given = p == 0 ? exit : s->crown[p];
    if (piece->exit >= 0) {
      pass_last(piece, rows, given);
      continue;
    }
    const uint8_t *end[SR__PIECE_ENDS];
    for (int e = 0; e < SR__PIECE_ENDS; e++) {
      int at = piece->end[e];
      end[e] = at < SR__WALK_EXITS ? s->ends[e] : s->crown[at - SR__WALK_EXITS];
      if (at < SR__WALK_EXITS) fill_tile((uint8_t)at, s->ends[e]);
    }
    pass_inner(piece, rows, end, given);
  }
}

/* How a node compares: rows without missing values need no shift. */
typedef struct comparison {
  const uint8_t *column;
  wide threshold;
} comparison;

SR__INLINE comparison compare_at(sr__pass_node node, const uint8_t *column, int64_t shift) {
  if (shift == 0) return (comparison){column + node.column, spread_byte(node.threshold)};
  int further = node.flags & SR__PASS_SHIFT;
  return (comparison){column + node.column + (further ? shift : 0),
                      spread_byte((uint8_t)(node.threshold + further))};
}

/* The values behind the last node, which are those of `width` rows. Columns that shift are `shift`
 * bytes behind the others; 0: there are none. */
SR__INLINE const uint8_t *pass_nodes(const sr__pass_node *node, const sr__pass_node *end,
                                     const uint8_t *column, uint8_t *value, int width,
                                     int64_t shift) {
  uint8_t *to = value + SR__WALK_EXITS * BLOCK;
  for (; node < end && node->flags & SR__PASS_TWIGS; node++, to += BLOCK) {
    comparison c = compare_at(*node, column, shift);
    wide left = spread_byte((uint8_t)(node->left / BLOCK));
    wide right = spread_byte((uint8_t)(node->right / BLOCK));
    for (int k = 0; k < width; k += WIDE)
      *(wide_at *)(to + k) =
          choose(below(*(const wide_at *)(c.column + k), c.threshold), left, right);
  }
  for (; node < end; node++, to += BLOCK) {
    sr__pass_node here = *node;
    comparison c = compare_at(here, column, shift);
    for (int k = 0; k < width; k += WIDE) {
      sides side = below(*(const wide_at *)(c.column + k), c.threshold);
      *(wide_at *)(to + k) = choose(side, *(const wide_at *)(value + here.left + k),
                                    *(const wide_at *)(value + here.right + k));
    }
  }
  return to - BLOCK;
}

/* As few lanes as `count` rows need. */
SR__INLINE const uint8_t *pass_branch(const sr__pass_node *node, const sr__pass_node *end,
                                      const uint8_t *column, uint8_t *value, int count,
                                      int64_t shift) {
  if (count <= BLOCK / 4)
    return pass_nodes(node, end, column, value, BLOCK / 4 < WIDE ? WIDE : BLOCK / 4, shift);
  if (count <= BLOCK / 2) return pass_nodes(node, end, column, value, BLOCK / 2, shift);
  if (count <= 3 * BLOCK / 4 && WIDE <= BLOCK / 4)
    return pass_nodes(node, end, column, value, 3 * BLOCK / 4, shift);
  return pass_nodes(node, end, column, value, BLOCK, shift);
}

/* Rows that took an exit go on to their leaves, at most BLOCK. */
static void finish(const sr__walk_tree *tree, const sr__walk_rows *rows, int exit,
                   const uint16_t *number, int count, sr__walk_scratch *s, answer to) {
  sr__branch from = tree->branch[exit], end = tree->branch[exit + 1];
  const sr__pass_node *pass = to.vote ? tree->vote_pass : tree->pass;
  const uint8_t *row[BLOCK], *got = s->value[0];
  if (from.node < end.node) {
    int64_t shift = tree->shifted && !rows->whole ? sr__walk_columns(rows->features) * BLOCK : 0;
    int filled = (count + LANES - 1) / LANES * LANES;
    if (rows->index)
      for (int k = 0; k < filled; k++) row[k] = bins_of(rows, number[k]);
    else
      for (int k = 0; k < filled; k++) row[k] = rows->bins + number[k] * rows->stride;
    fill_columns(row, rows->features, count, shift > 0, BLOCK, s->column[0]);
    got = shift > 0
              ? pass_branch(pass + from.node, pass + end.node, s->column[0], s->value[0], count,
                            shift)
              : pass_branch(pass + from.node, pass + end.node, s->column[0], s->value[0], count, 0);
  } else if (to.vote) {
    got = s->value[tree->pass_vote[from.leaf]];
  }
  if (to.vote) {
    int k = 0;
    for (; k + 16 <= count; k += 16)
      for (int i = 0; i < 16; i++) to.vote[number[k + i]] = got[k + i];
    for (; k < count; k++) to.vote[number[k]] = got[k];
  } else
    for (int k = 0; k < count; k++) to.leaf[number[k]] = tree->pass_leaf[from.leaf + got[k]];
}

enum { STREAMS = 4 };

/* Rows by their exits: order[start[e]] on. Each stream of rows has counts of its own, so that rows
 * of one exit that follow each other do not wait for one count. */
static void sort_rows(const uint8_t *exit, int64_t count, int exits, uint16_t *order,
                      uint32_t start[SR__WALK_EXITS + 1]) {
  uint32_t at[SR__WALK_EXITS][STREAMS];
  int64_t part = count / STREAMS;
  uint32_t sum = 0;
  memset(at, 0, (size_t)exits * sizeof *at);
  for (int64_t k = 0; k < part; k++)
    for (int s = 0; s < STREAMS; s++) at[exit[s * part + k]][s]++;
  for (int64_t k = STREAMS * part; k < count; k++) at[exit[k]][STREAMS - 1]++;
  for (int e = 0; e < exits; e++) {
    start[e] = sum;
    for (int s = 0; s < STREAMS; s++) {
      uint32_t here = at[e][s];
      at[e][s] = sum;
      sum += here;
    }
  }
  start[exits] = sum;
  for (int64_t k = 0; k < part; k++)
    for (int s = 0; s < STREAMS; s++) order[at[exit[s * part + k]][s]++] = (uint16_t)(s * part + k);
  for (int64_t k = STREAMS * part; k < count; k++) order[at[exit[k]][STREAMS - 1]++] = (uint16_t)k;
  memset(order + count, 0, BLOCK * sizeof *order);
}

/* The exits of rows from all trees, tile by tile, so that a tile's columns are read once. */
static void find_exits(sr__walk_trees trees, const sr__walk_rows *rows, int64_t count,
                       sr__walk_scratch *s) {
  const uint8_t *row[ROWS];
  int64_t tile = rows->columns ? TILE : ROWS;
  int64_t stride = sr__turned_columns(rows->features, rows->whole) * ROWS;
  for (int64_t k = 0; k < count; k += tile) {
    int64_t here = count - k < tile ? count - k : tile;
    tiles now = {s->column[0], stride, (int)((here + ROWS - 1) / ROWS)};
    if (rows->columns) {
      now.column = rows->columns + k / ROWS * stride;
    } else {
      find_rows(rows, k, count, row);
      fill_columns(row, rows->features, ROWS, !rows->whole, ROWS, s->column[0]);
    }
    for (int t = 0; t < trees.count; t++)
      pass_crown(&trees.tree[t], rows->whole, now, s, s->exit[t] + k);
  }
}

/* Rows of each exit go on to their leaves. */
static void finish_all(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
                       const uint8_t *exit, sr__walk_scratch *s, answer to) {
  uint32_t start[SR__WALK_EXITS + 1];
  sort_rows(exit, count, tree->exits, s->order, start);
  for (int e = 0; e < tree->exits; e++)
    for (uint32_t k = start[e]; k < start[e + 1]; k += BLOCK) {
      uint32_t here = start[e + 1] - k < BLOCK ? start[e + 1] - k : BLOCK;
      finish(tree, rows, e, s->order + k, (int)here, s, to);
    }
}

/* Rows by index one by one. */
static void walk_alone(const sr__walk_tree *tree, const sr__walk_rows *rows, int count, answer to) {
  if (!rows->index) walk_nodes(tree, rows->bins, rows->stride, count, to);
  for (int k = 0; rows->index && k < count; k++)
    walk_nodes(tree, bins_of(rows, k), rows->stride, 1, answer_at(to, k));
}

static sr__walk_scratch *on_line(uint8_t *scratch) {
  return (sr__walk_scratch *)(scratch + (SR__WALK_LINE - (uintptr_t)scratch % SR__WALK_LINE));
}

/* Answers of tree t stand `next` behind those of the one before it. */
static void walk_rows(sr__walk_trees trees, const sr__walk_rows *rows, int64_t count, int64_t next,
                      uint8_t *scratch, answer to) {
  bool together = count >= ROWS;
  for (int t = 0; t < trees.count; t++) together = together && trees.tree[t].pass;
  int64_t part = together ? GROUP : AT_ONCE;
  sr__walk_rows from = *rows;
  sr__walk_scratch *s = together ? on_line(scratch) : NULL;
  for (int e = 0; together && e < SR__WALK_EXITS; e++) memset(s->value[e], e, BLOCK);
  for (int64_t first = 0; first < count; first += part) {
    int64_t here = count - first < part ? count - first : part;
    if (together) find_exits(trees, &from, here, s);
    for (int t = 0; t < trees.count; t++) {
      answer now = answer_at(to, t * next + first);
      if (together)
        finish_all(&trees.tree[t], &from, here, s->exit[t], s, now);
      else
        walk_alone(&trees.tree[t], &from, (int)here, now);
    }
    sr__walk_on(&from, here);
  }
}

static void walk(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
                 uint8_t *scratch, uint32_t *leaf) {
  walk_rows((sr__walk_trees){tree, 1}, rows, count, 0, scratch, (answer){.leaf = leaf});
}

static void ask(sr__walk_trees trees, const sr__walk_rows *rows, int64_t count, uint8_t *scratch,
                uint8_t *vote) {
  walk_rows(trees, rows, count, count, scratch, (answer){.vote = vote});
}

const sr__walk_kernel SR__KERNEL(sr__walk_kernel) = {walk, ask, turn};
