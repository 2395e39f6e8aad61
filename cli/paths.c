/* The files of a run: outputs are tried before the work and are no other file of it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "generated.h"

/* ---- endings ------------------------------------------------------------------------------- */

/* With one of the endings ".html|.md" or ".csv .tsv"; text also with .gz. */
static bool ends_in(const char *path, const char *endings) {
  size_t length = strlen(path);
  if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
  while (*endings) {
    size_t width = strcspn(endings, "| ");
    if (length > width && strncasecmp(path + length - width, endings, width) == 0) return true;
    endings += width + (endings[width] != '\0');
  }
  return false;
}

static bool ends_in_table(const char *path) {
  for (int i = 0; sr_format_method(i); i++)
    if (ends_in(path, sr_format_endings(i, 1))) return true;
  return false;
}

static bool is_device(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* An ending decides the format, or is refused: `choices` of a path lists what its writer knows, or
 * says "table"; "own" takes any ending but those of other formats. Devices and FIFOs need none for
 * a table. */
static int check_ending(cli_run *run, const cli_option *o, const char *path) {
  static const char other_formats[] = CLI_PAGE_ENDINGS "|.pdf|.json|.onnx";
  if (!o->choices || strcmp(path, "-") == 0) return CLI_SUCCESS;
  if (strcmp(o->choices, "own") == 0) {
    if (!ends_in(path, other_formats) && !ends_in_table(path)) return CLI_SUCCESS;
    return cli_complain(run, CLI_USAGE,
                        "--%s '%s': this ending is of another format; name it NAME.%s", o->name,
                        path, strncmp(run->command->name, "rl", 2) == 0 ? "agent" : "model");
  }
  if (strcmp(o->choices, "table") == 0) {
    if (ends_in_table(path) || is_device(path)) return CLI_SUCCESS;
    return cli_complain(run, CLI_USAGE,
                        "--%s '%s': no table is written with this ending; 'specroute methods "
                        "formats' lists them",
                        o->name, path);
  }
  if (ends_in(path, o->choices)) return CLI_SUCCESS;
  return cli_complain(run, CLI_USAGE, "--%s '%s': expected an ending of %s", o->name, path,
                      o->choices);
}

/* ---- all files of the line ----------------------------------------------------------------- */

typedef struct named_file {
  const cli_option *option; /* NULL: an argument */
  const char *path;
} named_file;

typedef struct named_files {
  cli_run *run;
  named_file *file;
  int count;
  bool failed;
} named_files;

static void add_file(named_files *files, const cli_option *option, const char *path) {
  named_file *grown = realloc(files->file, (size_t)(files->count + 1) * sizeof *grown);
  files->failed |= !grown;
  if (!grown) return;
  files->file = grown;
  files->file[files->count++] = (named_file){option, path};
}

/* The text, and what stands before and behind each of the marks: the files of "a.tif,b.tif",
 * "polygons.gpkg:fields" and "edges:FILE" are among them. */
static void add_pieces(named_files *files, const cli_option *option, const char *text,
                       const char *marks) {
  add_file(files, option, text);
  for (const char *at = text + strcspn(text, marks); *at; at += 1 + strcspn(at + 1, marks)) {
    add_file(files, option, at + 1);
    char *before = cli_keep(files->run, strlen(text) + 1);
    files->failed |= !before;
    if (!before) return;
    const char *start = at;
    while (start > text && !strchr(marks, start[-1])) start--;
    memcpy(before, start, (size_t)(at - start));
    add_file(files, option, before);
  }
}

static bool is_output(const cli_option *o) {
  static const char *const names[] = {"output", "report", "held-out", "export", "resume"};
  for (size_t k = 0; o && o->kind == CLI_PATH && k < sizeof names / sizeof *names; k++)
    if (strcmp(o->name, names[k]) == 0) return true;
  return false;
}

/* Methods name files in their keys. */
static void list_files(named_files *files) {
  cli_run *run = files->run;
  const cli_option *o;
  for (int i = 0; i < run->argument_count; i++) add_pieces(files, NULL, run->arguments[i], ",:=");
  for (int i = 0; (o = cli_option_at(run->command, i)); i++) {
    if (!cli_given(run, o->name) || o->kind == CLI_FLAG) continue;
    if (is_output(o))
      add_file(files, o, cli_text(run, o->name));
    else if (o->kind == CLI_PATH || cli_method_flag_of(run->command, o->name))
      add_pieces(files, o, cli_text(run, o->name), ",:=");
  }
}

static int check_pair(cli_run *run, const cli_option *output, const char *path, named_file other) {
  sr_status status = sr_output_check(run->ctx, path, other.path);
  if (status != SR_ERROR_ARGUMENT || !is_output(other.option))
    return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
  return cli_complain(run, CLI_USAGE, "--%s and --%s both name '%s'; name two files", output->name,
                      other.option->name, path);
}

static int check_output(const named_files *files, int index) {
  cli_run *run = files->run;
  const cli_option *output = files->file[index].option;
  const char *path = files->file[index].path;
  for (int i = 0; i < files->count; i++) {
    if (files->file[i].option == output) continue;
    int code = check_pair(run, output, path, files->file[i]);
    if (code != CLI_SUCCESS) return code;
  }
  int code = check_ending(run, output, path);
  if (code != CLI_SUCCESS) return code;
  sr_status status = sr_output_check(run->ctx, path, NULL);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

int cli_check_outputs(cli_run *run) {
  named_files files = {.run = run};
  list_files(&files);
  int code = files.failed ? cli_complain(run, CLI_NO_MEMORY, "out of memory") : CLI_SUCCESS;
  for (int i = 0; i < files.count && code == CLI_SUCCESS; i++)
    if (is_output(files.file[i].option)) code = check_output(&files, i);
  free(files.file);
  return code;
}
