/* The grid games: rules, frame layer, determinism, saving. */
#include "harness.h"

#include <math.h>

#include "core/random.h"
#include "replay/grid.h"

extern const sr__game sr__game_montezuma;

typedef struct tally {
  double episodes, sum, squares;
  uint64_t hash;
} tally;

/* Plays steps with actions from a stream (or the written player) and sums up returns and pictures.
 */
static tally play(sr_context *ctx, sr_game *game, int64_t steps, uint64_t seed, bool scripted) {
  const sr_game_view *view = sr_game_get(game);
  tally all = {0, 0, 0, 1469598103934665603u};
  uint8_t picture[800];
  size_t size = (size_t)(view->channels * view->height * view->width);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  for (int64_t t = 0; t < steps; t++) {
    int32_t action = scripted ? sr_game_script(game)
                              : (int32_t)sr__random_below(&random, (uint64_t)view->actions);
    double reward;
    assert_ok(ctx, sr_game_step(ctx, game, action, &reward));
    if (t % 16 == 0) {
      sr_game_picture(game, picture);
      for (size_t i = 0; i < size; i++) all.hash = (all.hash ^ picture[i]) * 1099511628211u;
    }
    all.hash = (all.hash ^ (uint64_t)(int64_t)(reward * 8) ^ (uint64_t)view->over) * 1099511628211u;
    if (!view->over && !view->truncated) continue;
    all.episodes++;
    all.sum += view->score;
    all.squares += view->score * view->score;
    assert_ok(ctx, sr_game_reset(ctx, game));
  }
  return all;
}

static sr_game *new_game(sr_context *ctx, const char *text, uint64_t seed) {
  sr_game *game = NULL;
  assert_ok(ctx, sr_game_new(ctx, text, seed, &game));
  return game;
}

/* Means of an implementation of the same rules by other hands, 2 x 10^6 random steps, skip 4,
 * sticky .1. */
static void random_play_has_the_known_returns(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double mean, sd;
  } known[] = {{"breakout", 0.29, 0.59}, {"space_invaders", 8.2, 4.9}, {"seaquest", 0.21, 0.56},
               {"qbert", 1.75, 2.7},     {"pong", -5.35, 2.5},         {"montezuma", 0, 0},
               {"pitfall", -19.8, 3.5}};
  sr_context *ctx = test_context(1);
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    sr_game *game = new_game(ctx, known[k].name, 3);
    tally all = play(ctx, game, 200000, 7, false);
    double mean = all.sum / all.episodes, error = known[k].sd / sqrt(all.episodes);
    /* four standard errors, and half of the last digit that is known */
    assert_true(fabs(mean - known[k].mean) <= 4 * error + 0.05 * fmax(1, fabs(known[k].mean) / 10));
    sr_game_free(&game);
  }
  sr_context_free(&ctx);
}

/* Scripted returns of the same source where it has a player; Seaquest and Q*bert beat random play
 * many times. */
static void written_players_score(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double low, high;
  } known[] = {{"breakout", 28, 46}, {"space_invaders", 18, 24}, {"pong", 6.3, 7},
               {"pitfall", 2, 6},    {"seaquest", 25, 80},       {"qbert", 18, 32}};
  sr_context *ctx = test_context(1);
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    sr_game *game = new_game(ctx, known[k].name, 5);
    tally all = play(ctx, game, 100000, 1, true);
    assert_in_range((uint64_t)(1000 * all.sum / all.episodes), (uint64_t)(1000 * known[k].low),
                    (uint64_t)(1000 * known[k].high));
    sr_game_free(&game);
  }
  sr_game *game = new_game(ctx, "montezuma", 1);
  assert_int_equal(sr_game_script(game), -1);
  sr_game_free(&game);
  sr_context_free(&ctx);
}

static void same_seed_same_bytes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int g = 0; g < 7; g++) {
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
      sr_game *game = new_game(ctx, sr_game_method(g)->name, k < 2 ? 11 : 12);
      hash[k] = play(ctx, game, 5000, 1, false).hash;
      sr_game_free(&game);
    }
    assert_int_equal(hash[0], hash[1]);
    assert_int_not_equal(hash[0], hash[2]);
  }
  sr_context_free(&ctx);
}

/* The same moves held for whole ticks give the same game at every skip, sticky actions included. */
static void the_game_is_the_same_at_every_skip(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int g = 0; g < 7; g++) {
    char text[64];
    sr_game *game[3];
    const int skip[3] = {8, 4, 1};
    for (int k = 0; k < 3; k++) {
      snprintf(text, sizeof text, "%s:skip=%d", sr_game_method(g)->name, skip[k]);
      game[k] = new_game(ctx, text, 4);
    }
    sr__random random;
    sr__random_init(&random, 9, SR_PURPOSE_TEST, 0, 0);
    int ended = 0;
    for (int t = 0; t < 3000; t++) {
      const sr_game_view *view = sr_game_get(game[0]);
      int32_t action = (int32_t)sr__random_below(&random, (uint64_t)view->actions);
      for (int k = 0; k < 3; k++)
        for (int i = 0; i < 8 / skip[k]; i++) {
          double reward;
          const sr_game_view *now = sr_game_get(game[k]);
          if (!now->over && !now->truncated)
            assert_ok(ctx, sr_game_step(ctx, game[k], action, &reward));
        }
      uint8_t picture[3][800];
      for (int k = 0; k < 3; k++) {
        const sr_game_view *now = sr_game_get(game[k]);
        sr_game_picture(game[k], picture[k]);
        assert_int_equal(now->over, view->over);
        assert_int_equal(now->truncated, view->truncated);
        assert_true(now->score == view->score);
        assert_memory_equal(picture[k], picture[0], (size_t)view->channels * 100);
      }
      if (!view->over && !view->truncated) continue;
      ended++;
      for (int k = 0; k < 3; k++) assert_ok(ctx, sr_game_reset(ctx, game[k]));
    }
    assert_true(ended > 0);
    for (int k = 0; k < 3; k++) sr_game_free(&game[k]);
  }
  sr_context_free(&ctx);
}

/* The left cell of Breakout's paddle after frames that ask for these actions. */
static int paddle_after(const char *asked) {
  sr_context *ctx = test_context(1);
  sr_game *game = new_game(ctx, "breakout:skip=1,sticky=0", 1);
  for (const char *at = asked; *at; at++) {
    double reward;
    assert_ok(ctx, sr_game_step(ctx, game, *at == 'L' ? 1 : *at == 'R' ? 2 : 0, &reward));
  }
  uint8_t picture[400];
  sr_game_picture(game, picture);
  int x = 0;
  while (!picture[90 + x]) x++;
  sr_game_free(&game);
  sr_context_free(&ctx);
  return x;
}

static void most_frames_of_a_tick_decide(void **state) {
  (void)state;
  assert_int_equal(paddle_after(""), 4);
  assert_int_equal(paddle_after("LLL"), 4);  /* the tick is not complete */
  assert_int_equal(paddle_after("LLLR"), 3); /* most frames */
  assert_int_equal(paddle_after("LLRR"), 5); /* a tie: the latest */
  assert_int_equal(paddle_after("RRLL"), 3);
  assert_int_equal(paddle_after("LRSLLLLR"), 2); /* a vote per tick */
}

static void sticky_ticks_repeat_the_move_before(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = new_game(ctx, "pong:sticky=1", 1);
  double reward;
  for (int t = 0; t < 3; t++) assert_ok(ctx, sr_game_step(ctx, game, 1, &reward));
  uint8_t picture[400];
  sr_game_picture(game, picture);
  assert_int_equal(picture[49], 1); /* it never moved: the move before the first is to stay */
  assert_int_equal(picture[59], 1);
  sr_game_free(&game);
  sr_context_free(&ctx);
}

static void truncated_is_not_over(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  static const struct {
    const char *text;
    int64_t steps;
  } known[] = {{"montezuma", 400},
               {"montezuma:skip=8", 200},
               {"montezuma:skip=3", 534},
               {"pitfall", 1000}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    sr_game *game = new_game(ctx, known[k].text, 2);
    const sr_game_view *view = sr_game_get(game);
    double reward;
    while (!view->over && !view->truncated) assert_ok(ctx, sr_game_step(ctx, game, 0, &reward));
    assert_int_equal(view->truncated, 1); /* standing still is safe in both games */
    assert_int_equal(view->over, 0);
    assert_int_equal(view->steps, known[k].steps);
    assert_int_equal(sr_game_step(ctx, game, 0, &reward), SR_ERROR_ARGUMENT);
    assert_ok(ctx, sr_game_reset(ctx, game));
    assert_int_equal(sr_game_step(ctx, game, view->actions, &reward), SR_ERROR_ARGUMENT);
    assert_int_equal(sr_game_step(ctx, game, -1, &reward), SR_ERROR_ARGUMENT);
    sr_game_free(&game);
  }
  sr_context_free(&ctx);
}

/* A brick less is a point more, the ball is one cell, and the game ends only with the ball in the
 * last row. */
static void breakout_keeps_its_books(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = new_game(ctx, "breakout:ramp=no", 6);
  const sr_game_view *view = sr_game_get(game);
  int bricks = 30;
  for (int t = 0; t < 20000; t++) {
    double reward;
    uint8_t picture[400];
    assert_ok(ctx, sr_game_step(ctx, game, t % 7 ? sr_game_script(game) : 1, &reward));
    sr_game_picture(game, picture);
    int left = 0, balls = 0, low = 0;
    for (int i = 0; i < 100; i++) {
      left += picture[300 + i];
      balls += picture[100 + i];
      low += i >= 90 && picture[100 + i];
    }
    if (bricks == 0 && left == 30) bricks = 30; /* a new wall */
    assert_int_equal(bricks - left, (int)reward);
    assert_int_equal(balls, 1);
    assert_int_equal(low, view->over);
    bricks = left;
    if (!view->over && !view->truncated) continue;
    assert_ok(ctx, sr_game_reset(ctx, game));
    bricks = 30;
  }
  sr_game_free(&game);
  sr_context_free(&ctx);
}

/* Breadth first over states: the fewest ticks to Montezuma's key. */
static int ticks_to_the_key(uint64_t seed) {
  enum { STATES = 1 << 17 };
  const sr__grid_rules *rules = sr__game_montezuma.rules;
  size_t size = rules->state_size;
  uint8_t *queue = calloc(STATES, size);
  int32_t *depth = calloc(STATES, sizeof *depth), *table = calloc(4 * STATES, sizeof *table);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  sr__turn turn = {&random, 0, true, false};
  rules->start(queue, &turn);
  int found = -1, end = 1;
  for (int at = 0; at < end && found < 0; at++)
    for (int move = 0; move < SR__MOVES && found < 0; move++) {
      _Alignas(16) uint8_t next[SR__GRID_STATE_MAX] = {0};
      memcpy(next, queue + (size_t)at * size, size);
      sr__turn now = {&random, depth[at] + 1, true, false};
      if (rules->tick(next, (sr__move)move, &now) > 0) found = depth[at] + 1;
      if (now.over) continue;
      uint64_t hash = 1469598103934665603u;
      for (size_t i = 0; i < size; i++) hash = (hash ^ next[i]) * 1099511628211u;
      uint64_t slot = hash % (4 * STATES);
      while (table[slot] && memcmp(queue + (size_t)table[slot] * size, next, size) != 0)
        slot = (slot + 1) % (4 * STATES);
      if (table[slot] || end == STATES) continue;
      memcpy(queue + (size_t)end * size, next, size);
      depth[end] = depth[at] + 1;
      table[slot] = end++;
    }
  free(queue);
  free(depth);
  free(table);
  return found;
}

static void montezuma_key_is_43_ticks_away(void **state) {
  (void)state;
  int least = 1000;
  for (uint64_t seed = 0; seed < 6; seed++) { /* the skulls start in one of two phases each */
    int ticks = ticks_to_the_key(seed);
    assert_in_range(ticks, 43, 46);
    if (ticks < least) least = ticks;
  }
  assert_int_equal(least, 43);
}

static void a_saved_game_goes_on_alike(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int g = 0; g < 7; g++) {
    char text[64];
    snprintf(text, sizeof text, "%s:skip=3", sr_game_method(g)->name);
    sr_game *first = new_game(ctx, text, 21), *second = new_game(ctx, text, 99);
    (void)play(ctx, first, 1001, 3, false);
    sr__bytes bytes = {.ctx = ctx};
    assert_ok(ctx, sr__game_save(ctx, first, &bytes));
    sr__byte_reader reader = {ctx, bytes.data, bytes.size, 0, "the saved game", SR_OK};
    assert_ok(ctx, sr__game_load(ctx, &reader, second));
    assert_int_equal(reader.at, bytes.size);
    assert_int_equal(play(ctx, first, 2000, 4, false).hash, play(ctx, second, 2000, 4, false).hash);
    /* Another game refuses the bytes, and so does every prefix of them. */
    sr_game *other = new_game(ctx, g == 0 ? "pong" : "breakout", 1);
    reader = (sr__byte_reader){ctx, bytes.data, bytes.size, 0, "the saved game", SR_OK};
    assert_int_equal(sr__game_load(ctx, &reader, other), SR_ERROR_FORMAT);
    for (int64_t size = 0; size < bytes.size; size += 7) {
      reader = (sr__byte_reader){ctx, bytes.data, size, 0, "the saved game", SR_OK};
      assert_int_equal(sr__game_load(ctx, &reader, second), SR_ERROR_FORMAT);
    }
    sr__bytes_free(&bytes);
    sr_game_free(&first);
    sr_game_free(&second);
    sr_game_free(&other);
  }
  sr_context_free(&ctx);
}

static void wrong_names_and_options_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = NULL;
  assert_int_equal(sr_game_new(ctx, "breakot", 1, &game), SR_ERROR_NOT_FOUND);
  assert_non_null(strstr(sr_context_error(ctx).message, "breakout"));
  assert_int_equal(sr_game_new(ctx, "pong:skip=9", 1, &game), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_game_new(ctx, "pong:skip=0", 1, &game), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_game_new(ctx, "pong:sticky=1.5", 1, &game), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_game_new(ctx, "pong:speed=2", 1, &game), SR_ERROR_NOT_FOUND);
  assert_null(game);
  game = new_game(ctx, "pong:2", 1); /* the first option */
  assert_string_equal(sr_game_get(game)->name, "pong:skip=2");
  assert_string_equal(sr_game_get(game)->action_names[1], "up");
  sr_game_free(&game);
  sr_context_free(&ctx);
}

static sr_status open_a_game(sr_context *ctx, void *data) {
  sr_game *game = NULL;
  sr_status status = sr_game_new(ctx, data, 1, &game);
  sr_game_free(&game);
  return status;
}
static void every_allocation_may_fail(void **state) {
  (void)state;
  char text[] = "seaquest:skip=2";
  test_every_allocation(open_a_game, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_play_has_the_known_returns),
                                     cmocka_unit_test(written_players_score),
                                     cmocka_unit_test(same_seed_same_bytes),
                                     cmocka_unit_test(the_game_is_the_same_at_every_skip),
                                     cmocka_unit_test(most_frames_of_a_tick_decide),
                                     cmocka_unit_test(sticky_ticks_repeat_the_move_before),
                                     cmocka_unit_test(truncated_is_not_over),
                                     cmocka_unit_test(breakout_keeps_its_books),
                                     cmocka_unit_test(montezuma_key_is_43_ticks_away),
                                     cmocka_unit_test(a_saved_game_goes_on_alike),
                                     cmocka_unit_test(wrong_names_and_options_are_refused),
                                     cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
