/* Members: prediction and storing. */
#include <math.h>

#include "tsf.h"

void sr__tsf_free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__release(&allocator, member->interval);
  sr__release(&allocator, member->reader);
  sr__release(&allocator, member->used_feature);
  sr__release(&allocator, member->node);
  sr__release(&allocator, member->share);
  sr__release(&allocator, member);
}

/* ---- predicting --------------------------------------------------------------------------- */

sr_status sr__tsf_member_readers(sr_context *ctx, const sr__encoder *encoder, sr__member *member) {
  sr_status status = SR_OK;
  SR_NEW(ctx, member->reader, SR__TSF_KINDS * (int64_t)member->intervals);
  for (int64_t k = 0; k < SR__TSF_KINDS * (int64_t)member->intervals; k++)
    member->reader[k] = sr__tsf_reader_of(encoder, &member->interval[k / SR__TSF_KINDS],
                                          (int32_t)(k % SR__TSF_KINDS));
cleanup:
  return status;
}

sr_status sr__tsf_member_used(sr_context *ctx, sr__member *member) {
  sr_status status = SR_OK;
  int32_t features = SR__TSF_KINDS * member->intervals;
  uint8_t *asked = NULL;
  SR_NEW_ZERO(ctx, asked, features);
  SR_NEW(ctx, member->used_feature, features);
  for (int64_t i = 0; i < member->nodes; i++)
    if (member->node[i].left != i) asked[member->node[i].feature] = 1;
  member->used = 0;
  asked[0] = 1; /* leaves look at it too, to no end */
  for (int32_t k = 0; k < features; k++)
    if (asked[k]) member->used_feature[member->used++] = k;
cleanup:
  sr__free(ctx, asked);
  return status;
}

enum { TOGETHER = 8, STEPS = 4 };

/* Eight rows side by side, so that what they wait for overlaps; until none moves any more. Feature
 * k of the row in lane j is feature[k * width + j]. */
static void walk(const sr__member *member, const float *feature, int64_t width,
                 const int32_t lane[], uint32_t at[]) {
  const sr__tsf_node *node = member->node;
  for (int j = 0; j < TOGETHER; j++) at[j] = 0;
  for (int32_t depth = 0; depth < member->depth; depth += STEPS) {
    uint32_t moved = 0;
    for (int k = 0; k < STEPS; k++) {
      moved = 0;
      for (int j = 0; j < TOGETHER; j++) {
        sr__tsf_node here = node[at[j]];
        uint32_t next = here.left + (feature[here.feature * width + lane[j]] > here.threshold);
        moved |= next ^ at[j];
        at[j] = next;
      }
    }
    if (!moved) break;
  }
}

static void write_leaf(const sr__encoder *encoder, const sr__member *member, int64_t leaf,
                       int32_t *vote, float *share) {
  int32_t classes = encoder->classes;
  const float *mixture = leaf < classes ? NULL : member->share + (leaf - classes) * classes;
  int32_t best = mixture ? 0 : (int32_t)leaf;
  for (int32_t c = 1; mixture && c < classes; c++)
    if (mixture[c] > mixture[best]) best = c;
  if (vote) *vote = best;
  for (int32_t c = 0; share && c < classes; c++)
    share[c] = mixture ? mixture[c] : c == best ? 1.0f : 0.0f;
}

/* The rows from number i on that stand in one tile, increasing; gives how many. */
static int32_t rows_of_tile(const sr__encoded *rows, const int32_t *index, int64_t i, int64_t count,
                            int32_t lane[]) {
  int64_t tile = (index ? index[i] : i) / rows->width;
  int32_t here = 0;
  for (; here < SR__TSF_TILE && i + here < count; here++) {
    int64_t row = index ? index[i + here] : i + here;
    lane[here] = (int32_t)(row % rows->width);
    if (row / rows->width != tile || (here && lane[here] < lane[here - 1])) break;
  }
  return here;
}

sr_status sr__tsf_predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                          const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  float *feature = NULL;
  SR_NEW(ctx, feature, rows->width * SR__TSF_KINDS * member->intervals);
  for (int64_t i = 0; i < picked.count;) {
    int32_t lane[SR__TSF_TILE + TOGETHER] = {0},
                                here = rows_of_tile(rows, picked.index, i, picked.count, lane);
    int32_t first = lane[0] / 8, eights = lane[here - 1] / 8 - first + 1;
    sr__tsf_lanes lanes = {sr__picked_row(picked, i) / rows->width, first, eights};
    sr__tsf_asked asked = {member->reader, member->used_feature, member->used};
    sr__tsf_features(encoder, rows, lanes, asked, feature);
    for (int32_t j = 0; j < here + TOGETHER; j++) lane[j] = j < here ? lane[j] - 8 * first : 0;
    for (int32_t some = 0; some < here; some += TOGETHER) {
      uint32_t at[TOGETHER];
      walk(member, feature, 8 * (int64_t)eights, lane + some, at);
      for (int32_t j = some; j < here && j < some + TOGETHER; j++)
        write_leaf(encoder, member, member->node[at[j - some]].leaf,
                   answers.vote ? answers.vote + i + j : NULL,
                   answers.share ? answers.share + (i + j) * encoder->classes : NULL);
    }
    i += here;
  }
cleanup:
  sr__free(ctx, feature);
  return status;
}

/* ---- storing ------------------------------------------------------------------------------ */

void sr__tsf_save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)member->intervals);
  for (int32_t k = 0; k < member->intervals; k++) {
    sr__put_u32(bytes, (uint32_t)member->interval[k].channel);
    sr__put_u32(bytes, (uint32_t)member->interval[k].start);
    sr__put_u32(bytes, (uint32_t)member->interval[k].end);
  }
  sr__put_u64(bytes, (uint64_t)member->mixtures);
  for (int64_t i = 0; i < member->mixtures * encoder->classes; i++)
    sr__put_f32(bytes, member->share[i]);
  sr__put_u32(bytes, (uint32_t)member->depth);
  sr__put_u64(bytes, (uint64_t)member->nodes);
  for (int64_t i = 0; i < member->nodes; i++) {
    sr__put_u32(bytes, member->node[i].left);
    sr__put_u32(bytes, member->node[i].feature);
    sr__put_f32(bytes, member->node[i].threshold);
    sr__put_u32(bytes, member->node[i].leaf);
  }
}

static sr_status load_intervals(sr__byte_reader *reader, const sr__encoder *encoder,
                                sr__member *member) {
  sr_status status = SR_OK;
  int64_t count = sr__get_count(reader, 12);
  if (count < 1 || count > SR__TSF_MAX_INTERVALS)
    sr__get_refuse(reader, "the number of intervals is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->interval, count);
  member->intervals = (int32_t)count;
  for (int64_t k = 0; k < count; k++) {
    uint32_t channel = sr__get_u32(reader), start = sr__get_u32(reader), end = sr__get_u32(reader);
    if (channel >= (uint32_t)encoder->channels || start >= end ||
        end > (uint32_t)encoder->length[channel])
      sr__get_refuse(reader, "an interval is wrong");
    SR_TRY(reader->status);
    member->interval[k] = (sr__tsf_interval){(int32_t)channel, (int32_t)start, (int32_t)end};
  }
cleanup:
  return status;
}

/* Whatever the bytes are, a walk stays within the nodes and ends at a class or shares that are
 * there. */
static bool node_is_sound(const sr__encoder *encoder, const sr__member *member, int64_t i) {
  const sr__tsf_node *node = &member->node[i];
  if (node->leaf >= encoder->classes + member->mixtures ||
      node->feature >= (uint32_t)(SR__TSF_KINDS * member->intervals))
    return false;
  if (node->left == i) return node->threshold == INFINITY && node->feature == 0;
  return node->left > i && (int64_t)node->left + 1 < member->nodes;
}

static sr_status load_nodes(sr__byte_reader *reader, const sr__encoder *encoder,
                            sr__member *member) {
  sr_status status = SR_OK;
  member->mixtures = sr__get_count(reader, 4 * (int64_t)encoder->classes);
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->share, member->mixtures * encoder->classes);
  for (int64_t i = 0; i < member->mixtures * encoder->classes; i++)
    member->share[i] = sr__get_f32(reader);
  uint32_t depth = sr__get_u32(reader);
  member->nodes = sr__get_count(reader, 16);
  if (member->nodes < 1 || member->nodes > UINT32_MAX)
    sr__get_refuse(reader, "the number of nodes is wrong");
  if (depth >= member->nodes || depth > INT32_MAX)
    sr__get_refuse(reader, "the depth of the tree is wrong");
  member->depth = (int32_t)depth;
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->node, member->nodes);
  for (int64_t i = 0; i < member->nodes; i++) {
    member->node[i].left = sr__get_u32(reader);
    member->node[i].feature = sr__get_u32(reader);
    member->node[i].threshold = sr__get_f32(reader);
    member->node[i].leaf = sr__get_u32(reader);
    if (!node_is_sound(encoder, member, i)) sr__get_refuse(reader, "a node is wrong");
    SR_TRY(reader->status);
  }
cleanup:
  return status;
}

sr_status sr__tsf_load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                              sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_TRY(load_intervals(reader, encoder, made));
  SR_TRY(sr__tsf_member_readers(reader->ctx, encoder, made));
  SR_TRY(load_nodes(reader, encoder, made));
  SR_TRY(sr__tsf_member_used(reader->ctx, made));
  *member = made;
  made = NULL;
cleanup:
  sr__tsf_free_member(made);
  return status;
}
