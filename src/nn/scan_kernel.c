/* Eight channels lie in the lanes; the 16 states of those channels are 16 vectors. */
#include "nn/scan_kernel.h"

#include "nn/lanes.h"

enum { TAPS = SR__MAMBA_TAPS, STATES = SR__MAMBA_STATES, CHUNK = SR__MAMBA_KEPT_EVERY };

/* ---- convolution of each channel ------------------------------------------------------------ */

static void causal_forward(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                           const float *weight, const float *bias, float *u, float *slope,
                           float *past) {
  for (int64_t c = 0; c < channels; c += SR__WIDE) {
    sr__wide w[TAPS], x[TAPS];
    for (int k = 0; k < TAPS; k++) w[k] = sr__load(weight + k * channels + c);
    for (int k = 0; k < TAPS - 1; k++) x[k] = sr__load(past + k * channels + c);
    const sr__wide b = sr__load(bias + c);
    for (int64_t t = 0; t < tokens; t++) {
      x[3] = sr__load(h + t * h_row + c);
      sr__wide a = b;
      for (int k = 0; k < TAPS; k++) a = sr__fused(w[k], x[k], a);
      sr__wide s = sr__sigmoid(a), y = a * s;
      sr__store(u + t * channels + c, y);
      sr__store(slope + t * channels + c, sr__fused(y, sr__all(1.0f) - s, s));
      x[0] = x[1], x[1] = x[2], x[2] = x[3];
    }
    for (int k = 0; k < TAPS - 1; k++) sr__store(past + k * channels + c, x[k]);
  }
}

/* Three past inputs and three coming gradients slide through registers. */
static void causal_backward(int64_t tokens, int64_t channels, const float *h, int64_t h_row,
                            const float *weight, const float *da, float *dh, float *weight_gradient,
                            float *bias_gradient) {
  for (int64_t c = 0; c < channels; c += SR__WIDE) {
    sr__wide w[TAPS], x[TAPS], g[TAPS], dw[TAPS], db = sr__all(0);
    for (int k = 0; k < TAPS; k++) {
      w[k] = sr__load(weight + k * channels + c);
      x[k] = dw[k] = sr__all(0);
      g[k] = k < tokens ? sr__load(da + k * channels + c) : sr__all(0);
    }
    for (int64_t t = 0; t < tokens; t++) {
      x[3] = sr__load(h + t * h_row + c);
      g[3] = t + 3 < tokens ? sr__load(da + (t + 3) * channels + c) : sr__all(0);
      db += g[0];
      for (int k = 0; k < TAPS; k++) dw[k] = sr__fused(g[0], x[k], dw[k]);
      sr__wide sum = w[3] * g[0]; /* input t is tap 3 of output t, tap 0 of output t + 3 */
      for (int k = 1; k < TAPS; k++) sum = sr__fused(w[3 - k], g[k], sum);
      sr__store(dh + t * h_row + c, sum);
      x[0] = x[1], x[1] = x[2], x[2] = x[3];
      g[0] = g[1], g[1] = g[2], g[2] = g[3];
    }
    for (int k = 0; k < TAPS; k++) {
      float *to = weight_gradient + k * channels + c;
      sr__store(to, sr__load(to) + dw[k]);
    }
    sr__store(bias_gradient + c, sr__load(bias_gradient + c) + db);
  }
}

/* ---- selective scan ------------------------------------------------------------------------- */

static void forward(const sr__scan *scan, float *y, float *g, float *kept, float *state) {
  const int64_t channels = scan->channels;
  for (int64_t c = 0; c < channels; c += SR__WIDE) {
    const float *decay = scan->decay + c * STATES;
    const sr__wide skip = sr__load(scan->skip + c);
    float *last = state + c * STATES;
    sr__wide h[STATES];
    for (int n = 0; n < STATES; n++) h[n] = sr__load(last + SR__WIDE * n);
    for (int64_t t = 0; t < scan->tokens; t++) {
      if (kept && t % CHUNK == 0)
        for (int n = 0; n < STATES; n++)
          sr__store(kept + ((t / CHUNK) * channels + c) * STATES + SR__WIDE * n, h[n]);
      const int64_t at = t * channels + c;
      const float *b = scan->b + t * scan->bc_row, *q = scan->c + t * scan->bc_row;
      const sr__wide u = sr__load(scan->u + at), delta = sr__load(scan->delta + at);
      const sr__wide in = u * delta;
      sr__wide out = u * skip;
      for (int n = 0; n < STATES; n++) {
        h[n] =
            sr__fused(sr__exp2(delta * sr__load(decay + SR__WIDE * n)), h[n], in * sr__all(b[n]));
        out = sr__fused(h[n], sr__all(q[n]), out);
      }
      sr__store(y + at, out);
      sr__store(g + at, out * sr__load(scan->gate + at));
    }
    for (int n = 0; n < STATES; n++) sr__store(last + SR__WIDE * n, h[n]);
  }
}

/* The states of a chunk for two neighboring blocks of eight channels, and the sums of dB and dC
 * over all channels: 20 KB that stay in the first cache. */
typedef struct chunk {
  sr__wide state[2][CHUNK + 1][STATES]; /* state[.][i + 1] stands behind step i */
  sr__wide factor[2][CHUNK][STATES];    /* exp(delta A) */
  sr__wide db[CHUNK][STATES], dc[CHUNK][STATES];
} chunk;

static void states_of_chunk(const sr__scan *scan, int64_t first, int64_t steps, int64_t c,
                            const float *kept, sr__wide (*state)[STATES],
                            sr__wide (*factor)[STATES]) {
  const float *decay = scan->decay + c * STATES;
  for (int n = 0; n < STATES; n++) state[0][n] = sr__load(kept + SR__WIDE * n);
  for (int64_t i = 0; i < steps; i++) {
    const int64_t at = (first + i) * scan->channels + c;
    const float *b = scan->b + (first + i) * scan->bc_row;
    const sr__wide delta = sr__load(scan->delta + at), in = sr__load(scan->u + at) * delta;
    for (int n = 0; n < STATES; n++) {
      sr__wide f = sr__exp2(delta * sr__load(decay + SR__WIDE * n));
      factor[i][n] = f;
      state[i + 1][n] = sr__fused(f, state[i][n], in * sr__all(b[n]));
    }
  }
}

/* One step back for the channels c .. c + 15. `ahead` (channels x 16) is exp(delta A) times the
 * gradient of the state, carried from the step behind. */
SR__INLINE void step_back(const sr__scan *scan, int64_t t, int64_t i, int64_t c, chunk *k,
                          const float *dy, float *du, float *ddelta, float *a_gradient,
                          float *skip_gradient, float *ahead) {
  const float *b = scan->b + t * scan->bc_row, *q = scan->c + t * scan->bc_row;
  sr__wide u[2], delta[2], o[2], in[2], din[2], slope[2];
  for (int w = 0; w < 2; w++) {
    const int64_t at = t * scan->channels + c + SR__WIDE * w;
    u[w] = sr__load(scan->u + at);
    delta[w] = sr__load(scan->delta + at);
    o[w] = sr__load(dy + at);
    in[w] = u[w] * delta[w];
    din[w] = slope[w] = sr__all(0);
  }
  for (int n = 0; n < STATES; n++) {
    const sr__wide bn = sr__all(b[n]), qn = sr__all(q[n]);
    sr__wide db = k->db[i][n], dc = k->dc[i][n];
#pragma GCC unroll 2
    for (int w = 0; w < 2; w++) {
      const int64_t lane = (c + SR__WIDE * w) * STATES + SR__WIDE * n;
      sr__wide dstate = sr__fused(o[w], qn, sr__load(ahead + lane));
      dc = sr__fused(o[w], k->state[w][i + 1][n], dc);
      db = sr__fused(dstate, in[w], db);
      din[w] = sr__fused(dstate, bn, din[w]);
      sr__wide carried = k->factor[w][i][n] * dstate, m = carried * k->state[w][i][n];
      sr__store(ahead + lane, carried);
      slope[w] = sr__fused(m, sr__load(scan->decay + lane), slope[w]);
      sr__store(a_gradient + lane, sr__fused(m, delta[w], sr__load(a_gradient + lane)));
    }
    k->db[i][n] = db;
    k->dc[i][n] = dc;
  }
  for (int w = 0; w < 2; w++) {
    const int64_t at = t * scan->channels + c + SR__WIDE * w;
    float *skip = skip_gradient + c + SR__WIDE * w;
    sr__store(skip, sr__fused(o[w], u[w], sr__load(skip)));
    sr__store(du + at, sr__fused(din[w], delta[w], o[w] * sr__load(scan->skip + c + SR__WIDE * w)));
    sr__store(ddelta + at, sr__fused(din[w], u[w], slope[w] * sr__all(0.69314718f)));
  }
}

/* Chunks of eight steps from the last to the first; the states inside a chunk are made again from
 * the one that was kept. */
static void backward(const sr__scan *scan, const float *dy, const float *kept, float *du,
                     float *ddelta, float *db, float *dc, float *a_gradient, float *skip_gradient,
                     float *scratch) {
  chunk k;
  memset(scratch, 0, (size_t)(scan->channels * STATES) * sizeof *scratch);
  for (int64_t index = (scan->tokens - 1) / CHUNK; index >= 0; index--) {
    const int64_t first = index * CHUNK;
    const int64_t steps = scan->tokens - first < CHUNK ? scan->tokens - first : CHUNK;
    memset(k.db, 0, sizeof k.db);
    memset(k.dc, 0, sizeof k.dc);
    for (int64_t c = 0; c < scan->channels; c += 2 * SR__WIDE) {
      for (int w = 0; w < 2; w++)
        states_of_chunk(scan, first, steps, c + SR__WIDE * w,
                        kept + (index * scan->channels + c + SR__WIDE * w) * STATES, k.state[w],
                        k.factor[w]);
      for (int64_t i = steps - 1; i >= 0; i--)
        step_back(scan, first + i, i, c, &k, dy, du, ddelta, a_gradient, skip_gradient, scratch);
    }
    for (int64_t i = 0; i < steps; i++)
      for (int n = 0; n < STATES; n++) {
        db[(first + i) * scan->bc_row + n] = sr__lane_sum(k.db[i][n]);
        dc[(first + i) * scan->bc_row + n] = sr__lane_sum(k.dc[i][n]);
      }
  }
}

static void gate_backward(int64_t tokens, int64_t channels, float *dg, const float *y,
                          const float *gate, const float *gate_slope, float *dz, int64_t dz_row) {
  for (int64_t t = 0; t < tokens; t++)
    for (int64_t c = 0; c < channels; c++) {
      const int64_t at = t * channels + c;
      dz[t * dz_row + c] = dg[at] * y[at] * gate_slope[at];
      dg[at] *= gate[at];
    }
}

const sr__scan_kernel SR__KERNEL(sr__scan_kernel) = {causal_forward, causal_backward, forward,
                                                     backward, gate_backward};
