/* XGBoost through its C interface. Its trees are taken over from its own JSON, where numbers come
 * back bit for bit, so that a model file holds nothing that only XGBoost could check. */
#include "boost.h"

#ifdef SR_HAVE_XGBOOST
#include <jansson.h>
#include <xgboost/c_api.h>

#include <math.h>

static const char *const method_names[] = {"hist", "exact", "approx"};

static sr_status failed(sr_context *ctx, const char *what) {
  const char *why = XGBGetLastError();
  if (strstr(why, "bad_alloc"))
    return sr__fail(ctx, SR_ERROR_MEMORY, "not enough memory for XGBoost to %s", what);
  return sr__fail(ctx, SR_ERROR_DATA, "XGBoost cannot %s: %s", what, why);
}

#define XG_TRY(call, what)                      \
  do {                                          \
    if ((call) != 0) SR_TRY(failed(ctx, what)); \
  } while (0)

static sr_status set_number(sr_context *ctx, BoosterHandle booster, const char *key, double value) {
  sr_status status = SR_OK;
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  XG_TRY(XGBoosterSetParam(booster, key, text), "take an option");
cleanup:
  return status;
}

static sr_status set_text(sr_context *ctx, BoosterHandle booster, const char *key,
                          const char *text) {
  sr_status status = SR_OK;
  XG_TRY(XGBoosterSetParam(booster, key, text), "take an option");
cleanup:
  return status;
}

static sr_status set_options(sr_context *ctx, const sr__boost_problem *problem,
                             const sr__boost_options *o, BoosterHandle booster) {
  sr_status status = SR_OK;
  const struct {
    const char *key;
    double value;
  } numbers[] = {{"verbosity", 0},
                 {"nthread", 1},
                 {"seed", problem->seed},
                 {"base_score", 0.5},
                 {"eta", o->eta},
                 {"max_depth", (double)o->max_depth},
                 {"max_bin", (double)o->max_bins},
                 {"min_child_weight", o->min_child_weight},
                 {"lambda", o->lambda},
                 {"alpha", o->alpha},
                 {"gamma", o->gamma},
                 {"subsample", o->subsample},
                 {"colsample_bytree", o->colsample}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    SR_TRY(set_number(ctx, booster, numbers[i].key, numbers[i].value));
  SR_TRY(set_text(ctx, booster, "tree_method", method_names[o->tree_method]));
  if (problem->seen_count > 2) {
    SR_TRY(set_text(ctx, booster, "objective", "multi:softprob"));
    SR_TRY(set_number(ctx, booster, "num_class", problem->seen_count));
  } else {
    SR_TRY(set_text(ctx, booster, "objective", "binary:logistic"));
  }
cleanup:
  return status;
}

/* ---- trees -------------------------------------------------------------------------------- */

/* The arrays of one tree in XGBoost's JSON. */
typedef struct json_tree {
  json_t *left, *right, *feature, *value, *missing_left;
  int64_t nodes;
} json_tree;

static sr_status open_tree(sr_context *ctx, json_t *object, json_tree *tree) {
  *tree = (json_tree){.left = json_object_get(object, "left_children"),
                      .right = json_object_get(object, "right_children"),
                      .feature = json_object_get(object, "split_indices"),
                      .value = json_object_get(object, "split_conditions"),
                      .missing_left = json_object_get(object, "default_left")};
  tree->nodes = (int64_t)json_array_size(tree->left);
  size_t nodes = (size_t)tree->nodes;
  if (nodes < 1 || json_array_size(tree->right) != nodes ||
      json_array_size(tree->feature) != nodes || json_array_size(tree->value) != nodes ||
      json_array_size(tree->missing_left) != nodes)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "this version of XGBoost writes trees in a form that is not known here");
  return SR_OK;
}

static int64_t whole(json_t *array, int64_t at) {
  json_t *item = json_array_get(array, (size_t)at);
  return json_is_boolean(item) ? json_is_true(item) : json_integer_value(item);
}

/* Adds the nodes that the root reaches, breadth first, behind the *all that are there; `source` is
 * scratch. */
static sr_status copy_tree(sr_context *ctx, const json_tree *tree, int64_t columns, int32_t *source,
                           sr__boost_node *nodes, int64_t *all) {
  sr__boost_node *node = nodes + *all;
  int64_t used = 1;
  source[0] = 0;
  for (int64_t at = 0; at < used; at++) {
    int64_t from = source[at], left = whole(tree->left, from), right = whole(tree->right, from);
    float value = (float)json_number_value(json_array_get(tree->value, (size_t)from));
    node[at] = (sr__boost_node){.feature = -1, .value = value};
    if (left < 0) continue;
    int64_t feature = whole(tree->feature, from);
    if (left >= tree->nodes || right < 0 || right >= tree->nodes || used + 2 > tree->nodes ||
        feature < 0 || feature >= columns)
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "XGBoost wrote a tree that cannot be walked");
    node[at].feature = (int32_t)feature;
    node[at].child = (int32_t)(*all + used);
    node[at].missing_left = (uint8_t)whole(tree->missing_left, from);
    source[used++] = (int32_t)left;
    source[used++] = (int32_t)right;
  }
  *all += used;
  return SR_OK;
}

static sr_status copy_trees(sr_context *ctx, json_t *trees, int64_t columns,
                            sr__boost_model *model) {
  sr_status status = SR_OK;
  int32_t *source = NULL;
  int64_t all = 0, most = 0, used = 0;
  json_tree tree;
  model->trees = (int64_t)json_array_size(trees);
  SR_NEW(ctx, model->root, model->trees + 1);
  for (int64_t t = 0; t < model->trees; t++) {
    SR_TRY(open_tree(ctx, json_array_get(trees, (size_t)t), &tree));
    all += tree.nodes;
    if (tree.nodes > most) most = tree.nodes;
  }
  if (all > INT32_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "XGBoost grew %lld nodes; use fewer rounds",
                    (long long)all));
  SR_NEW(ctx, source, most);
  SR_NEW(ctx, model->node, all);
  for (int64_t t = 0; t < model->trees; t++) {
    SR_TRY(open_tree(ctx, json_array_get(trees, (size_t)t), &tree));
    model->root[t] = used;
    SR_TRY(copy_tree(ctx, &tree, columns, source, model->node, &used));
  }
  model->root[model->trees] = used;
cleanup:
  sr__free(ctx, source);
  return status;
}

static sr_status take_over(sr_context *ctx, BoosterHandle booster, int64_t columns,
                           sr__boost_model *model) {
  sr_status status = SR_OK;
  bst_ulong length = 0;
  const char *text = NULL;
  json_t *json = NULL;
  XG_TRY(XGBoosterSaveModelToBuffer(booster, "{\"format\": \"json\"}", &length, &text),
         "write its trees");
  json = json_loadb(text, length, 0, NULL);
  if (!json)
    SR_TRY(sr__fail(ctx, SR_ERROR_MEMORY, "not enough memory to read the trees of XGBoost"));
  json_t *trees = json_object_get(json_object_get(json_object_get(json_object_get(json, "learner"),
                                                                  "gradient_booster"),
                                                  "model"),
                                  "trees");
  SR_TRY(copy_trees(ctx, trees, columns, model));
cleanup:
  json_decref(json);
  return status;
}

/* ---- fitting ------------------------------------------------------------------------------ */

sr_status sr__boost_fit(sr_context *ctx, const sr__boost_problem *problem,
                        const sr__boost_options *options, sr__boost_model *model) {
  sr_status status = SR_OK;
  DMatrixHandle rows = NULL;
  BoosterHandle booster = NULL;
  bst_ulong count = (bst_ulong)problem->rows;
  XG_TRY(XGDMatrixCreateFromMat(problem->x, count, (bst_ulong)problem->columns, NAN, &rows),
         "take the rows");
  XG_TRY(XGDMatrixSetFloatInfo(rows, "label", problem->label, count), "take the classes");
  XG_TRY(XGDMatrixSetFloatInfo(rows, "weight", problem->weight, count), "take the weights");
  XG_TRY(XGBoosterCreate(&rows, 1, &booster), "begin");
  SR_TRY(set_options(ctx, problem, options, booster));
  for (int64_t round = 0; round < options->rounds; round++) {
    SR_TRY(sr__check_interrupt(ctx));
    XG_TRY(XGBoosterUpdateOneIter(booster, (int)round, rows), "fit");
  }
  SR_TRY(take_over(ctx, booster, problem->columns, model));
cleanup:
  if (booster) XGBoosterFree(booster);
  if (rows) XGDMatrixFree(rows);
  return status;
}

#else
sr_status sr__boost_fit(sr_context *ctx, const sr__boost_problem *problem,
                        const sr__boost_options *options, sr__boost_model *model) {
  (void)problem;
  (void)options;
  (void)model;
  return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "this build lacks XGBoost");
}
#endif
