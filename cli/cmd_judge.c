#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"prediction", 0, CLI_TEXT, "COL", NULL, NULL, 0, 0,
     "column of PREDICTIONS with the class; by default prediction, predicted, y_pred or the "
     "target"},
    {"row", 0, CLI_TEXT, "COL", NULL, NULL, 0, 0,
     "column of PREDICTIONS that counts the rows of FILE from 0; by default row or index, else the "
     "lines stand in the order of FILE"},
    {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
     "also write a page: .html, or .md without pictures"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_status write_page(cli_run *run, const sr_table *table, const sr_predictions *predictions,
                            const sr_judgment *judgment) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  snprintf(title, sizeof title, "What %s is worth", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, cli_text(run, "report"), &page));
  SR_TRY(sr_page_add_judgment(run->ctx, page, judgment));
  SR_TRY(sr_page_add_errors(run->ctx, page, table, predictions));
  SR_TRY(sr_page_write(run->ctx, page, cli_text(run, "report")));
cleanup:
  sr_page_free(&page);
  return status;
}

/* What the command line asks for. */
typedef struct judge_request {
  sr_structure_options structure;
  sr_judge_options judge;
} judge_request;

static sr_status judge(cli_run *run, judge_request *asked, const sr_table *table,
                       const sr_predictions *predictions) {
  sr_status status = SR_OK;
  sr_structure *structure = NULL;
  sr_judgment judgment;
  char *text = NULL;
  int64_t classes = sr_table_get(table)->classes.count;
  int64_t *confusion = (int64_t *)cli_keep(run, (size_t)(classes * classes) * sizeof *confusion);
  if (!confusion) return SR_ERROR_MEMORY;
  asked->judge.confusion = confusion;
  SR_TRY(sr_structure_estimate(run->ctx, table, &asked->structure, run->seed, &structure));
  cli_warn_of_structure(run, structure);
  SR_TRY(sr_judge(run->ctx, table, structure, predictions, &asked->judge, &judgment));
  SR_TRY(sr_describe_judgment(run->ctx, &judgment,
                              run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text));
  if (cli_given(run, "report")) SR_TRY(write_page(run, table, predictions, &judgment));
  cli_print_description(run, text);
cleanup:
  sr_bytes_free((void **)&text);
  sr_structure_free(&structure);
  return status;
}

static int run_judge(cli_run *run) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_prediction_file *file = NULL;
  sr_prediction_columns columns = {cli_text(run, "row"), cli_text(run, "prediction")};
  judge_request asked;
  sr_structure_options_init(&asked.structure);
  sr_judge_options_init(&asked.judge);
  int code = cli_read_task(run, "structure", sr_structure_option_list(), &asked.structure);
  if (code == CLI_SUCCESS) code = cli_read_task(run, "judge", sr_judge_option_list(), &asked.judge);
  if (code != CLI_SUCCESS) return code;
  SR_TRY(cli_read_table(run, run->arguments[1], &table));
  if (!sr_table_get(table)->label) {
    sr_table_free(&table);
    return cli_complain(run, CLI_USAGE,
                        "judge needs --target COL, the column of FILE with the class");
  }
  SR_TRY(sr_prediction_file_read(run->ctx, run->arguments[0], table, &columns, &file));
  SR_TRY(judge(run, &asked, table, sr_prediction_file_get(file)));
cleanup:
  sr_prediction_file_free(&file);
  sr_table_free(&table);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

const cli_command cli_judge = {
    .name = "judge",
    .arguments = "PREDICTIONS FILE",
    .least = 2,
    .most = 2,
    .help = "the honest evaluation of anybody's held-out predictions",
    .description =
        "PREDICTIONS holds what any trainer said of rows of FILE that it had not learned from: a "
        "class\n"
        "per row, or a probability per class in columns p_CLASS, in the order of FILE or with a "
        "column\n"
        "row. Says the error with an interval that counts dependent rows for what they are worth, "
        "beside\n"
        "the interval of independent rows; metrics, confusion and calibration. 'specroute folds' "
        "makes\n"
        "the folds, docs/guide/judge.md has recipes.",
    .groups = {options, cli_column_options, cli_graph_options},
    .tasks = {sr_judge_option_list, sr_structure_option_list},
    .methods = cli_graph_methods,
    .example = "specroute judge predictions.csv elec2.csv --target class",
    .run = run_judge};
