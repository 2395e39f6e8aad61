/* Lists of near neighbors improved by joining: a neighbor's neighbor is likely a neighbor. */
#include "point_blocks.h"

typedef struct join_work {
  const float *x;
  int32_t dimension;
  sr__knn *knn;
  const int32_t *before; /* the lists as they were when the round began */
  double *distance;
  int64_t *changed; /* a chunk */
} join_work;

static bool has_place(sr__knn_list list, int32_t place) {
  bool found = false;
  for (int32_t s = 0; s < list.k; s++) found |= list.place[s] == place;
  return found;
}

/* Offers the lists of the point's neighbors to its own. A list that is full of nearer points turns
 * an offer away, so a candidate that comes twice is measured twice but never listed twice. */
static int64_t join_point(join_work *work, int64_t place) {
  int32_t k = work->knn->k, dimension = work->dimension;
  const int32_t *row = work->knn->row;
  sr__knn_list list = {k, work->distance + place * k, work->knn->neighbor + place * k, row,
                       row[place]};
  const float *own = work->x + (int64_t)row[place] * dimension;
  int64_t changed = 0;
  for (int32_t s = 0; s < k; s++) {
    int32_t middle = work->before[place * k + s];
    if (middle < 0) continue;
    for (int32_t t = 0; t < k; t++) {
      int32_t candidate = work->before[(int64_t)middle * k + t];
      if (candidate < 0 || candidate == place || has_place(list, candidate)) continue;
      double distance =
          sr__squared_distance(own, work->x + (int64_t)row[candidate] * dimension, dimension);
      if (distance > sr__knn_list_worst(list)) continue;
      sr__knn_list_offer(list, distance, candidate);
      changed++;
    }
  }
  return changed;
}

static sr_status join_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  join_work *work = data;
  sr__span span = sr__graph_chunk(work->knn->count, chunk);
  int64_t changed = 0;
  for (int64_t p = span.begin; p < span.end; p++) changed += join_point(work, p);
  work->changed[chunk] = changed;
  return SR_OK;
}

sr_status sr__knn_improve(sr_context *ctx, const float *x, int32_t dimension, double *distance,
                          sr__knn *knn) {
  enum { MOST_ROUNDS = 2 };
  const double enough = 0.01; /* entries changed a list entry */
  sr_status status = SR_OK;
  int32_t *before = NULL;
  int64_t chunks = sr__graph_chunks(knn->count), entries = knn->count * knn->k;
  join_work work = {.x = x, .dimension = dimension, .knn = knn, .distance = distance};
  SR_NEW(ctx, before, entries);
  SR_NEW(ctx, work.changed, chunks);
  work.before = before;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    int64_t changed = 0;
    memcpy(before, knn->neighbor, (size_t)entries * sizeof *before);
    SR_TRY(sr__parallel_for(ctx, chunks, join_chunk, &work));
    for (int64_t c = 0; c < chunks; c++) changed += work.changed[c];
    if ((double)changed < enough * (double)entries) break;
  }
cleanup:
  sr__free(ctx, before);
  sr__free(ctx, work.changed);
  return status;
}
