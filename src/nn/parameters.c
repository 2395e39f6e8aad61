/* The block of parameters, Adam on it, and scratch floats. */
#include <assert.h>
#include <math.h>

#include "nn/adam_kernel.h"

enum { LINE_FLOATS = 16 }; /* 64 bytes */

static float *align_to_line(void *block) { return (float *)(((uintptr_t)block + 63) / 64 * 64); }

int sr__parameters_add(sr__parameters *parameters, const char *name, int64_t rows, int64_t columns,
                       bool decay) {
  assert(parameters->tensors < SR__TENSORS_MAX && !parameters->block);
  parameters->tensor[parameters->tensors] =
      (sr__tensor){name, parameters->count, rows, columns, decay};
  parameters->count += (rows * columns + 7) / 8 * 8;
  return parameters->tensors++;
}

sr_status sr__parameters_allocate(sr_context *ctx, sr__parameters *parameters, bool training) {
  const int64_t stride = (parameters->count + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
  parameters->allocator = sr__allocator(ctx);
  parameters->block = sr__alloc_zero(ctx, (training ? 4 : 1) * stride + LINE_FLOATS, sizeof(float));
  if (!parameters->block) return sr_context_error(ctx).status;
  parameters->value = align_to_line(parameters->block);
  if (!training) return SR_OK;
  parameters->gradient = parameters->value + stride;
  parameters->first_moment = parameters->gradient + stride;
  parameters->second_moment = parameters->first_moment + stride;
  return SR_OK;
}

void sr__parameters_free(sr__parameters *parameters) {
  if (parameters->block) sr__release(&parameters->allocator, parameters->block);
  *parameters = (sr__parameters){0};
}

float *sr__parameters_value(const sr__parameters *parameters, int tensor) {
  return parameters->value + parameters->tensor[tensor].at;
}

float *sr__parameters_gradient(const sr__parameters *parameters, int tensor) {
  return parameters->gradient + parameters->tensor[tensor].at;
}

void sr__parameters_clear_gradient(sr__parameters *parameters) {
  memset(parameters->gradient, 0, (size_t)parameters->count * sizeof(float));
}

double sr__parameters_gradient_norm(const sr__parameters *parameters) {
  return sqrt(sr__adam_kernel_now()->sum_of_squares(parameters->count, parameters->gradient));
}

sr__adam_update sr__adam_begin(sr__adam *adam) {
  adam->power1 = (adam->power1 > 0 ? adam->power1 : 1.0) * (double)adam->beta1;
  adam->power2 = (adam->power2 > 0 ? adam->power2 : 1.0) * (double)adam->beta2;
  return (sr__adam_update){.gradient_factor = 1.0f,
                           .beta1 = adam->beta1,
                           .beta2 = adam->beta2,
                           .epsilon = adam->epsilon,
                           .shrink = 1.0f,
                           .step = (float)((double)adam->rate / (1.0 - adam->power1)),
                           .second_factor = (float)(1.0 / (1.0 - adam->power2))};
}

sr__adam_tensor sr__adam_tensor_of(const sr__adam *adam, const sr__adam_update *how,
                                   const sr__parameters *parameters, int tensor) {
  const sr__tensor *t = &parameters->tensor[tensor];
  sr__adam_tensor made = {.how = *how,
                          .first = parameters->first_moment + t->at,
                          .second = parameters->second_moment + t->at,
                          .value = parameters->value + t->at};
  if (t->decay) made.how.shrink = 1.0f - adam->rate * adam->decay;
  return made;
}

void sr__adam_step_tensor(const sr__adam_tensor *update, const sr__parameters *parameters,
                          int tensor) {
  const sr__tensor *t = &parameters->tensor[tensor];
  sr__adam_kernel_now()->update(t->rows * t->columns, update, parameters->gradient + t->at);
}

void sr__adam_step(sr__adam *adam, sr__parameters *parameters) {
  sr__adam_update how = sr__adam_begin(adam);
  if (adam->clip > 0) {
    double norm = sr__parameters_gradient_norm(parameters);
    if (norm > (double)adam->clip) how.gradient_factor = (float)((double)adam->clip / norm);
  }
  for (int i = 0; i < parameters->tensors; i++) {
    sr__adam_tensor update = sr__adam_tensor_of(adam, &how, parameters, i);
    sr__adam_step_tensor(&update, parameters, i);
  }
}

/* cos(pi x) for 0 <= x <= 1 without libm, whose last bit differs between systems: the Taylor series
 * of the sine around x = 1/2, where |angle| <= pi / 2; error below 1e-13. */
static double cosine_of_half_turns(double x) {
  const double angle = 3.14159265358979323846 * (0.5 - x), square = angle * angle;
  double term = angle, sum = angle;
  for (int k = 1; k <= 9; k++) {
    term *= -square / (double)(2 * k * (2 * k + 1));
    sum += term;
  }
  return sum;
}

double sr__nn_warm_up_cosine(int64_t step, int64_t steps, double warm_up) {
  const double rising = warm_up * (double)steps, falling = (double)steps - rising;
  const double up = rising > 0 ? ((double)step + 1.0) / rising : 1.0;
  const double past = (double)step - rising;
  const double down =
      past > 0 && falling > 0 ? 0.5 * (1.0 + cosine_of_half_turns(past / falling)) : 1.0;
  return (up < 1.0 ? up : 1.0) * down;
}

/* ---- scratch floats ----------------------------------------------------------------------- */

float *sr__floats_take(sr__floats *floats, int64_t count) {
  float *taken = floats->base ? floats->base + floats->count : NULL;
  floats->count += (count + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
  return taken;
}

sr_status sr__floats_allocate(sr_context *ctx, sr__floats *floats) {
  floats->allocator = sr__allocator(ctx);
  floats->block = sr__alloc_zero(ctx, floats->count + LINE_FLOATS, sizeof(float));
  if (!floats->block) return sr_context_error(ctx).status;
  floats->base = align_to_line(floats->block);
  floats->count = 0;
  return SR_OK;
}

void sr__floats_free(sr__floats *floats) {
  if (floats->block) sr__release(&floats->allocator, floats->block);
  *floats = (sr__floats){0};
}
