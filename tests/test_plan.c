/* Bags of every scheme: what they must hold, and slow references for how they are drawn. */
#include <math.h>

#include "core/random.h"
#include "harness.h"
#include "plan/plan.h"
#include "plan_kit.h"

enum { N = 1000, MEMBERS = 10, PARTS = 7 };

typedef struct fixture {
  sr_context *ctx;
  sr_parts *parts;
  int32_t part[N];
  int32_t group[N]; /* three groups, their rows interleaved */
  int64_t rows[N + 1];
  int32_t counts[N + 1];
  int64_t length;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->ctx = test_context(1);
  for (int i = 0; i < N; i++) {
    f->part[i] = i * PARTS / N;
    f->group[i] = i % 10 < 5 ? 0 : i % 10 < 8 ? 1 : 2;
  }
  assert_ok(f->ctx, sr_parts_new(f->ctx, N, f->part, NULL, &f->parts));
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  sr_parts_free(&f->parts);
  sr_context_free(&f->ctx);
  free(f);
  return 0;
}

static plan_input input_of(const fixture *f) {
  return (plan_input){.rows = N, .parts = f->parts, .tmix = 12.0, .block = 17.0};
}

/* Algorithm 1 cuts as many parts as the fixture has. */
static const char *text_of(const char *name) {
  return strcmp(name, "spectral") == 0 ? "spectral:parts=7" : name;
}

static sr_plan *make_plan_of(fixture *f, const plan_input *input, const char *text,
                             int32_t members) {
  sr_plan *plan = NULL;
  assert_ok(f->ctx, plan_new(f->ctx, input, text, members, 1, &plan));
  return plan;
}

static sr_plan *make_plan(fixture *f, const plan_input *input, const char *name) {
  return make_plan_of(f, input, input->rows == 1 ? name : text_of(name), MEMBERS);
}

static void get_bag(fixture *f, const sr_plan *plan, int32_t member) {
  assert_ok(f->ctx, sr_plan_bag(f->ctx, plan, member, f->rows, f->counts, &f->length));
}

static int64_t bag_size(const fixture *f) {
  int64_t size = 0;
  for (int64_t i = 0; i < f->length; i++) size += f->counts[i];
  return size;
}

static const char *const all_but_bags[] = {"uniform",   "whole",        "uniform-nm", "lag-thin",
                                           "tmix-thin", "stationary",   "circular",   "moving",
                                           "burn-in",   "oracle-block", "auto-block", "spectral",
                                           "routed"};
enum { SCHEMES = sizeof all_but_bags / sizeof *all_but_bags };

/* ---- all schemes -------------------------------------------------------------------------- */

static void the_registry_lists_every_scheme(void **state) {
  (void)state;
  int count = 0;
  for (; sr_plan_method(count); count++) {
    assert_true(strlen(sr_plan_method(count)->help) > 0);
    if (count < SCHEMES) assert_string_equal(sr_plan_method(count)->name, all_but_bags[count]);
  }
  assert_int_equal(count, SCHEMES + 1);
  assert_string_equal(sr_plan_method(SCHEMES)->name, "bags");
  assert_null(sr_plan_method(-1));
}

static void bags_are_sorted_distinct_and_within_capacity(void **state) {
  fixture *f = *state;
  for (int grouped = 0; grouped < 2; grouped++) {
    plan_input input = input_of(f);
    if (grouped) {
      input.group = f->group;
      input.groups = 3;
    }
    for (int s = 0; s < SCHEMES; s++) {
      sr_plan *plan = make_plan(f, &input, all_but_bags[s]);
      sr_plan_view info = sr_plan_get(plan);
      assert_string_equal(info.name, all_but_bags[s]);
      assert_int_equal(info.members, MEMBERS);
      for (int32_t member = 0; member < MEMBERS; member++) {
        get_bag(f, plan, member);
        assert_true(f->length >= 1 && f->length <= info.capacity);
        if (strcmp(info.name, "whole") == 0) assert_int_equal(f->length, N);
        for (int64_t i = 0; i < f->length; i++) {
          assert_true(f->rows[i] >= 0 && f->rows[i] < N && f->counts[i] >= 1);
          assert_true(i == 0 || f->rows[i] > f->rows[i - 1]);
        }
      }
      sr_plan_free(&plan);
    }
  }
}

static void bags_have_the_size_their_scheme_says(void **state) {
  fixture *f = *state;
  plan_input input = input_of(f);
  /* burn-in drops ceil(12 ln 1000) = 83 rows. */
  const struct {
    const char *name;
    int64_t low, high;
  } sizes[] = {{"uniform", N, N},      {"whole", N, N},       {"uniform-nm", 100, 100},
               {"lag-thin", 200, 200}, {"tmix-thin", 83, 84}, {"stationary", N, N},
               {"circular", N, N},     {"moving", N, N},      {"oracle-block", N, N},
               {"auto-block", N, N},   {"burn-in", 917, 917}, {"spectral", 142, 143},
               {"routed", 568, 575}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    sr_plan *plan = make_plan(f, &input, sizes[s].name);
    for (int32_t member = 0; member < MEMBERS; member++) {
      get_bag(f, plan, member);
      assert_in_range(bag_size(f), sizes[s].low, sizes[s].high);
    }
    sr_plan_free(&plan);
  }
}

static void a_bag_depends_on_seed_and_member_alone(void **state) {
  fixture *f = *state;
  plan_input input = input_of(f);
  for (int s = 0; s < SCHEMES; s++) {
    sr_plan *plan = make_plan(f, &input, all_but_bags[s]);
    sr_plan *again = make_plan(f, &input, all_but_bags[s]);
    int64_t rows[N + 1];
    int32_t counts[N + 1];
    int64_t length;
    get_bag(f, plan, 3);
    assert_ok(f->ctx, sr_plan_bag(f->ctx, again, 9, rows, counts, &length));
    bool differs = length != f->length || memcmp(rows, f->rows, (size_t)length * sizeof *rows) ||
                   memcmp(counts, f->counts, (size_t)length * 4);
    assert_true(differs || strcmp(all_but_bags[s], "whole") == 0);
    assert_ok(f->ctx, sr_plan_bag(f->ctx, again, 3, rows, counts, &length));
    assert_int_equal(length, f->length);
    assert_memory_equal(rows, f->rows, (size_t)length * sizeof *rows);
    assert_memory_equal(counts, f->counts, (size_t)length * sizeof *counts);
    sr_plan_free(&plan);
    sr_plan_free(&again);
  }
}

/* ---- the bootstrap ------------------------------------------------------------------------ */

/* Counts of one row over many bags are Binomial(n, 1/n): mean 1, variance 1 - 1/n; counts of two
 * rows have covariance -1/n. Checked for the first block, the last short block and across. */
static void uniform_counts_are_multinomial(void **state) {
  fixture *f = *state;
  enum { BAGS = 4000 };
  plan_input input = input_of(f);
  sr_plan *plan = make_plan_of(f, &input, "uniform", BAGS);
  static double sum[N], square[N];
  double distinct = 0, last_block = 0, last_block_square = 0;
  for (int32_t member = 0; member < BAGS; member++) {
    get_bag(f, plan, member);
    double in_last = 0;
    for (int64_t i = 0; i < f->length; i++) {
      sum[f->rows[i]] += f->counts[i];
      square[f->rows[i]] += (double)f->counts[i] * f->counts[i];
      if (f->rows[i] >= 768) in_last += f->counts[i];
    }
    distinct += (double)f->length;
    last_block += in_last;
    last_block_square += in_last * in_last;
  }
  double chi = 0, pooled = 0;
  for (int i = 0; i < N; i++) {
    chi += (sum[i] - BAGS) * (sum[i] - BAGS) / BAGS;
    pooled += square[i] / BAGS - sum[i] / BAGS * (sum[i] / BAGS);
  }
  /* Chi-square with 999 degrees: standard deviation 44.7, six of them. */
  assert_true(fabs(chi - 999.0) < 6 * 44.7);
  assert_close(pooled / N, 1.0 - 1.0 / N, 0.01);
  assert_close(distinct / BAGS, N * (1.0 - pow(1.0 - 1.0 / N, N)), 0.002);
  /* The last 232 rows together are Binomial(1000, .232): mean 232, variance 178.2. */
  double mean = last_block / BAGS, variance = last_block_square / BAGS - mean * mean;
  assert_true(fabs(mean - 232.0) < 6 * sqrt(178.2 / BAGS));
  assert_true(fabs(variance - 178.2) < 6 * 178.2 * sqrt(2.0 / BAGS));
  sr_plan_free(&plan);
}

typedef struct joined_bag {
  int32_t *rows, *counts;
  int64_t length, pieces;
} joined_bag;

static sr_status join_piece(void *data, const int32_t *rows, const int32_t *counts,
                            int64_t length) {
  joined_bag *bag = data;
  memcpy(bag->rows + bag->length, rows, (size_t)length * sizeof *rows);
  memcpy(bag->counts + bag->length, counts, (size_t)length * sizeof *counts);
  bag->length += length;
  bag->pieces++;
  return SR_OK;
}

/* Draws of several lengths, so that the last block is full, short, or the only one. */
static void pieces_join_to_the_bag(void **state) {
  fixture *f = *state;
  enum { MOST = 30000 };
  static const int64_t sizes[] = {1, 255, 256, 257, 20000, MOST};
  int32_t *memory = malloc(3 * MOST * sizeof *memory), *counts = memory;
  int64_t *rows = malloc(MOST * sizeof *rows);
  for (int k = 0; k < 12; k++) {
    plan_input input = {.rows = sizes[k / 2]};
    sr_plan *plan = make_plan_of(f, &input, k % 2 ? "uniform-nm:0.01" : "uniform", 100);
    int64_t length, draws = 0;
    joined_bag joined = {.rows = memory + MOST, .counts = memory + 2 * MOST};
    sr__bag bag = sr__bag_open(plan, 3);
    assert_ok(f->ctx, sr_plan_bag(f->ctx, plan, 3, rows, counts, &length));
    assert_ok(f->ctx, sr__bag_read(f->ctx, &bag, join_piece, &joined));
    assert_int_equal(joined.length, length);
    for (int64_t i = 0; i < length; i++) assert_int_equal(joined.rows[i], rows[i]);
    assert_memory_equal(joined.counts, counts, (size_t)length * sizeof *counts);
    for (int64_t i = 0; i < length; i++) draws += counts[i];
    assert_int_equal(draws, k % 2 ? sr_plan_get(plan).parameters[0].value : (double)input.rows);
    if (input.rows >= 20000 && k % 2 == 0) assert_true(joined.pieces > 4);
    sr_plan_free(&plan);
  }
  free(memory);
  free(rows);
}

/* Entries past the bag are written on the way, but none past the capacity: the arrays end there. */
static void bags_stay_inside_their_arrays(void **state) {
  fixture *f = *state;
  static const int64_t sizes[] = {1, 63, 64, 100, 300, 1000, 2100, 4097};
  static const char *const texts[] = {"uniform",         "uniform-nm:draw_share=0.5",
                                      "circular",        "lag-thin",
                                      "routed",          "uniform-nm:draw_share=0.03",
                                      "spectral:parts=1"};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
      plan_input input = {.rows = sizes[k]};
      sr_plan *plan = make_plan_of(f, &input, texts[t], 3);
      int64_t capacity = sr_plan_get(plan).capacity, length;
      int64_t *rows = malloc((size_t)capacity * sizeof *rows);
      int32_t *counts = malloc((size_t)capacity * sizeof *counts);
      for (int32_t member = 0; member < 3; member++) {
        assert_ok(f->ctx, sr_plan_bag(f->ctx, plan, member, rows, counts, &length));
        assert_in_range(length, 1, capacity);
        for (int64_t i = 0; i < length; i++) assert_in_range(rows[i], i, sizes[k] - 1);
      }
      free(rows);
      free(counts);
      sr_plan_free(&plan);
    }
  }
}

/* ---- the kernel --------------------------------------------------------------------------- */

enum { CELLS = SR__DRAW_CELLS, BLOCKS = 3 };

static int levels_here(const sr__draw_kernel **kernel) {
  kernel[SR__ISA_BASE] = &sr__draw_kernel_base;
#if defined(__x86_64__)
  kernel[SR__ISA_V3] = &sr__draw_kernel_v3;
  kernel[SR__ISA_V4] = &sr__draw_kernel_v4;
#endif
  return (int)sr__isa() + 1;
}

/* Splitmix64 at one place of its stream. */
static uint64_t slow_word(uint64_t key, uint64_t at) {
  uint64_t z = key + at * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* What the draws of all blocks give, draw by draw; *next is behind the words that they took. */
static int64_t slow_blocks(const sr__bit_source *source, const int32_t *draws, const int32_t *list,
                           int32_t *rows, int32_t *counts, uint64_t *next) {
  int64_t length = 0;
  *next = source->next;
  for (int b = 0; b < BLOCKS; b++) {
    int32_t cell[CELLS] = {0};
    for (int32_t k = 0; k < draws[b]; k++)
      cell[slow_word(source->key, *next + (uint64_t)k / 8) >> k % 8 * 8 & 255]++;
    *next += (uint64_t)(draws[b] + 7) / 8;
    for (int k = 0; k < CELLS; k++) {
      if (!cell[k]) continue;
      rows[length] = list ? list[b * CELLS + k] : b * CELLS + k;
      counts[length++] = cell[k];
    }
  }
  return length;
}

/* Few draws, those of a plain bag, and more than a byte counts. */
static void blocks_are_drawn_as_draw_by_draw(void **state) {
  (void)state;
  static const int32_t draws[][BLOCKS] = {{0, 1, 7},         {12, 9, 8},          {256, 230, 301},
                                          {520, 1030, 4096}, {40000, 60000, 256}, {1, 300000, 0}};
  const sr__draw_kernel *kernel[SR__ISA_LEVELS] = {NULL};
  int32_t list[BLOCKS * CELLS], rows[2][BLOCKS * CELLS], counts[2][BLOCKS * CELLS];
  int64_t wide[BLOCKS * CELLS];
  for (int i = 0; i < BLOCKS * CELLS; i++) list[i] = 3 * i + i % 2;
  for (int level = 0; level < levels_here(kernel); level++) {
    for (size_t k = 0; k < sizeof draws / sizeof *draws; k++) {
      for (int form = 0; form < 4; form++) {
        const int32_t *names = form % 2 ? list : NULL;
        sr__bit_source source = {.key = 99 + k, .next = 5};
        uint64_t next;
        int64_t length = slow_blocks(&source, draws[k], names, rows[0], counts[0], &next);
        sr__entries to = {.rows = form < 2 ? rows[1] : NULL,
                          .wide = form < 2 ? NULL : wide,
                          .counts = counts[1]};
        assert_int_equal(kernel[level]->draw_blocks(&source, draws[k], BLOCKS, 0, names, to),
                         length);
        assert_int_equal(source.next, next);
        for (int64_t i = 0; i < length; i++)
          assert_int_equal(form < 2 ? rows[1][i] : wide[i], rows[0][i]);
        assert_memory_equal(counts[0], counts[1], (size_t)length * sizeof **counts);
      }
    }
  }
}

/* Steps, bits and counts of every width, so that some lanes are left over. */
static void entries_are_kept_as_one_by_one(void **state) {
  (void)state;
  enum { MOST = 200 };
  const sr__draw_kernel *kernel[SR__ISA_LEVELS] = {NULL};
  sr__random random;
  sr__random_init(&random, 3, SR_PURPOSE_TEST, 0, 0);
  for (int width = 1; width < MOST; width++) {
    int32_t step[MOST], count[MOST], sum = 0, slow[2][MOST];
    uint64_t word[4] = {0};
    int64_t lengths[3] = {0};
    for (int i = 0; i < width; i++) {
      step[i] = sum && sr__random_below(&random, 4) == 0 ? -1 : sr__random_below(&random, 4) == 0;
      sum += step[i];
      if (sum) slow[0][lengths[0]] = i, slow[1][lengths[0]++] = sum;
      if (sum) word[i / 64] |= UINT64_C(1) << i % 64;
      count[i] = sum;
    }
    if (width % 3 == 0) word[0] = UINT64_MAX;
    for (int level = 0; level < levels_here(kernel); level++) {
      int32_t used[MOST], rows[256], counts[256], before = 0;
      int64_t wide[256];
      sr__entries narrow = {.rows = rows, .counts = counts}, to = {.wide = wide, .counts = counts};
      memcpy(used, step, sizeof used);
      assert_int_equal(kernel[level]->keep_levels(used, &before, 0, width, narrow), lengths[0]);
      assert_int_equal(before, sum);
      assert_memory_equal(rows, slow[0], (size_t)lengths[0] * sizeof *rows);
      assert_memory_equal(counts, slow[1], (size_t)lengths[0] * sizeof *rows);
      memcpy(used, count, sizeof used);
      assert_int_equal(kernel[level]->keep_counted(used, 0, width, NULL, to), lengths[0]);
      for (int64_t i = 0; i < lengths[0]; i++) assert_int_equal(wide[i], slow[0][i]);
      for (int i = 0; i < width; i++) assert_int_equal(used[i], 0);
      int64_t length = kernel[level]->keep_bits(word, 0, 4, to), at = 0;
      for (int64_t i = 0; i < 256; i++)
        if (word[i / 64] >> i % 64 & 1) {
          assert_int_equal(wide[at], i);
          assert_int_equal(counts[at++], 1);
        }
      assert_int_equal(length, at);
    }
  }
}

static void few_draws_are_uniform(void **state) {
  fixture *f = *state;
  enum { BAGS = 4000, DRAWS = 12 };
  plan_input input = input_of(f);
  sr_plan *plan = make_plan_of(f, &input, "uniform-nm:draw_share=0.012", BAGS);
  static double sum[N];
  for (int32_t member = 0; member < BAGS; member++) {
    get_bag(f, plan, member);
    assert_int_equal(bag_size(f), DRAWS);
    for (int64_t i = 0; i < f->length; i++) sum[f->rows[i]] += f->counts[i];
  }
  double chi = 0, expected = (double)BAGS * DRAWS / N;
  for (int i = 0; i < N; i++) chi += (sum[i] - expected) * (sum[i] - expected) / expected;
  assert_true(fabs(chi - 999.0) < 6 * 44.7);
  sr_plan_free(&plan);
}

/* ---- block schemes against index lists ------------------------------------------------------ */

/* The definitions with an index list, from the same stream: position t of the resample is the next
 * row of the present block. Groups [0, 300), [300, 310), [310, 1000). */
static const int64_t border[4] = {0, 300, 310, N};

static int group_at(int64_t position) {
  return position < border[1] ? 0 : position < border[2] ? 1 : 2;
}

static void count_circular(sr__random *random, double block, bool geometric, int32_t *count) {
  int64_t t = 0;
  while (t < N) {
    int64_t at = (int64_t)sr__random_below(random, N);
    int64_t length =
        geometric ? sr__random_geometric(random, sr__geometric_rate(1.0 / block)) : (int64_t)block;
    int group = group_at(at);
    for (int64_t k = 0; k < length && t < N; k++, t++) {
      count[at]++;
      at = at + 1 < border[group + 1] ? at + 1 : border[group];
    }
  }
}

static void count_moving(sr__random *random, int64_t block, int32_t *count) {
  int64_t t = 0;
  while (t < N) {
    int64_t at = (int64_t)sr__random_below(random, N);
    int group = group_at(at);
    int64_t size = border[group + 1] - border[group], length = block < size ? block : size;
    if (at + length > border[group + 1]) continue;
    for (int64_t k = 0; k < length && t < N; k++, t++) count[at + k]++;
  }
}

static void assert_counts(const fixture *f, const int32_t *count) {
  int64_t next = 0;
  for (int32_t i = 0; i < N; i++) {
    if (!count[i]) continue;
    assert_true(next < f->length);
    assert_int_equal(f->rows[next], i);
    assert_int_equal(f->counts[next++], count[i]);
  }
  assert_int_equal(next, f->length);
}

static void blocks_equal_their_index_lists(void **state) {
  fixture *f = *state;
  int32_t group[N];
  for (int64_t i = 0; i < N; i++) group[i] = group_at(i);
  plan_input input = {.rows = N, .group = group, .groups = 3, .tmix = 12, .block = 17};
  const struct {
    const char *name;
    double block;
    bool geometric, moving;
  } cases[] = {{"circular", 10, false, false},
               {"oracle-block", 12, false, false},
               {"auto-block", 17, false, false},
               {"stationary", 10, true, false},
               {"moving", 10, false, true}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sr_plan *plan = make_plan(f, &input, cases[c].name);
    for (int32_t member = 0; member < MEMBERS; member++) {
      int32_t count[N] = {0};
      sr__random random;
      sr__random_init(&random, 1, SR_PURPOSE_BAG, 0, (uint64_t)member);
      if (cases[c].moving)
        count_moving(&random, (int64_t)cases[c].block, count);
      else
        count_circular(&random, cases[c].block, cases[c].geometric, count);
      get_bag(f, plan, member);
      assert_counts(f, count);
    }
    sr_plan_free(&plan);
  }
}

/* Thinned bags hold rows of one residue a group, never two rows of a group closer than the lag. */
static void thinned_rows_keep_their_distance(void **state) {
  fixture *f = *state;
  plan_input input = input_of(f);
  input.group = f->group;
  input.groups = 3;
  const char *names[] = {"lag-thin", "tmix-thin"};
  const int64_t lags[] = {5, 12};
  int64_t rank[N], seen[3] = {0};
  for (int i = 0; i < N; i++) rank[i] = seen[f->group[i]]++;
  for (int s = 0; s < 2; s++) {
    sr_plan *plan = make_plan(f, &input, names[s]);
    for (int32_t member = 0; member < MEMBERS; member++) {
      get_bag(f, plan, member);
      int64_t residue[3] = {-1, -1, -1};
      for (int64_t i = 0; i < f->length; i++) {
        int32_t g = f->group[f->rows[i]];
        int64_t r = rank[f->rows[i]] % lags[s];
        if (residue[g] < 0) residue[g] = r;
        assert_int_equal(residue[g], r);
      }
    }
    sr_plan_free(&plan);
  }
}

static void burn_in_drops_the_first_rows_of_each_group(void **state) {
  fixture *f = *state;
  plan_input input = input_of(f);
  input.group = f->group;
  input.groups = 3;
  int64_t seen[3] = {0}, rank[N];
  for (int i = 0; i < N; i++) rank[i] = seen[f->group[i]]++;
  sr_plan *plan = make_plan(f, &input, "burn-in");
  for (int32_t member = 0; member < MEMBERS; member++) {
    get_bag(f, plan, member);
    assert_int_equal(bag_size(f), N - 3 * 83);
    for (int64_t i = 0; i < f->length; i++) assert_true(rank[f->rows[i]] >= 83);
  }
  sr_plan_free(&plan);
  input.tmix = 200;
  assert_int_equal(plan_new(f->ctx, &input, "burn-in", 100, 1, &plan), SR_ERROR_DATA);
  assert_null(plan);
}

/* ---- parts -------------------------------------------------------------------------------- */

/* 10 members over 7 parts: one each, and one more for parts 0, 1 and 2. */
static void spectral_gives_each_part_its_members(void **state) {
  fixture *f = *state;
  plan_input input = input_of(f);
  sr_plan *plan = make_plan(f, &input, "spectral");
  const int32_t expected[MEMBERS] = {0, 0, 1, 1, 2, 2, 3, 4, 5, 6};
  for (int32_t member = 0; member < MEMBERS; member++) {
    get_bag(f, plan, member);
    for (int64_t i = 0; i < f->length; i++) assert_int_equal(f->part[f->rows[i]], expected[member]);
    assert_int_equal(bag_size(f), sr_parts_get(f->parts)->size[expected[member]]);
  }
  sr_plan_free(&plan);
  assert_int_equal(sr_plan_spectral_parts(1.0, 0.1, 100, N), 10);
  assert_int_equal(sr_plan_spectral_parts(1.0, 2e-9, 100, N), 100);
  assert_int_equal(sr_plan_spectral_parts(1.0, 0.0, 100, 50), 50);
  assert_int_equal(sr_plan_spectral_parts(1.0, 2.0, 100, N), 1);
  assert_int_equal(sr_plan_spectral_parts(1.0, NAN, 100, N), 100);
}

static void spectral_refuses_more_parts_than_members(void **state) {
  fixture *f = *state;
  plan_input input = input_of(f);
  sr_plan *plan = NULL;
  assert_int_equal(plan_new(f->ctx, &input, "spectral:parts=7", PARTS - 1, 1, &plan),
                   SR_ERROR_ARGUMENT);
}

static void routed_draws_its_share_of_parts_and_rows(void **state) {
  fixture *f = *state;
  enum { BAGS = 2000 };
  plan_input input = input_of(f);
  /* 2.8 of 7 parts: 3 */
  sr_plan *plan = make_plan_of(f, &input, "routed:part_share=0.4,row_share=0.1", BAGS);
  double rows = 0, times[PARTS] = {0};
  for (int32_t member = 0; member < BAGS; member++) {
    get_bag(f, plan, member);
    bool seen[PARTS] = {false};
    for (int64_t i = 0; i < f->length; i++) {
      assert_int_equal(f->counts[i], 1);
      seen[f->part[f->rows[i]]] = true;
    }
    int parts = 0;
    for (int p = 0; p < PARTS; p++) {
      parts += seen[p];
      times[p] += seen[p];
    }
    assert_int_equal(parts, 3);
    rows += (double)f->length;
  }
  /* 3/7 of the rows times 0.1; each part in 3/7 of the bags. */
  assert_close(rows / BAGS, 0.1 * N * 3 / 7, 0.01);
  for (int p = 0; p < PARTS; p++)
    assert_true(fabs(times[p] - BAGS * 3.0 / 7) < 6 * sqrt(BAGS * 12.0 / 49));
  sr_plan_free(&plan);
}

/* ---- refusals and memory ----------------------------------------------------------------------
 */

static void wrong_plans_are_refused(void **state) {
  fixture *f = *state;
  plan_input bare = {.rows = N};
  sr_plan *plan = NULL;
  assert_int_equal(plan_new(f->ctx, &bare, "bags", 10, 1, &plan), SR_ERROR_ARGUMENT);
  assert_int_equal(plan_new(f->ctx, &bare, "bagging", 10, 1, &plan), SR_ERROR_NOT_FOUND);
  assert_non_null(strstr(sr_context_error(f->ctx).message, "uniform-nm"));
  assert_int_equal(plan_new(f->ctx, &bare, "uniform:lag=7", 10, 1, &plan), SR_ERROR_NOT_FOUND);
  assert_int_equal(plan_new(f->ctx, &bare, "uniform", 0, 1, &plan), SR_ERROR_ARGUMENT);
  assert_int_equal(plan_new(f->ctx, &bare, "routed:part_share=1.5", 1, 1, &plan),
                   SR_ERROR_ARGUMENT);
  bare.rows = 0;
  assert_int_equal(plan_new(f->ctx, &bare, "uniform", 1, 1, &plan), SR_ERROR_DATA);
}

/* Bags in memory are sorted and added up; empty ones and rows that do not exist are refused. */
static void bags_in_memory_are_a_plan(void **state) {
  fixture *f = *state;
  const int64_t offset[] = {0, 3, 5}, row[] = {7, 2, 7, 0, 9};
  const int32_t count[] = {1, 4, 2, 1, 1};
  const int64_t gap[] = {0, 0, 5};
  sr_plan *plan = NULL;
  assert_ok(f->ctx, sr_plan_from_bags(f->ctx, 10, 2, offset, row, count, &plan));
  get_bag(f, plan, 0);
  assert_int_equal(f->length, 2);
  assert_int_equal(f->rows[0], 2);
  assert_int_equal(f->counts[0], 4);
  assert_int_equal(f->rows[1], 7);
  assert_int_equal(f->counts[1], 3);
  sr_plan_free(&plan);
  assert_int_equal(sr_plan_from_bags(f->ctx, 9, 2, offset, row, count, &plan), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_plan_from_bags(f->ctx, 10, 2, gap, row, count, &plan), SR_ERROR_ARGUMENT);
}

static void one_row_is_enough(void **state) {
  fixture *f = *state;
  int32_t zero = 0;
  sr_parts *parts = NULL;
  assert_ok(f->ctx, sr_parts_new(f->ctx, 1, &zero, NULL, &parts));
  plan_input input = {.rows = 1, .parts = parts, .tmix = 1, .block = 1};
  for (int s = 0; s < SCHEMES; s++) {
    if (strcmp(all_but_bags[s], "burn-in") == 0) continue;
    sr_plan *plan = make_plan(f, &input, all_but_bags[s]);
    get_bag(f, plan, 0);
    assert_int_equal(f->length, 1);
    assert_int_equal(f->rows[0], 0);
    sr_plan_free(&plan);
  }
  sr_parts_free(&parts);
}

static sr_status bag_of_each_scheme(sr_context *ctx, void *data) {
  fixture *f = data;
  plan_input input = {
      .rows = N, .parts = f->parts, .tmix = 12, .block = 17, .group = f->group, .groups = 3};
  sr_status status = SR_OK;
  for (int s = 0; s < SCHEMES && status == SR_OK; s++) {
    sr_plan *plan = NULL;
    status = plan_new(ctx, &input, text_of(all_but_bags[s]), 100, 1, &plan);
    if (status == SR_OK) status = sr_plan_bag(ctx, plan, 0, f->rows, f->counts, &f->length);
    sr_plan_free(&plan);
  }
  return status;
}

static void plans_survive_every_allocation_failure(void **state) {
  test_every_allocation(bag_of_each_scheme, *state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_registry_lists_every_scheme),
      cmocka_unit_test_setup_teardown(bags_are_sorted_distinct_and_within_capacity, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(bags_have_the_size_their_scheme_says, setup, teardown),
      cmocka_unit_test_setup_teardown(a_bag_depends_on_seed_and_member_alone, setup, teardown),
      cmocka_unit_test_setup_teardown(uniform_counts_are_multinomial, setup, teardown),
      cmocka_unit_test_setup_teardown(pieces_join_to_the_bag, setup, teardown),
      cmocka_unit_test_setup_teardown(bags_stay_inside_their_arrays, setup, teardown),
      cmocka_unit_test(blocks_are_drawn_as_draw_by_draw),
      cmocka_unit_test(entries_are_kept_as_one_by_one),
      cmocka_unit_test_setup_teardown(few_draws_are_uniform, setup, teardown),
      cmocka_unit_test_setup_teardown(blocks_equal_their_index_lists, setup, teardown),
      cmocka_unit_test_setup_teardown(thinned_rows_keep_their_distance, setup, teardown),
      cmocka_unit_test_setup_teardown(burn_in_drops_the_first_rows_of_each_group, setup, teardown),
      cmocka_unit_test_setup_teardown(spectral_gives_each_part_its_members, setup, teardown),
      cmocka_unit_test_setup_teardown(spectral_refuses_more_parts_than_members, setup, teardown),
      cmocka_unit_test_setup_teardown(routed_draws_its_share_of_parts_and_rows, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_plans_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(bags_in_memory_are_a_plan, setup, teardown),
      cmocka_unit_test_setup_teardown(one_row_is_enough, setup, teardown),
      cmocka_unit_test_setup_teardown(plans_survive_every_allocation_failure, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
