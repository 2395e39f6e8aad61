#include "plan_options.h"

#include <string.h>

const cli_option cli_structure_options[] = {
    {"tmix", 0, CLI_REAL, "T", NULL, NULL, 1, 1e12,
     "mixing time in rows, where it is known; else it is estimated"},
    {"parts", 0, CLI_INTEGER, "P", NULL, NULL, 1, 1e9,
     "number of parts; else the groups, or parts of about 4 T rows"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_option cli_scheme_options[] = {
    {"members", 'm', CLI_INTEGER, "M", "100", NULL, 1, 1e6, "members of the ensemble"},
    {"block", 0, CLI_REAL, "ROWS", NULL, NULL, 1, 1e12,
     "block length of stationary, circular and moving (default n^(1/3))"},
    {"lag", 0, CLI_INTEGER, "L", NULL, NULL, 1, 1e9, "lag-thin: keep every L-th row [5]"},
    {"part-share", 0, CLI_REAL, "F", NULL, NULL, 1e-9, 1,
     "routed: share of the parts that a member draws"},
    {"row-share", 0, CLI_REAL, "G", NULL, NULL, 1e-9, 1, "routed: share of the rows of each part"},
    {"scale", 0, CLI_CHOICE, "SCALE", NULL, "data|literal", 0, 0,
     "spectral: lambda_2 of the data's own process, or of the graph that is cut"},
    {"bags", 0, CLI_PATH, "FILE", NULL, NULL, 0, 0,
     "bags: csv lines member,row[,count] from 0, or an npy matrix of counts"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

const cli_option cli_learner_options[] = {
    {"vote", 0, CLI_CHOICE, "RULE", "hard", "hard|soft|gated", 0, 0,
     "majority, mean probability, or weighted by nearness"},
    {"criterion", 0, CLI_CHOICE, "NAME", NULL, "gini|entropy", 0, 0, "tree: what a split lowers"},
    {"max-features", 0, CLI_INTEGER, "K", NULL, NULL, -1, 1e9,
     "tree: features tried at a split (0: square root, -1: all)"},
    {"max-depth", 0, CLI_INTEGER, "DEPTH", NULL, NULL, 0, 1e9,
     "tree: greatest depth (0: no limit)"},
    {"min-leaf", 0, CLI_INTEGER, "ROWS", NULL, NULL, 1, 1e9, "tree: fewest rows in a leaf"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

sr_structure_options cli_read_structure(cli_run *run) {
  sr_structure_options options;
  sr_structure_options_init(&options);
  options.graph = cli_text(run, "graph");
  if (cli_given(run, "tmix")) options.tmix = cli_real(run, "tmix");
  if (cli_given(run, "parts")) options.parts = cli_integer(run, "parts");
  return options;
}

/* ---- flags of single methods -------------------------------------------------------------- */

static const sr_method *find_method(sr_method_at at, const char *text, size_t length) {
  size_t name = strcspn(text, ":");
  if (name > length) name = length;
  for (int i = 0; at(i); i++) {
    if (strlen(at(i)->name) == name && memcmp(at(i)->name, text, name) == 0) return at(i);
  }
  return NULL;
}

static bool has_key(const sr_method *method, const char *key) {
  for (const sr_option *o = method ? method->options : NULL; o && o->key; o++) {
    if (strcmp(o->key, key) == 0) return true;
  }
  return false;
}

/* The key of a flag: its name with underscores. */
static void key_of(const cli_option *flag, char key[32]) {
  snprintf(key, 32, "%s", flag->name);
  for (char *c = key; *c; c++) *c = *c == '-' ? '_' : *c;
}

/* Appends ":key=value" for the flags that were given and that the method has; where it is the only
 * one, all of them, so that a flag it does not have is an error. */
static void append_flags(cli_run *run, const cli_option *flags, const sr_method *method, bool only,
                         bool has_options, sr_method_at at, char *text, size_t size) {
  char key[32];
  for (const cli_option *f = flags; f->name; f++) {
    key_of(f, key);
    bool known = false;
    for (int i = 0; at(i) && !known; i++) known = has_key(at(i), key);
    if (!known || !cli_given(run, f->name) || (!only && !has_key(method, key))) continue;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%c%s=%s", has_options ? ',' : ':', key,
             cli_text(run, f->name));
    has_options = true;
  }
}

static const char *method_text(cli_run *run, const char *list, sr_method_at at,
                               const cli_option *flags) {
  enum { MOST = 64 };
  const char *start[MOST];
  size_t length[MOST], size = strlen(list) + 1;
  int32_t count = sr_methods_split(list, MOST, start, length);
  if (count > MOST) return list;
  for (const cli_option *f = flags; f->name; f++) {
    if (cli_given(run, f->name) && cli_text(run, f->name))
      size += (size_t)(count ? count : 1) * (strlen(f->name) + strlen(cli_text(run, f->name)) + 2);
  }
  char *text = cli_keep(run, size);
  if (!text) return list;
  for (int32_t k = 0; k < count; k++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", k ? "," : "", (int)length[k], start[k]);
    append_flags(run, flags, find_method(at, start[k], length[k]), count == 1,
                 memchr(start[k], ':', length[k]) != NULL, at, text, size);
  }
  return text;
}

const char *cli_plan_text(cli_run *run, const char *text) {
  return method_text(run, text, sr_train_plan_method, cli_scheme_options);
}

const char *cli_learner_text(cli_run *run, const char *text) {
  return method_text(run, text, sr_learner_method, cli_learner_options);
}

sr_vote cli_read_vote(const cli_run *run) {
  const char *vote = cli_text(run, "vote");
  return strcmp(vote, "soft") == 0    ? SR_VOTE_SOFT
         : strcmp(vote, "gated") == 0 ? SR_VOTE_GATED
                                      : SR_VOTE_HARD;
}

json_t *cli_plan_json(const char *name, int32_t count, const sr_plan_parameter *parameters) {
  json_t *values = json_object();
  for (int32_t k = 0; k < count; k++)
    json_object_set_new(values, parameters[k].name, cli_json_real(parameters[k].value));
  return json_pack("{s:s,s:o}", "name", name, "parameters", values);
}

void cli_say_plan(const cli_run *run, const char *name, int32_t count,
                  const sr_plan_parameter *parameters) {
  cli_say(run, "%s", name);
  for (int32_t k = 0; k < count; k++)
    cli_say(run, "%s%s %g%s", k ? ", " : " (", parameters[k].name, parameters[k].value,
            k + 1 == count ? ")" : "");
}
