/* The graph of nearest neighbors in space: 2 or 3 coordinates a row. */
#include <math.h>

#include "data/geographic.h"
#include "knn.h"

static sr_status check_coordinates(sr_context *ctx, const sr_table_view *table) {
  if (!table->coordinates || table->coordinate_count < 1)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the space graph needs coordinates; name their columns, such as --coords x,y");
  for (int32_t j = 0; j < table->coordinate_count; j++) {
    for (int64_t i = 0; i < table->rows; i++) {
      double x = table->coordinates[j * table->rows + i];
      if (!isfinite(x))
        return sr__fail(ctx, SR_ERROR_DATA,
                        "coordinate %d of row %lld is %g; drop rows without a place or use another "
                        "graph",
                        j + 1, (long long)i, x);
    }
  }
  return SR_OK;
}

typedef struct space_options {
  int64_t k;
  int weights;
} space_options;

static sr_status build_space(sr_context *ctx, const sr_table_view *table, const void *options,
                             uint64_t seed, sr_graph **graph) {
  (void)seed;
  enum { MOST_COORDINATES = 3 };
  sr_status status = SR_OK;
  sr__knn knn = {0};
  double *sphere = NULL; /* degrees as points; NULL: the coordinates are points */
  const space_options *o = options;
  int32_t k = (int32_t)o->k, dimension = table->coordinate_count;
  SR_TRY(sr__knn_check_k(ctx, &k, table->rows));
  SR_TRY(check_coordinates(ctx, table));
  if (dimension > MOST_COORDINATES)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a row has %d coordinates; the space graph takes up to %d",
                    dimension, MOST_COORDINATES));
  SR_TRY(sr__sphere_points(ctx, table, &sphere));
  sr__points points = {.rows = table->rows,
                       .dimension = sphere ? 3 : dimension,
                       .column = sphere ? sphere : table->coordinates};
  SR_TRY(sr__knn_tree(ctx, &points, k, &knn));
  SR_TRY(sr__graph_from_knn(ctx, &knn, "space", graph));
  if (o->weights == SR__WEIGHTS_RBF)
    SR_TRY(sr__graph_weigh(ctx, table, SR__METRIC_COORDINATES, *graph));
cleanup:
  sr__free(ctx, sphere);
  sr__knn_free(ctx, &knn);
  return status;
}

static const sr_option options_of_space[] = {SR_INTEGER(space_options, k, "8", 1, 1e9,
                                                        "nearest rows that a row is joined to"),
                                             SR__WEIGHTS_OPTION(space_options), SR_OPTIONS_END};

const sr__graph_builder sr__builder_space = {.about = {"space", "the k nearest rows by coordinates",
                                                       options_of_space, sizeof(space_options),
                                                       NULL},
                                             .relation = SR_RELATION_PLACE,
                                             .build = build_space};
