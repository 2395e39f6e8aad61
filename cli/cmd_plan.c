#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "BAGS", NULL, ".npy|.csv", 0, 0,
     "where to write the bags: .npy (members x rows, counts) or .csv (member,row,count from 0)"},
    {"plan", 'p', CLI_TEXT, "PLAN", "routed", NULL, 0, 0, "NAME[:KEY=VALUE,...]"},
    {"members", 'm', CLI_INTEGER, "M", "100", NULL, 1, 1e6, "members of the ensemble"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"plan", "plan", sr_plan_method, false, false},
                                          {"graph", "graph", sr_graph_method, false, false},
                                          {NULL, NULL, NULL, false, false}};

/* {"name": ..., "parameters": {...}} */
static json_t *plan_json(const sr_plan_view *plan) {
  json_t *values = json_object();
  for (int32_t k = 0; k < plan->parameter_count; k++)
    json_object_set_new(values, plan->parameters[k].name, cli_json_real(plan->parameters[k].value));
  return json_pack("{s:s,s:o}", "name", plan->name, "parameters", values);
}

/* "routed (parts 50, part_share 0.5)" */
static void say_plan(const cli_run *run, const sr_plan_view *plan) {
  cli_say(run, "plan      %s", plan->name);
  for (int32_t k = 0; k < plan->parameter_count; k++)
    cli_say(run, "%s%s %g%s", k ? ", " : " (", plan->parameters[k].name, plan->parameters[k].value,
            k + 1 == plan->parameter_count ? ")" : "");
}

static int finish(cli_run *run, const sr_structure *structure, const sr_plan *plan,
                  const sr_plan_sizes *sizes) {
  sr_plan_view info = sr_plan_get(plan);
  int32_t parts = sr_parts_get(sr_structure_get(structure)->parts)->parts;
  say_plan(run, &info);
  cli_say(run, "\nbags      %d of %lld to %lld rows (mean %.1f) out of %lld\n", info.members,
          (long long)sizes->smallest, (long long)sizes->largest, sizes->mean, (long long)info.rows);
  cli_say(run, "written   %s\n", cli_text(run, "output"));
  return cli_finish(run,
                    json_pack("{s:o,s:i,s:{s:I,s:o,s:I},s:i,s:I,s:o}", "plan", plan_json(&info),
                              "members", (int)info.members, "rows_per_bag", "min",
                              (json_int_t)sizes->smallest, "mean", cli_json_real(sizes->mean),
                              "max", (json_int_t)sizes->largest, "parts", (int)parts, "rows",
                              (json_int_t)info.rows, "tmix", cli_json_scale(structure)));
}

static int run_plan(cli_run *run) {
  sr_status status = SR_OK;
  const char *path = cli_text(run, "output");
  if (!path) return cli_complain(run, CLI_USAGE, "plan needs -o BAGS.npy or -o BAGS.csv");
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  sr_plan_sizes sizes;
  sr_structure_options wanted;
  int code = CLI_SUCCESS;
  sr_structure_options_init(&wanted);
  code = cli_read_task(run, "structure", sr_structure_option_list(), &wanted);
  if (code != CLI_SUCCESS) return code;
  SR_TRY(cli_read_table(run, run->arguments[0], &table));
  SR_TRY(sr_structure_estimate(run->ctx, table, &wanted, run->seed, &structure));
  cli_warn_of_structure(run, structure);
  SR_TRY(sr_plan_new(run->ctx, structure, cli_method_text(run, "plan"),
                     (int32_t)cli_integer(run, "members"), run->seed, &plan));
  SR_TRY(sr_plan_write(run->ctx, plan, path, &sizes));
  code = finish(run, structure, plan, &sizes);
cleanup:
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_table_free(&table);
  return status == SR_OK ? code : cli_fail(run, status);
}

const cli_command cli_plan = {
    .name = "plan",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "write the bags of a plan, to train in another framework",
    .description =
        "A bag lists the rows that one member learns from, with how often it draws each. Rows (as\n"
        "they stand in FILE) and members are counted from 0. The same seed gives the same bags as "
        "train.",
    .groups = {options, cli_column_options, cli_graph_options},
    .tasks = {sr_structure_option_list},
    .methods = methods,
    .example = "specroute plan elec2.csv --target class --plan routed -o bags.npy",
    .run = run_plan};
