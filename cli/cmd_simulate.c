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

/* The witness with every flag that was given as a key of it. */
static void name_witness(const cli_run *run, char *text, size_t size) {
  static const char *const flags[] = {"n",     "d",     "tmix",  "range",
                                      "drift", "delta", "noise", "noise-kind"};
  const char *name = run->arguments[0];
  bool has_keys = strchr(name, ':') != NULL;
  size_t used = (size_t)snprintf(text, size, "%s", name);
  for (size_t i = 0; i < sizeof flags / sizeof *flags && used < size; i++) {
    if (!cli_given(run, flags[i])) continue;
    const char *key = strcmp(flags[i], "noise-kind") == 0 ? "noise_kind" : flags[i];
    used += (size_t)snprintf(text + used, size - used, "%c%s=%s", has_keys ? ',' : ':', key,
                             cli_text(run, flags[i]));
    has_keys = true;
  }
}

static int run_simulate(cli_run *run) {
  char text[1024];
  name_witness(run, text, sizeof text);
  const char *path = cli_text(run, "output");
  bool to_stdout = strcmp(path, "-") == 0;
  if (run->json && to_stdout)
    return cli_complain(run, CLI_USAGE,
                        "--json and the table cannot both go to standard output; give -o FILE");
  sr_table *table = NULL;
  double bayes_risk = 0.0;
  sr_status status = sr_simulate(run->ctx, text, run->seed, 0, &table, &bayes_risk);
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
    .arguments = "ar1|grid|drift|sticky",
    .choices = "ar1|grid|drift|sticky",
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
    .example = "specroute simulate ar1 --n 1000 --tmix 10 --d 3 -o x.csv --json",
    .run = run_simulate};
