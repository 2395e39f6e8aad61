/* Gradient boosting by XGBoost's own library as a learner. */
#include <math.h>

#include "boost.h"
#include "learner/labeled_bag.h"
#include "learner/matrix/matrix.h"

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

struct sr__member {
  sr_allocator allocator;
  sr__boost_model model;
};

static void free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__boost_free(&allocator, &member->model);
  sr__release(&allocator, member);
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  *encoder = NULL;
  *training = NULL;
  if (sr_table_get(table)->classes.count > MAX_CLASSES)
    return sr__fail(ctx, SR_ERROR_DATA, "there are %d classes; xgboost takes at most %d",
                    sr_table_get(table)->classes.count, MAX_CLASSES);
  return sr__matrix_prepare(ctx, table, SR__WORD_CODE, encoder, training);
}

/* The rows of a bag that can teach, as the library takes them. */
typedef struct gathered_bag {
  float *x, *label, *weight;
  int64_t rows;
} gathered_bag;

static sr_status gather(sr_context *ctx, const sr__training *training, const sr__bag *bag,
                        gathered_bag *g) {
  sr_status status = SR_OK;
  int64_t columns = training->rows->columns;
  sr__labeled_bag labeled = {0};
  SR_TRY(sr__labeled_bag_read(ctx, bag, training->label, training->weight, &labeled));
  g->rows = labeled.length;
  SR_NEW(ctx, g->x, g->rows * columns);
  SR_NEW(ctx, g->label, g->rows);
  SR_NEW(ctx, g->weight, g->rows);
  for (int64_t i = 0; i < g->rows; i++) {
    memcpy(g->x + i * columns, training->rows->x + labeled.row[i] * columns,
           (size_t)columns * sizeof *g->x);
    g->weight[i] = (float)labeled.weight[i];
    g->label[i] = (float)labeled.label[i];
  }
cleanup:
  sr__labeled_bag_free(ctx, &labeled);
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
  gathered_bag g = {0};
  sr__member *made = NULL;
  *member = NULL;
  SR_TRY(gather(ctx, input->training, bag, &g));
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

/* ---- storing ------------------------------------------------------------------------------ */

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  return sr__matrix_load_encoder(reader, SR__WORD_CODE, MAX_CLASSES, encoder);
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
    SR__MATRIX_LEARNER_OPERATIONS,
    .prepare = prepare,
    .fit = fit,
    .predict = predict,
    .load_encoder = load_encoder,
    .save_member = save_member,
    .load_member = load_member,
    .free_member = free_member,
};
