/* The sign of an eigenvector, chosen so that another compiler or library chooses alike. */
#include <math.h>

#include "multilevel.h"

static double hash_sign(int64_t node) {
  uint64_t h = (uint64_t)node * 0x9E3779B97F4A7C15u;
  h ^= h >> 32;
  return h & 1 ? 1 : -1;
}

double sr__ramp(int64_t node, int64_t nodes) {
  return nodes > 1 ? 2 * (double)node / (double)(nodes - 1) - 1 : 0;
}

/* The ramp, the parabola, the hash. */
static double form_at(int form, int64_t node, int64_t nodes) {
  double u = sr__ramp(node, nodes);
  return form == 0 ? u : form == 1 ? u * u - 1.0 / 3 : hash_sign(node);
}

/* A correlation below this may flip with rounding. */
static const double SURE = 1e-2;

void sr__fix_sign(const sr__csr *graph, double *x) {
  int64_t n = graph->nodes;
  double norm = 0;
  for (int64_t i = 0; i < n; i++) norm += x[i] * x[i];
  for (int form = 0; form < 3; form++) {
    double sum = 0, form_norm = 0;
    for (int64_t i = 0; i < n; i++) {
      double u = form_at(form, i, n);
      sum += x[i] * u;
      form_norm += u * u;
    }
    if (fabs(sum) <= SURE * sqrt(norm * form_norm) && form < 2) continue;
    if (sum < 0) {
      for (int64_t i = 0; i < n; i++) x[i] = -x[i];
    }
    return;
  }
}
