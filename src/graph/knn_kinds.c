/* Near clusters among the distinct rows; each row then gets its copies and those of near kinds. */
#include "knn_kinds.h"

#include "point_blocks.h"

typedef struct kinds_work {
  const float *x; /* a row of each kind */
  int32_t dimension;
  const sr__equal_rows *equal;
  const sr__knn *near; /* of the kinds */
  int32_t *place;      /* of each kind in `near` */
  double *distance;    /* a slot: those of one list */
  sr__knn *knn;
} kinds_work;

static void list_row(const kinds_work *work, sr__knn_list list) {
  const sr__knn *near = work->near;
  const int32_t *first = work->equal->first, *member = work->equal->member;
  int32_t own = work->equal->kind[list.own_row], d = work->dimension;
  const int32_t *entry = near->neighbor + (int64_t)work->place[own] * near->k;
  sr__knn_list_clear(list);
  sr__knn_list_offer_copies(list, 0.0, member, first[own], first[own + 1]);
  for (int32_t s = 0; s < near->k; s++) {
    int32_t kind = near->row[entry[s]];
    double distance =
        sr__squared_distance(work->x + (int64_t)own * d, work->x + (int64_t)kind * d, d);
    if (distance <= sr__knn_list_worst(list))
      sr__knn_list_offer_copies(list, distance, member, first[kind], first[kind + 1]);
  }
}

static sr_status list_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker;
  kinds_work *work = data;
  sr__knn *knn = work->knn;
  sr__span span = sr__graph_chunk(knn->count, chunk);
  double *distance = work->distance + (int64_t)slot * knn->k;
  for (int64_t row = span.begin; row < span.end; row++)
    list_row(work, (sr__knn_list){knn->k, distance, knn->neighbor + row * knn->k, NULL, row});
  return SR_OK;
}

/* One row of each kind. */
static sr_status gather_kinds(sr_context *ctx, const float *x, const sr__equal_rows *equal,
                              int32_t dimension, float **rows) {
  sr_status status = SR_OK;
  SR_NEW(ctx, *rows, equal->kinds * dimension);
  for (int64_t kind = 0; kind < equal->kinds; kind++)
    memcpy(*rows + kind * dimension, x + (int64_t)equal->member[equal->first[kind]] * dimension,
           (size_t)dimension * sizeof **rows);
cleanup:
  return status;
}

sr_status sr__knn_clustered_kinds(sr_context *ctx, const float *x, const sr__equal_rows *equal,
                                  int32_t dimension, int32_t k, uint64_t seed, sr__knn *knn) {
  sr_status status = SR_OK;
  sr__knn near = {0};
  float *rows = NULL;
  kinds_work work = {.dimension = dimension, .equal = equal, .near = &near, .knn = knn};
  int32_t wanted = k < equal->kinds ? k : (int32_t)(equal->kinds - 1);
  if (equal->kinds == equal->rows || wanted == 0)
    return sr__knn_clustered(ctx, x, equal->rows, dimension, k, seed, knn);
  *knn = (sr__knn){.count = equal->rows, .k = k};
  SR_TRY(gather_kinds(ctx, x, equal, dimension, &rows));
  SR_TRY(sr__knn_clustered(ctx, rows, equal->kinds, dimension, wanted, seed, &near));
  work.x = rows;
  knn->recall = near.recall;
  SR_NEW(ctx, work.place, equal->kinds);
  for (int64_t p = 0; p < near.count; p++) work.place[near.row[p]] = (int32_t)p;
  SR_NEW(ctx, work.distance, (int64_t)sr_context_threads(ctx) * k);
  SR_NEW(ctx, knn->neighbor, knn->count * k);
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(knn->count), list_chunk, &work));
cleanup:
  sr__free(ctx, rows);
  sr__free(ctx, work.place);
  sr__free(ctx, work.distance);
  sr__knn_free(ctx, &near);
  if (status != SR_OK) sr__knn_free(ctx, knn);
  return status;
}
