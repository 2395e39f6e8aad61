/* Finds the command, makes its context, runs it. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "generated.h"
#include "progress.h"

/* The handler has no other way to reach the running context. */
static sr_context *volatile running_context;

void (*volatile cli_before_sudden_exit)(void);

static void on_signal(int number) {
  (void)number;
  static volatile sig_atomic_t asked;
  if (asked || !running_context) {
    void (*restore)(void) = cli_before_sudden_exit;
    if (restore) restore();
    _exit(CLI_INTERRUPTED);
  }
  asked = 1;
  sr_context_interrupt(running_context);
}

static void install_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

static void print_log(void *data, sr_log_level level, const char *message) {
  cli_run *run = data;
  if (level == SR_LOG_WARNING) cli_keep_warning(run, message);
  if (run->quiet || (level == SR_LOG_DEBUG && !run->verbose)) return;
  if (run->progress) cli_progress_clear(run->progress);
  fprintf(stderr, "specroute: %s", level == SR_LOG_WARNING ? "warning: " : "");
  cli_put_clean(message, stderr);
  fputc('\n', stderr);
}

static int make_context(cli_run *run, cli_progress *progress) {
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = (int)cli_integer(run, "threads");
  options.log = print_log;
  options.log_data = run;
  if (!run->quiet && isatty(STDERR_FILENO)) {
    options.progress = cli_progress_update;
    options.progress_data = progress;
  }
  if (sr_context_new(&options, &run->ctx) != SR_OK)
    return cli_complain(run, CLI_NO_MEMORY, "out of memory");
  running_context = run->ctx;
  return CLI_SUCCESS;
}

static int run_command(cli_run *run) {
  cli_progress progress = {0};
  run->progress = &progress;
  run->warnings = json_array();
  int code = make_context(run, &progress);
  if (code == CLI_SUCCESS) code = cli_check_methods(run);
  if (code == CLI_SUCCESS && !run->command->output_is_folder) code = cli_check_outputs(run);
  if (code == CLI_SUCCESS) code = run->command->run(run);
  cli_progress_clear(&progress);
  running_context = NULL;
  sr_context_free(&run->ctx);
  json_decref(run->warnings);
  run->warnings = NULL;
  if (fflush(stdout) != 0 && code == CLI_SUCCESS)
    code = cli_complain(run, CLI_FAILED, "cannot write to standard output");
  return code;
}

/* What SPECROUTE_ISA says where no vector level has that name, else NULL. */
static const char *unknown_level(void) {
  const char *asked = getenv("SPECROUTE_ISA"), *at = sr_build_info().levels;
  if (!asked || !*asked) return NULL;
  while (*at) {
    size_t width = strcspn(at, " ");
    if (strlen(asked) == width && strncmp(asked, at, width) == 0) return NULL;
    at += width + (at[width] != '\0');
  }
  return asked;
}

static int complain_unknown_level(bool json) {
  cli_run run = {.json = json};
  return cli_complain(&run, CLI_USAGE, "SPECROUTE_ISA=%s names no vector level; there are: %s",
                      unknown_level(), sr_build_info().levels);
}

static int print_version(int count, char **arguments) {
  bool verbose = false, json = false;
  for (int i = 2; i < count; i++) {
    verbose |= strcmp(arguments[i], "-v") == 0 || strcmp(arguments[i], "--verbose") == 0;
    json |= strcmp(arguments[i], "--json") == 0;
  }
  sr_build info = sr_build_info();
  const char *unknown = unknown_level();
  if (json) {
    cli_run run = {.json = true};
    return cli_finish(&run,
                      json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s?}", "version", info.version,
                                "commit", info.commit, "compiler", info.compiler, "build_type",
                                info.build_type, "features", info.features, "missing", info.missing,
                                "levels", info.levels, "unknown_level", unknown));
  }
  printf("specroute %s\n", info.version);
  if (verbose)
    printf("commit   %s\ncompiler %s\nbuild    %s\nwith     %s\nwithout  %s\n", info.commit,
           info.compiler, info.build_type, info.features, info.missing[0] ? info.missing : "-");
  if (verbose && unknown)
    printf("ignored  SPECROUTE_ISA=%s, which names none of the levels %s\n", unknown, info.levels);
  return CLI_SUCCESS;
}

static int complain_unknown_command(const char *word, bool json) {
  cli_run run = {.json = json};
  const char *nearest = NULL;
  int distance = INT_MAX;
  for (int i = 0; cli_commands[i]; i++)
    if (!cli_commands[i]->hidden && sr_suggest(word, cli_commands[i]->name, &distance))
      nearest = cli_commands[i]->name;
  if (nearest)
    return cli_complain(&run, CLI_USAGE, "no command '%s'; did you mean '%s'?", word, nearest);
  return cli_complain(&run, CLI_USAGE, "no command '%s'; 'specroute --help' lists them", word);
}

/* The command of the first word, or of the first two; *words says how many it took. */
static const cli_command *find_named(int count, char **arguments, int *words) {
  char name[64];
  *words = 2;
  if (count > 1) snprintf(name, sizeof name, "%s %s", arguments[0], arguments[1]);
  const cli_command *found = count > 1 ? cli_find_command(name) : NULL;
  if (found) return found;
  *words = 1;
  return count > 0 ? cli_find_command(arguments[0]) : NULL;
}

static bool is_group(const char *word) {
  for (int i = 0; cli_commands[i]; i++)
    if (cli_in_group(cli_commands[i], word)) return true;
  return false;
}

/* "rl" without one of its commands. */
static int explain_group(int count, char **arguments) {
  cli_run run = {0};
  bool help = count > 1 && (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0);
  for (int i = 0; i < count; i++) run.json |= strcmp(arguments[i], "--json") == 0;
  if (count > 1 && !help)
    return cli_complain(&run, CLI_USAGE, "no command '%s %s'; 'specroute %s --help' lists them",
                        arguments[0], arguments[1], arguments[0]);
  cli_print_group(arguments[0]);
  return help ? CLI_SUCCESS : CLI_USAGE;
}

static int dispatch(int count, char **arguments) {
  int words;
  if (count < 2) {
    cli_print_overview();
    return CLI_USAGE;
  }
  const char *word = arguments[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
    const cli_command *about = find_named(count - 2, arguments + 2, &words);
    if (count > 2 && !about && is_group(arguments[2])) {
      cli_print_group(arguments[2]);
      return CLI_SUCCESS;
    }
    if (count > 2 && !about) return complain_unknown_command(arguments[2], false);
    if (about)
      cli_print_help(about);
    else
      cli_print_overview();
    return CLI_SUCCESS;
  }
  if (strcmp(word, "--version") == 0) return print_version(count, arguments);
  cli_run run = {.command = find_named(count - 1, arguments + 1, &words),
                 .started = sr_seconds(),
                 .word_count = count,
                 .words = arguments};
  for (int i = 1; i < count; i++) run.json |= strcmp(arguments[i], "--json") == 0;
  if (!run.command && is_group(word)) return explain_group(count - 1, arguments + 1);
  if (!run.command) return complain_unknown_command(word, run.json);
  if (unknown_level()) return complain_unknown_level(run.json);
  int code = cli_parse(&run, count - 1 - words, arguments + 1 + words);
  if (code == CLI_SUCCESS && cli_flag(&run, "help"))
    cli_print_help(run.command);
  else if (code == CLI_SUCCESS)
    code = run_command(&run);
  cli_parsed_free(&run);
  return code;
}

int main(int count, char **arguments) {
  cli_run run = {0};
  install_signals();
  int code = cli_generate() ? dispatch(count, arguments)
                            : cli_complain(&run, CLI_NO_MEMORY, "out of memory");
  cli_generated_free();
  return code;
}
