/* k-means on a sample; the scan of point blocks finds nearest centers. */
#include "clusters.h"

#include <math.h>

#include "core/random.h"
#include "tile_kernel.h"

enum { ROWS_PER_CLUSTER = 200, SAMPLE_PER_CLUSTER = 24, ROUNDS = 5 };

typedef struct assign_work {
  const float *x;
  const int32_t *rows; /* which rows; NULL = all */
  int64_t count;
  int64_t near; /* nearest centers wanted a row */
  const sr__point_blocks *centers;
  bool exclude_own; /* the rows are the centers themselves */
  int32_t *nearest;
  double *distance; /* a slot: SR__QUERY_TILE * near */
  float *line;      /* a slot */
} assign_work;

/* ---- nearest centers ---------------------------------------------------------------------- */

static void assign_tile(const assign_work *work, int64_t begin, int slot) {
  int32_t dimension = work->centers->dimension, near = (int32_t)work->near;
  int64_t left = work->count - begin;
  sr__query_tile tile = {.line = work->line + slot * (int64_t)SR__QUERY_TILE * dimension};
  tile.count = (int)(left < SR__QUERY_TILE ? left : SR__QUERY_TILE);
  for (int q = 0; q < tile.count; q++) {
    int64_t row = work->rows ? work->rows[begin + q] : begin + q;
    tile.query[q] = work->x + row * dimension;
    tile.own_place[q] = work->exclude_own ? begin + q : -1;
    tile.list[q] =
        (sr__knn_list){near, work->distance + ((int64_t)slot * SR__QUERY_TILE + q) * near,
                       work->nearest + (begin + q) * near, NULL, 0};
    sr__knn_list_clear(tile.list[q]);
  }
  sr__tile_kernel_now()->begin(&tile, work->centers);
  sr__tile_kernel_now()->scan(&tile, work->centers, 0, work->centers->count);
}

enum { ASSIGN_GRAIN = 600 }; /* a multiple of SR__QUERY_TILE */

static sr_status assign_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker;
  assign_work *work = data;
  int64_t end = (chunk + 1) * ASSIGN_GRAIN < work->count ? (chunk + 1) * ASSIGN_GRAIN : work->count;
  for (int64_t begin = chunk * ASSIGN_GRAIN; begin < end; begin += SR__QUERY_TILE)
    assign_tile(work, begin, slot);
  return SR_OK;
}

static sr_status assign(sr_context *ctx, assign_work *work) {
  sr_status status = SR_OK;
  int64_t threads = sr_context_threads(ctx);
  SR_NEW(ctx, work->distance, threads * SR__QUERY_TILE * work->near);
  SR_NEW(ctx, work->line, threads * SR__QUERY_TILE * work->centers->dimension);
  SR_TRY(
      sr__parallel_for(ctx, (work->count + ASSIGN_GRAIN - 1) / ASSIGN_GRAIN, assign_chunk, work));
cleanup:
  sr__free(ctx, work->distance);
  sr__free(ctx, work->line);
  work->distance = NULL;
  work->line = NULL;
  return status;
}

/* ---- k-means ------------------------------------------------------------------------------ */

typedef struct means {
  const float *x;
  int32_t dimension;
  int64_t centers, sampled;
  int32_t *sample;
  int32_t *nearest;
  float *center;
  double *sum;
  int64_t *size;
} means;

/* Sums in the order of the sample, so that no thread count shows. A center without points stays. */
static void move_centers(means *m) {
  int32_t d = m->dimension;
  memset(m->sum, 0, (size_t)(m->centers * d) * sizeof *m->sum);
  memset(m->size, 0, (size_t)m->centers * sizeof *m->size);
  for (int64_t s = 0; s < m->sampled; s++) {
    const float *row = m->x + (int64_t)m->sample[s] * d;
    double *sum = m->sum + (int64_t)m->nearest[s] * d;
    for (int32_t j = 0; j < d; j++) sum[j] += row[j];
    m->size[m->nearest[s]]++;
  }
  for (int64_t c = 0; c < m->centers; c++) {
    for (int32_t j = 0; j < d && m->size[c] > 0; j++)
      m->center[c * d + j] = (float)(m->sum[c * d + j] / (double)m->size[c]);
  }
}

static sr_status draw_sample(sr_context *ctx, int64_t rows, uint64_t seed, means *m) {
  sr_status status = SR_OK;
  uint64_t *bitmap = NULL;
  SR_NEW(ctx, bitmap, (rows + 63) / 64);
  SR_NEW(ctx, m->sample, m->sampled);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_KNN, 0, 0);
  sr__random_sample(&random, rows, m->sampled, bitmap, m->sample);
  sr__random_shuffle(&random, m->sample, m->sampled);
  for (int64_t c = 0; c < m->centers; c++)
    memcpy(m->center + c * m->dimension, m->x + (int64_t)m->sample[c] * m->dimension,
           (size_t)m->dimension * sizeof *m->center);
cleanup:
  sr__free(ctx, bitmap);
  return status;
}

static sr_status find_centers(sr_context *ctx, const float *x, int64_t rows, uint64_t seed,
                              means *m) {
  sr_status status = SR_OK;
  sr__point_blocks blocks = {0};
  m->x = x;
  SR_NEW(ctx, m->center, m->centers * m->dimension);
  SR_NEW(ctx, m->sum, m->centers * m->dimension);
  SR_NEW(ctx, m->size, m->centers);
  SR_NEW(ctx, m->nearest, m->sampled);
  SR_TRY(draw_sample(ctx, rows, seed, m));
  for (int round = 0; round < ROUNDS; round++) {
    SR_TRY(sr__point_blocks_new(ctx, m->center, m->centers, m->dimension, NULL, &blocks));
    assign_work work = {.x = x,
                        .rows = m->sample,
                        .count = m->sampled,
                        .near = 1,
                        .centers = &blocks,
                        .nearest = m->nearest};
    SR_TRY(assign(ctx, &work));
    move_centers(m);
    sr__point_blocks_free(ctx, &blocks);
  }
cleanup:
  sr__point_blocks_free(ctx, &blocks);
  return status;
}

static void free_means(sr_context *ctx, means *m) {
  sr__free(ctx, m->sample);
  sr__free(ctx, m->nearest);
  sr__free(ctx, m->center);
  sr__free(ctx, m->sum);
  sr__free(ctx, m->size);
}

/* ---- clusters ----------------------------------------------------------------------------- */

static sr_status sort_rows(sr_context *ctx, const int32_t *nearest, int64_t rows,
                           sr__clusters *clusters) {
  sr_status status = SR_OK;
  int64_t *next = NULL;
  SR_NEW_ZERO(ctx, clusters->begin, clusters->count + 1);
  SR_NEW(ctx, clusters->order, rows);
  SR_NEW(ctx, next, clusters->count);
  for (int64_t i = 0; i < rows; i++) clusters->begin[nearest[i] + 1]++;
  for (int64_t c = 0; c < clusters->count; c++) {
    clusters->begin[c + 1] += clusters->begin[c];
    next[c] = clusters->begin[c];
  }
  for (int64_t i = 0; i < rows; i++) clusters->order[next[nearest[i]]++] = (int32_t)i;
cleanup:
  sr__free(ctx, next);
  return status;
}

sr_status sr__clusters_find(sr_context *ctx, const float *x, int64_t rows, int32_t dimension,
                            int64_t most_probes, uint64_t seed, sr__clusters *clusters) {
  sr_status status = SR_OK;
  sr__point_blocks blocks = {0};
  means m = {.dimension = dimension};
  int32_t *nearest = NULL;
  /* Finding centers costs rows x centers; beyond 4 sqrt(rows) that would exceed the search itself.
   */
  int64_t most = (int64_t)(4.0 * sqrt((double)rows)), wanted = rows / ROWS_PER_CLUSTER;
  m.centers = wanted < most ? wanted : most;
  m.centers = m.centers < 1 ? 1 : m.centers;
  m.sampled = m.centers * SAMPLE_PER_CLUSTER < rows ? m.centers * SAMPLE_PER_CLUSTER : rows;
  *clusters = (sr__clusters){.count = m.centers};
  clusters->probes = (int32_t)(m.centers - 1 < most_probes ? m.centers - 1 : most_probes);
  clusters->near_stride = clusters->probes;
  SR_TRY(find_centers(ctx, x, rows, seed, &m));
  SR_TRY(sr__point_blocks_new(ctx, m.center, m.centers, dimension, NULL, &blocks));
  SR_NEW(ctx, nearest, rows);
  assign_work every = {.x = x, .count = rows, .near = 1, .centers = &blocks, .nearest = nearest};
  SR_TRY(assign(ctx, &every));
  SR_TRY(sort_rows(ctx, nearest, rows, clusters));
  SR_NEW(ctx, clusters->near, m.centers * clusters->probes);
  if (clusters->probes > 0) {
    assign_work between = {.x = m.center,
                           .count = m.centers,
                           .near = clusters->probes,
                           .centers = &blocks,
                           .exclude_own = true,
                           .nearest = clusters->near};
    SR_TRY(assign(ctx, &between));
  }
cleanup:
  sr__free(ctx, nearest);
  sr__point_blocks_free(ctx, &blocks);
  free_means(ctx, &m);
  if (status != SR_OK) sr__clusters_free(ctx, clusters);
  return status;
}

void sr__clusters_free(sr_context *ctx, sr__clusters *clusters) {
  sr__free(ctx, clusters->begin);
  sr__free(ctx, clusters->order);
  sr__free(ctx, clusters->near);
  *clusters = (sr__clusters){0};
}
