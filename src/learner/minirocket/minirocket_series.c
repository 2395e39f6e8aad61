/* MiniRocket as a transform that a ridge can stand behind. */
#include "learner/series/series_ridge.h"
#include "minirocket.h"

enum { TILE_FEATURES = 1024 };

/* Filters of one dilation that make a tile. */
static int32_t filters_of(const sr__minirocket *mini, int32_t d) {
  int32_t filters = TILE_FEATURES / mini->biases[d];
  return filters < 1 ? 1 : filters > SR__MINI_FILTERS ? SR__MINI_FILTERS : filters;
}

static sr_status fit(sr_context *ctx, const sr__series_recipe *recipe,
                     const sr__series_cases *cases, sr__random *random, void **made) {
  sr__minirocket *mini = NULL;
  sr__mini_sample sample = {cases->rows, {cases->row, cases->count}, recipe->length};
  sr_status status = sr__minirocket_fit(ctx, sample, recipe->options, random, &mini);
  *made = mini;
  return status;
}

static int64_t tiles(const void *made, int64_t *tile_begin) {
  const sr__minirocket *mini = made;
  int64_t number = 0;
  for (int32_t d = 0; d < mini->dilations; d++)
    for (int32_t k = 0; k < SR__MINI_FILTERS; k += filters_of(mini, d), number++)
      if (tile_begin) tile_begin[number] = mini->first[d] + (int64_t)k * mini->biases[d];
  if (tile_begin) tile_begin[number] = sr__minirocket_features(mini);
  return number;
}

static sr_status make(sr_context *ctx, const void *made, int64_t tile, sr__made_blocks blocks) {
  const sr__minirocket *mini = made;
  int32_t d = 0, filters = filters_of(mini, 0);
  for (;; tile -= (SR__MINI_FILTERS + filters - 1) / filters, d++) {
    filters = filters_of(mini, d);
    if (tile < (SR__MINI_FILTERS + filters - 1) / filters) break;
  }
  int32_t first = (int32_t)tile * filters, left = SR__MINI_FILTERS - first;
  return sr__minirocket_transform(ctx, mini,
                                  (sr__mini_filters){d, first, left < filters ? left : filters},
                                  blocks);
}

static sr_status make_one(sr_context *ctx, const void *made, const sr__series_rows *rows, int64_t r,
                          float *out) {
  return sr__minirocket_transform_one(ctx, made, rows, r, out);
}

static int32_t channels(const void *made) { return ((const sr__minirocket *)made)->channels; }
static void save(const void *made, sr__bytes *bytes) { sr__minirocket_save(made, bytes); }

static sr_status load(sr__byte_reader *reader, void **made) {
  sr__minirocket *mini = NULL;
  sr_status status = sr__minirocket_load(reader, &mini);
  *made = mini;
  return status;
}

static void free_made(void *made) { sr__minirocket_free(made); }

const sr__series_transform sr__minirocket_series = {fit,      tiles, make, make_one,
                                                    channels, save,  load, free_made};
