/* The binned CART tree as a learner. */
#include "tree.h"

#include <math.h>

static const sr_option options_list[] = {
    SR_INTEGER(sr__tree_options, min_leaf, "1", 1, 1e9, "fewest rows in a leaf"),
    SR_INTEGER(sr__tree_options, max_depth, "0", 0, 1e9, "greatest depth; 0 is no limit"),
    SR_INTEGER(sr__tree_options, max_features, "0", -1, 1e9,
               "features tried at a split; 0 is their square root, -1 all"),
    SR_CHOICE(sr__tree_options, criterion, "gini", "gini|entropy", "what a split lowers"),
    SR_INTEGER(sr__tree_options, max_bins, "256", 2, 256, "bins per feature"),
    SR_REAL(sr__tree_options, min_share, "0", 0, 0.5,
            "least share of the weight of all its rows that a tree leaves in a leaf"),
    SR_OPTIONS_END};

/* ---- rows --------------------------------------------------------------------------------- */

static void free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->memory);
  sr__release(&allocator, rows->column_memory);
  sr__release(&allocator, rows);
}

enum { LINE = 64 /* bytes of the cache that come together */ };

/* A stride at which no short row lies on two lines. */
static int64_t stride_for(int64_t features) {
  int64_t stride = 16;
  if (features > LINE) return features;
  while (stride < features) stride *= 2;
  return stride;
}

static sr_status new_rows(sr_context *ctx, int64_t count, int64_t features, int64_t stride,
                          sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->count = count;
  made->features = features;
  made->stride = stride;
  if (count > (INT64_MAX - 2 * LINE) / stride)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "cannot hold %lld rows of %lld bytes", (long long)count,
                    (long long)stride));
  SR_NEW(ctx, made->memory, count * stride + 2 * LINE); /* a row may be read as a whole line */
  made->bins = made->memory + (LINE - (uintptr_t)made->memory % LINE);
  *rows = made;
  made = NULL;
cleanup:
  free_encoded(made);
  return status;
}

static sr_status encode_rows(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                             int64_t first, int64_t count, int64_t stride, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  *rows = NULL;
  SR_TRY(new_rows(ctx, count, encoder->binning->features, stride, &made));
  SR_TRY(sr__binning_apply(ctx, encoder->binning, table, first, count, stride, made->bins));
  *rows = made;
  made = NULL;
cleanup:
  free_encoded(made);
  return status;
}

/* Rows that one walk takes are turned once for all trees. */
static sr_status turn_rows(sr_context *ctx, sr__encoded *rows) {
  sr_status status = SR_OK;
  const sr__walk_kernel *kernel = sr__walk_kernel_now();
  sr__walk_rows walk = {.bins = rows->bins, .stride = rows->stride, .features = rows->features};
  if (rows->features > SR__WALK_FEATURES || rows->count > SR__WALK_GROUP ||
      rows->count < SR__WALK_LANES)
    return SR_OK;
  SR_NEW(ctx, rows->column_memory, sr__turned_bytes(rows->features, rows->count) + LINE);
  rows->columns = rows->column_memory + (LINE - (uintptr_t)rows->column_memory % LINE);
  rows->whole = kernel->turn(&walk, rows->count, rows->columns);
cleanup:
  return status;
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  sr_status status = SR_OK;
  SR_TRY(
      encode_rows(ctx, encoder, table, first, count, stride_for(encoder->binning->features), rows));
  SR_TRY(turn_rows(ctx, *rows));
cleanup:
  if (status != SR_OK) {
    free_encoded(*rows);
    *rows = NULL;
  }
  return status;
}

static sr_status copy_encoded(sr_context *ctx, const sr__encoder *encoder, const sr__encoded *from,
                              sr__encoded **copy) {
  (void)encoder;
  *copy = NULL;
  sr_status status = new_rows(ctx, from->count, from->features, from->stride, copy);
  if (status == SR_OK) memcpy((*copy)->bins, from->bins, (size_t)(from->count * from->stride));
  return status;
}

static void copy_feature(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                         const int32_t *source, sr__encoded *to) {
  (void)encoder;
  for (int64_t i = 0; i < to->count; i++)
    to->bins[i * to->stride + feature] =
        from->bins[(source ? source[i] : i) * from->stride + feature];
}

/* ---- preparing ---------------------------------------------------------------------------- */

static void free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  sr__binning_free(&encoder->binning);
  sr__release(&allocator, encoder);
}

static void free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training->weight);
  sr__release(&allocator, training);
}

static sr_status check_table(sr_context *ctx, const sr_table_view *view) {
  if (view->classes.count > SR__MAX_CLASSES)
    return sr__fail(ctx, SR_ERROR_DATA, "there are %d classes; a tree takes at most %d",
                    view->classes.count, SR__MAX_CLASSES);
  if (view->features > SR__MAX_TREE_FEATURES)
    return sr__fail(ctx, SR_ERROR_DATA, "there are %lld features; a tree takes at most %d",
                    (long long)view->features, SR__MAX_TREE_FEATURES);
  return SR_OK;
}

/* Weights become whole units, so that sums do not depend on their order. Whole numbers stay as they
 * are; others are rounded to 2^-k with the largest near 2^19. A row of some weight keeps a unit, so
 * that one huge weight does not silence the others. */
static sr_status fill_weights(sr_context *ctx, const sr_table_view *view, sr__training *training) {
  sr_status status = SR_OK;
  double largest = 0.0, sum = 0.0, scale = 1.0;
  bool whole = true;
  for (int64_t i = 0; i < view->rows; i++) {
    double weight = (double)view->weight[i];
    if (!(weight >= 0.0) || !isfinite(weight))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the weight of row %lld is %g, expected 0 or more",
                      (long long)i, weight));
    if (weight > largest) largest = weight;
    whole = whole && weight == floor(weight);
  }
  if (largest == 0.0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "every row has weight 0; give positive weights"));
  SR_NEW(ctx, training->weight, view->rows);
  if (!whole || largest > SR__MAX_LOAD) scale = ldexp(1.0, 19 - ilogb(largest));
  for (int64_t i = 0; i < view->rows; i++) {
    double units = rint((double)view->weight[i] * scale);
    training->weight[i] = view->weight[i] > 0.0f ? (uint32_t)fmax(1.0, units) : 0;
    sum += training->weight[i];
  }
  training->unit_per_row = sum / (double)view->rows;
cleanup:
  return status;
}

static sr_status fill_training(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                               sr__training *training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  training->unit_per_row = 1.0;
  SR_NEW(ctx, training->label, view->rows);
  for (int64_t i = 0; i < view->rows; i++)
    training->label[i] = view->label[i] < 0 ? (uint16_t)SR__NO_LABEL : (uint16_t)view->label[i];
  if (view->weight) SR_TRY(fill_weights(ctx, view, training));
  SR_TRY(encode_rows(ctx, encoder, table, 0, view->rows, view->features, &training->rows));
cleanup:
  return status;
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *values,
                         sr__encoder **encoder, sr__training **training) {
  sr_status status = SR_OK;
  const sr__tree_options *options = values;
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  const sr_table_view *view = sr_table_get(table);
  *encoder = NULL;
  *training = NULL;
  SR_TRY(check_table(ctx, view));
  SR_NEW_ZERO(ctx, common, 1);
  common->allocator = sr__allocator(ctx);
  common->classes = view->classes.count;
  SR_TRY(sr__binning_new(ctx, table, (int32_t)options->max_bins, &common->binning));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(fill_training(ctx, common, table, made));
  *encoder = common;
  *training = made;
  common = NULL;
  made = NULL;
cleanup:
  free_training(made);
  free_encoder(common);
  return status;
}

static const sr__encoded *training_encoded(const sr__training *training) { return training->rows; }
static int32_t classes(const sr__encoder *encoder) { return encoder->classes; }
static int64_t features(const sr__encoder *encoder) { return encoder->binning->features; }

/* ---- storing ------------------------------------------------------------------------------ */

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__binning_save(encoder->binning, bytes);
}

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  uint32_t count = sr__get_u32(reader);
  if (count < 1 || count > SR__MAX_CLASSES)
    sr__get_refuse(reader, "the number of classes is wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  made->classes = (int32_t)count;
  SR_TRY(sr__binning_load(reader, &made->binning));
  if (made->binning->features < 1 || made->binning->features > SR__MAX_TREE_FEATURES)
    sr__get_refuse(reader, "the number of features is wrong");
  SR_TRY(reader->status);
  *encoder = made;
  made = NULL;
cleanup:
  free_encoder(made);
  return status;
}

const sr__learner sr__learner_tree = {
    .about = {"tree", "CART on quantile bins: gini or entropy, missing values, categories, weights",
              options_list, sizeof(sr__tree_options), NULL},
    .flags = SR_LEARNER_TAKES_FEATURES,
    .search =
        "min_leaf=1|2|5|10|20|50,max_depth=0|0|6|12,max_features=0|0|-1,criterion=gini|entropy",
    .prepare = prepare,
    .training_encoded = training_encoded,
    .fit = sr__tree_fit,
    .encode = encode,
    .predict = sr__tree_predict,
    .predict_votes = sr__tree_predict_votes,
    .read_leaves = sr__tree_read_leaves,
    .predict_leaves = sr__tree_predict_leaves,
    .blend_leaves = sr__tree_blend_leaves,
    .copy_feature = copy_feature,
    .copy_encoded = copy_encoded,
    .nodes = sr__tree_nodes,
    .classes = classes,
    .features = features,
    .save_encoder = save_encoder,
    .load_encoder = load_encoder,
    .save_member = sr__tree_save,
    .load_member = sr__tree_load,
    .free_encoder = free_encoder,
    .free_training = free_training,
    .free_encoded = free_encoded,
    .free_member = sr__tree_free,
};
