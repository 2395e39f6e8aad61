#include <math.h>

#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "FOLDS", NULL, ".csv|.npy|.json", 0, 0,
     "where to write them: .csv (row,fold,role from 0), .npy (folds x rows) or .json"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static int finish(cli_run *run, const sr_folds *folds, const sr_structure *structure) {
  const sr_folds_view *view = sr_folds_get(folds);
  double length = (double)view->rows / (double)view->units;
  const char *unit = sr_unit_name(view->unit),
             *counted = sr_distance_unit_name(view->distance_unit);
  bool map = counted != NULL;
  char kept[48];
  if (map && view->buffer_distance <= 0.0)
    snprintf(kept, sizeof kept, "nothing");
  else if (map)
    sr_distance_text(view->buffer_distance, view->distance_unit, kept, sizeof kept);
  else
    snprintf(kept, sizeof kept, "%lld %s", (long long)view->buffer,
             view->unit == SR_UNIT_PART ? "steps" : "rows");
  if (view->unit == SR_UNIT_ROW)
    cli_say(run, "folds     %d of about %lld rows each, drawn at random\n", view->folds,
            (long long)(view->rows / view->folds));
  else
    cli_say(run, "folds     %d of %d %ss, %.0f rows each, %s kept free around them\n", view->folds,
            view->units, unit, length, kept);
  double tmix = sr_structure_get(structure)->tmix;
  if (isnan(tmix))
    cli_say(run, "T         cannot be told from these rows\n");
  else
    cli_say(run, "T         %.4g rows\n", tmix);
  cli_say(run, "written   %s\n", cli_text(run, "output"));
  return cli_finish(run,
                    json_pack("{s:i,s:s,s:i,s:o,s:I,s:I,s:o,s:o,s:s?,s:o}", "folds",
                              (int)view->folds, "unit", unit, "units", (int)view->units, "length",
                              cli_json_real(length), "buffer", (json_int_t)view->buffer, "rows",
                              (json_int_t)view->rows, "tmix", cli_json_scale(structure),
                              "buffer_distance", cli_json_real(map ? view->buffer_distance : NAN),
                              "distance_unit", counted, "reach", cli_json_real(view->reach)));
}

static int run_folds(cli_run *run) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr_folds *folds = NULL;
  sr_structure_options wanted;
  sr_folds_options dealt;
  int code = CLI_SUCCESS;
  const char *path = cli_text(run, "output");
  if (!path)
    return cli_complain(run, CLI_USAGE, "folds needs -o FOLDS.csv, FOLDS.npy or FOLDS.json");
  sr_structure_options_init(&wanted);
  sr_folds_options_init(&dealt);
  code = cli_read_task(run, "structure", sr_structure_option_list(), &wanted);
  if (code == CLI_SUCCESS) code = cli_read_task(run, "folds", sr_folds_option_list(), &dealt);
  if (code != CLI_SUCCESS) return code;
  SR_TRY(cli_read_table(run, run->arguments[0], &table));
  SR_TRY(sr_structure_estimate(run->ctx, table, &wanted, run->seed, &structure));
  cli_warn_of_structure(run, structure);
  SR_TRY(sr_folds_new(run->ctx, structure, &dealt, run->seed, &folds));
  SR_TRY(sr_folds_write(run->ctx, folds, table, path));
  code = finish(run, folds, structure);
cleanup:
  sr_folds_free(&folds);
  sr_structure_free(&structure);
  sr_table_free(&table);
  return status == SR_OK ? code : cli_fail(run, status);
}

const cli_command cli_folds = {
    .name = "folds",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "write honest train and test folds for any trainer",
    .description =
        "Whole stretches, groups or parts are held out together, and rows near them are left "
        "free,\n"
        "as train does to tell its honest error. Rows are counted from 0 as they stand in FILE;\n"
        "each has the role test, train or free in each fold. docs/guide/folds.md has recipes for\n"
        "scikit-learn, LightGBM, ranger and caret.",
    .groups = {options, cli_column_options, cli_graph_options},
    .tasks = {sr_folds_option_list, sr_structure_option_list},
    .methods = cli_graph_methods,
    .example = "specroute folds elec2.csv.gz --target class -o folds.csv",
    .run = run_folds};
