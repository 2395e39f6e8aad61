#include <math.h>

#include "linear.h"

void sr__linear_save(const sr__linear_model *model, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)model->targets);
  sr__put_f64(bytes, model->penalty);
  for (int32_t t = 0; t < model->targets; t++) sr__put_f64(bytes, model->intercept[t]);
  sr__put_u64(bytes, (uint64_t)model->features);
  for (int64_t i = 0; i < model->features * model->targets; i++)
    sr__put_f32(bytes, model->coefficient[i]);
}

sr_status sr__linear_load(sr__byte_reader *reader, sr__linear_model **model) {
  sr_status status = SR_OK;
  sr__linear_model *made = NULL;
  *model = NULL;
  uint32_t targets = sr__get_u32(reader);
  double penalty = sr__get_f64(reader);
  if (targets < 1 || targets > (uint64_t)(reader->size - reader->at) / sizeof(double))
    sr__get_refuse(reader, "the number of targets is wrong");
  if (!isfinite(penalty)) sr__get_refuse(reader, "a number is not finite");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  made->targets = (int32_t)targets;
  made->penalty = penalty;
  SR_NEW(reader->ctx, made->intercept, targets);
  for (uint32_t t = 0; t < targets; t++) {
    made->intercept[t] = sr__get_f64(reader);
    if (!isfinite(made->intercept[t])) sr__get_refuse(reader, "a number is not finite");
  }
  made->features = sr__get_count(reader, (int64_t)(targets * sizeof(float)));
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, made->coefficient, made->features * made->targets);
  for (int64_t i = 0; i < made->features * made->targets; i++) {
    made->coefficient[i] = sr__get_f32(reader);
    if (!isfinite(made->coefficient[i])) sr__get_refuse(reader, "a number is not finite");
  }
  SR_TRY(reader->status);
  *model = made;
  made = NULL;
cleanup:
  sr__linear_free(made);
  return status;
}
