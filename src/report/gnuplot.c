/* gnuplot as a program: started without a shell, fed from a file, watched, its output checked. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "page.h"

extern char **environ;

enum { SECONDS_ALLOWED = 60, BYTES_ALLOWED = 8 << 20 };

static sr_status start(sr_context *ctx, const char *program, FILE *in, FILE *out, pid_t *child) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions))
    return sr__fail(ctx, SR_ERROR_MEMORY, "no memory to start '%s'", program);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  char *name = sr__strdup(ctx, program);
  /* -d: no start-up files, so that the picture does not depend on the user's settings. */
  char flag[] = "-d";
  char *arguments[] = {name, flag, NULL};
  int error = name ? posix_spawnp(child, program, &actions, NULL, arguments, environ) : ENOMEM;
  sr__free(ctx, name);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOMEM) return sr__fail(ctx, SR_ERROR_MEMORY, "no memory to start '%s'", program);
  if (error)
    return sr__fail(ctx, SR_ERROR_NOT_FOUND, "cannot start '%s' (%s); install gnuplot for plots",
                    program, strerror(error));
  return SR_OK;
}

static sr_status await(sr_context *ctx, const char *program, pid_t child) {
  double start_time = sr_seconds();
  int code = 0;
  pid_t ended;
  while ((ended = waitpid(child, &code, WNOHANG)) == 0) {
    if (sr_seconds() - start_time > SECONDS_ALLOWED || sr__check_interrupt(ctx) != SR_OK) {
      kill(child, SIGKILL);
      while (waitpid(child, &code, 0) < 0 && errno == EINTR) continue;
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  if (sr__check_interrupt(ctx) != SR_OK) return SR_ERROR_INTERRUPTED;
  if (WIFEXITED(code) && WEXITSTATUS(code) == 127)
    return sr__fail(ctx, SR_ERROR_NOT_FOUND, "cannot start '%s'; install gnuplot for plots",
                    program);
  if (ended != child || !WIFEXITED(code) || WEXITSTATUS(code) != 0)
    return sr__fail(ctx, SR_ERROR_IO, "'%s' failed to draw (wait status %d)", program, code);
  return SR_OK;
}

static sr_status read_all(sr_context *ctx, FILE *file, sr__text *output) {
  sr_status status = SR_OK;
  char block[16384];
  size_t count;
  rewind(file);
  while ((count = fread(block, 1, sizeof block, file)) > 0) {
    if (output->length + (int64_t)count > BYTES_ALLOWED)
      return sr__fail(ctx, SR_ERROR_IO, "the plot is larger than %d bytes", BYTES_ALLOWED);
    SR_TRY(sr__text_put(ctx, output, block, (int64_t)count));
  }
cleanup:
  return status;
}

sr_status sr__run_gnuplot(sr_context *ctx, const char *program, const sr__text *script,
                          sr__text *output) {
  sr_status status = SR_OK;
  pid_t child = 0;
  FILE *in = tmpfile(), *out = tmpfile();
  if (!in || !out ||
      fwrite(script->bytes, 1, (size_t)script->length, in) != (size_t)script->length ||
      fflush(in) || lseek(fileno(in), 0, SEEK_SET) < 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_IO, "no temporary file for gnuplot: %s", strerror(errno)));
  SR_TRY(start(ctx, program, in, out, &child));
  SR_TRY(await(ctx, program, child));
  SR_TRY(read_all(ctx, out, output));
cleanup:
  if (in) fclose(in);
  if (out) fclose(out);
  return status;
}

/* ---- the picture it wrote ----------------------------------------------------------------- */

/* Nothing that runs and nothing that loads: inline pictures and inner references only. */
static sr_status check_svg(sr_context *ctx, const sr__text *svg) {
  static const char *const forbidden[] = {"<script", "<foreignObject", "javascript:", "<iframe",
                                          " onload", " onclick",       " onmouse",    "<!ENTITY"};
  if (!svg->length || !strstr(svg->bytes, "<svg") || !strstr(svg->bytes, "</svg>") ||
      strlen(svg->bytes) != (size_t)svg->length)
    return sr__fail(ctx, SR_ERROR_FORMAT, "gnuplot did not write an SVG picture");
  for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
    if (strcasestr(svg->bytes, forbidden[i]))
      return sr__fail(ctx, SR_ERROR_FORMAT, "the plot contains \"%s\"", forbidden[i]);
  for (const char *link = svg->bytes; (link = strstr(link, "href=")); link += 5)
    if (link[6] != '#' && strncmp(link + 6, "data:image/png;base64,", 22) != 0)
      return sr__fail(ctx, SR_ERROR_FORMAT, "the plot links to something outside");
  return SR_OK;
}

/* Names that gnuplot repeats in every picture; on a page they must differ. */
static const char *const repeated[] = {"gpDot",          "gpPt",          "textbox", "greybox",
                                       "gnuplot_canvas", "gnuplot_plot_", "hcell"};

static const char *next_special(const char *from) {
  const char *first = strstr(from, "<title>");
  for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
    const char *found = strstr(from, repeated[i]);
    if (found && (!first || found < first)) first = found;
  }
  return first;
}

sr_status sr__adopt_svg(sr_context *ctx, const sr__text *svg, int32_t index, sr__text *out) {
  sr_status status = SR_OK;
  SR_TRY(check_svg(ctx, svg));
  const char *from = strstr(svg->bytes, "<svg"), *special;
  while ((special = next_special(from))) {
    SR_TRY(sr__text_put(ctx, out, from, special - from));
    const char *end = strncmp(special, "<title>", 7) == 0 ? strstr(special, "</title>") : NULL;
    if (end) {
      from = end + strlen("</title>");
    } else {
      SR_TRY(sr__text_print(ctx, out, "plot%d-%c", index, *special));
      from = special + 1;
    }
  }
  SR_TRY(sr__text_string(ctx, out, from));
cleanup:
  return status;
}
