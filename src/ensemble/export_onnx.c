/* Forests as an ONNX model: trees that sum to the vote, cut at 0, divided by their sum, and the
 * name of the largest. (The classifier of trees reads two classes in ways of its own.) The file is
 * a protocol buffer (onnx.proto has the numbers of its fields), put together here without its
 * library. */
#include <math.h>

#include "core/bytes.h"
#include "core/text.h"
#include "export.h"

/* ---- protocol buffers ----------------------------------------------------------------------- */

enum { VARINT = 0, BLOCK = 2 };

static void put_varint(sr__bytes *to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) sr__put_u8(to, (uint8_t)(value | 0x80));
  sr__put_u8(to, (uint8_t)value);
}

static void put_tag(sr__bytes *to, uint32_t field, uint32_t kind) {
  put_varint(to, (uint64_t)field << 3 | kind);
}

static void put_integer(sr__bytes *to, uint32_t field, int64_t value) {
  put_tag(to, field, VARINT);
  put_varint(to, (uint64_t)value);
}

static void put_block(sr__bytes *to, uint32_t field, const void *bytes, int64_t count) {
  put_tag(to, field, BLOCK);
  put_varint(to, (uint64_t)count);
  sr__put_raw(to, bytes, count);
}

static void put_string(sr__bytes *to, uint32_t field, const char *text) {
  put_block(to, field, text, (int64_t)strlen(text));
}

/* A user's name, which may be no UTF-8 as the form wants it. */
static void put_name(sr__bytes *to, uint32_t field, const char *name) {
  const char *c;
  uint64_t count = 0;
  for (const unsigned char *at = (const unsigned char *)name; *at;) count += sr__utf8_next(&at, &c);
  put_tag(to, field, BLOCK);
  put_varint(to, count);
  for (const unsigned char *at = (const unsigned char *)name; *at;) {
    size_t length = sr__utf8_next(&at, &c);
    sr__put_raw(to, c, (int64_t)length);
  }
}

/* A message inside another; the inner one is empty afterwards. */
static void put_message(sr__bytes *to, uint32_t field, sr__bytes *inner) {
  if (inner->status != SR_OK && to->status == SR_OK) to->status = inner->status;
  if (to->status == SR_OK) put_block(to, field, inner->data, inner->size);
  inner->size = 0;
}

/* ---- attributes --------------------------------------------------------------------------- */

/* Fields and types of AttributeProto. */
enum {
  ATTRIBUTE_NAME = 1,
  ATTRIBUTE_INT = 3,
  ATTRIBUTE_FLOATS = 7,
  ATTRIBUTE_INTS = 8,
  ATTRIBUTE_STRINGS = 9,
  ATTRIBUTE_TYPE = 20,
  TYPE_INT = 2,
  TYPE_FLOATS = 6,
  TYPE_INTS = 7,
  TYPE_STRINGS = 8,
  NODE_ATTRIBUTE = 5
};

/* The lists of the operator: an entry per node, and one per leaf and class. */
typedef struct lists {
  sr__bytes tree, node, feature, value, mode, left, right, missing;
  sr__bytes leaf_tree, leaf_node, leaf_class, leaf_weight;
} lists;

static void put_list(sr__bytes *node, sr__bytes *scratch, const char *name, sr__bytes *values,
                     uint32_t field, int64_t type) {
  put_string(scratch, ATTRIBUTE_NAME, name);
  if (field == ATTRIBUTE_STRINGS)
    sr__put_raw(scratch, values->data, values->size); /* each carries its tag */
  else
    put_block(scratch, field, values->data, values->size);
  if (values->status != SR_OK && scratch->status == SR_OK) scratch->status = values->status;
  put_integer(scratch, ATTRIBUTE_TYPE, type);
  put_message(node, NODE_ATTRIBUTE, scratch);
}

static void add_leaf(lists *l, const sr_ensemble *e, const sr_nodes_view *n, int32_t tree,
                     double weight, int64_t i) {
  const float *share = n->share + i * n->classes;
  int32_t winner = sr__tally_winner(share, n->classes);
  for (int32_t c = 0; c < n->classes; c++) {
    double vote = e->view.vote == SR_VOTE_SOFT ? (double)share[c] : (double)(c == winner);
    if (vote == 0.0) continue;
    put_varint(&l->leaf_tree, (uint64_t)tree);
    put_varint(&l->leaf_node, (uint64_t)i);
    put_varint(&l->leaf_class, (uint64_t)c);
    sr__put_f32(&l->leaf_weight, (float)(weight * vote));
  }
}

static sr_status add_tree(sr_context *ctx, lists *l, const sr_ensemble *e, const sr_nodes_view *n,
                          int32_t tree) {
  double weight = sr__export_weight(e, tree);
  for (int64_t i = 0; i < n->nodes; i++) {
    bool leaf = n->feature[i] < 0;
    if (!leaf && isnan(n->threshold[i]))
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "feature '%s' is text, and .onnx forests ask for numbers; export as .json",
                      e->view.feature_names ? e->view.feature_names[n->feature[i]] : "");
    put_varint(&l->tree, (uint64_t)tree);
    put_varint(&l->node, (uint64_t)i);
    put_varint(&l->feature, leaf ? 0 : (uint64_t)n->feature[i]);
    sr__put_f32(&l->value, leaf ? 0.0f : n->threshold[i]);
    put_string(&l->mode, ATTRIBUTE_STRINGS, leaf ? "LEAF" : "BRANCH_LEQ");
    put_varint(&l->left, leaf ? 0 : (uint64_t)n->left[i]);
    put_varint(&l->right, leaf ? 0 : (uint64_t)n->right[i]);
    put_varint(&l->missing, leaf ? 0 : n->missing_left[i]);
    if (leaf) add_leaf(l, e, n, tree, weight, i);
  }
  return SR_OK;
}

/* ---- the model ---------------------------------------------------------------------------- */

enum { ELEMENT_FLOAT = 1, ELEMENT_STRING = 8 };

/* A tensor of rows x columns; columns 0: of rows. */
static void put_tensor(sr__bytes *graph, uint32_t field, sr_context *ctx, const char *name,
                       int element, int64_t columns) {
  sr__bytes info = {.ctx = ctx}, type = {.ctx = ctx}, tensor = {.ctx = ctx}, shape = {.ctx = ctx};
  sr__bytes dimension = {.ctx = ctx};
  put_string(&dimension, 2, "rows");
  put_message(&shape, 1, &dimension);
  if (columns) {
    put_integer(&dimension, 1, columns);
    put_message(&shape, 1, &dimension);
  }
  put_integer(&tensor, 1, element);
  put_message(&tensor, 2, &shape);
  put_message(&type, 1, &tensor);
  put_string(&info, 1, name);
  put_message(&info, 2, &type);
  put_message(graph, field, &info);
  sr__bytes *all[] = {&info, &type, &tensor, &shape, &dimension};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) sr__bytes_free(all[k]);
}

static void put_number(sr__bytes *node, sr__bytes *scratch, const char *name, int64_t value) {
  put_string(scratch, ATTRIBUTE_NAME, name);
  put_integer(scratch, ATTRIBUTE_INT, value);
  put_integer(scratch, ATTRIBUTE_TYPE, TYPE_INT);
  put_message(node, NODE_ATTRIBUTE, scratch);
}

typedef struct operation {
  const char *name, *domain;
  const char *first, *second; /* inputs; NULL: none */
  const char *output;
} operation;

/* Attributes come before the node is put. */
static void put_node(sr__bytes *graph, sr__bytes *node, operation o) {
  put_string(node, 1, o.first);
  if (o.second) put_string(node, 1, o.second);
  put_string(node, 2, o.output);
  put_string(node, 4, o.name);
  put_string(node, 7, o.domain);
  put_message(graph, 1, node);
}

static const char learning[] = "ai.onnx.ml";

static void put_trees(sr__bytes *graph, sr__bytes *node, sr__bytes *scratch, const sr_ensemble *e,
                      lists *l) {
  sr__bytes offset = {.ctx = node->ctx};
  for (int32_t c = 0; c < e->view.classes.count; c++)
    sr__put_f32(&offset, e->offset ? e->offset[c] : 0.0f);
  struct {
    const char *name;
    sr__bytes *values;
    uint32_t field;
    int64_t type;
  } all[] = {{"nodes_treeids", &l->tree, ATTRIBUTE_INTS, TYPE_INTS},
             {"nodes_nodeids", &l->node, ATTRIBUTE_INTS, TYPE_INTS},
             {"nodes_featureids", &l->feature, ATTRIBUTE_INTS, TYPE_INTS},
             {"nodes_values", &l->value, ATTRIBUTE_FLOATS, TYPE_FLOATS},
             {"nodes_modes", &l->mode, ATTRIBUTE_STRINGS, TYPE_STRINGS},
             {"nodes_truenodeids", &l->left, ATTRIBUTE_INTS, TYPE_INTS},
             {"nodes_falsenodeids", &l->right, ATTRIBUTE_INTS, TYPE_INTS},
             {"nodes_missing_value_tracks_true", &l->missing, ATTRIBUTE_INTS, TYPE_INTS},
             {"target_treeids", &l->leaf_tree, ATTRIBUTE_INTS, TYPE_INTS},
             {"target_nodeids", &l->leaf_node, ATTRIBUTE_INTS, TYPE_INTS},
             {"target_ids", &l->leaf_class, ATTRIBUTE_INTS, TYPE_INTS},
             {"target_weights", &l->leaf_weight, ATTRIBUTE_FLOATS, TYPE_FLOATS},
             {"base_values", &offset, ATTRIBUTE_FLOATS, TYPE_FLOATS}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    put_list(node, scratch, all[k].name, all[k].values, all[k].field, all[k].type);
  put_number(node, scratch, "n_targets", e->view.classes.count);
  put_node(graph, node, (operation){"TreeEnsembleRegressor", learning, "rows", NULL, "vote"});
  sr__bytes_free(&offset);
}

/* Shares as predict gives them, and the class of the largest. */
static void put_answers(sr__bytes *graph, sr__bytes *node, sr__bytes *scratch,
                        const sr_ensemble *e) {
  sr__bytes keys = {.ctx = node->ctx}, names = {.ctx = node->ctx}, axis = {.ctx = node->ctx};
  for (int32_t c = 0; c < e->view.classes.count; c++) {
    put_varint(&keys, (uint64_t)c);
    put_name(&names, ATTRIBUTE_STRINGS, e->view.classes.names[c]);
  }
  put_varint(&axis, 1);
  put_node(graph, node, (operation){"Relu", "", "vote", NULL, "cut"});
  put_list(node, scratch, "axes", &axis, ATTRIBUTE_INTS, TYPE_INTS);
  put_node(graph, node, (operation){"ReduceL1", "", "cut", NULL, "total"});
  put_node(graph, node, (operation){"Div", "", "cut", "total", "probabilities"});
  put_number(node, scratch, "axis", 1);
  put_number(node, scratch, "keepdims", 0);
  put_node(graph, node, (operation){"ArgMax", "", "vote", NULL, "code"});
  put_list(node, scratch, "keys_int64s", &keys, ATTRIBUTE_INTS, TYPE_INTS);
  put_list(node, scratch, "values_strings", &names, ATTRIBUTE_STRINGS, TYPE_STRINGS);
  put_node(graph, node, (operation){"LabelEncoder", learning, "code", NULL, "label"});
  sr__bytes_free(&keys);
  sr__bytes_free(&names);
  sr__bytes_free(&axis);
}

static void put_property(sr__bytes *model, sr__bytes *scratch, const char *key, const char *value) {
  put_string(scratch, 1, key);
  put_name(scratch, 2, value);
  put_message(model, 14, scratch);
}

static void put_model(sr__bytes *model, const sr_ensemble *e, lists *l) {
  sr__bytes graph = {.ctx = model->ctx}, node = {.ctx = model->ctx}, scratch = {.ctx = model->ctx};
  put_trees(&graph, &node, &scratch, e, l);
  put_answers(&graph, &node, &scratch, e);
  put_string(&graph, 2, "specroute");
  put_tensor(&graph, 11, model->ctx, "rows", ELEMENT_FLOAT, e->view.features);
  put_tensor(&graph, 12, model->ctx, "label", ELEMENT_STRING, 0);
  put_tensor(&graph, 12, model->ctx, "probabilities", ELEMENT_FLOAT, e->view.classes.count);
  put_integer(model, 1, 8); /* version of the form */
  put_string(model, 2, "specroute");
  put_string(model, 3, sr_version());
  put_message(model, 7, &graph);
  put_string(&scratch, 1, learning);
  put_integer(&scratch, 2, 3);
  put_message(model, 8, &scratch);
  put_string(&scratch, 1, "");
  put_integer(&scratch, 2, 15);
  put_message(model, 8, &scratch);
  for (int64_t j = 0; e->view.feature_names && j < e->view.features; j++) {
    char key[48];
    snprintf(key, sizeof key, "feature_%lld", (long long)j);
    put_property(model, &scratch, key, e->view.feature_names[j]);
  }
  sr__bytes_free(&graph);
  sr__bytes_free(&node);
  sr__bytes_free(&scratch);
}

sr_status sr__export_onnx(sr_context *ctx, const sr_ensemble *e, sr__writer *out) {
  sr_status status = SR_OK;
  sr_nodes *nodes = NULL;
  sr__bytes model = {.ctx = ctx};
  lists l;
  sr__bytes *list[] = {&l.tree,      &l.node,      &l.feature,    &l.value,
                       &l.mode,      &l.left,      &l.right,      &l.missing,
                       &l.leaf_tree, &l.leaf_node, &l.leaf_class, &l.leaf_weight};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) *list[k] = (sr__bytes){.ctx = ctx};
  for (int32_t j = 0; j < e->view.members; j++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(sr_ensemble_nodes(ctx, e, j, &nodes));
    SR_TRY(add_tree(ctx, &l, e, sr_nodes_get(nodes), j));
    sr_nodes_free(&nodes);
  }
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) SR_TRY(list[k]->status);
  put_model(&model, e, &l);
  SR_TRY(model.status);
  SR_TRY(sr__writer_put(out, model.data, (size_t)model.size));
cleanup:
  sr_nodes_free(&nodes);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) sr__bytes_free(list[k]);
  sr__bytes_free(&model);
  return status;
}
