/* The graph of nearest neighbours among standardised features. */
#include "features.h"
#include "knn.h"

/* All pairs up to this many products of coordinates: a few seconds on one core. */
static const double quick_products = 1.5e11;

static sr_status search(sr_context *ctx, const sr__features *features,
                        const sr_graph_options *options, int32_t k, sr__knn *knn) {
  int64_t rows = features->rows;
  int32_t dimension = (int32_t)features->columns;
  sr__points points = {.rows = rows, .dimension = dimension, .x = features->x};
  if (dimension <= SR__KDTREE_DIMENSIONS) return sr__knn_tree(ctx, &points, k, knn);
  double products = (double)rows * (double)rows * (double)(dimension + SR__KDTREE_DIMENSIONS);
  if (options->exact || products <= quick_products)
    return sr__knn_all_pairs(ctx, features->x, rows, dimension, k, knn);
  return sr__knn_clustered(ctx, features->x, rows, dimension, k, options->seed, knn);
}

static sr_status build_features(sr_context *ctx, const sr_table_view *table,
                                const sr_graph_options *options, sr_graph **graph) {
  sr_status status = SR_OK;
  sr__features features = {0};
  sr__knn knn = {0};
  int32_t k = options->k ? options->k : 10;
  SR_TRY(sr__knn_check_k(ctx, &k, table->rows));
  SR_TRY(sr__features_standardize(ctx, table, &features));
  SR_TRY(search(ctx, &features, options, k, &knn));
  sr__features_free(ctx, &features);
  SR_TRY(sr__graph_from_knn(ctx, &knn, "features", graph));
cleanup:
  sr__features_free(ctx, &features);
  sr__knn_free(ctx, &knn);
  return status;
}

const sr__graph_builder sr__builder_features = {
    {"features", "the k nearest rows by standardised features (features:K, default 10)"},
    SR__METRIC_FEATURES,
    build_features};
