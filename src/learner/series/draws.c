#include "draws.h"

/* The largest whole d with log d <= u log limit, found by halving. */
int32_t sr__draw_power(double limit, sr__random *random) {
  double bound = sr__random_uniform(random) * sr__log_portable(limit);
  int32_t low = 1, high = (int32_t)limit;
  while (low < high) {
    int32_t middle = low + (high - low + 1) / 2;
    if (sr__log_portable((double)middle) <= bound)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}
