/* Gaussian weights exp(-d^2 / (2 s^2)) of the arcs of a graph, s the median length of an arc. */
#include <float.h>
#include <math.h>

#include "core/maths.h"
#include "data/geographic.h"
#include "features.h"

typedef struct weight_work {
  sr_graph *graph;
  const double *at; /* distances by points, columns of `rows` ... */
  int64_t rows;
  int32_t dimension;
  const sr__features *features; /* ... or, where not NULL, by features */
  double scale;                 /* 1 / (2 s^2) */
} weight_work;

/* The same bits for (i, j) and (j, i): squares of differences, summed in the same order. */
static double squared_length(const weight_work *work, int64_t i, int64_t j) {
  double sum = 0.0;
  if (work->features) {
    int64_t columns = work->features->columns;
    const float *a = work->features->x + i * columns, *b = work->features->x + j * columns;
    for (int64_t c = 0; c < columns; c++) sum += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return sum;
  }
  const double *x = work->at;
  for (int32_t c = 0; c < work->dimension; c++, x += work->rows)
    sum += (x[i] - x[j]) * (x[i] - x[j]);
  return sum;
}

static sr_status measure_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  weight_work *work = data;
  sr_graph *graph = work->graph;
  sr__span span = sr__graph_chunk(graph->view.nodes, chunk);
  for (int64_t i = span.begin; i < span.end; i++) {
    for (int64_t a = graph->offset[i]; a < graph->offset[i + 1]; a++)
      graph->weight[a] = (float)squared_length(work, i, graph->neighbor[a]);
  }
  return SR_OK;
}

static sr_status weigh_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  weight_work *work = data;
  sr_graph *graph = work->graph;
  sr__span span = sr__graph_chunk(graph->view.nodes, chunk);
  for (int64_t a = graph->offset[span.begin]; a < graph->offset[span.end]; a++) {
    double weight = sr__exp_portable(-graph->weight[a] * work->scale);
    graph->weight[a] = weight > FLT_MIN ? (float)weight : FLT_MIN;
  }
  return SR_OK;
}

/* ---- the median --------------------------------------------------------------------------- */

enum { HALF_BITS = 16, BUCKETS = 1 << HALF_BITS };

/* The bits of a float >= 0 increase with its value. */
static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The bucket that holds the item of this rank; *rank becomes its rank inside the bucket. */
static uint32_t bucket_of_rank(const int64_t *bucket, int64_t *rank) {
  uint32_t b = 0;
  while (*rank >= bucket[b]) *rank -= bucket[b++];
  return b;
}

/* The lower median of the lengths above 0 by counting the upper, then the lower halves of their
 * bits; 0 where there is none. */
static sr_status median_length(sr_context *ctx, const float *length, int64_t count,
                               double *median) {
  sr_status status = SR_OK;
  int64_t *bucket = NULL, positive = 0;
  *median = 0.0;
  SR_NEW_ZERO(ctx, bucket, BUCKETS);
  for (int64_t a = 0; a < count; a++) {
    positive += length[a] > 0.0f;
    bucket[bits_of(length[a]) >> HALF_BITS] += length[a] > 0.0f;
  }
  if (positive == 0) goto cleanup;
  int64_t rank = (positive - 1) / 2;
  uint32_t upper = bucket_of_rank(bucket, &rank);
  memset(bucket, 0, BUCKETS * sizeof *bucket);
  for (int64_t a = 0; a < count; a++) {
    uint32_t bits = bits_of(length[a]);
    if (bits >> HALF_BITS == upper && bits != 0) bucket[bits & (BUCKETS - 1)]++;
  }
  uint32_t bits = (upper << HALF_BITS) | bucket_of_rank(bucket, &rank);
  float value;
  memcpy(&value, &bits, sizeof value);
  *median = value;
cleanup:
  sr__free(ctx, bucket);
  return status;
}

sr_status sr__graph_weigh(sr_context *ctx, const sr_table_view *table, sr__graph_metric metric,
                          sr_graph *graph) {
  sr_status status = SR_OK;
  sr__features features = {0};
  weight_work work = {.graph = graph, .rows = table->rows};
  double median = 0.0, *sphere = NULL;
  if (metric == SR__METRIC_COORDINATES) SR_TRY(sr__sphere_points(ctx, table, &sphere));
  work.at = sphere ? sphere : table->coordinates;
  work.dimension = sphere ? 3 : table->coordinate_count;
  if (metric == SR__METRIC_FEATURES) {
    SR_TRY(sr__features_standardize(ctx, table, &features));
    work.features = &features;
  }
  SR_NEW(ctx, graph->weight, graph->view.arcs);
  int64_t chunks = sr__graph_chunks(graph->view.nodes);
  SR_TRY(sr__parallel_for(ctx, chunks, measure_chunk, &work));
  SR_TRY(median_length(ctx, graph->weight, graph->view.arcs, &median));
  work.scale = median > 0.0 ? 0.5 / median : 0.0;
  SR_TRY(sr__parallel_for(ctx, chunks, weigh_chunk, &work));
  graph->view.window = 0;
  graph->view.runs = 0;
  sr__release(&graph->allocator, graph->run_offset);
  graph->run_offset = NULL;
  sr__graph_finish(graph);
cleanup:
  sr__free(ctx, sphere);
  sr__features_free(ctx, &features);
  return status;
}
