/* The paper's bounds with all constants set to 1. */
#include <math.h>

#include "dependence.h"

sr_theory sr_theory_bounds(double tmix, double n, double drift) {
  return (sr_theory){.minimax = sqrt(tmix / n),
                     .bagging = tmix / sqrt(n),
                     .drift = drift * tmix / n,
                     .sample_condition = n / (tmix * tmix * tmix * log(n))};
}
