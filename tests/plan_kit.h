/* Plans of known groups, parts and scales, made through a structure of these. */
#ifndef SR_TESTS_PLAN_KIT_H
#define SR_TESTS_PLAN_KIT_H

#include "harness.h"

typedef struct plan_input {
  int64_t rows;
  const int32_t *group;
  int32_t groups;
  const sr_parts *parts;
  double tmix, block;
} plan_input;

static inline sr_status plan_new(sr_context *ctx, const plan_input *input, const char *text,
                                 int32_t members, uint64_t seed, sr_plan **plan) {
  sr_structure *structure = NULL;
  const sr_parts_view *parts = input->parts ? sr_parts_get(input->parts) : NULL;
  sr_structure_input known = {.rows = input->rows,
                              .part = parts ? parts->part : NULL,
                              .parts = parts ? parts->parts : 0,
                              .group = input->group,
                              .groups = input->groups,
                              .tmix = input->tmix > 0.0 ? input->tmix : 1.0,
                              .block_rows = input->block};
  *plan = NULL;
  sr_status status = sr_structure_new(ctx, &known, &structure);
  if (status == SR_OK) status = sr_plan_new(ctx, structure, text, members, seed, plan);
  sr_structure_free(&structure);
  return status;
}

#endif
