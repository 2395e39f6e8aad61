#include "commands.h"
#include "generated.h"

static const cli_option options[] = {{"output", 'o', CLI_PATH, "MODEL", NULL, "own", 0, 0,
                                      "file for the model"},
                                     {"held-out", 0, CLI_PATH, "OUT", NULL, ".csv|.tsv", 0, 0,
                                      "also write what was said of each held-out row: class, "
                                      "shares, part and fold"},
                                     {"report", 0, CLI_PATH, "FILE", NULL, CLI_PAGE_ENDINGS, 0, 0,
                                      "also write a page with pictures: .html or .md"},
                                     {"predict-on", 0, CLI_PATH, "FILE", NULL, NULL, 0, 0,
                                      "maps: where the model will be used; tells the error at "
                                      "these distances"},
                                     {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"plan", "plan", sr_train_plan_method, false, false},
                                          {"learner", "learner", sr_learner_method, false, false},
                                          {"graph", "graph", sr_graph_method, false, false},
                                          {NULL, NULL, NULL, false, false}};

enum { PARTIAL_PLOTS = 3 };

/* ---- the page ----------------------------------------------------------------------------- */

static sr_status add_dependence(cli_run *run, sr_page *page, const sr_table *table,
                                const sr_structure *structure) {
  sr_status status = SR_OK;
  SR_TRY(sr_page_heading(run->ctx, page, 1, "How dependent the rows are"));
  SR_TRY(sr_page_add_structure(run->ctx, page, structure));
  SR_TRY(sr_page_add_ground(run->ctx, page, table, structure));
cleanup:
  return status;
}

static sr_status add_origin(cli_run *run, sr_page *page, const sr_ensemble_view *v) {
  sr_status status = SR_OK;
  sr_build build = sr_build_info();
  char text[512];
  snprintf(text, sizeof text, "%s: %lld rows, %lld features, seed %llu. specroute %s, commit %s.",
           run->arguments[0], (long long)v->rows, (long long)v->features,
           (unsigned long long)v->seed, build.version, build.commit);
  SR_TRY(sr_page_heading(run->ctx, page, 1, "How this was made"));
  SR_TRY(sr_page_paragraph(run->ctx, page, text));
cleanup:
  return status;
}

static sr_status write_page(cli_run *run, const sr_table *table, const sr_ensemble *ensemble,
                            const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  const sr_ensemble_view *v = sr_ensemble_get(ensemble);
  char title[256];
  snprintf(title, sizeof title, "An ensemble for %s", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, path, &page));
  SR_TRY(sr_page_add_ensemble(run->ctx, page, ensemble));
  SR_TRY(sr_page_add_held_rows(run->ctx, page, table, ensemble));
  SR_TRY(sr_page_add_partial_dependence(run->ctx, page, ensemble, table, PARTIAL_PLOTS));
  if (v->structure) SR_TRY(add_dependence(run, page, table, v->structure));
  SR_TRY(add_origin(run, page, v));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

/* ---- the command -------------------------------------------------------------------------- */

static int finish(cli_run *run, const sr_ensemble *ensemble, double read, double total) {
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  double judged = view->evaluation ? view->evaluation->seconds : 0.0;
  char *text = NULL;
  sr_status status =
      sr_describe_ensemble(run->ctx, ensemble,
                           run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text);
  if (status != SR_OK) return cli_fail(run, status);
  json_t *result = run->json ? json_loads(text, 0, NULL) : NULL;
  if (!run->json) cli_print_description(run, text);
  sr_bytes_free((void **)&text);
  cli_say(run,
          "time      read %.2f s, structure %.2f s, choice %.2f s, fit %.2f s, evaluation %.2f s,"
          " total %.2f s\n",
          read, view->seconds_structure, view->seconds_choice, view->seconds_fit, judged, total);
  cli_say(run, "written   %s\n", cli_text(run, "output"));
  if (cli_given(run, "held-out")) cli_say(run, "          %s\n", cli_text(run, "held-out"));
  if (!run->json) return CLI_SUCCESS;
  json_object_set_new(result, "seconds",
                      json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "read", cli_json_real(read),
                                "structure", cli_json_real(view->seconds_structure), "choice",
                                cli_json_real(view->seconds_choice), "fit",
                                cli_json_real(view->seconds_fit), "evaluate", cli_json_real(judged),
                                "total", cli_json_real(total)));
  json_object_set_new(result, "model", cli_json_text(cli_text(run, "output")));
  return cli_finish(run, result);
}

/* The places of use are read as the training file is, without what only training needs. */
static sr_status read_use(cli_run *run, const sr_table *table, sr_table **use) {
  sr_read_options read = cli_read_options(run);
  read.target = read.time = read.group = read.region = read.weight = read.labels = NULL;
  read.window = 0;
  read.schema = sr_table_get(table);
  return sr_table_read(run->ctx, cli_text(run, "predict-on"), &read, use);
}

static int run_train(cli_run *run) {
  sr_status status = SR_OK;
  sr_table *table = NULL, *use = NULL;
  sr_ensemble *ensemble = NULL;
  sr_train_options o;
  double start = sr_seconds();
  if (!cli_given(run, "output"))
    return cli_complain(run, CLI_USAGE, "train needs -o MODEL, the file for the model");
  sr_train_options_init(&o);
  int code = cli_read_task(run, "train", sr_train_option_list(), &o);
  if (code != CLI_SUCCESS) return code;
  SR_TRY(sr_train_options_check(run->ctx, &o));
  if (cli_given(run, "held-out") && !o.evaluate.evaluate)
    return cli_complain(
        run, CLI_USAGE,
        "--held-out writes what the evaluation held out; leave --no-evaluation out");
  o.evaluate.keep_held_rows = cli_given(run, "held-out") || cli_given(run, "report");
  SR_TRY(cli_read_table(run, run->arguments[0], &table));
  if (!cli_has_target(table)) {
    sr_table_free(&table);
    return cli_complain(run, CLI_USAGE, "train needs --target COL, the column of the class");
  }
  if (cli_given(run, "predict-on")) {
    if (sr_table_get(table)->coordinate_count < 2) {
      sr_table_free(&table);
      return cli_complain(run, CLI_USAGE,
                          "--predict-on needs rows with places: a raster, a grid, or --coords");
    }
    SR_TRY(read_use(run, table, &use));
    o.evaluate.predict_on = use;
  }
  double read = sr_seconds() - start;
  SR_TRY(sr_train(run->ctx, table, &o, run->seed, &ensemble));
  SR_TRY(sr_ensemble_save(run->ctx, ensemble, cli_text(run, "output")));
  if (cli_given(run, "held-out"))
    SR_TRY(sr_held_rows_write(run->ctx, ensemble, cli_text(run, "held-out")));
  if (cli_given(run, "report")) SR_TRY(write_page(run, table, ensemble, cli_text(run, "report")));
  if (o.resume && *o.resume) (void)remove(o.resume);
  code = finish(run, ensemble, read, sr_seconds() - start);
cleanup:
  sr_ensemble_free(&ensemble);
  sr_table_free(&use);
  sr_table_free(&table);
  return status == SR_OK ? code : cli_fail(run, status);
}

const cli_command cli_train = {
    .name = "train",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "fit a voting ensemble and say what its error will be on new parts",
    .description =
        "Finds how far dependence reaches, cuts the rows into parts (or takes the groups), chooses "
        "how\n"
        "members get their rows, fits them and judges every row by members that saw nothing of "
        "its\n"
        "part. Ends with a page: plan and why, honest and naive error, covariance, features, "
        "time.\n"
        "Plans, learners and graphs are named NAME[:KEY=VALUE,...]: 'specroute methods' lists "
        "them.",
    .groups = {options, cli_column_options},
    .tasks = {sr_train_option_list},
    .methods = methods,
    .example = "specroute train elec2.csv --target class -o elec2.model",
    .run = run_train};
