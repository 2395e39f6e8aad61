/* Intervals of a mean loss: by the slowest waves of losses in order, and by units.
 *
 * Few degrees of freedom are cheap (Student's t with 12 is 2.18) and make a scale that came out too
 * short nearly harmless. The factor on the variance is there because the delivered ensemble is one
 * draw: its risk moves with its training rows, and folds that share most of them do not show it. */
#include "interval.h"
#include "core/maths.h"

#include <math.h>
#include <specroute/stats.h>

enum { LEAST_WAVES = 3, MOST_WAVES = 12, SCALES_PER_WAVE = 4 };
#define WIDEN_SHORT 6.0 /* more of it where there are few spans: times T / n */
#define CARRY_ERROR 0.5 /* standard error of a carried mean, over the way */
#define WIDEST 0.9      /* an interval of an error that is wider tells nothing */

static double student(double level, double degrees) {
  return sr_student_quantile(0.5 + 0.5 * level, degrees);
}

/* Symmetric on the logit scale: small errors have room upward only. That scale stretches without
 * end where an error is small beside its own standard error, so no bound is farther than a few half
 * widths. */
static void set_on_logit(double half, double rows, sr__interval *interval) {
  enum { FARTHEST = 3 };
  double e = fmin(fmax(interval->estimate, 0.5 / rows), 1.0 - 0.5 / rows);
  double center = sr__log_portable(e / (1.0 - e)), step = half / (e * (1.0 - e));
  interval->low = fmax(1.0 / (1.0 + sr__exp_portable(step - center)), e - FARTHEST * half);
  interval->high = fmin(1.0 / (1.0 + sr__exp_portable(-step - center)), e + FARTHEST * half);
  interval->estimate = fmin(fmax(interval->estimate, 0.0), 1.0);
}

static double mean_of(const double *x, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum / (double)n;
}

int32_t sr__interval_waves(int64_t n, double tmix) {
  double waves = (double)n / (SCALES_PER_WAVE * tmix);
  return (int32_t)fmin(fmax(waves, LEAST_WAVES), MOST_WAVES);
}

/* Sum of (loss - mean) cos(angle (i + 1/2)): the angle is turned step by step, and taken anew once
 * in a while. */
static double wave_of(const double *loss, int64_t n, double mean, double angle) {
  enum { STEPS = 128 };
  double sum = 0.0, turn = sr__cos_portable(angle), lift = sr__sin_portable(angle);
  for (int64_t first = 0; first < n; first += STEPS) {
    int64_t end = first + STEPS < n ? first + STEPS : n;
    double x = sr__cos_portable(angle * ((double)first + 0.5)),
           y = sr__sin_portable(angle * ((double)first + 0.5));
    for (int64_t i = first; i < end; i++) {
      sum += (loss[i] - mean) * x;
      double kept = x;
      x = turn * x - lift * y;
      y = turn * y + lift * kept;
    }
  }
  return sum;
}

/* The mean and its standard error from the slowest waves; no bounds yet. */
static sr__interval mean_in_order(const double *loss, int64_t n, double tmix, double widen) {
  int32_t waves = sr__interval_waves(n, tmix);
  double mean = mean_of(loss, n), square = 0.0;
  for (int32_t j = 1; j <= waves; j++) {
    double sum = wave_of(loss, n, mean, 3.14159265358979323846 * j / (double)n);
    square += sum * sum * 2.0 / (double)n;
  }
  double variance = (widen + WIDEN_SHORT * tmix / (double)n) * square / waves / (double)n;
  return (sr__interval){.estimate = mean, .error = sqrt(variance), .degrees = (double)waves};
}

void sr__interval_in_order(const double *loss, int64_t n, double tmix, double widen, double level,
                           sr__interval *interval) {
  bool none = true;
  *interval = mean_in_order(loss, n, tmix, widen);
  for (int64_t i = 0; i < n && none; i++) none = loss[i] == 0.0;
  set_on_logit(student(level, interval->degrees) * interval->error, (double)n, interval);
  if (none) { /* no error in n / T spans */
    interval->low = 0.0;
    interval->high = 1.0 - sr__pow_portable(0.5 - 0.5 * level, tmix / (double)n);
  }
}

/* Symmetric; no difference of errors is larger than 1. */
static void set_around(double level, sr__interval *interval) {
  double half = student(level, interval->degrees) * interval->error;
  interval->low = fmax(interval->estimate - half, -1.0);
  interval->high = fmin(interval->estimate + half, 1.0);
}

void sr__interval_of_differences(const double *difference, int64_t n, double tmix, double widen,
                                 double level, sr__interval *interval) {
  *interval = mean_in_order(difference, n, tmix, widen);
  set_around(level, interval);
}

/* The same over units, and how many rows they hold; 0 where there are fewer than two. */
static double mean_of_units(const double *loss, const double *rows, int32_t units, double widen,
                            sr__interval *interval) {
  double total = 0.0, count = 0.0, squares = 0.0, spread = 0.0;
  int32_t used = 0;
  *interval = (sr__interval){.estimate = NAN, .low = NAN, .high = NAN, .error = NAN};
  for (int32_t u = 0; u < units; u++) {
    if (rows[u] <= 0.0) continue;
    total += loss[u];
    count += rows[u];
    squares += rows[u] * rows[u];
    used++;
  }
  if (used == 0) return 0.0;
  double mean = total / count;
  for (int32_t u = 0; u < units; u++) {
    double off = rows[u] > 0.0 ? loss[u] - mean * rows[u] : 0.0;
    spread += off * off;
  }
  interval->estimate = mean;
  if (used < 2) return 0.0;
  double factor = widen + WIDEN_SHORT / (3.0 * used);
  interval->degrees = fmax(count * count / squares - 1.0, 1.0);
  interval->error = sqrt(factor * spread * used / (used - 1.0)) / count;
  return count;
}

void sr__interval_of_units(const double *loss, const double *rows, int32_t units, double widen,
                           double level, sr__interval *interval) {
  double count = mean_of_units(loss, rows, units, widen, interval);
  if (count == 0.0) return;
  bool none = interval->estimate == 0.0;
  set_on_logit(student(level, interval->degrees) * interval->error, count, interval);
  if (none) {
    int32_t used = 0;
    for (int32_t u = 0; u < units; u++) used += rows[u] > 0.0;
    interval->low = 0.0;
    interval->high = 1.0 - sr__pow_portable(0.5 - 0.5 * level, 1.0 / used);
  }
}

void sr__interval_of_unit_differences(const double *difference, const double *rows, int32_t units,
                                      double widen, double level, sr__interval *interval) {
  if (mean_of_units(difference, rows, units, widen, interval) > 0.0) set_around(level, interval);
}

void sr__interval_carried(double way, double rows, double level, sr__interval *interval) {
  if (way == 0.0 || !isfinite(interval->low)) return;
  double own = CARRY_ERROR * way;
  interval->error = sqrt(interval->error * interval->error + own * own);
  set_on_logit(student(level, interval->degrees) * interval->error, rows, interval);
}

void sr__interval_next(double center, const double *unit_error, int32_t units, double degrees,
                       double level, double *low, double *high) {
  *low = *high = NAN;
  if (units < 2) return;
  double mean = mean_of(unit_error, units), square = 0.0;
  for (int32_t u = 0; u < units; u++) square += (unit_error[u] - mean) * (unit_error[u] - mean);
  double half = student(level, degrees) * sqrt(square / (units - 1.0) * (1.0 + 1.0 / units));
  *low = fmax(center - half, 0.0);
  *high = fmin(center + half, 1.0);
}

bool sr__interval_says_nothing(double low, double high) { return high - low > WIDEST; }

void sr__outlook_of(const double *error, int32_t count, double level, sr__outlook *outlook) {
  double middle = 0.5 * (count - 1.0), ahead = 0.5 * (count + 1.0), xx = 0.0, xy = 0.0;
  double mean = mean_of(error, count), square = 0.0, rest = 0.0;
  for (int32_t k = 0; k < count; k++) {
    xx += (k - middle) * (k - middle);
    xy += (k - middle) * error[k];
    square += (error[k] - mean) * (error[k] - mean);
  }
  double slope = xy / xx;
  for (int32_t k = 0; k < count; k++) {
    double off = error[k] - mean - slope * (k - middle);
    rest += off * off;
  }
  double flat = student(level, count - 1.0) * sqrt(square / (count - 1.0) * (1.0 + 1.0 / count));
  double s = sqrt(rest / (count - 2.0));
  double tilt = student(level, count - 2.0) * s * sqrt(1.0 + 1.0 / count + ahead * ahead / xx);
  double line = mean + slope * ahead;
  *outlook = (sr__outlook){.mean = {mean, fmax(mean - flat, 0.0), fmin(mean + flat, 1.0), 0.0,
                                    count - 1.0},
                           .line = {fmin(fmax(line, 0.0), 1.0), fmin(fmax(line - tilt, 0.0), 1.0),
                                    fmin(fmax(line + tilt, 0.0), 1.0), 0.0, count - 2.0},
                           .slope = s > 0.0 ? slope * sqrt(xx) / s : 0.0};
}
