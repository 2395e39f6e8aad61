/* The encoder, and rows as features: floats to be predicted, bins to be learned from. */
#include <math.h>

#include "quant_kernel.h"

/* ---- encoder ------------------------------------------------------------------------------ */

void sr__quant_free_encoder(sr__encoder *old) {
  if (!old) return;
  sr_allocator allocator = old->allocator;
  for (int32_t s = 0; s < old->shapes; s++) sr__quant_shape_free(&old->shape[s]);
  sr__release(&allocator, old->length);
  sr__release(&allocator, old->shape);
  sr__release(&allocator, old->shape_of);
  sr__release(&allocator, old->first);
  sr__release(&allocator, old->feature_at);
  sr__release(&allocator, old->place_of);
  sr__release(&allocator, old->edge);
  sr__release(&allocator, old);
}

/* One shape per length that occurs, and the numbers of the features. */
static sr_status add_shapes(sr_context *ctx, sr__encoder *encoder) {
  sr_status status = SR_OK;
  int64_t features = 0;
  SR_NEW(ctx, encoder->shape_of, encoder->channels);
  SR_NEW(ctx, encoder->first, encoder->channels);
  SR_NEW_ZERO(ctx, encoder->shape, encoder->channels);
  for (int32_t c = 0; c < encoder->channels; c++) {
    int32_t s = 0;
    while (s < encoder->shapes && encoder->shape[s]->length != encoder->length[c]) s++;
    if (s == encoder->shapes) {
      SR_TRY(sr__quant_shape_new(ctx, encoder->length[c], &encoder->shape[s]));
      encoder->shapes++;
    }
    encoder->shape_of[c] = s;
    encoder->first[c] = (int32_t)features;
    features += encoder->shape[s]->features;
    if (features > INT32_MAX - SR__QUANT_TILE)
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "the series of a row have more than %d features; take fewer channels or "
                      "shorter series",
                      INT32_MAX - SR__QUANT_TILE));
  }
  encoder->features = (int32_t)features;
cleanup:
  return status;
}

/* Neighboring features tell much the same: in tiles of a random order a node sees many kinds. */
static sr_status add_places(sr_context *ctx, sr__encoder *encoder) {
  sr_status status = SR_OK;
  sr__random random;
  encoder->tiles = (encoder->features + SR__QUANT_TILE - 1) / SR__QUANT_TILE;
  int64_t places = (int64_t)encoder->tiles * SR__QUANT_TILE;
  SR_NEW(ctx, encoder->feature_at, places);
  SR_NEW(ctx, encoder->place_of, encoder->features);
  for (int64_t i = 0; i < places; i++)
    encoder->feature_at[i] = i < encoder->features ? (int32_t)i : -1;
  sr__random_init(&random, (uint64_t)encoder->features, SR_PURPOSE_LEARNER, 0, 0);
  sr__random_shuffle(&random, encoder->feature_at, places);
  for (int64_t i = 0; i < places; i++)
    if (encoder->feature_at[i] >= 0) encoder->place_of[encoder->feature_at[i]] = (int32_t)i;
cleanup:
  return status;
}

sr_status sr__quant_encoder_new(sr_context *ctx, const sr__even_shape *shape,
                                sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->classes = shape->classes;
  made->channels = shape->channels;
  SR_NEW(ctx, made->length, shape->channels);
  memcpy(made->length, shape->length, sizeof *shape->length * (size_t)shape->channels);
  SR_TRY(add_shapes(ctx, made));
  SR_TRY(add_places(ctx, made));
  *encoder = made;
  made = NULL;
cleanup:
  sr__quant_free_encoder(made);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

enum { ALIGNED = 64 };

void sr__quant_free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->memory);
  sr__release(&allocator, rows);
}

static int64_t blocks_of(int64_t rows) { return (rows + SR__QUANT_LANES - 1) / SR__QUANT_LANES; }

/* With room for floats or for bins. */
static sr_status new_rows(sr_context *ctx, const sr__encoder *encoder, int64_t count, bool binned,
                          sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  *rows = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->count = count;
  made->features = encoder->features;
  made->tiles = encoder->tiles;
  int64_t many = binned ? encoder->tiles : encoder->features;
  int64_t each = binned ? SR__QUANT_TILE : SR__QUANT_LANES * (int64_t)sizeof(float);
  int64_t items = binned ? count : blocks_of(count);
  if (items > (INT64_MAX - 2 * ALIGNED) / each / many)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "cannot hold %lld rows of %d features",
                    (long long)count, encoder->features));
  made->memory = sr__alloc(ctx, items * many * each + ALIGNED, 1);
  if (!made->memory) SR_TRY(sr_context_error(ctx).status);
  char *aligned = (char *)made->memory + (ALIGNED - (uintptr_t)made->memory % ALIGNED) % ALIGNED;
  if (binned)
    made->bin = (uint8_t *)aligned;
  else
    made->value = (float *)(void *)aligned;
  *rows = made;
  made = NULL;
cleanup:
  sr__quant_free_encoded(made);
  return status;
}

/* ---- features ----------------------------------------------------------------------------- */

static sr_status check_channels(sr_context *ctx, const sr__encoder *encoder,
                                const sr__series_view *series) {
  if (series->channels != encoder->channels)
    return sr__fail(ctx, SR_ERROR_DATA, "the rows have %d series each; the model was trained on %d",
                    series->channels, encoder->channels);
  return SR_OK;
}

/* `count` rows spread evenly over [first, first + total): all of them where count is total. */
typedef struct chosen_rows {
  int64_t first, count, total;
} chosen_rows;

static int64_t chosen_row(const chosen_rows *chosen, int64_t i) {
  return chosen->first + (int64_t)((__int128)(2 * i + 1) * chosen->total / (2 * chosen->count));
}

/* Eight of the chosen rows, from number `at`; the last one again where there are fewer. */
static void transform_block(const sr__encoder *encoder, const sr__series_view *series,
                            const chosen_rows *chosen, int64_t at, sr__quant_scratch *scratch,
                            float *out) {
  for (int32_t c = 0; c < encoder->channels; c++) {
    for (int64_t j = 0; j < SR__QUANT_LANES; j++) {
      int64_t i = at + j < chosen->count ? at + j : chosen->count - 1;
      sr__even_series(series, chosen_row(chosen, i), c, encoder->length[c], SR__QUANT_LANES,
                      scratch->series + j);
    }
    sr__quant_kernel_now()->features(encoder->shape[encoder->shape_of[c]], scratch,
                                     out + (int64_t)encoder->first[c] * SR__QUANT_LANES);
  }
}

/* One item of work: some blocks of rows. */
typedef struct transform_work {
  const sr__encoder *encoder;
  const sr__series_view *series;
  chosen_rows chosen;
  int64_t chunk_rows;
  sr__encoded *values; /* written, or read where bins are made of them; NULL: streamed */
  sr__encoded *bins;
} transform_work;

static sr_status transform_rows(sr_context *ctx, const transform_work *work, int64_t begin,
                                int64_t end, float *out) {
  sr_status status = SR_OK;
  sr__quant_scratch scratch = {0};
  SR_TRY(sr__quant_scratch_new(ctx, work->encoder->shape, work->encoder->shapes, &scratch));
  for (int64_t i = begin; i < end; i += SR__QUANT_LANES) {
    SR_TRY(sr__check_interrupt(ctx));
    transform_block(work->encoder, work->series, &work->chosen, i, &scratch, out);
    out += (int64_t)work->encoder->features * SR__QUANT_LANES;
  }
cleanup:
  sr__quant_scratch_free(ctx, &scratch);
  return status;
}

static int64_t chunk_end(const transform_work *work, int64_t chunk) {
  int64_t end = (chunk + 1) * work->chunk_rows;
  return end < work->chosen.count ? end : work->chosen.count;
}

static sr_status transform_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)slot;
  const transform_work *work = data;
  int64_t begin = chunk * work->chunk_rows;
  return transform_rows(ctx, work, begin, chunk_end(work, chunk),
                        work->values->value + begin * work->encoder->features);
}

/* About 2 MB of floats, in whole blocks: few enough that they stay near, enough of them to share
 * the edges of a feature. */
static int64_t rows_of_a_chunk(const sr__encoder *encoder) {
  int64_t rows = ((int64_t)1 << 19) / encoder->features / SR__QUANT_LANES * SR__QUANT_LANES;
  return rows < 64 ? 64 : rows > 512 ? 512 : rows;
}

static sr_status values_of(sr_context *ctx, const sr__encoder *encoder,
                           const sr__series_view *series, chosen_rows chosen, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  *rows = NULL;
  SR_TRY(check_channels(ctx, encoder, series));
  SR_TRY(new_rows(ctx, encoder, chosen.count, false, &made));
  transform_work work = {.encoder = encoder, .series = series, .chosen = chosen, .values = made};
  work.chunk_rows = rows_of_a_chunk(encoder);
  SR_TRY(sr__parallel_for(ctx, (chosen.count + work.chunk_rows - 1) / work.chunk_rows,
                          transform_chunk, &work));
  *rows = made;
  made = NULL;
cleanup:
  sr__quant_free_encoded(made);
  return status;
}

sr_status sr__quant_encode(sr_context *ctx, const sr__encoder *encoder,
                           const sr__series_view *series, int64_t first, int64_t count,
                           sr__encoded **rows) {
  return values_of(ctx, encoder, series, (chosen_rows){first, count, count}, rows);
}

/* ---- edges -------------------------------------------------------------------------------- */

enum { HALF_EDGES = 127 };

/* Of a sorted column, value i at sorted[8 i]: quantiles where there is a gap, halfway; steps of
 * equal width; both together, increasing. A random bin of both is between even in rank and even in
 * value, and neither a long tail nor a heap of equal values takes all bins. */
static void column_edges(const float *sorted, int64_t count, float *edge) {
  float even[HALF_EDGES], rank[HALF_EDGES];
  int32_t ranks = 0, evens = count > 0 ? HALF_EDGES : 0, made = 0;
  edge[made++] = -INFINITY; /* what is missing has bin 0 */
  double low = count ? sorted[0] : 0.0, high = count ? sorted[8 * (count - 1)] : 0.0;
  for (int32_t b = 0; b < evens; b++)
    even[b] = (float)(low + (high - low) * (b + 1) / (HALF_EDGES + 1));
  for (int32_t b = 1; b <= HALF_EDGES && count > 0; b++) {
    int64_t at = b * count / (HALF_EDGES + 1);
    if (at == 0) continue;
    float below = sorted[8 * (at - 1)], above = sorted[8 * at];
    if (!(above > below)) continue;
    float middle = (float)(below + 0.5 * ((double)above - below));
    if (!(middle < above)) middle = below;
    if (ranks == 0 || middle > rank[ranks - 1]) rank[ranks++] = middle;
  }
  for (int32_t i = 0, j = 0; i < evens || j < ranks;) {
    float next = j == ranks || (i < evens && even[i] <= rank[j]) ? even[i++] : rank[j++];
    if (next > edge[made - 1]) edge[made++] = next;
  }
  while (made < SR__QUANT_EDGES) edge[made++] = INFINITY;
}

typedef struct edge_work {
  const sr__encoded *sample;
  sr__encoder *encoder;
  int64_t group_size; /* features of an item */
} edge_work;

/* Eight features from `first`, side by side and sorted; what is not finite comes last. */
static void sort_columns(const sr__encoded *rows, int64_t first, float *column, float *spare,
                         float *sorted) {
  for (int64_t i = 0; i < rows->count; i++) {
    const float *block = rows->value + i / 8 * 8 * rows->features + i % 8;
    for (int64_t k = 0; k < 8; k++) {
      int64_t feature = first + k < rows->features ? first + k : rows->features - 1;
      float value = block[8 * feature];
      column[8 * i + k] = isfinite(value) ? value : INFINITY;
    }
  }
  sr__quant_kernel_now()->sort(column, rows->count, spare, sorted);
}

static sr_status edges_of_features(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  const edge_work *work = data;
  const sr__encoded *rows = work->sample;
  sr_status status = SR_OK;
  float *memory = NULL;
  int64_t cells = 8 * rows->count;
  SR_NEW(ctx, memory, 3 * cells + ALIGNED / 4);
  float *column = memory + (ALIGNED - (uintptr_t)memory % ALIGNED) % ALIGNED / sizeof *memory;
  int64_t end = (item + 1) * work->group_size;
  if (end > rows->features) end = rows->features;
  for (int64_t first = item * work->group_size; first < end; first += 8) {
    float *sorted = column + 2 * cells;
    SR_TRY(sr__check_interrupt(ctx));
    sort_columns(rows, first, column, column + cells, sorted);
    for (int64_t k = 0; k < 8 && first + k < end; k++) {
      int64_t finite = rows->count;
      while (finite > 0 && !isfinite(sorted[8 * (finite - 1) + k])) finite--;
      column_edges(sorted + k, finite, work->encoder->edge + (first + k) * SR__QUANT_EDGES);
    }
  }
cleanup:
  sr__free(ctx, memory);
  return status;
}

static sr_status quant_edges(sr_context *ctx, const sr__encoded *sample, sr__encoder *encoder) {
  sr_status status = SR_OK;
  sr__free(ctx, encoder->edge);
  encoder->edge = NULL;
  SR_NEW(ctx, encoder->edge, (int64_t)encoder->features * SR__QUANT_EDGES);
  edge_work work = {sample, encoder, 256};
  SR_TRY(sr__parallel_for(ctx, (encoder->features + work.group_size - 1) / work.group_size,
                          edges_of_features, &work));
cleanup:
  return status;
}

/* ---- bins --------------------------------------------------------------------------------- */

/* The bytes of a block's eight rows, place after place, to the tiles: row `to` and the next. */
static void place_block(const uint8_t *coded, int64_t rows, int64_t to, sr__encoded *bins) {
  for (int64_t tile = 0; tile < bins->tiles; tile++) {
    const uint8_t *from = coded + 8 * SR__QUANT_TILE * tile;
    uint8_t turned[8][SR__QUANT_TILE];
    for (int k = 0; k < SR__QUANT_TILE; k++)
      for (int j = 0; j < 8; j++) turned[j][k] = from[8 * k + j];
    memcpy(bins->bin + (tile * bins->count + to) * SR__QUANT_TILE, turned,
           (size_t)(rows * SR__QUANT_TILE));
  }
}

static sr_status bin_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)slot;
  const transform_work *work = data;
  const sr__encoder *encoder = work->encoder;
  sr_status status = SR_OK;
  float *memory = NULL;
  uint8_t *coded = NULL;
  int64_t begin = chunk * work->chunk_rows, end = chunk_end(work, chunk);
  int64_t blocks = blocks_of(end - begin), places = (int64_t)encoder->tiles * SR__QUANT_TILE;
  const float *value = work->values ? work->values->value + begin * encoder->features : NULL;
  SR_NEW_ZERO(ctx, coded, 8 * blocks * places); /* places without a feature stay 0 */
  if (!value) {
    SR_NEW(ctx, memory, 8 * blocks * encoder->features + ALIGNED / 4);
    float *made = memory + (ALIGNED - (uintptr_t)memory % ALIGNED) % ALIGNED / sizeof *memory;
    SR_TRY(transform_rows(ctx, work, begin, end, made));
    value = made;
  }
  sr__quant_kernel_now()->bins(value, blocks, encoder->features, encoder->edge, encoder->place_of,
                               places, coded);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t row = begin + 8 * b;
    place_block(coded + 8 * b * places, end - row < 8 ? end - row : 8, row, work->bins);
  }
cleanup:
  sr__free(ctx, memory);
  sr__free(ctx, coded);
  return status;
}

/* Of `values` where they were kept, else of the rows transformed again. */
static sr_status bins_of(sr_context *ctx, const sr__encoder *encoder, const sr__series_view *series,
                         chosen_rows chosen, sr__encoded *values, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  *rows = NULL;
  SR_TRY(check_channels(ctx, encoder, series));
  SR_TRY(new_rows(ctx, encoder, chosen.count, true, &made));
  transform_work work = {.encoder = encoder,
                         .series = series,
                         .chosen = chosen,
                         .chunk_rows = rows_of_a_chunk(encoder),
                         .values = values,
                         .bins = made};
  SR_TRY(sr__parallel_for(ctx, (chosen.count + work.chunk_rows - 1) / work.chunk_rows, bin_chunk,
                          &work));
  *rows = made;
  made = NULL;
cleanup:
  sr__quant_free_encoded(made);
  return status;
}

sr_status sr__quant_prepare(sr_context *ctx, const sr__series_view *series, int32_t classes,
                            sr__encoder **encoder, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__even_shape shape = {0};
  sr__encoder *made = NULL;
  sr__encoded *sample = NULL;
  *encoder = NULL;
  *rows = NULL;
  SR_TRY(sr__even_shape_find(ctx, series, classes, &shape));
  SR_TRY(sr__quant_encoder_new(ctx, &shape, &made));
  chosen_rows all = {0, series->rows, series->rows}, some = all;
  if (some.count > SR__QUANT_SAMPLE) some.count = SR__QUANT_SAMPLE;
  SR_TRY(values_of(ctx, made, series, some, &sample));
  SR_TRY(quant_edges(ctx, sample, made));
  SR_TRY(bins_of(ctx, made, series, all, some.count == all.count ? sample : NULL, rows));
  *encoder = made;
  made = NULL;
cleanup:
  sr__free(ctx, shape.length);
  sr__quant_free_encoded(sample);
  sr__quant_free_encoder(made);
  return status;
}
