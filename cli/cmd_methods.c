/* specroute methods: every registry with its methods and their options. */
#include <limits.h>
#include <string.h>

#include "commands.h"
#include "experiment.h"

enum { MOST_KINDS = 32 };
static const sr_method_kind experiments = {"experiment", "experiments",
                                           "tables, figures and claims of the paper, measured",
                                           experiment_method};

/* The kinds of the library, and the experiments of this command. */
const sr_method_kind *cli_method_kind_at(int index) {
  int count = 0;
  while (sr_method_kind_at(count)) count++;
  if (index < count) return sr_method_kind_at(index);
  return index == count ? &experiments : NULL;
}

static int find_kinds(cli_run *run, const sr_method_kind **chosen, int *count) {
  const sr_method_kind *kind;
  const char *name = run->argument_count > 0 ? run->arguments[0] : NULL, *nearest = NULL;
  int distance = INT_MAX;
  for (int i = 0; (kind = cli_method_kind_at(i)) && *count < MOST_KINDS; i++) {
    if (!name || strcmp(name, kind->name) == 0 || strcmp(name, kind->plural) == 0)
      chosen[(*count)++] = kind;
    else if (sr_suggest(name, kind->plural, &distance))
      nearest = kind->plural;
  }
  if (*count > 0) return CLI_SUCCESS;
  if (nearest)
    return cli_complain(run, CLI_USAGE, "no kind of method '%s'; did you mean '%s'?", name,
                        nearest);
  return cli_complain(run, CLI_USAGE, "no kind of method '%s'; 'specroute methods' lists them",
                      name);
}

/* Leaves the lines of options out: those that are set in further than the methods. */
static void keep_methods(char *text) {
  char *to = text;
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    length += line[length] == '\n';
    if (strncmp(line, "     ", 5) != 0) {
      memmove(to, line, length);
      to += length;
    }
    line += length;
  }
  *to = '\0';
}

static int run_methods(cli_run *run) {
  const sr_method_kind *chosen[MOST_KINDS];
  int count = 0, code = find_kinds(run, chosen, &count);
  if (code != CLI_SUCCESS) return code;
  char *text = NULL;
  sr_status status =
      sr_describe_methods(run->ctx, count, chosen,
                          run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text);
  bool brief = run->argument_count == 0 && !run->verbose && !run->json;
  if (status == SR_OK && brief) keep_methods(text);
  if (status == SR_OK) cli_print_description(run, text);
  if (brief) cli_say(run, "'specroute methods KIND' or -v shows their options.\n");
  sr_bytes_free((void **)&text);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

const cli_command cli_methods = {.name = "methods",
                                 .arguments = "[KIND]",
                                 .most = 1,
                                 .help = "list every method, and the options of a kind",
                                 .description =
                                     "KIND is one of formats, simulators, graphs, solvers, plans, "
                                     "learners, games, samplers and\n"
                                     "experiments. A method is named NAME[:KEY=VALUE,...]; one "
                                     "value without a key is the first\n"
                                     "option, as in time:5. Without KIND each method is one line; "
                                     "-v shows their options.",
                                 .groups = {NULL},
                                 .example = "specroute methods plans",
                                 .run = run_methods};
