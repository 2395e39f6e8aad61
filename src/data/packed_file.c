#include "packed_file.h"

#include <strings.h>
#include <zlib.h>

#include "source.h"

enum { PACKED_BYTES = 256 * 1024 };

struct sr__packed_file {
  sr__writer *writer;
  z_stream deflater;
  unsigned char *packed; /* NULL for plain files */
};

bool sr__path_is_packed(const char *path) {
  size_t length = strlen(path);
  return length >= 3 && strcasecmp(path + length - 3, ".gz") == 0;
}

static sr_status start_packing(sr_context *ctx, sr__packed_file *file) {
  sr_status status = SR_OK;
  SR_NEW(ctx, file->packed, PACKED_BYTES);
  file->deflater =
      (z_stream){.zalloc = sr__zlib_allocate, .zfree = sr__zlib_release, .opaque = ctx};
  if (deflateInit2(&file->deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    sr__free(ctx, file->packed);
    file->packed = NULL;
    SR_TRY(sr__fail(ctx, SR_ERROR_MEMORY, "out of memory while packing with gzip"));
  }
cleanup:
  return status;
}

sr_status sr__packed_file_open(sr_context *ctx, const char *path, sr__packed_file **file) {
  sr_status status = SR_OK;
  sr__packed_file *made = NULL;
  *file = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  SR_TRY(sr__writer_open(ctx, path, &made->writer));
  if (sr__path_is_packed(path)) SR_TRY(start_packing(ctx, made));
  *file = made;
  made = NULL;
cleanup:
  sr__packed_file_abort(ctx, &made);
  return status;
}

static sr_status pack(sr__packed_file *file, const void *bytes, size_t count, int flush) {
  sr_status status = SR_OK;
  z_stream *z = &file->deflater;
  z->next_in = (unsigned char *)(uintptr_t)bytes;
  z->avail_in = (uInt)count;
  int code;
  do {
    z->next_out = file->packed;
    z->avail_out = PACKED_BYTES;
    code = deflate(z, flush);
    SR_TRY(sr__writer_put(file->writer, file->packed, PACKED_BYTES - z->avail_out));
  } while (z->avail_out == 0 || (flush == Z_FINISH && code != Z_STREAM_END));
cleanup:
  return status;
}

sr_status sr__packed_file_put(sr_context *ctx, sr__packed_file *file, const void *bytes,
                              size_t count) {
  (void)ctx;
  if (!file->packed) return sr__writer_put(file->writer, bytes, count);
  sr_status status = SR_OK;
  for (size_t done = 0; done < count && status == SR_OK;) {
    size_t piece = count - done < (size_t)1 << 30 ? count - done : (size_t)1 << 30;
    status = pack(file, (const char *)bytes + done, piece, Z_NO_FLUSH);
    done += piece;
  }
  return status;
}

sr_status sr__packed_file_commit(sr_context *ctx, sr__packed_file **file) {
  sr_status status = SR_OK;
  if ((*file)->packed) SR_TRY(pack(*file, "", 0, Z_FINISH));
  SR_TRY(sr__writer_commit(&(*file)->writer));
cleanup:
  sr__packed_file_abort(ctx, file);
  return status;
}

void sr__packed_file_abort(sr_context *ctx, sr__packed_file **file) {
  if (!file || !*file) return;
  sr__writer_abort(&(*file)->writer);
  if ((*file)->packed) deflateEnd(&(*file)->deflater);
  sr__free(ctx, (*file)->packed);
  sr__free(ctx, *file);
  *file = NULL;
}
