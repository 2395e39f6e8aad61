/* Nearest neighbors in many dimensions where all pairs would take long: near clusters. */
#include "clusters.h"
#include "core/random.h"
#include "tile_kernel.h"

/* ---- lists of all points ------------------------------------------------------------------ */

/* Work on one cluster of queries. */
typedef struct dense_work {
  const float *x;
  const sr__clusters *clusters;
  const sr__point_blocks *blocks;
  const int32_t *row; /* row of each place */
  sr__knn *knn;
  double *distance; /* k a place */
  float *line;      /* a slot */
} dense_work;

static sr__knn_list list_of(const dense_work *work, int64_t place) {
  int64_t first = place * work->knn->k;
  return (sr__knn_list){work->knn->k, work->distance + first, work->knn->neighbor + first,
                        work->row, work->row[place]};
}

static void fill_tile(const dense_work *work, int64_t begin, int64_t end, sr__query_tile *tile) {
  tile->count = (int)(end - begin < SR__QUERY_TILE ? end - begin : SR__QUERY_TILE);
  for (int q = 0; q < tile->count; q++) {
    int64_t place = begin + q;
    tile->query[q] = work->x + (int64_t)work->row[place] * work->blocks->dimension;
    tile->own_place[q] = place;
    tile->list[q] = list_of(work, place);
    sr__knn_list_clear(tile->list[q]);
  }
  sr__tile_kernel_now()->begin(tile, work->blocks);
}

/* The own cluster, `probes` near ones, and more where these hold too few rows for full lists: a
 * cluster may be empty or hold a handful. */
static void scan_from_cluster(const dense_work *work, int64_t cluster, sr__query_tile *tile) {
  const sr__clusters *clusters = work->clusters;
  const int32_t *near = clusters->near + cluster * clusters->near_stride;
  const int64_t *begin = clusters->begin;
  int64_t seen = begin[cluster + 1] - begin[cluster];
  sr__tile_kernel_now()->scan(tile, work->blocks, begin[cluster], begin[cluster + 1]);
  for (int32_t s = 0; s < clusters->near_stride; s++) {
    if (s >= clusters->probes && seen > work->knn->k) return;
    sr__tile_kernel_now()->scan(tile, work->blocks, begin[near[s]], begin[near[s] + 1]);
    seen += begin[near[s] + 1] - begin[near[s]];
  }
  if (seen > work->knn->k) return;
  for (int q = 0; q < tile->count; q++) sr__knn_list_clear(tile->list[q]);
  sr__tile_kernel_now()->begin(tile, work->blocks);
  sr__tile_kernel_now()->scan(tile, work->blocks, 0, work->blocks->count);
}

static sr_status scan_near_clusters(sr_context *worker, void *data, int64_t cluster, int slot) {
  sr_status status = SR_OK;
  dense_work *work = data;
  const sr__clusters *clusters = work->clusters;
  sr__query_tile tile = {.line =
                             work->line + slot * (int64_t)SR__QUERY_TILE * work->blocks->dimension};
  int64_t end = clusters->begin[cluster + 1];
  for (int64_t begin = clusters->begin[cluster]; begin < end; begin += SR__QUERY_TILE) {
    SR_TRY(sr__check_interrupt(worker));
    fill_tile(work, begin, end, &tile);
    scan_from_cluster(work, cluster, &tile);
  }
cleanup:
  return status;
}

static sr_status new_lists(sr_context *ctx, int64_t rows, int32_t dimension, int32_t k,
                           dense_work *work) {
  sr_status status = SR_OK;
  *work->knn = (sr__knn){.count = rows, .k = k, .recall = 1.0};
  SR_NEW(ctx, work->knn->neighbor, rows * k);
  SR_NEW(ctx, work->distance, rows * k);
  SR_NEW(ctx, work->line, (int64_t)sr_context_threads(ctx) * SR__QUERY_TILE * dimension);
cleanup:
  return status;
}

static void free_work(sr_context *ctx, dense_work *work, sr_status status) {
  sr__free(ctx, work->distance);
  sr__free(ctx, work->line);
  if (status != SR_OK) sr__knn_free(ctx, work->knn);
}

/* ---- a sample with true neighbors -------------------------------------------------------- */

/* True lists of a few random points: they tell how many clusters to look into, and later how good
 * the lists became. */
typedef struct truth_sample {
  const float *x;
  const sr__point_blocks *blocks;
  const int32_t *row;
  int32_t k;
  int64_t queries;
  int32_t *sample; /* places */
  double *distance;
  int32_t *place; /* k a query */
  float *line;
} truth_sample;

static sr_status truth_tile(sr_context *worker, void *data, int64_t item, int slot) {
  (void)worker;
  truth_sample *truth = data;
  int32_t dimension = truth->blocks->dimension, k = truth->k;
  int64_t begin = item * SR__QUERY_TILE, left = truth->queries - begin;
  sr__query_tile tile = {.line = truth->line + slot * (int64_t)SR__QUERY_TILE * dimension};
  tile.count = (int)(left < SR__QUERY_TILE ? left : SR__QUERY_TILE);
  for (int q = 0; q < tile.count; q++) {
    int64_t place = truth->sample[begin + q], first = (begin + q) * k;
    tile.query[q] = truth->x + (int64_t)truth->row[place] * dimension;
    tile.own_place[q] = place;
    tile.list[q] = (sr__knn_list){k, truth->distance + first, truth->place + first, truth->row,
                                  truth->row[place]};
    sr__knn_list_clear(tile.list[q]);
  }
  sr__tile_kernel_now()->begin(&tile, truth->blocks);
  sr__tile_kernel_now()->scan(&tile, truth->blocks, 0, truth->blocks->count);
  return SR_OK;
}

static sr_status find_truth(sr_context *ctx, uint64_t seed, truth_sample *truth) {
  enum { SAMPLE = 252 };
  sr_status status = SR_OK;
  uint64_t *bitmap = NULL;
  int64_t count = truth->blocks->count;
  truth->queries = count < SAMPLE ? count : SAMPLE;
  SR_NEW(ctx, truth->sample, truth->queries);
  SR_NEW(ctx, truth->distance, truth->queries * truth->k);
  SR_NEW(ctx, truth->place, truth->queries * truth->k);
  SR_NEW(ctx, truth->line,
         (int64_t)sr_context_threads(ctx) * SR__QUERY_TILE * truth->blocks->dimension);
  SR_NEW(ctx, bitmap, (count + 63) / 64);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_KNN, 1, 0);
  sr__random_sample(&random, count, truth->queries, bitmap, truth->sample);
  SR_TRY(sr__parallel_for(ctx, (truth->queries + SR__QUERY_TILE - 1) / SR__QUERY_TILE, truth_tile,
                          truth));
cleanup:
  sr__free(ctx, bitmap);
  return status;
}

static void free_truth(sr_context *ctx, truth_sample *truth) {
  sr__free(ctx, truth->sample);
  sr__free(ctx, truth->distance);
  sr__free(ctx, truth->place);
  sr__free(ctx, truth->line);
}

/* The share of true neighbors in the lists of the sample. */
static double measure_recall(const truth_sample *truth, const sr__knn *knn) {
  int64_t found = 0, k = knn->k;
  for (int64_t q = 0; q < truth->queries; q++) {
    const int32_t *list = knn->neighbor + truth->sample[q] * k;
    for (int64_t s = 0; s < k * k; s++) found += truth->place[q * k + s / k] == list[s % k];
  }
  return (double)found / (double)(truth->queries * k);
}

/* ---- near clusters ------------------------------------------------------------------------ */

/* As many near clusters as hold this share of true neighbors; joining finds most of the rest. */
static const double share_to_probe = 0.93;

/* 0 for the cluster itself, r for its r-th nearest, near_stride + 1 for one that is farther. */
static int32_t rank_of_cluster(const sr__clusters *clusters, int64_t from, int64_t to) {
  if (from == to) return 0;
  const int32_t *near = clusters->near + from * clusters->near_stride;
  int32_t rank = 0;
  while (rank < clusters->near_stride && near[rank] != to) rank++;
  return rank + 1;
}

static int64_t cluster_of_place(const sr__clusters *clusters, int64_t place) {
  int64_t low = 0, high = clusters->count - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (clusters->begin[middle + 1] <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static sr_status choose_probes(sr_context *ctx, const truth_sample *truth, sr__clusters *clusters) {
  sr_status status = SR_OK;
  int64_t *of_rank = NULL, entries = truth->queries * truth->k, covered = 0;
  SR_NEW_ZERO(ctx, of_rank, clusters->near_stride + 2);
  for (int64_t e = 0; e < entries; e++) {
    int64_t from = cluster_of_place(clusters, truth->sample[e / truth->k]);
    of_rank[rank_of_cluster(clusters, from, cluster_of_place(clusters, truth->place[e]))]++;
  }
  covered = of_rank[0];
  clusters->probes = 0;
  while (clusters->probes < clusters->near_stride &&
         (double)covered < share_to_probe * (double)entries)
    covered += of_rank[++clusters->probes];
cleanup:
  sr__free(ctx, of_rank);
  return status;
}

/* What the products of a search may add up to: about a minute on one core. */
static int64_t most_probes(int64_t rows, int32_t dimension) {
  const double most_products = 1e12, rows_a_cluster = 200;
  double probes = most_products / ((double)rows * (double)dimension * rows_a_cluster);
  return probes < 16 ? 16 : (int64_t)probes;
}

sr_status sr__knn_clustered(sr_context *ctx, const float *x, int64_t rows, int32_t dimension,
                            int32_t k, uint64_t seed, sr__knn *knn) {
  sr_status status = SR_OK;
  sr__clusters clusters = {0};
  sr__point_blocks blocks = {0};
  truth_sample truth = {.x = x, .blocks = &blocks, .k = k};
  dense_work work = {.x = x, .clusters = &clusters, .blocks = &blocks, .knn = knn};
  *knn = (sr__knn){.count = rows, .recall = 1.0};
  if (k == 0) return SR_OK;
  SR_TRY(sr__clusters_find(ctx, x, rows, dimension, most_probes(rows, dimension), seed, &clusters));
  SR_TRY(sr__point_blocks_new(ctx, x, rows, dimension, clusters.order, &blocks));
  truth.row = work.row = clusters.order;
  SR_TRY(find_truth(ctx, seed, &truth));
  SR_TRY(choose_probes(ctx, &truth, &clusters));
  SR_TRY(new_lists(ctx, rows, dimension, k, &work));
  SR_TRY(sr__parallel_for(ctx, clusters.count, scan_near_clusters, &work));
  knn->row = clusters.order;
  clusters.order = NULL;
  sr__point_blocks_free(ctx, &blocks); /* room for the lists of the next step */
  SR_TRY(sr__knn_improve(ctx, x, dimension, work.distance, knn));
  knn->recall = measure_recall(&truth, knn);
  sr__log(ctx, SR_LOG_INFO,
          "approximate neighbors of %lld rows: %lld clusters, %d looked into, recall %.3f on %lld "
          "rows",
          (long long)rows, (long long)clusters.count, clusters.probes + 1, knn->recall,
          (long long)truth.queries);
cleanup:
  free_truth(ctx, &truth);
  sr__clusters_free(ctx, &clusters);
  sr__point_blocks_free(ctx, &blocks);
  free_work(ctx, &work, status);
  return status;
}
