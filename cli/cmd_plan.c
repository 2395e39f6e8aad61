#include "commands.h"
#include "plan_options.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "BAGS", NULL, NULL, 0, 0,
     "where to write the bags: .npy (members x rows, counts) or .csv (member,row,count from 0)"},
    {"plan", 'p', CLI_TEXT, "PLAN", "routed", NULL, 0, 0,
     "uniform, uniform-nm, lag-thin, tmix-thin, stationary, circular, moving, burn-in, "
     "oracle-block, auto-block, spectral, routed or bags"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static int finish(cli_run *run, const sr_structure *structure, const sr_plan *plan,
                  const sr_plan_sizes *sizes) {
  sr_plan_view info = sr_plan_get(plan);
  int32_t parts = sr_parts_get(sr_structure_get(structure)->parts)->parts;
  cli_say(run, "plan      ");
  cli_say_plan(run, info.name, info.parameter_count, info.parameters);
  cli_say(run, "\nbags      %d of %lld to %lld rows (mean %.1f) out of %lld\n", info.members,
          (long long)sizes->smallest, (long long)sizes->largest, sizes->mean, (long long)info.rows);
  cli_say(run, "written   %s\n", cli_text(run, "output"));
  return cli_finish(run, json_pack("{s:o,s:i,s:{s:I,s:o,s:I},s:i,s:I,s:o}", "plan",
                                   cli_plan_json(info.name, info.parameter_count, info.parameters),
                                   "members", (int)info.members, "rows_per_bag", "min",
                                   (json_int_t)sizes->smallest, "mean", cli_json_real(sizes->mean),
                                   "max", (json_int_t)sizes->largest, "parts", (int)parts, "rows",
                                   (json_int_t)info.rows, "tmix",
                                   cli_json_real(sr_structure_get(structure)->tmix)));
}

static int run_plan(cli_run *run) {
  const char *path = cli_text(run, "output");
  if (!path) return cli_complain(run, CLI_USAGE, "plan needs -o BAGS.npy or -o BAGS.csv");
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  sr_plan_sizes sizes;
  const char *text = cli_plan_text(run, cli_text(run, "plan"));
  sr_status status = sr_method_check(run->ctx, "plan", sr_plan_method, text, NULL);
  if (status == SR_OK) status = cli_read_table(run, run->arguments[0], &table);
  if (status == SR_OK) {
    sr_structure_options options_ = cli_read_structure(run);
    status = sr_structure_estimate(run->ctx, table, &options_, run->seed, &structure);
  }
  if (status == SR_OK)
    status = sr_plan_new(run->ctx, structure, text, (int32_t)cli_integer(run, "members"), run->seed,
                         &plan);
  if (status == SR_OK) status = sr_plan_write(run->ctx, plan, path, &sizes);
  int code = status == SR_OK ? finish(run, structure, plan, &sizes) : cli_fail(run, status);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_table_free(&table);
  return code;
}

const cli_command cli_plan = {
    .name = "plan",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "write the bags of a plan, to train in another framework",
    .description =
        "A bag lists the rows that one member learns from, with how often it draws each. Rows and\n"
        "members are counted from 0. The same seed gives the same bags as train.",
    .groups = {options, cli_scheme_options, cli_structure_options, cli_column_options,
               cli_graph_options},
    .example = "specroute plan elec2.csv --target class --plan routed -o bags.npy",
    .run = run_plan};
