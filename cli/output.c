/* What a person or a program sees: text, JSON, errors. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

/* The bar is gone before anything else stands on the terminal. */
static void clear_bar(const cli_run *run) {
  if (run->progress) cli_progress_clear(run->progress);
}

void cli_say(const cli_run *run, const char *format, ...) {
  if (run->json || run->quiet) return;
  clear_bar(run);
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (text) {
    vsnprintf(text, (size_t)length + 1, format, again);
    cli_put_clean(text, stdout);
    free(text);
  }
  va_end(again);
  va_end(arguments);
}

void cli_put_clean(const char *text, FILE *to) {
  size_t size = 3 * strlen(text) + 1;
  char *clean = malloc(size);
  if (!clean) return;
  sr_text_clean(text, false, clean, size);
  fputs(clean, to);
  free(clean);
}

json_t *cli_json_text(const char *text) {
  size_t size = 3 * strlen(text) + 1;
  char *clean = malloc(size);
  if (!clean) return NULL;
  sr_text_clean(text, true, clean, size);
  json_t *value = json_string(clean);
  free(clean);
  return value;
}

/* ---- warnings ------------------------------------------------------------------------------ */

static bool holds(const json_t *list, const json_t *text) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (json_equal(json_array_get(list, i), text)) return true;
  return false;
}

/* Each is kept once. */
void cli_keep_warning(cli_run *run, const char *message) {
  json_t *text = cli_json_text(message);
  if (text && !holds(run->warnings, text)) json_array_append(run->warnings, text);
  json_decref(text);
}

void cli_warn_of_structure(cli_run *run, const sr_structure *structure) {
  const sr_dependence *dependence = sr_structure_get(structure)->dependence;
  const sr_dependence_view *found = dependence ? sr_dependence_get(dependence) : NULL;
  for (int32_t i = 0; found && i < found->warning_count; i++) {
    cli_keep_warning(run, found->warnings[i]);
    if (run->quiet) continue;
    clear_bar(run);
    fputs("specroute: warning: ", stderr);
    cli_put_clean(found->warnings[i], stderr);
    fputc('\n', stderr);
  }
}

static bool reads_tables(const cli_run *run) {
  for (int g = 0; run->command && g < CLI_MAX_GROUPS && run->command->groups[g]; g++)
    if (run->command->groups[g] == cli_column_options) return true;
  return false;
}

/* What commands that read tables were warned of stands beside what their results warn of. */
static void add_warnings(const cli_run *run, json_t *result) {
  json_t *list = json_object_get(result, "warnings");
  if (!result || !run->warnings || !reads_tables(run)) return;
  if (!list && json_object_set_new(result, "warnings", json_array()) == 0)
    list = json_object_get(result, "warnings");
  for (size_t i = 0; i < json_array_size(run->warnings); i++)
    if (!holds(list, json_array_get(run->warnings, i)))
      json_array_append(list, json_array_get(run->warnings, i));
}

static int print_json(json_t *object);

void cli_print_description(const cli_run *run, const char *text) {
  clear_bar(run);
  json_t *result = run->json ? json_loads(text, 0, NULL) : NULL;
  add_warnings(run, result);
  if (run->json)
    (void)print_json(result);
  else if (!run->quiet)
    cli_put_clean(text, stdout);
}

json_t *cli_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *cli_json_scale(const sr_structure *structure) {
  const sr_structure_view *v = sr_structure_get(structure);
  return json_pack("{s:o,s:o,s:o,s:s}", "estimate", cli_json_real(v->tmix), "low",
                   cli_json_real(v->tmix_low), "high", cli_json_real(v->tmix_high), "method",
                   v->tmix_method);
}

static int print_json(json_t *object) {
  if (!object) return CLI_FAILED;
  int failed = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
  failed |= putchar('\n') == EOF;
  json_decref(object);
  return failed ? CLI_FAILED : CLI_SUCCESS;
}

int cli_finish(cli_run *run, json_t *result) {
  clear_bar(run);
  add_warnings(run, result);
  if (run->json) return print_json(result);
  json_decref(result);
  return CLI_SUCCESS;
}

int cli_code(sr_status status) {
  switch (status) {
    case SR_OK:
      return CLI_SUCCESS;
    case SR_ERROR_ARGUMENT:
    case SR_ERROR_NOT_FOUND:
      return CLI_USAGE;
    case SR_ERROR_IO:
    case SR_ERROR_FORMAT:
    case SR_ERROR_DATA:
      return CLI_BAD_INPUT;
    case SR_ERROR_NOT_CONVERGED:
      return CLI_NOT_CONVERGED;
    case SR_ERROR_MEMORY:
    case SR_ERROR_OVERFLOW:
      return CLI_NO_MEMORY;
    case SR_ERROR_INTERRUPTED:
      return CLI_INTERRUPTED;
    case SR_ERROR_UNSUPPORTED:
    case SR_ERROR_INTERNAL:
    case SR_ERROR_OUTPUT:
      return CLI_FAILED;
  }
  return CLI_FAILED;
}

/* "error: file:line:column: message" in red where a terminal shows it. */
static void print_error(const sr_error *error) {
  bool color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
  fprintf(stderr, "%sspecroute: error:%s ", color ? "\033[31m" : "", color ? "\033[0m" : "");
  if (error->line > 0) {
    cli_put_clean(error->file, stderr);
    fprintf(stderr, ":%lld:", (long long)error->line);
    if (error->column > 0) fprintf(stderr, "%lld:", (long long)error->column);
    fputc(' ', stderr);
  }
  cli_put_clean(error->message, stderr);
  fputc('\n', stderr);
}

static void print_json_error(int code, const sr_error *error) {
  json_t *object =
      json_pack("{s:{s:i,s:o}}", "error", "code", code, "message", cli_json_text(error->message));
  json_t *inner = json_object_get(object, "error");
  if (inner && error->file[0]) json_object_set_new(inner, "file", cli_json_text(error->file));
  if (inner && error->line > 0) json_object_set_new(inner, "line", json_integer(error->line));
  if (inner && error->column > 0) json_object_set_new(inner, "column", json_integer(error->column));
  (void)print_json(object);
}

static int report(const cli_run *run, int code, const sr_error *error) {
  clear_bar(run);
  print_error(error);
  if (run->json) print_json_error(code, error);
  return code;
}

/* The input that a failure is about: the last argument, which is the data. */
static const char *input_of(const cli_run *run) {
  return run->argument_count > 0 ? run->arguments[run->argument_count - 1] : "";
}

/* Whether the sentence or its place names one of the inputs already. */
static bool names_input(const cli_run *run, const sr_error *error) {
  if (error->line > 0) return true;
  for (int i = 0; i < run->argument_count; i++)
    if (strstr(error->message, run->arguments[i])) return true;
  return error->file[0] && strstr(error->message, error->file);
}

int cli_fail(const cli_run *run, sr_status status) {
  sr_error error = sr_context_error(run->ctx);
  char named[1536];
  if (error.status != status) error = (sr_error){status, sr_status_message(status), "", 0, 0};
  /* Bad input is about the input, other errors (a column that is not there) where they say so. */
  bool about_input = cli_code(status) == CLI_BAD_INPUT || error.file[0];
  const char *file = error.file[0] ? error.file : input_of(run);
  if (about_input && *file && !names_input(run, &error)) {
    snprintf(named, sizeof named, "%s: %s", file, error.message);
    error.message = named;
    error.file = file;
  }
  return report(run, cli_code(status), &error);
}

int cli_complain(const cli_run *run, int code, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  sr_error error = {SR_ERROR_ARGUMENT, message, "", 0, 0};
  return report(run, code, &error);
}
