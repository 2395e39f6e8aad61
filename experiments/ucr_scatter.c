/* Whether routing gains more where series are more autocorrelated. */
#include <math.h>

#include "ucr_methods.h"

extern const experiment experiment_ucr, experiment_ucr_scatter;

static const int compared[] = {UCR_RF, UCR_RF_SPECTRAL, UCR_RF_SPECTRAL_SIZE};
enum { COMPARED = 3 };

static bool is_available(const char *data, experiment_scale scale, int index) {
  bool needed = false;
  for (int k = 0; k < COMPARED; k++) needed = needed || index % UCR_METHODS == compared[k];
  return needed && experiment_ucr.available(data, scale, index);
}

/* Spearman's correlation with a 95 % interval by Fisher's transform. */
static sr_interval correlation_of(conclusion *c, int64_t count, const double *x, const double *y,
                                  double *p) {
  sr_interval r = {NAN, NAN, NAN};
  if (sr_spearman(conclusion_context(c), count, x, y, &r.estimate, p) != SR_OK) return r;
  double z = atanh(fmax(-0.999999, fmin(0.999999, r.estimate)));
  double half = 1.96 * 1.03 / sqrt((double)count - 3.0);
  r.low = tanh(z - half);
  r.high = tanh(z + half);
  return r;
}

/* Claim: the gain rises with the lag-1 autocorrelation, Spearman .82; rival: no relation, 0.
 * Reproduced: the interval lies above 0 and reaches .75 x .82; not reproduced: it stays below that;
 * else it cannot be told. */
static sr_status read_results(conclusion *c) {
  int set[UCR_MOST_SETS];
  double accuracy[(UCR_MOST_SETS + 1) * COMPARED], lag1[UCR_MOST_SETS], gain[UCR_MOST_SETS],
      size[UCR_MOST_SETS];
  double p = NAN, p_size = NAN;
  int64_t sets = ucr_complete_sets(c, compared, COMPARED, set, accuracy);
  for (int64_t i = 0; i < sets; i++) {
    lag1[i] = ucr_accuracy(c, set[i], UCR_RF, "lag1");
    gain[i] = 100.0 * (accuracy[i * COMPARED + 1] - accuracy[i * COMPARED]);
    size[i] = 100.0 * (accuracy[i * COMPARED + 1] - accuracy[i * COMPARED + 2]);
  }
  if (sets < 8) {
    conclusion_decide(c, VERDICT_CANNOT_BE_TESTED,
                      "%lld sets were measured; eight are the least. Give the folder of the "
                      "archive with --data",
                      (long long)sets);
    return SR_OK;
  }
  sr_interval r = correlation_of(c, sets, lag1, gain, &p);
  sr_interval by_size = correlation_of(c, sets, lag1, size, &p_size);
  conclusion_begin_table(c,
                         "Spearman correlation of gain and lag-1 autocorrelation, 95 % interval");
  conclusion_add_estimate(c, "spectral routing minus bootstrap", "r_s", 0.82, &r);
  conclusion_add_estimate(c, "spectral routing minus bags as small", "r_s", NAN, &by_size);
  sr_plot_series points = {.kind = SR_PLOT_POINTS, .count = sets, .x = lag1, .y = gain};
  sr_plot plot = {.title = "Gain of spectral routing",
                  .x_label = "mean lag-1 autocorrelation inside the series",
                  .y_label = "points over the bootstrap",
                  .series_count = 1,
                  .series = &points};
  conclusion_add_plot(c, &plot);
  ucr_add_partial_remark(c, "the correlation");
  conclusion_add_remark(c,
                        "Autocorrelation inside a series is not dependence between cases, which "
                        "is what bags are drawn from.");
  verdict v = isnan(r.low)           ? VERDICT_CANNOT_BE_TESTED
              : r.high < 0.75 * 0.82 ? VERDICT_NOT_REPRODUCED
              : r.low > 0.0          ? VERDICT_REPRODUCED
                                     : VERDICT_CANNOT_BE_TESTED;
  conclusion_decide(
      c, v,
      "over %lld sets the correlation is %.2f [%.2f, %.2f], p = %.2g (the paper: 0.82); "
      "against bags as small it is %.2f [%.2f, %.2f]",
      (long long)sets, r.estimate, r.low, r.high, p, by_size.estimate, by_size.low, by_size.high);
  return SR_OK;
}

const experiment experiment_ucr_scatter = {
    .about = {"ucr-scatter", "Gain of routing against autocorrelation over the UCR archive", NULL,
              0, NULL},
    .place = "Figure 3, Section 5.3",
    .needs = "the UCR archive: --data DIR; shares the results of ucr",
    .seeds = {1, 5},
    .core_seconds = {900, 30000},
    .measured_by = "ucr",
    .know = ucr_know_sets,
    .case_count = ucr_count_cases,
    .case_name = ucr_name_case,
    .available = is_available,
    .run = ucr_run_unit,
    .conclude = read_results};
