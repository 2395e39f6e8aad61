#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "MODEL", NULL, "own", 0, 0,
     "also train the best setting on all rows and write the model"},
    {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
     "also write a page: .html, or .md without pictures"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_status write_page(cli_run *run, const sr_tuning *tuning, const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  snprintf(title, sizeof title, "Settings tuned on %s", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, path, &page));
  SR_TRY(sr_page_add_tuning(run->ctx, page, tuning));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

/* The best setting on all rows, those that were put aside too. */
static sr_status write_model(cli_run *run, const sr_table *table, const sr_tune_options *tuned,
                             const sr_tuning_view *found, const char *path) {
  sr_status status = SR_OK;
  sr_ensemble *ensemble = NULL;
  sr_train_options o;
  sr_train_options_init(&o);
  o.plan = found->best_plan;
  o.learner = found->best_learner;
  o.members = tuned->members;
  o.vote = tuned->vote;
  o.class_weight = tuned->class_weight;
  o.structure = tuned->structure;
  o.evaluate.folds = tuned->folds;
  o.evaluate.level = tuned->level;
  SR_TRY(sr_train(run->ctx, table, &o, run->seed, &ensemble));
  SR_TRY(sr_ensemble_save(run->ctx, ensemble, path));
cleanup:
  sr_ensemble_free(&ensemble);
  return status;
}

static int run_tune(cli_run *run) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_tuning *tuning = NULL;
  char *text = NULL;
  sr_tune_options o;
  sr_tune_options_init(&o);
  int code = cli_read_task(run, "tune", sr_tune_option_list(), &o);
  if (code != CLI_SUCCESS) return code;
  SR_TRY(cli_read_table(run, run->arguments[0], &table));
  if (!cli_has_target(table)) {
    sr_table_free(&table);
    return cli_complain(run, CLI_USAGE, "tune needs --target COL, the column of the class");
  }
  SR_TRY(sr_tune(run->ctx, table, &o, run->seed, &tuning));
  SR_TRY(sr_describe_tuning(run->ctx, tuning, run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT,
                            &text));
  if (cli_given(run, "output"))
    SR_TRY(write_model(run, table, &o, sr_tuning_get(tuning), cli_text(run, "output")));
  if (cli_given(run, "report")) SR_TRY(write_page(run, tuning, cli_text(run, "report")));
  if (o.resume && *o.resume) (void)remove(o.resume);
  cli_print_description(run, text);
  if (cli_given(run, "output")) cli_say(run, "written   %s\n", cli_text(run, "output"));
cleanup:
  sr_bytes_free((void **)&text);
  sr_tuning_free(&tuning);
  sr_table_free(&table);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

const cli_command cli_tune = {
    .name = "tune",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "search options of learner and plan on honest folds",
    .description =
        "Settings are drawn and tried on folds of whole blocks, parts or groups: all with few\n"
        "members, the best third with three times as many, and so on. Two folds are put aside "
        "before\n"
        "the search; the winner is judged there, beside the first setting. Options that are named\n"
        "(--learners tree:min_leaf=5) stay, the others are tried.",
    .groups = {options, cli_column_options},
    .tasks = {sr_tune_option_list},
    .methods = cli_compared_methods,
    .example = "specroute tune elec2.csv --target class --learners tree,xgboost --tries 27",
    .run = run_tune};
