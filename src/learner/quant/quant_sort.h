/* Sorting eight columns side by side: merge sort whose merges are bitonic networks of any length,
 * so that no branch depends on a value. For kernel files only. */
#ifndef SR_LEARNER_QUANT_QUANT_SORT_H
#define SR_LEARNER_QUANT_QUANT_SORT_H

#include "quant_lanes.h"

#define LANE_ORDER(a, b)           \
  do {                             \
    f32x8 lower_ = lane_min(a, b); \
    b = lane_max(a, b);            \
    a = lower_;                    \
  } while (0)

/* The greatest power of two below n >= 2. */
static inline int32_t power_below(int32_t n) {
  int32_t power = 1;
  while (2 * power < n) power *= 2;
  return power;
}

/* Two stages of a network at once: distances 2 step and step. */
SR__INLINE void order_four(f32x8 *v, int32_t step) {
  f32x8 a = v[0], b = v[step], c = v[2 * step], d = v[3 * step];
  LANE_ORDER(a, c);
  LANE_ORDER(b, d);
  LANE_ORDER(a, b);
  LANE_ORDER(c, d);
  v[0] = a, v[step] = b, v[2 * step] = c, v[3 * step] = d;
}

/* Sorts a bitonic run whose length n is a power of two. */
static void merge_power(f32x8 *v, int32_t n) {
  if (n >= 16) {
    int32_t quarter = n / 4;
    for (int32_t i = 0; i < quarter; i++) order_four(v + i, quarter);
    for (int k = 0; k < 4; k++) merge_power(v + k * quarter, quarter);
  } else if (n == 8) {
    f32x8 a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    LANE_ORDER(a, e);
    LANE_ORDER(b, f);
    LANE_ORDER(c, g);
    LANE_ORDER(d, h);
    LANE_ORDER(a, c);
    LANE_ORDER(b, d);
    LANE_ORDER(e, g);
    LANE_ORDER(f, h);
    LANE_ORDER(a, b);
    LANE_ORDER(c, d);
    LANE_ORDER(e, f);
    LANE_ORDER(g, h);
    v[0] = a, v[1] = b, v[2] = c, v[3] = d, v[4] = e, v[5] = f, v[6] = g, v[7] = h;
  } else if (n == 4) {
    order_four(v, 1);
  } else if (n == 2) {
    f32x8 a = v[0], b = v[1];
    LANE_ORDER(a, b);
    v[0] = a, v[1] = b;
  }
}

/* The same for any length. After the first stage the lower `power` values are no larger than the
 * others, and both stay bitonic. */
static void merge_any(f32x8 *v, int32_t n) {
  while (n > 1) {
    if (!(n & (n - 1))) {
      merge_power(v, n);
      return;
    }
    int32_t power = power_below(n);
    for (int32_t i = 0; i < n - power; i++) {
      f32x8 a = v[i], b = v[i + power];
      LANE_ORDER(a, b);
      v[i] = a, v[i + power] = b;
    }
    merge_power(v, power);
    v += power;
    n -= power;
  }
}

/* Two sorted runs into `to`, which overlaps neither: the first one backwards makes both together
 * bitonic. */
static void merge_runs(const f32x8 *first, int32_t firsts, const f32x8 *second, int32_t seconds,
                       f32x8 *to) {
  int32_t n = firsts + seconds, i = 0;
  if (n <= 1) {
    if (n) to[0] = firsts ? first[0] : second[0];
    return;
  }
  int32_t power = power_below(n);
  if (power >= firsts) { /* as always but for runs of very unequal lengths */
    int32_t end = n - power < firsts ? n - power : firsts;
    for (; i < end; i++) {
      f32x8 x = first[firsts - 1 - i], y = second[i + power - firsts];
      to[i] = lane_min(x, y), to[i + power] = lane_max(x, y);
    }
  }
  for (; i < n - power; i++) {
    f32x8 x = i < firsts ? first[firsts - 1 - i] : second[i - firsts];
    f32x8 y = i + power < firsts ? first[firsts - 1 - i - power] : second[i + power - firsts];
    to[i] = lane_min(x, y), to[i + power] = lane_max(x, y);
  }
  for (; i < power; i++) to[i] = i < firsts ? first[firsts - 1 - i] : second[i - firsts];
  merge_power(to, power);
  merge_any(to + power, n - power);
}

/* `spare` and `to` hold n values each; `from` stays as it is. */
static void sort_run(const f32x8 *from, int32_t n, f32x8 *spare, f32x8 *to) {
  if (n < 1) return;
  if (n == 1) {
    to[0] = from[0];
  } else if (n == 2) {
    to[0] = lane_min(from[0], from[1]), to[1] = lane_max(from[0], from[1]);
  } else if (n == 3) {
    f32x8 a = from[0], b = from[1], c = from[2];
    LANE_ORDER(a, b);
    LANE_ORDER(b, c);
    LANE_ORDER(a, b);
    to[0] = a, to[1] = b, to[2] = c;
  } else if (n == 4) {
    f32x8 a = from[0], b = from[1], c = from[2], d = from[3];
    LANE_ORDER(a, b);
    LANE_ORDER(c, d);
    LANE_ORDER(a, c);
    LANE_ORDER(b, d);
    LANE_ORDER(b, c);
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
  } else {
    int32_t half = n / 2;
    sort_run(from, half, to, spare);
    sort_run(from + half, n - half, to + half, spare + half);
    merge_runs(spare, half, spare + half, n - half, to);
  }
}

/* `a` without one of its values `out`; gives the new length. */
static int32_t take_out(const f32x8 *a, int32_t n, f32x8 out, f32x8 *to) {
  for (int32_t j = 0; j + 1 < n; j++) to[j] = lane_pick(lane_below(a[j], out), a[j], a[j + 1]);
  return n - 1;
}

static int32_t put_in(const f32x8 *a, int32_t n, f32x8 in, f32x8 *to) {
  if (n == 0) {
    to[0] = in;
    return 1;
  }
  to[0] = lane_min(a[0], in);
  for (int32_t j = 1; j < n; j++) to[j] = lane_max(a[j - 1], lane_min(a[j], in));
  to[n] = lane_max(a[n - 1], in);
  return n + 1;
}

#endif
