#include "commands.h"
#include "generated.h"

static const cli_option options[] = {{"plans", 'p', CLI_TEXT, "PLAN,...",
                                      "uniform,uniform-nm,routed,spectral,auto", NULL, 0, 0,
                                      "plans to compare: NAME[:KEY=VALUE,...]"},
                                     {"leave-group-out", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0,
                                      "one group per fold: --folds 0"},
                                     {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
                                      "also write a page: .html, or .md without pictures"},
                                     {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_status write_page(cli_run *run, const sr_comparison *comparison, const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  snprintf(title, sizeof title, "Plans and learners on %s", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, path, &page));
  SR_TRY(sr_page_add_comparison(run->ctx, page, comparison));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

static int run_compare(cli_run *run) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_comparison *comparison = NULL;
  char *text = NULL;
  sr_compare_options o;
  if (cli_flag(run, "leave-group-out") && !cli_given(run, "group"))
    return cli_complain(run, CLI_USAGE, "--leave-group-out needs --group COL");
  sr_compare_options_init(&o);
  int code = cli_read_task(run, "compare", sr_compare_option_list(), &o);
  if (code != CLI_SUCCESS) return code;
  if (cli_flag(run, "leave-group-out") && !cli_given(run, "folds")) o.folds.folds = 0;
  SR_TRY(sr_compare_options_check(run->ctx, &o));
  SR_TRY(cli_read_table(run, run->arguments[0], &table));
  if (!cli_has_target(table)) {
    sr_table_free(&table);
    return cli_complain(run, CLI_USAGE, "compare needs --target COL, the column of the class");
  }
  SR_TRY(sr_compare(run->ctx, table, &o, run->seed, &comparison));
  SR_TRY(sr_describe_comparison(run->ctx, comparison,
                                run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text));
  cli_print_description(run, text);
  if (cli_given(run, "report")) SR_TRY(write_page(run, comparison, cli_text(run, "report")));
cleanup:
  sr_bytes_free((void **)&text);
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

const cli_command cli_compare = {
    .name = "compare",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "error of plans and learners on held-out blocks or groups, with paired tests",
    .description =
        "Every plan and learner is trained on the same folds and judged on whole blocks (or "
        "groups)\n"
        "that it never saw. The best is tested against each other one by Wilcoxon's signed ranks "
        "over\n"
        "the blocks, corrected by Holm. auto judges a fold by weights from the held-out answers "
        "of\n"
        "other folds.",
    .groups = {options, cli_column_options},
    .tasks = {sr_compare_option_list},
    .methods = cli_compared_methods,
    .example = "specroute compare elec2.csv --target class --plans uniform,routed,auto",
    .run = run_compare};
