#include "bins.h"

#include <math.h>
#include <stdlib.h>

#include "bins_kernel.h"
#include "core/random.h"
#include "data/dictionary.h"

enum {
  SAMPLE_ROWS = 1 << 18, /* rows that decide the edges of a longer column */
  GRID_ROWS = 2048,      /* that repay a grid */
  GRID_FEATURES = 4096,  /* the most that get one: of 2 KB */
  APPLY_BLOCK = 256,     /* rows that are binned together, so that their bytes stay in the cache */
  RADIX_BITS = 11,
  RADIX = 1 << RADIX_BITS,
  RADIX_PASSES = 3
};

/* ---- sorting a column --------------------------------------------------------------------- */

/* Unsigned keys in the order of the floats. */
static uint32_t key_of_float(float x) {
  uint32_t bits;
  float value = x + 0.0f; /* one zero */
  memcpy(&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float float_of_key(uint32_t key) {
  uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The result stands in `spare`: the number of passes is odd. */
static void radix_sort(uint32_t *keys, uint32_t *spare, int64_t count) {
  uint32_t start[RADIX_PASSES][RADIX] = {{0}};
  for (int64_t i = 0; i < count; i++)
    for (int pass = 0; pass < RADIX_PASSES; pass++)
      start[pass][keys[i] >> (pass * RADIX_BITS) & (RADIX - 1)]++;
  for (int pass = 0; pass < RADIX_PASSES; pass++) {
    uint32_t sum = 0;
    for (int digit = 0; digit < RADIX; digit++) {
      uint32_t here = start[pass][digit];
      start[pass][digit] = sum;
      sum += here;
    }
    for (int64_t i = 0; i < count; i++)
      spare[start[pass][keys[i] >> (pass * RADIX_BITS) & (RADIX - 1)]++] = keys[i];
    uint32_t *swap = keys;
    keys = spare;
    spare = swap;
  }
}

/* ---- edges -------------------------------------------------------------------------------- */

/* lower <= edge < upper. */
static float edge_between(float lower, float upper) {
  float middle = (float)(0.5 * ((double)lower + (double)upper));
  return middle >= lower && middle < upper ? middle : lower;
}

static int64_t count_distinct(const uint32_t *keys, int64_t count, int64_t limit) {
  int64_t distinct = count > 0;
  for (int64_t i = 1; i < count && distinct <= limit; i++) distinct += keys[i] != keys[i - 1];
  return distinct;
}

/* Closes a bin as soon as it holds its share of what is left, so that a value that fills several
 * shares leaves its unused bins to the rest. Gives the number of bins. */
static int32_t choose_edges(const uint32_t *keys, int64_t count, int32_t limit, float *edge) {
  int32_t edges = 0;
  if (count == 0) return 0;
  bool every_value = count_distinct(keys, count, limit) <= limit;
  int64_t rows_left = count, in_bin = 0;
  for (int64_t i = 0; i + 1 < count && edges + 1 < limit; i++) {
    in_bin++;
    if (keys[i] == keys[i + 1]) continue;
    if (!every_value && in_bin * (limit - edges) < rows_left) continue;
    edge[edges++] = edge_between(float_of_key(keys[i]), float_of_key(keys[i + 1]));
    rows_left -= in_bin;
    in_bin = 0;
  }
  return edges + 1;
}

/* Keys of the values that are there; long columns by one row from each stratum. */
static int64_t sample_column(const float *x, int64_t rows, uint64_t feature, uint32_t *keys) {
  int64_t kept = 0;
  if (rows <= SAMPLE_ROWS) {
    for (int64_t i = 0; i < rows; i++)
      if (!isnan(x[i])) keys[kept++] = key_of_float(x[i]);
    return kept;
  }
  sr__random random;
  sr__random_init(&random, 0, SR_PURPOSE_LEARNER, UINT64_MAX, feature);
  for (int64_t s = 0; s < SAMPLE_ROWS; s++) {
    int64_t begin = s * rows / SAMPLE_ROWS, end = (s + 1) * rows / SAMPLE_ROWS;
    float value = x[begin + (int64_t)sr__random_below(&random, (uint64_t)(end - begin))];
    if (!isnan(value)) keys[kept++] = key_of_float(value);
  }
  return kept;
}

/* ---- categories --------------------------------------------------------------------------- */

typedef struct category_count {
  int64_t rows;
  int32_t code;
} category_count;

static int by_rows(const void *a, const void *b) {
  const category_count *x = a, *y = b;
  if (x->rows != y->rows) return x->rows < y->rows ? 1 : -1;
  return (x->code > y->code) - (x->code < y->code);
}

/* Bins by frequency, the commonest first; what does not fit shares the last bin. */
static sr_status bin_categories(sr_context *ctx, const float *x, int64_t rows, int32_t limit,
                                sr__bin_feature *feature) {
  sr_status status = SR_OK;
  int32_t count = feature->categories.count;
  category_count *order = NULL;
  SR_NEW_ZERO(ctx, order, count);
  SR_NEW(ctx, feature->bin_of_code, count);
  for (int32_t c = 0; c < count; c++) order[c].code = c;
  for (int64_t i = 0; i < rows; i++)
    if (x[i] >= 0.0f && x[i] < (float)count) order[(int32_t)x[i]].rows++;
  qsort(order, (size_t)count, sizeof *order, by_rows);
  for (int32_t rank = 0; rank < count; rank++) {
    int32_t bin = rank < limit ? rank : limit - 1;
    bool seen = order[rank].rows > 0;
    feature->bin_of_code[order[rank].code] = (uint8_t)(seen ? bin : SR__BIN_MISSING);
    if (seen) feature->bins = bin + 1;
  }
cleanup:
  sr__free(ctx, order);
  return status;
}

/* ---- the binning -------------------------------------------------------------------------- */

typedef struct binning_work {
  const sr_table_view *view;
  sr__binning *binning;
  int32_t limit;
  int64_t capacity;
  uint32_t *keys; /* two arrays of `capacity` a thread */
} binning_work;

static sr_status bin_feature(sr_context *ctx, void *data, int64_t j, int slot) {
  sr_status status = SR_OK;
  binning_work *work = data;
  const sr_table_view *view = work->view;
  sr__bin_feature *feature = &work->binning->feature[j];
  const float *x = view->x + j * view->rows;
  if (sr__categories_of(view, j).count > 0) {
    SR_TRY(sr__dictionary_copy(ctx, sr__categories_of(view, j), &feature->categories));
    SR_TRY(bin_categories(ctx, x, view->rows, work->limit, feature));
    return SR_OK;
  }
  uint32_t *keys = work->keys + 2 * slot * work->capacity, *sorted = keys + work->capacity;
  SR_NEW(ctx, feature->edge, work->limit);
  int64_t count = sample_column(x, view->rows, (uint64_t)j, keys);
  radix_sort(keys, sorted, count);
  feature->bins = choose_edges(sorted, count, work->limit, feature->edge);
cleanup:
  return status;
}

static sr_status new_binning(sr_context *ctx, int64_t features, sr__binning **binning) {
  sr_status status = SR_OK;
  sr__binning *made = NULL;
  *binning = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_NEW_ZERO(ctx, made->feature, features);
  made->features = features;
  *binning = made;
  made = NULL;
cleanup:
  sr__binning_free(&made);
  return status;
}

sr_status sr__binning_new(sr_context *ctx, const sr_table *table, int32_t max_bins,
                          sr__binning **binning) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  binning_work work = {.view = view, .limit = max_bins - 1};
  work.capacity = view->rows < SAMPLE_ROWS ? view->rows : SAMPLE_ROWS;
  SR_TRY(new_binning(ctx, view->features, binning));
  work.binning = *binning;
  SR_NEW(ctx, work.keys, 2 * work.capacity * sr_context_threads(ctx));
  SR_TRY(sr__parallel_for(ctx, view->features, bin_feature, &work));
cleanup:
  sr__free(ctx, work.keys);
  if (status != SR_OK) sr__binning_free(binning);
  return status;
}

void sr__binning_free(sr__binning **binning) {
  if (!binning || !*binning) return;
  sr__binning *b = *binning;
  sr_allocator allocator = b->allocator;
  for (int64_t j = 0; b->feature && j < b->features; j++) {
    sr__bin_feature *feature = &b->feature[j];
    sr__dictionary_free(&allocator, &feature->categories);
    sr__release(&allocator, feature->edge);
    sr__release(&allocator, feature->bin_of_code);
  }
  sr__release(&allocator, b->feature);
  sr__release(&allocator, b);
  *binning = NULL;
}

bool sr__binning_is_categorical(const sr__binning *binning, int64_t feature) {
  return binning->feature[feature].categories.count > 0;
}

/* ---- applying ----------------------------------------------------------------------------- */

typedef struct apply_work {
  const sr_table_view *view;
  const sr__binning *binning;
  uint8_t **bin_of_given; /* a categorical feature: bins of the given table's codes */
  sr__bin_grid *grid;     /* of the other features; NULL: too few rows to repay them */
  int64_t first, count, chunk;
  int64_t stride; /* bytes from a row to the next */
  uint8_t *out;
} apply_work;

static int32_t pad_edges(const sr__bin_feature *feature, float padded[SR__BIN_EDGES]) {
  int32_t edges = feature->bins > 0 ? feature->bins - 1 : 0;
  if (edges > 0) memcpy(padded, feature->edge, (size_t)edges * sizeof *padded);
  for (int32_t b = edges; b < SR__BIN_EDGES; b++) padded[b] = INFINITY;
  return edges;
}

static void apply_numeric(const apply_work *work, int64_t feature, const float *x, int64_t count,
                          uint8_t *out) {
  if (work->grid) {
    sr__bins_kernel_now()->search_grid(&work->grid[feature], x, count, work->stride, out);
  } else {
    _Alignas(64) float padded[SR__BIN_EDGES];
    pad_edges(&work->binning->feature[feature], padded);
    sr__bins_kernel_now()->search(padded, x, count, work->stride, out);
  }
}

static void apply_categorical(const uint8_t *bin_of_given, int32_t codes, const float *x,
                              int64_t count, int64_t stride, uint8_t *out) {
  for (int64_t i = 0; i < count; i++) {
    bool valid = x[i] >= 0.0f && x[i] < (float)codes;
    out[i * stride] = valid ? bin_of_given[(int32_t)x[i]] : SR__BIN_MISSING;
  }
}

static sr_status apply_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)ctx;
  (void)slot;
  const apply_work *work = data;
  const sr__binning *binning = work->binning;
  int64_t end = (chunk + 1) * work->chunk < work->count ? (chunk + 1) * work->chunk : work->count;
  for (int64_t begin = chunk * work->chunk; begin < end; begin += APPLY_BLOCK) {
    int64_t count = end - begin < APPLY_BLOCK ? end - begin : APPLY_BLOCK;
    for (int64_t j = 0; j < binning->features; j++) {
      const float *x = work->view->x + j * work->view->rows + work->first + begin;
      uint8_t *out = work->out + begin * work->stride + j;
      if (sr__binning_is_categorical(binning, j))
        apply_categorical(work->bin_of_given[j], work->view->categories[j].count, x, count,
                          work->stride, out);
      else
        apply_numeric(work, j, x, count, out);
    }
  }
  return SR_OK;
}

static sr_status match_feature(sr_context *ctx, const sr__bin_feature *feature,
                               const sr_table_view *view, int64_t j, uint8_t **bins) {
  sr_status status = SR_OK;
  int32_t *code = NULL, given = sr__categories_of(view, j).count;
  SR_TRY(sr__feature_match(ctx, view, j, feature->categories, &code));
  if (code) SR_NEW(ctx, *bins, given);
  for (int32_t c = 0; code && c < given; c++)
    (*bins)[c] = code[c] < 0 ? (uint8_t)SR__BIN_MISSING : feature->bin_of_code[code[c]];
cleanup:
  sr__free(ctx, code);
  return status;
}

static sr_status make_grids(sr_context *ctx, apply_work *work) {
  sr_status status = SR_OK;
  SR_NEW(ctx, work->grid, work->binning->features);
  for (int64_t j = 0; j < work->binning->features; j++)
    if (!sr__binning_is_categorical(work->binning, j))
      sr__bins_kernel_now()->make_grid(&work->grid[j],
                                       pad_edges(&work->binning->feature[j], work->grid[j].edge));
cleanup:
  return status;
}

sr_status sr__binning_apply(sr_context *ctx, const sr__binning *binning, const sr_table *table,
                            int64_t first, int64_t count, int64_t stride, uint8_t *out) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  apply_work work = {.view = view,
                     .binning = binning,
                     .first = first,
                     .count = count,
                     .stride = stride,
                     .out = out};
  SR_TRY(sr__check_feature_count(ctx, view, binning->features));
  SR_NEW_ZERO(ctx, work.bin_of_given, binning->features);
  for (int64_t j = 0; j < binning->features; j++)
    SR_TRY(match_feature(ctx, &binning->feature[j], view, j, &work.bin_of_given[j]));
  if (count >= GRID_ROWS && binning->features <= GRID_FEATURES) SR_TRY(make_grids(ctx, &work));
  work.chunk = sr__chunk_size(count, 8 * APPLY_BLOCK);
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(count, 8 * APPLY_BLOCK), apply_chunk, &work));
cleanup:
  for (int64_t j = 0; work.bin_of_given && j < binning->features; j++)
    sr__free(ctx, work.bin_of_given[j]);
  sr__free(ctx, work.bin_of_given);
  sr__free(ctx, work.grid);
  return status;
}

/* ---- storing ------------------------------------------------------------------------------ */

void sr__binning_save(const sr__binning *binning, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)binning->features);
  for (int64_t j = 0; j < binning->features; j++) {
    const sr__bin_feature *feature = &binning->feature[j];
    sr__put_u8(bytes, (uint8_t)feature->bins);
    sr__dictionary_save(feature->categories, bytes);
    if (feature->categories.count > 0)
      sr__put_raw(bytes, feature->bin_of_code, feature->categories.count);
    else
      for (int32_t b = 0; b < feature->bins - 1; b++) sr__put_f32(bytes, feature->edge[b]);
  }
}

static sr_status load_codes(sr__byte_reader *reader, sr__bin_feature *feature) {
  sr_status status = SR_OK;
  SR_NEW(reader->ctx, feature->bin_of_code, feature->categories.count);
  sr__get_raw(reader, feature->bin_of_code, feature->categories.count);
  status = reader->status;
cleanup:
  return status;
}

static sr_status load_edges(sr__byte_reader *reader, sr__bin_feature *feature) {
  sr_status status = SR_OK;
  SR_NEW(reader->ctx, feature->edge, feature->bins);
  for (int32_t b = 0; b < feature->bins - 1; b++) {
    feature->edge[b] = sr__get_f32(reader);
    if (isnan(feature->edge[b]) || (b > 0 && !(feature->edge[b] > feature->edge[b - 1])))
      sr__get_refuse(reader, "bin edges do not increase");
  }
cleanup:
  return status == SR_OK ? reader->status : status;
}

sr_status sr__binning_load(sr__byte_reader *reader, sr__binning **binning) {
  sr_status status = SR_OK;
  *binning = NULL;
  enum { LEAST_FEATURE_BYTES = 9 };
  int64_t features = sr__get_count(reader, LEAST_FEATURE_BYTES);
  SR_TRY(reader->status);
  SR_TRY(new_binning(reader->ctx, features, binning));
  for (int64_t j = 0; j < features; j++) {
    sr__bin_feature *feature = &(*binning)->feature[j];
    feature->bins = sr__get_u8(reader);
    SR_TRY(sr__dictionary_load(reader, &feature->categories));
    SR_TRY(feature->categories.count > 0 ? load_codes(reader, feature)
                                         : load_edges(reader, feature));
  }
cleanup:
  if (status != SR_OK) sr__binning_free(binning);
  return status;
}
