/* Fitted members (of a search: what its tries came to) on disk, so that work which was cut off goes
 * on where it was. Internal.
 *
 * A member is known by a key of all that it depends on: rows, learner, bag and stream. Members are
 * appended as they are done. A record that was cut short is dropped when the file is opened. */
#ifndef SR_ENSEMBLE_MEMBER_STORE_H
#define SR_ENSEMBLE_MEMBER_STORE_H

#include "core/bytes.h"
#include "core/core.h"

typedef struct sr__member_store sr__member_store;

/* Two hashes of the same bytes: none of the members that a training makes shares both by accident.
 */
typedef struct sr__member_key {
  uint64_t word[2];
} sr__member_key;

void sr__member_key_add(sr__member_key *key, const void *bytes, int64_t count);

/* Makes the file where there is none. Free with sr__member_store_close, which keeps the file.
 * Errors: SR_ERROR_IO, SR_ERROR_FORMAT (the file is something else), SR_ERROR_MEMORY. */
SR_MUST_CHECK sr_status sr__member_store_open(sr_context *ctx, const char *path,
                                              sr__member_store **store);
void sr__member_store_close(sr__member_store **store);
/* The bytes of a member that was there when the file was opened; NULL: not there. */
const uint8_t *sr__member_store_find(const sr__member_store *store, const sr__member_key *key,
                                     int64_t *size);
/* May be called from several threads. Errors: SR_ERROR_IO, SR_ERROR_MEMORY. */
SR_MUST_CHECK sr_status sr__member_store_add(sr_context *ctx, sr__member_store *store,
                                             const sr__member_key *key, const sr__bytes *member);

#endif
