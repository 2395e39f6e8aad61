#include "column_moments.h"

#include <math.h>

sr__moments sr__column_moments(const float *x, int64_t rows) {
  sr__moments m = {0};
  double sum = 0.0, square = 0.0;
  float least = HUGE_VALF, most = -HUGE_VALF;
  for (int64_t i = 0; i < rows; i++) {
    if (!isfinite(x[i])) continue;
    m.finite++;
    sum += (double)x[i];
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  if (m.finite == 0) return m;
  m.mean = sum / (double)m.finite;
  if (!(most > least)) return m;
  for (int64_t i = 0; i < rows; i++)
    if (isfinite(x[i])) square += ((double)x[i] - m.mean) * ((double)x[i] - m.mean);
  m.deviation = sqrt(square / (double)m.finite);
  return m;
}
