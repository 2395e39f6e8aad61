#include <string.h>

#include "commands.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "OUT", "-", "table", 0, 0,
     "file for the classes: csv, npy, ..., .tif or .nc for a map; - is standard output"},
    {"proba", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, "also write each class's share of the vote"},
    {"uncertainty", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0,
     "also write 1 - the largest share of the vote"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

/* The model decides how the file is read. Where the file holds the class column of the training
 * data the error is told as well; where it does not, it is read again without. */
static sr_status read_table(cli_run *run, const sr_ensemble *ensemble, sr_table **table) {
  const char *path = run->arguments[1], *target = sr_ensemble_get(ensemble)->target_name;
  sr_read_options read = cli_read_options(run);
  read.schema = sr_ensemble_schema(ensemble);
  bool tried = strcmp(path, "-") != 0 && target && !read.target;
  if (tried) read.target = target;
  sr_status status = sr_table_read(run->ctx, path, &read, table);
  bool lacks_it = status == SR_ERROR_NOT_FOUND || status == SR_ERROR_UNSUPPORTED;
  if (!tried || !lacks_it) return status;
  read.target = NULL;
  return sr_table_read(run->ctx, path, &read, table);
}

/* Share of the rows with a class whose vote names another; -1 where none has one. */
static double error_of(const sr_ensemble *ensemble, const sr_table *table, const int32_t *vote) {
  const sr_table_view *view = sr_table_get(table);
  sr_dictionary classes = sr_ensemble_get(ensemble)->classes;
  int64_t judged = 0, wrong = 0;
  for (int64_t i = 0; view->label && i < view->rows; i++) {
    if (view->label[i] < 0) continue;
    judged++;
    wrong +=
        vote[i] < 0 || strcmp(classes.names[vote[i]], view->classes.names[view->label[i]]) != 0;
  }
  return judged ? (double)wrong / (double)judged : -1.0;
}

static int predict(cli_run *run, const sr_ensemble *ensemble, const sr_table *table) {
  int64_t rows = sr_table_get(table)->rows;
  double start = sr_seconds();
  const char *path = cli_text(run, "output");
  bool to_stdout = strcmp(path, "-") == 0;
  sr_table *predictions = NULL;
  int said = (cli_flag(run, "proba") ? SR_PREDICT_SHARES : 0) |
             (cli_flag(run, "uncertainty") ? SR_PREDICT_UNCERTAINTY : 0);
  sr_status status = sr_ensemble_predict_table(run->ctx, ensemble, table, said, &predictions);
  double seconds = sr_seconds() - start, error = -1.0;
  if (status == SR_OK) {
    error = error_of(ensemble, table, sr_table_get(predictions)->label);
    status = sr_table_write(run->ctx, predictions, path);
  }
  sr_table_free(&predictions);
  if (status != SR_OK) return cli_fail(run, status);
  if (!to_stdout) {
    cli_say(run, "%s: %lld rows in %.2f s", path, (long long)rows, seconds);
    if (error >= 0.0) cli_say(run, ", error %.4f", error);
    cli_say(run, "\n");
  }
  json_t *result =
      json_pack("{s:I,s:o}", "rows", (json_int_t)rows, "seconds", cli_json_real(seconds));
  if (error >= 0.0) json_object_set_new(result, "error", json_real(error));
  return cli_finish(run, result);
}

static int run_predict(cli_run *run) {
  sr_ensemble *ensemble = NULL;
  sr_table *table = NULL;
  int code;
  if (run->json && strcmp(cli_text(run, "output"), "-") == 0)
    return cli_complain(run, CLI_USAGE,
                        "predict --json needs -o OUT: both cannot go to standard output");
  sr_status status = sr_ensemble_load(run->ctx, run->arguments[0], &ensemble);
  if (status != SR_OK) {
    code = cli_fail(run, status);
  } else {
    status = read_table(run, ensemble, &table);
    code = status == SR_OK ? predict(run, ensemble, table) : cli_fail(run, status);
  }
  sr_table_free(&table);
  sr_ensemble_free(&ensemble);
  return code;
}

const cli_command cli_predict = {
    .name = "predict",
    .arguments = "MODEL FILE",
    .least = 2,
    .most = 2,
    .help = "classes of new rows by a trained model",
    .description =
        "Columns are found by the names they had in training; others are passed over. Where FILE "
        "has\n"
        "the class column, the error is told as well; it is too good where the model learned from "
        "these\n"
        "rows.",
    .groups = {options, cli_column_options},
    .example = "specroute predict elec2.model new.csv -o classes.csv --proba",
    .run = run_predict};
