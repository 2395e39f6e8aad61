#include "generated.h"

#include <stdlib.h>
#include <string.h>

typedef struct generated_flag {
  cli_option option; /* `name` and `help` point into the fields below */
  const cli_command *command;
  const char *key; /* of the task or method */
  bool of_method;  /* a key of single methods, not of the task */
  bool negated;    /* --no-KEY */
  char name[48], help[256];
} generated_flag;

/* Made once in main, read everywhere. */
static generated_flag **flags;
static int flag_count;

/* Letters and words for values that the command line adds to keys. */
static const struct {
  const char *key;
  char letter;
  const char *value;
} manners[] = {{"n", 'n', "N"},
               {"d", 'd', "D"},
               {"members", 'm', "M"},
               {"plan", 'p', "PLAN"},
               {"plans", 'p', "PLAN,..."},
               {"learner", 'l', "LEARNER"},
               {"learners", 'l', "LEARNER,..."},
               {"graph", 0, "GRAPH"},
               {"solver", 0, "SOLVER"},
               {"folds", 0, "K"},
               {"buffer", 0, "ROWS"},
               {"tmix", 0, "T"},
               {"parts", 0, "P"},
               {"class_weight", 0, "WORD|FILE"},
               {"resume", 0, "FILE"},
               {"along", 0, "SAMPLES"},
               {"tile", 0, "CELLS"},
               {"bags", 0, "FILE"},
               {"file", 0, "FILE"}};

/* ---- making flags ------------------------------------------------------------------------- */

static generated_flag *find_flag(const cli_command *command, const char *key) {
  for (int i = 0; i < flag_count; i++)
    if (flags[i]->command == command && strcmp(flags[i]->key, key) == 0) return flags[i];
  return NULL;
}

static bool in_groups(const cli_command *command, const char *name) {
  for (int g = 0; g < CLI_MAX_GROUPS && command->groups[g]; g++)
    for (const cli_option *o = command->groups[g]; o->name; o++)
      if (strcmp(o->name, name) == 0) return true;
  return false;
}

static void name_flag(generated_flag *flag, const sr_option *o) {
  flag->negated = o->type == SR_OPTION_FLAG && strcmp(o->fallback, "yes") == 0;
  snprintf(flag->name, sizeof flag->name, "%s%s", flag->negated ? "no-" : "", o->key);
  for (char *c = flag->name; *c; c++) *c = *c == '_' ? '-' : *c;
}

/* Values are checked by the library, which knows the method that takes them. */
static bool add_flag(const cli_command *command, const sr_option *o, const char *method) {
  static const char *const value_words[] = {"N", "X", NULL, "WORD", "TEXT"}; /* by type */
  generated_flag *known = find_flag(command, o->key);
  if (known) { /* a key of several methods: name them all */
    char *colon = method && known->of_method ? strchr(known->help, ':') : NULL;
    char rest[sizeof known->help];
    if (!colon || strstr(known->help, method)) return true;
    snprintf(rest, sizeof rest, "%s", colon);
    size_t before = (size_t)(colon - known->help);
    snprintf(colon, sizeof known->help - before, ", %.60s%.150s", method, rest);
    return true;
  }
  generated_flag **grown = realloc(flags, (size_t)(flag_count + 1) * sizeof *flags);
  if (!grown) return false;
  flags = grown;
  generated_flag *flag = calloc(1, sizeof *flag);
  if (!flag) return false;
  flags[flag_count] = flag;
  flag->command = command;
  flag->key = o->key;
  flag->of_method = method != NULL;
  name_flag(flag, o);
  if (in_groups(command, flag->name)) { /* the command's own words for it stand */
    free(flag);
    return true;
  }
  flag_count++;
  snprintf(flag->help, sizeof flag->help, "%.60s%s%.150s", method ? method : "", method ? ": " : "",
           o->help);
  flag->option = (cli_option){.name = flag->name,
                              .kind = o->type == SR_OPTION_FLAG ? CLI_FLAG : CLI_TEXT,
                              .value = value_words[o->type],
                              .fallback = o->fallback && *o->fallback ? o->fallback : NULL,
                              .choices = o->type == SR_OPTION_CHOICE ? o->choices : NULL,
                              .help = flag->help};
  if (method || o->type == SR_OPTION_FLAG) flag->option.fallback = NULL;
  for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
    if (strcmp(manners[i].key, o->key) != 0) continue;
    flag->option.letter = manners[i].letter;
    flag->option.value = manners[i].value;
    if (strstr(manners[i].value, "FILE")) flag->option.kind = CLI_PATH;
  }
  return true;
}

static bool generate(const cli_command *command) {
  for (int t = 0; t < CLI_MAX_TASKS && command->tasks[t]; t++)
    for (const sr_option *o = command->tasks[t](); o->key; o++)
      if (!add_flag(command, o, NULL)) return false;
  for (const cli_method_flag *m = command->methods; m && m->flag; m++) {
    const sr_method *method;
    for (int i = 0; (method = m->at(i)); i++)
      for (const sr_option *o = method->options; o && o->key; o++)
        if (!add_flag(command, o, method->name)) return false;
  }
  return true;
}

bool cli_generate(void) {
  for (int i = 0; cli_commands[i]; i++)
    if (!generate(cli_commands[i])) return false;
  return true;
}

void cli_generated_free(void) {
  for (int i = 0; i < flag_count; i++) free(flags[i]);
  free(flags);
  flags = NULL;
  flag_count = 0;
}

const cli_option *cli_generated_at(const cli_command *command, int index) {
  for (int i = 0; i < flag_count; i++)
    if (flags[i]->command == command && index-- == 0) return &flags[i]->option;
  return NULL;
}

bool cli_is_of_method(const cli_option *option) {
  for (int i = 0; i < flag_count; i++)
    if (&flags[i]->option == option) return flags[i]->of_method;
  return false;
}

/* ---- methods that the line names ---------------------------------------------------------- */

const cli_method_flag *cli_method_flag_of(const cli_command *command, const char *flag) {
  for (const cli_method_flag *m = command->methods; m && m->flag; m++)
    if (strcmp(m->flag, flag) == 0) return m;
  return NULL;
}

static const sr_method *find_method(sr_method_at at, const char *text, size_t length) {
  const char *colon = memchr(text, ':', length);
  size_t name = colon ? (size_t)(colon - text) : length;
  for (int i = 0; at(i); i++)
    if (strlen(at(i)->name) == name && memcmp(at(i)->name, text, name) == 0) return at(i);
  return NULL;
}

static bool has_key(const sr_method *method, const char *key) {
  for (const sr_option *o = method ? method->options : NULL; o && o->key; o++)
    if (strcmp(o->key, key) == 0) return true;
  return false;
}

static const char *named_text(const cli_run *run, const cli_method_flag *m) {
  return m->is_argument ? (run->argument_count > 0 ? run->arguments[0] : NULL)
                        : cli_text(run, m->flag);
}

static const char *flag_value(const cli_run *run, const generated_flag *flag) {
  if (flag->option.kind == CLI_FLAG) return flag->negated ? "no" : "yes";
  return cli_text(run, flag->option.name);
}

enum { MOST_METHODS = 64 };
typedef struct method_list {
  int32_t count;
  const char *start[MOST_METHODS];
  size_t length[MOST_METHODS];
} method_list;

static method_list split(const cli_method_flag *m, const char *text) {
  method_list list = {.count = 1, .start = {text}, .length = {strlen(text)}};
  if (m->is_list) list.count = sr_methods_split(text, MOST_METHODS, list.start, list.length);
  return list;
}

/* The given flags of single methods that this method has, as ":key=value,...". */
static void append_keys(const cli_run *run, const sr_method *method, bool has_keys, char *text,
                        size_t size) {
  for (int i = 0; i < flag_count; i++) {
    const generated_flag *flag = flags[i];
    if (flag->command != run->command || !flag->of_method || !cli_given(run, flag->option.name) ||
        !has_key(method, flag->key))
      continue;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%c%s=%s", has_keys ? ',' : ':', flag->key,
             flag_value(run, flag));
    has_keys = true;
  }
}

const char *cli_method_text(cli_run *run, const char *flag) {
  const cli_method_flag *m = cli_method_flag_of(run->command, flag);
  const char *named = m ? named_text(run, m) : NULL;
  if (!named) return NULL;
  method_list list = split(m, named);
  if (list.count > MOST_METHODS) return named;
  size_t more = 1;
  for (int i = 0; i < flag_count; i++)
    if (flags[i]->command == run->command && cli_given(run, flags[i]->option.name))
      more += strlen(flags[i]->key) + strlen(flag_value(run, flags[i])) + 2;
  size_t size = strlen(named) + 1 + (size_t)(list.count + 1) * more;
  char *text = cli_keep(run, size);
  if (!text) return named;
  for (int32_t k = 0; k < list.count; k++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", k ? "," : "", (int)list.length[k], list.start[k]);
    append_keys(run, find_method(m->at, list.start[k], list.length[k]),
                memchr(list.start[k], ':', list.length[k]) != NULL, text, size);
  }
  return text;
}

static bool is_taken(const cli_run *run, const generated_flag *flag) {
  for (const cli_method_flag *m = run->command->methods; m && m->flag; m++) {
    const char *named = named_text(run, m);
    if (!named) continue;
    method_list list = split(m, named);
    for (int32_t k = 0; k < list.count && k < MOST_METHODS; k++)
      if (has_key(find_method(m->at, list.start[k], list.length[k]), flag->key)) return true;
  }
  return false;
}

static int check_flags(const cli_run *run) {
  for (int i = 0; i < flag_count; i++) {
    const generated_flag *flag = flags[i];
    if (flag->command != run->command || !flag->of_method || !cli_given(run, flag->option.name) ||
        is_taken(run, flag))
      continue;
    return cli_complain(run, CLI_USAGE,
                        "--%s is an option of %.*s; nothing that was named has it: name one that "
                        "has, or leave it out",
                        flag->option.name, (int)strcspn(flag->help, ":"), flag->help);
  }
  return CLI_SUCCESS;
}

int cli_check_methods(cli_run *run) {
  int code = check_flags(run);
  for (const cli_method_flag *m = run->command->methods; m && m->flag && code == CLI_SUCCESS; m++) {
    const char *text = cli_method_text(run, m->flag);
    if (!text) continue;
    method_list list = split(m, text);
    if (list.count > MOST_METHODS)
      return cli_complain(run, CLI_USAGE, "--%s names %d methods; %d are the most", m->flag,
                          list.count, MOST_METHODS);
    for (int32_t k = 0; k < list.count; k++) {
      char *one = cli_keep(run, list.length[k] + 1);
      if (!one) return cli_complain(run, CLI_NO_MEMORY, "out of memory");
      memcpy(one, list.start[k], list.length[k]);
      sr_status status = sr_method_check(run->ctx, m->kind, m->at, one, NULL);
      if (status != SR_OK) return cli_fail(run, status);
    }
  }
  return code;
}

int cli_read_task(cli_run *run, const char *what, const sr_option *list, void *options) {
  for (const sr_option *o = list; o && o->key; o++) {
    const generated_flag *flag = find_flag(run->command, o->key);
    const char *value = NULL;
    if (cli_method_flag_of(run->command, o->key))
      value = cli_method_text(run, o->key);
    else if (flag && cli_given(run, flag->option.name))
      value = flag_value(run, flag);
    else if (in_groups(run->command, o->key) && cli_given(run, o->key))
      value = cli_text(run, o->key);
    if (!value) continue;
    sr_status status = sr_options_set(run->ctx, what, list, options, o->key, value);
    if (status != SR_OK) return cli_fail(run, status);
  }
  return CLI_SUCCESS;
}
