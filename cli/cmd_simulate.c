#include <string.h>

#include "commands.h"
#include "generated.h"

static const cli_option options[] = {{"output", 'o', CLI_PATH, "FILE", "-", "table", 0, 0,
                                      "where to write the table; - is standard output"},
                                     {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"simulator", "simulator", sr_simulator_method, false,
                                           true},
                                          {NULL, NULL, NULL, false, false}};

static int run_simulate(cli_run *run) {
  const char *path = cli_text(run, "output");
  bool to_stdout = strcmp(path, "-") == 0;
  if (run->json && to_stdout)
    return cli_complain(run, CLI_USAGE,
                        "--json and the table cannot both go to standard output; give -o FILE");
  sr_table *table = NULL;
  double bayes_risk = 0.0;
  sr_status status =
      sr_simulate(run->ctx, cli_method_text(run, "simulator"), run->seed, 0, &table, &bayes_risk);
  int64_t n = table ? sr_table_get(table)->rows : 0, d = table ? sr_table_get(table)->features : 0;
  if (status == SR_OK) status = sr_table_write(run->ctx, table, path);
  sr_table_free(&table);
  if (status != SR_OK) return cli_fail(run, status);
  if (!to_stdout)
    cli_say(run, "%s: %lld rows, %lld features, Bayes risk %.4f\n", path, (long long)n,
            (long long)d, bayes_risk);
  return cli_finish(run, json_pack("{s:I,s:I,s:o}", "n", (json_int_t)n, "d", (json_int_t)d,
                                   "bayes_risk", cli_json_real(bayes_risk)));
}

const cli_command cli_simulate = {
    .name = "simulate",
    .arguments = "NAME[:KEY=VALUE,...]",
    .least = 1,
    .most = 1,
    .help = "write witness data whose dependence and Bayes risk are known",
    .description =
        "Columns x1..xd and the class y = sign(<v, x> + noise). ar1 is a Gaussian AR(1) chain in\n"
        "every feature, drift the same with a linear shift of the mean, sticky a chain that "
        "repeats its\n"
        "row and class until it jumps, grid a Gaussian field on a\n"
        "lattice, whose columns coordinate1 and coordinate2 say where a cell lies.",
    .groups = {options},
    .methods = methods,
    .example = "specroute simulate ar1 --n 1000 --tmix 10 --d 3 -o x.csv --json",
    .run = run_simulate};
