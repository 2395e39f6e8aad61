/* The figure of the appendix on Nystrom: the effective rank sum lambda_i / lambda_1 of the kernel
 * as a replay buffer grows. Real buffers: a uniform agent plays a grid game, and at each size the
 * last hidden layer of its buffer is looked at. The kernel is an RBF at the median distance.
 *
 * The rank of any fixed kernel levels off, on any data: so two controls without a buffer stand
 * beside it, a simulated chain (T = 50, d = 10) and independent Gaussians in 10 dimensions.
 *
 * The verdict's rule, "levels off" being a change below 15 % between the last two sizes:
 * - not reproduced: the rank of the buffers does not level off;
 * - partly: it levels off, not within a factor of two of the paper's level, and a control does not;
 * - reproduced: it levels off within a factor of two, and a control does not;
 * - cannot be tested here: it levels off and so do the controls: the figure then holds for any
 *   data and says nothing of replay buffers. */
#include <math.h>

#include "experiment.h"

enum { SIZES = 7, QUICK_SIZES = 4, LANDMARKS = 300 };
static const int64_t sizes[SIZES] = {1000, 5000, 10000, 20000, 50000, 100000, 1000000};
static const double paper[SIZES] = {15, 32, 42, NAN, 46, 48, 51};
enum { SOURCES = 6, CONTROLS = 2 };
/* Games first; the controls last. */
static const char *const sources[SOURCES] = {"breakout", "pong",           "space_invaders",
                                             "qbert",    "ar1 chain T 50", "independent rows"};

static int size_count(experiment_scale scale) { return scale == SCALE_QUICK ? QUICK_SIZES : SIZES; }

static int count_cases(experiment_scale scale) {
  (void)scale;
  return SOURCES;
}

static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  static const char *const words[] = {"breakout", "pong", "space_invaders",
                                      "qbert",    "ar1",  "independent"};
  snprintf(name, size, "source=%s largest=%lld l=%d", words[index],
           (long long)sizes[size_count(scale) - 1], LANDMARKS);
}

static sr_status measure_rank(sr_context *ctx, const sr_table *table, int64_t rows, uint64_t seed,
                              measurement *out) {
  sr_status status = SR_OK;
  sr_spectrum *spectrum = NULL;
  sr_nystrom_options options;
  char name[32];
  sr_nystrom_options_init(&options);
  options.landmarks = LANDMARKS;
  options.pairs = 0; /* a row far from all others has no place in a pair, but counts in the rank */
  SR_TRY(sr_spectrum_nystrom(ctx, table, &options, seed, &spectrum));
  snprintf(name, sizeof name, "rank-%lld", (long long)rows);
  experiment_measure(out, name, sr_spectrum_get(spectrum)->effective_rank);
cleanup:
  sr_spectrum_free(&spectrum);
  return status;
}

static sr_status run_game(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  int count = size_count(unit->scale);
  sr_agent *agent = NULL;
  sr_table *table = NULL;
  sr_agent_options options;
  sr_agent_options_init(&options);
  options.game = sources[unit->index];
  options.steps = sizes[count - 1] + sizes[count - 1] / 2;
  options.capacity = options.steps + options.steps / 2;
  options.train_every = unit->scale == SCALE_QUICK ? 1 : 4;
  if (unit->scale == SCALE_QUICK) options.epsilon_steps = 8000;
  SR_TRY(sr_agent_new(ctx, &options, unit->seed, &agent));
  for (int k = 0; k < count; k++) {
    /* A few steps more: the last picture of an episode is no row. */
    SR_TRY(sr_agent_train(ctx, agent, sizes[k] + 16 - sr_agent_get(agent)->step));
    SR_TRY(sr_agent_table(ctx, agent, sizes[k], &table));
    SR_TRY(measure_rank(ctx, table, sizes[k], unit->seed, out));
    sr_table_free(&table);
  }
cleanup:
  sr_table_free(&table);
  sr_agent_free(&agent);
  return status;
}

static sr_status run_control(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  bool chained = unit->index == SOURCES - CONTROLS;
  for (int k = 0; k < size_count(unit->scale); k++) {
    char text[96];
    snprintf(text, sizeof text, "ar1:n=%lld,d=10,tmix=%d", (long long)sizes[k], chained ? 50 : 1);
    SR_TRY(sr_simulate(ctx, text, unit->seed, 0, &table, NULL));
    SR_TRY(measure_rank(ctx, table, sizes[k], unit->seed, out));
    sr_table_free(&table);
  }
cleanup:
  sr_table_free(&table);
  return status;
}

static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  return unit->index < SOURCES - CONTROLS ? run_game(ctx, unit, out) : run_control(ctx, unit, out);
}

static result_sample rank_of(conclusion *c, int source, int size) {
  char name[32];
  snprintf(name, sizeof name, "rank-%lld", (long long)sizes[size]);
  return conclusion_sample(c, source, name);
}

static sr_status read_results(conclusion *c) {
  int count = size_count(conclusion_scale(c));
  double change_of_games = 0, change_of_controls = 0, level = 0;
  conclusion_begin_table(c, "Effective rank of the kernel; games: last hidden layer of the buffer");
  for (int k = 0; k < count; k++) {
    char row[32];
    snprintf(row, sizeof row, "n = %lld", (long long)sizes[k]);
    for (int s = 0; s < SOURCES; s++) {
      result_sample rank = rank_of(c, s, k);
      conclusion_add_cell(c, row, sources[s], s == 0 ? paper[k] : NAN, NAN, &rank);
    }
  }
  for (int s = 0; s < SOURCES; s++) {
    double last = rank_of(c, s, count - 1).mean;
    double change = fabs(last / rank_of(c, s, count - 2).mean - 1);
    if (s < SOURCES - CONTROLS) {
      change_of_games = fmax(change_of_games, change);
      level += last / (SOURCES - CONTROLS);
    } else {
      change_of_controls = fmax(change_of_controls, change);
    }
    if (isnan(change)) change_of_games = NAN;
  }
  double of_paper = level / (isnan(paper[count - 1]) ? paper[count - 2] : paper[count - 1]);
  bool games_level = change_of_games < 0.15, controls_level = change_of_controls < 0.15;
  bool near = of_paper > 0.5 && of_paper < 2;
  verdict v = isnan(change_of_games) ? VERDICT_CANNOT_BE_TESTED
              : !games_level         ? VERDICT_NOT_REPRODUCED
              : controls_level       ? VERDICT_CANNOT_BE_TESTED
              : near                 ? VERDICT_REPRODUCED
                                     : VERDICT_PARTLY;
  conclusion_decide(c, v,
                    "between n = %lld and %lld the rank of the buffers changes by at most %.1f %% "
                    "(to %.3g, %.2g of the paper's level), that of a simulated chain and of "
                    "independent rows by at most %.1f %%%s",
                    (long long)sizes[count - 2], (long long)sizes[count - 1], 100 * change_of_games,
                    level, of_paper, 100 * change_of_controls,
                    games_level && controls_level ? ": it levels off on any data" : "");
  return SR_OK;
}

extern const experiment experiment_effective_rank;
const experiment experiment_effective_rank = {
    .about = {"effective-rank", "Effective rank of the kernel as a replay buffer grows", NULL, 0,
              NULL},
    .place = "Appendix on Nystrom, Figure",
    .needs = "nothing: games of our own",
    .seeds = {2, 3},
    .core_seconds = {2 * 4 * 15, 3 * 4 * 300},
    .case_count = count_cases,
    .case_name = name_case,
    .run = run_unit,
    .conclude = read_results};
