/* Exact nearest neighbors in many dimensions: equal rows are merged, each pair of the kinds is
 * looked at once, and clumps that lie too far apart are left out. */
#include <float.h>
#include <pthread.h>
#include <stdatomic.h>

#include "knn_list.h"
#include "knn_pairs.h"

enum { BLOCK = SR__PAIR_BLOCK, CLUMP = SR__PAIR_CLUMP, SPAN = SR__PAIR_SPAN };

typedef struct pair_work {
  sr__pair_points points;
  const sr__equal_rows *equal;
  const sr__pair_kernel *kernel;
  sr__knn *knn;
  int64_t spans;
  float *room;           /* all arrays of floats */
  double *least;         /* a slot: the distances of one list */
  int32_t *place;        /* of each kind */
  pthread_mutex_t *lock; /* a span */
  int64_t locks;
  atomic_int_fast64_t tested, left_out; /* pairs of tile and clump, by the sieve */
} pair_work;

static const float *row_at(const sr__pair_points *points, int64_t place) {
  return points->x + (int64_t)points->example[place] * points->dimension;
}

/* ---- an order that keeps near kinds together ------------------------------------------------ */

static int32_t widest_column(const float *x, int32_t dimension, const int32_t *row, int64_t count) {
  int64_t step = count > 512 ? count / 512 : 1;
  int32_t widest = 0;
  double most = -1.0;
  for (int32_t j = 0; j < dimension; j++) {
    double sum = 0.0, squares = 0.0, seen = 0.0;
    for (int64_t i = 0; i < count; i += step, seen++) {
      double value = x[(int64_t)row[i] * dimension + j];
      sum += value;
      squares += value * value;
    }
    if (squares - sum * sum / seen > most) {
      most = squares - sum * sum / seen;
      widest = j;
    }
  }
  return widest;
}

/* Whether row a comes before row b along a column; equal values by row, so that the order is one.
 */
static bool row_before(const float *column, int32_t dimension, int32_t a, int32_t b) {
  float left = column[(int64_t)a * dimension], right = column[(int64_t)b * dimension];
  return left < right || (left == right && a < b);
}

/* The `half` first rows along a column come first. */
static void select_half(const float *column, int32_t dimension, int32_t *row, int64_t count,
                        int64_t half) {
  int64_t low = 0, high = count - 1;
  while (low < high) {
    int32_t pivot = row[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (row_before(column, dimension, row[i], pivot)) i++;
      while (row_before(column, dimension, pivot, row[j])) j--;
      if (i > j) break;
      int32_t other = row[i];
      row[i++] = row[j];
      row[j--] = other;
    }
    if (half > j && half < i) return;
    if (half <= j)
      high = j;
    else
      low = i;
  }
}

static void split_rows(const float *x, int32_t dimension, int32_t *row, int64_t count) {
  while (count > BLOCK) {
    int64_t half = count / 2 / BLOCK * BLOCK;
    if (half == 0) half = BLOCK;
    select_half(x + widest_column(x, dimension, row, count), dimension, row, count, half);
    split_rows(x, dimension, row, half);
    row += half;
    count -= half;
  }
}

/* Mean squared distance to the center of the own block, on some of the blocks. */
static double spread_of_blocks(const float *x, int32_t dimension, const int32_t *row,
                               int64_t count) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK, step = blocks > 256 ? blocks / 256 : 1;
  double spread = 0.0, seen = 0.0;
  for (int64_t b = 0; b < blocks; b += step) {
    int64_t begin = b * BLOCK, end = begin + BLOCK < count ? begin + BLOCK : count;
    for (int32_t j = 0; j < dimension; j++) {
      double sum = 0.0, squares = 0.0;
      for (int64_t i = begin; i < end; i++) {
        double value = x[(int64_t)row[i] * dimension + j];
        sum += value;
        squares += value * value;
      }
      spread += squares - sum * sum / (double)(end - begin);
    }
    seen += (double)(end - begin);
  }
  return spread / seen;
}

/* The order of the file (rows in time follow each other) or that of splits at medians, whichever
 * has the tighter blocks. */
static sr_status order_kinds(sr_context *ctx, pair_work *work) {
  sr_status status = SR_OK;
  sr__pair_points *p = &work->points;
  const sr__equal_rows *equal = work->equal;
  int32_t *split = NULL;
  SR_NEW(ctx, split, p->count);
  for (int64_t c = 0; c < p->count; c++) p->example[c] = split[c] = equal->member[equal->first[c]];
  split_rows(p->x, p->dimension, split, p->count);
  if (spread_of_blocks(p->x, p->dimension, split, p->count) <
      spread_of_blocks(p->x, p->dimension, p->example, p->count))
    memcpy(p->example, split, (size_t)p->count * sizeof *split);
  for (int64_t place = 0; place < p->count; place++) {
    p->kind[place] = equal->kind[p->example[place]];
    work->place[p->kind[place]] = (int32_t)place;
  }
cleanup:
  sr__free(ctx, split);
  return status;
}

/* ---- blocks, tiles, centers ----------------------------------------------------------------- */

/* What rounding may do to a product in floats, as a share of the mean squared length: `dimension`
 * roundings, and the norms, bars and last subtraction. */
static double rounding_share(int32_t dimension) { return (dimension + 16) * (double)FLT_EPSILON; }

static void fill_place(const pair_work *work, int64_t place) {
  const sr__pair_points *p = &work->points;
  int64_t d = p->dimension, tile = work->kernel->tile;
  const float *row = place < p->count ? row_at(p, place) : NULL;
  float *line = p->line + place / BLOCK * BLOCK * d + place % BLOCK;
  float *panel = p->panel + place / tile * tile * d + place % tile;
  double norm = 0.0;
  for (int64_t j = 0; j < d; j++) {
    float value = row ? row[j] : 0.0f;
    line[j * BLOCK] = panel[j * tile] = value;
    norm += (double)value * value;
  }
  p->low[place] = row ? (float)(0.5 * norm * (1.0 - rounding_share(p->dimension))) : INFINITY;
}

static void fill_center(const sr__pair_points *p, int64_t clump) {
  int64_t d = p->dimension, begin = clump * CLUMP;
  int64_t end = begin + CLUMP < p->count ? begin + CLUMP : p->count;
  float *net =
      p->net + clump / SR__PAIR_CENTERS * SR__PAIR_CENTERS * (d + 2) + clump % SR__PAIR_CENTERS;
  double norm = 0.0, radius = 0.0;
  for (int64_t j = 0; j < d; j++) {
    double sum = 0.0;
    for (int64_t i = begin; i < end; i++) sum += row_at(p, i)[j];
    float center = begin < end ? (float)(sum / (double)(end - begin)) : 0.0f;
    net[j * SR__PAIR_CENTERS] = center;
    norm += (double)center * center;
  }
  for (int64_t i = begin; i < end; i++) {
    double squared = 0.0;
    for (int64_t j = 0; j < d; j++) {
      double gap = (double)net[j * SR__PAIR_CENTERS] - row_at(p, i)[j];
      squared += gap * gap;
    }
    radius = fmax(radius, sqrt(squared));
  }
  net[d * SR__PAIR_CENTERS] =
      begin < end ? (float)(0.5 * norm * (1.0 - rounding_share(p->dimension))) : INFINITY;
  net[(d + 1) * SR__PAIR_CENTERS] = (float)(radius * (1.0 + 1e-6));
}

/* The k-th least distance to the kinds beside it in the order; infinity where there are fewer. */
static double cap_of(const sr__pair_points *p, int64_t place, int32_t k, double *least) {
  int64_t side = k > CLUMP ? k : CLUMP, from = place > side ? place - side : 0;
  int64_t to = place + side + 1 < p->count ? place + side + 1 : p->count;
  int32_t size = 0;
  for (int64_t i = from; i < to; i++) {
    if (i == place) continue;
    double distance = sr__pair_distance(row_at(p, place), row_at(p, i), p->dimension);
    if (size == k && distance >= least[k - 1]) continue;
    int32_t at = size < k ? size++ : k - 1;
    for (; at > 0 && least[at - 1] > distance; at--) least[at] = least[at - 1];
    least[at] = distance;
  }
  return size == k ? least[k - 1] : INFINITY;
}

static sr_status fill_span(sr_context *worker, void *data, int64_t span, int slot) {
  (void)worker;
  pair_work *work = data;
  sr__pair_points *p = &work->points;
  const int32_t *first = work->equal->first;
  int32_t k = work->knn->k;
  for (int64_t place = span * SPAN; place < (span + 1) * SPAN; place++) {
    bool used = place < p->count;
    int32_t copies = used ? first[p->kind[place] + 1] - first[p->kind[place]] - 1 : k;
    fill_place(work, place);
    p->lists.need[place] = k - copies;
    p->lists.size[place] = 0;
    p->lists.state[place] = SR__NEAR_OPEN;
    p->cap[place] = copies < k ? cap_of(p, place, k, work->least + (int64_t)slot * k) : 0.0;
    sr__pair_set_bar(p, place);
  }
  for (int64_t c = span * SR__PAIR_CENTERS; c < (span + 1) * SR__PAIR_CENTERS; c++)
    fill_center(p, c);
  return SR_OK;
}

/* ---- pairs of spans ------------------------------------------------------------------------- */

/* The sieve costs about a twentieth of the products. Where it leaves out less, it is tried on one
 * pair of spans in 16. Whether it is used changes no list. */
static bool is_sieved(pair_work *work, int64_t s) {
  int64_t tested = atomic_load_explicit(&work->tested, memory_order_relaxed);
  int64_t left_out = atomic_load_explicit(&work->left_out, memory_order_relaxed);
  return tested < 200000 || left_out * 12 > tested || s % 16 == 0;
}

/* Items name pairs of spans, near ones first: bars are low by the time the far ones come. Lists do
 * not depend on who comes first, so a lock for each span is all that threads need. */
static sr_status scan_pair(sr_context *worker, void *data, int64_t item, int slot) {
  (void)worker, (void)slot;
  pair_work *work = data;
  int64_t offset = 0;
  while (item >= work->spans - offset) item -= work->spans - offset++;
  int64_t s = item, t = item + offset;
  bool sieve = is_sieved(work, s);
  pthread_mutex_lock(&work->lock[s]);
  if (t != s) pthread_mutex_lock(&work->lock[t]);
  int64_t left_out = work->kernel->scan(&work->points, s, t, sieve);
  if (t != s) pthread_mutex_unlock(&work->lock[t]);
  pthread_mutex_unlock(&work->lock[s]);
  if (sieve) {
    int64_t tested = SPAN / work->kernel->tile * SR__PAIR_CENTERS;
    atomic_fetch_add_explicit(&work->tested, tested, memory_order_relaxed);
    atomic_fetch_add_explicit(&work->left_out, left_out, memory_order_relaxed);
  }
  return SR_OK;
}

/* ---- lists of rows -------------------------------------------------------------------------- */

static void list_row(const pair_work *work, sr__knn_list list) {
  const sr__pair_points *p = &work->points;
  const sr__near_kinds *near = &p->lists;
  const int32_t *first = work->equal->first, *member = work->equal->member;
  int32_t own = work->equal->kind[list.own_row];
  int64_t place = work->place[own], entry = place * near->room;
  sr__knn_list_clear(list);
  sr__knn_list_offer_copies(list, 0.0, member, first[own], first[own + 1]);
  if (near->state[place] != SR__NEAR_BURST) {
    for (int64_t e = entry; e < entry + near->size[place]; e++)
      sr__knn_list_offer_copies(list, near->distance[e], member, first[near->kind[e]],
                                first[near->kind[e] + 1]);
    return;
  }
  for (int64_t i = 0; i < p->count; i++) {
    if (i == place) continue;
    double distance = sr__pair_distance(row_at(p, place), row_at(p, i), p->dimension);
    if (distance <= sr__knn_list_worst(list))
      sr__knn_list_offer_copies(list, distance, member, first[p->kind[i]], first[p->kind[i] + 1]);
  }
}

static sr_status list_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker;
  pair_work *work = data;
  sr__knn *knn = work->knn;
  sr__span span = sr__graph_chunk(knn->count, chunk);
  double *distance = work->least + (int64_t)slot * knn->k;
  for (int64_t row = span.begin; row < span.end; row++)
    list_row(work, (sr__knn_list){knn->k, distance, knn->neighbor + row * knn->k, NULL, row});
  return SR_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Vectors are read at multiples of 64 bytes, which spares them from lying on two cache lines. */
static sr_status new_floats(sr_context *ctx, pair_work *work) {
  enum { LINE = 16 };
  sr_status status = SR_OK;
  sr__pair_points *p = &work->points;
  int64_t d = p->dimension, n = p->padded;
  const int64_t sizes[] = {n * d, n * d, n, n / CLUMP * (d + 2), n, n, n, n / CLUMP};
  float **const array[] = {&p->line, &p->panel, &p->low,   &p->net,
                           &p->bar,  &p->worst, &p->reach, &p->wide};
  int64_t all = LINE;
  for (int i = 0; i < 8; i++) all += (sizes[i] + LINE - 1) / LINE * LINE;
  SR_NEW(ctx, work->room, all);
  float *at = work->room + LINE - ((uintptr_t)work->room / sizeof(float)) % LINE;
  for (int i = 0; i < 8; i++) {
    *array[i] = at;
    at += (sizes[i] + LINE - 1) / LINE * LINE;
  }
cleanup:
  return status;
}

static sr_status new_work(sr_context *ctx, pair_work *work) {
  sr_status status = SR_OK;
  sr__pair_points *p = &work->points;
  sr__near_kinds *lists = &p->lists;
  int32_t k = work->knn->k;
  lists->room = 2 * k + 16;
  lists->first = work->equal->kinds == work->equal->rows ? NULL : work->equal->first;
  SR_NEW(ctx, work->knn->neighbor, work->equal->rows * k);
  SR_NEW(ctx, work->place, p->count);
  SR_NEW(ctx, work->least, (int64_t)sr_context_threads(ctx) * k);
  SR_NEW(ctx, p->example, p->padded);
  SR_NEW(ctx, p->kind, p->padded);
  SR_NEW(ctx, p->cap, p->padded);
  SR_NEW(ctx, lists->size, p->padded);
  SR_NEW(ctx, lists->need, p->padded);
  SR_NEW(ctx, lists->state, p->padded);
  SR_NEW(ctx, lists->distance, p->padded * lists->room);
  SR_NEW(ctx, lists->kind, p->padded * lists->room);
  SR_TRY(new_floats(ctx, work));
  SR_NEW(ctx, work->lock, work->spans);
  for (; work->locks < work->spans; work->locks++)
    pthread_mutex_init(&work->lock[work->locks], NULL);
cleanup:
  return status;
}

static void free_work(sr_context *ctx, pair_work *work) {
  sr__pair_points *p = &work->points;
  while (work->locks > 0) pthread_mutex_destroy(&work->lock[--work->locks]);
  sr__free(ctx, work->lock);
  sr__free(ctx, work->room);
  sr__free(ctx, work->place);
  sr__free(ctx, work->least);
  sr__free(ctx, p->example);
  sr__free(ctx, p->kind);
  sr__free(ctx, p->cap);
  sr__free(ctx, p->lists.size);
  sr__free(ctx, p->lists.need);
  sr__free(ctx, p->lists.state);
  sr__free(ctx, p->lists.distance);
  sr__free(ctx, p->lists.kind);
}

sr_status sr__knn_pairs(sr_context *ctx, const float *x, const sr__equal_rows *equal,
                        int32_t dimension, int32_t k, const sr__pair_kernel *kernel, sr__knn *knn) {
  sr_status status = SR_OK;
  int64_t spans = (equal->kinds + SPAN - 1) / SPAN;
  pair_work work = {
      .points = {.count = equal->kinds, .padded = spans * SPAN, .dimension = dimension, .x = x},
      .equal = equal,
      .kernel = kernel,
      .knn = knn,
      .spans = spans};
  *knn = (sr__knn){.count = equal->rows, .k = k, .recall = 1.0};
  if (k == 0) return SR_OK;
  SR_TRY(new_work(ctx, &work));
  SR_TRY(order_kinds(ctx, &work));
  SR_TRY(sr__parallel_for(ctx, spans, fill_span, &work));
  SR_TRY(sr__parallel_for(ctx, spans * (spans + 1) / 2, scan_pair, &work));
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(equal->rows), list_chunk, &work));
cleanup:
  free_work(ctx, &work);
  if (status != SR_OK) sr__knn_free(ctx, knn);
  return status;
}
