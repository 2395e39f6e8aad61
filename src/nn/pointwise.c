#include "core/random.h"
#include "nn/pointwise_kernel.h"

void sr__nn_gelu(int64_t count, const float *x, float *y, float *slope) {
  sr__pointwise_kernel_now()->gelu(count, x, y, slope);
}
void sr__nn_silu(int64_t count, const float *x, float *y, float *slope) {
  sr__pointwise_kernel_now()->silu(count, x, y, slope);
}
void sr__nn_softplus(int64_t count, const float *x, float *y, float *slope) {
  sr__pointwise_kernel_now()->softplus(count, x, y, slope);
}
void sr__nn_multiply(int64_t count, float *x, const float *factor) {
  sr__pointwise_kernel_now()->multiply(count, x, factor);
}
void sr__nn_add(int64_t count, float *x, const float *other) {
  sr__pointwise_kernel_now()->add(count, x, other);
}
void sr__nn_exp(int64_t count, const float *x, float *y) {
  sr__pointwise_kernel_now()->exp(count, x, y);
}
void sr__nn_dropout(int64_t count, const float *x, const float *base, float *y, float drop,
                    uint32_t key) {
  sr__pointwise_kernel_now()->dropout(count, x, base, y, drop, key);
}

uint32_t sr__nn_dropout_key(uint32_t key, uint32_t name) {
  uint32_t x = key * 0x9e3779b1u + name;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

/* ---- losses ------------------------------------------------------------------------------- */

/* p = exp(score - max score); gives their sum. */
static float exponentials(int64_t classes, const float *score, float *p, float *most) {
  float top = score[0], sum = 0;
  for (int64_t c = 1; c < classes; c++) top = score[c] > top ? score[c] : top;
  for (int64_t c = 0; c < classes; c++) p[c] = score[c] - top;
  sr__nn_exp(classes, p, p);
  for (int64_t c = 0; c < classes; c++) sum += p[c];
  *most = top;
  return sum;
}

void sr__nn_softmax(int64_t classes, const float *score, float *p) {
  float most, sum = exponentials(classes, score, p, &most);
  for (int64_t c = 0; c < classes; c++) p[c] /= sum;
}

double sr__nn_cross_entropy(int64_t classes, const float *score, int32_t label, float scale,
                            float *dscore) {
  const float chosen = score[label];
  float most, sum = exponentials(classes, score, dscore, &most);
  for (int64_t c = 0; c < classes; c++)
    dscore[c] = (dscore[c] / sum - (c == label ? 1.0f : 0.0f)) * scale;
  return sr__log_portable((double)sum) - ((double)chosen - (double)most);
}
