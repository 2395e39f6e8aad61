/* ROCKET as a transform that a ridge can stand behind. */
#include "learner/series/series_ridge.h"
#include "rocket.h"

enum { TILE_FILTERS = 512 };

static sr_status fit(sr_context *ctx, const sr__series_recipe *recipe,
                     const sr__series_cases *cases, sr__random *random, void **made) {
  const sr__rocket_options *options = recipe->options;
  sr__rocket *rocket = NULL;
  sr_status status = sr__rocket_draw(ctx, options->kernels, recipe->length, cases->rows->channels,
                                     random, &rocket);
  *made = rocket;
  return status;
}

static int64_t tiles(const void *made, int64_t *tile_begin) {
  const sr__rocket *rocket = made;
  int64_t number = 0;
  for (int32_t k = 0; k < rocket->filters; k += TILE_FILTERS, number++)
    if (tile_begin) tile_begin[number] = 2 * (int64_t)k;
  if (tile_begin) tile_begin[number] = 2 * (int64_t)rocket->filters;
  return number;
}

static sr_status make(sr_context *ctx, const void *made, int64_t tile, sr__made_blocks blocks) {
  const sr__rocket *rocket = made;
  int32_t first = (int32_t)tile * TILE_FILTERS, left = rocket->filters - first;
  return sr__rocket_transform(ctx, rocket, first, left < TILE_FILTERS ? left : TILE_FILTERS,
                              blocks);
}

static sr_status make_one(sr_context *ctx, const void *made, const sr__series_rows *rows, int64_t r,
                          float *out) {
  return sr__rocket_transform_one(ctx, made, rows, r, out);
}

static int32_t channels(const void *made) { return ((const sr__rocket *)made)->channels; }
static void save(const void *made, sr__bytes *bytes) { sr__rocket_save(made, bytes); }

static sr_status load(sr__byte_reader *reader, void **made) {
  sr__rocket *rocket = NULL;
  sr_status status = sr__rocket_load(reader, &rocket);
  *made = rocket;
  return status;
}

static void free_made(void *made) { sr__rocket_free(made); }

const sr__series_transform sr__rocket_series = {fit,      tiles, make, make_one,
                                                channels, save,  load, free_made};
