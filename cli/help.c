/* Help, man page and completions, all from the tables of commands and options. */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "generated.h"

typedef struct exit_code {
  int code;
  const char *meaning;
} exit_code;

static const exit_code exit_codes[] = {{CLI_SUCCESS, "success"},
                                       {CLI_FAILED, "the run failed"},
                                       {CLI_USAGE, "wrong usage"},
                                       {CLI_BAD_INPUT, "bad input file or model"},
                                       {CLI_NOT_CONVERGED,
                                        "did not converge; the result is still written"},
                                       {CLI_NO_MEMORY, "out of memory"},
                                       {CLI_INTERRUPTED,
                                        "interrupted; what was finished is on disk"}};
enum { EXIT_CODES = sizeof exit_codes / sizeof *exit_codes };

static const char formats[] =
    "FILE may be csv, tsv, ts, arff, npy, libsvm, nc or tif, text forms also as .gz; - is standard "
    "input (csv).";

/* ---- help --------------------------------------------------------------------------------- */

/* The words that an option takes; the endings of a path are told in its help. */
static const char *words_of(const cli_option *o) { return o->kind == CLI_PATH ? NULL : o->choices; }

static void print_option(const cli_option *o) {
  char left[64];
  int width = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                        : snprintf(left, sizeof left, "    --%s", o->name);
  if (o->value && width > 0 && (size_t)width < sizeof left)
    snprintf(left + width, sizeof left - (size_t)width, " %s", o->value);
  printf("  %-26s %s", left, o->help);
  if (words_of(o)) printf(" (%s)", words_of(o));
  if (o->fallback) printf(" [%s]", o->fallback);
  putchar('\n');
}

void cli_print_overview(void) {
  printf("specroute %s: voting ensembles on rows that depend on each other\n\n", sr_version());
  puts("usage: specroute COMMAND [FILE] [options]\n\ncommands:");
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++)
    if (!c->hidden) printf("  %-12s %s\n", c->name, c->help);
  printf(
      "\n'specroute COMMAND --help' shows the options of a command; --version -v the build.\n%s\n",
      formats);
}

void cli_print_group(const char *group) {
  printf("usage: specroute %s COMMAND [options]\n\ncommands:\n", group);
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++)
    if (cli_in_group(c, group)) printf("  %-12s %s\n", c->name, c->help);
  printf("\n'specroute %s COMMAND --help' shows the options of a command.\n", group);
}

static const char *heading_of(const cli_option *group) {
  if (group == cli_column_options) return "columns and files";
  if (group == cli_graph_options) return "graph";
  return "options";
}

/* The command's own and the task's options first, then columns, single methods and what every
 * command has. */
static void print_options(const cli_command *command) {
  const cli_option *o;
  bool any = false;
  puts("\noptions:");
  for (int g = 0; g < CLI_MAX_GROUPS && command->groups[g]; g++)
    for (o = command->groups[g]; o->name && heading_of(command->groups[g])[0] == 'o'; o++)
      print_option(o);
  for (int i = 0; (o = cli_generated_at(command, i)); i++)
    if (!cli_is_of_method(o)) print_option(o);
  for (int g = 0; g < CLI_MAX_GROUPS && command->groups[g]; g++) {
    if (heading_of(command->groups[g])[0] == 'o') continue;
    printf("\n%s:\n", heading_of(command->groups[g]));
    for (o = command->groups[g]; o->name; o++) print_option(o);
  }
  for (int i = 0; (o = cli_generated_at(command, i)); i++) {
    if (!cli_is_of_method(o)) continue;
    if (!any) puts("\noptions of single methods (or KEY=VALUE behind their names):");
    any = true;
    print_option(o);
  }
  puts("\noptions of every command:");
  for (o = cli_common_options; o->name; o++) print_option(o);
}

void cli_print_help(const cli_command *command) {
  printf("usage: specroute %s%s%s [options]\n\n%s.\n", command->name,
         command->arguments[0] ? " " : "", command->arguments, command->help);
  if (command->description) printf("\n%s\n", command->description);
  print_options(command);
  if (command->example) printf("\nexample:\n  %s\n", command->example);
}

/* ---- man page ----------------------------------------------------------------------------- */

/* Text with roff's own characters made plain. */
static void print_roff(const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '\\')
      fputs("\\e", stdout);
    else if (*c == '-')
      fputs("\\-", stdout);
    else if (*c == '|')
      fputs("|\\:", stdout); /* long lists of choices may be broken here */
    else if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n'))
      printf("\\&%c", *c);
    else
      putchar(*c);
  }
}

static void print_man_option(const cli_option *o) {
  fputs(".TP\n\\fB", stdout);
  if (o->letter) printf("\\-%c\\fR, \\fB", o->letter);
  fputs("\\-\\-", stdout);
  print_roff(o->name);
  fputs("\\fR", stdout);
  if (o->value) {
    fputs(" \\fI", stdout);
    print_roff(o->value);
    fputs("\\fR", stdout);
  }
  putchar('\n');
  print_roff(o->help);
  if (words_of(o)) {
    fputs(" (", stdout);
    print_roff(words_of(o));
    putchar(')');
  }
  if (o->fallback) {
    fputs(" [default ", stdout);
    print_roff(o->fallback);
    putchar(']');
  }
  fputs(".\n", stdout);
}

static void print_man_command(const cli_command *c) {
  printf(".SS %s ", c->name);
  print_roff(c->arguments);
  putchar('\n');
  print_roff(c->help);
  fputs(".\n", stdout);
  if (c->description) {
    fputs(".PP\n", stdout);
    print_roff(c->description);
    putchar('\n');
  }
  const cli_option *o;
  for (int g = 0; g < CLI_MAX_GROUPS && c->groups[g]; g++)
    for (o = c->groups[g]; o->name; o++) print_man_option(o);
  for (int i = 0; (o = cli_generated_at(c, i)); i++) print_man_option(o);
  if (c->example) {
    fputs(".PP\nExample:\n.PP\n.EX\n", stdout);
    print_roff(c->example);
    fputs("\n.EE\n", stdout);
  }
}

int cli_run_man(cli_run *run) {
  (void)run;
  printf(".TH SPECROUTE 1 \"\" \"specroute %s\" \"User Commands\"\n", sr_version());
  puts(".ad l"); /* long names do not stretch a line */
  puts(".SH NAME\nspecroute \\- voting ensembles on rows that depend on each other");
  puts(".SH SYNOPSIS\n.B specroute\n\\fICOMMAND\\fR [\\fIFILE\\fR] [\\fIoptions\\fR]");
  puts(".SH DESCRIPTION");
  print_roff(formats);
  puts("\n.SH OPTIONS OF EVERY COMMAND");
  for (const cli_option *o = cli_common_options; o->name; o++) print_man_option(o);
  puts(".SH COMMANDS");
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++)
    if (!c->hidden) print_man_command(c);
  puts(".SH EXIT STATUS");
  for (int i = 0; i < EXIT_CODES; i++) {
    printf(".TP\n.B %d\n", exit_codes[i].code);
    print_roff(exit_codes[i].meaning);
    fputs(".\n", stdout);
  }
  puts(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colors where it is set.");
  return CLI_SUCCESS;
}

/* ---- pages of docs/reference ---------------------------------------------------------------- */

/* Text inside a table of Markdown. */
static void print_cell(const char *text) {
  for (const char *c = text ? text : ""; *c; c++) {
    if (*c == '|' || *c == '<') putchar('\\');
    putchar(*c);
  }
}

static void print_reference_option(const cli_option *o) {
  printf("| `--%s", o->name);
  if (o->value) printf(" %s", o->value);
  fputs("` | ", stdout);
  print_cell(words_of(o) ? words_of(o) : "");
  fputs(" | ", stdout);
  print_cell(o->fallback ? o->fallback : "");
  fputs(" | ", stdout);
  print_cell(o->help);
  puts(" |");
}

static void print_reference_commands(void) {
  puts("# Commands and their options\n\nMade by `specroute reference commands`; do not edit.\n");
  puts("## options of every command\n\n| option | values | default | meaning |\n|---|---|---|---|");
  for (const cli_option *o = cli_common_options; o->name; o++) print_reference_option(o);
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++) {
    const cli_option *o;
    if (c->hidden) continue;
    printf("\n## %s\n\n`specroute %s%s%s`: %s.\n", c->name, c->name, c->arguments[0] ? " " : "",
           c->arguments, c->help);
    if (c->description) printf("\n%s\n", c->description);
    if (!c->groups[0] && !cli_generated_at(c, 0)) continue;
    puts("\n| option | values | default | meaning |\n|---|---|---|---|");
    for (int g = 0; g < CLI_MAX_GROUPS && c->groups[g]; g++)
      for (o = c->groups[g]; o->name; o++) print_reference_option(o);
    for (int i = 0; (o = cli_generated_at(c, i)); i++) print_reference_option(o);
  }
}

int cli_run_reference(cli_run *run) {
  const sr_method_kind *kinds[32], *kind;
  int count = 0;
  char *text = NULL;
  if (run->arguments[0][0] == 'c') {
    print_reference_commands();
    return CLI_SUCCESS;
  }
  while (count < 32 && (kind = cli_method_kind_at(count))) kinds[count++] = kind;
  sr_status status = sr_describe_methods(run->ctx, count, kinds, SR_DESCRIPTION_MARKDOWN, &text);
  if (status != SR_OK) return cli_fail(run, status);
  fputs(text, stdout);
  sr_bytes_free((void **)&text);
  return CLI_SUCCESS;
}

/* ---- completions -------------------------------------------------------------------------- */

/* 'a|b|c' as 'a b c'. */
static void print_words(const char *choices) {
  for (const char *c = choices; *c; c++) putchar(*c == '|' ? ' ' : *c);
}

/* Names of the methods that a flag may name and, with `keys`, "NAME:KEY=" for their keys. */
static void print_methods(const cli_method_flag *m, bool keys) {
  const sr_method *method;
  for (int i = 0; (method = m->at(i)); i++) {
    printf("%s ", method->name);
    for (const sr_option *o = keys ? method->options : NULL; o && o->key; o++)
      printf("%s:%s= ", method->name, o->key);
  }
}

/* bash takes "NAME:KEY=" for several words: after the colon it asks for the keys of NAME. */
static void complete_bash_keys(void) {
  puts("  if [ \"$before\" = : ]; then\n    case ${COMP_WORDS[COMP_CWORD-2]} in");
  const sr_method_kind *kind;
  for (int k = 0; (kind = sr_method_kind_at(k)); k++) {
    const sr_method *method;
    for (int i = 0; (method = kind->at(i)); i++) {
      if (!method->options || !method->options->key) continue;
      printf("      %s) COMPREPLY+=($(compgen -W '", method->name);
      for (const sr_option *o = method->options; o->key; o++) printf("%s= ", o->key);
      puts("' -- \"$word\")) ;;&");
    }
  }
  puts("    esac\n    return\n  fi");
}

/* The command's only word, or its group. */
static void print_first_word(const cli_command *c, const char *after) {
  printf("%.*s%s", (int)strcspn(c->name, " "), c->name, after);
}

/* The name as a pattern of a shell's case. */
static void print_pattern(const cli_command *c) {
  for (const char *at = c->name; *at; at++) {
    if (*at == ' ') putchar('\\');
    putchar(*at);
  }
}

/* The words that follow a group's, as one list. */
static void print_group_words(const char *group) {
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++)
    if (cli_in_group(c, group)) printf("%s ", c->name + strlen(group) + 1);
}

/* Gives the group of the command that opens one; false for others. */
static bool opened_group(int index, char *group, size_t size) {
  if (!cli_opens_group(index)) return false;
  snprintf(group, size, "%.*s", (int)cli_group_length(cli_commands[index]),
           cli_commands[index]->name);
  return true;
}

static void complete_bash_groups(void) {
  char group[32];
  for (int i = 0; cli_commands[i]; i++) {
    if (!opened_group(i, group, sizeof group)) continue;
    printf("  if [ \"$command\" = %s ]; then\n    if [ \"$COMP_CWORD\" -eq 2 ]; then\n", group);
    fputs("      COMPREPLY=($(compgen -W '", stdout);
    print_group_words(group);
    puts(
        "' -- \"$word\")); return\n    fi\n"
        "    command=\"$command ${COMP_WORDS[2]}\"\n  fi");
  }
}

static void complete_bash(void) {
  puts(
      "# bash completion of specroute\n_specroute() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  local command=${COMP_WORDS[1]}\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then");
  fputs("    COMPREPLY=($(compgen -W '", stdout);
  for (int i = 0; cli_commands[i]; i++)
    if (!cli_commands[i]->hidden && (cli_opens_group(i) || !cli_group_length(cli_commands[i])))
      print_first_word(cli_commands[i], " ");
  puts("' -- \"$word\")); return\n  fi");
  complete_bash_groups();
  complete_bash_keys();
  puts("  case $command:$before in");
  const cli_option *o;
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++) {
    if (c->hidden) continue;
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
      const cli_method_flag *m = cli_method_flag_of(c, o->name);
      if (!words_of(o) && !m) continue;
      fputs("    ", stdout);
      print_pattern(c);
      printf(":--%s) COMPREPLY=($(compgen -W '", o->name);
      if (m)
        print_methods(m, false);
      else
        print_words(words_of(o));
      puts("' -- \"$word\")); return ;;");
    }
  }
  puts("  esac\n  case $command in");
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++) {
    if (c->hidden) continue;
    fputs("    ", stdout);
    print_pattern(c);
    fputs(") words='", stdout);
    if (c->choices) {
      print_words(c->choices);
      putchar(' ');
    }
    for (int i = 0; (o = cli_option_at(c, i)); i++) printf("--%s ", o->name);
    puts("' ;;");
  }
  puts(
      "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n}\n"
      "complete -o filenames -F _specroute specroute");
}

/* Text inside zsh's [..] and '..'. */
static void print_zsh(const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '\'')
      fputs("'\\''", stdout);
    else if (strchr("[]:", *c))
      printf("\\%c", *c);
    else
      putchar(*c);
  }
}

static void complete_zsh(void) {
  puts(
      "#compdef specroute\n_specroute() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(");
  char group[32];
  for (int i = 0; cli_commands[i]; i++) {
    const cli_command *c = cli_commands[i];
    if (c->hidden || (cli_group_length(c) && !cli_opens_group(i))) continue;
    fputs("      '", stdout);
    print_first_word(c, ":");
    print_zsh(c->help);
    puts("'");
  }
  puts(
      "    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n"
      "  shift words; (( CURRENT-- ))");
  for (int i = 0; cli_commands[i]; i++) {
    if (!opened_group(i, group, sizeof group)) continue;
    printf("  if [[ $command == %s ]]; then\n    if (( CURRENT == 2 )); then\n      compadd ",
           group);
    print_group_words(group);
    puts(
        "\n      return\n    fi\n    command=\"$command $words[2]\"\n"
        "    shift words; (( CURRENT-- ))\n  fi");
  }
  puts("  case $command in");
  const cli_option *o;
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++) {
    if (c->hidden) continue;
    fputs("    ", stdout);
    print_pattern(c);
    fputs(") _arguments", stdout);
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
      printf(" \\\n      '--%s[", o->name);
      print_zsh(o->help);
      fputs("]", stdout);
      const cli_method_flag *m = cli_method_flag_of(c, o->name);
      if (m) {
        printf(":%s:(", m->kind);
        print_methods(m, false);
        putchar(')');
      } else if (words_of(o)) {
        printf(":%s:(", o->value);
        print_words(words_of(o));
        putchar(')');
      } else if (o->kind != CLI_FLAG) {
        printf(":value:%s", o->kind == CLI_PATH ? "_files" : "");
      }
      putchar('\'');
    }
    if (c->choices) {
      fputs(" \\\n      '1:what:(", stdout);
      print_words(c->choices);
      puts(")' '*:file:_files' ;;");
    } else {
      puts(" \\\n      '*:file:_files' ;;");
    }
  }
  puts("  esac\n}\n_specroute \"$@\"");
}

static void print_fish(const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '\'' || *c == '\\') putchar('\\');
    putchar(*c);
  }
}

/* When a command is the one on the line: "train" alone, or "rl" and "train". */
static void print_fish_condition(const cli_command *c) {
  char group[32];
  size_t length = cli_group_length(c);
  if (length > 0) {
    printf("__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s", (int)length,
           c->name, c->name + length + 1);
    return;
  }
  for (int i = 0; cli_commands[i]; i++)
    if (opened_group(i, group, sizeof group))
      printf("not __fish_seen_subcommand_from %s; and ", group);
  printf("__fish_seen_subcommand_from %s", c->name);
}

/* The word that names a command, where it may stand. */
static void complete_fish_word(const cli_command *c) {
  size_t length = cli_group_length(c);
  if (length > 0)
    printf(
        "complete -c specroute -n __fish_use_subcommand -a %.*s\n"
        "complete -c specroute -n '__fish_seen_subcommand_from %.*s' -a %s -d '",
        (int)length, c->name, (int)length, c->name, c->name + length + 1);
  else
    printf("complete -c specroute -n __fish_use_subcommand -a %s -d '", c->name);
  print_fish(c->help);
  puts("'");
}

static void complete_fish(void) {
  puts("# fish completion of specroute");
  const cli_option *o;
  for (const cli_command *const *at = cli_commands, *c; (c = *at); at++) {
    if (c->hidden) continue;
    complete_fish_word(c);
    for (int i = 0; (o = cli_option_at(c, i)); i++) {
      fputs("complete -c specroute -n '", stdout);
      print_fish_condition(c);
      printf("' -l %s", o->name);
      if (o->letter) printf(" -s %c", o->letter);
      if (o->kind != CLI_FLAG) fputs(o->kind == CLI_PATH ? " -r" : " -x", stdout);
      const cli_method_flag *m = cli_method_flag_of(c, o->name);
      if (m || words_of(o)) {
        fputs(" -a '", stdout);
        if (m)
          print_methods(m, true);
        else
          print_words(words_of(o));
        putchar('\'');
      }
      fputs(" -d '", stdout);
      print_fish(o->help);
      puts("'");
    }
  }
}

int cli_run_completion(cli_run *run) {
  const char *shell = run->arguments[0];
  if (strcmp(shell, "bash") == 0)
    complete_bash();
  else if (strcmp(shell, "zsh") == 0)
    complete_zsh();
  else
    complete_fish();
  return CLI_SUCCESS;
}
