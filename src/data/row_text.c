#include "row_text.h"

#include "field_text.h"
#include "packed_file.h"
#include "print_number.h"

enum { CHUNK_ROWS = 2048, CHUNKS_AT_ONCE = 64 };

/* ---- fields ------------------------------------------------------------------------------- */

/* Text that would be cut, trimmed or taken for a missing value is put in quotes. */
static bool needs_quotes(const char *text, size_t length, char separator) {
  if (sr__is_missing(text, length)) return true;
  if (text[0] == ' ' || text[0] == '\t' || text[length - 1] == ' ' || text[length - 1] == '\t')
    return true;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == separator || text[i] == '"' || text[i] == '\n' || text[i] == '\r') return true;
  }
  return false;
}

sr_status sr__put_name(sr_context *ctx, sr__text *text, const char *name, char separator) {
  size_t length = strlen(name);
  if (!needs_quotes(name, length, separator)) return sr__text_put(ctx, text, name, length);
  sr_status status = SR_OK;
  SR_TRY(sr__text_reserve(ctx, text, 2 * (int64_t)length + 2));
  text->bytes[text->length++] = '"';
  for (size_t i = 0; i < length; i++) {
    if (name[i] == '"') text->bytes[text->length++] = '"';
    text->bytes[text->length++] = name[i];
  }
  text->bytes[text->length++] = '"';
cleanup:
  return status;
}

sr_status sr__put_code(sr_context *ctx, sr__text *text, const sr_dictionary *names, int32_t code,
                       char separator) {
  if (code < 0) return sr__text_put(ctx, text, "NA", 2);
  return sr__put_name(ctx, text, names->names[code], separator);
}

sr_status sr__put_double(sr_context *ctx, sr__text *text, double value) {
  sr_status status = sr__text_reserve(ctx, text, SR_NUMBER_BYTES);
  if (status == SR_OK)
    text->length = sr__print_double(value, text->bytes + text->length) - text->bytes;
  return status;
}

sr_status sr__put_float(sr_context *ctx, sr__text *text, float value) {
  sr_status status = sr__text_reserve(ctx, text, SR_NUMBER_BYTES);
  if (status == SR_OK)
    text->length = sr__print_float(value, text->bytes + text->length) - text->bytes;
  return status;
}

sr_status sr__put_char(sr_context *ctx, sr__text *text, char c) {
  return sr__text_put(ctx, text, &c, 1);
}

/* ---- chunks ------------------------------------------------------------------------------- */

typedef struct batch {
  sr__written_rows rows;
  int64_t first_row;
  sr__text texts[CHUNKS_AT_ONCE];
} batch;

static sr_status write_chunk(sr_context *worker, void *data, int64_t item, int slot) {
  (void)slot;
  batch *b = data;
  int64_t begin = b->first_row + item * CHUNK_ROWS, end = begin + CHUNK_ROWS;
  b->texts[item].length = 0;
  return b->rows.write(worker, b->rows.from, b->rows.separator, begin,
                       end < b->rows.count ? end : b->rows.count, &b->texts[item]);
}

static sr_status write_all_rows(sr_context *ctx, batch *b, sr__packed_file *file) {
  sr_status status = SR_OK;
  for (b->first_row = 0; b->first_row < b->rows.count;
       b->first_row += CHUNK_ROWS * CHUNKS_AT_ONCE) {
    int64_t chunks = (b->rows.count - b->first_row + CHUNK_ROWS - 1) / CHUNK_ROWS;
    if (chunks > CHUNKS_AT_ONCE) chunks = CHUNKS_AT_ONCE;
    SR_TRY(sr__parallel_for(ctx, chunks, write_chunk, b));
    for (int64_t c = 0; c < chunks; c++)
      SR_TRY(sr__packed_file_put(ctx, file, b->texts[c].bytes, (size_t)b->texts[c].length));
    sr__progress(ctx, "writing", b->first_row, b->rows.count);
  }
cleanup:
  for (int c = 0; c < CHUNKS_AT_ONCE; c++) sr__free(ctx, b->texts[c].bytes);
  return status;
}

sr_status sr__write_rows(sr_context *ctx, const char *path, const sr__text *header,
                         sr__written_rows rows) {
  sr_status status = SR_OK;
  sr__packed_file *file = NULL;
  batch b = {.rows = rows};
  SR_TRY(sr__packed_file_open(ctx, path, &file));
  if (header->length) SR_TRY(sr__packed_file_put(ctx, file, header->bytes, (size_t)header->length));
  SR_TRY(write_all_rows(ctx, &b, file));
  SR_TRY(sr__packed_file_commit(ctx, &file));
cleanup:
  sr__packed_file_abort(ctx, &file);
  return status;
}
