/* The graph of nearest neighbors among standardized features. */
#include "features.h"
#include "knn_kinds.h"
#include "knn_pairs.h"

/* All pairs up to this many products of coordinates: about ten seconds on one core with AVX2. */
static const double quick_products = 5e11;

typedef struct features_options {
  int64_t k;
  int weights, exact;
} features_options;

/* All pairs of distinct rows where that is quick, near clusters of them above. */
static sr_status search_many(sr_context *ctx, const sr__features *features, bool exact, int32_t k,
                             uint64_t seed, sr__knn *knn) {
  sr_status status = SR_OK;
  sr__equal_rows equal = {0};
  int64_t rows = features->rows;
  int32_t dimension = (int32_t)features->columns;
  SR_TRY(sr__equal_rows_find(ctx, features->x, rows, dimension, &equal));
  double kinds = (double)equal.kinds;
  double products = kinds * kinds * (double)(dimension + SR__KDTREE_DIMENSIONS);
  if (exact || products <= quick_products)
    SR_TRY(sr__knn_pairs(ctx, features->x, &equal, dimension, k, sr__pair_kernel_now(), knn));
  else
    SR_TRY(sr__knn_clustered_kinds(ctx, features->x, &equal, dimension, k, seed, knn));
cleanup:
  sr__equal_rows_free(ctx, &equal);
  return status;
}

static sr_status search(sr_context *ctx, const sr__features *features, bool exact, int32_t k,
                        uint64_t seed, sr__knn *knn) {
  int32_t dimension = (int32_t)features->columns;
  sr__points points = {.rows = features->rows, .dimension = dimension, .x = features->x};
  if (dimension <= SR__KDTREE_DIMENSIONS) return sr__knn_tree(ctx, &points, k, knn);
  return search_many(ctx, features, exact, k, seed, knn);
}

static sr_status build_features(sr_context *ctx, const sr_table_view *table, const void *options,
                                uint64_t seed, sr_graph **graph) {
  sr_status status = SR_OK;
  sr__features features = {0};
  sr__knn knn = {0};
  const features_options *o = options;
  int32_t k = (int32_t)o->k;
  SR_TRY(sr__knn_check_k(ctx, &k, table->rows));
  SR_TRY(sr__features_standardize(ctx, table, &features));
  SR_TRY(search(ctx, &features, o->exact, k, seed, &knn));
  sr__features_free(ctx, &features);
  SR_TRY(sr__graph_from_knn(ctx, &knn, "features", graph));
  if (o->weights == SR__WEIGHTS_RBF)
    SR_TRY(sr__graph_weigh(ctx, table, SR__METRIC_FEATURES, *graph));
cleanup:
  sr__features_free(ctx, &features);
  sr__knn_free(ctx, &knn);
  return status;
}

static const sr_option options_of_features[] = {
    SR_INTEGER(features_options, k, "10", 1, 1e9, "nearest rows that a row is joined to"),
    SR__WEIGHTS_OPTION(features_options),
    SR_FLAG(features_options, exact, "no", "never approximate neighbors"), SR_OPTIONS_END};

const sr__graph_builder sr__builder_features = {
    .about = {"features", "the k nearest rows by standardized features", options_of_features,
              sizeof(features_options), NULL},
    .relation = SR_RELATION_FEATURES,
    .build = build_features};
