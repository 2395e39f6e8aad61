/* Bytes of a file, of standard input or of memory, gunzipped on the way. Internal. */
#ifndef SR_DATA_SOURCE_H
#define SR_DATA_SOURCE_H

#include "core/core.h"

typedef struct sr__source sr__source;

/* Path "-" is standard input. gzip is told by its first bytes, not by the name. */
SR_MUST_CHECK sr_status sr__source_open(sr_context *ctx, const char *path, sr__source **source);
/* `bytes` must outlive the source. */
SR_MUST_CHECK sr_status sr__source_open_memory(sr_context *ctx, const void *bytes, size_t size,
                                               const char *name, sr__source **source);
/* How many bytes a threaded reader takes at a time; what is read does not depend on it. */
void sr__source_set_step(sr__source *source, size_t step);
size_t sr__source_step(const sr__source *source);
/* `most`, or less where the input is known to be shorter: how much a buffer need hold. */
size_t sr__source_room(const sr__source *source, size_t most);
void sr__source_close(sr_context *ctx, sr__source **source);
/* Fills the buffer unless the input ends before; *got below `capacity` means the end. */
SR_MUST_CHECK sr_status sr__source_read(sr_context *ctx, sr__source *source, void *buffer,
                                        size_t capacity, size_t *got);
/* As sr__source_read, but what was read comes again. */
SR_MUST_CHECK sr_status sr__source_peek(sr_context *ctx, sr__source *source, void *buffer,
                                        size_t capacity, size_t *got);
/* Puts bytes back, so that the next read gives them again. */
SR_MUST_CHECK sr_status sr__source_unread(sr_context *ctx, sr__source *source, const void *bytes,
                                          size_t count);
/* The name for messages: "standard input" for "-". */
const char *sr__source_name(const sr__source *source);

/* Memory of zlib's streams through a context, which is their `opaque`. */
void *sr__zlib_allocate(void *ctx, unsigned items, unsigned size);
void sr__zlib_release(void *ctx, void *block);

/* ---- lines -------------------------------------------------------------------------------- */

/* Lines of a source, one after the other. A struct of zeros with the source set is ready. */
typedef struct sr__lines {
  sr__source *source;
  int64_t number; /* of the present line, from 1 */
  char *buffer;
  size_t capacity, begin, end;
  bool at_end;
} sr__lines;

/* The next line without its end, zero terminated and followed by 16 readable bytes; NULL after the
 * last. Valid until the next call. */
SR_MUST_CHECK sr_status sr__lines_next(sr_context *ctx, sr__lines *lines, char **line,
                                       size_t *length);
/* Gives what was read ahead back to the source and frees the buffer. */
SR_MUST_CHECK sr_status sr__lines_return(sr_context *ctx, sr__lines *lines);
void sr__lines_free(sr_context *ctx, sr__lines *lines);

#endif
