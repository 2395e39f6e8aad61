/* Members: prediction and storing. */
#include "tsf_features.h"

void sr__tsf_member_free(sr__tsf_member **member) {
  if (!*member) return;
  sr_allocator allocator = (*member)->allocator;
  sr__release(&allocator, (*member)->interval);
  sr__release(&allocator, (*member)->node);
  sr__release(&allocator, (*member)->share);
  sr__release(&allocator, *member);
  *member = NULL;
}

/* ---- predicting --------------------------------------------------------------------------- */

float sr__tsf_feature(const sr__tsf_encoder *encoder, const sr__tsf_rows *rows, int64_t row,
                      const sr__tsf_interval *interval, int kind) {
  const sr__tsf_sum *sum = rows->sum + row * sr__tsf_sums_of_row(encoder) +
                           encoder->first[interval->channel] + interval->channel;
  return tsf_feature(sum, rows->center[row * encoder->channels + interval->channel],
                     interval->start, interval->end, kind);
}

enum { TOGETHER = 8 /* rows that walk side by side: their cache misses overlap */ };

static void walk(const sr__tsf_encoder *encoder, const sr__tsf_member *member,
                 const sr__tsf_rows *rows, const int64_t row[], int32_t count,
                 const sr__tsf_node *at[]) {
  int32_t walking = count;
  int32_t who[TOGETHER];
  for (int32_t j = 0; j < count; j++) {
    at[j] = member->node;
    who[j] = j;
  }
  while (walking > 0) {
    int32_t still = 0;
    for (int32_t k = 0; k < walking; k++) {
      int32_t j = who[k];
      const sr__tsf_node *node = at[j];
      if (node->left == 0) continue;
      float value =
          sr__tsf_feature(encoder, rows, row[j], &member->interval[node->feature / SR__TSF_KINDS],
                          (int)(node->feature % SR__TSF_KINDS));
      at[j] = member->node + node->left + (value > node->threshold);
      who[still++] = j;
    }
    walking = still;
  }
}

void sr__tsf_predict(const sr__tsf_encoder *encoder, const sr__tsf_member *member,
                     const sr__tsf_rows *rows, const int32_t *index, int64_t count, int32_t *vote,
                     float *share) {
  int32_t classes = encoder->classes;
  for (int64_t i = 0; i < count; i += TOGETHER) {
    int64_t row[TOGETHER];
    const sr__tsf_node *leaf[TOGETHER];
    int32_t here = count - i < TOGETHER ? (int32_t)(count - i) : TOGETHER;
    for (int32_t j = 0; j < here; j++) row[j] = index ? index[i + j] : i + j;
    walk(encoder, member, rows, row, here, leaf);
    for (int32_t j = 0; j < here; j++) {
      int64_t what = leaf[j]->feature;
      const float *mixture = what < classes ? NULL : member->share + (what - classes) * classes;
      int32_t best = mixture ? 0 : (int32_t)what;
      for (int32_t c = 1; mixture && c < classes; c++)
        if (mixture[c] > mixture[best]) best = c;
      if (vote) vote[i + j] = best;
      for (int32_t c = 0; share && c < classes; c++)
        share[(i + j) * classes + c] = mixture ? mixture[c] : c == what ? 1.0f : 0.0f;
    }
  }
}

/* ---- storing ------------------------------------------------------------------------------ */

void sr__tsf_member_save(const sr__tsf_encoder *encoder, const sr__tsf_member *member,
                         sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)member->intervals);
  for (int32_t k = 0; k < member->intervals; k++) {
    sr__put_u32(bytes, (uint32_t)member->interval[k].channel);
    sr__put_u32(bytes, (uint32_t)member->interval[k].start);
    sr__put_u32(bytes, (uint32_t)member->interval[k].end);
  }
  sr__put_u64(bytes, (uint64_t)member->mixtures);
  for (int64_t i = 0; i < member->mixtures * encoder->classes; i++)
    sr__put_f32(bytes, member->share[i]);
  sr__put_u64(bytes, (uint64_t)member->nodes);
  for (int64_t i = 0; i < member->nodes; i++) {
    sr__put_u32(bytes, member->node[i].left);
    sr__put_u32(bytes, member->node[i].feature);
    sr__put_f32(bytes, member->node[i].threshold);
  }
}

static sr_status load_intervals(sr__byte_reader *reader, const sr__tsf_encoder *encoder,
                                sr__tsf_member *member) {
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

/* Children stand behind their node, so that every walk ends. */
static bool node_is_sound(const sr__tsf_encoder *encoder, const sr__tsf_member *member, int64_t i) {
  const sr__tsf_node *node = &member->node[i];
  if (node->left == 0) return node->feature < encoder->classes + member->mixtures;
  return node->left > i && (int64_t)node->left + 1 < member->nodes &&
         node->feature < (uint32_t)(SR__TSF_KINDS * member->intervals);
}

static sr_status load_nodes(sr__byte_reader *reader, const sr__tsf_encoder *encoder,
                            sr__tsf_member *member) {
  sr_status status = SR_OK;
  member->mixtures = sr__get_count(reader, 4 * (int64_t)encoder->classes);
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->share, member->mixtures * encoder->classes);
  for (int64_t i = 0; i < member->mixtures * encoder->classes; i++)
    member->share[i] = sr__get_f32(reader);
  member->nodes = sr__get_count(reader, 12);
  if (member->nodes < 1 || member->nodes > UINT32_MAX)
    sr__get_refuse(reader, "the number of nodes is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, member->node, member->nodes);
  for (int64_t i = 0; i < member->nodes; i++) {
    member->node[i].left = sr__get_u32(reader);
    member->node[i].feature = sr__get_u32(reader);
    member->node[i].threshold = sr__get_f32(reader);
    if (!node_is_sound(encoder, member, i)) sr__get_refuse(reader, "a node is wrong");
    SR_TRY(reader->status);
  }
cleanup:
  return status;
}

sr_status sr__tsf_member_load(sr__byte_reader *reader, const sr__tsf_encoder *encoder,
                              sr__tsf_member **member) {
  sr_status status = SR_OK;
  sr__tsf_member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_TRY(load_intervals(reader, encoder, made));
  SR_TRY(load_nodes(reader, encoder, made));
  *member = made;
  made = NULL;
cleanup:
  sr__tsf_member_free(&made);
  return status;
}
