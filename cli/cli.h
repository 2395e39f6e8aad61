/* The command's own framework: one table of commands and options makes the parser, the help, the
 * man page and the completions. */
#ifndef SR_CLI_CLI_H
#define SR_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <specroute/specroute.h>

/* Exit codes; the man page lists them. */
enum {
  CLI_SUCCESS = 0,
  CLI_FAILED = 1,
  CLI_USAGE = 2,
  CLI_BAD_INPUT = 3,
  CLI_NOT_CONVERGED = 4,
  CLI_NO_MEMORY = 5,
  CLI_INTERRUPTED = 130
};

typedef enum cli_kind {
  CLI_FLAG,
  CLI_INTEGER,
  CLI_REAL,
  CLI_TEXT,
  CLI_LIST,   /* comma separated */
  CLI_CHOICE, /* one of `choices` */
  CLI_PATH
} cli_kind;

/* Of pages. */
#define CLI_PAGE_ENDINGS ".html|.htm|.md|.markdown"

typedef struct cli_option {
  const char *name; /* without the dashes; NULL ends a table */
  char letter;      /* 0: none */
  cli_kind kind;
  const char *value;    /* what stands for the value in the help: "COL" */
  const char *fallback; /* the default as text; NULL: none */
  const char *choices;  /* "iid|ar"; of an output path: its endings ".html|.md", "table", "own" */
  double low, high;     /* numbers: the range allowed; both 0: any */
  const char *help;     /* one line, no full stop */
} cli_option;

enum { CLI_MAX_GROUPS = 8, CLI_MAX_TASKS = 4, CLI_MAX_ARGUMENTS = 8 };

typedef struct cli_run cli_run;

/* A flag (or the first argument) whose value names a method of a registry, or a list of methods.
 * The keys of these methods become flags of the command: cli/generated.h. */
typedef struct cli_method_flag {
  const char *flag; /* without the dashes; NULL ends a table */
  const char *kind; /* in messages: "plan" */
  sr_method_at at;
  bool is_list, is_argument;
} cli_method_flag;

typedef struct cli_command {
  const char *name;      /* "train", or a group and a word: "rl train" */
  const char *arguments; /* "FILE", "MODEL FILE"; "" for none */
  const char *choices;   /* what the first argument may be: "ar1|grid|drift"; NULL: anything */
  int least, most;       /* how many arguments */
  const char *help;      /* one line */
  const char *description;
  const cli_option
      *groups[CLI_MAX_GROUPS]; /* the command's own options first; common ones are implied */
  const sr_option *(*tasks[CLI_MAX_TASKS])(void); /* the library's options of what it does */
  const cli_method_flag *methods;                 /* NULL: it names none */
  const char *example;
  int (*run)(cli_run *run);
  bool hidden;           /* not listed in the help */
  bool output_is_folder; /* --output names a folder */
} cli_command;

/* The commands in the order of the help; NULL ends them. */
extern const cli_command *const cli_commands[];
const cli_command *cli_find_command(const char *name);
/* Length of the group in a name of two words ("rl train": 2); 0 where there is none. */
size_t cli_group_length(const cli_command *command);
/* Whether a command is of this group. */
bool cli_in_group(const cli_command *command, const char *group);
/* Whether the command opens its group in the table, so that the group is named once. */
bool cli_opens_group(int index);

/* Groups that several commands share. */
extern const cli_option cli_common_options[]; /* json, seed, threads, quiet, verbose, help */
extern const cli_option cli_column_options[]; /* target, time, group, coords, weight, drop, ... */
extern const cli_option cli_graph_options[];  /* graph */
extern const cli_method_flag cli_graph_methods[];
extern const cli_method_flag cli_compared_methods[]; /* lists of plans and learners, and a graph */

struct cli_run {
  const cli_command *command;
  const char *arguments[CLI_MAX_ARGUMENTS];
  int argument_count;
  sr_context *ctx;
  uint64_t seed;
  bool json, quiet, verbose;
  double started;
  struct cli_value *values; /* what was given, one entry an option met */
  int value_count;
  struct cli_block *lists; /* keeps the split lists alive */
  struct cli_progress *progress;
  json_t *warnings; /* what was warned of so far, for the JSON and the page */
  int word_count;   /* the command as it was given */
  char *const *words;
};

/* ---- options as the user gave them, or their defaults ---- */
bool cli_given(const cli_run *run, const char *name);
bool cli_flag(const cli_run *run, const char *name);
const char *cli_text(const cli_run *run, const char *name); /* NULL: not given, no default */
int64_t cli_integer(const cli_run *run, const char *name);
double cli_real(const cli_run *run, const char *name);
/* Zeroed bytes that live as long as the run; NULL where memory is out. */
char *cli_keep(cli_run *run, size_t bytes);
/* NULL-terminated, owned by the run; NULL where not given. */
const char *const *cli_list(cli_run *run, const char *name);

/* Any bytes as a JSON string: sr_text_clean. */
json_t *cli_json_text(const char *text);
/* To a stream for people: what others named cannot speak to a terminal. */
void cli_put_clean(const char *text, FILE *to);

/* ---- results and failures ---- */
/* A line or more on stdout, for a person; silent under --json and --quiet. */
void cli_say(const cli_run *run, const char *format, ...) SR_PRINTF(2, 3);
/* The one JSON object, only under --json; takes the reference. Gives CLI_SUCCESS or CLI_FAILED. */
int cli_finish(cli_run *run, json_t *result);
/* What the dependence of the rows warns of, for commands that do not print it otherwise. */
void cli_warn_of_structure(cli_run *run, const sr_structure *structure);
/* A description of the library on stdout: under --json an object, else text for a person. */
void cli_print_description(const cli_run *run, const char *text);
/* Prints what the context knows of a failed call and gives the exit code. */
int cli_fail(const cli_run *run, sr_status status);
/* The same for wrong usage or any failure the command finds itself. */
int cli_complain(const cli_run *run, int code, const char *format, ...) SR_PRINTF(3, 4);
/* The exit code of a status. */
int cli_code(sr_status status);
/* A number that may be NaN or infinite, which JSON does not know: null then. */
json_t *cli_json_real(double value);

/* T as {estimate, low, high, method}, the same in every command. */
json_t *cli_json_scale(const sr_structure *structure);

/* ---- tables ---- */
/* The column options; lists live as long as the run. */
sr_read_options cli_read_options(cli_run *run);
/* Reads argument FILE with the column options. */
sr_status cli_read_table(cli_run *run, const char *path, sr_table **table);
/* Whether a column was named as target, or the file carries its class. */
bool cli_has_target(const sr_table *table);

/* Called where a second signal ends the program at once; async-signal-safe. NULL: nothing is to be
 * put back. */
extern void (*volatile cli_before_sudden_exit)(void);
/* ---- pages ---- */
/* A page for the file `path`, whose ending says the format; HTML pages end with the command that
 * made them, the version and the date. */
sr_status cli_page_new(cli_run *run, const char *title, const char *path, sr_page **page);

/* ---- framework (main.c only) ---- */
/* Every output is tried before the work: its ending, its folder, and that it is no other file of
 * the run. */
int cli_check_outputs(cli_run *run);
int cli_parse(cli_run *run, int count, char **arguments);
void cli_parsed_free(cli_run *run);
void cli_keep_warning(cli_run *run, const char *message);
void cli_print_overview(void);
void cli_print_group(const char *group);
void cli_print_help(const cli_command *command);
int cli_run_completion(cli_run *run);
int cli_run_man(cli_run *run);
int cli_run_reference(cli_run *run);
/* The registries of the library, then the experiments; NULL past the end. */
const sr_method_kind *cli_method_kind_at(int index);
/* Visits the options of a command, common ones last; gives NULL past the end. */
const cli_option *cli_option_at(const cli_command *command, int index);

#endif
