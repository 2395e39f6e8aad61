/* The table on frame skip: uniform replay, routing and a random fifth of the rows on Space Invaders
 * at skips 8, 4, 2, 1, on the grid (`frameskip`) and on the real emulator (`frameskip-emulator`),
 * at equal agent steps and at equal frames. Routing twice: with parts of 40 steps at every skip,
 * and with parts of four times the memory of the pictures, which doubles with every halving of the
 * skip. The verdict is on the latter where it has three seeds of every skip, else on the former.
 *
 * The verdict's rule. The gap routed - uniform must grow as the skip falls: its slope per halving,
 * pairs by seed, is above 0 with its 95 % interval, at equal steps and at equal frames. And it must
 * grow beyond what a random fifth of the rows gains: the same of routed - fifth.
 * - reproduced: both;
 * - partly: only against uniform;
 * - not reproduced: the slopes against uniform lie below half of the paper's growth with their
 * whole intervals;
 * - cannot be tested here: else, or with fewer than three seeds. */
#include <math.h>
#include <string.h>

#include "replay_study.h"

enum { UNIFORM, ROUTED, FIFTH, ROUTED_LONG, SAMPLERS };
enum { SKIPS = 4, FEWEST_SEEDS = 3 };
/* Random play of the grid game is remembered for 7.6, 13.3, 26.8 and 53 steps; the emulator's
 * pictures are looked at in each run. */
static const char *const skip_samplers[SKIPS][SAMPLERS] = {
    {"uniform", "routed", "fifth", "routed:block=30"},
    {"uniform", "routed", "fifth", "routed:block=53"},
    {"uniform", "routed", "fifth", "routed:block=107"},
    {"uniform", "routed", "fifth", "routed:block=212"}};
static const char *const emulator_samplers[SAMPLERS] = {"uniform", "routed", "fifth",
                                                        "routed:block=0"};
static const char *const columns[SAMPLERS] = {"uniform", "routed", "fifth", "routed, parts of 4 T"};

static const char *const skip_games[SKIPS] = {"space_invaders:skip=8", "space_invaders:skip=4",
                                              "space_invaders:skip=2", "space_invaders:skip=1"};
static const char *const skip_emulator_games[SKIPS] = {"ale:rom=space_invaders,skip=8",
                                                       "ale:rom=space_invaders,skip=4",
                                                       "ale:rom=space_invaders,skip=2",
                                                       "ale:rom=space_invaders,skip=1"};
static const int skips[SKIPS] = {8, 4, 2, 1};
static const double paper_skip_gap[SKIPS] = {3.2, 12.0, 45.8, 189};

/* Cases: equal agent steps for the four skips, then equal frames. In a study of one game. */
static replay_study skip_study(experiment_scale scale, int index, bool emulator) {
  int per_mode = SKIPS * SAMPLERS, skip = index % per_mode % SKIPS;
  bool frames = index >= per_mode;
  replay_study study = {.games = 1,
                        .samplers = SAMPLERS,
                        .game = emulator ? &skip_emulator_games[skip] : &skip_games[skip],
                        .sampler = emulator ? emulator_samplers : skip_samplers[skip],
                        .episodes = !emulator             ? 40
                                    : scale == SCALE_FULL ? 10
                                                          : 1};
  sr_agent_options_init(&study.agent);
  int64_t at_four = scale == SCALE_FULL ? (emulator ? 100000 : 1000000) : (emulator ? 1200 : 10000);
  study.agent.steps = frames ? at_four * 4 / skips[skip] : at_four;
  study.agent.stack = 4;
  if (emulator && scale == SCALE_QUICK) { /* most of the steps learn, and act by what was learned */
    study.agent.start = 200;
    study.agent.epsilon_steps = 400;
    study.agent.target_every = 100;
  }
  if (emulator) return study;
  study.agent.train_every = scale == SCALE_FULL ? 4 : 1;
  study.agent.capacity = 100000;
  if (scale == SCALE_QUICK) study_learn_fast(&study.agent);
  return study;
}
static int skip_sampler(int index) { return index % (SKIPS * SAMPLERS) / SKIPS; }
static int skip_case(bool frames, int skip, int sampler) {
  return (frames ? SKIPS * SAMPLERS : 0) + sampler * SKIPS + skip;
}
static int count_skip_cases(experiment_scale scale) {
  (void)scale;
  return 2 * SKIPS * SAMPLERS;
}
static void name_any_case(experiment_scale scale, int index, bool emulator, char *name,
                          size_t size) {
  replay_study study = skip_study(scale, index, emulator);
  study_case_name(&study, skip_sampler(index), name, size);
  size_t used = strlen(name);
  snprintf(name + used, size - used, " equal=%s", index >= SKIPS * SAMPLERS ? "frames" : "steps");
}
static void name_grid_case(experiment_scale scale, int index, char *name, size_t size) {
  name_any_case(scale, index, false, name, size);
}
static void name_emulator_case(experiment_scale scale, int index, char *name, size_t size) {
  name_any_case(scale, index, true, name, size);
}
static sr_status run_grid_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  replay_study study = skip_study(unit->scale, unit->index, false);
  return study_run(ctx, &study, skip_sampler(unit->index), unit->seed, out);
}
static sr_status run_emulator_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  replay_study study = skip_study(unit->scale, unit->index, true);
  return study_run(ctx, &study, skip_sampler(unit->index), unit->seed, out);
}

/* Differences of two samplers at one skip, paired by seed. */
static sr_interval skip_gap(conclusion *c, bool frames, int skip, int a, int b, int *pairs) {
  double difference[STUDY_MOST_SEEDS];
  result_sample x = conclusion_sample(c, skip_case(frames, skip, a), "return"),
                y = conclusion_sample(c, skip_case(frames, skip, b), "return");
  int n = 0;
  for (int64_t i = 0; i < x.count; i++)
    for (int64_t j = 0; j < y.count && n < STUDY_MOST_SEEDS; j++)
      if (x.seed[i] == y.seed[j]) difference[n++] = x.value[i] - y.value[j];
  if (pairs) *pairs = n;
  return study_interval(n, difference);
}

/* Slope over log2(1/skip) of a difference that is paired by seed: how the gap grows as T doubles.
 */
static sr_interval gap_slope(conclusion *c, bool frames, int a, int b, int *points) {
  double x[SKIPS * STUDY_MOST_SEEDS], y[SKIPS * STUDY_MOST_SEEDS];
  int64_t n = 0;
  for (int k = 0; k < SKIPS; k++) {
    result_sample s = conclusion_sample(c, skip_case(frames, k, a), "return"),
                  r = conclusion_sample(c, skip_case(frames, k, b), "return");
    for (int64_t i = 0; i < s.count; i++)
      for (int64_t j = 0; j < r.count; j++)
        if (s.seed[i] == r.seed[j] && n < SKIPS * STUDY_MOST_SEEDS) {
          x[n] = k;
          y[n++] = s.value[i] - r.value[j];
        }
  }
  sr_line_fit fit;
  sr_interval none = {NAN, NAN, NAN};
  *points = (int)n;
  return n >= 8 && sr_fit_line(conclusion_context(c), n, x, y, 0, 0.95, &fit) == SR_OK ? fit.slope
                                                                                       : none;
}

/* The slope of each seed that every skip has, to tell what more seeds could show. */
static int slopes_by_seed(conclusion *c, bool frames, int a, int b, double *slope) {
  int count = 0;
  result_sample first = conclusion_sample(c, skip_case(frames, 0, a), "return");
  for (int64_t i = 0; i < first.count && count < STUDY_MOST_SEEDS; i++) {
    double sum = 0;
    int found = 0;
    for (int k = 0; k < SKIPS; k++) {
      result_sample s = conclusion_sample(c, skip_case(frames, k, a), "return"),
                    r = conclusion_sample(c, skip_case(frames, k, b), "return");
      for (int64_t j = 0; j < s.count; j++)
        for (int64_t l = 0; l < r.count; l++)
          if (s.seed[j] == first.seed[i] && r.seed[l] == first.seed[i]) {
            sum += (k - (SKIPS - 1) / 2.0) * (s.value[j] - r.value[l]);
            found++;
          }
    }
    if (found == SKIPS) slope[count++] = sum / 5; /* 1.5^2 + .5^2 + .5^2 + 1.5^2 */
  }
  return count;
}

static bool has_long_parts(conclusion *c) {
  for (int mode = 0; mode < 2; mode++)
    for (int k = 0; k < SKIPS; k++)
      if (conclusion_sample(c, skip_case(mode, k, ROUTED_LONG), "return").count < FEWEST_SEEDS)
        return false;
  return true;
}

static sr_status read_skip_results(conclusion *c) {
  static const char *const readings[] = {"equal steps", "equal frames"};
  int routed = has_long_parts(c) ? ROUTED_LONG : ROUTED;
  sr_interval over_uniform[2], over_fifth[2];
  int points = 0;
  for (int mode = 0; mode < 2; mode++) {
    char caption[96];
    snprintf(caption, sizeof caption, "Return on Space Invaders, %s", readings[mode]);
    conclusion_begin_table(c, caption);
    for (int k = 0; k < SKIPS; k++) {
      char row[32];
      snprintf(row, sizeof row, "skip %d", skips[k]);
      for (int s = 0; s < SAMPLERS; s++) {
        result_sample sample = conclusion_sample(c, skip_case(mode, k, s), "return");
        conclusion_add_cell(c, row, columns[s], NAN, NAN, &sample);
      }
      double base = conclusion_sample(c, skip_case(mode, k, 0), "return").mean;
      int pairs;
      sr_interval gap = skip_gap(c, mode, k, routed, UNIFORM, &pairs),
                  fifth = skip_gap(c, mode, k, FIFTH, UNIFORM, NULL);
      gap = (sr_interval){100 * gap.estimate / base, 100 * gap.low / base, 100 * gap.high / base};
      fifth = (sr_interval){100 * fifth.estimate / base, 100 * fifth.low / base,
                            100 * fifth.high / base};
      conclusion_add_estimate(c, row, "routed over uniform, %", paper_skip_gap[k], &gap);
      if (pairs < FEWEST_SEEDS) conclusion_set_agreement(c, SR_AGREEMENT_NONE);
      conclusion_add_estimate(c, row, "fifth over uniform, %", NAN, &fifth);
    }
    over_uniform[mode] = gap_slope(c, mode, routed, UNIFORM, &points);
    over_fifth[mode] = gap_slope(c, mode, routed, FIFTH, &points);
  }
  conclusion_add_remark(
      c,
      "Frame skip changes the action repeat, the horizon and the frames seen, not "
      "T alone: at equal steps skip 1 sees an eighth of the game of skip 8, at "
      "equal frames it makes eight times the gradient steps.");
  double level = conclusion_sample(c, skip_case(false, 1, 0), "return").mean;
  /* The paper's gap grows from 3 to 189 % over three halvings: half of that per halving. */
  double half_of_paper = 0.5 * (paper_skip_gap[3] - paper_skip_gap[0]) / 300 * level;
  bool grows = over_uniform[0].low > 0 && over_uniform[1].low > 0;
  bool beyond = over_fifth[0].low > 0 && over_fifth[1].low > 0;
  bool flat = over_uniform[0].high < half_of_paper && over_uniform[1].high < half_of_paper;
  double slope[STUDY_MOST_SEEDS];
  char of_ten[128];
  int seeds = slopes_by_seed(c, false, routed, UNIFORM, slope);
  study_say_smallest(seeds, slope, 1, " points per halving", of_ten, sizeof of_ten);
  if (points < SKIPS * FEWEST_SEEDS)
    conclusion_decide(
        c, VERDICT_CANNOT_BE_TESTED,
        "fewer than three seeds of each skip are there; %s, half of the paper's growth "
        "would be %.2f",
        of_ten, half_of_paper);
  else
    conclusion_decide(
        c,
        grows && beyond ? VERDICT_REPRODUCED
        : grows         ? VERDICT_PARTLY
        : flat          ? VERDICT_NOT_REPRODUCED
                        : VERDICT_CANNOT_BE_TESTED,
        "per halving of the skip the gap of routed (parts of %s) over uniform changes by %+.2f "
        "[%.2f, %.2f] points of return at equal steps and %+.2f [%.2f, %.2f] at equal "
        "frames, over a random fifth by %+.2f [%.2f, %.2f] and %+.2f [%.2f, %.2f]; half "
        "of the paper's growth would be %.2f; %s",
        routed == ROUTED_LONG ? "4 T" : "40 steps", over_uniform[0].estimate, over_uniform[0].low,
        over_uniform[0].high, over_uniform[1].estimate, over_uniform[1].low, over_uniform[1].high,
        over_fifth[0].estimate, over_fifth[0].low, over_fifth[0].high, over_fifth[1].estimate,
        over_fifth[1].low, over_fifth[1].high, half_of_paper, of_ten);
  return SR_OK;
}

extern const experiment experiment_frameskip;
const experiment experiment_frameskip = {
    .about = {"frameskip", "Uniform, routed and a random fifth as the frame skip falls", NULL, 0,
              NULL},
    .place = "Table on frame skip, Section 5.4",
    .needs = "nothing: games of our own",
    .seeds = {3, 10},
    .core_seconds = {3 * 32 * 6, 10 * 32 * 140},
    .case_count = count_skip_cases,
    .case_name = name_grid_case,
    .run = run_grid_unit,
    .conclude = read_skip_results};

extern const experiment experiment_frameskip_emulator;
const experiment experiment_frameskip_emulator = {
    .about = {"frameskip-emulator", "The same on the real emulator's Space Invaders", NULL, 0,
              NULL},
    .place = "Table on frame skip, Section 5.4",
    .needs = "ale-py (pip install ale-py)",
    .seeds = {1, 3},
    .core_seconds = {32 * 20, 3 * 32 * 1100},
    .case_count = count_skip_cases,
    .case_name = name_emulator_case,
    .run = run_emulator_unit,
    .conclude = read_skip_results};
