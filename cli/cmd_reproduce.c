/* specroute reproduce: runs experiments, resumes them, prints the paper beside what was measured.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "conclusion.h"
#include "progress.h"
#include "runner.h"

static const cli_option options[] = {
    {"scale", 0, CLI_CHOICE, "SCALE", "quick", "quick|full", 0, 0,
     "quick: minutes; full: the paper's sizes and seeds"},
    {"seeds", 0, CLI_INTEGER, "K", NULL, NULL, 1, 1000000,
     "seeds a case, instead of the scale's own"},
    {"output", 'o', CLI_PATH, "DIR", "results", NULL, 0, 0,
     "folder of the result files; finished units found there are not run again"},
    {"data", 0, CLI_PATH, "DIR", NULL, NULL, 0, 0,
     "folder of the data that an experiment needs, such as the UCR archive; any subset will do"},
    {"list", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0,
     "name the experiments, what they need and how long they take"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static experiment_scale scale_asked(const cli_run *run) {
  return strcmp(cli_text(run, "scale"), "full") == 0 ? SCALE_FULL : SCALE_QUICK;
}

static int seeds_asked(const cli_run *run, const experiment *e) {
  return cli_given(run, "seeds") ? (int)cli_integer(run, "seeds") : e->seeds[scale_asked(run)];
}

/* ---- --list ------------------------------------------------------------------------------- */

/* From what the units in the result file took, where there are any; else from the experiment's own
 * measure. */
static double expected_seconds(const cli_run *run, const experiment *e) {
  experiment_scale scale = scale_asked(run);
  char path[1200], reason[REASON_SIZE];
  results old = {0};
  double units = (double)e->case_count(scale) * seeds_asked(run, e), seconds = 0.0;
  results_path(cli_text(run, "output"), e, scale, path, sizeof path);
  if (results_read(run->ctx, path, &old, reason, sizeof reason) != SR_OK) old.count = 0;
  for (int64_t i = 0; i < old.count; i++) seconds += old.item[i].seconds;
  if (old.count > 0)
    seconds *= units / (double)old.count;
  else
    seconds = e->core_seconds[scale] * seeds_asked(run, e) / e->seeds[scale];
  results_free(&old);
  return seconds / sr_context_threads(run->ctx);
}

/* "40 s", "12 min", "3.5 h". */
static void print_span(double seconds, char *text, size_t size) {
  if (seconds < 120)
    snprintf(text, size, "%.0f s", seconds);
  else if (seconds < 7200)
    snprintf(text, size, "%.0f min", seconds / 60);
  else
    snprintf(text, size, "%.1f h", seconds / 3600);
}

static int list_experiments(cli_run *run) {
  json_t *list = json_array();
  cli_say(run, "%-26s %6s %10s  %s\n", "name", "units", "about", "what it reproduces; needs");
  for (int i = 0; experiment_at(i); i++) {
    const experiment *e = experiment_at(i);
    int units = e->case_count(scale_asked(run)) * seeds_asked(run, e);
    double seconds = expected_seconds(run, e);
    char span[32];
    print_span(seconds, span, sizeof span);
    cli_say(run, "%-26s %6d %10s  %s (%s); %s\n", e->about.name, units, span, e->about.help,
            e->place, e->needs);
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:s,s:s,s:i,s:o}", "name", e->about.name, "title",
                                    e->about.help, "place", e->place, "needs", e->needs, "units",
                                    units, "seconds", cli_json_real(seconds)));
  }
  return cli_finish(run, json_pack("{s:o}", "experiments", list));
}

/* ---- one experiment ------------------------------------------------------------------------ */

static json_t *as_json(const conclusion *c, const run_report *report) {
  return json_pack("{s:s,s:s,s:o,s:s,s:s,s:I,s:I,s:o}", "name", c->e->about.name, "scale",
                   experiment_scale_name(c->scale), "cells", conclusion_cells(c), "verdict",
                   verdict_name(c->verdict), "reason", c->reason, "units",
                   (json_int_t)report->units, "run_now", (json_int_t)report->finished, "seconds",
                   cli_json_real(report->seconds));
}

/* Runs one experiment, prints it and gives its JSON in *out. An optional one is left out, with a
 * word, where a program or package that it needs is missing: *out stays NULL. */
static int reproduce_one(cli_run *run, const experiment *e, bool optional, json_t **out) {
  run_options o = {.folder = cli_text(run, "output"),
                   .scale = scale_asked(run),
                   .seeds = seeds_asked(run, e),
                   .first_seed = run->seed,
                   .data = cli_text(run, "data")};
  run_report report;
  cli_progress progress = {0};
  if (!run->quiet && isatty(STDERR_FILENO)) {
    o.progress = cli_progress_update;
    o.progress_data = &progress;
  }
  sr_status status = experiment_run(run->ctx, e, &o, &report);
  cli_progress_clear(&progress);
  if (status == SR_ERROR_INTERRUPTED)
    return cli_complain(run, CLI_INTERRUPTED,
                        "interrupted: %lld of %lld units of %s are in %s; run again to go on",
                        (long long)(report.found + report.finished), (long long)report.units,
                        e->about.name, o.folder);
  if (status == SR_ERROR_UNSUPPORTED && optional) {
    cli_say(run, "%s: left out: %s\n\n", e->about.name, report.reason);
    return CLI_SUCCESS;
  }
  if (status != SR_OK) return cli_complain(run, cli_code(status), "%s", report.reason);
  conclusion *c = NULL;
  status = conclusion_read(run->ctx, &(result_source){e, o.scale, o.folder}, NULL, &c,
                           report.reason, sizeof report.reason);
  if (status != SR_OK) return cli_complain(run, cli_code(status), "%s", report.reason);
  *out = as_json(c, &report);
  if (!run->json && !run->quiet) {
    cli_say(run, "%s: %s (%s), %s scale, %lld units, %lld run now in %.1f s\n\n", e->about.name,
            e->about.help, e->place, experiment_scale_name(o.scale), (long long)report.units,
            (long long)report.finished, report.seconds);
    conclusion_print(c, stdout);
    cli_say(run, "\n");
    fflush(stdout);
  }
  conclusion_free(&c);
  return CLI_SUCCESS;
}

static int reproduce_all(cli_run *run) {
  json_t *list = json_array();
  int code = CLI_SUCCESS;
  for (int i = 0; experiment_at(i) && code != CLI_INTERRUPTED; i++) {
    json_t *one = NULL;
    int ended = reproduce_one(run, experiment_at(i), true, &one);
    if (one) json_array_append_new(list, one);
    if (ended != CLI_SUCCESS) code = ended;
  }
  if (code != CLI_SUCCESS) {
    json_decref(list);
    return code;
  }
  return cli_finish(run, json_pack("{s:o,s:o}", "experiments", list, "seconds",
                                   cli_json_real(sr_seconds() - run->started)));
}

static int complain_unknown_experiment(cli_run *run, const char *name) {
  const char *nearest = NULL;
  int distance = INT_MAX;
  for (int i = 0; experiment_at(i); i++)
    if (sr_suggest(name, experiment_at(i)->about.name, &distance))
      nearest = experiment_at(i)->about.name;
  if (nearest)
    return cli_complain(run, CLI_USAGE, "no experiment '%s'; did you mean '%s'?", name, nearest);
  return cli_complain(run, CLI_USAGE, "no experiment '%s'; 'specroute reproduce --list' names them",
                      name);
}

static int run_reproduce(cli_run *run) {
  if (cli_flag(run, "list")) return list_experiments(run);
  if (run->argument_count == 0)
    return cli_complain(run, CLI_USAGE, "name an experiment or all; --list names them");
  const char *name = run->arguments[0];
  if (strcmp(name, "all") == 0) return reproduce_all(run);
  const experiment *e = experiment_find(name);
  if (!e) return complain_unknown_experiment(run, name);
  json_t *one = NULL;
  int code = reproduce_one(run, e, false, &one);
  return code == CLI_SUCCESS ? cli_finish(run, one) : code;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .arguments = "NAME|all",
    .least = 0,
    .most = 1,
    .help = "run a table, figure or claim of the paper",
    .description =
        "Measures it here and prints the paper's number beside ours, with a verdict. Each "
        "finished\n"
        "unit of work is written at once: an interrupted or killed run goes on where it stopped.",
    .groups = {options},
    .example = "specroute reproduce claim-lfa --scale quick -o results",
    .output_is_folder = true,
    .run = run_reproduce};
