/* Bytes as a model file. Length and checksum are made right first, so that the fuzzer reaches the
 * inside; a model that is read must be able to vote. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ensemble/model_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *bytes, size_t size) {
  uint64_t length = size - SR_MODEL_HEADER_BYTES - SR_MODEL_CHECKSUM_BYTES;
  uint32_t version = SR_MODEL_VERSION;
  memcpy(bytes, SR_MODEL_MAGIC, SR_MODEL_MAGIC_BYTES);
  memcpy(bytes + 8, &version, sizeof version);
  memcpy(bytes + 12, &length, sizeof length);
  uint32_t sum = sr__model_checksum(bytes, (int64_t)(size - SR_MODEL_CHECKSUM_BYTES));
  memcpy(bytes + size - SR_MODEL_CHECKSUM_BYTES, &sum, sizeof sum);
}

/* A block larger than this is refused: a model may name series of 2^26 values, whose tables take
 * gigabytes, and is then out of memory. */
enum { LARGEST_BLOCK = 1 << 28 };

static void *allocate(void *data, size_t bytes) {
  (void)data;
  return bytes > LARGEST_BLOCK ? NULL : malloc(bytes);
}

static void *resize(void *data, void *block, size_t bytes) {
  (void)data;
  return bytes > LARGEST_BLOCK ? NULL : realloc(block, bytes);
}

static void release(void *data, void *block) {
  (void)data;
  free(block);
}

/* Features, and series of several lengths with gaps. */
static void vote(sr_context *ctx, const sr_ensemble *ensemble) {
  enum { ROWS = 3, MOST_FEATURES = 1000, MOST_CHANNELS = 20, LONGEST = 40 };
  int64_t features = sr_ensemble_get(ensemble)->features, at = 0;
  int32_t channels = sr_ensemble_get(ensemble)->channels;
  if (features > MOST_FEATURES || channels > MOST_CHANNELS) return;
  static float x[ROWS * MOST_FEATURES], series[ROWS * MOST_CHANNELS * LONGEST];
  static int64_t offset[ROWS * MOST_CHANNELS + 1];
  int32_t label[ROWS];
  for (int64_t k = 0; k < ROWS * features; k++) x[k] = (float)(k % 7) - 3.0f;
  for (int64_t i = 0; i < (int64_t)ROWS * channels; i++) {
    for (int64_t t = 0; t < LONGEST - 13 * (i / channels); t++)
      series[at++] = t % 11 == 5 ? NAN : (float)((t * t + i) % 17) - 8.0f;
    offset[i + 1] = at;
  }
  sr_table_view view = {.rows = ROWS,
                        .features = features,
                        .x = x,
                        .channels = channels,
                        .series_offset = channels ? offset : NULL,
                        .series = channels ? series : NULL};
  sr_table *table = NULL;
  if (sr_table_new(ctx, &view, &table) == SR_OK &&
      sr_ensemble_predict(ctx, ensemble, table, label, NULL) == SR_OK) {
    for (int i = 0; i < ROWS; i++)
      if (label[i] >= sr_ensemble_get(ensemble)->classes.count) abort();
  }
  sr_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < SR_MODEL_HEADER_BYTES + SR_MODEL_CHECKSUM_BYTES) return 0;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  options.allocator = (sr_allocator){allocate, resize, release, NULL};
  sr_context *ctx = NULL;
  uint8_t *bytes = malloc(size);
  if (!bytes || sr_context_new(&options, &ctx) != SR_OK) abort();
  memcpy(bytes, data, size);
  seal(bytes, size);
  sr_ensemble *ensemble = NULL;
  if (sr_ensemble_from_bytes(ctx, bytes, (int64_t)size, &ensemble) == SR_OK) vote(ctx, ensemble);
  sr_ensemble_free(&ensemble);
  sr_context_free(&ctx);
  free(bytes);
  return 0;
}
