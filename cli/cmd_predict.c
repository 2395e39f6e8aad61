#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "OUT", "-", "table", 0, 0,
     "file for the classes: csv, npy, ..., .tif or .nc for a map; - is standard output"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

/* What is predicted: a table, or (GeoTIFF to GeoTIFF) a raster tile by tile. */
typedef struct prediction {
  const sr_ensemble *ensemble;
  sr_predict_options options;
  bool in_tiles;
  sr_table *table;
  sr_raster_summary raster;
  double seconds; /* of the raster */
} prediction;

/* A raster with its classes is read whole, for the metrics, unless the size of tiles is given. */
static sr_status take_input(cli_run *run, const sr_read_options *read, prediction *p) {
  const char *path = run->arguments[1], *output = cli_text(run, "output");
  bool whole = p->options.along > 0 || (read->target && p->options.tile == 0);
  p->in_tiles = !whole && sr_reads_in_tiles(path, read, output);
  if (!p->in_tiles) return sr_table_read(run->ctx, path, read, &p->table);
  double start = sr_seconds();
  sr_status status = sr_ensemble_predict_raster(run->ctx, p->ensemble, path, read, &p->options,
                                                output, &p->raster);
  p->seconds = sr_seconds() - start;
  return status;
}

/* Later steps of a grid, one of which was asked for the class in training: here it is a feature. */
static bool target_is_a_feature(const prediction *p) {
  const sr_table_view *view = p->table ? sr_table_get(p->table) : NULL;
  return view && view->cell && view->features < sr_ensemble_get(p->ensemble)->features;
}

/* The model decides how the file is read. Where the file holds the class column of the training
 * data the error is told as well; where it does not, or where the class column is one of those that
 * the model needs, it is read again without. */
static sr_status read_input(cli_run *run, prediction *p) {
  const char *target = sr_ensemble_get(p->ensemble)->target_name;
  sr_read_options read = cli_read_options(run);
  read.schema = sr_ensemble_schema(p->ensemble);
  bool tried = strcmp(run->arguments[1], "-") != 0 && target && !read.target;
  if (tried) read.target = target;
  sr_status status = take_input(run, &read, p);
  bool lacks_it = status == SR_ERROR_NOT_FOUND || status == SR_ERROR_UNSUPPORTED ||
                  (status == SR_OK && target_is_a_feature(p));
  if (!tried || !lacks_it) return status;
  read.target = NULL;
  sr_table_free(&p->table);
  return take_input(run, &read, p);
}

/* Metrics of the rows with a class and a weight above 0; `rows` 0 where none has one. The table's
 * classes begin with those of the model. `shares` are the features of the predictions, a column per
 * class. */
static sr_status measure(cli_run *run, const sr_table *table, const sr_table_view *said,
                         sr_metrics *metrics) {
  const sr_table_view *view = sr_table_get(table);
  int32_t classes = view->classes.count, known = said->classes.count;
  *metrics = (sr_metrics){0};
  if (!view->label || view->rows == 0) return SR_OK;
  float *share = malloc((size_t)view->rows * (size_t)classes * sizeof *share);
  int32_t *label = malloc((size_t)view->rows * sizeof *label);
  sr_status status = share && label ? SR_OK : SR_ERROR_MEMORY;
  for (int64_t i = 0; i < view->rows && status == SR_OK; i++) {
    label[i] = view->weight && view->weight[i] == 0.0f ? -1 : view->label[i];
    for (int32_t c = 0; c < classes; c++)
      share[i * classes + c] = c < known ? said->x[c * view->rows + i] : 0.0f;
  }
  sr_metrics_input input = {view->rows, classes, label, said->label, share};
  if (status == SR_OK) status = sr_metrics_compute(run->ctx, &input, metrics, NULL);
  free(label);
  free(share);
  return status;
}

static json_t *metrics_json(const sr_metrics *m) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "balanced_accuracy",
                   cli_json_real(m->balanced_accuracy), "macro_f1", cli_json_real(m->macro_f1),
                   "auc", cli_json_real(m->auc), "brier", cli_json_real(m->brier), "log_loss",
                   cli_json_real(m->log_loss), "ece", cli_json_real(m->ece));
}

static void say_metrics(const cli_run *run, const sr_metrics *m) {
  cli_say(run, ", error %.4f\n", m->error);
  cli_say(run,
          "metrics   balanced accuracy %.4f, macro F1 %.4f\n"
          "          AUC %.4f, Brier score %.4f, log loss %.4f, calibration error %.4f\n",
          m->balanced_accuracy, m->macro_f1, m->auc, m->brier, m->log_loss, m->ece);
}

/* The predictions without the shares that only the metrics need. */
static sr_status write_predictions(cli_run *run, const sr_table *predictions, bool shares,
                                   const char *path) {
  sr_status status = SR_OK;
  sr_table *shown = NULL;
  sr_table_view view = *sr_table_get(predictions);
  int64_t extra = shares ? 0 : view.classes.count;
  if (!extra) return sr_table_write(run->ctx, predictions, path);
  view.features -= extra;
  view.x += extra * view.rows;
  if (view.feature_names) view.feature_names += extra;
  if (view.categories) view.categories += extra;
  SR_TRY(sr_table_wrap(run->ctx, &view, &shown));
  SR_TRY(sr_table_write(run->ctx, shown, path));
cleanup:
  sr_table_free(&shown);
  return status;
}

static int tell_raster(cli_run *run, const prediction *p) {
  const sr_raster_summary *r = &p->raster;
  double error = r->judged ? (double)r->wrong / (double)r->judged : -1.0;
  cli_say(run, "%s: %lld rows in %.2f s", cli_text(run, "output"), (long long)r->rows, p->seconds);
  if (r->tiles > 1) cli_say(run, ", %lld tiles", (long long)r->tiles);
  if (error >= 0.0) cli_say(run, ", error %.4f", error);
  cli_say(run, "\n");
  json_t *result = json_pack("{s:I,s:o,s:I}", "rows", (json_int_t)r->rows, "seconds",
                             cli_json_real(p->seconds), "tiles", (json_int_t)r->tiles);
  if (error >= 0.0) json_object_set_new(result, "error", json_real(error));
  return cli_finish(run, result);
}

/* A row per answer, not per series: no error is told. */
static int predict_along(cli_run *run, const prediction *p) {
  const sr_table *table = p->table;
  const char *path = cli_text(run, "output");
  sr_status status = SR_OK;
  sr_table *predictions = NULL;
  double start = sr_seconds(), seconds = 0.0;
  int64_t answers = 0;
  SR_TRY(sr_ensemble_predict_table(run->ctx, p->ensemble, table, &p->options, &predictions));
  seconds = sr_seconds() - start;
  answers = sr_table_get(predictions)->rows;
  SR_TRY(sr_table_write(run->ctx, predictions, path));
cleanup:
  sr_table_free(&predictions);
  if (status != SR_OK) return cli_fail(run, status);
  if (strcmp(path, "-") != 0)
    cli_say(run, "%s: %lld answers along %lld series in %.2f s\n", path, (long long)answers,
            (long long)sr_table_get(table)->rows, seconds);
  return cli_finish(run,
                    json_pack("{s:I,s:I,s:o}", "rows", (json_int_t)sr_table_get(table)->rows,
                              "answers", (json_int_t)answers, "seconds", cli_json_real(seconds)));
}

static int predict(cli_run *run, const prediction *p) {
  const sr_table *table = p->table;
  sr_predict_options wanted = p->options;
  int64_t rows = sr_table_get(table)->rows;
  double start = sr_seconds(), seconds = 0.0;
  const char *path = cli_text(run, "output");
  bool to_stdout = strcmp(path, "-") == 0, judged = sr_table_get(table)->label && !to_stdout;
  sr_status status = SR_OK;
  sr_table *predictions = NULL;
  sr_metrics metrics = {0};
  wanted.proba = wanted.proba || judged;
  SR_TRY(sr_ensemble_predict_table(run->ctx, p->ensemble, table, &wanted, &predictions));
  seconds = sr_seconds() - start;
  if (judged) SR_TRY(measure(run, table, sr_table_get(predictions), &metrics));
  SR_TRY(write_predictions(run, predictions, p->options.proba || !judged, path));
cleanup:
  sr_table_free(&predictions);
  if (status != SR_OK) return cli_fail(run, status);
  if (!to_stdout) {
    cli_say(run, "%s: %lld rows in %.2f s", path, (long long)rows, seconds);
    if (metrics.rows > 0)
      say_metrics(run, &metrics);
    else
      cli_say(run, "\n");
  }
  json_t *result =
      json_pack("{s:I,s:o}", "rows", (json_int_t)rows, "seconds", cli_json_real(seconds));
  if (metrics.rows > 0) {
    json_object_set_new(result, "error", json_real(metrics.error));
    json_object_set_new(result, "metrics", metrics_json(&metrics));
  }
  return cli_finish(run, result);
}

static int run_predict(cli_run *run) {
  sr_ensemble *ensemble = NULL;
  prediction p = {0};
  int code;
  if (run->json && strcmp(cli_text(run, "output"), "-") == 0)
    return cli_complain(run, CLI_USAGE,
                        "predict --json needs -o OUT: both cannot go to standard output");
  sr_predict_options_init(&p.options);
  code = cli_read_task(run, "predict", sr_predict_option_list(), &p.options);
  if (code != CLI_SUCCESS) return code;
  sr_status status = sr_ensemble_load(run->ctx, run->arguments[0], &ensemble);
  p.ensemble = ensemble;
  if (status == SR_OK) status = read_input(run, &p);
  if (status != SR_OK)
    code = cli_fail(run, status);
  else
    code = p.in_tiles            ? tell_raster(run, &p)
           : p.options.along > 0 ? predict_along(run, &p)
                                 : predict(run, &p);
  sr_table_free(&p.table);
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
        "the class column, the error and metrics are told as well: those of these rows, which are "
        "no\n"
        "test where the model learned from them.",
    .groups = {options, cli_column_options},
    .tasks = {sr_predict_option_list},
    .example = "specroute predict elec2.model new.csv -o classes.csv --proba",
    .run = run_predict};
