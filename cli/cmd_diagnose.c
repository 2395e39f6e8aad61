#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "diagnose_page.h"

static const cli_option options[] = {
    {"level", 0, CLI_REAL, "P", "0.9", NULL, 0.01, 0.999, "probability of the intervals"},
    {"output", 'o', CLI_PATH, "FILE", NULL, NULL, 0, 0,
     "also write a page with pictures: .html, or .md without them"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

/* ---- for a person ------------------------------------------------------------------------- */

static void say_rows(const cli_run *run, const sr_table_view *t, const sr_dependence_view *v) {
  cli_say(run, "%s: %lld rows", run->arguments[0], (long long)v->rows);
  if (v->groups > 1) cli_say(run, " in %lld groups", (long long)v->groups);
  cli_say(run, ", %lld feature%s", (long long)v->features, v->features == 1 ? "" : "s");
  if (v->missing_share > 0.0) cli_say(run, " (%.2g %% missing)", 100.0 * v->missing_share);
  if (t->label) cli_say(run, ", %d classes", t->classes.count);
  cli_say(run, "; dependence by %s.\n\n", v->graph);
}

static void say_dependence(const cli_run *run, const sr_dependence_view *v) {
  const char *unit = v->relation == SR_RELATION_ORDER ? "rows" : "nodes";
  if (isnan(v->tmix.estimate)) {
    cli_say(run, "  T                cannot be told (see below)\n");
    return;
  }
  cli_say(run, "  T                %.3g %s (%.3g to %.3g), by %s\n", v->tmix.estimate, unit,
          v->tmix.low, v->tmix.high, v->tmix.method);
  cli_say(run, "                   %s\n", v->reason);
  if (!isnan(v->range)) cli_say(run, "  range            %.3g steps on the graph\n", v->range);
  cli_say(run, "  worth            %.0f independent rows of %lld\n", v->ess, (long long)v->rows);
}

static void say_advice(const cli_run *run, const sr_structure_view *s,
                       const sr_dependence_view *v) {
  int32_t parts = sr_parts_get(s->parts)->parts;
  cli_say(run, "  block or part    %.0f rows, so %d parts\n", (double)v->rows / parts, parts);
  if (!isnan(v->politis_white_stationary))
    cli_say(run, "  block bootstrap  %.0f rows on average (stationary), %.0f (circular)%s\n",
            v->politis_white_stationary, v->politis_white_circular,
            v->politis_white_saturated ? ", at its cap" : "");
  cli_say(run, "  plan             %s%s\n", s->recommend,
          strcmp(s->recommend, "uniform") == 0
              ? ": the rows are as good as independent"
              : ", and judge by parts that were held out, never by single rows");
}

static void say_estimates(const cli_run *run, const sr_dependence_view *v) {
  if (v->scale_count == 0) return;
  cli_say(run, "\n  every estimate of T\n");
  for (int32_t i = 0; i < v->scale_count; i++) {
    const sr_scale *s = v->scales + i;
    cli_say(run, "    %-18s %10.3g   (%.3g to %.3g)\n", s->method, s->estimate, s->low, s->high);
  }
  if (v->implied_count > 1) {
    cli_say(run, "    implied at lag    ");
    for (int32_t i = 0; i < v->implied_count; i++)
      cli_say(run, " %.0f: %.3g%s", v->implied_lag[i], v->implied_timescale[i],
              i + 1 < v->implied_count ? "," : "\n");
  }
}

static void say_warnings(const cli_run *run, const sr_dependence_view *v) {
  if (v->warning_count == 0) return;
  cli_say(run, "\n  to know\n");
  for (int32_t i = 0; i < v->warning_count; i++) cli_say(run, "    - %s\n", v->warnings[i]);
}

/* ---- for a program ------------------------------------------------------------------------ */

static json_t *scale_json(const sr_scale *scale) {
  return json_pack("{s:o,s:o,s:o,s:s}", "estimate", cli_json_real(scale->estimate), "low",
                   cli_json_real(scale->low), "high", cli_json_real(scale->high), "method",
                   scale->method);
}

static json_t *lists_json(const sr_dependence_view *v, json_t *result) {
  json_t *warnings = json_array(), *estimates = json_array(), *implied = json_array();
  for (int32_t i = 0; i < v->warning_count; i++)
    json_array_append_new(warnings, json_string(v->warnings[i]));
  for (int32_t i = 0; i < v->scale_count; i++)
    json_array_append_new(estimates, scale_json(v->scales + i));
  for (int32_t i = 0; i < v->implied_count; i++)
    json_array_append_new(implied, json_pack("{s:o,s:o}", "lag", cli_json_real(v->implied_lag[i]),
                                             "timescale", cli_json_real(v->implied_timescale[i])));
  json_object_set_new(result, "warnings", warnings);
  json_object_set_new(result, "estimates", estimates);
  json_object_set_new(result, "implied", implied);
  return result;
}

static json_t *diagnosis_json(const sr_table_view *t, const sr_structure_view *s,
                              const sr_dependence_view *v) {
  int32_t parts = sr_parts_get(s->parts)->parts;
  json_t *result = json_object();
  json_object_set_new(result, "n", json_integer(v->rows));
  json_object_set_new(result, "d", json_integer(v->features));
  json_object_set_new(result, "classes", json_integer(t->classes.count));
  json_object_set_new(result, "groups", json_integer(v->groups));
  json_object_set_new(result, "graph", json_string(v->graph));
  json_object_set_new(result, "tmix", scale_json(&v->tmix));
  json_object_set_new(result, "reason", json_string(v->reason));
  json_object_set_new(result, "iact", cli_json_real(v->iact));
  json_object_set_new(result, "iact_pooled", cli_json_real(v->iact_pooled));
  json_object_set_new(result, "ess", cli_json_real(v->ess));
  json_object_set_new(result, "politis_white", cli_json_real(v->politis_white_stationary));
  json_object_set_new(result, "politis_white_circular", cli_json_real(v->politis_white_circular));
  json_object_set_new(result, "politis_white_saturated", json_boolean(v->politis_white_saturated));
  json_object_set_new(result, "lambda2", cli_json_real(v->lambda2));
  json_object_set_new(result, "range", cli_json_real(v->range));
  json_object_set_new(result, "period", cli_json_real(v->period));
  json_object_set_new(result, "drift", cli_json_real(v->drift));
  json_object_set_new(result, "drift_score", cli_json_real(v->drift_score));
  json_object_set_new(result, "group_share", cli_json_real(v->group_share));
  json_object_set_new(result, "missing_share", cli_json_real(v->missing_share));
  json_object_set_new(result, "sample_condition", cli_json_real(v->sample_condition));
  json_object_set_new(result, "parts", json_integer(parts));
  json_object_set_new(result, "block", cli_json_real((double)v->rows / parts));
  json_object_set_new(result, "recommend", json_string(s->recommend));
  return lists_json(v, result);
}

/* ---- the command -------------------------------------------------------------------------- */

static int finish(cli_run *run, const sr_table *table, const sr_structure_view *s) {
  const sr_dependence_view *v = sr_dependence_get(s->dependence);
  const sr_table_view *t = sr_table_get(table);
  const char *page = cli_text(run, "output");
  if (page) {
    sr_status status = diagnose_write_page(run, table, s, page);
    if (status != SR_OK) return cli_fail(run, status);
  }
  say_rows(run, t, v);
  say_dependence(run, v);
  say_advice(run, s, v);
  say_estimates(run, v);
  say_warnings(run, v);
  if (page) cli_say(run, "\n  pictures in %s\n", page);
  return cli_finish(run, diagnosis_json(t, s, v));
}

static int run_diagnose(cli_run *run) {
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr_structure_options wanted;
  sr_structure_options_init(&wanted);
  wanted.graph = cli_text(run, "graph");
  wanted.level = cli_real(run, "level");
  sr_status status = SR_OK;
  if (wanted.graph)
    status = sr_method_check(run->ctx, "graph", sr_graph_method, wanted.graph, NULL);
  if (status == SR_OK) status = cli_read_table(run, run->arguments[0], &table);
  if (status == SR_OK)
    status = sr_structure_estimate(run->ctx, table, &wanted, run->seed, &structure);
  int code =
      status == SR_OK ? finish(run, table, sr_structure_get(structure)) : cli_fail(run, status);
  sr_structure_free(&structure);
  sr_table_free(&table);
  return code;
}

const cli_command cli_diagnose = {
    .name = "diagnose",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "say how dependent the rows are and what to do about it",
    .description =
        "T is how many rows apart two rows must be before the later one is new: 1 for independent\n"
        "rows, 1 / (1 - lambda) for a chain whose rows correlate by lambda with the one before. "
        "On\n"
        "graphs without an order (space, features, grid) T counts the nodes of a correlated\n"
        "neighbourhood. Groups are never joined. Every estimate has an interval; warnings say what "
        "the\n"
        "numbers cannot.",
    .groups = {options, cli_column_options, cli_graph_options},
    .example = "specroute diagnose elec2.csv.gz --target class -o elec2.html",
    .run = run_diagnose};
