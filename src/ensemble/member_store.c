#include "member_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model_file.h"

/* The file: 8 bytes that name it, then records of key, size, checksum and the member's bytes. */
static const char MAGIC[8] = "srmember";
enum { HEAD_BYTES = 8 + 8 + 8 + 4 };

typedef struct stored_member {
  sr__member_key key;
  int64_t at, size; /* of the bytes */
} stored_member;

struct sr__member_store {
  sr_allocator allocator;
  char *path;
  int descriptor;
  bool has_mutex;
  pthread_mutex_t mutex;
  uint8_t *bytes; /* the file as it was opened */
  int64_t size;
  stored_member *member; /* sorted by key */
  int64_t count, capacity;
};

void sr__member_key_add(sr__member_key *key, const void *bytes, int64_t count) {
  static const uint64_t factor[2] = {0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u};
  const uint8_t *from = bytes;
  for (int64_t at = 0; at < count; at += 8) {
    uint64_t word = 0;
    memcpy(&word, from + at, (size_t)(count - at < 8 ? count - at : 8));
    for (int k = 0; k < 2; k++) {
      uint64_t h = (key->word[k] ^ word) * factor[k];
      key->word[k] = h ^ h >> 29;
    }
  }
  /* Where one piece ends and the next begins counts too. */
  for (int k = 0; k < 2; k++) key->word[k] = (key->word[k] + (uint64_t)count) * factor[k];
}

static int compare_keys(const void *a, const void *b) {
  const sr__member_key *x = &((const stored_member *)a)->key, *y = &((const stored_member *)b)->key;
  for (int k = 0; k < 2; k++)
    if (x->word[k] != y->word[k]) return x->word[k] < y->word[k] ? -1 : 1;
  return 0;
}

static sr_status fail_store(sr_context *ctx, const sr__member_store *store, const char *verb) {
  return sr__fail_at(ctx, SR_ERROR_IO, store->path, 0, 0, "cannot %s '%s': %s", verb, store->path,
                     strerror(errno));
}

void sr__member_store_close(sr__member_store **store) {
  sr__member_store *s = *store;
  if (!s) return;
  sr_allocator allocator = s->allocator;
  if (s->descriptor >= 0) close(s->descriptor);
  if (s->has_mutex) pthread_mutex_destroy(&s->mutex);
  sr__release(&allocator, s->path);
  sr__release(&allocator, s->bytes);
  sr__release(&allocator, s->member);
  sr__release(&allocator, s);
  *store = NULL;
}

static sr_status read_bytes(sr_context *ctx, sr__member_store *s) {
  sr_status status = SR_OK;
  struct stat info;
  if (fstat(s->descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) errno = EISDIR;
    SR_TRY(fail_store(ctx, s, "keep members in"));
  }
  SR_NEW(ctx, s->bytes, info.st_size);
  while (s->size < info.st_size) {
    ssize_t got = read(s->descriptor, s->bytes + s->size, (size_t)(info.st_size - s->size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) SR_TRY(fail_store(ctx, s, "read"));
    if (got == 0) break;
    s->size += got;
  }
cleanup:
  return status;
}

/* Whole records up to the first that was cut short; `end` is where that begins. */
static sr_status find_records(sr_context *ctx, sr__member_store *s, int64_t *end) {
  sr_status status = SR_OK;
  *end = sizeof MAGIC;
  while (*end + HEAD_BYTES <= s->size) {
    sr__byte_reader head = {ctx, s->bytes + *end, HEAD_BYTES, 0, "the stored members", SR_OK};
    stored_member found = {.at = *end + HEAD_BYTES};
    for (int k = 0; k < 2; k++) found.key.word[k] = sr__get_u64(&head);
    uint64_t size = sr__get_u64(&head);
    if (size > (uint64_t)(s->size - found.at)) break;
    found.size = (int64_t)size;
    if (sr__get_u32(&head) != sr__model_checksum(s->bytes + found.at, found.size)) break;
    SR_GROW(ctx, s->member, s->capacity, s->count + 1);
    s->member[s->count++] = found;
    *end = found.at + found.size;
  }
  if (s->count > 0) qsort(s->member, (size_t)s->count, sizeof *s->member, compare_keys);
cleanup:
  return status;
}

static sr_status write_all(sr_context *ctx, sr__member_store *s, const uint8_t *bytes,
                           int64_t size) {
  for (int64_t done = 0; done < size;) {
    ssize_t wrote = write(s->descriptor, bytes + done, (size_t)(size - done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail_store(ctx, s, "write to");
    done += wrote;
  }
  return SR_OK;
}

sr_status sr__member_store_open(sr_context *ctx, const char *path, sr__member_store **store) {
  sr_status status = SR_OK;
  sr__member_store *made = NULL;
  int64_t end = 0;
  *store = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->descriptor = -1;
  made->path = sr__strdup(ctx, path);
  if (!made->path) SR_TRY(SR_ERROR_MEMORY);
  made->has_mutex = pthread_mutex_init(&made->mutex, NULL) == 0;
  if (!made->has_mutex) SR_TRY(SR_ERROR_MEMORY);
  made->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (made->descriptor < 0) SR_TRY(fail_store(ctx, made, "keep members in"));
  SR_TRY(read_bytes(ctx, made));
  if (made->size == 0) {
    SR_TRY(write_all(ctx, made, (const uint8_t *)MAGIC, sizeof MAGIC));
  } else if (made->size < (int64_t)sizeof MAGIC || memcmp(made->bytes, MAGIC, sizeof MAGIC) != 0) {
    SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, path, 0, 0,
                       "'%s' is not a file of members that a training keeps; name another", path));
  } else {
    SR_TRY(find_records(ctx, made, &end));
    if (ftruncate(made->descriptor, end) != 0 || lseek(made->descriptor, end, SEEK_SET) < 0)
      SR_TRY(fail_store(ctx, made, "write to"));
  }
  *store = made;
  made = NULL;
cleanup:
  sr__member_store_close(&made);
  return status;
}

const uint8_t *sr__member_store_find(const sr__member_store *store, const sr__member_key *key,
                                     int64_t *size) {
  const stored_member wanted = {.key = *key};
  const stored_member *found =
      store->count > 0
          ? bsearch(&wanted, store->member, (size_t)store->count, sizeof wanted, compare_keys)
          : NULL;
  if (!found) return NULL;
  *size = found->size;
  return store->bytes + found->at;
}

sr_status sr__member_store_add(sr_context *ctx, sr__member_store *store, const sr__member_key *key,
                               const sr__bytes *member) {
  sr_status status = SR_OK;
  sr__bytes record = {.ctx = ctx};
  for (int k = 0; k < 2; k++) sr__put_u64(&record, key->word[k]);
  sr__put_u64(&record, (uint64_t)member->size);
  sr__put_u32(&record, sr__model_checksum(member->data, member->size));
  sr__put_raw(&record, member->data, member->size);
  SR_TRY(record.status);
  pthread_mutex_lock(&store->mutex);
  status = write_all(ctx, store, record.data, record.size);
  pthread_mutex_unlock(&store->mutex);
cleanup:
  sr__bytes_free(&record);
  return status;
}
