/* What a person or a program sees: text, JSON, errors. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void cli_say(const cli_run *run, const char *format, ...) {
  if (run->json || run->quiet) return;
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

void cli_print_description(const cli_run *run, const char *text) {
  if (run->json)
    puts(text);
  else if (!run->quiet)
    cli_put_clean(text, stdout);
}

json_t *cli_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static int print_json(json_t *object) {
  if (!object) return CLI_FAILED;
  int failed = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
  failed |= putchar('\n') == EOF;
  json_decref(object);
  return failed ? CLI_FAILED : CLI_SUCCESS;
}

int cli_finish(cli_run *run, json_t *result) {
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
  print_error(error);
  if (run->json) print_json_error(code, error);
  return code;
}

int cli_fail(const cli_run *run, sr_status status) {
  sr_error error = sr_context_error(run->ctx);
  if (error.status != status) error = (sr_error){status, sr_status_message(status), "", 0, 0};
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
