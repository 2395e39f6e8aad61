/* specroute rl compare: games x samplers x seeds, breadth first, resumable. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "conclusion.h"
#include "generated.h"
#include "progress.h"
#include "replay_study.h"
#include "runner.h"

static const cli_option options[] = {
    {"games", 0, CLI_TEXT, "GAME,...", "breakout,pong", NULL, 0, 0,
     "games to compare on: NAME[:KEY=VALUE,...]"},
    {"samplers", 0, CLI_TEXT, "SAMPLER,...", "uniform,per,routed,fifth", NULL, 0, 0,
     "samplers to compare; the others are set against the first"},
    {"seeds", 0, CLI_INTEGER, "K", "3", NULL, 1, STUDY_MOST_SEEDS,
     "seeds of every game and sampler, from --seed on"},
    {"episodes", 0, CLI_INTEGER, "N", "40", NULL, 1, 100000,
     "games of the evaluation after training, with 1 % random actions"},
    {"output", 'o', CLI_PATH, "DIR", "rl-results", NULL, 0, 0,
     "folder of the results; finished runs found there are not run again"},
    {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
     "tables, learning curves and performance profiles as a page, .html or .md"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"games", "game", sr_game_method, true, false},
                                          {"samplers", "sampler", sr_sampler_method, true, false},
                                          {NULL, NULL, NULL, false, false}};

/* All but the game and the sampler, which are the first two. */
static const sr_option *agent_options(void) { return sr_agent_option_list() + 2; }

enum { MOST = 64 };

/* The functions of an experiment get its scale alone, so the one study of this process stands
 * here. */
static replay_study study;

/* ---- as an experiment ---------------------------------------------------------------------- */

static int count_cases(experiment_scale scale) {
  (void)scale;
  return study.games * study.samplers;
}
static void name_case(experiment_scale scale, int index, char *name, size_t size) {
  (void)scale;
  study_case_name(&study, index, name, size);
}
static sr_status run_unit(sr_context *ctx, const experiment_unit *unit, measurement *out) {
  return study_run(ctx, &study, unit->index, unit->seed, out);
}

/* By random play and the written player; a game without one by the first sampler's own mean. */
static sr_status find_scales(conclusion *c, study_scale *scale) {
  sr_status status = SR_OK;
  for (int g = 0; g < study.games; g++) {
    SR_TRY(study_measure_scale(conclusion_context(c), study.game[g], &scale[g]));
    if (!isnan(scale[g].player)) continue;
    double mean = conclusion_sample(c, study_case(&study, g, 0), "return").mean;
    scale[g] = (study_scale){0, mean > 0 ? mean : 1, true};
    conclusion_add_remark(c, "%s has no written player: its returns are scaled by %s's mean.",
                          study.game[g], study.sampler[0]);
  }
cleanup:
  return status;
}

static sr_status read_results(conclusion *c) {
  sr_status status = SR_OK;
  study_scale scale[MOST];
  SR_TRY(find_scales(c, scale));
  SR_TRY(study_tables(c, &study, scale, 0));
  conclusion_begin_table(c, "Against the first sampler, scaled return, pairs by seed");
  for (int s = 1; s < study.samplers; s++) {
    double difference[STUDY_MOST_SEEDS];
    int n = study_differences(c, &study, scale, NULL, (study_pair){s, 0}, difference);
    sr_interval mean = study_interval(n, difference),
                smallest = {study_smallest_difference(n, difference), NAN, NAN};
    conclusion_add_estimate(c, study.sampler[s], "difference", NAN, &mean);
    conclusion_add_estimate(c, study.sampler[s], "smallest that shows", NAN, &smallest);
  }
cleanup:
  return status;
}

static const experiment compared = {.about = {"rl-compare", "Samplers of a replay buffer", NULL, 0,
                                              NULL},
                                    .place = "",
                                    .needs = "nothing",
                                    .case_count = count_cases,
                                    .case_name = name_case,
                                    .run = run_unit,
                                    .conclude = read_results};

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *case_json(cli_run *run, conclusion *c, int game, int sampler) {
  result_sample returns = conclusion_sample(c, study_case(&study, game, sampler), "return"),
                variance =
                    conclusion_sample(c, study_case(&study, game, sampler), "target-variance"),
                mean = conclusion_sample(c, study_case(&study, game, sampler), "target-mean"),
                speed = conclusion_sample(c, study_case(&study, game, sampler), "steps-per-second");
  sr_interval iqm = {NAN, NAN, NAN};
  if (returns.count > 0 &&
      sr_iqm(run->ctx, returns.count, 1, returns.value, NULL, 1, &iqm) != SR_OK)
    iqm.estimate = NAN;
  iqm = study_without_ends((int)returns.count, iqm);
  return json_pack("{s:s,s:s,s:I,s:I,s:{s:o,s:o,s:o,s:o,s:o},s:{s:o,s:o},s:o}", "game",
                   study.game[game], "sampler", study.sampler[sampler], "steps",
                   (json_int_t)study.agent.steps, "n", (json_int_t)returns.count, "return", "iqm",
                   cli_json_real(iqm.estimate), "low", cli_json_real(iqm.low), "high",
                   cli_json_real(iqm.high), "mean", cli_json_real(returns.mean), "sd",
                   cli_json_real(returns.sd), "target_variance", "run",
                   cli_json_real(variance.mean), "run_mean", cli_json_real(mean.mean),
                   "steps_per_second", cli_json_real(speed.mean));
}

static json_t *as_json(cli_run *run, conclusion *c, const run_report *report) {
  json_t *rows = json_array();
  for (int s = 0; s < study.samplers; s++)
    for (int g = 0; g < study.games; g++) json_array_append_new(rows, case_json(run, c, g, s));
  return json_pack("{s:o,s:o,s:I,s:I,s:o}", "rows", rows, "cells", conclusion_cells(c), "units",
                   (json_int_t)report->units, "run_now", (json_int_t)report->finished, "seconds",
                   cli_json_real(report->seconds));
}

/* ---- the command --------------------------------------------------------------------------- */

/* The methods that a flag lists, each as one text. */
static int split_methods(cli_run *run, const char *flag, const char **method, int *count) {
  const char *text = cli_method_text(run, flag), *start[MOST];
  size_t length[MOST];
  int32_t found = sr_methods_split(text, MOST, start, length);
  if (found > MOST)
    return cli_complain(run, CLI_USAGE, "--%s names %d methods; %d are the most", flag, found,
                        MOST);
  for (int32_t k = 0; k < found; k++) {
    char *one = cli_keep(run, length[k] + 1);
    if (!one) return cli_complain(run, CLI_NO_MEMORY, "out of memory");
    memcpy(one, start[k], length[k]);
    method[k] = one;
    for (int32_t before = 0; before < k; before++)
      if (strcmp(method[before], one) == 0)
        return cli_complain(run, CLI_USAGE, "--%s names %s twice", flag, one);
  }
  *count = found;
  return CLI_SUCCESS;
}

/* Names are where results are found again, so none may be cut. */
static int check_names(cli_run *run) {
  for (int i = 0; i < study.games * study.samplers; i++) {
    char name[CASE_NAME_SIZE + 64];
    study_case_name(&study, i, name, sizeof name);
    if (strlen(name) >= CASE_NAME_SIZE)
      return cli_complain(
          run, CLI_USAGE,
          "the options of one run are longer than %d characters; leave some at their "
          "defaults: %s",
          CASE_NAME_SIZE - 1, name);
  }
  return CLI_SUCCESS;
}

/* Who has the highest return in how many games, and over how many seeds. */
static sr_status add_headline(cli_run *run, sr_page *page, conclusion *c) {
  enum { SEEDS_THAT_SHOW = 10 };
  int won[MOST] = {0}, best = 0;
  int64_t seeds = INT64_MAX;
  char text[512];
  for (int g = 0; g < study.games; g++) {
    int first = 0;
    double most = -INFINITY;
    for (int s = 0; s < study.samplers; s++) {
      result_sample returns = conclusion_sample(c, study_case(&study, g, s), "return");
      if (returns.count < seeds) seeds = returns.count;
      if (returns.count > 0 && returns.mean > most) first = s;
      if (returns.count > 0 && returns.mean > most) most = returns.mean;
    }
    won[first]++;
  }
  for (int s = 1; s < study.samplers; s++)
    if (won[s] > won[best]) best = s;
  snprintf(text, sizeof text,
           "%s has the highest mean return in %d of %d game%s, over %lld seed%s%s.",
           study.sampler[best], won[best], study.games, study.games == 1 ? "" : "s",
           (long long)seeds, seeds == 1 ? "" : "s",
           seeds < SEEDS_THAT_SHOW ? " each: so few show large differences alone" : " each");
  return sr_page_note(run->ctx, page, SR_AGREEMENT_NONE, text);
}

static sr_status write_page(cli_run *run, const char *folder, char *reason, size_t size) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  conclusion *tables = NULL, *plots = NULL;
  const result_source source = {&compared, SCALE_FULL, folder};
  const char *path = cli_text(run, "report");
  if (!path) return SR_OK;
  SR_TRY(cli_page_new(run, "Samplers of a replay buffer", path, &page));
  SR_TRY(conclusion_read(run->ctx, &source, NULL, &tables, reason, size));
  SR_TRY(add_headline(run, page, tables));
  SR_TRY(conclusion_tables(tables, page));
  SR_TRY(conclusion_read(run->ctx, &source, page, &plots, reason, size));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  conclusion_free(&tables);
  conclusion_free(&plots);
  sr_page_free(&page);
  return status;
}

static int run_rl_compare(cli_run *run) {
  const char *game[MOST], *sampler[MOST];
  run_options o = {.folder = cli_text(run, "output"),
                   .scale = SCALE_FULL,
                   .seeds = (int)cli_integer(run, "seeds"),
                   .first_seed = run->seed};
  run_report report;
  conclusion *c = NULL;
  cli_progress progress = {0};
  study = (replay_study){.game = game,
                         .sampler = sampler,
                         .episodes = cli_integer(run, "episodes"),
                         .folder = o.folder};
  sr_agent_options_init(&study.agent);
  int code = cli_read_task(run, "the agent", agent_options(), &study.agent);
  if (code == CLI_SUCCESS) code = split_methods(run, "games", game, &study.games);
  if (code == CLI_SUCCESS) code = split_methods(run, "samplers", sampler, &study.samplers);
  if (code == CLI_SUCCESS) code = check_names(run);
  if (code != CLI_SUCCESS) return code;
  if (!run->quiet && isatty(STDERR_FILENO)) {
    o.progress = cli_progress_update;
    o.progress_data = &progress;
  }
  sr_status status = experiment_run(run->ctx, &compared, &o, &report);
  cli_progress_clear(&progress);
  if (status == SR_ERROR_INTERRUPTED)
    return cli_complain(
        run, CLI_INTERRUPTED,
        "interrupted: %lld of %lld runs are in %s, and the agents of those under way; "
        "run again to go on",
        (long long)(report.found + report.finished), (long long)report.units, o.folder);
  if (status == SR_OK)
    status = conclusion_read(run->ctx, &(result_source){&compared, SCALE_FULL, o.folder}, NULL, &c,
                             report.reason, sizeof report.reason);
  if (status == SR_OK) status = write_page(run, o.folder, report.reason, sizeof report.reason);
  if (status != SR_OK) {
    conclusion_free(&c);
    return cli_complain(run, cli_code(status), "%s", report.reason);
  }
  cli_say(run, "%lld runs, %lld of them now in %.1f s\n\n", (long long)report.units,
          (long long)report.finished, report.seconds);
  if (!run->json && !run->quiet) conclusion_print(c, stdout);
  code = cli_finish(run, as_json(run, c, &report));
  conclusion_free(&c);
  return code;
}

const cli_command cli_rl_compare = {
    .name = "rl compare",
    .arguments = "",
    .help = "returns of samplers on games over several seeds, with intervals",
    .description =
        "Trains every sampler on every game under every seed, one core each, and sets the returns\n"
        "side by side: interquartile means with bootstrap intervals, the probability of being\n"
        "better than the first sampler, the smallest difference that the seeds can show. Seeds go\n"
        "slowest. An interrupted comparison goes on where it stopped, runs under way included.",
    .groups = {options},
    .tasks = {agent_options},
    .methods = methods,
    .example =
        "specroute rl compare --games breakout,pong --samplers uniform,routed,fifth --steps 5000",
    .output_is_folder = true,
    .run = run_rl_compare};
