/* Forests as JSON: classes, features and, per tree, parallel arrays of its nodes. */
#include <float.h>
#include <math.h>

#include "core/text.h"
#include "export.h"

/* Bytes that are no UTF-8 become U+FFFD, so that any name is valid JSON. */
static sr_status put_text(sr__writer *out, const char *text) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, "\""));
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    const char *c;
    size_t length = sr__utf8_next(&at, &c);
    if (*c == '"' || *c == '\\')
      SR_TRY(sr__writer_print(out, "\\%c", *c));
    else if (length == 1 && *c < 0x20)
      SR_TRY(sr__writer_print(out, "\\u%04x", (unsigned)*c));
    else
      SR_TRY(sr__writer_put(out, c, length));
  }
  SR_TRY(sr__writer_print(out, "\""));
cleanup:
  return status;
}

static sr_status put_names(sr__writer *out, const sr_dictionary *names) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, "["));
  for (int32_t c = 0; c < names->count; c++) {
    if (c) SR_TRY(sr__writer_print(out, ","));
    SR_TRY(put_text(out, names->names[c]));
  }
  SR_TRY(sr__writer_print(out, "]"));
cleanup:
  return status;
}

/* Nine digits bring a float back as it was; NaN is null, and what is beyond every number is the
 * largest float. */
static sr_status put_number(sr__writer *out, double value, bool comma) {
  if (isinf(value)) value = value > 0.0 ? (double)FLT_MAX : -(double)FLT_MAX;
  return isfinite(value) ? sr__writer_print(out, "%s%.9g", comma ? "," : "", value)
                         : sr__writer_print(out, "%snull", comma ? "," : "");
}

static sr_status put_whole(sr__writer *out, const char *key, const int32_t *values, int64_t count) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, ",\"%s\":[", key));
  for (int64_t i = 0; i < count; i++)
    SR_TRY(sr__writer_print(out, "%s%d", i ? "," : "", values[i]));
  SR_TRY(sr__writer_print(out, "]"));
cleanup:
  return status;
}

static sr_status put_features(sr__writer *out, const sr_table_view *schema) {
  sr_status status = SR_OK;
  char numbered[32];
  SR_TRY(sr__writer_print(out, "\"features\":["));
  for (int64_t j = 0; j < schema->features; j++) {
    snprintf(numbered, sizeof numbered, "x%lld", (long long)j + 1);
    SR_TRY(sr__writer_print(out, "%s{\"name\":", j ? "," : ""));
    SR_TRY(put_text(out, schema->feature_names ? schema->feature_names[j] : numbered));
    if (schema->categories && schema->categories[j].count) {
      SR_TRY(sr__writer_print(out, ",\"categories\":"));
      SR_TRY(put_names(out, &schema->categories[j]));
    }
    SR_TRY(sr__writer_print(out, "}"));
  }
  SR_TRY(sr__writer_print(out, "],"));
cleanup:
  return status;
}

static sr_status put_shares(sr__writer *out, const sr_nodes_view *n) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, ",\"share\":["));
  for (int64_t i = 0; i < n->nodes; i++) {
    if (i) SR_TRY(sr__writer_print(out, ","));
    if (n->feature[i] >= 0) {
      SR_TRY(sr__writer_print(out, "null"));
      continue;
    }
    SR_TRY(sr__writer_print(out, "["));
    for (int32_t c = 0; c < n->classes; c++)
      SR_TRY(put_number(out, (double)n->share[i * n->classes + c], c > 0));
    SR_TRY(sr__writer_print(out, "]"));
  }
  SR_TRY(sr__writer_print(out, "]"));
cleanup:
  return status;
}

/* Per node the codes that go left; null where it asks for a number. */
static sr_status put_categories(sr__writer *out, const sr_nodes_view *n) {
  sr_status status = SR_OK;
  if (!n->category_offset || n->category_offset[n->nodes] == 0) return SR_OK;
  SR_TRY(sr__writer_print(out, ",\"categories_left\":["));
  for (int64_t i = 0; i < n->nodes; i++) {
    if (i) SR_TRY(sr__writer_print(out, ","));
    if (n->feature[i] < 0 || !isnan(n->threshold[i])) {
      SR_TRY(sr__writer_print(out, "null"));
      continue;
    }
    SR_TRY(sr__writer_print(out, "["));
    for (int64_t k = n->category_offset[i]; k < n->category_offset[i + 1]; k++)
      SR_TRY(sr__writer_print(out, "%s%d", k > n->category_offset[i] ? "," : "", n->category[k]));
    SR_TRY(sr__writer_print(out, "]"));
  }
  SR_TRY(sr__writer_print(out, "]"));
cleanup:
  return status;
}

static sr_status put_tree(sr__writer *out, const sr_nodes_view *n, double weight) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(out, "{\"weight\":%.9g", weight));
  SR_TRY(put_whole(out, "feature", n->feature, n->nodes));
  SR_TRY(sr__writer_print(out, ",\"threshold\":["));
  for (int64_t i = 0; i < n->nodes; i++) SR_TRY(put_number(out, (double)n->threshold[i], i > 0));
  SR_TRY(sr__writer_print(out, "]"));
  SR_TRY(put_whole(out, "left", n->left, n->nodes));
  SR_TRY(put_whole(out, "right", n->right, n->nodes));
  SR_TRY(sr__writer_print(out, ",\"missing_left\":["));
  for (int64_t i = 0; i < n->nodes; i++)
    SR_TRY(sr__writer_print(out, "%s%s", i ? "," : "", n->missing_left[i] ? "true" : "false"));
  SR_TRY(sr__writer_print(out, "]"));
  SR_TRY(put_categories(out, n));
  SR_TRY(put_shares(out, n));
  SR_TRY(sr__writer_print(out, "}"));
cleanup:
  return status;
}

sr_status sr__export_json(sr_context *ctx, const sr_ensemble *e, sr__writer *out) {
  sr_status status = SR_OK;
  sr_nodes *nodes = NULL;
  const sr_table_view *schema = sr_table_get(e->schema);
  SR_TRY(sr__writer_print(out, "{\"format\":\"specroute-forest\",\"version\":1,\"learner\":"));
  SR_TRY(put_text(out, e->view.learner));
  SR_TRY(sr__writer_print(out, ",\"vote\":\"%s\",\"target\":",
                          e->view.vote == SR_VOTE_SOFT ? "soft" : "hard"));
  SR_TRY(put_text(out, schema->target_name ? schema->target_name : ""));
  SR_TRY(sr__writer_print(out, ",\"classes\":"));
  SR_TRY(put_names(out, &schema->classes));
  SR_TRY(sr__writer_print(out, ","));
  SR_TRY(put_features(out, schema));
  SR_TRY(sr__writer_print(out, "\"offset\":["));
  for (int32_t c = 0; c < schema->classes.count; c++)
    SR_TRY(put_number(out, e->offset ? (double)e->offset[c] : 0.0, c > 0));
  SR_TRY(sr__writer_print(out, "],\"trees\":["));
  for (int32_t j = 0; j < e->view.members; j++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(sr_ensemble_nodes(ctx, e, j, &nodes));
    SR_TRY(sr__writer_print(out, "%s\n", j ? "," : ""));
    SR_TRY(put_tree(out, sr_nodes_get(nodes), sr__export_weight(e, j)));
    sr_nodes_free(&nodes);
  }
  SR_TRY(sr__writer_print(out, "\n]}\n"));
cleanup:
  sr_nodes_free(&nodes);
  return status;
}
