#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
  STEP_BYTES = 1 << 20,
  COMPRESSED_BYTES = 256 * 1024,
  LINE_BYTES = 64 * 1024,
  LINE_PADDING = 16
};
/* A line longer than this is no line of a table. */
static const size_t LONGEST_LINE = (size_t)1 << 30;

struct sr__source {
  char *name;
  int descriptor; /* -1 for memory */
  const unsigned char *memory;
  size_t memory_left;
  size_t step;
  int64_t file_left; /* bytes of a plain file; -1 where not known */
  char *returned;    /* bytes that were put back; the next to give is at returned_at */
  size_t returned_at, returned_count;
  /* gzip */
  unsigned char *compressed; /* NULL where the input is plain */
  z_stream inflater;
  bool member_open; /* inside a gzip member */
};

const char *sr__source_name(const sr__source *source) { return source->name; }

size_t sr__source_step(const sr__source *source) { return source->step; }

void sr__source_set_step(sr__source *source, size_t step) { source->step = step; }

size_t sr__source_room(const sr__source *source, size_t most) {
  int64_t left = source->descriptor < 0 ? (int64_t)source->memory_left : source->file_left;
  if (source->compressed || left < 0) return most;
  /* One more byte, so that a read can come back short and tell the end. */
  size_t room = (size_t)left + (source->returned_count - source->returned_at) + 1;
  return room < most ? room : most;
}

/* ---- raw bytes ---------------------------------------------------------------------------- */

/* Pipes, terminals and FIFOs may keep a reader waiting for ever: an interrupt ends the wait. */
static sr_status wait_for_bytes(sr_context *ctx, const sr__source *source) {
  enum { WAIT_MILLISECONDS = 50 };
  struct pollfd wanted = {.fd = source->descriptor, .events = POLLIN};
  sr_status status = sr__check_interrupt(ctx);
  while (status == SR_OK && poll(&wanted, 1, WAIT_MILLISECONDS) <= 0)
    status = sr__check_interrupt(ctx);
  return status;
}

static sr_status read_descriptor(sr_context *ctx, sr__source *source, void *buffer, size_t capacity,
                                 size_t *got) {
  *got = 0;
  while (*got < capacity) {
    sr_status status = wait_for_bytes(ctx, source);
    if (status != SR_OK) return status;
    ssize_t count = read(source->descriptor, (char *)buffer + *got, capacity - *got);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0)
      return sr__fail_at(ctx, SR_ERROR_IO, source->name, 0, 0, "cannot read '%s': %s", source->name,
                         strerror(errno));
    if (count == 0) break;
    *got += (size_t)count;
    if (source->file_left >= 0)
      source->file_left -= count < source->file_left ? count : source->file_left;
  }
  return SR_OK;
}

static sr_status read_raw(sr_context *ctx, sr__source *source, void *buffer, size_t capacity,
                          size_t *got) {
  if (source->descriptor >= 0) return read_descriptor(ctx, source, buffer, capacity, got);
  *got = capacity < source->memory_left ? capacity : source->memory_left;
  if (*got) memcpy(buffer, source->memory, *got);
  source->memory += *got;
  source->memory_left -= *got;
  return SR_OK;
}

/* ---- gzip --------------------------------------------------------------------------------- */

static sr_status fail_gzip(sr_context *ctx, const sr__source *source, const char *what) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, source->name, 0, 0,
                     "the gzip data of '%s' are damaged: %s; fetch the file again", source->name,
                     what);
}

static sr_status refill(sr_context *ctx, sr__source *source) {
  z_stream *z = &source->inflater;
  if (z->avail_in > 0) return SR_OK;
  size_t got;
  sr_status status = read_raw(ctx, source, source->compressed, COMPRESSED_BYTES, &got);
  z->next_in = source->compressed;
  z->avail_in = (uInt)got;
  return status;
}

/* gzip allows several members, one after the other; their contents are joined. */
static sr_status read_gzip(sr_context *ctx, sr__source *source, void *buffer, size_t capacity,
                           size_t *got) {
  sr_status status = SR_OK;
  z_stream *z = &source->inflater;
  *got = 0;
  while (*got < capacity) {
    SR_TRY(refill(ctx, source));
    if (z->avail_in == 0) {
      if (source->member_open) SR_TRY(fail_gzip(ctx, source, "they end too early"));
      break;
    }
    if (!source->member_open) {
      if (inflateReset(z) != Z_OK) SR_TRY(fail_gzip(ctx, source, "zlib failed"));
      source->member_open = true;
    }
    size_t room = capacity - *got < (size_t)1 << 30 ? capacity - *got : (size_t)1 << 30;
    z->next_out = (unsigned char *)buffer + *got;
    z->avail_out = (uInt)room;
    int code = inflate(z, Z_NO_FLUSH);
    *got += room - z->avail_out;
    if (code == Z_STREAM_END)
      source->member_open = false;
    else if (code == Z_MEM_ERROR)
      SR_TRY(sr__fail(ctx, SR_ERROR_MEMORY, "out of memory while unpacking '%s'", source->name));
    else if (code != Z_OK && code != Z_BUF_ERROR)
      SR_TRY(fail_gzip(ctx, source, z->msg ? z->msg : "zlib cannot read them"));
  }
cleanup:
  return status;
}

void *sr__zlib_allocate(void *ctx, unsigned items, unsigned size) {
  return sr__alloc(ctx, items, size);
}

void sr__zlib_release(void *ctx, void *block) { sr__free(ctx, block); }

/* Looks at the first two bytes; the context is the one that closes the source too. */
static sr_status open_gzip(sr_context *ctx, sr__source *source) {
  sr_status status = SR_OK;
  unsigned char magic[2];
  size_t got;
  SR_TRY(read_raw(ctx, source, magic, sizeof magic, &got));
  if (got < 2 || magic[0] != 0x1f || magic[1] != 0x8b) {
    SR_TRY(sr__source_unread(ctx, source, magic, got));
    goto cleanup;
  }
  SR_NEW(ctx, source->compressed, COMPRESSED_BYTES);
  source->inflater =
      (z_stream){.zalloc = sr__zlib_allocate, .zfree = sr__zlib_release, .opaque = ctx};
  if (inflateInit2(&source->inflater, 15 + 16) != Z_OK) {
    sr__free(ctx, source->compressed);
    source->compressed = NULL;
    SR_TRY(sr__fail(ctx, SR_ERROR_MEMORY, "out of memory while unpacking '%s'", source->name));
  }
  memcpy(source->compressed, magic, 2);
  SR_TRY(read_raw(ctx, source, source->compressed + 2, COMPRESSED_BYTES - 2, &got));
  source->inflater.next_in = source->compressed;
  source->inflater.avail_in = (uInt)got + 2;
  source->member_open = true;
cleanup:
  return status;
}

/* ---- opening and reading ------------------------------------------------------------------ */

static sr_status new_source(sr_context *ctx, const char *name, sr__source **source) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, *source, 1);
  (*source)->descriptor = -1;
  (*source)->file_left = -1;
  (*source)->step = STEP_BYTES;
  (*source)->name = sr__strdup(ctx, name);
  if (!(*source)->name) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  if (status != SR_OK) sr__source_close(ctx, source);
  return status;
}

static sr_status open_descriptor(sr_context *ctx, const char *path, sr__source *source) {
  if (strcmp(path, "-") == 0) {
    source->descriptor = dup(STDIN_FILENO);
  } else {
    /* Without O_NONBLOCK the opening of a FIFO would wait for its writer. */
    source->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  }
  if (source->descriptor < 0)
    return sr__fail_at(ctx, SR_ERROR_IO, path, 0, 0, "cannot open '%s': %s", source->name,
                       strerror(errno));
  struct stat state;
  if (fstat(source->descriptor, &state) != 0) return SR_OK; /* reading will tell */
  if (S_ISDIR(state.st_mode))
    return sr__fail_at(ctx, SR_ERROR_IO, path, 0, 0, "'%s' is a folder, expected a file", path);
  if (S_ISREG(state.st_mode) && state.st_size > 0) source->file_left = state.st_size;
  return SR_OK;
}

sr_status sr__source_open(sr_context *ctx, const char *path, sr__source **source) {
  sr_status status = SR_OK;
  sr__source *made = NULL;
  *source = NULL;
  SR_TRY(new_source(ctx, strcmp(path, "-") == 0 ? "standard input" : path, &made));
  SR_TRY(open_descriptor(ctx, path, made));
  SR_TRY(open_gzip(ctx, made));
  *source = made;
  made = NULL;
cleanup:
  sr__source_close(ctx, &made);
  return status;
}

sr_status sr__source_open_memory(sr_context *ctx, const void *bytes, size_t size, const char *name,
                                 sr__source **source) {
  sr_status status = SR_OK;
  sr__source *made = NULL;
  *source = NULL;
  SR_TRY(new_source(ctx, name, &made));
  made->memory = bytes;
  made->memory_left = size;
  SR_TRY(open_gzip(ctx, made));
  *source = made;
  made = NULL;
cleanup:
  sr__source_close(ctx, &made);
  return status;
}

void sr__source_close(sr_context *ctx, sr__source **source) {
  if (!source || !*source) return;
  sr__source *s = *source;
  if (s->compressed) {
    s->inflater.opaque = ctx;
    inflateEnd(&s->inflater);
  }
  if (s->descriptor >= 0) close(s->descriptor);
  sr__free(ctx, s->compressed);
  sr__free(ctx, s->returned);
  sr__free(ctx, s->name);
  sr__free(ctx, s);
  *source = NULL;
}

sr_status sr__source_read(sr_context *ctx, sr__source *source, void *buffer, size_t capacity,
                          size_t *got) {
  size_t ready = source->returned_count - source->returned_at;
  if (ready > capacity) ready = capacity;
  if (ready) memcpy(buffer, source->returned + source->returned_at, ready);
  source->returned_at += ready;
  *got = ready;
  if (ready == capacity) return SR_OK;
  size_t more = 0;
  sr_status status = source->compressed
                         ? read_gzip(ctx, source, (char *)buffer + ready, capacity - ready, &more)
                         : read_raw(ctx, source, (char *)buffer + ready, capacity - ready, &more);
  *got += more;
  return status;
}

sr_status sr__source_unread(sr_context *ctx, sr__source *source, const void *bytes, size_t count) {
  size_t waiting = source->returned_count - source->returned_at;
  char *joined = sr__alloc(ctx, (int64_t)(count + waiting), 1);
  if (!joined) return SR_ERROR_MEMORY;
  if (count) memcpy(joined, bytes, count);
  if (waiting) memcpy(joined + count, source->returned + source->returned_at, waiting);
  sr__free(ctx, source->returned);
  source->returned = joined;
  source->returned_at = 0;
  source->returned_count = count + waiting;
  return SR_OK;
}

sr_status sr__source_peek(sr_context *ctx, sr__source *source, void *buffer, size_t capacity,
                          size_t *got) {
  sr_status status = sr__source_read(ctx, source, buffer, capacity, got);
  return status == SR_OK ? sr__source_unread(ctx, source, buffer, *got) : status;
}

/* ---- lines -------------------------------------------------------------------------------- */

static sr_status read_more(sr_context *ctx, sr__lines *lines) {
  size_t used = lines->end - lines->begin;
  if (used) memmove(lines->buffer, lines->buffer + lines->begin, used);
  lines->begin = 0;
  lines->end = used;
  if (lines->capacity - used < LINE_BYTES) {
    if (used > LONGEST_LINE)
      return sr__fail_at(ctx, SR_ERROR_FORMAT, sr__source_name(lines->source), lines->number, 0,
                         "line %lld is longer than %zu bytes; is this a text file?",
                         (long long)lines->number, LONGEST_LINE);
    size_t capacity = lines->capacity * 2 + LINE_BYTES;
    char *grown = sr__resize(ctx, lines->buffer, (int64_t)capacity + LINE_PADDING, 1);
    if (!grown) return SR_ERROR_MEMORY;
    lines->buffer = grown;
    lines->capacity = capacity;
  }
  size_t room = lines->capacity - lines->end, got;
  sr_status status = sr__source_read(ctx, lines->source, lines->buffer + lines->end, room, &got);
  if (status != SR_OK) return status;
  lines->end += got;
  lines->at_end = got < room;
  memset(lines->buffer + lines->end, 0, LINE_PADDING);
  return SR_OK;
}

static sr_status fail_zero_byte(sr_context *ctx, const sr__lines *lines) {
  return sr__fail_at(ctx, SR_ERROR_FORMAT, sr__source_name(lines->source), lines->number, 0,
                     "line %lld holds a zero byte; expected a text file in UTF-8",
                     (long long)lines->number);
}

sr_status sr__lines_next(sr_context *ctx, sr__lines *lines, char **line, size_t *length) {
  size_t searched = 0;
  char *stop = NULL;
  *line = NULL;
  *length = 0;
  lines->number++;
  for (;;) {
    size_t ready = lines->end - lines->begin;
    if (ready > searched)
      stop = memchr(lines->buffer + lines->begin + searched, '\n', ready - searched);
    if (stop || lines->at_end) break;
    /* A stream of zeros has no line end: it is refused before it fills the memory. */
    if (ready > searched && memchr(lines->buffer + lines->begin + searched, 0, ready - searched))
      return fail_zero_byte(ctx, lines);
    searched = ready;
    sr_status status = read_more(ctx, lines);
    if (status != SR_OK) return status;
  }
  if (!stop && lines->begin == lines->end) return SR_OK;
  char *start = lines->buffer + lines->begin;
  if (!stop) stop = lines->buffer + lines->end;
  lines->begin += (size_t)(stop - start) + (stop < lines->buffer + lines->end);
  if (stop > start && stop[-1] == '\r') stop--;
  *stop = '\0';
  if (memchr(start, 0, (size_t)(stop - start))) return fail_zero_byte(ctx, lines);
  *line = start;
  *length = (size_t)(stop - start);
  return SR_OK;
}

sr_status sr__lines_return(sr_context *ctx, sr__lines *lines) {
  sr_status status = sr__source_unread(ctx, lines->source, lines->buffer + lines->begin,
                                       lines->end - lines->begin);
  sr__lines_free(ctx, lines);
  return status;
}

void sr__lines_free(sr_context *ctx, sr__lines *lines) {
  sr__free(ctx, lines->buffer);
  lines->buffer = NULL;
}
