/* Flags that the library's own lists make: the options of a task, and the keys of the methods that
 * a command lets its user name. */
#ifndef SR_CLI_GENERATED_H
#define SR_CLI_GENERATED_H

#include "cli.h"

/* Makes the flags of every command, once. False where memory is out. */
bool cli_generate(void);
void cli_generated_free(void);
/* The generated flags of a command in the order of the help; NULL past the end. */
const cli_option *cli_generated_at(const cli_command *command, int index);
/* Whether a generated flag is a key of single methods, not of the task. */
bool cli_is_of_method(const cli_option *option);
/* The flag of a command whose value names a method; NULL where this flag does not. */
const cli_method_flag *cli_method_flag_of(const cli_command *command, const char *flag);

/* The method (or list of methods) that a flag names, with every given flag of a single method as a
 * key: "routed:part_share=0.3". NULL where nothing is named. Owned by the run. */
const char *cli_method_text(cli_run *run, const char *flag);
/* Checks the names, keys and values of all methods that the line names, and that each flag of a
 * single method has a method that takes it, before a file is read. */
int cli_check_methods(cli_run *run);
/* Sets the options of a task from the line; `what` names it in messages. */
int cli_read_task(cli_run *run, const char *what, const sr_option *list, void *options);

#endif
