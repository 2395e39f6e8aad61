/* Parses a command line against the option tables. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "generated.h"

const cli_option cli_common_options[] = {
    {"json", 0, CLI_FLAG, NULL, NULL, NULL, 0, 0,
     "write one JSON object to standard output and nothing else"},
    {"seed", 0, CLI_INTEGER, "S", "1", NULL, 0, 9007199254740992.0,
     "seed of everything random; the same seed gives the same bytes"},
    {"threads", 0, CLI_INTEGER, "N", "0", NULL, 0, 256,
     "threads to use; 0 is all cores; the result does not depend on it"},
    {"quiet", 'q', CLI_FLAG, NULL, NULL, NULL, 0, 0, "no text and no progress, only errors"},
    {"verbose", 'v', CLI_FLAG, NULL, NULL, NULL, 0, 0, "say more about what is done"},
    {"help", 'h', CLI_FLAG, NULL, NULL, NULL, 0, 0, "show this help"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_option cli_column_options[] = {
    {"target", 0, CLI_TEXT, "COL", NULL, NULL, 0, 0,
     "column of the class, by name or 1-based number, or two classes of a number: 'pm2.5 > 75'"},
    {"time", 0, CLI_TEXT, "COL,...", NULL, NULL, 0, 0,
     "column of the time, or several; rows are put in its order"},
    {"date-format", 0, CLI_CHOICE, "ORDER", NULL, "dmy|mdy|ymd", 0, 0,
     "order of day, month and year in times such as 31/12/2010, where the values do not tell"},
    {"group", 0, CLI_TEXT, "COL,...", NULL, NULL, 0, 0,
     "column that names the series, run or field of a row, or several"},
    {"region", 0, CLI_TEXT, "COL,...", NULL, NULL, 0, 0,
     "maps: column that names the region of a row, or several; by default as the coordinates show"},
    {"coords", 0, CLI_LIST, "COL,COL", NULL, NULL, 0, 0, "two or three columns of coordinates"},
    {"weight", 0, CLI_TEXT, "COL", NULL, NULL, 0, 0, "column of row weights"},
    {"drop", 0, CLI_LIST, "COL,...", NULL, NULL, 0, 0, "columns to leave out"},
    {"keep", 0, CLI_LIST, "COL,...", NULL, NULL, 0, 0,
     "features although they count or name the rows"},
    {"categorical", 0, CLI_LIST, "COL,...", NULL, NULL, 0, 0,
     "columns whose values are names even where they look like numbers"},
    {"format", 0, CLI_CHOICE, "NAME", NULL, "csv|tsv|ucr|ts|arff|npy|libsvm|netcdf|geotiff", 0, 0,
     "format of FILE, where its name does not tell"},
    {"separator", 0, CLI_TEXT, "CHAR", NULL, NULL, 0, 0,
     "separator of a csv file, where detection is wrong (tab: '\\t')"},
    {"header", 0, CLI_CHOICE, "WHEN", "auto", "auto|yes|no", 0, 0,
     "whether the first line of a csv file names the columns"},
    {"variables", 0, CLI_LIST, "NAME,...", NULL, NULL, 0, 0,
     "netcdf variables, or geotiff bands and files, that become the features; all by default"},
    {"labels", 0, CLI_PATH, "FILE[:LAYER]", NULL, NULL, 0, 0,
     "polygons (GeoPackage, GeoJSON, Shapefile) over a geotiff; --target names their attribute"},
    {"window", 0, CLI_INTEGER, "ROWS", NULL, NULL, 1, 1e9,
     "cut a recording in the order of time into windows of so many rows, each a row with series"},
    {"stride", 0, CLI_INTEGER, "ROWS", NULL, NULL, 1, 1e9,
     "rows from window to window; by default as many as a window has"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_option cli_graph_options[] = {
    {"graph", 0, CLI_TEXT, "GRAPH", NULL, NULL, 0, 0,
     "dependency graph NAME[:KEY=VALUE,...]; by default as the table is"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_method_flag cli_compared_methods[] = {{"plans", "plan", sr_train_plan_method, true,
                                                 false},
                                                {"learners", "learner", sr_learner_method, true,
                                                 false},
                                                {"graph", "graph", sr_graph_method, false, false},
                                                {NULL, NULL, NULL, false, false}};

const cli_method_flag cli_graph_methods[] = {{"graph", "graph", sr_graph_method, false, false},
                                             {NULL, NULL, NULL, false, false}};

typedef struct cli_value {
  const cli_option *option;
  const char *text; /* NULL for flags */
} cli_value;

const cli_option *cli_option_at(const cli_command *command, int index) {
  const cli_option *o;
  for (int g = 0; g < CLI_MAX_GROUPS && command->groups[g]; g++) {
    for (o = command->groups[g]; o->name; o++)
      if (index-- == 0) return o;
  }
  for (int i = 0; (o = cli_generated_at(command, i)); i++)
    if (index-- == 0) return o;
  for (o = cli_common_options; o->name; o++)
    if (index-- == 0) return o;
  return NULL;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length) {
  const cli_option *o;
  for (int i = 0; (o = cli_option_at(command, i)); i++)
    if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
  return NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter) {
  const cli_option *o;
  for (int i = 0; (o = cli_option_at(command, i)); i++)
    if (o->letter == letter) return o;
  return NULL;
}

/* ---- suggestions -------------------------------------------------------------------------- */

static int complain_unknown_option(const cli_run *run, const char *word) {
  const cli_option *o, *nearest = NULL;
  int distance = INT_MAX;
  for (int i = 0; (o = cli_option_at(run->command, i)); i++)
    if (sr_suggest(word, o->name, &distance)) nearest = o;
  if (nearest)
    return cli_complain(run, CLI_USAGE, "unknown option '--%s'; did you mean '--%s'?", word,
                        nearest->name);
  return cli_complain(run, CLI_USAGE, "unknown option '--%s'; 'specroute %s --help' lists them",
                      word, run->command->name);
}

/* ---- values ------------------------------------------------------------------------------- */

static bool choice_allows(const char *choices, const char *word) {
  size_t length = strlen(word);
  for (const char *c = choices; c;) {
    const char *bar = strchr(c, '|');
    size_t width = bar ? (size_t)(bar - c) : strlen(c);
    if (width == length && memcmp(c, word, length) == 0) return true;
    c = bar ? bar + 1 : NULL;
  }
  return false;
}

static int check_number(const cli_run *run, const cli_option *o, const char *text) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  bool whole = o->kind != CLI_INTEGER || value == floor(value);
  if (end == text || *end || errno || !isfinite(value) || !whole)
    return cli_complain(run, CLI_USAGE, "--%s takes %s, not '%s'", o->name,
                        o->kind == CLI_INTEGER ? "a whole number" : "a number", text);
  if ((o->low != 0 || o->high != 0) && (value < o->low || value > o->high))
    return cli_complain(run, CLI_USAGE, "--%s takes a number from %.15g to %.15g, not %s", o->name,
                        o->low, o->high, text);
  return CLI_SUCCESS;
}

static int check_value(const cli_run *run, const cli_option *o, const char *text) {
  if (o->kind == CLI_INTEGER || o->kind == CLI_REAL) return check_number(run, o, text);
  if (o->kind == CLI_CHOICE && !choice_allows(o->choices, text))
    return cli_complain(run, CLI_USAGE, "--%s takes one of %s, not '%s'", o->name, o->choices,
                        text);
  if (!*text) return cli_complain(run, CLI_USAGE, "--%s needs a value that is not empty", o->name);
  return CLI_SUCCESS;
}

static int add_value(cli_run *run, const cli_option *o, const char *text) {
  int code = o->kind == CLI_FLAG ? CLI_SUCCESS : check_value(run, o, text);
  if (code != CLI_SUCCESS) return code;
  cli_value *grown = realloc(run->values, (size_t)(run->value_count + 1) * sizeof *run->values);
  if (!grown) return cli_complain(run, CLI_NO_MEMORY, "out of memory");
  run->values = grown;
  if (o->kind == CLI_PATH && strcmp(text, "/dev/stdout") == 0) text = "-";
  run->values[run->value_count++] = (cli_value){o, text};
  return CLI_SUCCESS;
}

/* ---- the line ----------------------------------------------------------------------------- */

static int parse_long(cli_run *run, const char *word, int count, char **arguments, int *position) {
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  const cli_option *o = find_option(run->command, word, length);
  if (!o) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    return complain_unknown_option(run, name);
  }
  if (o->kind == CLI_FLAG) {
    if (equals) return cli_complain(run, CLI_USAGE, "--%s takes no value", o->name);
    return add_value(run, o, NULL);
  }
  if (equals) return add_value(run, o, equals + 1);
  if (*position + 1 >= count)
    return cli_complain(run, CLI_USAGE, "--%s needs a value (%s)", o->name, o->value);
  return add_value(run, o, arguments[++*position]);
}

static int parse_letters(cli_run *run, const char *word, int count, char **arguments,
                         int *position) {
  for (; *word; word++) {
    const cli_option *o = find_letter(run->command, *word);
    if (!o)
      return cli_complain(run, CLI_USAGE, "unknown option '-%c'; 'specroute %s --help' lists them",
                          *word, run->command->name);
    if (o->kind == CLI_FLAG) {
      int code = add_value(run, o, NULL);
      if (code != CLI_SUCCESS) return code;
      continue;
    }
    if (word[1]) return add_value(run, o, word + 1);
    if (*position + 1 >= count)
      return cli_complain(run, CLI_USAGE, "-%c needs a value (%s)", o->letter, o->value);
    return add_value(run, o, arguments[++*position]);
  }
  return CLI_SUCCESS;
}

static int check_arguments(const cli_run *run) {
  const cli_command *c = run->command;
  if (run->argument_count < c->least)
    return cli_complain(run, CLI_USAGE, "'%s' needs %s; see 'specroute %s --help'", c->name,
                        c->arguments, c->name);
  if (c->choices && run->argument_count > 0 && !choice_allows(c->choices, run->arguments[0]))
    return cli_complain(run, CLI_USAGE, "'%s' takes one of %s, not '%s'", c->name, c->choices,
                        run->arguments[0]);
  return CLI_SUCCESS;
}

int cli_parse(cli_run *run, int count, char **arguments) {
  bool options = true;
  for (int i = 0; i < count; i++) {
    const char *word = arguments[i];
    int code = CLI_SUCCESS;
    if (options && strcmp(word, "--") == 0)
      options = false;
    else if (options && word[0] == '-' && word[1] == '-')
      code = parse_long(run, word + 2, count, arguments, &i);
    else if (options && word[0] == '-' && word[1])
      code = parse_letters(run, word + 1, count, arguments, &i);
    else if (run->argument_count >= run->command->most)
      code = cli_complain(run, CLI_USAGE, "'%s' is one argument too many; '%s' takes %s", word,
                          run->command->name,
                          run->command->most ? run->command->arguments : "options only");
    else
      run->arguments[run->argument_count++] = word;
    if (code != CLI_SUCCESS) return code;
  }
  if (cli_flag(run, "help")) return CLI_SUCCESS;
  run->json = cli_flag(run, "json");
  run->quiet = cli_flag(run, "quiet");
  run->verbose = cli_flag(run, "verbose");
  run->seed = (uint64_t)cli_integer(run, "seed");
  return check_arguments(run);
}

/* ---- reading what was parsed -------------------------------------------------------------- */

static const cli_value *value_of(const cli_run *run, const char *name) {
  for (int i = run->value_count - 1; i >= 0; i--)
    if (strcmp(run->values[i].option->name, name) == 0) return &run->values[i];
  return NULL;
}

bool cli_given(const cli_run *run, const char *name) { return value_of(run, name) != NULL; }

bool cli_flag(const cli_run *run, const char *name) { return cli_given(run, name); }

const char *cli_text(const cli_run *run, const char *name) {
  const cli_value *given = value_of(run, name);
  if (given) return given->text;
  const cli_option *o = find_option(run->command, name, strlen(name));
  return o ? o->fallback : NULL;
}

int64_t cli_integer(const cli_run *run, const char *name) { return (int64_t)cli_real(run, name); }

double cli_real(const cli_run *run, const char *name) {
  const char *text = cli_text(run, name);
  return text ? strtod(text, NULL) : 0.0;
}

/* One block: the link, the pointers, then the characters they point at. */
struct cli_block {
  struct cli_block *next;
  const char *items[];
};

char *cli_keep(cli_run *run, size_t bytes) {
  struct cli_block *block = calloc(1, sizeof *block + bytes);
  if (!block) return NULL;
  block->next = run->lists;
  run->lists = block;
  return (char *)block->items;
}

const char *const *cli_list(cli_run *run, const char *name) {
  const char *text = cli_text(run, name);
  if (!text) return NULL;
  size_t count = 1, length = strlen(text) + 1;
  for (const char *c = text; *c; c++) count += *c == ',';
  struct cli_block *block = malloc(sizeof *block + (count + 1) * sizeof *block->items + length);
  if (!block) return NULL;
  block->next = run->lists;
  run->lists = block;
  char *item = memcpy(block->items + count + 1, text, length);
  for (size_t i = 0; i < count; i++) {
    block->items[i] = item;
    char *comma = strchr(item, ',');
    if (comma) *comma = '\0';
    item = comma ? comma + 1 : item;
  }
  block->items[count] = NULL;
  return block->items;
}

void cli_parsed_free(cli_run *run) {
  free(run->values);
  while (run->lists) {
    struct cli_block *next = run->lists->next;
    free(run->lists);
    run->lists = next;
  }
}
