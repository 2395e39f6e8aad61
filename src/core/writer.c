#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct sr__writer {
  sr_context *ctx;
  FILE *file;
  char *path;
  char *folder;
  char *temporary; /* NULL for standard output */
};

static sr_status fail_output(sr__writer *writer, const char *verb) {
  return sr__fail_at(writer->ctx, SR_ERROR_OUTPUT, writer->path, 0, 0, "cannot %s '%s': %s", verb,
                     writer->path, strerror(errno));
}

static void writer_close(sr__writer **writer) {
  sr__writer *w = *writer;
  sr__free(w->ctx, w->temporary);
  sr__free(w->ctx, w->folder);
  sr__free(w->ctx, w->path);
  sr__free(w->ctx, w);
  *writer = NULL;
}

static sr_status name_folder(sr__writer *w) {
  const char *slash = strrchr(w->path, '/');
  w->folder = sr__strdup(w->ctx, slash ? w->path : ".");
  if (!w->folder) return SR_ERROR_MEMORY;
  if (slash) w->folder[slash == w->path ? 1 : slash - w->path] = '\0';
  return SR_OK;
}

sr_status sr__writer_open(sr_context *ctx, const char *path, sr__writer **writer) {
  sr_status status = SR_OK;
  sr__writer *w = NULL;
  *writer = NULL;
  SR_NEW_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->path = sr__strdup(ctx, path);
  if (!w->path) SR_TRY(SR_ERROR_MEMORY);
  if (strcmp(path, "-") == 0) {
    w->file = stdout;
  } else {
    size_t length = strlen(path) + 32;
    w->temporary = sr__alloc(ctx, (int64_t)length, 1);
    if (!w->temporary) SR_TRY(SR_ERROR_MEMORY);
    SR_TRY(name_folder(w));
    snprintf(w->temporary, length, "%s.tmp.%ld", path, (long)getpid());
    w->file = fopen(w->temporary, "wbe");
    if (!w->file) SR_TRY(fail_output(w, "create"));
  }
  *writer = w;
  return SR_OK;
cleanup:
  if (w) writer_close(&w);
  return status;
}

sr_status sr__writer_put(sr__writer *writer, const void *bytes, size_t count) {
  if (count && fwrite(bytes, 1, count, writer->file) != count) return fail_output(writer, "write");
  return SR_OK;
}

sr_status sr__writer_print(sr__writer *writer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int written = vfprintf(writer->file, format, arguments);
  va_end(arguments);
  return written < 0 ? fail_output(writer, "write") : SR_OK;
}

/* The new name is safe only when the folder's entry is on disk too. */
static void sync_folder(const char *folder) {
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)!fsync(descriptor);
  close(descriptor);
}

sr_status sr__writer_commit(sr__writer **writer) {
  sr__writer *w = *writer;
  sr_status status = SR_OK;
  if (fflush(w->file) != 0 || ferror(w->file)) SR_TRY(fail_output(w, "write"));
  if (!w->temporary) {
    writer_close(writer);
    return SR_OK;
  }
  if (fsync(fileno(w->file)) != 0) SR_TRY(fail_output(w, "sync"));
  int closed = fclose(w->file);
  w->file = NULL;
  if (closed != 0) SR_TRY(fail_output(w, "close"));
  if (rename(w->temporary, w->path) != 0) SR_TRY(fail_output(w, "rename into"));
  sync_folder(w->folder);
  writer_close(writer);
  return SR_OK;
cleanup:
  sr__writer_abort(writer);
  return status;
}

void sr__writer_abort(sr__writer **writer) {
  if (!writer || !*writer) return;
  sr__writer *w = *writer;
  if (w->temporary) {
    if (w->file) fclose(w->file);
    unlink(w->temporary);
  }
  writer_close(writer);
}
