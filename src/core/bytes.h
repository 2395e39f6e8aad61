/* Growing byte buffers and bounded readers, little-endian: the pieces that model files are made of.
 * Both are sticky: after the first failure every call is a no-op (reads give 0), so that a save or
 * a load is written without a check a line and asks for the status once. */
#ifndef SR_CORE_BYTES_H
#define SR_CORE_BYTES_H

#include "core.h"

/* ---- writing ------------------------------------------------------------------------------ */

/* A zeroed struct with `ctx` set is an empty buffer; free with sr__bytes_free. */
typedef struct sr__bytes {
  sr_context *ctx;
  uint8_t *data;
  int64_t size;
  int64_t capacity;
  sr_status status;
} sr__bytes;

void sr__bytes_free(sr__bytes *bytes);
void sr__put_raw(sr__bytes *bytes, const void *from, int64_t count);
void sr__put_u8(sr__bytes *bytes, uint8_t value);
void sr__put_u32(sr__bytes *bytes, uint32_t value);
void sr__put_u64(sr__bytes *bytes, uint64_t value);
void sr__put_f32(sr__bytes *bytes, float value);
void sr__put_f64(sr__bytes *bytes, double value);
/* A copy of a text, with a final zero, to be freed with sr_bytes_free. */
SR_MUST_CHECK sr_status sr__give_text(sr_context *ctx, const char *text, int64_t length,
                                      char **given);
/* A copy of what was written, to be freed with sr_bytes_free. */
SR_MUST_CHECK sr_status sr__bytes_hand_over(sr_context *ctx, const sr__bytes *bytes, void **copy,
                                            int64_t *count);
/* Length first; NULL is written as the empty string. */
void sr__put_string(sr__bytes *bytes, const char *text);

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct sr__byte_reader {
  sr_context *ctx;
  const uint8_t *data;
  int64_t size;
  int64_t at;
  const char *what; /* of what the bytes are, for the error: "the model" */
  sr_status status;
} sr__byte_reader;

uint8_t sr__get_u8(sr__byte_reader *reader);
uint32_t sr__get_u32(sr__byte_reader *reader);
uint64_t sr__get_u64(sr__byte_reader *reader);
float sr__get_f32(sr__byte_reader *reader);
double sr__get_f64(sr__byte_reader *reader);
/* Zeros where the bytes end before. */
void sr__get_raw(sr__byte_reader *reader, void *to, int64_t count);
/* A u64 that counts items of at least `item_size` >= 1 bytes each which follow: fails where they
 * cannot fit into what is left, so that a damaged count never makes a huge allocation. */
int64_t sr__get_count(sr__byte_reader *reader, int64_t item_size);
/* A copy to be freed with sr__free; NULL on failure. */
char *sr__get_string(sr__byte_reader *reader);
/* Marks the bytes as damaged: SR_ERROR_FORMAT with the place and the reason. */
void sr__get_refuse(sr__byte_reader *reader, const char *reason);

#endif
