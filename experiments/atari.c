/* The table of ensemble DQN on seven games. On grids: every sampler and control (`atari`), and
 * longer runs of three samplers (`atari-long`). On the real emulator: the first 10^5 steps of four
 * games (`atari-emulator`).
 *
 * The verdict's rule, on the four games where the paper sees a gain (Breakout, Space Invaders,
 * Seaquest, Q*bert), returns scaled by random play and the written player, pairs by seed, Student's
 * 95 % intervals over seeds:
 * - reproduced: routed is above each of the paper's baselines (uniform with 25 % more gradient
 *   steps, PER, REM) and above each control (a random fifth of the rows, contiguous fifths, one
 *   part per batch, separate networks, half the learning rate), and its Var(y) is below that of
 *   the compute-matched uniform, of the random fifth and of half the learning rate;
 * - partly: above all baselines of the paper, but not beyond the controls;
 * - not reproduced: routed is below the compute-matched uniform, or is not above all baselines
 *   although the paper's gap is large enough for these seeds to show;
 * - cannot be tested here: fewer than three seeds, or the smallest difference that the seeds show
 *   four times of five is larger than the paper's gap.
 * Each says what ten seeds, as many as the paper has, could show. */
#include <math.h>
#include <string.h>

#include "replay_study.h"
#include "tools.h"

enum { GAMES = 7, FOUR = 4, FEWEST_SEEDS = 3 };
static const char *const grid_games[GAMES] = {"breakout", "space_invaders", "seaquest", "qbert",
                                              "pong",     "montezuma",      "pitfall"};
static const bool gains[GAMES] = {true, true, true, true, false, false, false};
/* Returns of the paper's table: compute-matched uniform, PER, REM, routed; drop of Var(y) in %. */
static const double paper_return[GAMES][4] = {{328, 340, 346, 364},     {918, 931, 958, 1028},
                                              {1489, 1525, 1550, 1642}, {7595, 7750, 7870, 8160},
                                              {19.3, 19.5, 19.6, 19.8}, {0, 0, 0, 0},
                                              {-12, -10, -8, 0}};
static const double paper_drop[GAMES] = {23, 38, 42, 35, 2, 1, 11};

enum {
  MATCHED,
  ROUTED,
  FIFTH,
  UNIFORM,
  PER,
  REM,
  HALF_RATE,
  CONTIGUOUS,
  ONE_PART,
  SEPARATE,
  ROUTED_FEATURES,
  SAMPLERS
};
static const char *const samplers[SAMPLERS] = {
    "uniform-more", "routed",   "fifth",    "uniform",        "per", "rem", "half-rate",
    "contiguous",   "one-part", "separate", "routed-features"};

static replay_study grid_study(experiment_scale scale) {
  replay_study study = {.games = GAMES,
                        .samplers = SAMPLERS,
                        .game = grid_games,
                        .sampler = samplers,
                        .episodes = 40};
  sr_agent_options_init(&study.agent);
  study.agent.steps = scale == SCALE_FULL ? 200000 : 10000;
  if (scale == SCALE_QUICK) study_learn_fast(&study.agent);
  return study;
}

static int count_grid_cases(experiment_scale scale) {
  (void)scale;
  return GAMES * SAMPLERS;
}
static void name_grid_case(experiment_scale scale, int index, char *name, size_t size) {
  replay_study study = grid_study(scale);
  study_case_name(&study, index, name, size);
}
static sr_status run_grid_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  replay_study study = grid_study(unit->scale);
  return study_run(ctx, &study, unit->index, unit->seed, out);
}

/* Montezuma has no written player: key, door and treasure are 14 points, random play has none. */
static sr_status measure_scales(conclusion *c, study_scale *scale) {
  enum { MOST_POINTS = 14 };
  sr_status status = SR_OK;
  for (int g = 0; g < GAMES; g++) {
    SR_TRY(study_measure_scale(conclusion_context(c), grid_games[g], &scale[g]));
    if (!isnan(scale[g].player)) continue;
    scale[g] = (study_scale){0, MOST_POINTS, true};
    conclusion_add_remark(c, "%s has no written player: its returns are scaled by its %d points.",
                          grid_games[g], MOST_POINTS);
  }
cleanup:
  return status;
}

/* ---- the paper's table beside ours ---------------------------------------------------------- */

/* Scaled return of the compute-matched uniform. */
static double matched_score(conclusion *c, const replay_study *study, const study_scale *scale,
                            int game) {
  return (conclusion_sample(c, study_case(study, game, MATCHED), "return").mean -
          scale[game].random) /
         (scale[game].player - scale[game].random);
}

/* Gains in % of the compute-matched uniform, where returns are comparable as ratios only. */
static void gain_table(conclusion *c, const replay_study *study, const study_scale *scale) {
  conclusion_begin_table(c,
                         "Gain over the compute-matched uniform, % of its distance from random "
                         "play; the paper's of its return");
  for (int g = 0; g < FOUR; g++) {
    bool chosen[GAMES] = {false};
    chosen[g] = true;
    static const int shown[] = {PER, REM, ROUTED, FIFTH};
    for (int k = 0; k < 4; k++) {
      double difference[STUDY_MOST_SEEDS], paper = NAN;
      int n =
          study_differences(c, study, scale, chosen, (study_pair){shown[k], MATCHED}, difference);
      double base = matched_score(c, study, scale, g);
      for (int i = 0; i < n; i++) difference[i] *= 100 / base;
      sr_interval gain = study_interval(n, difference);
      if (k < 3) paper = round(1000 * (paper_return[g][k + 1] / paper_return[g][0] - 1)) / 10;
      conclusion_add_estimate(c, study->game[g], study->sampler[shown[k]], paper, &gain);
      if (n < FEWEST_SEEDS) conclusion_set_agreement(c, SR_AGREEMENT_NONE);
    }
  }
}

static void drop_table(conclusion *c, const replay_study *study) {
  static const int shown[] = {ROUTED, FIFTH, HALF_RATE};
  conclusion_begin_table(c,
                         "Drop of the run's own Var(y) against the compute-matched uniform, %: "
                         "confounded by the scale of Q, as half the learning rate shows");
  for (int g = 0; g < GAMES; g++) {
    bool chosen[GAMES] = {false};
    chosen[g] = true;
    for (int k = 0; k < 3; k++) {
      double ratio[STUDY_MOST_SEEDS];
      int n = study_log_variance_ratios(c, study, chosen, (study_pair){shown[k], MATCHED}, ratio);
      sr_interval log_ratio = study_interval(n, ratio);
      sr_interval drop = {100 * (1 - exp(log_ratio.estimate)), 100 * (1 - exp(log_ratio.high)),
                          100 * (1 - exp(log_ratio.low))};
      conclusion_add_estimate(c, study->game[g], study->sampler[shown[k]],
                              k == 0 ? paper_drop[g] : NAN, &drop);
      if (n < FEWEST_SEEDS) conclusion_set_agreement(c, SR_AGREEMENT_NONE);
    }
  }
}

/* ---- the verdict ---------------------------------------------------------------------------- */

typedef struct finding {
  int seeds;
  sr_interval over_matched; /* scaled return, routed minus compute-matched uniform */
  double base;              /* scaled return of the latter */
  double smallest;
  char of_ten[128];
  const char *baseline;  /* the first that routed is not above; NULL: above all */
  const char *control;   /* the same of the controls */
  const char *variance;  /* the first whose Var(y) is not above routed's */
  sr_interval log_ratio; /* of Var(y), routed over compute-matched uniform */
} finding;

static bool is_above(conclusion *c, const replay_study *study, const study_scale *scale, int a,
                     int b) {
  double difference[STUDY_MOST_SEEDS];
  int n = study_differences(c, study, scale, gains, (study_pair){a, b}, difference);
  return study_interval(n, difference).low > 0;
}

static finding find_out(conclusion *c, const replay_study *study, const study_scale *scale) {
  static const int baselines[] = {MATCHED, PER, REM};
  static const int controls[] = {FIFTH, CONTIGUOUS, ONE_PART, SEPARATE, HALF_RATE};
  static const int variances[] = {MATCHED, FIFTH, HALF_RATE};
  finding f = {0};
  double value[STUDY_MOST_SEEDS];
  f.seeds = study_differences(c, study, scale, gains, (study_pair){ROUTED, MATCHED}, value);
  f.over_matched = study_interval(f.seeds, value);
  f.smallest = study_smallest_difference(f.seeds, value);
  for (int g = 0; g < FOUR; g++) f.base += matched_score(c, study, scale, g) / FOUR;
  study_say_smallest(f.seeds, value, 100 / f.base, " % of uniform's score", f.of_ten,
                     sizeof f.of_ten);
  for (int k = 0; k < 3 && !f.baseline; k++)
    if (!is_above(c, study, scale, ROUTED, baselines[k])) f.baseline = samplers[baselines[k]];
  for (int k = 0; k < 5 && !f.control; k++)
    if (!is_above(c, study, scale, ROUTED, controls[k])) f.control = samplers[controls[k]];
  for (int k = 2; k >= 0; k--) {
    int n = study_log_variance_ratios(c, study, gains, (study_pair){ROUTED, variances[k]}, value);
    f.log_ratio = study_interval(n, value);
    if (!(f.log_ratio.high < 0)) f.variance = samplers[variances[k]];
  }
  return f;
}

static double paper_gap(void) {
  double gap = 0;
  for (int g = 0; g < FOUR; g++) gap += (paper_return[g][3] / paper_return[g][0] - 1) / FOUR;
  return gap;
}

static void decide(conclusion *c, const finding *f) {
  char sizes[300];
  snprintf(sizes, sizeof sizes,
           "%d seeds show differences from %.0f %% on, %s, the paper's is %.0f %%", f->seeds,
           100 * f->smallest / f->base, f->of_ten, 100 * paper_gap());
  sr_interval o = f->over_matched;
  if (f->seeds < FEWEST_SEEDS)
    conclusion_decide(c, VERDICT_CANNOT_BE_TESTED,
                      "only %d seed%s of every game %s there; %s, the paper's is %.0f %%", f->seeds,
                      f->seeds == 1 ? "" : "s", f->seeds == 1 ? "is" : "are", f->of_ten,
                      100 * paper_gap());
  else if (!f->baseline && !f->control && !f->variance)
    conclusion_decide(c, VERDICT_REPRODUCED,
                      "routed is above uniform, PER, REM and all controls, by %.3f [%.3f, %.3f] of "
                      "the scaled return over uniform, and its Var(y) is below theirs; %s",
                      o.estimate, o.low, o.high, sizes);
  else if (!f->baseline)
    conclusion_decide(
        c, VERDICT_PARTLY,
        "routed is above uniform by %.3f [%.3f, %.3f] of the scaled return, and above "
        "PER and REM, but not beyond the control %s%s; %s",
        o.estimate, o.low, o.high, f->control ? f->control : f->variance,
        f->control ? "" : " in Var(y)", sizes);
  else if (o.high < 0)
    conclusion_decide(c, VERDICT_NOT_REPRODUCED,
                      "routed is below uniform by %.3f [%.3f, %.3f] of the scaled return; %s",
                      -o.estimate, -o.high, -o.low, sizes);
  else
    conclusion_decide(c,
                      f->smallest <= paper_gap() * f->base ? VERDICT_NOT_REPRODUCED
                                                           : VERDICT_CANNOT_BE_TESTED,
                      "routed is not above %s (over uniform: %+.3f [%.3f, %.3f] of the scaled "
                      "return); %s",
                      f->baseline, o.estimate, o.low, o.high, sizes);
}

static void remark_on_length(conclusion *c) {
  enum { PAPER_RUNS = 280 };
  const double step_ms = 7.7, hours = PAPER_RUNS * 1e7 * step_ms / 3.6e6;
  conclusion_add_remark(
      c,
      "Not run: the paper's own returns. It does not say the length; at the usual 10^7 steps, 7 "
      "games x 4 samplers x 10 seeds at %.1f ms per step (train every 4, one core) are %.0f core "
      "hours, about %.0f days of two cores.",
      step_ms, hours, hours / 48);
}

static sr_status read_grid_results(conclusion *c) {
  sr_status status = SR_OK;
  replay_study study = grid_study(conclusion_scale(c));
  study_scale scale[GAMES];
  SR_TRY(measure_scales(c, scale));
  SR_TRY(study_tables(c, &study, scale, MATCHED));
  gain_table(c, &study, scale);
  drop_table(c, &study);
  conclusion_add_remark(
      c,
      "Grid games of our own rules take the place of Atari: returns cannot be set beside the "
      "paper's, gains and orders can. %lld steps per run, five heads, 40 games of evaluation.",
      (long long)study.agent.steps);
  remark_on_length(c);
  finding f = find_out(c, &study, scale);
  decide(c, &f);
cleanup:
  return status;
}

extern const experiment experiment_atari;
const experiment experiment_atari = {
    .about = {"atari", "Ensemble DQN on seven grid games: samplers and controls", NULL, 0, NULL},
    .place = "Table of Atari returns, Section 5.4",
    .needs = "nothing: games of our own",
    .seeds = {3, 10},
    .core_seconds = {3 * 77 * 6, 10 * 77 * 90},
    .case_count = count_grid_cases,
    .case_name = name_grid_case,
    .run = run_grid_unit,
    .conclude = read_grid_results};

/* ---- longer runs ---------------------------------------------------------------------------- */

static const char *const long_samplers[] = {"uniform", "routed", "fifth"};
enum { LONG_SAMPLERS = 3 };

static replay_study long_study(experiment_scale scale) {
  replay_study study = {.games = GAMES,
                        .samplers = LONG_SAMPLERS,
                        .game = grid_games,
                        .sampler = long_samplers,
                        .episodes = 40};
  sr_agent_options_init(&study.agent);
  study.agent.steps = scale == SCALE_FULL ? 1000000 : 30000;
  if (scale == SCALE_QUICK) study.agent.epsilon_steps = 8000;
  return study;
}
static int count_long_cases(experiment_scale scale) {
  (void)scale;
  return GAMES * LONG_SAMPLERS;
}
static void name_long_case(experiment_scale scale, int index, char *name, size_t size) {
  replay_study study = long_study(scale);
  study_case_name(&study, index, name, size);
}
static sr_status run_long_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  replay_study study = long_study(unit->scale);
  return study_run(ctx, &study, unit->index, unit->seed, out);
}

/* routed (1) against uniform (0) and against the random fifth (2): the gain is routing's own only
 * where it is over both. */
static sr_status conclude_three(conclusion *c, const replay_study *study, const study_scale *scale,
                                const bool *chosen) {
  double value[STUDY_MOST_SEEDS];
  int n = study_differences(c, study, scale, chosen, (study_pair){1, 0}, value);
  sr_interval over_uniform = study_interval(n, value);
  double smallest = study_smallest_difference(n, value);
  char of_ten[128];
  study_say_smallest(n, value, 1, "", of_ten, sizeof of_ten);
  int m = study_differences(c, study, scale, chosen, (study_pair){1, 2}, value);
  sr_interval over_fifth = study_interval(m, value);
  verdict v = over_uniform.low > 0 && over_fifth.low > 0 ? VERDICT_REPRODUCED
              : over_uniform.low > 0                     ? VERDICT_PARTLY
              : over_uniform.high < 0                    ? VERDICT_NOT_REPRODUCED
              : n >= 3 && smallest < 0.05                ? VERDICT_NOT_REPRODUCED
                                                         : VERDICT_CANNOT_BE_TESTED;
  if (n < 3 || m < 3)
    conclusion_decide(c, VERDICT_CANNOT_BE_TESTED, "only %d seed%s of every game %s there; %s",
                      n < m ? n : m, (n < m ? n : m) == 1 ? "" : "s",
                      (n < m ? n : m) == 1 ? "is" : "are", of_ten);
  else
    conclusion_decide(
        c, v,
        "routed is %+.3f [%.3f, %.3f] of the scaled return from uniform and %+.3f "
        "[%.3f, %.3f] from a random fifth of the rows; %d seeds show differences from "
        "%.3f on, %s",
        over_uniform.estimate, over_uniform.low, over_uniform.high, over_fifth.estimate,
        over_fifth.low, over_fifth.high, n, smallest, of_ten);
  return SR_OK;
}

static sr_status read_long_results(conclusion *c) {
  sr_status status = SR_OK;
  replay_study study = long_study(conclusion_scale(c));
  study_scale scale[GAMES];
  SR_TRY(measure_scales(c, scale));
  SR_TRY(study_tables(c, &study, scale, 0));
  SR_TRY(conclude_three(c, &study, scale, gains));
cleanup:
  return status;
}

extern const experiment experiment_atari_long;
const experiment experiment_atari_long = {
    .about = {"atari-long", "Longer runs of uniform, routed and a random fifth on seven grid games",
              NULL, 0, NULL},
    .place = "Table of Atari returns, Section 5.4",
    .needs = "nothing: games of our own",
    .seeds = {3, 10},
    .core_seconds = {3 * 21 * 15, 10 * 21 * 440},
    .case_count = count_long_cases,
    .case_name = name_long_case,
    .run = run_long_unit,
    .conclude = read_long_results};

/* ---- the real emulator ---------------------------------------------------------------------- */

static const char *const emulator_games[FOUR] = {"ale:breakout", "ale:space_invaders",
                                                 "ale:seaquest", "ale:qbert"};
static const char *const emulator_samplers[] = {"uniform", "routed", "fifth", "per"};
enum { EMULATOR_SAMPLERS = 4 };

static replay_study emulator_study(experiment_scale scale) {
  replay_study study = {.games = FOUR,
                        .samplers = EMULATOR_SAMPLERS,
                        .game = emulator_games,
                        .sampler = emulator_samplers,
                        .episodes = scale == SCALE_FULL ? 10 : 2};
  sr_agent_options_init(&study.agent);
  study.agent.steps = scale == SCALE_FULL ? 100000 : 2000;
  if (scale == SCALE_FULL) study.agent.epsilon_steps = 50000;
  return study;
}
static int count_emulator_cases(experiment_scale scale) {
  (void)scale;
  return FOUR * EMULATOR_SAMPLERS;
}
static void name_emulator_case(experiment_scale scale, int index, char *name, size_t size) {
  replay_study study = emulator_study(scale);
  study_case_name(&study, index, name, size);
}
static sr_status run_emulator_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  replay_study study = emulator_study(unit->scale);
  return study_run(ctx, &study, unit->index, unit->seed, out);
}

/* Returns of the first 10^5 steps are near those of random play, so the paper's reading of the
 * target variance is what is asked: its drop must exceed that of a random fifth of the rows. */
static sr_status read_emulator_results(conclusion *c) {
  const double paper_ratio = 0.65; /* of Var(y), routed over uniform */
  sr_status status = SR_OK;
  replay_study study = emulator_study(conclusion_scale(c));
  study_scale scale[FOUR];
  double value[STUDY_MOST_SEEDS];
  for (int g = 0; g < FOUR; g++) { /* by uniform's own return: there is no written player */
    double mean = conclusion_sample(c, study_case(&study, g, 0), "return").mean;
    scale[g] = (study_scale){0, mean > 0 ? mean : 1, true};
  }
  SR_TRY(study_tables(c, &study, scale, 0));
  conclusion_add_remark(c,
                        "Scaled by uniform's own mean return: the emulator has no written player.");
  int n = study_log_variance_ratios(c, &study, NULL, (study_pair){1, 0}, value);
  sr_interval of_uniform = study_interval(n, value);
  char of_ten[128];
  study_say_smallest(n, value, 1, " in log Var(y)", of_ten, sizeof of_ten);
  int m = study_log_variance_ratios(c, &study, NULL, (study_pair){1, 2}, value);
  sr_interval of_fifth = study_interval(m, value);
  remark_on_length(c);
  if (n < 3 || m < 3 || study.agent.steps < 100000)
    conclusion_decide(c, VERDICT_CANNOT_BE_TESTED,
                      "%d seed%s of %lld steps %s there, 3 of 10^5 are asked for; %s (the paper's "
                      "is %.2f)",
                      n < m ? n : m, (n < m ? n : m) == 1 ? "" : "s", (long long)study.agent.steps,
                      (n < m ? n : m) == 1 ? "is" : "are", of_ten, -log(paper_ratio));
  else
    conclusion_decide(c,
                      of_uniform.high < 0 && of_fifth.high < 0 ? VERDICT_REPRODUCED
                      : of_uniform.high < 0                    ? VERDICT_PARTLY
                                                               : VERDICT_NOT_REPRODUCED,
                      "Var(y) of routed is %.2f [%.2f, %.2f] times uniform's over the first 10^5 "
                      "steps and %.2f [%.2f, %.2f] times that of a random fifth (the paper: %.2f "
                      "of uniform's); %s (the paper's is %.2f)",
                      exp(of_uniform.estimate), exp(of_uniform.low), exp(of_uniform.high),
                      exp(of_fifth.estimate), exp(of_fifth.low), exp(of_fifth.high), paper_ratio,
                      of_ten, -log(paper_ratio));
cleanup:
  return status;
}

extern const experiment experiment_atari_emulator;
const experiment experiment_atari_emulator = {
    .about = {"atari-emulator", "The first 10^5 steps of four Atari games on the real emulator",
              NULL, 0, NULL},
    .place = "Table of Atari returns, Section 5.4",
    .needs = "ale-py (pip install ale-py)",
    .seeds = {1, 3},
    .core_seconds = {16 * 16, 3 * 16 * 780},
    .case_count = count_emulator_cases,
    .case_name = name_emulator_case,
    .run = run_emulator_unit,
    .conclude = read_emulator_results};
