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
    &cli_diagnose,  &cli_train,  &cli_predict, &cli_compare,  &cli_tune,       &cli_show,
    &cli_folds,     &cli_judge,  &cli_plan,    &cli_parts,    &cli_methods,    &cli_simulate,
    &cli_reproduce, &cli_report, &cli_theory,  &cli_rl_train, &cli_rl_compare, &cli_rl_play,
    &completion,    &man,        &reference,   NULL,
};

const cli_command *cli_find_command(const char *name) {
  for (int i = 0; cli_commands[i]; i++)
    if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
  return NULL;
}

size_t cli_group_length(const cli_command *command) {
  size_t length = strcspn(command->name, " ");
  return command->name[length] ? length : 0;
}

bool cli_in_group(const cli_command *command, const char *group) {
  size_t length = cli_group_length(command);
  return length > 0 && strlen(group) == length && memcmp(command->name, group, length) == 0;
}

bool cli_opens_group(int index) {
  char group[32];
  size_t length = cli_group_length(cli_commands[index]);
  if (length == 0 || length >= sizeof group) return false;
  snprintf(group, sizeof group, "%.*s", (int)length, cli_commands[index]->name);
  return index == 0 || !cli_in_group(cli_commands[index - 1], group);
}
