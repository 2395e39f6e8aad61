/* Plans with their members and weights. */
#include "ensemble.h"

sr_status sr__mix_new(sr_context *ctx, int32_t count, sr__mix *mix) {
  sr_status status = SR_OK;
  *mix = (sr__mix){0};
  SR_NEW_ZERO(ctx, mix->entry, count);
  mix->count = count;
cleanup:
  return status;
}

void sr__choice_free(const sr_allocator *allocator, sr_choice *choice) {
  for (int32_t k = 0; k < choice->candidate_count; k++)
    sr__release(allocator, (void *)(uintptr_t)choice->candidates[k].plan);
  sr__release(allocator, (void *)(uintptr_t)choice->candidates);
  sr__release(allocator, (void *)(uintptr_t)choice->reason);
  *choice = (sr_choice){0};
}

void sr__mix_free(const sr_allocator *allocator, sr__mix *mix) {
  for (int32_t k = 0; k < mix->count; k++) sr__configuration_free(allocator, &mix->entry[k].plan);
  sr__release(allocator, mix->entry);
  sr__release(allocator, mix->offset);
  sr__release(allocator, mix->reason);
  sr__choice_free(allocator, &mix->choice);
  *mix = (sr__mix){0};
}

sr_status sr__plan_record_new(sr_context *ctx, const sr_plan *plan, int32_t members, double weight,
                              sr__plan_record *record) {
  sr_status status = SR_OK;
  sr_plan_view view = sr_plan_get(plan);
  *record = (sr__plan_record){.name = view.name, .members = members, .weight = weight};
  record->text = sr__strdup(ctx, view.text);
  if (!record->text) SR_TRY(SR_ERROR_MEMORY);
  for (int32_t k = 0; k < view.parameter_count; k++) {
    record->parameter_name[k] = sr__strdup(ctx, view.parameters[k].name);
    if (!record->parameter_name[k]) SR_TRY(SR_ERROR_MEMORY);
    record->parameters[k] =
        (sr_plan_parameter){record->parameter_name[k], view.parameters[k].value};
    record->parameter_count++;
  }
cleanup:
  return status;
}

void sr__plan_records_free(const sr_allocator *allocator, int32_t count, sr__plan_record *record) {
  for (int32_t r = 0; record && r < count; r++) {
    sr__release(allocator, record[r].text);
    for (int k = 0; k < SR_PLAN_PARAMETERS; k++)
      sr__release(allocator, record[r].parameter_name[k]);
  }
  sr__release(allocator, record);
}
