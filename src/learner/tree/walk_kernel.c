#include "walk_kernel.h"

#include <stdbool.h>
#include <stddef.h>

#include "core/vectors.h"

#if defined(__AVX2__)
enum { LANES = 32 };
#else
enum { LANES = 16 };
#endif

enum {
  ROWS = SR__WALK_LANES,
  GROUP = SR__WALK_GROUP,
  COMPANY = 512, /* rows that go from node to node together, so that their memory reads overlap */
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

/* ---- bins by columns ----------------------------------------------------------------------- */

typedef uint8_t bytes __attribute__((vector_size(LANES)));

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

SR__INLINE const uint8_t *bins_of(const sr__walk_rows *rows, int64_t i) {
  return rows->bins + (rows->index ? rows->index[i] : i) * rows->stride;
}

/* Sixteen bytes each of row k and, in wider lanes, of row k + 16. */
SR__INLINE bytes load_rows(const sr__walk_rows *rows, const uint16_t *number, int64_t feature) {
  bytes both;
#if defined(__AVX2__)
  __m128i low = _mm_loadu_si128((const void *)(bins_of(rows, number[0]) + feature));
  __m128i high = _mm_loadu_si128((const void *)(bins_of(rows, number[16]) + feature));
  both = (bytes)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
#else
  memcpy(&both, bins_of(rows, number[0]) + feature, sizeof both);
#endif
  return both;
}

/* Weaving the first half of sixteen vectors into the second four times turns rows into columns. The
 * sign bit is turned over, so that bins compare as signed bytes. */
SR__INLINE void turn_sixteen(const sr__walk_rows *rows, const uint16_t *number, int64_t feature,
                             uint8_t *column) {
  bytes a[16], b[16];
  for (int k = 0; k < 16; k++) a[k] = load_rows(rows, number + k, feature);
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
  for (int k = 0; k < 16; k++) {
    bytes signed_bins = a[k] ^ 0x80;
    memcpy(column + k * ROWS, &signed_bins, sizeof signed_bins);
  }
}

/* One more: the sign bit does not take part in a sum. */
SR__INLINE void shift_column(const uint8_t *column, uint8_t *shifted) {
  bytes bins;
  memcpy(&bins, column, sizeof bins);
  bins += 1;
  memcpy(shifted, &bins, sizeof bins);
}

/* The columns of `count` rows, at most ROWS; `number` has entries up to the next LANES. */
SR__INLINE void fill_columns(const sr__walk_rows *rows, const uint16_t *number, int count,
                             bool shifted, uint8_t *column) {
  int64_t width = sr__walk_columns(rows->features);
  for (int first = 0; first < count; first += LANES) {
    for (int64_t j = 0; j < width; j += 16)
      turn_sixteen(rows, number + first, j, column + j * ROWS + first);
    for (int64_t j = 0; shifted && j < rows->features; j++)
      shift_column(column + j * ROWS + first, column + (width + j) * ROWS + first);
  }
}

/* Rows [first, first + ROWS) of the group, the last again where there are no more. */
SR__INLINE int number_rows(int64_t first, int64_t count, uint16_t number[ROWS]) {
  for (int k = 0; k < ROWS; k++) number[k] = (uint16_t)(first + k < count ? first + k : count - 1);
  return (int)(count - first < ROWS ? count - first : ROWS);
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
  uint16_t number[ROWS];
  bool missing = false;
  for (int64_t first = 0; first < count; first += ROWS) {
    int64_t stride = sr__turned_columns(rows->features, !missing);
    number_rows(first, count, number);
    fill_columns(rows, number, ROWS, missing, columns + first * stride);
    if (missing || !any_missing(columns + first * stride, rows->features)) continue;
    missing = true; /* also in the columns so far */
    first = -ROWS;
  }
  return !missing;
}

/* ---- many rows pass nodes together --------------------------------------------------------- */

#if defined(__AVX512BW__)
enum { WIDE = 64 };
#else
enum { WIDE = LANES };
#endif

typedef uint8_t wide __attribute__((vector_size(WIDE)));
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

SR__INLINE sides side_at(const sr__crown_piece *piece, int node, const uint8_t *column) {
  return below(*(const wide_at *)(column + piece->column[node]), spread(piece->threshold[node]));
}

/* The exits of ROWS rows. */
SR__INLINE const uint8_t *pass_crown(const sr__walk_tree *tree, bool whole, const uint8_t *columns,
                                     uint8_t *value) {
  uint8_t *given = value + SR__WALK_EXITS * ROWS;
  for (int32_t p = tree->pieces - 1; p >= 0; p--) {
    const sr__crown_piece *piece = tree->piece + p + (whole && tree->shifted ? tree->pieces : 0);
    if (piece->exit >= 0) {
      wide first = spread_byte((uint8_t)piece->exit);
      for (int k = 0; k < ROWS; k += WIDE) {
        const uint8_t *column = columns + k;
        wide a = one_less(side_at(piece, 3, column), 1), b = one_less(side_at(piece, 4, column), 3);
        wide c = one_less(side_at(piece, 5, column), 5), d = one_less(side_at(piece, 6, column), 7);
        a = choose(side_at(piece, 1, column), a, b);
        c = choose(side_at(piece, 2, column), c, d);
        *(wide_at *)(given + p * ROWS + k) = choose(side_at(piece, 0, column), a, c) + first;
      }
    } else {
      for (int k = 0; k < ROWS; k += WIDE) {
        const uint8_t *column = columns + k;
        wide at[SR__PIECE_ENDS];
        for (int e = 0; e < SR__PIECE_ENDS; e++)
          at[e] = *(const wide_at *)(value + piece->end[e] + k);
        for (int i = 0; i < 4; i++)
          at[i] = choose(side_at(piece, 3 + i, column), at[2 * i], at[2 * i + 1]);
        for (int i = 0; i < 2; i++)
          at[i] = choose(side_at(piece, 1 + i, column), at[2 * i], at[2 * i + 1]);
        *(wide_at *)(given + p * ROWS + k) = choose(side_at(piece, 0, column), at[0], at[1]);
      }
    }
  }
  return given;
}

/* The leaves that rows come to: the values behind the last node. */
SR__INLINE const uint8_t *pass_nodes(const sr__pass_node *node, const sr__pass_node *end,
                                     const uint8_t *column, uint8_t *value, int width) {
  uint8_t *to = value + SR__WALK_EXITS * ROWS;
  for (; node < end && node->twigs; node++, to += ROWS) {
    sr__pass_node here = *node;
    wide threshold = spread_byte(here.threshold);
    for (int k = 0; k < width; k += WIDE)
      *(wide_at *)(to + k) =
          one_less(below(*(const wide_at *)(column + here.column + k), threshold),
                   (uint8_t)here.right);
  }
  for (; node < end; node++, to += ROWS) {
    sr__pass_node here = *node;
    wide threshold = spread_byte(here.threshold);
    for (int k = 0; k < width; k += WIDE) {
      sides left = below(*(const wide_at *)(column + here.column + k), threshold);
      *(wide_at *)(to + k) = choose(left, *(const wide_at *)(value + here.left + k),
                                    *(const wide_at *)(value + here.right + k));
    }
  }
  return to - ROWS;
}

/* Rows that wait at an exit go on to their leaves. */
static void finish(const sr__walk_tree *tree, const sr__walk_rows *rows, int exit, int count,
                   sr__walk_scratch *s, uint32_t *given) {
  const uint32_t first = tree->branch[exit].leaf;
  const sr__pass_node *pass = tree->pass + (rows->whole ? tree->whole : 0);
  const sr__pass_node *node = pass + tree->branch[exit].node;
  const sr__pass_node *end = pass + tree->branch[exit + 1].node;
  uint16_t *number = s->waiting[exit];
  const uint8_t *leaf = s->value[0];
  if (node < end) {
    for (int k = count; k < ROWS; k++) number[k] = number[0];
    fill_columns(rows, number, count, tree->shifted && !rows->whole, s->column[0]);
    leaf = count > ROWS / 2 ? pass_nodes(node, end, s->column[0], s->value[0], ROWS)
                            : pass_nodes(node, end, s->column[0], s->value[0], ROWS / 2);
  }
  if (tree->value)
    for (int k = 0; k < count; k++) given[number[k]] = tree->pass_value[first + leaf[k]];
  else
    for (int k = 0; k < count; k++) given[number[k]] = tree->pass_leaf[first + leaf[k]];
}

/* Bit k: byte k differs from the one before it. The byte before the first is read. */
SR__INLINE uint64_t changes(const uint8_t *exit) {
#if defined(__SSE2__)
  uint64_t same = 0;
  for (int k = 0; k < ROWS; k += 16) {
    __m128i here = _mm_loadu_si128((const void *)(exit + k));
    __m128i before = _mm_loadu_si128((const void *)(exit + k - 1));
    same |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(here, before)) << k;
  }
  return ~same;
#else
  uint64_t mask = 0;
  for (int k = 0; k < ROWS; k++) mask |= (uint64_t)(exit[k] != exit[k - 1]) << k;
  return mask;
#endif
}

/* Rows `first` to `first + count` wait at one exit; as soon as ROWS do, they go on. */
SR__INLINE void wait_at(const sr__walk_tree *tree, const sr__walk_rows *rows, int exit, int first,
                        int count, sr__walk_scratch *s, uint32_t *given) {
  typedef uint16_t numbers __attribute__((vector_size(16)));
  uint16_t *waiting = s->waiting[exit];
  uint32_t waits = s->waits[exit], then = waits + (uint32_t)count;
  numbers row = (numbers){0, 1, 2, 3, 4, 5, 6, 7} + (uint16_t)first;
  for (int k = 0; k < count; k += 8, row += 8) memcpy(waiting + waits + k, &row, sizeof row);
  if (then >= ROWS) {
    finish(tree, rows, exit, ROWS, s, given);
    memcpy(waiting, waiting + ROWS, ROWS * sizeof *waiting);
    then -= ROWS;
  }
  s->waits[exit] = then;
}

static void walk_group(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
                       sr__walk_scratch *s, uint32_t *given) {
  uint8_t exits[1 + COMPANY] = {0}, *exit = exits + 1;
  uint16_t number[ROWS];
  for (int e = 0; e < SR__WALK_EXITS; e++) memset(s->value[e], e, ROWS);
  memset(s->waits, 0, sizeof s->waits);
  for (int64_t begin = 0; begin < count; begin += COMPANY) {
    int64_t here = count - begin < COMPANY ? count - begin : COMPANY;
    for (int64_t k = 0; k < here; k += ROWS) {
      const uint8_t *column = s->column[0];
      if (rows->columns) {
        column = rows->columns + (begin + k) * sr__turned_columns(rows->features, rows->whole);
      } else {
        number_rows(begin + k, count, number);
        fill_columns(rows, number, ROWS, tree->shifted && !rows->whole, s->column[0]);
      }
      memcpy(exit + k, pass_crown(tree, rows->whole, column, s->value[0]), ROWS);
    }
    /* Neighboring rows often take one exit. */
    for (int64_t k = 0; k < here; k += ROWS) {
      int last = (int)(here - k < ROWS ? here - k : ROWS), from = 0;
      uint64_t rest = changes(exit + k) & ~UINT64_C(1);
      if (last < ROWS) rest &= (UINT64_C(1) << last) - 1;
      for (; rest; rest &= rest - 1) {
        int to = __builtin_ctzll(rest);
        wait_at(tree, rows, exit[k + from], (int)(begin + k) + from, to - from, s, given);
        from = to;
      }
      wait_at(tree, rows, exit[k + from], (int)(begin + k) + from, last - from, s, given);
    }
  }
  for (int e = 0; e < tree->exits; e++)
    if (s->waits[e] > 0) finish(tree, rows, e, (int)s->waits[e], s, given);
}

/* Rows by index one by one. */
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

static sr__walk_scratch *on_line(uint8_t *scratch) {
  return (sr__walk_scratch *)(scratch + (SR__WALK_LINE - (uintptr_t)scratch % SR__WALK_LINE));
}

static void walk(const sr__walk_tree *tree, const sr__walk_rows *rows, int64_t count,
                 uint8_t *scratch, uint32_t *given) {
  bool together = tree->pass && count >= ROWS;
  int64_t part = together ? GROUP : COMPANY;
  sr__walk_rows from = *rows;
  for (int64_t first = 0; first < count; first += part) {
    int64_t here = count - first < part ? count - first : part;
    if (together)
      walk_group(tree, &from, here, on_line(scratch), given + first);
    else
      walk_alone(tree, &from, (int)here, given + first);
    sr__walk_on(&from, here);
  }
}

const sr__walk_kernel SR__KERNEL(sr__walk_kernel) = {walk, turn};
