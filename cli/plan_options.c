#include "plan_options.h"

#include <string.h>

const cli_option cli_structure_options[] = {
    {"tmix", 0, CLI_REAL, "T", NULL, NULL, 1, 1e12,
     "mixing time in rows, where it is known; else it is estimated"},
    {"parts", 0, CLI_INTEGER, "P", NULL, NULL, 1, 1e9,
     "number of parts; else the groups, or parts of about 4 T rows"},
    {"scale", 0, CLI_CHOICE, "SCALE", "transition", "transition|literal", 0, 0,
     "spectral: lambda_2 of the data's own scale, or of the cutting graph as the paper writes it"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_option cli_scheme_options[] = {
    {"members", 'm', CLI_INTEGER, "M", "100", NULL, 1, 1e6, "members of the ensemble"},
    {"block", 0, CLI_REAL, "ROWS", NULL, NULL, 1, 1e12,
     "block length of stationary, circular and moving (default n^(1/3))"},
    {"lag", 0, CLI_INTEGER, "L", "5", NULL, 1, 1e9, "lag-thin: keep every L-th row"},
    {"part-share", 0, CLI_REAL, "F", "0.5", NULL, 1e-9, 1,
     "routed: share of the parts that a member draws"},
    {"row-share", 0, CLI_REAL, "G", "1", NULL, 1e-9, 1, "routed: share of the rows of each part"},
    {"bags", 0, CLI_PATH, "FILE", NULL, NULL, 0, 0,
     "bags: csv lines member,row[,count] from 0, or an npy matrix of counts"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_option cli_learner_options[] = {
    {"vote", 0, CLI_CHOICE, "RULE", "hard", "hard|soft|gated", 0, 0,
     "majority, mean probability, or weighted by nearness"},
    {"criterion", 0, CLI_CHOICE, "NAME", "gini", "gini|entropy", 0, 0, "tree: what a split lowers"},
    {"max-features", 0, CLI_INTEGER, "K", "0", NULL, -1, 1e9,
     "tree: features tried at a split (0: square root, -1: all)"},
    {"max-depth", 0, CLI_INTEGER, "DEPTH", "0", NULL, 0, 1e9, "tree: greatest depth (0: no limit)"},
    {"min-leaf", 0, CLI_INTEGER, "ROWS", "1", NULL, 1, 1e9, "tree: fewest rows in a leaf"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

sr_structure_options cli_read_structure(cli_run *run) {
  sr_structure_options options;
  sr_structure_options_init(&options);
  options.graph = cli_text(run, "graph");
  if (cli_given(run, "tmix")) options.tmix = cli_real(run, "tmix");
  if (cli_given(run, "parts")) options.parts = (int32_t)cli_integer(run, "parts");
  options.literal_scale = strcmp(cli_text(run, "scale"), "literal") == 0;
  options.seed = run->seed;
  return options;
}

sr_plan_options cli_read_plan(const cli_run *run) {
  sr_plan_options options;
  sr_plan_options_init(&options);
  options.members = (int32_t)cli_integer(run, "members");
  options.seed = run->seed;
  if (cli_given(run, "block")) options.block = cli_real(run, "block");
  options.lag = cli_integer(run, "lag");
  options.part_share = cli_real(run, "part-share");
  options.row_share = cli_real(run, "row-share");
  options.bags_path = cli_text(run, "bags");
  return options;
}

sr_learner_options cli_read_learner(const cli_run *run) {
  sr_learner_options options;
  sr_learner_options_init(&options);
  options.criterion =
      strcmp(cli_text(run, "criterion"), "entropy") == 0 ? SR_CRITERION_ENTROPY : SR_CRITERION_GINI;
  options.max_features = (int32_t)cli_integer(run, "max-features");
  options.max_depth = (int32_t)cli_integer(run, "max-depth");
  options.min_leaf = (int32_t)cli_integer(run, "min-leaf");
  return options;
}

sr_vote cli_read_vote(const cli_run *run) {
  const char *vote = cli_text(run, "vote");
  return strcmp(vote, "soft") == 0    ? SR_VOTE_SOFT
         : strcmp(vote, "gated") == 0 ? SR_VOTE_GATED
                                      : SR_VOTE_HARD;
}

json_t *cli_plan_json(const char *name, int32_t count, const sr_plan_parameter *parameters) {
  json_t *values = json_object();
  for (int32_t k = 0; k < count; k++)
    json_object_set_new(values, parameters[k].name, cli_json_real(parameters[k].value));
  return json_pack("{s:s,s:o}", "name", name, "parameters", values);
}

void cli_say_plan(const cli_run *run, const char *name, int32_t count,
                  const sr_plan_parameter *parameters) {
  cli_say(run, "%s", name);
  for (int32_t k = 0; k < count; k++)
    cli_say(run, "%s%s %g%s", k ? ", " : " (", parameters[k].name, parameters[k].value,
            k + 1 == count ? ")" : "");
}
