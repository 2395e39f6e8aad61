/* From lists of nearest neighbors to the graph that holds an edge for every entry. */
#include <assert.h>
#include <stdatomic.h>

#include "knn.h"

void sr__knn_free(sr_context *ctx, sr__knn *knn) {
  sr__free(ctx, knn->neighbor);
  sr__free(ctx, knn->row);
  *knn = (sr__knn){0};
}

sr_status sr__knn_check_k(sr_context *ctx, int32_t *k, int64_t rows) {
  if (*k < 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%d neighbors were asked for; use at least 1", *k);
  if (*k < rows) return SR_OK;
  int32_t most = rows > 0 ? (int32_t)(rows - 1) : 0;
  sr__log(ctx, SR_LOG_WARNING, "%lld rows have at most %d neighbors, not %d", (long long)rows, most,
          *k);
  *k = most;
  return SR_OK;
}

/* An entry p -> q is mutual where p stands in the list of q. Row p of the graph holds its list and
 * its extras: the places whose entry for p is not mutual. All but the last pass work on places,
 * where what is near in space is near in memory. */
typedef struct union_work {
  const sr__knn *knn;
  int64_t *extra_end;    /* a place: where its extras end in `extra`; those of place 0 begin at 0 */
  _Atomic int32_t *left; /* a place: the number of its extras, then of those not yet written */
  int32_t *extra;
  uint64_t *alone; /* a place: bit s where its entry s is not mutual */
  sr_graph *graph;
} union_work;

enum { WORD = 64 };

static int32_t row_of(const sr__knn *knn, int32_t place) {
  return knn->row ? knn->row[place] : place;
}

static bool lists(const sr__knn *knn, int64_t place, int64_t wanted) {
  const int32_t *list = knn->neighbor + place * knn->k;
  bool found = false;
  for (int32_t s = 0; s < knn->k; s++) found |= list[s] == wanted;
  return found;
}

/* Words of `alone` per place. */
static int64_t words_of(const sr__knn *knn) { return (knn->k + WORD - 1) / WORD; }

/* Marks entries that are not mutual and counts them at the place they name. */
static sr_status count_extras(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  union_work *work = data;
  const sr__knn *knn = work->knn;
  sr__span span = sr__graph_chunk(knn->count, chunk);
  for (int64_t p = span.begin; p < span.end; p++) {
    uint64_t *alone = work->alone + p * words_of(knn);
    for (int32_t s = 0; s < knn->k; s++) {
      int32_t q = knn->neighbor[p * knn->k + s];
      assert(q >= 0 && q < knn->count && q != p); /* lists are full */
      uint64_t mark = !lists(knn, q, p);
      alone[s / WORD] |= mark << s % WORD;
      if (mark) atomic_fetch_add_explicit(&work->left[q], 1, memory_order_relaxed);
    }
  }
  return SR_OK;
}

/* Threads come by in any order, so the extras of a place stand in any order; sorting undoes it. */
static sr_status fill_extras(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  union_work *work = data;
  const sr__knn *knn = work->knn;
  sr__span span = sr__graph_chunk(knn->count, chunk);
  for (int64_t p = span.begin; p < span.end; p++)
    for (int64_t w = 0; w < words_of(knn); w++)
      for (uint64_t left = work->alone[p * words_of(knn) + w]; left; left &= left - 1) {
        int32_t q = knn->neighbor[p * knn->k + w * WORD + __builtin_ctzll(left)];
        int32_t open = atomic_fetch_sub_explicit(&work->left[q], 1, memory_order_relaxed);
        work->extra[work->extra_end[q] - open] = (int32_t)p;
      }
  return SR_OK;
}

/* Rows of places that come next lie anywhere in memory; asking for them early hides the wait. */
static void prefetch_row(const union_work *work, int64_t place, int64_t end) {
  enum { OFFSETS_AHEAD = 16, ROWS_AHEAD = 8 };
  if (!work->knn->row || place + OFFSETS_AHEAD >= end) return;
  const int64_t *offset = work->graph->offset;
  const int32_t *row = work->knn->row + place;
  __builtin_prefetch(offset + row[OFFSETS_AHEAD]);
  const int32_t *first = work->graph->neighbor + offset[row[ROWS_AHEAD]];
  __builtin_prefetch(first, 1);
  __builtin_prefetch(first + 9, 1); /* most rows reach into the next line */
}

enum { SHORT = 16 };

/* Each name is compared with all others at once; as many as are less stand before it. */
static void sort_short(const int32_t name[SHORT], int64_t degree, int32_t *sorted) {
  int32_t rank[SHORT] = {0};
  for (int64_t i = 0; i < degree; i++)
    for (int j = 0; j < SHORT; j++) rank[j] += name[i] < name[j];
  for (int64_t i = 0; i < degree; i++) sorted[rank[i]] = name[i];
}

/* Short rows are sorted before they go to memory that is not at hand yet. */
static sr_status fill_rows(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  union_work *work = data;
  const sr__knn *knn = work->knn;
  sr__span span = sr__graph_chunk(knn->count, chunk);
  for (int64_t p = span.begin; p < span.end; p++) {
    prefetch_row(work, p, span.end);
    int64_t row = row_of(knn, (int32_t)p), begin = work->graph->offset[row];
    int64_t degree = work->graph->offset[row + 1] - begin;
    int32_t shelf[SHORT] = {0}, *sorted = work->graph->neighbor + begin;
    int32_t *name = degree <= SHORT ? shelf : sorted, *next = name;
    for (int32_t s = 0; s < knn->k; s++) *next++ = row_of(knn, knn->neighbor[p * knn->k + s]);
    for (int64_t e = p ? work->extra_end[p - 1] : 0; e < work->extra_end[p]; e++)
      *next++ = row_of(knn, work->extra[e]);
    if (name == shelf)
      sort_short(shelf, degree, sorted);
    else
      sr__graph_sort_row(sorted, NULL, degree);
  }
  return SR_OK;
}

/* Places extras one after the other and stores the degrees of the rows. */
static sr_status place_extras(sr_context *ctx, union_work *work) {
  sr_status status = SR_OK;
  int64_t total = 0, count = work->knn->count;
  SR_NEW(ctx, work->extra_end, count);
  for (int64_t p = 0; p < count; p++) {
    int32_t extras = atomic_load_explicit(&work->left[p], memory_order_relaxed);
    total += extras;
    work->extra_end[p] = total;
    work->graph->offset[row_of(work->knn, (int32_t)p) + 1] = work->knn->k + extras;
  }
  SR_NEW(ctx, work->extra, total);
cleanup:
  return status;
}

sr_status sr__graph_from_knn(sr_context *ctx, sr__knn *knn, const char *builder, sr_graph **graph) {
  sr_status status = SR_OK;
  union_work work = {.knn = knn};
  int64_t chunks = sr__graph_chunks(knn->count);
  *graph = NULL;
  SR_NEW_ZERO(ctx, work.left, knn->count);
  SR_NEW_ZERO(ctx, work.alone, knn->count * words_of(knn));
  SR_TRY(sr__graph_begin(ctx, knn->count, builder, &work.graph));
  work.graph->view.recall = knn->recall;
  SR_TRY(sr__parallel_for(ctx, chunks, count_extras, &work));
  SR_TRY(place_extras(ctx, &work));
  SR_TRY(sr__parallel_for(ctx, chunks, fill_extras, &work));
  SR_TRY(sr__graph_sum_degrees(ctx, work.graph, false));
  SR_TRY(sr__parallel_for(ctx, chunks, fill_rows, &work));
  sr__graph_finish(work.graph);
  *graph = work.graph;
  work.graph = NULL;
cleanup:
  sr__knn_free(ctx, knn);
  sr__free(ctx, work.left);
  sr__free(ctx, work.extra_end);
  sr__free(ctx, work.extra);
  sr__free(ctx, work.alone);
  sr_graph_free(&work.graph);
  return status;
}
