#include "commands.h"
#include "plan_options.h"

static const cli_option options[] = {
    {"plans", 'p', CLI_LIST, "PLAN,...", "uniform,uniform-nm,routed,spectral,auto", NULL, 0, 0,
     "plans to compare: NAME[:KEY=VALUE,...]"},
    {"learners", 'l', CLI_LIST, "LEARNER,...", "tree", NULL, 0, 0,
     "learners to compare: tree, ridge"},
    {"folds", 0, CLI_INTEGER, "K", "5", NULL, 2, 100000,
     "folds of whole blocks, or of whole groups where a group column is given"},
    {"leave-group-out", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, "one group a fold"},
    {"buffer", 0, CLI_INTEGER, "ROWS", NULL, NULL, 0, 1e9,
     "rows or graph steps kept free around a held-out block (default T in a series)"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static void say_comparison(const cli_run *run, const sr_comparison_view *view) {
  cli_say(run, "held out: %d %ss in %d folds, %lld rows or steps kept free around them\n",
          view->units, sr_unit_name(view->held_out), view->folds, (long long)view->buffer);
  cli_say(run, "%-40s %-8s %8s %8s %8s %9s %10s\n", "plan", "learner", "error", "low", "high",
          "seconds", "p (Holm)");
  for (int32_t r = 0; r < view->row_count; r++) {
    const sr_compare_row *row = &view->rows[r];
    cli_say(run, "%-40s %-8s %8.4f %8.4f %8.4f %9.2f ", row->plan, row->learner, row->error,
            row->low, row->high, row->seconds);
    for (int32_t t = 0; t < view->test_count; t++)
      if (view->tests[t].second == r) cli_say(run, "%10.4f", view->tests[t].p_holm);
    cli_say(run, "%s\n", r == view->best ? "      best" : "");
  }
  cli_say(run, "p: the best against each other row, Wilcoxon signed ranks paired over %ss, Holm\n",
          sr_unit_name(view->held_out));
}

static json_t *comparison_json(const sr_comparison_view *view) {
  json_t *rows = json_array(), *tests = json_array();
  for (int32_t r = 0; r < view->row_count; r++) {
    const sr_compare_row *row = &view->rows[r];
    json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o}", "plan", row->plan,
                                          "label", row->plan, "learner", row->learner, "error",
                                          cli_json_real(row->error), "low", cli_json_real(row->low),
                                          "high", cli_json_real(row->high), "seconds",
                                          cli_json_real(row->seconds)));
  }
  for (int32_t t = 0; t < view->test_count; t++) {
    const sr_compare_test *test = &view->tests[t];
    json_array_append_new(tests,
                          json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o}", "first",
                                    view->rows[test->first].plan, "first_learner",
                                    view->rows[test->first].learner, "second",
                                    view->rows[test->second].plan, "second_learner",
                                    view->rows[test->second].learner, "difference",
                                    cli_json_real(test->difference), "p", cli_json_real(test->p),
                                    "p_holm", cli_json_real(test->p_holm)));
  }
  return json_pack("{s:o,s:o,s:{s:s,s:s},s:s,s:i,s:i,s:I}", "rows", rows, "wilcoxon", tests, "best",
                   "plan", view->rows[view->best].plan, "learner", view->rows[view->best].learner,
                   "held_out", sr_unit_name(view->held_out), "blocks", (int)view->units, "folds",
                   (int)view->folds, "buffer", (json_int_t)view->buffer);
}

static int run_compare(cli_run *run) {
  if (!cli_given(run, "target"))
    return cli_complain(run, CLI_USAGE, "compare needs --target COL, the column of the class");
  if (cli_flag(run, "leave-group-out") && !cli_given(run, "group"))
    return cli_complain(run, CLI_USAGE, "--leave-group-out needs --group COL");
  sr_table *table = NULL;
  sr_comparison *comparison = NULL;
  sr_compare_options o;
  int code;
  sr_compare_options_init(&o);
  o.structure = cli_read_structure(run);
  o.plans = cli_plan_text(run, cli_text(run, "plans"));
  o.learners = cli_learner_text(run, cli_text(run, "learners"));
  o.members = cli_integer(run, "members");
  bool one_per_group = cli_flag(run, "leave-group-out") && !cli_given(run, "folds");
  o.folds.folds = one_per_group ? 0 : cli_integer(run, "folds");
  if (cli_given(run, "buffer")) o.folds.buffer = cli_integer(run, "buffer");
  o.vote = (int)cli_read_vote(run);
  sr_status status = sr_compare_options_check(run->ctx, &o);
  if (status == SR_OK) status = cli_read_table(run, run->arguments[0], &table);
  if (status == SR_OK) status = sr_compare(run->ctx, table, &o, run->seed, &comparison);
  if (status == SR_OK) {
    say_comparison(run, sr_comparison_get(comparison));
    code = cli_finish(run, comparison_json(sr_comparison_get(comparison)));
  } else {
    code = cli_fail(run, status);
  }
  sr_comparison_free(&comparison);
  sr_table_free(&table);
  return code;
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
        "the blocks, corrected by Holm. auto chooses anew inside every fold.",
    .groups = {options, cli_scheme_options, cli_structure_options, cli_learner_options,
               cli_column_options, cli_graph_options},
    .example = "specroute compare elec2.csv --target class --plans uniform,routed,auto",
    .run = run_compare};
