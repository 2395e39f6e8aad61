#include <stdlib.h>
#include <string.h>

#include "commands.h"

static const cli_option options[] = {{"export", 0, CLI_PATH, "FILE", NULL, ".json|.onnx", 0, 0,
                                      "write the trees for other programs: .json, or .onnx for "
                                      "ONNX runtimes"},
                                     {"partial-dependence", 0, CLI_LIST, "COL,...", NULL, NULL, 0,
                                      0, "how the vote moves with these features; needs --data"},
                                     {"data", 0, CLI_PATH, "FILE", NULL, NULL, 0, 0,
                                      "rows that --partial-dependence is averaged over"},
                                     {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
                                      "the same as a page: .html or .md"},
                                     {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_status write_page(cli_run *run, const sr_ensemble *ensemble, const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  snprintf(title, sizeof title, "The model %s", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, path, &page));
  SR_TRY(sr_page_add_ensemble(run->ctx, page, ensemble));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

/* ---- partial dependence ------------------------------------------------------------------- */

static int64_t find_feature(const sr_ensemble_view *view, const char *name) {
  char *end;
  for (int64_t j = 0; view->feature_names && j < view->features; j++)
    if (strcmp(view->feature_names[j], name) == 0) return j;
  long number = strtol(name, &end, 10);
  return *end == '\0' && number >= 1 && number <= view->features ? number - 1 : -1;
}

/* A value of the feature: a number, or the name of its category. */
static json_t *value_json(const sr_table_view *schema, int64_t feature, double value) {
  const sr_dictionary *names = schema->categories ? &schema->categories[feature] : NULL;
  if (names && names->count > 0) return cli_json_text(names->names[(int32_t)value]);
  return cli_json_real(value);
}

static json_t *dependence_json(const sr_ensemble *ensemble, const sr_table_view *rows,
                               int64_t feature, const sr_partial_dependence_view *d) {
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  json_t *values = json_array(), *shares = json_object();
  for (int32_t p = 0; p < d->points; p++)
    json_array_append_new(values, value_json(rows, feature, d->value[p]));
  for (int32_t c = 0; c < d->classes; c++) {
    json_t *list = json_array();
    for (int32_t p = 0; p < d->points; p++)
      json_array_append_new(list, cli_json_real(d->share[p * d->classes + c]));
    json_object_set_new(shares, view->classes.names[c], list);
  }
  return json_pack("{s:o,s:o,s:o}", "feature",
                   cli_json_text(view->feature_names ? view->feature_names[feature] : ""), "values",
                   values, "shares", shares);
}

static void say_dependence(const cli_run *run, const sr_ensemble_view *view,
                           const sr_table_view *rows, int64_t feature,
                           const sr_partial_dependence_view *d) {
  const sr_dictionary *names = rows->categories ? &rows->categories[feature] : NULL;
  cli_say(run, "mean share of the vote where %s is\n          %16s",
          view->feature_names ? view->feature_names[feature] : "the feature", "");
  for (int32_t c = 0; c < d->classes; c++) cli_say(run, " %10.10s", view->classes.names[c]);
  for (int32_t p = 0; p < d->points; p++) {
    if (names && names->count)
      cli_say(run, "\n          %16.16s", names->names[(int32_t)d->value[p]]);
    else
      cli_say(run, "\n          %16g", d->value[p]);
    for (int32_t c = 0; c < d->classes; c++) cli_say(run, " %10.4f", d->share[p * d->classes + c]);
  }
  cli_say(run, "\n");
}

/* `all` gets an entry per feature that was asked for. */
static int tell_dependence(cli_run *run, const sr_ensemble *ensemble, json_t *all) {
  sr_status status = SR_OK;
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  sr_table *table = NULL;
  sr_read_options read;
  double *share =
      (double *)cli_keep(run, sizeof *share * SR_PARTIAL_POINTS * (size_t)view->classes.count);
  if (!share) return cli_complain(run, CLI_NO_MEMORY, "out of memory");
  sr_read_options_init(&read);
  read.schema = sr_ensemble_schema(ensemble);
  read.target = view->target_name;
  status = sr_table_read(run->ctx, cli_text(run, "data"), &read, &table);
  read.target = NULL;
  if (status == SR_ERROR_NOT_FOUND || status == SR_ERROR_UNSUPPORTED)
    status = sr_table_read(run->ctx, cli_text(run, "data"), &read, &table);
  for (const char *const *name = cli_list(run, "partial-dependence");
       name && *name && status == SR_OK; name++) {
    sr_partial_dependence_view d;
    int64_t feature = find_feature(view, *name);
    if (feature < 0) {
      sr_table_free(&table);
      return cli_complain(run, CLI_USAGE, "'%s' has no feature '%s'", run->arguments[0], *name);
    }
    status = sr_partial_dependence(run->ctx, ensemble, table, feature, share, &d);
    if (status != SR_OK) break;
    const sr_table_view *rows = sr_table_get(table);
    if (all) json_array_append_new(all, dependence_json(ensemble, rows, feature, &d));
    say_dependence(run, view, rows, feature, &d);
  }
  sr_table_free(&table);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

/* ---- the command -------------------------------------------------------------------------- */

static int show(cli_run *run, const sr_ensemble *ensemble) {
  sr_status status = SR_OK;
  char *text = NULL;
  json_t *result = NULL, *all = NULL;
  int code = CLI_SUCCESS;
  SR_TRY(sr_describe_ensemble(run->ctx, ensemble,
                              run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text));
  if (cli_given(run, "export"))
    SR_TRY(sr_ensemble_export(run->ctx, ensemble, cli_text(run, "export")));
  if (cli_given(run, "report")) SR_TRY(write_page(run, ensemble, cli_text(run, "report")));
  result = run->json ? json_loads(text, 0, NULL) : NULL;
  cli_say(run, "%s: ", run->arguments[0]);
  if (!run->json) cli_print_description(run, text);
  if (cli_given(run, "partial-dependence")) {
    all = run->json ? json_array() : NULL;
    code = tell_dependence(run, ensemble, all);
    if (result) json_object_set_new(result, "partial_dependence", all);
  }
  if (cli_given(run, "export")) cli_say(run, "written   %s\n", cli_text(run, "export"));
cleanup:
  sr_bytes_free((void **)&text);
  if (status != SR_OK) return cli_fail(run, status);
  if (code == CLI_SUCCESS && run->json) return cli_finish(run, result);
  json_decref(result);
  return code;
}

static int run_show(cli_run *run) {
  sr_ensemble *ensemble = NULL;
  if (cli_given(run, "partial-dependence") != cli_given(run, "data"))
    return cli_complain(run, CLI_USAGE,
                        "--partial-dependence COL,... and --data FILE go together: features, and "
                        "the rows to average over");
  sr_status status = sr_ensemble_load(run->ctx, run->arguments[0], &ensemble);
  int code = status == SR_OK ? show(run, ensemble) : cli_fail(run, status);
  sr_ensemble_free(&ensemble);
  return code;
}

const cli_command cli_show = {
    .name = "show",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .help = "say what a model is, what it was trained on and what its error is",
    .description =
        "Reads a model file and says its learner, plan, options, columns, classes and the error\n"
        "that was told when it was trained. --export writes forests for other programs.",
    .groups = {options},
    .example = "specroute show elec2.model",
    .run = run_show};
