/* specroute rl train: one agent on one game, with checkpoints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "generated.h"
#include "progress.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "FILE", NULL, "own", 0, 0,
     "the agent with its buffer; where FILE holds one already, training goes on with it"},
    {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
     "learning curves as a page, .html or .md"},
    {"episodes", 0, CLI_INTEGER, "N", "40", NULL, 2, 100000,
     "games of the evaluation after training, with 1 % random actions"},
    {"checkpoint", 0, CLI_REAL, "MINUTES", "30", NULL, 0, 1e6,
     "minutes between two checkpoints in FILE; 0: only at the end or an interrupt"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"game", "game", sr_game_method, false, false},
                                          {"sampler", "sampler", sr_sampler_method, false, false},
                                          {NULL, NULL, NULL, false, false}};

/* ---- going on ------------------------------------------------------------------------------ */

/* What was given on the line must be what the agent of the file was made with; more steps may be
 * asked for. */
static int check_agrees(cli_run *run, const char *path, sr_agent *agent,
                        const sr_agent_options *asked) {
  const char *remedy = "give another -o FILE, or leave the option out to go on with it";
  const sr_agent_view *view = sr_agent_get(agent);
  for (const sr_option *o = sr_agent_option_list(); o->key; o++) {
    char value[256], flag[64];
    snprintf(flag, sizeof flag, "%s", o->key);
    for (char *c = flag; *c; c++) *c = *c == '_' ? '-' : *c;
    if (strcmp(o->key, "steps") == 0 || !cli_given(run, flag)) continue;
    sr_option_print(o, asked, value, sizeof value);
    if (sr_agent_check_option(run->ctx, agent, o->key, value) != SR_OK)
      return cli_complain(run, CLI_USAGE, "%s: %s; %s", path, sr_context_error(run->ctx).message,
                          remedy);
  }
  if (cli_given(run, "seed") && view->seed != run->seed)
    return cli_complain(run, CLI_USAGE, "%s: the agent has seed %llu, not %llu; %s", path,
                        (unsigned long long)view->seed, (unsigned long long)run->seed, remedy);
  return CLI_SUCCESS;
}

/* Loads what the file holds, for the steps that are asked for, or begins anew. */
static int begin(cli_run *run, const char *path, const sr_agent_options *asked, sr_agent **agent) {
  sr_status status;
  if (!path || access(path, F_OK) != 0) {
    status = sr_agent_new(run->ctx, asked, run->seed, agent);
    return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
  }
  status = sr_agent_load(run->ctx, path, agent);
  if (status != SR_OK) return cli_fail(run, status);
  const sr_agent_view *view = sr_agent_get(*agent);
  cli_say(run, "%s: going on at step %lld\n", path, (long long)view->step);
  int code = check_agrees(run, path, *agent, asked);
  if (code != CLI_SUCCESS || !cli_given(run, "steps") || asked->steps <= view->step) return code;
  status = sr_agent_plan(run->ctx, *agent, asked->steps);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

/* ---- training ------------------------------------------------------------------------------ */

/* A name of its own where an interrupted run was given none. */
static const char *keeping_path(cli_run *run, const sr_agent_view *view) {
  if (cli_given(run, "output")) return cli_text(run, "output");
  size_t size = strlen(view->game) + strlen(view->sampler) + 64;
  char *path = cli_keep(run, size);
  if (!path) return "interrupted.agent";
  snprintf(path, size, "%s-%s-%llu.agent", view->game, view->sampler,
           (unsigned long long)view->seed);
  for (char *c = path; *c; c++) *c = strchr(":=,/", *c) ? '-' : *c;
  return path;
}

/* What became of a failure: an interrupt, in training or after it, keeps the agent first. */
static int stop_early(cli_run *run, sr_agent *agent, sr_status why) {
  if (why != SR_ERROR_INTERRUPTED) return cli_fail(run, why);
  const sr_agent_view *view = sr_agent_get(agent);
  const char *path = keeping_path(run, view);
  sr_context_resume(run->ctx);
  cli_progress_clear(run->progress);
  sr_status status = sr_agent_save(run->ctx, agent, path);
  if (status != SR_OK) return cli_fail(run, status);
  return cli_complain(run, CLI_INTERRUPTED,
                      "interrupted at step %lld of %lld: all of it is in %s; the same command with "
                      "-o %s goes on",
                      (long long)view->step, (long long)view->options->steps, path, path);
}

static int train(cli_run *run, sr_agent *agent, int64_t steps) {
  enum { PIECE = 64 };
  const sr_agent_view *view = sr_agent_get(agent);
  const char *path = cli_text(run, "output");
  double begun = sr_seconds(), saved = begun, pause = 60 * cli_real(run, "checkpoint");
  int64_t first = view->step;
  sr_status status = SR_OK;
  while (view->step < steps && status == SR_OK) {
    int64_t piece = steps - view->step < PIECE ? steps - view->step : PIECE;
    double now = sr_seconds();
    snprintf(run->progress->note, sizeof run->progress->note,
             "return %.3g, loss %.3g, %.0f steps/s", view->recent_return, view->recent_loss,
             (double)(view->step - first) / (now - begun + 1e-9));
    status = sr_agent_train(run->ctx, agent, piece);
    if (status == SR_OK && path && pause > 0 && sr_seconds() - saved > pause) {
      status = sr_agent_save(run->ctx, agent, path);
      saved = sr_seconds();
    }
  }
  run->progress->note[0] = '\0';
  if (status == SR_OK && path && view->step > first) status = sr_agent_save(run->ctx, agent, path);
  return status == SR_OK ? CLI_SUCCESS : stop_early(run, agent, status);
}

/* ---- what came of it ----------------------------------------------------------------------- */

typedef struct outcome {
  int64_t resumed, episodes;
  double seconds, mean, steps_per_second;
  sr_interval iqm;
  bool split_known;
  sr_target_split split;
} outcome;

static sr_status evaluate(cli_run *run, sr_agent *agent, outcome *o) {
  sr_status status = SR_OK;
  double *returns = calloc((size_t)o->episodes, sizeof *returns);
  if (!returns) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(sr_agent_evaluate(run->ctx, agent, o->episodes, 0.01, run->seed + 1000003, returns));
  o->mean = sr_mean(o->episodes, returns);
  SR_TRY(sr_iqm(run->ctx, o->episodes, 1, returns, NULL, run->seed, &o->iqm));
  status = sr_agent_target_split(run->ctx, agent, sr_agent_get(agent)->sampler, 2000, run->seed,
                                 &o->split);
  o->split_known = status == SR_OK;
  if (status == SR_ERROR_UNSUPPORTED || status == SR_ERROR_DATA) status = SR_OK;
cleanup:
  free(returns);
  return status;
}

static json_t *records_json(const sr_agent_view *view) {
  json_t *list = json_array();
  for (int64_t k = 0; k < view->records; k++) {
    const sr_agent_record *r = &view->record[k];
    json_array_append_new(list,
                          json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "step", (json_int_t)r->step,
                                    "episodes", (json_int_t)r->episodes, "return",
                                    cli_json_real(r->mean_return), "loss", cli_json_real(r->loss),
                                    "target_mean", cli_json_real(r->target_mean), "target_variance",
                                    cli_json_real(r->target_variance), "epsilon",
                                    cli_json_real(r->epsilon)));
  }
  return list;
}

static json_t *targets_json(const sr_agent_view *view, const outcome *o) {
  double none = NAN;
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "run", cli_json_real(view->target_variance),
                   "run_mean", cli_json_real(view->target_mean), "frozen",
                   cli_json_real(o->split_known ? o->split.total : none), "frozen_mean",
                   cli_json_real(o->split_known ? o->split.mean : none), "within",
                   cli_json_real(o->split_known ? o->split.within : none), "between",
                   cli_json_real(o->split_known ? o->split.between : none), "batch_error",
                   cli_json_real(o->split_known ? o->split.batch_error : none));
}

static json_t *outcome_json(cli_run *run, const sr_agent_view *view, const outcome *o) {
  double busy = view->seconds_play + view->seconds_learn + view->seconds_cut;
  const char *path = cli_text(run, "output");
  json_t *result = json_pack(
      "{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:{s:o,s:o,s:o,s:o,s:I},s:o,s:o,s:o,s:I,s:o,s:o,s:{s:o,s:o,"
      "s:o,s:o}}",
      "game", view->game, "sampler", view->sampler, "heads", (json_int_t)view->options->heads,
      "steps", (json_int_t)view->step, "resumed_at", (json_int_t)o->resumed, "seed",
      (json_int_t)view->seed, "gradient_steps", (json_int_t)view->gradient_steps, "parameters",
      (json_int_t)view->parameters, "return", "iqm", cli_json_real(o->iqm.estimate), "low",
      cli_json_real(o->iqm.low), "high", cli_json_real(o->iqm.high), "mean", cli_json_real(o->mean),
      "episodes", (json_int_t)o->episodes, "target_variance", targets_json(view, o),
      "steps_per_second", cli_json_real(o->steps_per_second), "cut_share",
      cli_json_real(busy > 0 ? view->seconds_cut / busy : 0), "cuts", (json_int_t)view->cuts,
      "records", records_json(view), "agent", path ? json_string(path) : json_null(), "seconds",
      "play", cli_json_real(view->seconds_play), "learn", cli_json_real(view->seconds_learn), "cut",
      cli_json_real(view->seconds_cut), "total", cli_json_real(sr_seconds() - run->started));
  return result;
}

static void print_outcome(const cli_run *run, const sr_agent_view *view, const outcome *o) {
  cli_say(run, "%s, sampler %s, %lld heads: %lld steps, %lld gradient steps, %lld weights\n",
          view->game, view->sampler, (long long)view->options->heads, (long long)view->step,
          (long long)view->gradient_steps, (long long)view->parameters);
  cli_say(run, "return      %.4g [%.4g, %.4g] (interquartile mean of %lld games, mean %.4g)\n",
          o->iqm.estimate, o->iqm.low, o->iqm.high, (long long)o->episodes, o->mean);
  cli_say(run,
          "targets     of the run: Var(y) %.4g at mean y %.4g (both grow with the scale of Q)\n",
          view->target_variance, view->target_mean);
  if (o->split_known)
    cli_say(run,
            "            of the buffer, network frozen: Var(y) %.4g = %.4g within heads + %.4g "
            "between, batch error %.3g\n",
            o->split.total, o->split.within, o->split.between, o->split.batch_error);
  if (view->cuts > 0)
    cli_say(run, "cuts        %lld, %.1f %% of the time\n", (long long)view->cuts,
            100 * view->seconds_cut /
                (view->seconds_play + view->seconds_learn + view->seconds_cut));
  cli_say(run, "speed       %.0f steps/s\n", o->steps_per_second);
}

/* ---- the page ------------------------------------------------------------------------------ */

static sr_status add_curve(cli_run *run, sr_page *page, const sr_agent_view *view,
                           const char *title, const char *label,
                           double (*of)(const sr_agent_record *)) {
  sr_status status = SR_OK;
  double *x = calloc((size_t)view->records + 1, sizeof *x),
         *y = calloc((size_t)view->records + 1, sizeof *y);
  if (!x || !y) SR_TRY(SR_ERROR_MEMORY);
  for (int64_t k = 0; k < view->records; k++) {
    x[k] = (double)view->record[k].step;
    y[k] = of(&view->record[k]);
  }
  const sr_plot_series series = {.kind = SR_PLOT_LINE_POINTS,
                                 .count = view->records,
                                 .x = x,
                                 .y = y};
  const sr_plot plot = {
      .title = title, .x_label = "steps", .y_label = label, .series_count = 1, .series = &series};
  SR_TRY(sr_page_add_plot(run->ctx, page, &plot));
cleanup:
  free(x);
  free(y);
  return status;
}

static double return_of(const sr_agent_record *r) { return r->mean_return; }
static double loss_of(const sr_agent_record *r) { return r->loss; }
static double mean_of(const sr_agent_record *r) { return r->target_mean; }
static double variance_of(const sr_agent_record *r) { return r->target_variance; }

static sr_status write_page(cli_run *run, const sr_agent_view *view, const outcome *o) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char text[512];
  const char *path = cli_text(run, "report");
  if (!path) return SR_OK;
  snprintf(text, sizeof text, "%s, sampler %s", view->game, view->sampler);
  SR_TRY(cli_page_new(run, text, path, &page));
  snprintf(text, sizeof text,
           "After %lld steps the agent returns %.4g a game (%.4g to %.4g): interquartile mean of "
           "%lld games after training.",
           (long long)view->step, o->iqm.estimate, o->iqm.low, o->iqm.high, (long long)o->episodes);
  SR_TRY(sr_page_note(run->ctx, page, SR_AGREEMENT_NONE, text));
  snprintf(text, sizeof text, "%lld gradient steps, %lld heads, seed %llu.",
           (long long)view->gradient_steps, (long long)view->options->heads,
           (unsigned long long)view->seed);
  SR_TRY(sr_page_paragraph(run->ctx, page, text));
  SR_TRY(add_curve(run, page, view, "Return in training", "return", return_of));
  SR_TRY(add_curve(run, page, view, "Loss", "Huber loss", loss_of));
  SR_TRY(add_curve(run, page, view, "Mean of the targets", "mean y", mean_of));
  SR_TRY(add_curve(run, page, view, "Variance of the targets: it grows with their mean", "Var(y)",
                   variance_of));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

static int run_rl_train(cli_run *run) {
  sr_agent_options asked;
  sr_agent *agent = NULL;
  outcome o = {.episodes = cli_integer(run, "episodes")};
  sr_agent_options_init(&asked);
  int code = cli_read_task(run, "the agent", sr_agent_option_list(), &asked);
  if (code == CLI_SUCCESS) code = begin(run, cli_text(run, "output"), &asked, &agent);
  if (code != CLI_SUCCESS) goto cleanup;
  const sr_agent_view *view = sr_agent_get(agent);
  o.resumed = view->step;
  double begun = sr_seconds();
  code = train(run, agent, cli_given(run, "steps") ? asked.steps : view->options->steps);
  if (code != CLI_SUCCESS) goto cleanup;
  o.seconds = sr_seconds() - begun;
  o.steps_per_second = view->step > o.resumed ? (double)(view->step - o.resumed) / o.seconds : NAN;
  sr_status status = evaluate(run, agent, &o);
  if (status == SR_OK) status = write_page(run, view, &o);
  if (status != SR_OK) {
    code = stop_early(run, agent, status);
    goto cleanup;
  }
  cli_progress_clear(run->progress);
  print_outcome(run, view, &o);
  code = cli_finish(run, outcome_json(run, view, &o));
cleanup:
  sr_agent_free(&agent);
  return code;
}

const cli_command cli_rl_train = {
    .name = "rl train",
    .arguments = "",
    .help = "train a Q-learning agent with several heads on a game",
    .description =
        "Plays the game, learns from a replay buffer through the sampler, evaluates apart from\n"
        "training and splits the variance of the targets. An interrupt saves the agent with its\n"
        "buffer; the same command goes on bit for bit.",
    .groups = {options},
    .tasks = {sr_agent_option_list},
    .methods = methods,
    .example = "specroute rl train --game breakout --sampler routed --steps 30000 -o b.agent",
    .run = run_rl_train};
