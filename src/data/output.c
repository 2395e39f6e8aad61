#include "output.h"

#include <strings.h>
#include <zlib.h>

#include "text_source.h"

enum { PACKED_BYTES = 256 * 1024 };

struct sr__output {
  sr__writer *writer;
  z_stream deflater;
  unsigned char *packed; /* NULL for plain files */
};

sr_status sr__words_reserve(sr_context *ctx, sr__words *text, int64_t count) {
  sr_status status = SR_OK;
  SR_GROW(ctx, text->bytes, text->capacity, text->used + count);
cleanup:
  return status;
}

sr_status sr__words_put(sr_context *ctx, sr__words *text, const char *bytes, size_t count) {
  sr_status status = sr__words_reserve(ctx, text, (int64_t)count);
  if (status != SR_OK) return status;
  if (count) memcpy(text->bytes + text->used, bytes, count);
  text->used += (int64_t)count;
  return SR_OK;
}

static bool ends_with(const char *path, size_t length, const char *ending) {
  size_t count = strlen(ending);
  return length >= count && strncasecmp(path + length - count, ending, count) == 0;
}

static bool is_packed(const char *path) { return ends_with(path, strlen(path), ".gz"); }

bool sr__path_ends(const char *path, const char *ending) {
  return ends_with(path, strlen(path) - (is_packed(path) ? 3 : 0), ending);
}

static sr_status start_packing(sr_context *ctx, sr__output *output) {
  sr_status status = SR_OK;
  SR_NEW(ctx, output->packed, PACKED_BYTES);
  output->deflater =
      (z_stream){.zalloc = sr__zlib_allocate, .zfree = sr__zlib_release, .opaque = ctx};
  if (deflateInit2(&output->deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    sr__free(ctx, output->packed);
    output->packed = NULL;
    SR_TRY(sr__fail(ctx, SR_ERROR_MEMORY, "out of memory while packing with gzip"));
  }
cleanup:
  return status;
}

sr_status sr__output_open(sr_context *ctx, const char *path, sr__output **output) {
  sr_status status = SR_OK;
  sr__output *made = NULL;
  *output = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  SR_TRY(sr__writer_open(ctx, path, &made->writer));
  if (is_packed(path)) SR_TRY(start_packing(ctx, made));
  *output = made;
  made = NULL;
cleanup:
  sr__output_abort(ctx, &made);
  return status;
}

static sr_status pack(sr__output *output, const void *bytes, size_t count, int flush) {
  sr_status status = SR_OK;
  z_stream *z = &output->deflater;
  z->next_in = (unsigned char *)(uintptr_t)bytes;
  z->avail_in = (uInt)count;
  int code;
  do {
    z->next_out = output->packed;
    z->avail_out = PACKED_BYTES;
    code = deflate(z, flush);
    SR_TRY(sr__writer_put(output->writer, output->packed, PACKED_BYTES - z->avail_out));
  } while (z->avail_out == 0 || (flush == Z_FINISH && code != Z_STREAM_END));
cleanup:
  return status;
}

sr_status sr__output_put(sr_context *ctx, sr__output *output, const void *bytes, size_t count) {
  (void)ctx;
  if (!output->packed) return sr__writer_put(output->writer, bytes, count);
  sr_status status = SR_OK;
  for (size_t done = 0; done < count && status == SR_OK;) {
    size_t piece = count - done < (size_t)1 << 30 ? count - done : (size_t)1 << 30;
    status = pack(output, (const char *)bytes + done, piece, Z_NO_FLUSH);
    done += piece;
  }
  return status;
}

sr_status sr__output_commit(sr_context *ctx, sr__output **output) {
  sr_status status = SR_OK;
  if ((*output)->packed) SR_TRY(pack(*output, "", 0, Z_FINISH));
  SR_TRY(sr__writer_commit(&(*output)->writer));
cleanup:
  sr__output_abort(ctx, output);
  return status;
}

void sr__output_abort(sr_context *ctx, sr__output **output) {
  if (!output || !*output) return;
  sr__writer_abort(&(*output)->writer);
  if ((*output)->packed) deflateEnd(&(*output)->deflater);
  sr__free(ctx, (*output)->packed);
  sr__free(ctx, *output);
  *output = NULL;
}
