#include "nn/scan_kernel.h"

void sr__causal_forward(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                        const float *weight, const float *bias, float *u, float *slope,
                        float *past) {
  sr__scan_kernel_now()->causal_forward(tokens, channels, h, h_row, weight, bias, u, slope, past);
}

void sr__causal_backward(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                         const float *weight, const float *da, float *dh, float *weight_gradient,
                         float *bias_gradient) {
  sr__scan_kernel_now()->causal_backward(tokens, channels, h, h_row, weight, da, dh,
                                         weight_gradient, bias_gradient);
}

int64_t sr__scan_kept_size(int64_t tokens, int64_t channels) {
  return (tokens + SR__MAMBA_KEPT_EVERY - 1) / SR__MAMBA_KEPT_EVERY * channels * SR__MAMBA_STATES;
}

void sr__scan_forward(const sr__scan *scan, float *y, float *g, float *kept, float *state) {
  sr__scan_kernel_now()->forward(scan, y, g, kept, state);
}

void sr__scan_backward(const sr__scan *scan, const float *dy, const float *kept, float *du,
                       float *ddelta, float *db, float *dc, float *a_gradient, float *skip_gradient,
                       float *scratch) {
  sr__scan_kernel_now()->backward(scan, dy, kept, du, ddelta, db, dc, a_gradient, skip_gradient,
                                  scratch);
}

void sr__gate_backward(int64_t tokens, int64_t channels, float *dg, const float *y,
                       const float *gate, const float *gate_slope, float *dz, int64_t dz_row) {
  sr__scan_kernel_now()->gate_backward(tokens, channels, dg, y, gate, gate_slope, dz, dz_row);
}
