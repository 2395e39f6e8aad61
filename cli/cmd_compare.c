#include <string.h>

#include "commands.h"
#include "plan_options.h"

enum { MOST_PLANS = 32, MOST_LEARNERS = 8 };

static const cli_option options[] = {
    {"plans", 'p', CLI_LIST, "PLAN,...", "uniform,uniform-nm,routed,spectral,auto", NULL, 0, 0,
     "plans to compare; routed:F:G names its shares"},
    {"learners", 'l', CLI_LIST, "LEARNER,...", "tree", NULL, 0, 0,
     "learners to compare: tree, ridge"},
    {"folds", 0, CLI_INTEGER, "K", "5", NULL, 2, 100000,
     "folds of whole blocks, or of whole groups where a group column is given"},
    {"leave-group-out", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, "one group a fold"},
    {"buffer", 0, CLI_INTEGER, "ROWS", NULL, NULL, 0, 1e9,
     "rows or graph steps kept free around a held-out block (default T in a series)"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

typedef struct compare_lists {
  sr_plan_options plan[MOST_PLANS];
  char name[MOST_PLANS][32];
  sr_learner_options learner[MOST_LEARNERS];
  int32_t plans, learners;
} compare_lists;

/* "routed:0.2:1" sets the shares of this entry. */
static bool parse_plan(const char *text, char *name, sr_plan_options *plan) {
  const char *colon = strchr(text, ':');
  size_t length = colon ? (size_t)(colon - text) : strlen(text);
  char rest;
  if (length >= 32) return false;
  memcpy(name, text, length);
  name[length] = '\0';
  plan->name = name;
  return !colon || sscanf(colon, ":%lf:%lf%c", &plan->part_share, &plan->row_share, &rest) == 2;
}

static int read_lists(cli_run *run, compare_lists *lists) {
  const char *const *plans = cli_list(run, "plans"), *const *learners = cli_list(run, "learners");
  for (; plans && plans[lists->plans]; lists->plans++) {
    if (lists->plans == MOST_PLANS)
      return cli_complain(run, CLI_USAGE, "compare takes at most %d plans", MOST_PLANS);
    lists->plan[lists->plans] = cli_read_plan(run);
    if (!parse_plan(plans[lists->plans], lists->name[lists->plans], &lists->plan[lists->plans]))
      return cli_complain(run, CLI_USAGE, "'%s' is not a plan; write NAME or routed:F:G",
                          plans[lists->plans]);
  }
  for (; learners && learners[lists->learners]; lists->learners++) {
    if (lists->learners == MOST_LEARNERS)
      return cli_complain(run, CLI_USAGE, "compare takes at most %d learners", MOST_LEARNERS);
    lists->learner[lists->learners] = cli_read_learner(run);
    lists->learner[lists->learners].name = learners[lists->learners];
  }
  return CLI_SUCCESS;
}

static void say_comparison(const cli_run *run, const sr_comparison_view *view) {
  cli_say(run, "held out: %d %ss in %d folds, %lld rows or steps kept free around them\n",
          view->blocks, view->held_out, view->folds, (long long)view->buffer);
  cli_say(run, "%-24s %-8s %8s %8s %8s %9s %10s\n", "plan", "learner", "error", "low", "high",
          "seconds", "p (Holm)");
  for (int32_t r = 0; r < view->row_count; r++) {
    const sr_compare_row *row = &view->rows[r];
    cli_say(run, "%-24s %-8s %8.4f %8.4f %8.4f %9.2f ", row->label, row->learner, row->error,
            row->low, row->high, row->seconds);
    for (int32_t t = 0; t < view->test_count; t++)
      if (view->tests[t].second == r) cli_say(run, "%10.4f", view->tests[t].p_holm);
    cli_say(run, "%s\n", r == view->best ? "      best" : "");
  }
  cli_say(run, "p: the best against each other row, Wilcoxon signed ranks paired over %ss, Holm\n",
          view->held_out);
}

static json_t *comparison_json(const sr_comparison_view *view) {
  json_t *rows = json_array(), *tests = json_array();
  for (int32_t r = 0; r < view->row_count; r++) {
    const sr_compare_row *row = &view->rows[r];
    json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o}", "plan", row->plan,
                                          "label", row->label, "learner", row->learner, "error",
                                          cli_json_real(row->error), "low", cli_json_real(row->low),
                                          "high", cli_json_real(row->high), "seconds",
                                          cli_json_real(row->seconds)));
  }
  for (int32_t t = 0; t < view->test_count; t++) {
    const sr_compare_test *test = &view->tests[t];
    json_array_append_new(tests,
                          json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o}", "first",
                                    view->rows[test->first].label, "first_learner",
                                    view->rows[test->first].learner, "second",
                                    view->rows[test->second].label, "second_learner",
                                    view->rows[test->second].learner, "difference",
                                    cli_json_real(test->difference), "p", cli_json_real(test->p),
                                    "p_holm", cli_json_real(test->p_holm)));
  }
  return json_pack("{s:o,s:o,s:{s:s,s:s},s:s,s:i,s:i,s:I}", "rows", rows, "wilcoxon", tests, "best",
                   "plan", view->rows[view->best].label, "learner", view->rows[view->best].learner,
                   "held_out", view->held_out, "blocks", (int)view->blocks, "folds",
                   (int)view->folds, "buffer", (json_int_t)view->buffer);
}

static int run_compare(cli_run *run) {
  if (!cli_given(run, "target"))
    return cli_complain(run, CLI_USAGE, "compare needs --target COL, the column of the class");
  if (cli_flag(run, "leave-group-out") && !cli_given(run, "group"))
    return cli_complain(run, CLI_USAGE, "--leave-group-out needs --group COL");
  compare_lists lists = {0};
  int code = read_lists(run, &lists);
  if (code != CLI_SUCCESS) return code;
  sr_table *table = NULL;
  sr_comparison *comparison = NULL;
  sr_compare_options o;
  sr_compare_options_init(&o);
  sr_status status = cli_read_table(run, run->arguments[0], &table);
  if (status == SR_OK) {
    o.structure = cli_read_structure(run);
    o.plan_count = lists.plans;
    o.plans = lists.plan;
    o.learner_count = lists.learners;
    o.learners = lists.learner;
    o.leave_group_out = cli_flag(run, "leave-group-out");
    o.folds =
        o.leave_group_out && !cli_given(run, "folds") ? 0 : (int32_t)cli_integer(run, "folds");
    if (cli_given(run, "buffer")) o.buffer = cli_integer(run, "buffer");
    o.vote = cli_read_vote(run);
    o.seed = run->seed;
    status = sr_compare(run->ctx, table, &o, &comparison);
  }
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
