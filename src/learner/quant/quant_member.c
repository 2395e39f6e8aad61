/* Members: prediction and storing. */
#include <math.h>

#include "quant.h"

void sr__quant_free_member(sr__member *old) {
  if (!old) return;
  sr_allocator allocator = old->allocator;
  sr__release(&allocator, old->root);
  sr__release(&allocator, old->depth);
  sr__release(&allocator, old->node);
  sr__release(&allocator, old->share);
  sr__release(&allocator, old);
}

/* ---- predicting --------------------------------------------------------------------------- */

enum { TOGETHER = SR__QUANT_LANES /* rows that walk side by side: their cache misses overlap */ };

static void walk_values(const sr__member *member, int32_t tree, const float *const value[],
                        uint32_t at[]) {
  for (int j = 0; j < TOGETHER; j++) at[j] = member->root[tree];
  for (int32_t d = member->depth[tree]; d > 0; d--) {
    for (int j = 0; j < TOGETHER; j++) {
      const sr__quant_node *node = &member->node[at[j]];
      at[j] = node->left + (value[j][(int64_t)node->feature * 8] > node->threshold);
    }
  }
}

static void walk_bins(const sr__encoder *encoder, const sr__member *member, int32_t tree,
                      const sr__encoded *rows, const int64_t row[], uint32_t at[]) {
  for (int j = 0; j < TOGETHER; j++) at[j] = member->root[tree];
  for (int32_t d = member->depth[tree]; d > 0; d--) {
    for (int j = 0; j < TOGETHER; j++) {
      const sr__quant_node *node = &member->node[at[j]];
      int64_t place = encoder->place_of[node->feature];
      int64_t tile = place / SR__QUANT_TILE, lane = place % SR__QUANT_TILE;
      uint8_t bin = rows->bin[(tile * rows->count + row[j]) * SR__QUANT_TILE + lane];
      at[j] = node->left + (bin > (uint8_t)node->bin);
    }
  }
}

/* Shares of the classes for up to eight rows, TOGETHER x classes. */
static void share_of_rows(const sr__encoder *encoder, const sr__member *member,
                          const sr__encoded *rows, const int64_t row[], float *sum) {
  const float *value[TOGETHER] = {0};
  uint32_t at[TOGETHER];
  int32_t classes = encoder->classes;
  for (int j = 0; rows->value && j < TOGETHER; j++)
    value[j] = rows->value + row[j] / 8 * 8 * rows->features + row[j] % 8;
  memset(sum, 0, sizeof *sum * TOGETHER * (size_t)classes);
  for (int32_t t = 0; t < member->trees; t++) {
    if (rows->value)
      walk_values(member, t, value, at);
    else
      walk_bins(encoder, member, t, rows, row, at);
    for (int j = 0; j < TOGETHER; j++) {
      int64_t leaf = member->node[at[j]].bin >> 8;
      if (leaf < classes)
        sum[j * classes + leaf] += 1.0f;
      else
        for (int32_t c = 0; c < classes; c++)
          sum[j * classes + c] += member->share[(leaf - classes) * classes + c];
    }
  }
}

sr_status sr__quant_predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                            const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  float *sum = NULL;
  int32_t classes = encoder->classes;
  SR_NEW(ctx, sum, (int64_t)TOGETHER * classes);
  for (int64_t i = 0; i < picked.count; i += TOGETHER) {
    int64_t row[TOGETHER];
    for (int64_t j = 0; j < TOGETHER; j++) {
      int64_t k = i + j < picked.count ? i + j : picked.count - 1;
      row[j] = sr__picked_row(picked, k);
    }
    share_of_rows(encoder, member, rows, row, sum);
    for (int64_t j = 0; j < TOGETHER && i + j < picked.count; j++) {
      int32_t best = 0;
      for (int32_t c = 1; c < classes; c++)
        if (sum[j * classes + c] > sum[j * classes + best]) best = c;
      if (answers.vote) answers.vote[i + j] = best;
      for (int32_t c = 0; answers.share && c < classes; c++)
        answers.share[(i + j) * classes + c] = sum[j * classes + c] / (float)member->trees;
    }
  }
cleanup:
  sr__free(ctx, sum);
  return status;
}

/* ---- storing the encoder ------------------------------------------------------------------ */

void sr__quant_save_encoder(const sr__encoder *encoder, bool with_edges, sr__bytes *bytes) {
  sr__even_shape_save((sr__even_shape){encoder->classes, encoder->channels, encoder->length},
                      bytes);
  with_edges = with_edges && encoder->edge;
  sr__put_u8(bytes, with_edges);
  for (int64_t f = 0; with_edges && f < encoder->features; f++) {
    const float *edge = encoder->edge + f * SR__QUANT_EDGES;
    uint8_t used = 1; /* the last edge is +inf */
    while (edge[used] < INFINITY) used++;
    sr__put_u8(bytes, used);
    for (int b = 1; b < used; b++) sr__put_f32(bytes, edge[b]);
  }
}

static sr_status load_edges(sr__byte_reader *reader, sr__encoder *encoder) {
  sr_status status = SR_OK;
  int64_t cells = (int64_t)encoder->features * SR__QUANT_EDGES;
  if (encoder->features > reader->size - reader->at)
    sr__get_refuse(reader, "edges of features are missing");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, encoder->edge, cells);
  for (int64_t i = 0; i < cells; i++) encoder->edge[i] = INFINITY;
  for (int64_t f = 0; f < encoder->features; f++) {
    float *edge = encoder->edge + f * SR__QUANT_EDGES;
    uint8_t used = sr__get_u8(reader);
    edge[0] = -INFINITY;
    for (int b = 1; b < used; b++) {
      edge[b] = sr__get_f32(reader);
      if (!(edge[b] > edge[b - 1] && edge[b] < INFINITY))
        sr__get_refuse(reader, "edges do not increase");
      SR_TRY(reader->status);
    }
  }
cleanup:
  return status;
}

sr_status sr__quant_load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__even_shape shape = {0};
  sr__encoder *made = NULL;
  *encoder = NULL;
  SR_TRY(sr__even_shape_load(reader, &shape));
  uint8_t with_edges = sr__get_u8(reader);
  if (with_edges > 1) sr__get_refuse(reader, "the mark of edges is wrong");
  SR_TRY(reader->status);
  SR_TRY(sr__quant_encoder_new(reader->ctx, &shape, &made));
  if (with_edges) SR_TRY(load_edges(reader, made));
  SR_TRY(reader->status);
  *encoder = made;
  made = NULL;
cleanup:
  sr__free(reader->ctx, shape.length);
  sr__quant_free_encoder(made);
  return status;
}

/* ---- storing members ---------------------------------------------------------------------- */

void sr__quant_save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)member->trees);
  for (int32_t t = 0; t < member->trees; t++) {
    sr__put_u32(bytes, member->root[t]);
    sr__put_u32(bytes, (uint32_t)member->depth[t]);
  }
  sr__put_u64(bytes, (uint64_t)member->mixtures);
  for (int64_t i = 0; i < member->mixtures * encoder->classes; i++)
    sr__put_f32(bytes, member->share[i]);
  sr__put_u64(bytes, (uint64_t)member->nodes);
  for (int64_t i = 0; i < member->nodes; i++) {
    sr__put_u32(bytes, member->node[i].left);
    sr__put_u32(bytes, member->node[i].feature);
    sr__put_f32(bytes, member->node[i].threshold);
    sr__put_u32(bytes, member->node[i].bin);
  }
}

/* Whatever the bytes are, walking stays within the nodes and ends at a leaf that is there: children
 * stand behind their node, and a walk has as many steps as the nodes allow. */
static bool node_is_sound(const sr__encoder *encoder, const sr__member *member, int64_t i) {
  const sr__quant_node *node = &member->node[i];
  if (node->feature >= (uint32_t)encoder->features) return false;
  if (node->left == i)
    return (node->bin & 255) == SR__QUANT_LAST_BIN && node->threshold == INFINITY &&
           (node->bin >> 8) < encoder->classes + member->mixtures;
  return node->left > i && (int64_t)node->left + 1 < member->nodes &&
         node->bin < SR__QUANT_LAST_BIN && !isnan(node->threshold);
}

static sr_status load_roots(sr__byte_reader *reader, sr__member *member) {
  sr_status status = SR_OK;
  int64_t trees = sr__get_count(reader, 8);
  if (trees < 1 || trees > INT32_MAX) sr__get_refuse(reader, "the number of trees is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->root, trees);
  SR_NEW(reader->ctx, member->depth, trees);
  member->trees = (int32_t)trees;
  for (int64_t t = 0; t < trees; t++) {
    member->root[t] = sr__get_u32(reader);
    uint32_t depth = sr__get_u32(reader);
    if (depth > INT32_MAX) sr__get_refuse(reader, "the depth of a tree is wrong");
    member->depth[t] = (int32_t)depth;
  }
cleanup:
  return status;
}

static sr_status load_nodes(sr__byte_reader *reader, const sr__encoder *encoder,
                            sr__member *member) {
  sr_status status = SR_OK;
  member->mixtures = sr__get_count(reader, 4 * (int64_t)encoder->classes);
  if (encoder->classes + member->mixtures > SR__QUANT_MAX_LEAF)
    sr__get_refuse(reader, "the number of mixed leaves is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->share, member->mixtures * encoder->classes);
  for (int64_t i = 0; i < member->mixtures * encoder->classes; i++)
    member->share[i] = sr__get_f32(reader);
  member->nodes = sr__get_count(reader, 16);
  if (member->nodes > UINT32_MAX) sr__get_refuse(reader, "the number of nodes is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->node, member->nodes);
  for (int64_t i = 0; i < member->nodes; i++) {
    member->node[i].left = sr__get_u32(reader);
    member->node[i].feature = sr__get_u32(reader);
    member->node[i].threshold = sr__get_f32(reader);
    member->node[i].bin = sr__get_u32(reader);
    if (!node_is_sound(encoder, member, i)) sr__get_refuse(reader, "a node is wrong");
    SR_TRY(reader->status);
  }
  for (int32_t t = 0; t < member->trees; t++)
    if (member->root[t] >= member->nodes || member->depth[t] >= member->nodes)
      sr__get_refuse(reader, "the root or the depth of a tree is wrong");
  SR_TRY(reader->status);
cleanup:
  return status;
}

sr_status sr__quant_load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                                sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_TRY(load_roots(reader, made));
  SR_TRY(load_nodes(reader, encoder, made));
  *member = made;
  made = NULL;
cleanup:
  sr__quant_free_member(made);
  return status;
}
