/* Heads own regions of the last hidden layer: a graph of nearest neighbors over landmark rows is
 * cut into parts, the parts are dealt to the heads, and any other row belongs to the part whose
 * center is nearest. The cut is made anew as the buffer turns over and the layer changes. */
#include "sampler.h"

#include <specroute/graph.h>
#include <specroute/partition.h>

typedef struct features_options {
  int64_t landmarks, neighbors, parts;
  double turnover;
} features_options;
static const sr_option options[] = {SR_INTEGER(features_options, landmarks, "10000", 20, 1e8,
                                               "rows that the graph is built over"),
                                    SR_INTEGER(features_options, neighbors, "10", 1, 1000,
                                               "neighbors of each landmark in the graph"),
                                    SR_INTEGER(features_options, parts, "25", 1, 100000,
                                               "parts, dealt to the heads in turn"),
                                    SR_REAL(features_options, turnover, "0.1", 1e-6, 10,
                                            "share of the buffer that is new before the next cut"),
                                    SR_OPTIONS_END};

enum { NOT_PLACED = 255 };

typedef struct routed_features {
  features_options chosen;
  const sr__buffer *buffer;
  uint64_t seed;
  int32_t heads, hidden;
  int32_t parts;       /* of the last cut; 0: none yet */
  int64_t cuts;        /* made so far: numbers their random streams */
  int64_t cut_written; /* rows written when the last cut was made */
  float *center;       /* parts x hidden */
  uint8_t *head;       /* of each slot; NOT_PLACED: not looked at since the last cut */
} routed_features;

static sr_status prepare(sr_context *ctx, const void *chosen, const sr__sampler_setup *setup,
                         void **state) {
  sr_status status = SR_OK;
  routed_features *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *state = made;
  made->chosen = *(const features_options *)chosen;
  made->buffer = setup->buffer;
  made->seed = setup->seed;
  made->heads = setup->heads;
  made->hidden = setup->hidden;
  if (made->chosen.parts < setup->heads) made->chosen.parts = setup->heads;
  SR_NEW_ZERO(ctx, made->center, made->chosen.parts * setup->hidden);
  SR_NEW(ctx, made->head, setup->buffer->capacity);
  memset(made->head, NOT_PLACED, (size_t)setup->buffer->capacity);
cleanup:
  return status;
}

static void free_state(const sr_allocator *allocator, void *state) {
  routed_features *own = state;
  sr__release(allocator, own->center);
  sr__release(allocator, own->head);
  sr__release(allocator, own);
}

static void added(void *state, int64_t row, bool first_of_episode) {
  (void)first_of_episode;
  routed_features *own = state;
  own->head[sr__buffer_slot(own->buffer, row)] = NOT_PLACED;
}

/* Before the first cut a row belongs to a head by its number. */
static int32_t owner(void *state, int64_t row, const float *features) {
  routed_features *own = state;
  if (own->parts == 0) return (int32_t)(row % own->heads);
  uint8_t *head = &own->head[sr__buffer_slot(own->buffer, row)];
  if (*head != NOT_PLACED) return *head;
  if (!features) return -1;
  int32_t nearest = 0;
  float least = 0;
  for (int32_t p = 0; p < own->parts; p++) {
    const float *center = own->center + (int64_t)p * own->hidden;
    float distance = 0;
    for (int32_t j = 0; j < own->hidden; j++) {
      float apart = features[j] - center[j];
      distance += apart * apart;
    }
    if (p > 0 && distance >= least) continue;
    least = distance;
    nearest = p;
  }
  *head = (uint8_t)(nearest % own->heads);
  return *head;
}

/* Distinct drawable rows, increasing; fewer than `count` where there are not as many. */
static sr_status choose_landmarks(sr_context *ctx, const routed_features *own, int64_t count,
                                  int64_t *rows, int64_t *chosen) {
  sr_status status = SR_OK;
  int64_t oldest = sr__buffer_oldest(own->buffer), living = own->buffer->written - oldest;
  uint64_t *bitmap = NULL;
  int32_t *picked = NULL;
  sr__random random;
  sr__random_init(&random, own->seed, SR_PURPOSE_LANDMARK, (uint64_t)own->cuts, 0);
  if (count > living) count = living;
  SR_NEW(ctx, bitmap, (living + 63) / 64);
  SR_NEW(ctx, picked, count);
  sr__random_sample(&random, living, count, bitmap, picked);
  *chosen = 0;
  for (int64_t i = 0; i < count; i++)
    if (sr__buffer_drawable(own->buffer, oldest + picked[i]))
      rows[(*chosen)++] = oldest + picked[i];
cleanup:
  sr__free(ctx, bitmap);
  sr__free(ctx, picked);
  return status;
}

/* Labels of the landmarks: parts of their graph of nearest neighbors. x: column-major, count x
 * hidden. */
static sr_status cut(sr_context *ctx, const routed_features *own, int64_t count, const float *x,
                     sr_parts **parts) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  sr_table_view view = {.rows = count, .features = own->hidden, .x = x};
  char text[64];
  sr_parts_options parts_options;
  int64_t neighbors = own->chosen.neighbors < count ? own->chosen.neighbors : count - 1;
  snprintf(text, sizeof text, "features:%lld", (long long)neighbors);
  SR_TRY(sr_table_new(ctx, &view, &table));
  SR_TRY(sr_graph_build(ctx, table, text, own->seed, &graph));
  sr_parts_options_init(&parts_options);
  parts_options.parts = own->chosen.parts;
  parts_options.mode = SR_PARTS_FAST;
  SR_TRY(sr_parts_compute(ctx, graph, &parts_options, parts));
cleanup:
  sr_graph_free(&graph);
  sr_table_free(&table);
  return status;
}

/* Centers of the parts, and the head of every landmark; all other rows are placed when they are
 * drawn. */
static void place(routed_features *own, int64_t count, const int64_t *rows, const float *features,
                  const sr_parts_view *parts) {
  own->parts = parts->parts;
  memset(own->center, 0, (size_t)(own->parts * own->hidden) * sizeof *own->center);
  memset(own->head, NOT_PLACED, (size_t)own->buffer->capacity);
  for (int64_t i = 0; i < count; i++) {
    float *center = own->center + (int64_t)parts->part[i] * own->hidden;
    float share = 1 / (float)parts->size[parts->part[i]];
    for (int32_t j = 0; j < own->hidden; j++) center[j] += share * features[i * own->hidden + j];
    own->head[sr__buffer_slot(own->buffer, rows[i])] = (uint8_t)(parts->part[i] % own->heads);
  }
}

static sr_status refresh(sr_context *ctx, void *state, sr__features_fn compute, void *data,
                         bool *was_cut) {
  sr_status status = SR_OK;
  routed_features *own = state;
  int64_t living = own->buffer->written - sr__buffer_oldest(own->buffer);
  int64_t wanted = own->chosen.landmarks < living ? own->chosen.landmarks : living;
  int64_t due = (int64_t)(own->chosen.turnover * (double)living);
  int64_t *rows = NULL, count = 0;
  float *features = NULL, *columns = NULL;
  sr_parts *parts = NULL;
  *was_cut = false;
  /* At least as many steps as landmarks lie between two cuts, so that cutting stays a small share.
   */
  if (due < wanted) due = wanted;
  if (own->buffer->whole < 2 * own->chosen.parts) return SR_OK;
  if (own->cuts > 0 && own->buffer->written - own->cut_written < due) return SR_OK;
  SR_NEW(ctx, rows, wanted);
  SR_TRY(choose_landmarks(ctx, own, wanted, rows, &count));
  if (count < own->chosen.parts) goto cleanup;
  SR_NEW(ctx, features, count * own->hidden);
  SR_NEW(ctx, columns, count * own->hidden);
  SR_TRY(compute(ctx, data, count, rows, features));
  for (int64_t i = 0; i < count; i++)
    for (int32_t j = 0; j < own->hidden; j++)
      columns[j * count + i] = features[i * own->hidden + j];
  SR_TRY(cut(ctx, own, count, columns, &parts));
  place(own, count, rows, features, sr_parts_get(parts));
  own->cuts++;
  own->cut_written = own->buffer->written;
  *was_cut = true;
cleanup:
  sr_parts_free(&parts);
  sr__free(ctx, rows);
  sr__free(ctx, features);
  sr__free(ctx, columns);
  return status;
}

static sr_status grow(sr_context *ctx, void *state, const sr__buffer *larger) {
  sr_status status = SR_OK;
  routed_features *own = state;
  const sr__buffer *buffer = own->buffer;
  uint8_t *head = NULL;
  SR_NEW(ctx, head, larger->capacity);
  memset(head, NOT_PLACED, (size_t)larger->capacity);
  for (int64_t row = sr__buffer_oldest(buffer); row < buffer->written; row++)
    head[sr__buffer_slot(larger, row)] = own->head[sr__buffer_slot(buffer, row)];
  sr__free(ctx, own->head);
  own->head = head;
cleanup:
  return status;
}

static void save(const void *state, sr__bytes *bytes) {
  const routed_features *own = state;
  sr__put_u32(bytes, (uint32_t)own->parts);
  sr__put_u64(bytes, (uint64_t)own->cuts);
  sr__put_u64(bytes, (uint64_t)own->cut_written);
  sr__put_raw(bytes, own->center, own->chosen.parts * own->hidden * (int64_t)sizeof *own->center);
  sr__put_raw(bytes, own->head, own->buffer->capacity);
}

static void load(void *state, sr__byte_reader *reader) {
  routed_features *own = state;
  own->parts = (int32_t)sr__get_u32(reader);
  own->cuts = (int64_t)sr__get_u64(reader);
  own->cut_written = (int64_t)sr__get_u64(reader);
  if (own->parts < 0 || own->parts > own->chosen.parts)
    sr__get_refuse(reader, "there are too many parts");
  sr__get_raw(reader, own->center, own->chosen.parts * own->hidden * (int64_t)sizeof *own->center);
  sr__get_raw(reader, own->head, own->buffer->capacity);
  for (int64_t i = 0; i < own->buffer->capacity; i++)
    if (own->head[i] != NOT_PLACED && own->head[i] >= own->heads)
      sr__get_refuse(reader, "a row has no such head");
}

const sr__sampler sr__sampler_routed_features = {
    .about = {"routed-features",
              "parts of a graph of nearest neighbors in the last hidden layer, dealt to the heads",
              options, sizeof(features_options), NULL},
    .traits = SR__SAMPLER_OWNED | SR__SAMPLER_FEATURES,
    .prepare = prepare,
    .free_state = free_state,
    .added = added,
    .owner = owner,
    .refresh = refresh,
    .grow = grow,
    .save = save,
    .load = load};
