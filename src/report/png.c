/* Palette pictures as PNG, written into an address. */
#include <zlib.h>

#include "draw.h"

static void put_u32(uint8_t *to, uint32_t value) {
  for (int k = 0; k < 4; k++) to[k] = (uint8_t)(value >> (24 - 8 * k));
}

/* Length, name, bytes and check sum. */
static sr_status chunk(sr_context *ctx, sr__text *out, const char *name, const uint8_t *bytes,
                       int64_t count) {
  sr_status status = SR_OK;
  uint8_t head[8], tail[4];
  put_u32(head, (uint32_t)count);
  memcpy(head + 4, name, 4);
  uLong sum = crc32(0, head + 4, 4);
  if (count) sum = crc32(sum, bytes, (uInt)count);
  put_u32(tail, (uint32_t)sum);
  SR_TRY(sr__text_put(ctx, out, (const char *)head, 8));
  if (count) SR_TRY(sr__text_put(ctx, out, (const char *)bytes, count));
  SR_TRY(sr__text_put(ctx, out, (const char *)tail, 4));
cleanup:
  return status;
}

/* Rows, each behind a zero that says "not filtered", deflated. */
static sr_status image_data(sr_context *ctx, const uint8_t *pixel, int32_t width, int32_t height,
                            sr__text *out) {
  sr_status status = SR_OK;
  uint8_t *rows = NULL, *packed = NULL;
  int64_t raw = (int64_t)height * (width + 1);
  uLongf length = compressBound((uLong)raw);
  SR_NEW_ZERO(ctx, rows, raw);
  SR_NEW(ctx, packed, (int64_t)length);
  for (int32_t y = 0; y < height; y++)
    memcpy(rows + (int64_t)y * (width + 1) + 1, pixel + (int64_t)y * width, (size_t)width);
  if (compress2(packed, &length, rows, (uLong)raw, 9) != Z_OK) {
    status = SR_ERROR_MEMORY;
    goto cleanup;
  }
  SR_TRY(chunk(ctx, out, "IDAT", packed, (int64_t)length));
cleanup:
  sr__free(ctx, rows);
  sr__free(ctx, packed);
  return status;
}

static sr_status base64(sr_context *ctx, const char *bytes, int64_t count, sr__text *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  sr_status status = SR_OK;
  const uint8_t *b = (const uint8_t *)bytes;
  SR_TRY(sr__text_reserve(ctx, out, 4 * ((count + 2) / 3)));
  for (int64_t i = 0; i < count; i += 3) {
    uint32_t three = (uint32_t)b[i] << 16 | (i + 1 < count ? (uint32_t)b[i + 1] << 8 : 0) |
                     (i + 2 < count ? b[i + 2] : 0);
    char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                    i + 1 < count ? digits[three >> 6 & 63] : '=',
                    i + 2 < count ? digits[three & 63] : '='};
    SR_TRY(sr__text_put(ctx, out, four, 4));
  }
cleanup:
  return status;
}

sr_status sr__png_address(sr_context *ctx, const sr__picture *picture, sr__text *out) {
  sr_status status = SR_OK;
  sr__text png = {0};
  uint8_t header[13] = {0};
  put_u32(header, (uint32_t)picture->width);
  put_u32(header + 4, (uint32_t)picture->height);
  header[8] = 8; /* bits per pixel */
  header[9] = 3; /* palette */
  SR_TRY(sr__text_put(ctx, &png, "\x89PNG\r\n\x1a\n", 8));
  SR_TRY(chunk(ctx, &png, "IHDR", header, sizeof header));
  SR_TRY(chunk(ctx, &png, "PLTE", picture->palette, 3 * (int64_t)picture->colors));
  SR_TRY(chunk(ctx, &png, "tRNS", (const uint8_t[]){0}, 1));
  SR_TRY(image_data(ctx, picture->pixel, picture->width, picture->height, &png));
  SR_TRY(chunk(ctx, &png, "IEND", NULL, 0));
  SR_TRY(sr__text_string(ctx, out, "data:image/png;base64,"));
  SR_TRY(base64(ctx, png.bytes, png.length, out));
cleanup:
  sr__free(ctx, png.bytes);
  return status;
}
