#include "replay_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- cases --------------------------------------------------------------------------------- */

void study_learn_fast(sr_agent_options *agent) {
  agent->start = 500;
  agent->epsilon_steps = 4000;
  agent->target_every = 250;
  agent->learning_rate = 1e-3;
}

int study_case(const replay_study *study, int game, int sampler) {
  return sampler * study->games + game;
}

/* Every option that is not at its default, since each changes the numbers. */
void study_case_name(const replay_study *study, int index, char *name, size_t size) {
  sr_agent_options defaults;
  sr_agent_options_init(&defaults);
  snprintf(name, size, "game=%s sampler=%s heads=%lld steps=%lld episodes=%lld",
           study->game[index % study->games], study->sampler[index / study->games],
           (long long)study->agent.heads, (long long)study->agent.steps,
           (long long)study->episodes);
  for (const sr_option *o = sr_agent_option_list(); o->key; o++) {
    char value[64], usual[64];
    size_t used = strlen(name);
    if (o->type == SR_OPTION_TEXT || strcmp(o->key, "heads") == 0 || strcmp(o->key, "steps") == 0 ||
        strcmp(o->key, "log_every") == 0)
      continue;
    sr_option_print(o, &study->agent, value, sizeof value);
    sr_option_print(o, &defaults, usual, sizeof usual);
    if (strcmp(value, usual) != 0) snprintf(name + used, size - used, " %s=%s", o->key, value);
  }
}

/* ---- one run ------------------------------------------------------------------------------- */

/* The case is in the name as a hash, so that a run with other options is never taken for this
 * one. */
static void kept_path(const replay_study *study, int index, uint64_t seed, char *path,
                      size_t size) {
  char name[2 * CASE_NAME_SIZE];
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  study_case_name(study, index, name, sizeof name);
  for (const char *c = name; *c; c++) hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001B3);
  snprintf(path, size, "%s/%s,%s,%llu-%08x.agent", study->folder, study->game[index % study->games],
           study->sampler[index / study->games], (unsigned long long)seed, (unsigned)(hash >> 32));
}

static sr_status begin_run(sr_context *ctx, const char *path, const sr_agent_options *options,
                           uint64_t seed, sr_agent **agent) {
  if (path[0] && access(path, R_OK) == 0) return sr_agent_load(ctx, path, agent);
  return sr_agent_new(ctx, options, seed, agent);
}

static sr_status measure_run(sr_context *ctx, const replay_study *study, sr_agent *agent,
                             uint64_t seed, double begun, measurement *out) {
  sr_status status = SR_OK;
  const sr_agent_view *view = sr_agent_get(agent);
  double *returns = calloc((size_t)study->episodes, sizeof *returns);
  if (!returns) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(sr_agent_evaluate(ctx, agent, study->episodes, 0.01, seed + 1000003, returns));
  experiment_measure(out, "return", sr_mean(study->episodes, returns));
  experiment_measure(out, "return-sd", sr_standard_deviation(study->episodes, returns));
  experiment_measure(out, "target-variance", view->target_variance);
  experiment_measure(out, "target-mean", view->target_mean);
  experiment_measure(out, "gradient-steps", (double)view->gradient_steps);
  experiment_measure(out, "cut-share",
                     view->seconds_cut /
                         (view->seconds_play + view->seconds_learn + view->seconds_cut));
  experiment_measure(out, "steps-per-second", (double)view->step / (sr_seconds() - begun));
  for (int64_t k = 0; k < view->records && k < STUDY_CURVE_POINTS; k++) {
    char name[16];
    snprintf(name, sizeof name, "c%d", (int)k + 1);
    experiment_measure(out, name, view->record[k].mean_return);
  }
cleanup:
  free(returns);
  return status;
}

sr_status study_run(sr_context *ctx, const replay_study *study, int index, uint64_t seed,
                    measurement *out) {
  sr_status status = SR_OK;
  sr_agent *agent = NULL;
  sr_agent_options o = study->agent;
  char path[1200] = "";
  double begun = sr_seconds();
  o.game = study->game[index % study->games];
  o.sampler = study->sampler[index / study->games];
  o.log_every = o.steps >= STUDY_CURVE_POINTS ? o.steps / STUDY_CURVE_POINTS : 1;
  if (study->folder) kept_path(study, index, seed, path, sizeof path);
  SR_TRY(begin_run(ctx, path, &o, seed, &agent));
  status = sr_agent_train(ctx, agent, o.steps - sr_agent_get(agent)->step);
  if (status == SR_OK) status = measure_run(ctx, study, agent, seed, begun, out);
  if (status == SR_ERROR_INTERRUPTED && path[0]) { /* what was learned goes on next time */
    sr_context_resume(ctx);
    sr_status kept = sr_agent_save(ctx, agent, path);
    sr_context_interrupt(ctx);
    if (kept != SR_OK) status = kept;
  }
  SR_TRY(status);
  if (path[0]) (void)unlink(path);
cleanup:
  sr_agent_free(&agent);
  return status;
}

/* ---- the scale of a game ------------------------------------------------------------------- */

enum { SCALE_GAMES = 200, RANDOM_BLOCK = 512 };

static sr_status mean_return(sr_context *ctx, const char *text, bool written, double *mean) {
  sr_status status = SR_OK;
  sr_game *game = NULL;
  double uniform[RANDOM_BLOCK];
  int64_t used = RANDOM_BLOCK;
  uint64_t block = 0;
  *mean = 0;
  SR_TRY(sr_game_new(ctx, text, 20260101, &game));
  const sr_game_view *view = sr_game_get(game);
  if (written && sr_game_script(game) < 0) *mean = NAN;
  for (int k = 0; k < SCALE_GAMES && !isnan(*mean); k++) {
    while (!view->over && !view->truncated) {
      double reward;
      if (used == RANDOM_BLOCK) {
        sr_random_uniform(20260101, block++, 0, RANDOM_BLOCK, uniform);
        used = 0;
      }
      int32_t action = (int32_t)(uniform[used++] * view->actions);
      SR_TRY(sr_game_step(ctx, game, written ? sr_game_script(game) : action, &reward));
    }
    *mean += view->score / SCALE_GAMES;
    SR_TRY(sr_game_reset(ctx, game));
  }
cleanup:
  sr_game_free(&game);
  return status;
}

sr_status study_measure_scale(sr_context *ctx, const char *game, study_scale *scale) {
  sr_status status = SR_OK;
  *scale = (study_scale){NAN, NAN, false};
  SR_TRY(mean_return(ctx, game, true, &scale->player));
  if (!isnan(scale->player)) SR_TRY(mean_return(ctx, game, false, &scale->random));
cleanup:
  return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The value of one seed; NaN where it is missing. */
static double value_at(const result_sample *sample, uint64_t seed) {
  for (int64_t i = 0; i < sample->count; i++)
    if (sample->seed[i] == seed) return sample->value[i];
  return NAN;
}

int study_common_seeds(conclusion *c, const replay_study *study, int samplers, const int *sampler,
                       uint64_t *seed) {
  result_sample first = conclusion_sample(c, study_case(study, 0, sampler[0]), "return");
  int count = 0;
  for (int64_t i = 0; i < first.count && count < STUDY_MOST_SEEDS; i++)
    seed[count++] = first.seed[i];
  for (int k = 0; k < samplers; k++)
    for (int g = 0; g < study->games; g++) {
      result_sample sample = conclusion_sample(c, study_case(study, g, sampler[k]), "return");
      int kept = 0;
      for (int i = 0; i < count; i++)
        if (!isnan(value_at(&sample, seed[i]))) seed[kept++] = seed[i];
      count = kept;
    }
  return count;
}

static double scaled(const study_scale *scale, double value) {
  return (value - scale->random) / (scale->player - scale->random);
}

int study_differences(conclusion *c, const replay_study *study, const study_scale *scale,
                      const bool *chosen, study_pair pair, double *difference) {
  uint64_t seed[STUDY_MOST_SEEDS];
  int count = study_common_seeds(c, study, 2, (const int[]){pair.a, pair.b}, seed), games = 0;
  for (int i = 0; i < count; i++) difference[i] = 0;
  for (int g = 0; g < study->games; g++) {
    if (chosen && !chosen[g]) continue;
    result_sample of_a = conclusion_sample(c, study_case(study, g, pair.a), "return"),
                  of_b = conclusion_sample(c, study_case(study, g, pair.b), "return");
    for (int i = 0; i < count; i++)
      difference[i] +=
          scaled(&scale[g], value_at(&of_a, seed[i])) - scaled(&scale[g], value_at(&of_b, seed[i]));
    games++;
  }
  for (int i = 0; i < count; i++) difference[i] /= games;
  return count;
}

/* A game without variance in either (no reward was ever seen) has no ratio and is left out. */
int study_log_variance_ratios(conclusion *c, const replay_study *study, const bool *chosen,
                              study_pair pair, double *ratio) {
  uint64_t seed[STUDY_MOST_SEEDS];
  double games[STUDY_MOST_SEEDS] = {0};
  int count = study_common_seeds(c, study, 2, (const int[]){pair.a, pair.b}, seed);
  for (int i = 0; i < count; i++) ratio[i] = 0;
  for (int g = 0; g < study->games; g++) {
    if (chosen && !chosen[g]) continue;
    result_sample of_a = conclusion_sample(c, study_case(study, g, pair.a), "target-variance"),
                  of_b = conclusion_sample(c, study_case(study, g, pair.b), "target-variance");
    for (int i = 0; i < count; i++) {
      double x = value_at(&of_a, seed[i]), y = value_at(&of_b, seed[i]);
      if (!(x > 0) || !(y > 0)) continue;
      ratio[i] += log(x / y);
      games[i]++;
    }
  }
  for (int i = 0; i < count; i++) ratio[i] /= games[i];
  return count;
}

sr_interval study_interval(int count, const double *value) {
  sr_interval interval = {NAN, -INFINITY, INFINITY};
  if (count > 0) interval.estimate = sr_mean(count, value);
  if (count < 2) return interval;
  double half = sr_student_quantile(0.975, count - 1) * sr_standard_deviation(count, value) /
                sqrt((double)count);
  interval.low = interval.estimate - half;
  interval.high = interval.estimate + half;
  return interval;
}

static double smallest_of(int seeds, double sd) {
  return (sr_student_quantile(0.975, seeds - 1) + sr_student_quantile(0.8, seeds - 1)) * sd /
         sqrt((double)seeds);
}

double study_smallest_difference(int count, const double *difference) {
  return count < 2 ? NAN : smallest_of(count, sr_standard_deviation(count, difference));
}

double study_smallest_of_ten(int count, const double *difference) {
  return count < 2 ? NAN : smallest_of(STUDY_PAPER_SEEDS, sr_standard_deviation(count, difference));
}

void study_say_smallest(int count, const double *difference, double factor, const char *unit,
                        char *text, size_t size) {
  if (count < 2)
    snprintf(text, size, "what %d seeds can show is not known from the spread of one",
             STUDY_PAPER_SEEDS);
  else
    snprintf(text, size, "%d seeds would show differences from %.3g%s on", STUDY_PAPER_SEEDS,
             factor * study_smallest_of_ten(count, difference), unit);
}

sr_interval study_without_ends(int seeds, sr_interval interval) {
  if (seeds >= 2) return interval;
  return (sr_interval){interval.estimate, -INFINITY, INFINITY};
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Scaled returns of a sampler, seeds x games; the caller frees. */
static double *scaled_returns(conclusion *c, const replay_study *study, const study_scale *scale,
                              int sampler, int seeds, const uint64_t *seed) {
  double *value = calloc((size_t)(seeds * study->games + 1), sizeof *value);
  for (int g = 0; value && g < study->games; g++) {
    result_sample sample = conclusion_sample(c, study_case(study, g, sampler), "return");
    for (int i = 0; i < seeds; i++)
      value[i * study->games + g] = scaled(&scale[g], value_at(&sample, seed[i]));
  }
  return value;
}

static void returns_table(conclusion *c, const replay_study *study, const study_scale *scale) {
  conclusion_begin_table(c, "Return after training, mean and sd over seeds");
  for (int g = 0; g < study->games; g++) {
    for (int s = 0; s < study->samplers; s++) {
      result_sample sample = conclusion_sample(c, study_case(study, g, s), "return");
      conclusion_add_cell(c, study->game[g], study->sampler[s], NAN, NAN, &sample);
    }
    if (scale[g].assumed) continue;
    sr_interval random = {scale[g].random, NAN, NAN}, player = {scale[g].player, NAN, NAN};
    conclusion_add_estimate(c, study->game[g], "random play", NAN, &random);
    conclusion_add_estimate(c, study->game[g], "written player", NAN, &player);
  }
}

static void targets_table(conclusion *c, const replay_study *study) {
  conclusion_begin_table(c,
                         "Targets that a run learned from: Var(y) grows with the scale of Q, so "
                         "mean y stands beside it");
  for (int s = 0; s < study->samplers; s++)
    for (int g = 0; g < study->games; g++) {
      char column[STUDY_LABEL_SIZE];
      result_sample sample = conclusion_sample(c, study_case(study, g, s), "target-variance");
      snprintf(column, sizeof column, "%.30s, Var(y)", study->game[g]);
      conclusion_add_cell(c, study->sampler[s], column, NAN, NAN, &sample);
      sample = conclusion_sample(c, study_case(study, g, s), "target-mean");
      snprintf(column, sizeof column, "%.30s, mean y", study->game[g]);
      conclusion_add_cell(c, study->sampler[s], column, NAN, NAN, &sample);
    }
}

static bool any_played(const replay_study *study, const study_scale *scale) {
  for (int g = 0; g < study->games; g++)
    if (!scale[g].assumed) return true;
  return false;
}

/* Lines that one plot can tell apart. */
enum { PLOT_LINES = 6 };

/* As many plots as the lines need; the title numbers them. */
static void add_plots(conclusion *c, const sr_plot *plot, int lines, const sr_plot_series *series) {
  int plots = (lines + PLOT_LINES - 1) / PLOT_LINES;
  for (int k = 0; k < plots; k++) {
    char title[160];
    sr_plot one = *plot;
    if (plots > 1) {
      snprintf(title, sizeof title, "%s (%d of %d)", plot->title, k + 1, plots);
      one.title = title;
    }
    one.series = series + k * PLOT_LINES;
    one.series_count = lines - k * PLOT_LINES < PLOT_LINES ? lines - k * PLOT_LINES : PLOT_LINES;
    conclusion_add_plot(c, &one);
  }
}

/* IQM with a stratified bootstrap, P(sampler > base), and the profiles. */
static sr_status aggregate_table(conclusion *c, const replay_study *study, const study_scale *scale,
                                 int base) {
  enum { TAUS = 41 };
  sr_status status = SR_OK;
  sr_context *ctx = conclusion_context(c);
  double tau[TAUS], *own = NULL, *of_base = NULL;
  double(*line)[3][TAUS] = calloc((size_t)study->samplers, sizeof *line);
  sr_plot_series *series = calloc((size_t)study->samplers, sizeof *series);
  uint64_t seed[STUDY_MOST_SEEDS];
  int drawn = 0;
  sr_bootstrap_options o;
  sr_bootstrap_options_init(&o);
  o.replicates = 5000;
  if (!line || !series) SR_TRY(SR_ERROR_MEMORY);
  for (int t = 0; t < TAUS; t++) tau[t] = -0.5 + 2.0 * t / (TAUS - 1);
  conclusion_begin_table(c,
                         any_played(study, scale)
                             ? "All games: returns scaled to 0 (random play) and 1 (written "
                               "player), 95 % intervals by a bootstrap of seeds inside games"
                             : "All games: scaled returns, 95 % intervals by a bootstrap of seeds "
                               "inside games");
  for (int s = 0; s < study->samplers; s++) {
    sr_interval interval, profile[TAUS];
    int seeds = study_common_seeds(c, study, 2, (const int[]){s, base}, seed);
    free(own);
    free(of_base);
    own = scaled_returns(c, study, scale, s, seeds, seed);
    of_base = scaled_returns(c, study, scale, base, seeds, seed);
    if (!own || !of_base) SR_TRY(SR_ERROR_MEMORY);
    if (seeds == 0) continue;
    SR_TRY(sr_iqm(ctx, seeds, study->games, own, &o, 1, &interval));
    interval = study_without_ends(seeds, interval);
    conclusion_add_estimate(c, study->sampler[s], "IQM", NAN, &interval);
    SR_TRY(sr_probability_of_improvement(ctx, study->games, seeds, own, seeds, of_base, &o, 1,
                                         &interval));
    char column[STUDY_LABEL_SIZE];
    interval = study_without_ends(seeds, interval);
    snprintf(column, sizeof column, "P(better than %.24s)", study->sampler[base]);
    conclusion_add_estimate(c, study->sampler[s], column, NAN, &interval);
    o.replicates = 2000;
    SR_TRY(sr_performance_profile(ctx, seeds, study->games, own, TAUS, tau, &o, 1, profile));
    o.replicates = 5000;
    for (int t = 0; t < TAUS; t++) {
      line[s][0][t] = profile[t].estimate;
      line[s][1][t] = profile[t].low;
      line[s][2][t] = profile[t].high;
    }
    bool band = seeds >= 2; /* the bootstrap of one seed has no width */
    series[drawn++] = (sr_plot_series){.label = study->sampler[s],
                                       .kind = SR_PLOT_LINE,
                                       .count = TAUS,
                                       .x = tau,
                                       .y = line[s][0],
                                       .low = band ? line[s][1] : NULL,
                                       .high = band ? line[s][2] : NULL};
  }
  sr_plot plot = {.title = "Performance profiles",
                  .x_label = any_played(study, scale)
                                 ? "scaled return (0: random play, 1: written player)"
                                 : "scaled return",
                  .y_label = "share of runs above"};
  add_plots(c, &plot, drawn, series);
cleanup:
  free(own);
  free(of_base);
  free(line);
  free(series);
  return status;
}

/* Return in training over the steps, with the 95 % interval of the mean as a band. */
static sr_status curve_plot(conclusion *c, const replay_study *study, int game) {
  sr_status status = SR_OK;
  double x[STUDY_CURVE_POINTS];
  double(*y)[3][STUDY_CURVE_POINTS] = calloc((size_t)study->samplers, sizeof *y);
  sr_plot_series *series = calloc((size_t)study->samplers, sizeof *series);
  char title[128];
  int drawn = 0;
  if (!y || !series) SR_TRY(SR_ERROR_MEMORY);
  for (int k = 0; k < STUDY_CURVE_POINTS; k++)
    x[k] = (double)study->agent.steps * (k + 1) / STUDY_CURVE_POINTS;
  for (int s = 0; s < study->samplers; s++) {
    if (conclusion_sample(c, study_case(study, game, s), "return").count == 0) continue;
    for (int k = 0; k < STUDY_CURVE_POINTS; k++) {
      char name[16];
      snprintf(name, sizeof name, "c%d", k + 1);
      result_sample sample = conclusion_sample(c, study_case(study, game, s), name);
      sr_interval interval = study_interval((int)sample.count, sample.value);
      y[drawn][0][k] = interval.estimate;
      y[drawn][1][k] = isfinite(interval.low) ? interval.low : interval.estimate;
      y[drawn][2][k] = isfinite(interval.high) ? interval.high : interval.estimate;
    }
    series[drawn] = (sr_plot_series){.label = study->sampler[s],
                                     .kind = SR_PLOT_LINE,
                                     .count = STUDY_CURVE_POINTS,
                                     .x = x,
                                     .y = y[drawn][0],
                                     .low = y[drawn][1],
                                     .high = y[drawn][2]};
    drawn++;
  }
  snprintf(title, sizeof title, "Return in training: %.80s", study->game[game]);
  sr_plot plot = {.title = title,
                  .x_label = "steps",
                  .y_label = "return of the episodes that ended"};
  add_plots(c, &plot, drawn, series);
cleanup:
  free(y);
  free(series);
  return status;
}

sr_status study_tables(conclusion *c, const replay_study *study, const study_scale *scale,
                       int base) {
  sr_status status = SR_OK;
  returns_table(c, study, scale);
  SR_TRY(aggregate_table(c, study, scale, base));
  targets_table(c, study);
  for (int g = 0; g < study->games; g++) SR_TRY(curve_plot(c, study, g));
cleanup:
  return status;
}
