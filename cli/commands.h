/* The commands, one file each. */
#ifndef SR_CLI_COMMANDS_H
#define SR_CLI_COMMANDS_H

#include "cli.h"

extern const cli_command cli_compare;
extern const cli_command cli_folds;
extern const cli_command cli_judge;
extern const cli_command cli_methods;
extern const cli_command cli_plan;
extern const cli_command cli_predict;
extern const cli_command cli_report;
extern const cli_command cli_reproduce;
extern const cli_command cli_diagnose;
extern const cli_command cli_parts;
extern const cli_command cli_rl_compare;
extern const cli_command cli_rl_play;
extern const cli_command cli_rl_train;
extern const cli_command cli_show;
extern const cli_command cli_simulate;
extern const cli_command cli_theory;
extern const cli_command cli_train;
extern const cli_command cli_tune;

#endif
