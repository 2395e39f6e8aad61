/* Reach, carried losses and intervals against closed forms and slow references. */
#include <math.h>

#include "core/fft.h"
#include "core/fft_kernel.h"
#include "core/sort.h"
#include "dependence/reach.h"
#include "evaluate/held.h"
#include "evaluate/interval.h"
#include "evaluate/trial.h"
#include "harness.h"

#if defined(__x86_64__)
#define LEVELS(name) const name *const level[] = {&name##_base, &name##_v3, &name##_v4};
#else
#define LEVELS(name) const name *const level[] = {&name##_base};
#endif

/* ---- Fourier ------------------------------------------------------------------------------ */

static int reversed_bits(int k, int size) {
  int reversed = 0;
  for (int bit = 1; bit < size; bit *= 2, k /= 2) reversed = 2 * reversed + k % 2;
  return reversed;
}

static void the_transform_is_the_sum_that_defines_it(void **state) {
  (void)state;
  enum { MOST = 512 };
  sr_context *ctx = test_context(1);
  double re[MOST], im[MOST], x[MOST], y[MOST], other_re[MOST], other_im[MOST];
  sr_random_normal(1, 0, 0, MOST, x);
  sr_random_normal(2, 0, 0, MOST, y);
  for (int n = 1; n <= MOST; n *= 2) {
    sr__fft fft;
    assert_ok(ctx, sr__fft_new(ctx, n, &fft));
    for (int j = 0; j < n; j++) {
      int place = reversed_bits(j, n);
      re[j] = other_re[place] = x[j];
      im[j] = other_im[place] = y[j];
    }
    sr__fft_forward(&fft, re, im);
    sr__fft_backward(&fft, other_re, other_im);
    for (int k = 0; k < n; k++) {
      double a = 0.0, b = 0.0;
      for (int j = 0; j < n; j++) {
        double angle = -2.0 * acos(-1.0) * j * k / n;
        a += x[j] * cos(angle) - y[j] * sin(angle);
        b += x[j] * sin(angle) + y[j] * cos(angle);
      }
      assert_close(re[reversed_bits(k, n)], a, 1e-11);
      assert_close(im[reversed_bits(k, n)], b, 1e-11);
      assert_close(other_re[k], a, 1e-11);
      assert_close(other_im[k], b, 1e-11);
    }
    sr__fft_free(ctx, &fft);
  }
  sr_context_free(&ctx);
}

/* Every level must give the same bits. */
static void the_transform_is_the_same_at_every_level(void **state) {
  (void)state;
  enum { N = 1 << 11 };
  static double first[2][N], here[2][N], x[N], y[N];
  sr_context *ctx = test_context(1);
  sr__fft fft;
  sr_random_normal(3, 0, 0, N, x);
  sr_random_normal(4, 0, 0, N, y);
  assert_ok(ctx, sr__fft_new(ctx, N, &fft));
  sr__fft_roots roots = {fft.cosine, fft.sine};
  LEVELS(sr__fft_kernel)
  for (int l = 0; l <= (int)sr__isa(); l++) {
    memcpy(here[0], x, sizeof x);
    memcpy(here[1], y, sizeof y);
    level[l]->forward(roots, N, here[0], here[1]);
    level[l]->backward(roots, N, here[0], here[1]);
    if (l == 0) memcpy(first, here, sizeof here);
    assert_memory_equal(first, here, sizeof here);
  }
  sr__fft_free(ctx, &fft);
  sr_context_free(&ctx);
}

/* Sums of products of two series from one transform, against the sums themselves. */
static void powers_are_those_of_both_series(void **state) {
  (void)state;
  enum { ROWS = 20, N = 64 };
  sr_context *ctx = test_context(1);
  double re[N] = {0}, im[N] = {0}, x[ROWS], y[ROWS];
  sr__fft fft;
  sr_random_normal(5, 0, 0, ROWS, x);
  sr_random_normal(6, 0, 0, ROWS, y);
  memcpy(re, x, sizeof x);
  memcpy(im, y, sizeof y);
  assert_ok(ctx, sr__fft_new(ctx, N, &fft));
  sr__fft_forward(&fft, re, im);
  sr__fft_powers(&fft, re, im);
  sr__fft_backward(&fft, re, im);
  for (int lag = 0; lag < ROWS; lag++) {
    double a = 0.0, b = 0.0;
    for (int i = 0; i + lag < ROWS; i++) {
      a += x[i] * x[i + lag];
      b += y[i] * y[i + lag];
    }
    assert_close(re[lag] / N, a, 1e-12);
    assert_close(im[lag] / N, b, 1e-12);
  }
  sr__fft_free(ctx, &fft);
  sr_context_free(&ctx);
}

/* ---- sorting ------------------------------------------------------------------------------ */

static void floats_are_sorted_as_numbers(void **state) {
  (void)state;
  enum { N = 3000 };
  static sr__float_at items[N], spare[N];
  double x[N];
  sr_random_normal(7, 0, 0, N, x);
  for (int i = 0; i < N; i++) items[i] = (sr__float_at){(float)(floor(20.0 * x[i]) / 4.0), i};
  items[5].value = -INFINITY;
  items[6].value = INFINITY;
  items[7].value = -0.0f;
  items[8].value = 1e-42f;
  items[9].value = -1e-42f;
  const sr__float_at *sorted = sr__sort_floats(items, spare, N);
  for (int i = 1; i < N; i++) {
    assert_true(sorted[i - 1].value <= sorted[i].value);
    if (sorted[i - 1].value == sorted[i].value && sorted[i - 1].place != 7)
      assert_true(sorted[i - 1].place < sorted[i].place);
  }
  assert_int_equal(sorted[0].place, 5);
  assert_int_equal(sorted[N - 1].place, 6);
}

/* ---- the reach ---------------------------------------------------------------------------- */

/* An AR(1) curve (r_k = share lambda^k) has reach T at every start, with and without noise on top.
 */
static void the_reach_of_a_chain_is_its_scale(void **state) {
  (void)state;
  enum { MOST = 30000 };
  double *r = malloc((MOST + 1) * sizeof *r), *scratch = malloc((3 * MOST + 6) * sizeof *scratch);
  const double scales[] = {3.0, 10.0, 50.0, 200.0}, shares[] = {1.0, 0.3};
  for (int i = 0; i < 4; i++) {
    for (int s = 0; s < 2; s++) {
      double lambda = 1.0 - 1.0 / scales[i];
      for (int64_t k = 0; k <= MOST; k++) r[k] = k ? shares[s] * pow(lambda, (double)k) : 1.0;
      double found = sr__reach_of(r, MOST, 100000000, 4.0, 1.65, scratch);
      /* the start is averaged over a quarter of its lag, which makes it up to a fifth longer */
      assert_true(found > 0.99 * scales[i] && found < 1.25 * scales[i]);
    }
  }
  free(r);
  free(scratch);
}

/* The same curve from many correlations together: a chain's part is its share, T its scale. */
static void many_faint_correlations_show_the_scale(void **state) {
  (void)state;
  enum { MOST = 30000 };
  double *r = malloc((MOST + 1) * sizeof *r), *scratch = malloc((3 * MOST + 6) * sizeof *scratch);
  const double scales[] = {10.0, 50.0, 200.0}, shares[] = {0.3, 0.05};
  for (int i = 0; i < 3; i++) {
    for (int s = 0; s < 2; s++) {
      double lambda = 1.0 - 1.0 / scales[i];
      for (int64_t k = 0; k <= MOST; k++) r[k] = k ? shares[s] * pow(lambda, (double)k) : 1.0;
      double found = sr__reach_together(r, MOST, 1000000, 1.65, scratch);
      assert_true(found > 0.9 * scales[i] && found < 1.1 * scales[i]);
    }
  }
  free(r);
  free(scratch);
}

/* A sign that is slow in a part of its variance: the first correlation is faint on 500 rows, all of
 * them together are not. Signs of independent rows have no memory in either form. */
static void slow_signs_on_few_rows_are_seen(void **state) {
  (void)state;
  enum { N = 500, RUNS = 60 };
  sr_context *ctx = test_context(1);
  int64_t start[] = {0, N};
  sr__reach_plan plan;
  int first_alone = 0, together = 0, near = 0;
  assert_ok(ctx, sr__reach_plan_new(ctx, &(sr__runs){1, start}, &plan));
  for (int run = 0; run < RUNS; run++) {
    static double noise[N], steps[N], sign[N], fast[N];
    const double tmix = 30.0, a = 1.0 - 1.0 / tmix;
    double slow = 0.0;
    sr_random_normal(100 + (uint64_t)run, 0, 0, N, noise);
    sr_random_normal(900 + (uint64_t)run, 0, 0, N, steps);
    for (int i = 0; i < N; i++) {
      slow = i ? a * slow + sqrt(1.0 - a * a) * steps[i] : steps[i];
      sign[i] = noise[i] + 0.6 * slow > 0.0;
      fast[i] = noise[i] > 0.0;
    }
    sr__reach found[2];
    assert_ok(ctx, sr__reach_measure(ctx, &plan, sign, fast, (sr__reach_asked){4.0, true}, found));
    first_alone += found[0].estimate > 1.0;
    together += found[0].together > 1.0;
    near += found[0].together > tmix / 3.0 && found[0].together < tmix * 3.0;
    assert_true(found[0].together_careful >= found[0].together);
    assert_close(found[1].together, 1.0, 0.0);
  }
  assert_true(first_alone < RUNS / 2);
  assert_true(together > RUNS * 4 / 5);
  assert_true(near > RUNS * 2 / 3);
  sr__reach_plan_free(ctx, &plan);
  sr_context_free(&ctx);
}

/* Two series at once and runs apart give what products of pairs inside the runs give. */
static void runs_are_never_joined(void **state) {
  (void)state;
  enum { N = 600 };
  sr_context *ctx = test_context(1);
  static double x[N], noise[N], other[N];
  int64_t start[] = {0, 250, 260, 600};
  sr_random_normal(7, 0, 0, N, noise);
  sr_random_normal(8, 0, 0, N, other);
  for (int i = 0; i < N; i++)
    x[i] = (i == 0 || i == 250 || i == 260 ? 0.0 : 0.9 * x[i - 1]) + noise[i];
  sr__reach_plan plan;
  assert_ok(ctx, sr__reach_plan_new(ctx, &(sr__runs){3, start}, &plan));
  sr__reach both[2], alone[1];
  assert_ok(ctx, sr__reach_measure(ctx, &plan, x, other, (sr__reach_asked){4.0, false}, both));
  assert_ok(ctx, sr__reach_measure(ctx, &plan, x, NULL, (sr__reach_asked){4.0, false}, alone));
  assert_close(both[0].estimate, alone[0].estimate, 1e-9);
  assert_close(both[1].estimate, 1.0, 0.0);
  /* slow: the correlation from its definition */
  static double r[N / 3 + 1];
  double scratch[3 * (N / 3) + 6], mean = 0.0, variance = 0.0;
  for (int i = 0; i < N; i++) mean += x[i] / N;
  for (int i = 0; i < N; i++) variance += (x[i] - mean) * (x[i] - mean) / N;
  for (int64_t k = 0; k <= plan.most; k++) {
    double sum = 0.0, pairs = 0.0;
    for (int g = 0; g < 3; g++)
      for (int64_t i = start[g]; i + k < start[g + 1]; i++, pairs += 1.0)
        sum += (x[i] - mean) * (x[i + k] - mean);
    r[k] = pairs > 0.0 ? sum / pairs / variance : 0.0;
  }
  assert_close(alone[0].estimate, sr__reach_of(r, plan.most, N, 4.0, 1.65, scratch), 1e-9);
  sr__reach_plan_free(ctx, &plan);
  sr_context_free(&ctx);
}

/* ---- carrying ----------------------------------------------------------------------------- */

/* The error of h members whose margins are normal, over rows and over members. */
static double normal_error(double margin, double between, double member, double h) {
  return sr_normal_cdf(-margin / sqrt(between + member / h));
}

static void carrying_is_exact_on_normal_margins(void **state) {
  (void)state;
  const double margin[] = {0.1, 0.3, -0.2}, between[] = {0.0, 0.01, 0.2}, goal[] = {5, 9, 99, 1e6};
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      for (int g = 0; g < 4; g++) {
        sr__vote_curve c = {.noise = {0.36 / 9, 0.36 / 3}, .goal = 0.36 / goal[g], .rows = 1e12};
        c.classes = 2;
        if (between[b] == 0.0 && goal[g] > 100) continue; /* no error at all */
        c.error[0] = normal_error(margin[a], between[b], 0.36, 9);
        c.error[1] = normal_error(margin[a], between[b], 0.36, 3);
        double found = c.error[0] + sr__carry_steps(&c) * (c.error[0] - c.error[1]);
        assert_close(found, normal_error(margin[a], between[b], 0.36, goal[g]), 1e-6);
      }
}

static void carrying_ends_at_its_limits(void **state) {
  (void)state;
  sr__vote_curve c = {.noise = {0.04, 0.12}, .goal = 0.004, .rows = 1000, .classes = 2};
  assert_close(sr__carry_steps(&c), 0.45, 1e-12); /* no error: a line, of length 0 */
  c.error[0] = c.error[1] = 0.2;
  assert_close(sr__carry_steps(&c), 0.45, 1e-12);
  c.error[1] = 0.2 + 1e-6; /* and nearly so on a short way */
  assert_close(sr__carry_steps(&c), 0.45, 1e-4);
  c.error[0] = 0.0; /* what is never wrong stays so */
  assert_close(sr__carry_steps(&c), 0.0, 0.0);
  c.noise[1] = 0.04; /* one size: nowhere to go */
  assert_close(sr__carry_steps(&c), 0.0, 0.0);
  c = (sr__vote_curve){.error = {0.6, 2.0 / 3.0 - 1e-4}, .noise = {0.04, 0.12}, .goal = 0.004};
  c.rows = 1000;
  c.classes = 3; /* below a guess, above one half: still fewer errors with more members */
  assert_true(sr__carry_steps(&c) > 0.0);
}

/* Nine weak members judge rows for a vote of 99: margins normal, or votes of one class each. */
static void few_weak_members_stand_for_many(void **state) {
  (void)state;
  enum { N = 40000, FEW = 9, FULL = 99 };
  sr_context *ctx = test_context(1);
  double *z = malloc(sizeof *z * N), *mean = malloc(sizeof *mean * N);
  int32_t *label = malloc(sizeof *label * N), *row = malloc(sizeof *row * N), delivered = FULL;
  float *answer[FEW];
  for (int j = 0; j < FEW; j++) answer[j] = malloc(2 * sizeof **answer * N);
  sr_random_normal(1, 0, 0, N, mean);
  for (int soft = 0; soft < 2; soft++) {
    for (int j = 0; j < FEW; j++) {
      sr_random_normal(2, (uint64_t)j, 0, N, z);
      for (int i = 0; i < N; i++) {
        double one = 0.5 + 0.5 * (0.1 + 0.1 * mean[i] + 0.6 * z[i]);
        answer[j][2 * i + 1] = soft ? (float)one : one > 0.5 ? 1.0f : 0.0f;
        answer[j][2 * i] = 1.0f - answer[j][2 * i + 1];
        label[i] = 1;
        row[i] = i;
      }
    }
    sr_table_view view = {.rows = N, .label = label};
    sr__prepared prepared = {.view = &view, .classes = 2};
    sr__held_entry entry = {.members = FEW, .answer = answer};
    int64_t first[] = {0, N / 2, N};
    double weight = 1.0;
    sr__vote_weights weights[2] = {{&weight, NULL, &delivered}, {&weight, NULL, &delivered}};
    sr__trial trial = {.fold = weights};
    trial.held = (sr__held){.prepared = &prepared,
                            .rule = soft ? SR_VOTE_SOFT : SR_VOTE_HARD,
                            .folds = 2,
                            .first = first,
                            .count = N,
                            .row = row,
                            .stride = 1,
                            .classes = 2,
                            .leaves = 1,
                            .entries = 1,
                            .entry = &entry};
    sr__judged judged;
    assert_ok(ctx, sr__trial_losses(ctx, &trial, &judged));
    double lost = 0.0, truth = 0.0;
    for (int i = 0; i < N; i++) {
      double right = sr_normal_cdf((0.1 + 0.1 * mean[i]) / 0.6);
      lost += judged.loss[i] / N;
      double spread = sqrt(FULL * right * (1.0 - right));
      if (!soft) truth += sr_normal_cdf((0.5 * FULL - FULL * right) / spread) / N;
    }
    if (soft) truth = normal_error(0.1, 0.01, 0.36, FULL);
    assert_close(lost, truth, soft ? 0.03 : 0.06); /* few whole votes are not quite normal */
    sr__judged_free(ctx, &judged);
  }
  for (int j = 0; j < FEW; j++) free(answer[j]);
  free(z);
  free(mean);
  free(label);
  free(row);
  sr_context_free(&ctx);
}

/* Classes that are named are counted; the general way adds up shares of 0 and 1. Both must tell the
 * same bits, whatever the number of members. */
static void counted_votes_are_votes_of_shares(void **state) {
  (void)state;
  enum { ROWS = 300, CLASSES = 5, MOST = 40 };
  const int32_t sizes[] = {2, 5, 9, 17, 25, 40};
  sr_context *ctx = test_context(1);
  static int32_t label[ROWS], row[ROWS], vote[2][ROWS];
  static float answer[MOST][ROWS * CLASSES], share[2][ROWS * CLASSES], *list[MOST];
  static double loss[2][ROWS], noise[ROWS * (MOST + 1)];
  int64_t first[] = {0, 110, ROWS};
  sr_random_normal(5, 0, 0, ROWS * (MOST + 1), noise);
  for (int i = 0; i < ROWS; i++) {
    row[i] = ROWS - 1 - i;
    label[i] = (int32_t)(2.5 + noise[i]) % CLASSES;
    if (label[i] < 0) label[i] = 0;
  }
  for (int j = 0; j < MOST; j++) {
    list[j] = answer[j];
    for (int i = 0; i < ROWS; i++) { /* right in about every second row */
      int c = (label[row[i]] + (int)fabs(2.0 * noise[(j + 1) * ROWS + i])) % CLASSES;
      answer[j][i * CLASSES + c] = 1.0f;
    }
  }
  sr_table_view view = {.rows = ROWS, .label = label, .classes = {CLASSES, NULL}};
  sr__prepared prepared = {.view = &view, .classes = CLASSES};
  for (size_t m = 0; m < sizeof sizes / sizeof *sizes; m++) {
    double one = 1.0, way[2];
    int32_t delivered = 100;
    sr__vote_weights weights[2] = {{&one, NULL, &delivered}, {&one, NULL, &delivered}};
    for (int soft = 0; soft < 2; soft++) {
      sr__held_entry entry = {.members = sizes[m], .answer = list};
      sr__held held = {.prepared = &prepared,
                       .rule = soft ? SR_VOTE_SOFT : SR_VOTE_HARD,
                       .seed = 3,
                       .folds = 2,
                       .first = first,
                       .row = row,
                       .count = ROWS,
                       .classes = CLASSES,
                       .leaves = 1,
                       .entries = 1,
                       .entry = &entry};
      sr__carried carried = {.loss = loss[soft], .vote = vote[soft], .share = share[soft]};
      assert_ok(ctx, sr__carry_losses(ctx, &held, weights, &carried));
      way[soft] = carried.way;
    }
    assert_memory_equal(loss[0], loss[1], sizeof loss[0]);
    assert_memory_equal(vote[0], vote[1], sizeof vote[0]);
    assert_memory_equal(share[0], share[1], sizeof share[0]);
    assert_close(way[0], way[1], 0.0);
  }
  sr_context_free(&ctx);
}

/* A mean that was carried far has a wider interval, one that was not the same. */
static void the_interval_pays_for_the_way(void **state) {
  (void)state;
  sr__interval found = {.estimate = 0.2, .low = 0.1, .high = 0.3, .error = 0.03, .degrees = 12.0};
  sr__interval same = found;
  sr__interval_carried(0.0, 1000.0, 0.95, &same);
  assert_close(same.low, 0.1, 0.0);
  sr__interval_carried(-0.08, 1000.0, 0.95, &found);
  double half = sr_student_quantile(0.975, 12.0) * 0.05, step = half / 0.16;
  assert_close(found.error, 0.05, 1e-12); /* 3, 4, 5 */
  assert_close(found.low, 1.0 / (1.0 + 4.0 * exp(step)), 1e-12);
  assert_close(found.high, 1.0 / (1.0 + 4.0 * exp(-step)), 1e-12);
}

/* Every subset of nine votes counted. */
static void subset_errors_are_means_over_all_subsets(void **state) {
  (void)state;
  enum { M = 9 };
  for (int wrong = 0; wrong <= M; wrong++) {
    double lost[M + 1] = {0}, count[M + 1] = {0};
    for (int set = 1; set < 1 << M; set++) {
      int size = __builtin_popcount((unsigned)set);
      int bad = __builtin_popcount((unsigned)set & ((1u << wrong) - 1));
      count[size] += 1.0;
      lost[size] += 2 * bad > size ? 1.0 : 2 * bad == size ? 0.5 : 0.0;
    }
    for (int size = 1; size <= M; size++)
      assert_close(sr__subset_error(M, wrong, size), lost[size] / count[size], 1e-12);
  }
}

/* ---- intervals ---------------------------------------------------------------------------- */

/* One cosine wave: every number of the interval is known. Values of Student's t from tables. */
static void the_interval_of_one_wave(void **state) {
  (void)state;
  enum { N = 4800 };
  static double loss[N];
  const double pi = acos(-1.0), mean = 0.3, height = 0.2;
  for (int i = 0; i < N; i++) loss[i] = mean + height * cos(pi * 2.0 * (i + 0.5) / N);
  sr__interval found;
  sr__interval_in_order(loss, N, 100.0, SR__WIDEN, 0.95, &found);
  /* A_2 = height sqrt(n / 2), the others 0; q = n / 4 T = 12 */
  double error = sqrt((1.25 + 6.0 * 100.0 / N) * height * height * N / 2.0 / 12.0 / N);
  assert_close(found.estimate, mean, 1e-12);
  assert_close(found.degrees, 12.0, 0.0);
  assert_close(found.error, error, 1e-9);
  double step = 2.178812829667229 * error / (mean * (1.0 - mean)), center = log(mean / 0.7);
  assert_close(found.low, 1.0 / (1.0 + exp(step - center)), 1e-9);
  assert_close(found.high, 1.0 / (1.0 + exp(-step - center)), 1e-9);
  assert_int_equal(sr__interval_waves(N, 1.0), 12);
  assert_int_equal(sr__interval_waves(N, 240.0), 5);
  assert_int_equal(sr__interval_waves(N, 4000.0), 3);
}

/* White noise of known variance: the waves tell it, on the mean over many draws. */
static void waves_tell_the_variance_of_white_noise(void **state) {
  (void)state;
  enum { N = 400, RUNS = 2000 };
  static double x[N];
  double sum = 0.0;
  for (int r = 0; r < RUNS; r++) {
    sr__interval found;
    sr_random_normal(11, 0, (uint64_t)r, N, x);
    for (int i = 0; i < N; i++) x[i] = 0.5 + 0.1 * x[i];
    sr__interval_in_order(x, N, 1.0, 1.0, 0.95, &found);
    sum += found.error * found.error / (1.0 + 6.0 / N);
  }
  /* mean of RUNS scaled chi squares with 12 degrees: relative standard error sqrt(2/12/RUNS) */
  assert_close(sum / RUNS * N / 0.01, 1.0, 5.5 * sqrt(2.0 / 12.0 / RUNS));
}

static void no_error_at_all_has_an_upper_bound(void **state) {
  (void)state;
  double loss[500] = {0};
  sr__interval found;
  sr__interval_in_order(loss, 500, 10.0, SR__WIDEN, 0.95, &found);
  assert_close(found.estimate, 0.0, 0.0);
  assert_close(found.low, 0.0, 0.0);
  assert_close(found.high, 1.0 - pow(0.025, 10.0 / 500.0), 1e-12);
}

/* Five groups of unequal size by hand. */
/* A mean that is small beside its standard error: the logit scale alone would reach from 0 to 1. */
static void tiny_errors_keep_a_bound(void **state) {
  (void)state;
  enum { N = 150 };
  double loss[N] = {0};
  loss[20] = 1.0; /* two rows that were wrong, and what carrying them to more members took off */
  loss[90] = 1.0;
  for (int i = 0; i < 19; i++) loss[60 + i] = -0.1;
  sr__interval interval;
  sr__interval_in_order(loss, N, 1.0, 1.25, 0.95, &interval);
  double half = sr_student_quantile(0.975, interval.degrees) * interval.error;
  assert_true(half > 4.0 * interval.estimate);
  assert_true(interval.low >= 0.0 && interval.low < interval.estimate);
  double center = fmax(interval.estimate, 0.5 / N);
  assert_true(fabs(interval.high - (center + 3.0 * half)) < 1e-12);
}

static void groups_by_hand(void **state) {
  (void)state;
  const double loss[] = {2.0, 5.0, 1.0, 0.0, 4.0}, rows[] = {10.0, 20.0, 10.0, 5.0, 15.0};
  double mean = 12.0 / 60.0, spread = 0.0;
  sr__interval found;
  for (int g = 0; g < 5; g++) spread += pow(loss[g] - mean * rows[g], 2.0);
  sr__interval_of_units(loss, rows, 5, 1.25, 0.95, &found);
  assert_close(found.estimate, mean, 1e-12);
  assert_close(found.error, sqrt((1.25 + 2.0 / 5.0) * 5.0 / 4.0 * spread) / 60.0, 1e-12);
  assert_close(found.degrees, 3600.0 / (100.0 + 400.0 + 100.0 + 25.0 + 225.0) - 1.0, 1e-12);
}

/* Differences keep their sign: one wave of them by hand, in order and over units. */
static void differences_by_hand(void **state) {
  (void)state;
  enum { N = 4800 };
  static double gap[N];
  const double pi = acos(-1.0), unit[] = {1.0, -2.0, 0.5, 0.0}, rows[] = {10.0, 20.0, 10.0, 5.0};
  for (int i = 0; i < N; i++) gap[i] = -0.01 + 0.2 * cos(pi * 3.0 * (i + 0.5) / N);
  sr__interval found, turned;
  sr__interval_of_differences(gap, N, 100.0, SR__WIDEN, 0.95, &found);
  double half = 2.178812829667229 * sqrt((1.25 + 6.0 * 100.0 / N) * 0.2 * 0.2 * N / 2.0 / 12.0 / N);
  assert_close(found.low, -0.01 - half, 1e-9);
  assert_close(found.high, -0.01 + half, 1e-9);
  for (int i = 0; i < N; i++) gap[i] = -gap[i];
  sr__interval_of_differences(gap, N, 100.0, SR__WIDEN, 0.95, &turned);
  assert_close(turned.low, -found.high, 1e-12);
  assert_close(turned.high, -found.low, 1e-12);
  sr__interval_of_unit_differences(unit, rows, 4, 1.25, 0.95, &found);
  double mean = -0.5 / 45.0, spread = 0.0;
  for (int g = 0; g < 4; g++) spread += pow(unit[g] - mean * rows[g], 2.0);
  assert_close(found.estimate, mean, 1e-12);
  assert_close(found.error, sqrt((1.25 + 2.0 / 4.0) * 4.0 / 3.0 * spread) / 45.0, 1e-12);
  assert_close(found.low + found.high, 2.0 * mean, 1e-12);
}

static void the_next_unit_by_hand(void **state) {
  (void)state;
  const double error[] = {0.1, 0.2, 0.3, 0.2};
  double low, high, sd = sqrt(0.02 / 3.0), t = 3.182446305284263;
  sr__interval_next(0.2, error, 4, 3.0, 0.95, &low, &high);
  assert_close(high, 0.2 + t * sd * sqrt(1.25), 1e-9);
  assert_close(low, 0.0, 0.0); /* cut */
}

/* On a straight line the line is exact, and its interval has no width. */
static void nearly_everything_says_nothing(void **state) {
  (void)state;
  assert_true(sr__interval_says_nothing(6e-9, 0.9999994));
  assert_true(sr__interval_says_nothing(0.05, 0.96));
  assert_false(sr__interval_says_nothing(0.05, 0.94));
  assert_false(sr__interval_says_nothing(NAN, NAN));
}

static void the_outlook_of_a_straight_line(void **state) {
  (void)state;
  const double error[] = {0.10, 0.15, 0.20, 0.25, 0.30};
  sr__outlook found;
  sr__outlook_of(error, 5, 0.95, &found);
  assert_close(found.line.estimate, 0.35, 1e-12);
  assert_close(found.line.high - found.line.low, 0.0, 1e-6);
  assert_close(found.mean.estimate, 0.2, 1e-12);
  double sd = 0.05 * sqrt(2.5), t = 2.776445105198054;
  assert_close(found.mean.high, 0.2 + t * sd * sqrt(1.2), 1e-9);
  const double bent[] = {0.1, 0.3, 0.2, 0.1, 0.3};
  sr__outlook_of(bent, 5, 0.95, &found); /* slope .02, residual by hand */
  double s = 0.0, fit[] = {0.16, 0.18, 0.2, 0.22, 0.24};
  for (int k = 0; k < 5; k++) s += (bent[k] - fit[k]) * (bent[k] - fit[k]) / 3.0;
  assert_close(found.line.estimate, 0.26, 1e-12);
  assert_close(found.slope, 0.02 * sqrt(10.0) / sqrt(s), 1e-9);
  double half = 3.182446305284263 * sqrt(s * (1.0 + 0.2 + 0.9));
  assert_close(found.line.high, fmin(0.26 + half, 1.0), 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_transform_is_the_sum_that_defines_it),
      cmocka_unit_test(the_transform_is_the_same_at_every_level),
      cmocka_unit_test(powers_are_those_of_both_series),
      cmocka_unit_test(floats_are_sorted_as_numbers),
      cmocka_unit_test(the_reach_of_a_chain_is_its_scale),
      cmocka_unit_test(many_faint_correlations_show_the_scale),
      cmocka_unit_test(slow_signs_on_few_rows_are_seen),
      cmocka_unit_test(runs_are_never_joined),
      cmocka_unit_test(carrying_is_exact_on_normal_margins),
      cmocka_unit_test(carrying_ends_at_its_limits),
      cmocka_unit_test(few_weak_members_stand_for_many),
      cmocka_unit_test(counted_votes_are_votes_of_shares),
      cmocka_unit_test(the_interval_pays_for_the_way),
      cmocka_unit_test(subset_errors_are_means_over_all_subsets),
      cmocka_unit_test(the_interval_of_one_wave),
      cmocka_unit_test(waves_tell_the_variance_of_white_noise),
      cmocka_unit_test(no_error_at_all_has_an_upper_bound),
      cmocka_unit_test(tiny_errors_keep_a_bound),
      cmocka_unit_test(groups_by_hand),
      cmocka_unit_test(differences_by_hand),
      cmocka_unit_test(the_next_unit_by_hand),
      cmocka_unit_test(nearly_everything_says_nothing),
      cmocka_unit_test(the_outlook_of_a_straight_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
