#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct sr__writer {
  sr_context *ctx;
  FILE *file;
  char *path;      /* as it was named */
  char *target;    /* where links lead */
  char *folder;    /* of the target */
  char *temporary; /* NULL where bytes go straight through: standard output, pipes, devices */
  int through;     /* the descriptor that they go to */
};

enum { WAIT_MILLISECONDS = 50 };

static sr_status fail_output(sr__writer *writer, const char *verb) {
  sr_status interrupted = sr__check_interrupt(writer->ctx);
  if (interrupted != SR_OK) return interrupted;
  return sr__fail_at(writer->ctx, SR_ERROR_OUTPUT, writer->path, 0, 0, "cannot %s '%s': %s", verb,
                     writer->path, strerror(errno));
}

/* A pipe that nobody empties keeps a writer waiting for ever: an interrupt ends the wait. A piece
 * of PIPE_BUF bytes fits where the pipe says that it has room. */
static ssize_t write_through(void *cookie, const char *bytes, size_t count) {
  const sr__writer *w = cookie;
  size_t done = 0;
  while (done < count) {
    struct pollfd wanted = {.fd = w->through, .events = POLLOUT};
    size_t piece = count - done < PIPE_BUF ? count - done : PIPE_BUF;
    if (sr__check_interrupt(w->ctx) != SR_OK) {
      errno = EINTR;
      return 0;
    }
    if (poll(&wanted, 1, WAIT_MILLISECONDS) <= 0) continue;
    ssize_t written = write(w->through, bytes + done, piece);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return 0;
    done += (size_t)written;
  }
  return (ssize_t)done;
}

static int close_through(void *cookie) {
  const sr__writer *w = cookie;
  return w->through == STDOUT_FILENO ? 0 : close(w->through);
}

static sr_status open_through(sr__writer *w, int descriptor) {
  w->through = descriptor;
  w->file =
      fopencookie(w, "wb", (cookie_io_functions_t){.write = write_through, .close = close_through});
  if (w->file) return SR_OK;
  if (descriptor != STDOUT_FILENO) close(descriptor);
  return fail_output(w, "open");
}

/* Without O_NONBLOCK the opening of a FIFO would wait for its reader. */
static sr_status open_existing(sr__writer *w) {
  int descriptor;
  struct stat info;
  bool fifo = stat(w->target, &info) == 0 && S_ISFIFO(info.st_mode);
  while ((descriptor = open(w->target, O_WRONLY | O_CLOEXEC | O_NOCTTY | (fifo ? O_NONBLOCK : 0))) <
         0) {
    if (!fifo || errno != ENXIO || sr__check_interrupt(w->ctx) != SR_OK)
      return fail_output(w, "open");
    poll(NULL, 0, WAIT_MILLISECONDS);
  }
  if (fifo) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return open_through(w, descriptor);
}

static void writer_close(sr__writer **writer) {
  sr__writer *w = *writer;
  void *blocks[] = {w->temporary, w->folder, w->target, w->path};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(w->ctx, blocks[i]);
  sr__free(w->ctx, w);
  *writer = NULL;
}

/* Where a link that leads nowhere points: the file that will be made. */
static bool follow_link(char path[PATH_MAX]) {
  enum { MOST_LINKS = 40 };
  char next[PATH_MAX];
  struct stat info;
  for (int k = 0; lstat(path, &info) == 0 && S_ISLNK(info.st_mode); k++) {
    ssize_t length = readlink(path, next, sizeof next - 1);
    if (length < 0 || k == MOST_LINKS) return false;
    next[length] = '\0';
    const char *slash = next[0] == '/' ? NULL : strrchr(path, '/');
    size_t before = slash ? (size_t)(slash - path) + 1 : 0;
    if (before + (size_t)length >= PATH_MAX) return false;
    memcpy(path + before, next, (size_t)length + 1);
  }
  return true;
}

/* A link is followed to what it names, so that it stays a link. Links of /proc to pipes have no
 * name that could be opened: they are opened themselves. */
static sr_status find_target(sr__writer *w) {
  char resolved[PATH_MAX];
  struct stat info;
  const char *target = w->path;
  bool link = lstat(w->path, &info) == 0 && S_ISLNK(info.st_mode);
  if (link && stat(w->path, &info) == 0) {
    if (realpath(w->path, resolved) && stat(resolved, &info) == 0) target = resolved;
  } else if (link && strlen(w->path) < sizeof resolved) {
    memcpy(resolved, w->path, strlen(w->path) + 1);
    if (!follow_link(resolved)) {
      errno = ELOOP;
      return fail_output(w, "create");
    }
    target = resolved;
  }
  w->target = sr__strdup(w->ctx, target);
  if (!w->target) return SR_ERROR_MEMORY;
  const char *slash = strrchr(w->target, '/');
  w->folder = sr__strdup(w->ctx, slash ? w->target : ".");
  if (!w->folder) return SR_ERROR_MEMORY;
  if (slash) w->folder[slash == w->target ? 1 : slash - w->target] = '\0';
  return SR_OK;
}

/* A new file beside the target under a name that nobody can foretell or have put there. */
static sr_status open_temporary(sr__writer *w, mode_t mode) {
  enum { TRIES = 100 };
  size_t length = strlen(w->folder) + 40;
  int descriptor = -1;
  long longest = pathconf(w->folder, _PC_NAME_MAX);
  const char *slash = strrchr(w->target, '/');
  if (longest > 0 && strlen(slash ? slash + 1 : w->target) > (size_t)longest) {
    errno = ENAMETOOLONG;
    return fail_output(w, "create");
  }
  w->temporary = sr__alloc(w->ctx, (int64_t)length, 1);
  if (!w->temporary) return SR_ERROR_MEMORY;
  for (int attempt = 0; descriptor < 0 && attempt < TRIES; attempt++) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) break;
    snprintf(w->temporary, length, "%s/.specroute-%016llx", w->folder, (unsigned long long)random);
    descriptor = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor >= 0 && mode && fchmod(descriptor, mode) != 0) {
    close(descriptor);
    unlink(w->temporary);
    descriptor = -1;
  }
  if (descriptor >= 0) w->file = fdopen(descriptor, "wb");
  if (w->file) return SR_OK;
  if (descriptor >= 0) close(descriptor);
  sr__free(w->ctx, w->temporary);
  w->temporary = NULL;
  return fail_output(w, "create");
}

/* An existing file keeps its mode; pipes and devices are written as they are. */
static sr_status open_target(sr__writer *w) {
  struct stat info;
  bool exists = stat(w->target, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return fail_output(w, "create");
  }
  if (!exists || S_ISREG(info.st_mode)) return open_temporary(w, exists ? info.st_mode & 07777 : 0);
  return open_existing(w);
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
    fflush(stdout);
    SR_TRY(open_through(w, STDOUT_FILENO));
  } else {
    SR_TRY(find_target(w));
    SR_TRY(open_target(w));
  }
  *writer = w;
  return SR_OK;
cleanup:
  if (w) writer_close(&w);
  return status;
}

static bool same_inode(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What stands behind the last slash; `folder` is what stands before it. */
static const char *split_path(const char *path, char folder[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length >= PATH_MAX) length = PATH_MAX - 1;
  memcpy(folder, path, length);
  folder[length] = '\0';
  if (!length) snprintf(folder, PATH_MAX, "%s", slash ? "/" : ".");
  return slash ? slash + 1 : path;
}

/* Whether two names are one regular file, or will be where neither is there yet. */
static bool same_file(const char *a, const char *b) {
  struct stat first, second;
  char folder[PATH_MAX], other[PATH_MAX];
  bool there = stat(a, &first) == 0, here = stat(b, &second) == 0;
  if (there || here) return there && here && S_ISREG(first.st_mode) && same_inode(&first, &second);
  if (strcmp(split_path(a, folder), split_path(b, other)) != 0) return false;
  return stat(folder, &first) == 0 && stat(other, &second) == 0 && same_inode(&first, &second);
}

sr_status sr_output_check(sr_context *ctx, const char *path, const char *input) {
  struct stat info;
  sr__writer *writer = NULL;
  if (strcmp(path, "-") == 0) return SR_OK;
  if (input && same_file(path, input))
    return sr__fail_at(ctx, SR_ERROR_ARGUMENT, path, 0, 0,
                       "'%s' is the input itself; name another output", path);
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return SR_OK;
  sr_status status = sr__writer_open(ctx, path, &writer);
  sr__writer_abort(&writer);
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

const char *sr__writer_temporary(const sr__writer *writer) { return writer->temporary; }

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
    int closed = fclose(w->file);
    w->file = NULL;
    if (closed != 0) SR_TRY(fail_output(w, "write"));
    writer_close(writer);
    return SR_OK;
  }
  if (fsync(fileno(w->file)) != 0) SR_TRY(fail_output(w, "sync"));
  int closed = fclose(w->file);
  w->file = NULL;
  if (closed != 0) SR_TRY(fail_output(w, "close"));
  if (rename(w->temporary, w->target) != 0) SR_TRY(fail_output(w, "rename into"));
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
  if (w->file) fclose(w->file);
  if (w->temporary) unlink(w->temporary);
  writer_close(writer);
}
