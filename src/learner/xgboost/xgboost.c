/* Gradient boosting by XGBoost's own library as a learner. */
#include <math.h>

#include "boost.h"
#include "data/dictionary.h"
#include "learner/labeled_bag.h"
#include "learner/learner.h"

static const sr_option options_list[] = {
    SR_INTEGER(sr__boost_options, rounds, "100", 1, 1e6, "boosting rounds"),
    SR_INTEGER(sr__boost_options, max_depth, "6", 1, 24, "greatest depth of a tree"),
    SR_REAL(sr__boost_options, eta, "0.3", 1e-6, 1, "what is kept of each tree"),
    SR_REAL(sr__boost_options, min_child_weight, "1", 0, 1e12, "least sum of hessians in a leaf"),
    SR_REAL(sr__boost_options, lambda, "1", 0, 1e12, "penalty on squares of leaf values"),
    SR_REAL(sr__boost_options, alpha, "0", 0, 1e12, "penalty on sizes of leaf values"),
    SR_REAL(sr__boost_options, gamma, "0", 0, 1e12, "least gain of a split"),
    SR_REAL(sr__boost_options, subsample, "1", 1e-6, 1, "share of the rows that a tree sees"),
    SR_REAL(sr__boost_options, colsample, "1", 1e-6, 1, "share of the features that a tree sees"),
    SR_INTEGER(sr__boost_options, max_bins, "256", 2, 65536, "bins per feature"),
    SR_CHOICE(sr__boost_options, tree_method, "hist", "hist|exact|approx",
              "how splits are looked for"),
    SR_OPTIONS_END};

enum { MAX_CLASSES = 1 << 16 };

struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  int64_t features;
  sr_dictionary *names; /* count 0: a number */
};

struct sr__encoded {
  sr_allocator allocator;
  int64_t count, columns;
  float *x; /* row-major; NaN = missing */
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  int32_t *label;
  float *weight; /* NULL: all 1 */
};

struct sr__member {
  sr_allocator allocator;
  sr__boost_model model;
};

/* ---- freeing ------------------------------------------------------------------------------ */

static void free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  for (int64_t j = 0; encoder->names && j < encoder->features; j++)
    sr__dictionary_free(&allocator, &encoder->names[j]);
  sr__release(&allocator, encoder->names);
  sr__release(&allocator, encoder);
}

static void free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->x);
  sr__release(&allocator, rows);
}

static void free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training->weight);
  sr__release(&allocator, training);
}

static void free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__boost_free(&allocator, &member->model);
  sr__release(&allocator, member);
}

/* ---- rows --------------------------------------------------------------------------------- */

typedef struct encode_work {
  const sr__encoder *encoder;
  const sr_table_view *view;
  int32_t **code; /* a categorical feature: the model's code of each of the table's */
  int64_t first, chunk;
  sr__encoded *rows;
} encode_work;

/* Numbers that are not finite and words that training did not know are missing; a known word is its
 * code. */
static float encode_value(const encode_work *work, int64_t j, float value) {
  if (work->encoder->names[j].count == 0) return isfinite(value) ? value : NAN;
  bool valid = value >= 0.0f && value < (float)work->view->categories[j].count;
  int32_t code = valid ? work->code[j][(int32_t)value] : -1;
  return code < 0 ? NAN : (float)code;
}

static sr_status encode_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)ctx;
  (void)slot;
  const encode_work *work = data;
  int64_t begin = chunk * work->chunk, end = begin + work->chunk;
  if (end > work->rows->count) end = work->rows->count;
  for (int64_t j = 0; j < work->encoder->features; j++) {
    const float *x = work->view->x + j * work->view->rows + work->first;
    for (int64_t i = begin; i < end; i++)
      work->rows->x[i * work->rows->columns + j] = encode_value(work, j, x[i]);
  }
  return SR_OK;
}

static sr_status new_rows(sr_context *ctx, int64_t count, int64_t columns, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->count = count;
  made->columns = columns;
  SR_NEW(ctx, made->x, count * columns);
  *rows = made;
  made = NULL;
cleanup:
  free_encoded(made);
  return status;
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  enum { GRAIN = 1024 };
  sr_status status = SR_OK;
  encode_work work = {.encoder = encoder, .view = sr_table_get(table), .first = first};
  *rows = NULL;
  SR_TRY(sr__check_feature_count(ctx, work.view, encoder->features));
  SR_NEW_ZERO(ctx, work.code, encoder->features);
  for (int64_t j = 0; j < encoder->features; j++)
    SR_TRY(sr__feature_match(ctx, work.view, j, encoder->names[j], &work.code[j]));
  SR_TRY(new_rows(ctx, count, encoder->features, &work.rows));
  work.chunk = sr__chunk_size(count, GRAIN);
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(count, GRAIN), encode_chunk, &work));
  *rows = work.rows;
  work.rows = NULL;
cleanup:
  for (int64_t j = 0; work.code && j < encoder->features; j++) sr__free(ctx, work.code[j]);
  sr__free(ctx, work.code);
  free_encoded(work.rows);
  return status;
}

static sr_status copy_encoded(sr_context *ctx, const sr__encoder *encoder, const sr__encoded *from,
                              sr__encoded **copy) {
  (void)encoder;
  *copy = NULL;
  sr_status status = new_rows(ctx, from->count, from->columns, copy);
  if (status == SR_OK)
    memcpy((*copy)->x, from->x, (size_t)(from->count * from->columns) * sizeof *from->x);
  return status;
}

static void copy_feature(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                         const int32_t *source, sr__encoded *to) {
  (void)encoder;
  for (int64_t i = 0; i < to->count; i++)
    to->x[i * to->columns + feature] = from->x[(source ? source[i] : i) * from->columns + feature];
}

/* ---- preparing and fitting ----------------------------------------------------------------- */

static sr_status new_encoder(sr_context *ctx, const sr_table_view *view, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->classes = view->classes.count;
  SR_NEW_ZERO(ctx, made->names, view->features);
  made->features = view->features;
  for (int64_t j = 0; j < view->features; j++)
    if (sr__categories_of(view, j).count > 0)
      SR_TRY(sr__dictionary_copy(ctx, view->categories[j], &made->names[j]));
  *encoder = made;
  made = NULL;
cleanup:
  free_encoder(made);
  return status;
}

static sr_status fill_training(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                               sr__training *training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  SR_NEW(ctx, training->label, view->rows);
  memcpy(training->label, view->label, (size_t)view->rows * sizeof *view->label);
  if (view->weight) {
    SR_NEW(ctx, training->weight, view->rows);
    for (int64_t i = 0; i < view->rows; i++) {
      training->weight[i] = view->weight[i];
      if (!(view->weight[i] >= 0.0f) || !isfinite(view->weight[i]))
        SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the weight of row %lld is %g, expected 0 or more",
                        (long long)i + 1, (double)view->weight[i]));
    }
  }
  SR_TRY(encode(ctx, encoder, table, 0, view->rows, &training->rows));
cleanup:
  return status;
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  sr_status status = SR_OK;
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  *encoder = NULL;
  *training = NULL;
  if (sr_table_get(table)->classes.count > MAX_CLASSES)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "there are %d classes; xgboost takes at most %d",
                    sr_table_get(table)->classes.count, MAX_CLASSES));
  SR_TRY(new_encoder(ctx, sr_table_get(table), &common));
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

/* The labeled rows of a bag with weight above 0. */
typedef struct gathered_bag {
  sr_context *ctx;
  const sr__training *training;
  float *x, *label, *weight;
  int64_t rows, given, x_capacity, label_capacity, weight_capacity;
} gathered_bag;

static sr_status gather_piece(void *data, const int32_t *rows, const int32_t *counts,
                              int64_t length) {
  sr_status status = SR_OK;
  gathered_bag *g = data;
  const sr__training *training = g->training;
  int64_t columns = training->rows->columns;
  SR_GROW(g->ctx, g->x, g->x_capacity, (g->rows + length) * columns);
  SR_GROW(g->ctx, g->label, g->label_capacity, g->rows + length);
  SR_GROW(g->ctx, g->weight, g->weight_capacity, g->rows + length);
  g->given += length;
  for (int64_t i = 0; i < length; i++) {
    int32_t at = rows[i];
    float weight =
        (training->weight ? training->weight[at] : 1.0f) * (float)(counts ? counts[i] : 1);
    if (training->label[at] < 0 || !(weight > 0.0f)) continue;
    memcpy(g->x + g->rows * columns, training->rows->x + at * columns,
           (size_t)columns * sizeof *g->x);
    g->weight[g->rows] = weight;
    g->label[g->rows++] = (float)training->label[at];
  }
cleanup:
  return status;
}

/* The classes of the bag, and labels that count among them. */
static sr_status find_seen(sr_context *ctx, gathered_bag *g, int32_t classes,
                           sr__boost_model *model) {
  sr_status status = SR_OK;
  int32_t *place = NULL;
  SR_NEW_ZERO(ctx, place, classes);
  for (int64_t i = 0; i < g->rows; i++) place[(int32_t)g->label[i]] = 1;
  for (int32_t c = 0; c < classes; c++)
    if (place[c]) place[c] = model->seen_count++;
  SR_NEW(ctx, model->seen, model->seen_count);
  for (int64_t i = 0; i < g->rows; i++) {
    int32_t c = (int32_t)g->label[i];
    model->seen[place[c]] = c;
    g->label[i] = (float)place[c];
  }
cleanup:
  sr__free(ctx, place);
  return status;
}

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  sr_status status = SR_OK;
  gathered_bag g = {.ctx = ctx, .training = input->training};
  sr__member *made = NULL;
  *member = NULL;
  SR_TRY(sr__bag_read(ctx, bag, gather_piece, &g));
  if (g.rows == 0) SR_TRY(sr__fail_empty_bag(ctx, g.given));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(find_seen(ctx, &g, input->encoder->classes, &made->model));
  sr__boost_problem problem = {.x = g.x,
                               .rows = g.rows,
                               .columns = input->encoder->features,
                               .weight = g.weight,
                               .label = g.label,
                               .seen_count = made->model.seen_count,
                               .seed = (int)sr__random_below(random, INT32_MAX)};
  if (made->model.seen_count > 1)
    SR_TRY(sr__boost_fit(ctx, &problem, input->options, &made->model));
  else
    SR_NEW_ZERO(ctx, made->model.root, 1);
  *member = made;
  made = NULL;
cleanup:
  free_member(made);
  sr__free(ctx, g.x);
  sr__free(ctx, g.label);
  sr__free(ctx, g.weight);
  return status;
}

static int32_t winner(const sr__boost_model *model, const float *score) {
  int32_t best = 0;
  if (model->seen_count == 2) return model->seen[score[0] > 0.0f];
  for (int32_t s = 1; s < model->seen_count; s++)
    if (score[s] > score[best]) best = s;
  return model->seen[best];
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  const sr__boost_model *model = &member->model;
  float *score = NULL, *share = NULL;
  SR_NEW_ZERO(ctx, score, model->seen_count);
  SR_NEW(ctx, share, model->seen_count);
  if (answers.share)
    memset(answers.share, 0, (size_t)(picked.count * encoder->classes) * sizeof *answers.share);
  for (int64_t i = 0; i < picked.count; i++) {
    sr__boost_score(model, rows->x + sr__picked_row(picked, i) * rows->columns, score);
    if (answers.vote) answers.vote[i] = winner(model, score);
    if (!answers.share) continue;
    sr__boost_shares(model, score, share);
    for (int32_t s = 0; s < model->seen_count; s++)
      answers.share[i * encoder->classes + model->seen[s]] = share[s];
  }
cleanup:
  sr__free(ctx, score);
  sr__free(ctx, share);
  return status;
}

static const sr__encoded *training_encoded(const sr__training *training) { return training->rows; }
static int32_t classes(const sr__encoder *encoder) { return encoder->classes; }
static int64_t features(const sr__encoder *encoder) { return encoder->features; }

/* ---- storing ------------------------------------------------------------------------------ */

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__put_u64(bytes, (uint64_t)encoder->features);
  for (int64_t j = 0; j < encoder->features; j++) sr__dictionary_save(encoder->names[j], bytes);
}

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  uint32_t count = sr__get_u32(reader);
  if (count < 1 || count > MAX_CLASSES) sr__get_refuse(reader, "the number of classes is wrong");
  int64_t stored = sr__get_count(reader, sizeof(uint64_t));
  if (reader->status == SR_OK && (stored < 1 || stored > INT32_MAX))
    sr__get_refuse(reader, "the number of features is wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  made->classes = (int32_t)count;
  SR_NEW_ZERO(reader->ctx, made->names, stored);
  made->features = stored;
  for (int64_t j = 0; j < stored; j++) SR_TRY(sr__dictionary_load(reader, &made->names[j]));
  *encoder = made;
  made = NULL;
cleanup:
  free_encoder(made);
  return status;
}

static void save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  (void)encoder;
  const sr__boost_model *model = &member->model;
  sr__put_u64(bytes, (uint64_t)model->seen_count);
  for (int32_t s = 0; s < model->seen_count; s++) sr__put_u32(bytes, (uint32_t)model->seen[s]);
  sr__put_u64(bytes, (uint64_t)model->trees);
  for (int64_t t = 0; t < model->trees; t++)
    sr__put_u64(bytes, (uint64_t)(model->root[t + 1] - model->root[t]));
  for (int64_t k = 0; k < model->root[model->trees]; k++) {
    const sr__boost_node *node = &model->node[k];
    sr__put_u32(bytes, (uint32_t)node->feature);
    sr__put_u32(bytes, (uint32_t)node->child);
    sr__put_f32(bytes, node->value);
    sr__put_u8(bytes, node->missing_left);
  }
}

enum { NODE_BYTES = 13 };

static sr_status load_seen(sr__byte_reader *reader, const sr__encoder *encoder,
                           sr__boost_model *model) {
  sr_status status = SR_OK;
  int64_t count = sr__get_count(reader, sizeof(uint32_t));
  if (reader->status == SR_OK && (count < 1 || count > encoder->classes))
    sr__get_refuse(reader, "the number of classes of a member is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, model->seen, count);
  model->seen_count = (int32_t)count;
  for (int64_t s = 0; s < count; s++) {
    uint32_t c = sr__get_u32(reader);
    if (c >= (uint32_t)encoder->classes || (s > 0 && (int32_t)c <= model->seen[s - 1]))
      sr__get_refuse(reader, "the classes of a member are wrong");
    model->seen[s] = (int32_t)c;
  }
  SR_TRY(reader->status);
cleanup:
  return status;
}

static sr_status load_roots(sr__byte_reader *reader, sr__boost_model *model) {
  sr_status status = SR_OK;
  int64_t trees = sr__get_count(reader, sizeof(uint64_t));
  SR_TRY(reader->status);
  if ((model->seen_count == 1) != (trees == 0)) sr__get_refuse(reader, "the trees are wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, model->root, trees + 1);
  model->trees = trees;
  for (int64_t t = 0; t < trees; t++) {
    uint64_t nodes = sr__get_u64(reader);
    if (nodes < 1 || nodes > INT32_MAX || model->root[t] + (int64_t)nodes > INT32_MAX)
      sr__get_refuse(reader, "the size of a tree is wrong");
    SR_TRY(reader->status);
    model->root[t + 1] = model->root[t] + (int64_t)nodes;
  }
  if (model->root[trees] > (reader->size - reader->at) / NODE_BYTES)
    sr__get_refuse(reader, "it ends too early");
  SR_TRY(reader->status);
cleanup:
  return status;
}

/* Children stand after their parent and inside the tree, so that every walk ends. */
static void load_node(sr__byte_reader *reader, const sr__encoder *encoder, int64_t at, int64_t end,
                      sr__boost_node *node) {
  node->feature = (int32_t)sr__get_u32(reader);
  node->child = (int32_t)sr__get_u32(reader);
  node->value = sr__get_f32(reader);
  node->missing_left = sr__get_u8(reader);
  bool leaf = node->feature == -1;
  if (leaf ? node->child != 0 || node->missing_left != 0 || !isfinite(node->value)
           : node->feature < 0 || node->feature >= encoder->features || node->child <= at ||
                 node->child >= end - 1 || node->missing_left > 1)
    sr__get_refuse(reader, "a node is wrong");
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  sr__boost_model *model = &made->model;
  SR_TRY(load_seen(reader, encoder, model));
  SR_TRY(load_roots(reader, model));
  SR_NEW(reader->ctx, model->node, model->root[model->trees]);
  for (int64_t t = 0; t < model->trees; t++)
    for (int64_t at = model->root[t]; at < model->root[t + 1] && reader->status == SR_OK; at++)
      load_node(reader, encoder, at, model->root[t + 1], &model->node[at]);
  SR_TRY(reader->status);
  *member = made;
  made = NULL;
cleanup:
  free_member(made);
  return status;
}

const sr__learner sr__learner_xgboost = {
    .about = {"xgboost", "gradient boosting by XGBoost's library: missing values, weights",
              options_list, sizeof(sr__boost_options),
#ifdef SR_HAVE_XGBOOST
              NULL
#else
              "XGBoost (Debian: libxgboost-dev)"
#endif
    },
    .search =
        "rounds=30|100|300,max_depth=2|4|6|8,eta=0.03|0.1|0.3,min_child_weight=1|5|20,"
        "subsample=0.5|1,colsample=0.5|1",
    .flags = SR_LEARNER_TAKES_FEATURES,
    .prepare = prepare,
    .training_encoded = training_encoded,
    .fit = fit,
    .encode = encode,
    .predict = predict,
    .copy_feature = copy_feature,
    .copy_encoded = copy_encoded,
    .classes = classes,
    .features = features,
    .save_encoder = save_encoder,
    .load_encoder = load_encoder,
    .save_member = save_member,
    .load_member = load_member,
    .free_encoder = free_encoder,
    .free_training = free_training,
    .free_encoded = free_encoded,
    .free_member = free_member,
};
