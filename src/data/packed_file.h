/* Files that are written whole or not at all, packed with gzip where their name says so. Internal.
 */
#ifndef SR_DATA_PACKED_FILE_H
#define SR_DATA_PACKED_FILE_H

#include "core/core.h"

/* An atomic file, packed where its name ends in .gz. */
typedef struct sr__packed_file sr__packed_file;
SR_MUST_CHECK sr_status sr__packed_file_open(sr_context *ctx, const char *path,
                                             sr__packed_file **file);
SR_MUST_CHECK sr_status sr__packed_file_put(sr_context *ctx, sr__packed_file *file,
                                            const void *bytes, size_t count);
SR_MUST_CHECK sr_status sr__packed_file_commit(sr_context *ctx, sr__packed_file **file);
/* Null-safe; a no-op after commit. */
void sr__packed_file_abort(sr_context *ctx, sr__packed_file **file);

/* Whether the path ends in .gz. */
bool sr__path_is_packed(const char *path);

#endif
