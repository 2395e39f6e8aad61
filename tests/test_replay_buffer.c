/* Replay buffer, sum tree and samplers against brute force. */
#include "harness.h"

#include <math.h>
#include <unistd.h>

#include "core/maths.h"
#include "replay/buffer.h"
#include "replay/sampler.h"
#include "replay/sum_tree.h"

/* ---- a slow reference of the buffer: every row ever written -------------------------------- */

enum { FRAME = 12, ROWS_MAX = 4000 };

typedef struct story {
  uint8_t frame[ROWS_MAX][FRAME];
  int64_t episode[ROWS_MAX];
  int32_t action[ROWS_MAX];
  float reward[ROWS_MAX];
  bool whole[ROWS_MAX], over[ROWS_MAX], first[ROWS_MAX];
  int64_t rows, gone; /* rows before `gone` are lost, whatever the capacity */
} story;

static void random_frame(sr__random *random, uint8_t *frame) {
  for (int i = 0; i < FRAME; i++) frame[i] = (uint8_t)(1 + sr__random_below(random, 255));
}

static void write_first(story *told, sr__buffer *buffer, sr__random *random) {
  int64_t r = told->rows++;
  random_frame(random, told->frame[r]);
  told->episode[r] = r == 0 ? 0 : told->episode[r - 1] + 1;
  told->first[r] = true;
  sr__buffer_begin(buffer, told->frame[r]);
}

/* One step; where it ends the episode the next one begins. */
static void write_step(story *told, sr__buffer *buffer, sr__random *random) {
  int64_t r = told->rows++;
  random_frame(random, told->frame[r]);
  told->episode[r] = told->episode[r - 1];
  told->action[r - 1] = (int32_t)sr__random_below(random, 6);
  told->reward[r - 1] = (float)sr__random_normal(random);
  uint64_t end = sr__random_below(random, 12);
  told->over[r - 1] = end == 0;
  told->whole[r - 1] = true;
  sr__buffer_add(buffer, told->action[r - 1], told->reward[r - 1], end == 0, told->frame[r]);
  if (end <= 1 && told->rows < ROWS_MAX) write_first(told, buffer, random); /* over, or truncated */
}

static bool should_be_drawable(const story *told, int64_t row, int64_t capacity, int32_t stack) {
  int64_t oldest = told->rows > capacity ? told->rows - capacity : 0;
  if (oldest < told->gone) oldest = told->gone;
  if (row < oldest || !told->whole[row]) return false;
  for (int64_t k = row; k > row - stack; k--) {
    if (k < oldest) return false;
    if (told->first[k]) return true;
  }
  return true;
}

static void check_rows(const story *told, const sr__buffer *buffer) {
  static const uint8_t zeros[FRAME];
  int64_t oldest = sr__buffer_oldest(buffer), whole = 0;
  for (int64_t row = oldest; row < told->rows; row++) {
    int64_t slot = sr__buffer_slot(buffer, row);
    bool drawable = should_be_drawable(told, row, buffer->capacity, buffer->stack);
    assert_int_equal(sr__buffer_drawable(buffer, row), drawable);
    whole += told->whole[row];
    if (!drawable) continue;
    assert_int_equal(buffer->action[slot], told->action[row]);
    assert_true(buffer->reward[slot] == told->reward[row]);
    assert_int_equal((buffer->flags[slot] & SR__ROW_OVER) != 0, told->over[row]);
    const uint8_t *frames[SR__STACK_MAX + 1];
    sr__buffer_frames(buffer, row, frames);
    for (int32_t k = 0; k <= buffer->stack; k++) {
      int64_t from = row + 1 - buffer->stack + k;
      bool same = from >= 0 && told->episode[from] == told->episode[row];
      assert_memory_equal(frames[k], same ? told->frame[from] : zeros, FRAME);
    }
  }
  assert_int_equal(buffer->whole, whole);
}

static void stacks_never_cross_episodes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  story *told = calloc(1, sizeof *told);
  for (int32_t stack = 1; stack <= 4; stack++)
    for (int64_t capacity = 16; capacity <= 130; capacity += 57) {
      memset(told, 0, sizeof *told);
      sr__buffer *buffer = NULL;
      sr__random random;
      sr__random_init(&random, 5, SR_PURPOSE_TEST, (uint64_t)stack, (uint64_t)capacity);
      assert_ok(ctx, sr__buffer_new(ctx, capacity, FRAME, stack, &buffer));
      write_first(told, buffer, &random);
      while (told->rows < 700) {
        write_step(told, buffer, &random);
        if (told->rows % 13 == 0) check_rows(told, buffer);
      }
      sr__buffer_free(&buffer);
    }
  free(told);
  sr_context_free(&ctx);
}

/* A larger ring has the rows that lived, under their numbers, before and after the ring is full. */
static void a_larger_ring_keeps_its_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  story *told = calloc(1, sizeof *told);
  for (int64_t rows = 30; rows <= 330; rows += 100) {
    memset(told, 0, sizeof *told);
    sr__buffer *buffer = NULL, *larger = NULL;
    sr__random random;
    sr__random_init(&random, 9, SR_PURPOSE_TEST, 0, (uint64_t)rows);
    assert_ok(ctx, sr__buffer_new(ctx, 100, FRAME, 3, &buffer));
    write_first(told, buffer, &random);
    while (told->rows < rows) write_step(told, buffer, &random);
    told->gone = sr__buffer_oldest(buffer);
    assert_ok(ctx, sr__buffer_larger(ctx, buffer, 163, &larger));
    sr__buffer_free(&buffer);
    check_rows(told, larger);
    while (told->rows < rows + 300) {
      write_step(told, larger, &random);
      check_rows(told, larger);
    }
    sr__buffer_free(&larger);
  }
  free(told);
  sr_context_free(&ctx);
}

static void a_saved_buffer_comes_back(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  story *told = calloc(1, sizeof *told);
  for (int64_t rows = 30; rows <= 330; rows += 100) { /* before and after the ring is full */
    memset(told, 0, sizeof *told);
    sr__buffer *buffer = NULL, *again = NULL;
    sr__random random;
    sr__random_init(&random, 6, SR_PURPOSE_TEST, 0, (uint64_t)rows);
    assert_ok(ctx, sr__buffer_new(ctx, 100, FRAME, 3, &buffer));
    assert_ok(ctx, sr__buffer_new(ctx, 100, FRAME, 3, &again));
    write_first(told, buffer, &random);
    while (told->rows < rows) write_step(told, buffer, &random);
    if (rows == 130) { /* with room to spare, and rows gone all the same */
      sr__buffer *larger = NULL;
      told->gone = sr__buffer_oldest(buffer);
      assert_ok(ctx, sr__buffer_larger(ctx, buffer, 170, &larger));
      sr__buffer_free(&buffer);
      sr__buffer_free(&again);
      buffer = larger;
      assert_ok(ctx, sr__buffer_new(ctx, 170, FRAME, 3, &again));
    }
    char path[512];
    snprintf(path, sizeof path, "%s/rows", test_folder());
    sr__writer *writer = NULL;
    assert_ok(ctx, sr__writer_open(ctx, path, &writer));
    assert_ok(ctx, sr__buffer_save(buffer, writer));
    assert_ok(ctx, sr__writer_commit(&writer));
    FILE *file = fopen(path, "rb");
    assert_ok(ctx, sr__buffer_load(ctx, file, path, again));
    fclose(file);
    check_rows(told, again);
    while (told->rows < rows + 50) write_step(told, again, &random); /* and goes on */
    check_rows(told, again);
    /* A flipped bit anywhere is found, and so is a missing end. */
    size_t size;
    char *bytes = test_read_file(path, &size);
    for (size_t at = 0; at < size; at += 101) {
      bytes[at] ^= 4;
      file = fmemopen(bytes, size, "rb");
      assert_int_equal(sr__buffer_load(ctx, file, path, again), SR_ERROR_FORMAT);
      fclose(file);
      bytes[at] ^= 4;
    }
    file = fmemopen(bytes, size - 1, "rb");
    assert_int_equal(sr__buffer_load(ctx, file, path, again), SR_ERROR_FORMAT);
    fclose(file);
    free(bytes);
    sr__buffer_free(&buffer);
    sr__buffer_free(&again);
  }
  free(told);
  sr_context_free(&ctx);
}

/* ---- sum tree ------------------------------------------------------------------------------ */

static void sum_tree_is_a_walk_along_the_weights(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t sizes[] = {1, 2, 15, 16, 17, 255, 257, 5000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int64_t n = sizes[s];
    sr__sum_tree tree;
    assert_ok(ctx, sr__sum_tree_new(ctx, n, &tree));
    double *weight = calloc((size_t)n, sizeof *weight);
    sr__random random;
    sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, (uint64_t)n);
    for (int64_t change = 0; change < 3 * n; change++) {
      int64_t item = (int64_t)sr__random_below(&random, (uint64_t)n);
      /* whole numbers: sums are exact, so the walk must agree everywhere */
      weight[item] = sr__random_below(&random, 3) ? (double)sr__random_below(&random, 100) : 0;
      sr__sum_tree_set(&tree, item, weight[item]);
    }
    sr__sum_tree_set(&tree, n / 2, weight[n / 2] = 7);
    double total = 0;
    for (int64_t i = 0; i < n; i++) total += weight[i];
    assert_true(sr__sum_tree_total(&tree) == total);
    for (int draw = 0; draw < 2000; draw++) {
      double at = draw == 0   ? 0
                  : draw == 1 ? total - 0.5
                              : floor(sr__random_uniform(&random) * total * 4) / 4,
             left = at;
      int64_t item = 0;
      while (left >= weight[item]) left -= weight[item++];
      assert_int_equal(sr__sum_tree_find(&tree, at), item);
    }
    assert_true(weight[sr__sum_tree_find(&tree, total)] >
                0); /* beyond the end: never a weight of 0 */
    free(weight);
    sr_allocator allocator = sr__allocator(ctx);
    sr__sum_tree_free(&allocator, &tree);
  }
  sr_context_free(&ctx);
}

/* ---- samplers ------------------------------------------------------------------------------ */

typedef struct bench {
  sr_context *ctx;
  story *told;
  sr__buffer *buffer;
  const sr__sampler *sampler;
  sr__configuration configuration;
  void *state;
  sr__random random;
} bench;

static void bench_open(bench *b, const char *text, int64_t capacity, int32_t stack, int32_t heads) {
  memset(b, 0, sizeof *b);
  b->ctx = test_context(1);
  b->told = calloc(1, sizeof *b->told);
  sr__random_init(&b->random, 8, SR_PURPOSE_TEST, 0, 0);
  assert_ok(b->ctx, sr__buffer_new(b->ctx, capacity, FRAME, stack, &b->buffer));
  assert_ok(b->ctx, sr__configure(b->ctx, "sampler", sr_sampler_method, text, &b->configuration));
  b->sampler = (const sr__sampler *)(const void *)b->configuration.method;
  sr__sampler_setup setup = {b->buffer, heads, 4, 77, true};
  if (b->sampler->prepare)
    assert_ok(b->ctx, b->sampler->prepare(b->ctx, b->configuration.options, &setup, &b->state));
}

static void bench_write(bench *b, int64_t rows) {
  int64_t end = b->told->rows + rows;
  while (b->told->rows < end) {
    int64_t before = b->told->rows;
    if (before == 0)
      write_first(b->told, b->buffer, &b->random);
    else
      write_step(b->told, b->buffer, &b->random);
    if (before > 0 && b->sampler->completed) b->sampler->completed(b->state, before - 1);
    for (int64_t r = before; r < b->told->rows && b->sampler->added; r++)
      b->sampler->added(b->state, r, b->told->first[r]);
  }
}

static void bench_close(bench *b) {
  sr_allocator allocator = sr__allocator(b->ctx);
  if (b->sampler->free_state) b->sampler->free_state(&allocator, b->state);
  sr__configuration_free(&allocator, &b->configuration);
  sr__buffer_free(&b->buffer);
  free(b->told);
  sr_context_free(&b->ctx);
}

static int32_t owner_of(void *data, int64_t row) {
  const bench *b = data;
  return b->sampler->owner(b->state, row, NULL);
}

enum { BATCH = 32 };
static void draw_batch(bench *b, int32_t head, double progress, int64_t *row, float *weight) {
  sr__batch batch = {BATCH, row, weight};
  if (head >= 0)
    sr__draw_owned(b->buffer, &b->random, owner_of, b, head, &batch);
  else if (b->sampler->draw)
    b->sampler->draw(b->state, &b->random, progress, &batch);
  else
    for (int i = 0; i < BATCH; i++) row[i] = sr__draw_row(b->buffer, &b->random);
  for (int i = 0; i < BATCH; i++)
    assert_true(should_be_drawable(b->told, row[i], b->buffer->capacity, b->buffer->stack));
}

/* Chi-square statistic of draws against equal or given chances, over its degrees of freedom:
 * about 1. */
static double surprise(const double *count, const double *chance, int64_t n, double draws) {
  double sum = 0, cells = 0;
  for (int64_t i = 0; i < n; i++) {
    if (chance[i] <= 0) {
      assert_true(count[i] == 0);
      continue;
    }
    double expected = chance[i] * draws;
    sum += (count[i] - expected) * (count[i] - expected) / expected;
    cells++;
  }
  return (sum - (cells - 1)) / sqrt(2 * (cells - 1));
}

/* Every sampler that draws for one head draws each of its rows alike, and all heads together own
 * every row. */
static void heads_draw_their_own_rows_alike(void **state) {
  (void)state;
  const char *const names[] = {"routed:7", "fifth", "contiguous", "separate:11", "routed:1000000"};
  for (size_t s = 0; s < 5; s++) {
    bench b;
    bench_open(&b, names[s], 200, 3, 5);
    bench_write(&b, 730);
    assert_true(b.sampler->traits & SR__SAMPLER_OWNED);
    for (int32_t head = -1; head < 5; head++) {
      double *count = calloc(ROWS_MAX, sizeof *count), *chance = calloc(ROWS_MAX, sizeof *chance),
             own = 0;
      for (int64_t r = sr__buffer_oldest(b.buffer); r < b.told->rows; r++) {
        if (!should_be_drawable(b.told, r, 200, 3)) continue;
        int32_t owner = b.sampler->owner(b.state, r, NULL);
        assert_in_range(owner, 0, 4);
        if (head < 0 || owner == head) chance[r] = 1, own++;
      }
      assert_true(own > 10);
      for (int64_t r = 0; r < ROWS_MAX; r++) chance[r] /= own;
      int64_t row[BATCH];
      float weight[BATCH];
      for (int k = 0; k < 600; k++) {
        draw_batch(&b, head, 0, row, weight);
        for (int i = 0; i < BATCH; i++) count[row[i]]++;
      }
      assert_true(surprise(count, chance, ROWS_MAX, 600 * BATCH) < 4.5);
      free(count);
      free(chance);
    }
    bench_close(&b);
  }
}

static int32_t only_one(void *data, int64_t row) { return row == *(int64_t *)data ? 3 : 0; }

/* A head whose rows are hardly ever met gets them all the same; a head without rows gets none. */
static void heads_with_few_rows_or_none(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "uniform", 3500, 1, 5);
  bench_write(&b, 3600);
  int64_t row[BATCH], own = 0;
  float weight[BATCH];
  sr__batch batch = {BATCH, row, weight};
  for (int64_t r = sr__buffer_oldest(b.buffer); r < b.told->rows; r++)
    if (should_be_drawable(b.told, r, 3500, 1)) own = r;
  for (int i = 0; i < BATCH; i++) weight[i] = 1;
  sr__draw_owned(b.buffer, &b.random, only_one, &own, 3, &batch);
  for (int i = 0; i < BATCH; i++) assert_true(row[i] == own && weight[i] == 1);
  sr__draw_owned(b.buffer, &b.random, only_one, &own, 2, &batch);
  for (int i = 0; i < BATCH; i++) {
    assert_true(should_be_drawable(b.told, row[i], 3500, 1));
    assert_true(weight[i] <= 0);
  }
  bench_close(&b);
}

/* Parts of block=0: four times as long as pictures stay alike. */
static void parts_follow_the_memory_of_pictures(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int stay = 1; stay <= 12; stay += 11) {
    sr__buffer *buffer = NULL;
    sr__random random;
    uint8_t frame[FRAME];
    double time[2];
    sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, (uint64_t)stay);
    assert_ok(ctx, sr__buffer_new(ctx, 3000, FRAME, 1, &buffer));
    random_frame(&random, frame);
    sr__buffer_begin(buffer, frame);
    for (int r = 1; r < 5000; r++) {
      /* a new picture every `stay` rows: correlation 1 - lag / stay, whose sum is `stay` */
      if (r % stay == 0) random_frame(&random, frame);
      sr__buffer_add(buffer, 0, 0, false, frame);
      if (r % 500 == 0) sr__buffer_begin(buffer, frame);
    }
    assert_ok(ctx, sr__picture_time(ctx, buffer, true, &time[0]));
    assert_ok(ctx, sr__picture_time(ctx, buffer, false, &time[1]));
    for (int k = 0; k < 2; k++)
      if (fabs(time[k] - stay) > 0.15 * stay) /* 3000 / 12 pictures of 12 cells */
        fail_msg("stay %d: %g", stay, time[k]);
    sr__buffer_free(&buffer);
  }
  sr_context_free(&ctx);
  bench b;
  bool cut = true;
  bench_open(&b, "routed:block=0", 2000, 1, 3);
  bench_write(&b, 600);
  assert_int_equal(b.sampler->owner(b.state, 5, NULL), b.told->episode[5] % 3);
  /* independent pictures: T = 1, parts of 4 */
  assert_ok(b.ctx, b.sampler->refresh(b.ctx, b.state, NULL, NULL, &cut));
  assert_false(cut);
  int64_t part = -1, length = 0;
  for (int64_t r = 0; r < b.told->rows; r++) {
    if (b.told->first[r] || length == 4) part++, length = 0;
    length++;
    assert_int_equal(b.sampler->owner(b.state, r, NULL), part % 3);
  }
  bench_close(&b);
}

/* Parts by age: blocks inside episodes of at most `block` rows, dealt in turn, never changed while
 * a row lives. */
static void routed_parts_are_blocks_in_turn(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "routed:block=6", 150, 1, 4);
  int32_t *head_of = malloc(ROWS_MAX * sizeof *head_of);
  int64_t *part_of = malloc(ROWS_MAX * sizeof *part_of);
  int64_t part = -1, length = 0;
  for (int64_t r = 0; r < 900; r = b.told->rows) {
    bench_write(&b, 1);
    for (int64_t k = r; k < b.told->rows; k++) { /* the slow rule */
      if (b.told->first[k] || length == 6) part++, length = 0;
      length++;
      part_of[k] = part;
      head_of[k] = (int32_t)(part % 4);
    }
    for (int64_t k = sr__buffer_oldest(b.buffer); k < b.told->rows; k++)
      assert_int_equal(b.sampler->owner(b.state, k, NULL), head_of[k]);
  }
  bench_close(&b);
  /* one-part: all rows of a batch are of one part */
  bench_open(&b, "one-part:6", 150, 1, 4);
  bench_write(&b, 900);
  for (int k = 0; k < 300; k++) {
    int64_t row[BATCH];
    float weight[BATCH];
    draw_batch(&b, -1, 0, row, weight);
    for (int i = 1; i < BATCH; i++) assert_int_equal(part_of[row[i]], part_of[row[0]]);
  }
  bench_close(&b);
  free(head_of);
  free(part_of);
}

static void priorities_decide_the_draws(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "per:alpha=0.5,beta=0.4,epsilon=0.01", 120, 3, 1);
  bench_write(&b, 500);
  double priority[ROWS_MAX] = {0}, largest = 1;
  for (int64_t r = 0; r < b.told->rows; r++) priority[r] = 1; /* new rows: the largest so far */
  int64_t row[BATCH];
  float weight[BATCH], error[BATCH];
  for (int k = 0; k < 40; k++) {
    draw_batch(&b, -1, 0, row, weight);
    for (int i = 0; i < BATCH; i++) {
      error[i] = (float)(row[i] % 9);
      priority[row[i]] = sqrt((double)error[i] + 0.01);
      if (priority[row[i]] > largest) largest = priority[row[i]];
    }
    b.sampler->learned(b.state, &(sr__batch){BATCH, row, weight}, error);
  }
  int64_t before = b.told->rows;
  bench_write(&b, 20);
  for (int64_t r = before - 1; r < b.told->rows; r++) priority[r] = largest;
  /* Chances of rows; the mass of rows whose history is overwritten goes to all in proportion. */
  double *chance = calloc(ROWS_MAX, sizeof *chance), *count = calloc(ROWS_MAX, sizeof *count),
         total = 0, mass = 0;
  for (int64_t r = sr__buffer_oldest(b.buffer); r < b.told->rows; r++) {
    if (!b.told->whole[r]) continue;
    mass += priority[r];
    if (should_be_drawable(b.told, r, 120, 3)) total += chance[r] = priority[r];
  }
  for (int64_t r = 0; r < ROWS_MAX; r++) chance[r] /= total;
  for (int k = 0; k < 2000; k++) {
    const double progress = 0.25, beta = 0.4 + 0.6 * progress;
    draw_batch(&b, -1, progress, row, weight);
    double top = 0;
    for (int i = 0; i < BATCH; i++) {
      count[row[i]]++;
      top = fmax(top, pow((double)b.buffer->whole * priority[row[i]] / mass, -beta));
    }
    for (int i = 0; i < BATCH; i++)
      assert_close((double)weight[i],
                   pow((double)b.buffer->whole * priority[row[i]] / mass, -beta) / top, 1e-5);
  }
  assert_true(surprise(count, chance, ROWS_MAX, 2000.0 * BATCH) < 4.5);
  free(chance);
  free(count);
  bench_close(&b);
}

/* What a model's next draw hangs on is stored: powers of the library's own, not those that a C
 * library chooses by the processor. */
static void priorities_are_the_same_bits_on_every_machine(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "per:alpha=0.6,epsilon=0.01", 200, 3, 1);
  bench_write(&b, 150);
  int64_t row[BATCH];
  float weight[BATCH], error[BATCH];
  double priority[ROWS_MAX] = {0};
  for (int k = 0; k < 40; k++) {
    draw_batch(&b, -1, 0, row, weight);
    for (int i = 0; i < BATCH; i++) {
      error[i] = (float)((double)((row[i] * 37 + k) % 1009) / 100.0);
      priority[row[i]] = sr__pow_portable((double)error[i] + 0.01, 0.6);
    }
    for (int i = 0; i < BATCH; i++) /* a row drawn twice has its last error */
      for (int j = 0; j < i; j++)
        if (row[i] == row[j]) error[j] = error[i];
    b.sampler->learned(b.state, &(sr__batch){BATCH, row, weight}, error);
  }
  sr__bytes bytes = {.ctx = b.ctx};
  b.sampler->save(b.state, &bytes);
  assert_ok(b.ctx, bytes.status);
  sr__byte_reader reader = {b.ctx, bytes.data, bytes.size, 0, "the sampler", SR_OK};
  sr__get_f64(&reader); /* the largest so far */
  int drawn = 0;
  for (int64_t slot = 0; slot < 200; slot++) {
    double stored = sr__get_f64(&reader);
    for (int64_t r = 0; r < b.told->rows; r++) {
      if (sr__buffer_slot(b.buffer, r) != slot || priority[r] == 0) continue;
      assert_memory_equal(&stored, &priority[r], sizeof stored);
      drawn++;
    }
  }
  assert_true(drawn > 100);
  sr__bytes_free(&bytes);
  bench_close(&b);
}

/* Hidden features in four clouds: a head's rows are whole clouds or pieces of them, never a random
 * share. */
static sr_status clouds(sr_context *ctx, void *data, int64_t count, const int64_t *rows,
                        float *features) {
  (void)ctx, (void)data;
  for (int64_t i = 0; i < count; i++)
    for (int j = 0; j < 4; j++)
      features[4 * i + j] =
          (float)(10 * (rows[i] % 4 == j) + 1e-3 * (double)(rows[i] * (j + 3) % 101));
  return SR_OK;
}
static void features_route_clouds(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "routed-features:landmarks=120,neighbors=5,parts=4", 400, 1, 4);
  bench_write(&b, 300);
  bool cut = false;
  assert_ok(b.ctx, b.sampler->refresh(b.ctx, b.state, clouds, NULL, &cut));
  assert_true(cut);
  assert_ok(b.ctx, b.sampler->refresh(b.ctx, b.state, clouds, NULL, &cut));
  assert_false(cut); /* nothing is new yet */
  int64_t owned[4][4] = {{0}}, rows = 0, usual = 0;
  for (int64_t r = 0; r < 300;
       r++) { /* landmarks keep their part, the others go to the nearest center */
    if (!should_be_drawable(b.told, r, 400, 1)) continue;
    float features[4];
    assert_ok(b.ctx, clouds(b.ctx, NULL, 1, &r, features));
    owned[r % 4][b.sampler->owner(b.state, r, features)]++;
    rows++;
  }
  unsigned heads =
      0; /* each cloud has a head of its own, but for what balanced parts must give away */
  for (int cloud = 0; cloud < 4; cloud++) {
    int most = 0;
    for (int head = 1; head < 4; head++)
      if (owned[cloud][head] > owned[cloud][most]) most = head;
    usual += owned[cloud][most];
    heads |= 1u << most;
  }
  assert_int_equal(heads, 15);
  assert_true(usual * 100 >= rows * 85);
  bench_write(&b, 200);
  assert_ok(b.ctx, b.sampler->refresh(b.ctx, b.state, clouds, NULL, &cut));
  assert_true(cut);
  bench_close(&b);
}

/* Larger rings change neither whose a row is nor how it is drawn. */
static void samplers_grow_with_the_buffer(void **state) {
  (void)state;
  for (int64_t rows = 90; rows <= 611; rows += 521)
    for (int index = 0; sr_sampler_method(index); index++) {
      bench b;
      bool cut;
      bench_open(&b, sr_sampler_method(index)->name, 200, 2, 3);
      if (!b.sampler->grow) {
        assert_false(b.sampler->save); /* what keeps a state by slot must grow */
        bench_close(&b);
        continue;
      }
      bench_write(&b, rows);
      if (b.sampler->refresh)
        assert_ok(b.ctx, b.sampler->refresh(b.ctx, b.state, clouds, NULL, &cut));
      int64_t row[BATCH];
      float weight[2][BATCH], error[BATCH];
      for (int k = 0; k < 20 && b.sampler->learned; k++) {
        draw_batch(&b, -1, 0.5, row, weight[0]);
        for (int i = 0; i < BATCH; i++) error[i] = (float)(row[i] % 9);
        b.sampler->learned(b.state, &(sr__batch){BATCH, row, weight[0]}, error);
      }
      int64_t oldest = sr__buffer_oldest(b.buffer);
      int32_t *owner = calloc(ROWS_MAX, sizeof *owner);
      for (int64_t r = oldest; r < b.told->rows && b.sampler->owner; r++)
        owner[r] = b.sampler->owner(b.state, r, NULL);
      sr__buffer *larger = NULL;
      b.told->gone = oldest;
      assert_ok(b.ctx, sr__buffer_larger(b.ctx, b.buffer, 350, &larger));
      assert_ok(b.ctx, b.sampler->grow(b.ctx, b.state, larger));
      sr__buffer smaller = *b.buffer;
      *b.buffer = *larger;
      *larger = smaller;
      sr__buffer_free(&larger);
      for (int64_t r = oldest; r < b.told->rows && b.sampler->owner; r++)
        assert_int_equal(b.sampler->owner(b.state, r, NULL), owner[r]);
      bench_write(&b, 30);
      for (int64_t r = oldest; r < b.told->rows - 60 && b.sampler->owner; r++)
        assert_int_equal(b.sampler->owner(b.state, r, NULL), owner[r]);
      for (int k = 0; k < 20; k++) draw_batch(&b, -1, 0.5, row, weight[0]);
      bench_write(&b, 500); /* the larger ring turns over */
      for (int k = 0; k < 20; k++) draw_batch(&b, -1, 0.5, row, weight[0]);
      for (int64_t r = sr__buffer_oldest(b.buffer); r < b.told->rows && b.sampler->owner; r++)
        assert_in_range(b.sampler->owner(b.state, r, NULL) + 1, 0, 3);
      free(owner);
      bench_close(&b);
    }
}

/* A saved sampler draws and owns alike. */
static void samplers_save_and_load(void **state) {
  (void)state;
  for (int index = 0; sr_sampler_method(index); index++) {
    const char *name = sr_sampler_method(index)->name;
    bench b, other;
    bench_open(&b, name, 200, 2, 3);
    bench_open(&other, name, 200, 2, 3);
    bench_write(&b, 611);
    bool cut;
    if (b.sampler->refresh)
      assert_ok(b.ctx, b.sampler->refresh(b.ctx, b.state, clouds, NULL, &cut));
    bench_write(&other, 611);
    sr__bytes bytes = {.ctx = b.ctx};
    if (b.sampler->save) {
      b.sampler->save(b.state, &bytes);
      assert_int_equal(bytes.status, SR_OK);
      sr__byte_reader reader = {other.ctx, bytes.data, bytes.size, 0, "the sampler", SR_OK};
      other.sampler->load(other.state, &reader);
      assert_int_equal(reader.status, SR_OK);
      assert_int_equal(reader.at, bytes.size);
    }
    for (int k = 0; k < 20; k++) {
      int64_t row[2][BATCH];
      float weight[2][BATCH] = {{0}};
      draw_batch(&b, -1, 0.5, row[0], weight[0]);
      draw_batch(&other, -1, 0.5, row[1], weight[1]);
      assert_memory_equal(row[0], row[1], sizeof row[0]);
      assert_memory_equal(weight[0], weight[1], sizeof weight[0]);
      if (!b.sampler->owner) continue;
      for (int i = 0; i < BATCH; i++)
        assert_int_equal(b.sampler->owner(b.state, row[0][i], NULL),
                         other.sampler->owner(other.state, row[0][i], NULL));
    }
    sr__bytes_free(&bytes);
    bench_close(&b);
    bench_close(&other);
  }
}

static void paces_are_what_the_names_say(void **state) {
  (void)state;
  const struct {
    const char *text;
    double steps, rate;
  } known[] = {{"uniform-more", 1.25, 1},
               {"uniform-more:2", 2, 1},
               {"half-rate", 1, 0.5},
               {"rem", 1, 1}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    bench b;
    bench_open(&b, known[k].text, 50, 1, 1);
    sr__sampler_pace pace = {1, 1};
    if (b.sampler->set_pace) b.sampler->set_pace(b.configuration.options, &pace);
    assert_true(pace.gradient_steps == known[k].steps && pace.learning_rate == known[k].rate);
    bench_close(&b);
  }
}

static sr_status make_and_cut(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr__buffer *buffer = NULL, *larger = NULL;
  sr__configuration configuration = {0};
  const sr__sampler *sampler = NULL;
  void *state = NULL;
  sr_allocator allocator = sr__allocator(ctx);
  SR_TRY(sr__buffer_new(ctx, 200, FRAME, 2, &buffer));
  SR_TRY(sr__configure(ctx, "sampler", sr_sampler_method, data, &configuration));
  sampler = (const sr__sampler *)(const void *)configuration.method;
  sr__sampler_setup setup = {buffer, 3, 4, 7, true};
  SR_TRY(sampler->prepare(ctx, configuration.options, &setup, &state));
  uint8_t frame[FRAME] = {0};
  sr__buffer_begin(buffer, frame);
  sampler->added(state, 0, true);
  for (int64_t r = 0; r < 150; r++) {
    sr__buffer_add(buffer, 0, 0, false, frame);
    if (sampler->completed) sampler->completed(state, r);
    sampler->added(state, r + 1, false);
  }
  bool cut;
  double time;
  if (sampler->refresh) SR_TRY(sampler->refresh(ctx, state, clouds, NULL, &cut));
  SR_TRY(sr__picture_time(ctx, buffer, true, &time));
  SR_TRY(sr__buffer_larger(ctx, buffer, 300, &larger));
  SR_TRY(sampler->grow(ctx, state, larger));
cleanup:
  sr__buffer_free(&larger);
  if (state) sampler->free_state(&allocator, state);
  sr__configuration_free(&allocator, &configuration);
  sr__buffer_free(&buffer);
  return status;
}
static void every_allocation_may_fail(void **state) {
  (void)state;
  char per[] = "per", routed[] = "routed:block=0",
       features[] = "routed-features:landmarks=60,parts=4";
  test_every_allocation(make_and_cut, per);
  test_every_allocation(make_and_cut, routed);
  test_every_allocation(make_and_cut, features);
}

static void sizes_that_cannot_be_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr__buffer *buffer = NULL;
  assert_int_equal(sr__buffer_new(ctx, 100, FRAME, 0, &buffer), SR_ERROR_ARGUMENT);
  assert_int_equal(sr__buffer_new(ctx, 100, FRAME, 9, &buffer), SR_ERROR_ARGUMENT);
  assert_int_equal(sr__buffer_new(ctx, 3, FRAME, 1, &buffer), SR_ERROR_ARGUMENT);
  assert_int_equal(sr__buffer_new(ctx, INT64_MAX / 8, 7056, 1, &buffer), SR_ERROR_OVERFLOW);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stacks_never_cross_episodes),
                                     cmocka_unit_test(a_larger_ring_keeps_its_rows),
                                     cmocka_unit_test(a_saved_buffer_comes_back),
                                     cmocka_unit_test(sum_tree_is_a_walk_along_the_weights),
                                     cmocka_unit_test(heads_draw_their_own_rows_alike),
                                     cmocka_unit_test(heads_with_few_rows_or_none),
                                     cmocka_unit_test(routed_parts_are_blocks_in_turn),
                                     cmocka_unit_test(parts_follow_the_memory_of_pictures),
                                     cmocka_unit_test(priorities_decide_the_draws),
                                     cmocka_unit_test(
                                         priorities_are_the_same_bits_on_every_machine),
                                     cmocka_unit_test(features_route_clouds),
                                     cmocka_unit_test(samplers_grow_with_the_buffer),
                                     cmocka_unit_test(samplers_save_and_load),
                                     cmocka_unit_test(paces_are_what_the_names_say),
                                     cmocka_unit_test(every_allocation_may_fail),
                                     cmocka_unit_test(sizes_that_cannot_be_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
