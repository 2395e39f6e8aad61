#include "cli.h"
#include "commands.h"

static const cli_option options[] = {
    {"tmix", 0, CLI_REAL, "T", "10", NULL, 1, 1e12, "mixing time in rows"},
    {"n", 'n', CLI_REAL, "N", "10000", NULL, 2, 1e18, "rows"},
    {"drift", 0, CLI_REAL, "NU", "0", NULL, 0, 1e6,
     "total shift of the mean over all rows, in standard deviations"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static int run_theory(cli_run *run) {
  double tmix = cli_real(run, "tmix"), n = cli_real(run, "n"), drift = cli_real(run, "drift");
  sr_theory theory = sr_theory_bounds(tmix, n, drift);
  cli_say(run, "The paper's bounds for T = %g and n = %g, every constant set to 1:\n\n", tmix, n);
  cli_say(run, "  minimax lower bound   sqrt(T / n)        %.6g\n", theory.minimax);
  cli_say(run, "  uniform bagging       T / sqrt(n)        %.6g   (%.3g times the minimax rate)\n",
          theory.bagging, theory.bagging / theory.minimax);
  cli_say(run, "  drift term            nu T / n           %.6g   (nu = %g)\n", theory.drift,
          drift);
  cli_say(run, "  sample condition      n / (T^3 log n)    %.6g   (%s)\n", theory.sample_condition,
          theory.sample_condition >= 1.0 ? "holds" : "fails: n is too small for this T");
  return cli_finish(run, json_pack("{s:o,s:o,s:o,s:o}", "minimax", cli_json_real(theory.minimax),
                                   "bagging", cli_json_real(theory.bagging), "drift",
                                   cli_json_real(theory.drift), "sample_condition",
                                   cli_json_real(theory.sample_condition)));
}

const cli_command cli_theory = {.name = "theory",
                                .arguments = "",
                                .help = "the paper's bounds and its sample condition in numbers",
                                .description =
                                    "Rates, not errors: the paper leaves the constants open, so "
                                    "they are set to 1 here. Compare\n"
                                    "settings with each other, never a rate with a measured error.",
                                .groups = {options},
                                .example = "specroute theory --tmix 50 --n 50000",
                                .run = run_theory};
