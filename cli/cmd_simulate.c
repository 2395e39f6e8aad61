#include <string.h>

#include "cli.h"
#include "commands.h"

static const cli_option options[] = {
    {"n", 'n', CLI_INTEGER, "N", "10000", NULL, 1, 2147483647, "rows, or cells of the lattice"},
    {"d", 'd', CLI_INTEGER, "D", "5", NULL, 1, 100000, "features"},
    {"tmix", 0, CLI_REAL, "T", "10", NULL, 1, 1e12, "mixing time: lambda = 1 - 1/T"},
    {"range", 0, CLI_REAL, "R", "10", NULL, 1e-6, 1e12,
     "grid: correlation exp(-distance / R), in cells"},
    {"drift", 0, CLI_REAL, "NU", "1", NULL, -1e6, 1e6,
     "drift: total shift of every mean over the n rows"},
    {"delta", 0, CLI_REAL, "DELTA", "0.5", NULL, -1e6, 1e6, "length of the mean of X"},
    {"noise", 0, CLI_REAL, "SD", "1", NULL, 0, 1e6, "standard deviation of the noise in the label"},
    {"noise-kind", 0, CLI_CHOICE, "KIND", "iid", "iid|ar", 0, 0,
     "independent noise, or noise as dependent as the features"},
    {"output", 'o', CLI_PATH, "FILE", "-", NULL, 0, 0,
     "where to write the table; - is standard output"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_simulate_options read_options(const cli_run *run) {
  sr_simulate_options o;
  sr_simulate_options_init(&o);
  const char *kind = run->arguments[0];
  o.kind = strcmp(kind, "grid") == 0    ? SR_SIMULATE_GRID
           : strcmp(kind, "drift") == 0 ? SR_SIMULATE_DRIFT
                                        : SR_SIMULATE_AR1;
  o.n = cli_integer(run, "n");
  o.d = (int32_t)cli_integer(run, "d");
  o.tmix = cli_real(run, "tmix");
  o.range = cli_real(run, "range");
  o.drift = cli_real(run, "drift");
  o.delta = cli_real(run, "delta");
  o.noise_sd = cli_real(run, "noise");
  o.noise_kind = strcmp(cli_text(run, "noise-kind"), "ar") == 0 ? SR_NOISE_AR : SR_NOISE_IID;
  o.seed = run->seed;
  return o;
}

static int run_simulate(cli_run *run) {
  sr_simulate_options o = read_options(run);
  const char *path = cli_text(run, "output");
  bool to_stdout = strcmp(path, "-") == 0;
  if (run->json && to_stdout)
    return cli_complain(run, CLI_USAGE,
                        "--json and the table cannot both go to standard output; give -o FILE");
  sr_table *table = NULL;
  double bayes_risk = 0.0;
  sr_status status = sr_simulate(run->ctx, &o, &table, &bayes_risk);
  if (status == SR_OK) status = sr_table_write(run->ctx, table, path);
  sr_table_free(&table);
  if (status != SR_OK) return cli_fail(run, status);
  if (!to_stdout)
    cli_say(run, "%s: %lld rows, %d features, Bayes risk %.4f\n", path, (long long)o.n, o.d,
            bayes_risk);
  return cli_finish(run, json_pack("{s:I,s:i,s:o}", "n", (json_int_t)o.n, "d", o.d, "bayes_risk",
                                   cli_json_real(bayes_risk)));
}

const cli_command cli_simulate = {
    .name = "simulate",
    .arguments = "ar1|grid|drift",
    .choices = "ar1|grid|drift",
    .least = 1,
    .most = 1,
    .help = "write witness data whose dependence and Bayes risk are known",
    .description =
        "Columns x1..xd and the class y = sign(<v, x> + noise). ar1 is a Gaussian AR(1) chain in\n"
        "every feature, drift the same with a linear shift of the mean, grid a Gaussian field on "
        "a\n"
        "lattice, whose columns coordinate1 and coordinate2 say where a cell lies.",
    .groups = {options},
    .example = "specroute simulate ar1 --n 1000 --tmix 10 --d 3 -o x.csv --json",
    .run = run_simulate};
