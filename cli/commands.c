/* The table of commands; a new command is one line here and one in commands.h. */
#include "commands.h"

#include <string.h>

static const cli_command completion = {.name = "completion",
                                       .arguments = "bash|zsh|fish",
                                       .choices = "bash|zsh|fish",
                                       .least = 1,
                                       .most = 1,
                                       .help = "print the completions of a shell",
                                       .run = cli_run_completion,
                                       .hidden = true};

static const cli_command reference = {.name = "reference",
                                      .arguments = "commands|methods",
                                      .choices = "commands|methods",
                                      .least = 1,
                                      .most = 1,
                                      .help = "print a page of docs/reference",
                                      .run = cli_run_reference,
                                      .hidden = true};

static const cli_command man = {.name = "man",
                                .arguments = "",
                                .help = "print the man page",
                                .run = cli_run_man,
                                .hidden = true};

const cli_command *const cli_commands[] = {
    &cli_diagnose, &cli_train,   &cli_predict,  &cli_compare,   &cli_plan,
    &cli_parts,    &cli_methods, &cli_simulate, &cli_reproduce, &cli_report,
    &cli_theory,   &completion,  &man,          &reference,     NULL,
};

const cli_command *cli_find_command(const char *name) {
  for (int i = 0; cli_commands[i]; i++)
    if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
  return NULL;
}
