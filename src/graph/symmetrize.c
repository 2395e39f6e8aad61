/* From lists of nearest neighbors to the graph that holds an edge for every entry. */
#include <stdatomic.h>

#include "union_kernel.h"

void sr__knn_free(sr_context *ctx, sr__knn *knn) {
  sr__free(ctx, knn->neighbor);
  sr__free(ctx, knn->row);
  sr__free(ctx, knn->spare);
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
  sr__knn *knn;
  int64_t *extra_end;    /* a place: where its extras end in `extra`; those of place 0 begin at 0 */
  _Atomic int32_t *left; /* a place: the number of its extras, then of those not yet written */
  int32_t *extra;
  uint8_t *alone; /* a place: bit s where its entry s is not mutual */
  sr_graph *graph;
  bool one_thread; /* nobody else counts, and no lock on memory is needed */
} union_work;

static int32_t row_of(const sr__knn *knn, int32_t place) {
  return knn->row ? knn->row[place] : place;
}

/* What was left at a place before `change` was added. */
static inline int32_t add_left(union_work *work, int32_t place, int32_t change) {
  _Atomic int32_t *left = &work->left[place];
  if (!work->one_thread) return atomic_fetch_add_explicit(left, change, memory_order_relaxed);
  int32_t before = atomic_load_explicit(left, memory_order_relaxed);
  atomic_store_explicit(left, before + change, memory_order_relaxed);
  return before;
}

/* Marks entries that are not mutual and counts them at the place they name. */
static sr_status count_extras(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  union_work *work = data;
  const sr__knn *knn = work->knn;
  int64_t bytes = sr__union_bytes(knn->k);
  sr__span span = sr__graph_chunk(knn->count, chunk);
  sr__union_kernel_now()->mark(knn, span.begin, span.end, work->alone);
  for (int64_t p = span.begin; p < span.end; p++)
    for (int64_t b = 0; b < bytes; b++)
      for (uint32_t left = work->alone[p * bytes + b]; left; left &= left - 1) {
        int32_t q = knn->neighbor[p * knn->k + b * 8 + __builtin_ctz(left)];
        (void)add_left(work, q, 1);
      }
  return SR_OK;
}

/* Threads come by in any order, so the extras of a place stand in any order; sorting undoes it. */
static sr_status fill_extras(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  union_work *work = data;
  const sr__knn *knn = work->knn;
  int64_t bytes = sr__union_bytes(knn->k);
  sr__span span = sr__graph_chunk(knn->count, chunk);
  for (int64_t p = span.begin; p < span.end; p++)
    for (int64_t b = 0; b < bytes; b++)
      for (uint32_t left = work->alone[p * bytes + b]; left; left &= left - 1) {
        int32_t q = knn->neighbor[p * knn->k + b * 8 + __builtin_ctz(left)];
        int32_t open = add_left(work, q, -1);
        work->extra[work->extra_end[q] - open] = (int32_t)p;
      }
  return SR_OK;
}

static sr_status fill_rows(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  union_work *work = data;
  sr__union_lists lists = {work->knn, work->extra_end, work->extra, work->graph->offset,
                           work->graph->neighbor};
  sr__span span = sr__graph_chunk(work->knn->count, chunk);
  sr__union_kernel_now()->fill(&lists, span.begin, span.end);
  return SR_OK;
}

/* Places extras one after the other and stores the degrees of the rows. */
static sr_status place_extras(sr_context *ctx, union_work *work) {
  sr_status status = SR_OK;
  int64_t total = 0, count = work->knn->count;
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

/* Two arrays over places, in what the search has left over where that is enough. */
static sr_status find_room(sr_context *ctx, union_work *work) {
  sr_status status = SR_OK;
  sr__knn *knn = work->knn;
  int64_t bytes = knn->count * (int64_t)(sizeof *work->extra_end + sizeof *work->left);
  if (bytes > knn->spare_bytes) {
    char *fresh = NULL;
    SR_NEW(ctx, fresh, bytes);
    sr__free(ctx, knn->spare);
    knn->spare = fresh;
    knn->spare_bytes = bytes;
  }
  work->extra_end = knn->spare;
  work->left = (_Atomic int32_t *)(work->extra_end + knn->count);
  for (int64_t p = 0; p < knn->count; p++) atomic_init(&work->left[p], 0);
cleanup:
  return status;
}

sr_status sr__graph_from_knn(sr_context *ctx, sr__knn *knn, const char *builder, sr_graph **graph) {
  sr_status status = SR_OK;
  union_work work = {.knn = knn, .one_thread = sr_context_threads(ctx) == 1};
  int64_t chunks = sr__graph_chunks(knn->count);
  *graph = NULL;
  SR_TRY(find_room(ctx, &work));
  SR_NEW(ctx, work.alone, knn->count * sr__union_bytes(knn->k));
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
  sr__free(ctx, work.extra);
  sr__free(ctx, work.alone);
  sr_graph_free(&work.graph);
  return status;
}
