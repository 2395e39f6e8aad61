/* A mix of plans on folds: its members' answers, what they weigh, what the vote loses. */
#include "trial.h"

#include "interval.h"

sr_status sr__trial_make_weights(sr_context *ctx, sr__trial *trial) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  SR_NEW_ZERO(ctx, trial->fold, held->folds);
  for (int32_t f = 0; f < held->folds; f++) {
    SR_NEW_ZERO(ctx, trial->fold[f].weight, (int64_t)held->entries * held->leaves);
    SR_NEW_ZERO(ctx, trial->fold[f].delivered, held->entries);
  }
cleanup:
  return status;
}

void sr__trial_forget_members(sr_context *ctx, sr__trial *trial, bool all) {
  int32_t leaves = trial->held.leaves;
  for (int32_t e = 0; e < trial->held.entries; e++) {
    bool weighs = false;
    for (int32_t f = 0; f < trial->held.folds; f++)
      for (int32_t l = 0; l < leaves; l++) weighs |= trial->fold[f].weight[e * leaves + l] > 0.0;
    if (all || !weighs) sr__held_forget_members(ctx, &trial->held, e);
  }
}

void sr__trial_free(sr_context *ctx, sr__trial *trial) {
  for (int32_t f = 0; trial->fold && f < trial->held.folds; f++) {
    sr__free(ctx, trial->fold[f].weight);
    sr__free(ctx, trial->fold[f].delivered);
    sr__free(ctx, trial->fold[f].offset);
  }
  sr__free(ctx, trial->fold);
  sr__held_free(ctx, &trial->held);
  *trial = (sr__trial){0};
}

/* The delivered weights and offset judge every fold. */
static sr_status set_weights(sr_context *ctx, const sr__mix *mix, sr__trial *trial) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  SR_TRY(sr__trial_make_weights(ctx, trial));
  for (int32_t f = 0; f < held->folds; f++) {
    sr__vote_weights *to = &trial->fold[f];
    for (int32_t e = 0; e < mix->count; e++) {
      const sr__mix_entry *entry = &mix->entry[e];
      double large = held->leaves == 2 ? entry->large_leaf : 0.0;
      to->weight[e * held->leaves] = entry->weight * (1.0 - large);
      if (held->leaves == 2) to->weight[e * held->leaves + 1] = entry->weight * large;
      to->delivered[e] = entry->members;
    }
    if (!mix->offset) continue;
    SR_NEW(ctx, to->offset, held->classes);
    for (int32_t c = 0; c < held->classes; c++) to->offset[c] = (double)mix->offset[c];
  }
cleanup:
  return status;
}

sr_status sr__trial_of_mix(sr_context *ctx, const sr__evaluate_input *input, sr__trial_folds on,
                           sr__trial *trial) {
  sr_status status = SR_OK;
  const sr__mix *mix = input->mix;
  const sr__configuration **plan = NULL;
  int32_t *members = NULL, expected = 0, all = 0;
  bool leaves = false;
  *trial = (sr__trial){.widen = mix->count > 1 || mix->offset ? SR__WIDEN_MIX : SR__WIDEN};
  trial->held = (sr__held){.rows = on.rows, .folds = on.folds}; /* theirs to free from here on */
  SR_NEW(ctx, plan, mix->count);
  SR_NEW(ctx, members, mix->count);
  for (int32_t e = 0; e < mix->count; e++) {
    plan[e] = &mix->entry[e].plan;
    members[e] = sr__fold_members(mix->entry[e].members);
    expected += members[e];
    all += mix->entry[e].members;
    leaves |= mix->entry[e].large_leaf > 0.0;
  }
  sr__held_options options = {.structure = input->structure,
                              .prepared = input->prepared,
                              .rows = on.rows,
                              .folds = on.folds,
                              .rule = input->vote,
                              .plan_members = all,
                              .expected = expected,
                              .entries = mix->count,
                              .plan = plan,
                              .leaves = leaves,
                              .keep_members = on.keep_members,
                              .seed = on.seed,
                              .replicate = on.replicate};
  SR_TRY(sr__held_new(ctx, &options, &trial->held));
  SR_TRY(sr__held_grow(ctx, &trial->held, members, on.stage));
  SR_TRY(set_weights(ctx, mix, trial));
cleanup:
  sr__free(ctx, plan);
  sr__free(ctx, members);
  if (status != SR_OK) sr__trial_free(ctx, trial);
  return status;
}

/* ---- losses ------------------------------------------------------------------------------- */

sr_status sr__trial_losses(sr_context *ctx, const sr__trial *trial, sr__judged *judged) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  sr__carried carried = {0};
  *judged = (sr__judged){.count = held->count, .stride = held->stride};
  SR_NEW(ctx, judged->row, held->count);
  SR_NEW(ctx, judged->loss, held->count);
  SR_NEW(ctx, judged->vote, held->count);
  SR_NEW(ctx, judged->share, held->count * held->classes);
  memcpy(judged->row, held->row, (size_t)held->count * sizeof *judged->row);
  carried = (sr__carried){.loss = judged->loss, .vote = judged->vote, .share = judged->share};
  SR_TRY(sr__carry_losses(ctx, held, trial->fold, &carried));
  judged->way = carried.way;
cleanup:
  if (status != SR_OK) sr__judged_free(ctx, judged);
  return status;
}

void sr__judged_free(sr_context *ctx, sr__judged *judged) {
  sr__free(ctx, judged->row);
  sr__free(ctx, judged->loss);
  sr__free(ctx, judged->vote);
  sr__free(ctx, judged->share);
  *judged = (sr__judged){0};
}
