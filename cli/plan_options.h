/* Options that train, plan and compare share: structure, plan and learner. */
#ifndef SR_CLI_PLAN_OPTIONS_H
#define SR_CLI_PLAN_OPTIONS_H

#include "cli.h"

extern const cli_option cli_structure_options[]; /* tmix, parts, scale */
extern const cli_option cli_scheme_options[];    /* plan, members and the schemes' own numbers */
extern const cli_option cli_learner_options[];   /* learner and its own numbers */

sr_structure_options cli_read_structure(cli_run *run);
/* A method's text with the flags that are options of its own: "routed" and --part-share 0.3 give
 * "routed:part_share=0.3". A list keeps its commas. The run owns the text. */
const char *cli_plan_text(cli_run *run, const char *text);
const char *cli_learner_text(cli_run *run, const char *text);
sr_vote cli_read_vote(const cli_run *run);
/* {"name": ..., "parameters": {...}} */
json_t *cli_plan_json(const char *name, int32_t count, const sr_plan_parameter *parameters);
/* "routed (parts 50, part_share 0.5)" on stdout. */
void cli_say_plan(const cli_run *run, const char *name, int32_t count,
                  const sr_plan_parameter *parameters);

#endif
