/* Targets under a frozen network, fresh buffers, and the buffer as a table. */
#include "harness.h"

#include <math.h>

#include "replay/agent.h"

#ifdef __SANITIZE_ADDRESS__
enum { STEPS = 400, BATCH = 5, DRAWS = 3000 };
#else
enum { STEPS = 2000, BATCH = 32, DRAWS = 6000 };
#endif

static sr_agent *agent_with_prior(sr_context *ctx, const char *game, const char *sampler,
                                  int64_t heads, uint64_t seed, double prior) {
  sr_agent_options options;
  sr_agent *agent = NULL;
  sr_agent_options_init(&options);
  options.game = game;
  options.sampler = sampler;
  options.heads = heads;
  options.batch = BATCH;
  options.start = STEPS - 50;
  options.capacity = STEPS / 2; /* the ring has turned over */
  options.target_every = 20;
  options.prior = prior;
  assert_ok(ctx, sr_agent_new(ctx, &options, seed, &agent));
  return agent;
}
static sr_agent *new_agent(sr_context *ctx, const char *game, const char *sampler, int64_t heads,
                           uint64_t seed) {
  return agent_with_prior(ctx, game, sampler, heads, seed, 0);
}

/* y of a row by hand: the target network and `prior` times the random one. */
static double target_of(sr_agent *agent, int64_t row, double prior) {
  const uint8_t *frames[SR__STACK_MAX + 1];
  int64_t slot = sr__buffer_slot(agent->buffer, row);
  float random[64] = {0};
  int32_t heads = agent->heads, actions = agent->actions;
  sr__buffer_frames(agent->buffer, row, frames);
  if (prior > 0) {
    sr__qnet_forward(&agent->net[0].prior, &agent->work, 1, frames + 1);
    memcpy(random, agent->work.q, (size_t)(heads * actions) * sizeof *random);
  }
  sr__qnet_forward(&agent->net[0].target, &agent->work, 1, frames + 1);
  double y = 0;
  for (int h = 0; h < heads; h++) {
    double best = -1e9;
    for (int a = 0; a < actions; a++)
      best = fmax(best,
                  (double)agent->work.q[actions * h + a] + prior * (double)random[actions * h + a]);
    y += best / heads;
  }
  return (double)agent->buffer->reward[slot] +
         (agent->buffer->flags[slot] & SR__ROW_OVER ? 0 : 0.99 * y);
}

/* Total and mean by hand; within + between = total; uniform batches err by 1, one part per batch by
 * far more. */
static void targets_split_into_within_and_between(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *agent = new_agent(ctx, "space_invaders", "uniform", 4, 2);
  assert_ok(ctx, sr_agent_train(ctx, agent, STEPS));
  double sum = 0, squares = 0, rows = 0;
  for (int64_t r = sr__buffer_oldest(agent->buffer); r < agent->buffer->written; r++) {
    if (!sr__buffer_drawable(agent->buffer, r)) continue;
    double y = target_of(agent, r, 0);
    sum += y;
    squares += y * y;
    rows++;
  }
  const char *const samplers[] = {"uniform",    "fifth",       "routed:10",
                                  "contiguous", "one-part:10", "routed:0"};
  for (int k = 0; k < 6; k++) {
    sr_target_split split;
    assert_ok(ctx, sr_agent_target_split(ctx, agent, samplers[k], DRAWS, 1, &split));
    assert_int_equal(split.rows, (int64_t)rows);
    assert_close(split.mean, sum / rows, 1e-5);
    assert_close(split.total, squares / rows - sum / rows * sum / rows, 1e-4);
    assert_close(split.within + split.between, split.total, 1e-9);
    bool owned = k >= 1 && k != 4;
    assert_true(owned ? split.between > 0 : split.between < 1e-12);
    /* the square of a batch mean has relative standard error sqrt(2 / DRAWS): 2.6 % with few draws
     */
    if (k <= 1) assert_true(split.batch_error > 0.85 && split.batch_error < 1.3);
    if (k == 4 && BATCH == 32)
      assert_true(split.batch_error > 1.5); /* small batches hardly show it */
  }
  sr_target_split split;
  assert_int_equal(sr_agent_target_split(ctx, agent, "routed-features", 1, 1, &split),
                   SR_ERROR_UNSUPPORTED);
  assert_int_equal(sr_agent_target_split(ctx, agent, "per", 1, 1, &split), SR_ERROR_UNSUPPORTED);
  assert_int_equal(sr_agent_target_split(ctx, agent, "ruted", 1, 1, &split), SR_ERROR_NOT_FOUND);
  sr_agent_free(&agent);
  agent = new_agent(ctx, "pong", "uniform", 1, 2);
  assert_int_equal(sr_agent_target_split(ctx, agent, "uniform", 1, 1, &split), SR_ERROR_DATA);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

/* The randomized prior belongs to the values that the heads learn, hence to their targets. */
static void targets_hold_the_prior(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *agent = agent_with_prior(ctx, "breakout", "uniform", 3, 2, 4);
  double sum = 0, squares = 0, rows = 0;
  sr_target_split split;
  assert_ok(ctx, sr_agent_train(ctx, agent, STEPS));
  for (int64_t r = sr__buffer_oldest(agent->buffer); r < agent->buffer->written; r++) {
    if (!sr__buffer_drawable(agent->buffer, r)) continue;
    double y = target_of(agent, r, 4);
    sum += y;
    squares += y * y;
    rows++;
  }
  assert_ok(ctx, sr_agent_target_split(ctx, agent, "uniform", 1, 1, &split));
  assert_close(split.mean, sum / rows, 1e-5);
  assert_close(split.total, squares / rows - sum / rows * sum / rows, 1e-4);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

/* An agent's own sampler is asked as it stands: priorities that lean on one row make batches of it.
 */
static void priorities_count_in_the_batch_error(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *agent = new_agent(ctx, "space_invaders", "per:alpha=1,beta=0", 2, 2);
  sr_target_split split[2];
  assert_ok(ctx, sr_agent_train(ctx, agent, STEPS));
  int64_t extreme = -1;
  double most = -1e9;
  for (int64_t r = sr__buffer_oldest(agent->buffer); r < agent->buffer->written; r++)
    if (sr__buffer_drawable(agent->buffer, r) && target_of(agent, r, 0) > most) {
      most = target_of(agent, r, 0);
      extreme = r;
    }
  assert_ok(ctx,
            sr_agent_target_split(ctx, agent, sr_agent_get(agent)->sampler, 500, 1, &split[0]));
  float weight = 1, error = 1e12f;
  agent->sampler->learned(agent->sampler_state, &(sr__batch){1, &extreme, &weight}, &error);
  assert_ok(ctx,
            sr_agent_target_split(ctx, agent, sr_agent_get(agent)->sampler, 500, 1, &split[1]));
  /* weights undo the lean at the end of the run, but not where a batch holds hardly another row */
  double apart = (most - split[1].mean) * (most - split[1].mean);
  assert_close(split[1].batch_error / (apart / (split[1].total / BATCH)), 1, 1e-3);
  assert_true(split[0].batch_error < split[1].batch_error / 2);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

/* Two agents that learn one buffer from one start agree; another buffer gives other values. */
static void fresh_buffers_are_what_differs(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *player = new_agent(ctx, "breakout", "uniform", 1, 1);
  float values[3][20 * 2 * 3];
  for (int k = 0; k < 3; k++) {
    sr_agent *agent = new_agent(ctx, "breakout", "routed", 2, 7);
    assert_ok(ctx, sr_agent_collect(ctx, agent, player, 120, 0.5, k == 2 ? 12 : 11));
    assert_ok(ctx, sr_agent_learn(ctx, agent, 15));
    assert_int_equal(sr_agent_get(agent)->gradient_steps, 15);
    assert_int_equal(sr_agent_get(agent)->step, 0);
    if (k == 0) assert_ok(ctx, sr_agent_collect(ctx, player, player, 100, 1, 5)); /* the probes */
    assert_ok(ctx, sr_agent_values(ctx, agent, player, 20, 3, values[k]));
    sr_agent_free(&agent);
  }
  assert_memory_equal(values[0], values[1], sizeof values[0]);
  assert_memory_not_equal(values[0], values[2], sizeof values[0]);
  sr_agent *other = new_agent(ctx, "pong", "uniform", 1, 1);
  assert_int_equal(sr_agent_collect(ctx, other, player, 10, 1, 1), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_agent_values(ctx, other, player, 1, 1, values[0]), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_agent_learn(ctx, other, 1), SR_ERROR_DATA);
  sr_agent_free(&other);
  sr_agent_free(&player);
  sr_context_free(&ctx);
}

static void the_buffer_is_a_table_of_episodes(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *agent = new_agent(ctx, "qbert", "uniform", 1, 3);
  assert_ok(ctx, sr_agent_train(ctx, agent, STEPS / 4));
  sr_table *table = NULL;
  assert_ok(ctx, sr_agent_table(ctx, agent, 60, &table));
  const sr_table_view *view = sr_table_get(table);
  assert_int_equal(view->rows, 60);
  assert_int_equal(view->features, 128);
  int32_t episode = 0;
  int64_t at = 0;
  for (int64_t r = 0; at < 60; r++) { /* nothing is overwritten yet: rows are numbered from 0 */
    if (r > 0 && agent->buffer->flags[r] & SR__ROW_FIRST) episode++;
    if (!sr__buffer_drawable(agent->buffer, r)) continue;
    float hidden[128];
    assert_ok(ctx, sr__agent_features(ctx, agent, 1, &r, hidden));
    for (int j = 0; j < 128; j++)
      assert_close((double)view->x[j * 60 + at], (double)hidden[j], 1e-5);
    assert_int_equal(view->group[at++], episode);
  }
  sr_table_free(&table);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

static sr_status measure_all(sr_context *ctx, void *data) {
  (void)data;
  sr_status status = SR_OK;
  sr_agent *agent = NULL;
  sr_agent_options options;
  sr_target_split split;
  sr_table *table = NULL;
  sr_agent_options_init(&options);
  options.heads = 2;
  options.batch = 2;
  options.capacity = 100;
  SR_TRY(sr_agent_new(ctx, &options, 1, &agent));
  SR_TRY(sr_agent_collect(ctx, agent, agent, 30, 1, 1));
  SR_TRY(sr_agent_target_split(ctx, agent, "routed:5", 10, 1, &split));
  SR_TRY(sr_agent_table(ctx, agent, 10, &table));
cleanup:
  sr_table_free(&table);
  sr_agent_free(&agent);
  return status;
}
static void every_allocation_may_fail(void **state) {
  (void)state;
  test_every_allocation(measure_all, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(targets_split_into_within_and_between),
                                     cmocka_unit_test(targets_hold_the_prior),
                                     cmocka_unit_test(priorities_count_in_the_batch_error),
                                     cmocka_unit_test(fresh_buffers_are_what_differs),
                                     cmocka_unit_test(the_buffer_is_a_table_of_episodes),
                                     cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
