/* Members: prediction and storing. */
#include <math.h>
#include <string.h>

#include "tsf_kernel.h"

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

static int32_t best_class(const float *share, int32_t classes) {
  int32_t best = 0;
  for (int32_t c = 1; c < classes; c++)
    if (share[c] > share[best]) best = c;
  return best;
}

/* Shares are 0 before. */
static void write_leaf(const sr__encoder *encoder, const sr__member *member, int64_t leaf,
                       int64_t i, sr__answers answers) {
  int32_t classes = encoder->classes;
  float *share = answers.share ? answers.share + i * classes : NULL;
  const float *mixture = leaf < classes ? NULL : member->share + (leaf - classes) * classes;
  if (answers.vote) answers.vote[i] = mixture ? best_class(mixture, classes) : (int32_t)leaf;
  if (share && mixture) memcpy(share, mixture, sizeof *share * (size_t)classes);
  if (share && !mixture) share[leaf] = 1.0f;
}

/* The rows from number i on that stand in one tile, increasing; gives how many. */
static int32_t rows_of_tile(const sr__encoded *rows, sr__picked picked, int64_t i, int32_t lane[]) {
  int64_t tile = sr__picked_row(picked, i) / rows->width * rows->width;
  int32_t here = 0, least = 0;
  for (; here < SR__TSF_TILE && i + here < picked.count; here++) {
    int64_t at = sr__picked_row(picked, i + here) - tile;
    if (at < least || at >= rows->width) break;
    lane[here] = least = (int32_t)at;
  }
  return here;
}

sr_status sr__tsf_predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                          const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  float *feature = NULL;
  size_t shares = (size_t)picked.count * (size_t)encoder->classes;
  if (answers.share) memset(answers.share, 0, shares * sizeof *answers.share);
  SR_NEW(ctx, feature, rows->width * SR__TSF_KINDS * member->intervals);
  for (int64_t i = 0; i < picked.count;) {
    int32_t lane[SR__TSF_TILE], here = rows_of_tile(rows, picked, i, lane);
    int32_t first = lane[0] / 8, eights = lane[here - 1] / 8 - first + 1;
    sr__tsf_lanes lanes = {sr__picked_row(picked, i) / rows->width, first, eights};
    sr__tsf_asked asked = {member->reader, member->used_feature, member->used};
    uint32_t leaf[SR__TSF_TILE];
    uint64_t bits = 0;
    sr__tsf_features(encoder, rows, lanes, asked, feature);
    for (int32_t j = 0; j < here; j++) bits |= (uint64_t)1 << (lane[j] - 8 * first);
    sr__tsf_kernel_now()->leaves(member->node, feature, eights, bits, leaf);
    for (int32_t j = 0; j < here; j++)
      write_leaf(encoder, member, leaf[lane[j] - 8 * first], i + j, answers);
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
