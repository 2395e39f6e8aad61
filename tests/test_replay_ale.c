/* Atari in a child process: the same frames, rewards and ends as a run inside Python; saving;
 * failures. Skipped where ale-py is not installed. */
#include "harness.h"

#include <signal.h>
#include <unistd.h>

#include "replay/agent.h"
#include "replay/game.h"

static const char *python(void) {
  const char *named = getenv("SPECROUTE_PYTHON");
  return named ? named : "python3";
}

static sr_game *open_or_skip(sr_context *ctx, const char *text) {
  sr_game *game = NULL;
  sr_status status = sr_game_new(ctx, text, 5, &game);
  if (status == SR_ERROR_UNSUPPORTED) {
    assert_non_null(
        strstr(sr_context_error(ctx).message, "ale-py")); /* one sentence says what to install */
    sr_context_free(&ctx);
    skip();
  }
  assert_ok(ctx, status);
  return game;
}

static long weighted_sum(const sr_game *game) {
  static uint8_t picture[84 * 84];
  long sum = 0;
  sr_game_picture(game, picture);
  for (int i = 0; i < 84 * 84; i++) sum += picture[i] * (long)(1 + i % 97);
  return sum;
}

static uint32_t next_action(uint32_t *random, int32_t actions) {
  *random = *random * 1664525u + 1013904223u;
  return (*random >> 16) % (uint32_t)actions;
}

/* Long enough for each game to end under these actions, and to go on after its reset. */
static void agrees_with_python(void **state) {
  (void)state;
  static const struct {
    const char *rom;
    int skip, steps;
  } known[] = {{"breakout", 4, 300}, {"space_invaders", 4, 450}, {"seaquest", 4, 720},
               {"qbert", 4, 320},    {"pong", 4, 1300},          {"montezuma_revenge", 4, 800},
               {"pitfall", 4, 400},  {"breakout", 1, 400}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    sr_context *ctx = test_context(1);
    char text[128], command[1024];
    snprintf(text, sizeof text, "ale:%s,skip=%d", known[k].rom, known[k].skip);
    sr_game *game = open_or_skip(ctx, text);
    const sr_game_view *view = sr_game_get(game);
    snprintf(command, sizeof command, "%s %s/tests/ale_reference.py %s %d %d 5", python(),
             SR_SOURCE_DIR, known[k].rom, known[k].steps, known[k].skip);
    FILE *reference = popen(command, "r");
    uint32_t random = 12345;
    double reward = 0;
    int ends = 0;
    for (int t = 0; t <= known[k].steps; t++) {
      int expected_reward, expected_over;
      long expected_sum;
      assert_int_equal(fscanf(reference, "%d %d %ld", &expected_reward, &expected_over,
                              &expected_sum),
                       3);
      assert_int_equal((int)reward, expected_reward);
      assert_int_equal(view->over, expected_over);
      assert_int_equal(weighted_sum(game), expected_sum);
      ends += view->over && t + 20 < known[k].steps;
      if (view->over || view->truncated) assert_ok(ctx, sr_game_reset(ctx, game));
      if (t < known[k].steps)
        assert_ok(ctx,
                  sr_game_step(ctx, game, (int32_t)next_action(&random, view->actions), &reward));
    }
    pclose(reference);
    if (ends == 0 && known[k].skip == 4)
      fail_msg("%s does not end within %d steps", text, known[k].steps);
    sr_game_free(&game);
    sr_context_free(&ctx);
  }
}

static void a_saved_game_goes_on_alike(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *first = open_or_skip(ctx, "ale:space_invaders"), *second = NULL;
  assert_ok(ctx, sr_game_new(ctx, "ale:space_invaders", 6, &second));
  uint32_t random = 7;
  double reward, other;
  for (int t = 0; t < 100; t++)
    assert_ok(ctx, sr_game_step(ctx, first, (int32_t)next_action(&random, 6), &reward));
  sr__bytes bytes = {.ctx = ctx};
  assert_ok(ctx, sr__game_save(ctx, first, &bytes));
  sr__byte_reader reader = {ctx, bytes.data, bytes.size, 0, "the saved game", SR_OK};
  assert_ok(ctx, sr__game_load(ctx, &reader, second));
  assert_int_equal(weighted_sum(first), weighted_sum(second));
  for (int t = 0; t < 100; t++) {
    int32_t action = (int32_t)next_action(&random, 6);
    assert_ok(ctx, sr_game_step(ctx, first, action, &reward));
    assert_ok(ctx, sr_game_step(ctx, second, action, &other));
    assert_true(reward == other);
    assert_int_equal(weighted_sum(first), weighted_sum(second));
    assert_int_equal(sr_game_get(first)->over, sr_game_get(second)->over);
    if (sr_game_get(first)->over) break;
  }
  sr__bytes_free(&bytes);
  sr_game_free(&first);
  sr_game_free(&second);
  sr_context_free(&ctx);
}

static void an_agent_plays_and_learns(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = open_or_skip(ctx, "ale:pong");
  sr_game_free(&game);
  sr_agent_options options;
  sr_agent *agent = NULL;
  sr_agent_options_init(&options);
  options.game = "ale:pong";
  options.heads = 2;
  options.capacity = 100;
  options.start = 20;
  options.batch = 5;
  options.epsilon_steps = 10;
  assert_ok(ctx, sr_agent_new(ctx, &options, 1, &agent));
  assert_int_equal(sr_agent_get(agent)->options->stack, 4);
  assert_int_equal(sr_agent_get(agent)->options->train_every, 4);
  assert_ok(ctx, sr_agent_train(ctx, agent, 44));
  assert_int_equal(sr_agent_get(agent)->gradient_steps, 7); /* after steps 20, 24, ..., 44 */
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

/* The process outlives what a terminal sends to all of a group at Ctrl-C. */
static void the_child_does_not_hear_interrupts(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = open_or_skip(ctx, "ale:pong");
  char path[64];
  int child = 0;
  double reward;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *children = fopen(path, "r");
  assert_int_equal(fscanf(children, "%d", &child), 1);
  fclose(children);
  for (int k = 0; k < 5; k++) {
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_ok(ctx, sr_game_step(ctx, game, 0, &reward));
    assert_ok(ctx, sr__ale_ping(ctx, game));
  }
  assert_int_equal(sr_game_get(game)->steps, 5);
  sr_game_free(&game);
  sr_context_free(&ctx);
}

static void a_missing_interpreter_is_a_sentence(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_game *game = NULL;
  char *kept = getenv("SPECROUTE_PYTHON") ? strdup(getenv("SPECROUTE_PYTHON")) : NULL;
  setenv("SPECROUTE_PYTHON", "/nonexistent/python", 1);
  assert_int_equal(sr_game_new(ctx, "ale:pong", 1, &game), SR_ERROR_UNSUPPORTED);
  assert_non_null(strstr(sr_context_error(ctx).message, "ale-py"));
  setenv("SPECROUTE_PYTHON", "true", 1); /* a program that ends at once */
  assert_int_equal(sr_game_new(ctx, "ale:pong", 1, &game), SR_ERROR_IO);
  if (kept)
    setenv("SPECROUTE_PYTHON", kept, 1);
  else
    unsetenv("SPECROUTE_PYTHON");
  free(kept);
  assert_int_equal(sr_game_new(ctx, "ale:pung", 1, &game), SR_ERROR_ARGUMENT);
  assert_null(game);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_python),
                                     cmocka_unit_test(a_saved_game_goes_on_alike),
                                     cmocka_unit_test(an_agent_plays_and_learns),
                                     cmocka_unit_test(the_child_does_not_hear_interrupts),
                                     cmocka_unit_test(a_missing_interpreter_is_a_sentence)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
