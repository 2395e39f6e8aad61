#include "commands.h"
#include "model_page.h"
#include "plan_options.h"
#include "train_page.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "MODEL", NULL, NULL, 0, 0, "where to write the model"},
    {"plan", 'p', CLI_TEXT, "PLAN", "auto", NULL, 0, 0,
     "auto, uniform, uniform-nm, lag-thin, tmix-thin, stationary, circular, moving, burn-in, "
     "oracle-block, auto-block, spectral, routed or bags"},
    {"learner", 'l', CLI_TEXT, "LEARNER", "tree", NULL, 0, 0, "tree or ridge"},
    {"folds", 0, CLI_INTEGER, "K", "5", NULL, 2, 1000, "folds of the honest error"},
    {"buffer", 0, CLI_INTEGER, "ROWS", NULL, NULL, 0, 1e9,
     "rows or graph steps kept free around what is held out (default T in a series)"},
    {"report", 0, CLI_PATH, "FILE", NULL, NULL, 0, 0,
     "also write a page with pictures: .html or .md"},
    {"no-evaluation", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0,
     "only fit: no error, covariance or importance"},
    {"no-importance", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0,
     "do not measure the importance of features"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_train_options read_options(cli_run *run) {
  sr_train_options o;
  sr_train_options_init(&o);
  o.structure = cli_read_structure(run);
  o.plan = cli_plan_text(run, cli_text(run, "plan"));
  o.learner = cli_learner_text(run, cli_text(run, "learner"));
  o.members = cli_integer(run, "members");
  o.vote = (int)cli_read_vote(run);
  o.evaluate.folds.folds = cli_integer(run, "folds");
  if (cli_given(run, "buffer")) o.evaluate.folds.buffer = cli_integer(run, "buffer");
  o.evaluate.evaluate = !cli_flag(run, "no-evaluation");
  o.evaluate.importance = o.evaluate.evaluate && !cli_flag(run, "no-importance");
  return o;
}

static int finish(cli_run *run, const sr_ensemble *ensemble, double read, double total) {
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  double choice = view->choice ? view->choice->seconds : 0.0;
  double judged = view->evaluation ? view->evaluation->seconds : 0.0;
  double fit = view->seconds_structure + choice + view->seconds_fit;
  cli_say_model(run, ensemble);
  cli_say(run,
          "time      read %.2f s, structure %.2f s, choice %.2f s, fit %.2f s, evaluation %.2f s,"
          " total %.2f s\n",
          read, view->seconds_structure, choice, view->seconds_fit, judged, total);
  cli_say(run, "written   %s\n", cli_text(run, "output"));
  json_t *result = cli_model_json(ensemble);
  json_object_set_new(result, "seconds",
                      json_pack("{s:o,s:o,s:o,s:o}", "read", cli_json_real(read), "fit",
                                cli_json_real(fit), "evaluate", cli_json_real(judged), "total",
                                cli_json_real(total)));
  json_object_set_new(result, "model", json_string(cli_text(run, "output")));
  return cli_finish(run, result);
}

static int run_train(cli_run *run) {
  if (!cli_given(run, "target"))
    return cli_complain(run, CLI_USAGE, "train needs --target COL, the column of the class");
  if (!cli_given(run, "output"))
    return cli_complain(run, CLI_USAGE, "train needs -o MODEL, the file for the model");
  double start = sr_seconds();
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  sr_train_options o = read_options(run);
  sr_status status = sr_train_options_check(run->ctx, &o);
  if (status == SR_OK) status = cli_read_table(run, run->arguments[0], &table);
  double read = sr_seconds() - start;
  if (status == SR_OK) status = sr_train(run->ctx, table, &o, run->seed, &ensemble);
  if (status == SR_OK) status = sr_ensemble_save(run->ctx, ensemble, cli_text(run, "output"));
  if (status == SR_OK && cli_given(run, "report"))
    status = train_write_page(run, table, ensemble, cli_text(run, "report"));
  int code =
      status == SR_OK ? finish(run, ensemble, read, sr_seconds() - start) : cli_fail(run, status);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  return code;
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
        "part. Ends with a page: plan and why, honest and naive error, covariance, features, time.",
    .groups = {options, cli_scheme_options, cli_structure_options, cli_learner_options,
               cli_column_options, cli_graph_options},
    .example = "specroute train elec2.csv --target class -o elec2.model",
    .run = run_train};
