/* Agents: gradients of whole steps, determinism, saving, learning. */
#include "harness.h"

#include <math.h>
#include <time.h>

#include "replay/agent.h"

/* Sanitized kernels are some fifty times slower: there the runs are short and batches small. */
#ifdef __SANITIZE_ADDRESS__
enum { BATCH = 5, HASTE = 4, FIRST = 30, SECOND = 18, THIRD = 12 };
#else
enum { BATCH = 32, HASTE = 2, FIRST = 62, SECOND = 100, THIRD = 56 };
#endif

/* "key=value key=value" on top of a small run. */
static sr_agent *new_agent(sr_context *ctx, const char *settings, uint64_t seed) {
  sr_agent_options options;
  sr_agent_options_init(&options);
  options.capacity = 300 / HASTE;
  options.start = 60 / HASTE;
  options.target_every = 50;
  options.steps = 1000;
  options.epsilon_steps = 300;
  options.log_every = 100 / HASTE;
  options.heads = 3;
  options.batch = BATCH;
  char text[512], *rest = NULL;
  snprintf(text, sizeof text, "%s", settings);
  for (char *pair = strtok_r(text, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
    char *equal = strchr(pair, '=');
    *equal = 0;
    assert_ok(ctx,
              sr_options_set(ctx, "the agent", sr_agent_option_list(), &options, pair, equal + 1));
  }
  sr_agent *agent = NULL;
  assert_ok(ctx, sr_agent_new(ctx, &options, seed, &agent));
  return agent;
}

static char *saved(sr_context *ctx, sr_agent *agent, size_t *size) {
  char path[512];
  snprintf(path, sizeof path, "%s/agent", test_folder());
  assert_ok(ctx, sr_agent_save(ctx, agent, path));
  return test_read_file(path, size);
}

static void assert_same_agents(sr_context *ctx, sr_agent *a, sr_agent *b) {
  size_t size[2];
  char *bytes[2] = {saved(ctx, a, &size[0]), saved(ctx, b, &size[1])};
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(bytes[0], bytes[1], size[0]);
  free(bytes[0]);
  free(bytes[1]);
}

/* Samplers and options that a step may depend on. */
static const char *const settings[] = {"sampler=uniform",
                                       "sampler=uniform-more game=pong:skip=2",
                                       "sampler=per double_q=yes",
                                       "sampler=rem optimizer=rmsprop",
                                       "sampler=routed:block=9 batches=each game=space_invaders",
                                       "sampler=routed-features:landmarks=40,parts=6 game=qbert",
                                       "sampler=fifth prior=3 bootstrap=0.5 act=head",
                                       "sampler=contiguous loss_rows=batch game=pitfall",
                                       "sampler=one-part game=montezuma",
                                       "sampler=separate:0 stack=2 game=seaquest",
                                       "sampler=routed-features:landmarks=40,parts=6 batches=each",
                                       "sampler=half-rate heads=1"};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void a_loaded_agent_goes_on_bit_for_bit(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (size_t k = 0; k < SETTINGS; k++) {
    sr_agent *whole = new_agent(ctx, settings[k], 5), *first = new_agent(ctx, settings[k], 5),
             *second = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/half", test_folder());
    assert_ok(ctx, sr_agent_train(ctx, whole, FIRST + SECOND + THIRD));
    assert_ok(ctx, sr_agent_train(ctx, first, FIRST));
    assert_ok(ctx, sr_agent_save(ctx, first, path));
    sr_agent_free(&first);
    assert_ok(ctx, sr_agent_load(ctx, path, &second));
    assert_int_equal(sr_agent_get(second)->step, FIRST);
    assert_ok(ctx, sr_agent_train(ctx, second, SECOND));
    assert_ok(ctx, sr_agent_train(ctx, second, THIRD));
    assert_same_agents(ctx, whole, second);
    assert_true(sr_agent_get(second)->records >= 2);
    assert_true(sr_agent_get(second)->gradient_steps > SECOND + THIRD - 5);
    sr_agent_free(&whole);
    sr_agent_free(&second);
  }
  sr_context_free(&ctx);
}

/* Threads serve the graph of the hidden layer alone; the bytes do not depend on them. */
static void thread_count_changes_nothing(void **state) {
  (void)state;
  sr_context *one = test_context(1), *two = test_context(2);
  sr_agent *a = new_agent(one, settings[5], 8), *b = new_agent(two, settings[5], 8),
           *c = new_agent(one, settings[5], 9);
  assert_ok(one, sr_agent_train(one, a, 240 / HASTE));
  assert_ok(two, sr_agent_train(two, b, 240 / HASTE));
  assert_true(sr_agent_get(a)->cuts >= 2);
  assert_same_agents(one, a, b);
  assert_ok(one, sr_agent_train(one, c, 240 / HASTE));
  assert_memory_not_equal(a->net[0].online.parameters.value, c->net[0].online.parameters.value,
                          4096);
  sr_agent_free(&a);
  sr_agent_free(&b);
  sr_agent_free(&c);
  sr_context_free(&one);
  sr_context_free(&two);
}

/* ---- the gradient of one step ---------------------------------------------------------------- */

static double huber(double error) {
  return fabs(error) <= 1 ? error * error / 2 : fabs(error) - 0.5;
}

/* The loss of the step that was just made, from its batch, mask and targets, at the present
 * weights. */
static double step_loss(sr_agent *agent, const float *mixture) {
  int32_t n = agent->batch.count, heads = agent->heads, actions = agent->actions;
  double loss = 0, own[SR__HEADS_MAX] = {0};
  sr__qnet_work *work = &agent->work;
  double *prior = calloc((size_t)(n * heads * actions), sizeof *prior);
  if (agent->options.prior > 0) {
    sr__qnet_forward(&agent->net[0].prior, work, n, agent->frames);
    for (int i = 0; i < n * heads * actions; i++)
      prior[i] = agent->options.prior * (double)work->q[i];
  }
  sr__qnet_forward(&agent->net[0].online, work, n, agent->frames);
  for (int32_t i = 0; i < n; i++)
    for (int32_t h = 0; h < heads; h++) own[h] += agent->mask[i * heads + h];
  for (int32_t i = 0; i < n; i++) {
    int32_t action = agent->buffer->action[sr__buffer_slot(agent->buffer, agent->batch.row[i])];
    double mixed = 0, weight = (double)agent->batch.weight[i];
    for (int32_t h = 0; h < heads; h++) {
      int64_t at = (i * heads + h) * actions + action;
      double q = (double)work->q[at] + prior[at];
      if (mixture)
        mixed += (double)mixture[h] * q;
      else if (agent->mask[i * heads + h])
        loss += weight * huber(q - (double)agent->target[i * heads + h]) / own[h] / heads;
    }
    if (mixture) loss += weight * huber(mixed - (double)agent->target[i]) / n;
  }
  free(prior);
  return loss;
}

static void steps_follow_the_gradient_of_their_loss(void **state) {
  (void)state;
  const char *const cases[] = {"sampler=uniform",
                               "sampler=per",
                               "sampler=rem",
                               "sampler=routed:block=5",
                               "sampler=fifth prior=2 bootstrap=0.6",
                               "sampler=routed:9 batches=each"};
  sr_context *ctx = test_context(1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[256];
    /* More rows than the hidden layer's step is fused for: else its gradient is not written. */
    snprintf(text, sizeof text, "%s game=space_invaders learning_rate=1e-3 batch=%d", cases[k],
             SR__SPARSE_UPDATE_INNER + 1);
    sr_agent *agent = new_agent(ctx, text, 4);
    assert_ok(ctx, sr_agent_train(ctx, agent, 150 / HASTE));
    agent->net[0].adam.rate = 0; /* the weights stay, the gradient is left for inspection */
    sr__random random = agent->mix_random;
    float mixture[SR__HEADS_MAX], sum = 0;
    bool mixes = agent->sampler->traits & SR__SAMPLER_MIXES;
    for (int32_t h = 0; h < agent->heads && mixes; h++)
      sum += mixture[h] = (float)sr__random_uniform(&random);
    for (int32_t h = 0; h < agent->heads && mixes; h++) mixture[h] /= sum;
    assert_ok(ctx, sr__agent_learn(ctx, agent));
    sr__parameters *p = &agent->net[0].online.parameters;
    float *before = calloc((size_t)p->count, sizeof *before);
    memcpy(before, p->value, (size_t)p->count * sizeof *before);
    for (int t = 0; t < p->tensors; t++) { /* each on its own: one may be small beside the others */
      const float *gradient = sr__parameters_gradient(p, t);
      int64_t first = gradient - p->gradient, count = p->tensor[t].rows * p->tensor[t].columns;
      double length = 0, slope = 0, side[2];
      for (int64_t i = 0; i < count; i++) length += (double)gradient[i] * (double)gradient[i];
      assert_true(length > 0);
      float *direction = calloc((size_t)p->count, sizeof *direction);
      for (int64_t i = 0; i < count; i++) {
        direction[i] = (float)((double)gradient[i] / sqrt(length) +
                               0.3 * sr__random_normal(&random) / sqrt((double)count));
        slope += (double)direction[i] * (double)gradient[i];
      }
      for (int s = 0; s < 2; s++) {
        for (int64_t i = 0; i < count; i++)
          p->value[first + i] =
              (float)((double)before[first + i] + (s ? 1 : -1) * 1e-3 * (double)direction[i]);
        side[s] = step_loss(agent, mixes ? mixture : NULL);
      }
      memcpy(p->value, before, (size_t)p->count * sizeof *before);
      if (fabs((side[1] - side[0]) / 2e-3 - slope) > 0.02 * slope)
        fail_msg("%s, tensor %d: slope %g, measured %g", cases[k], t, slope,
                 (side[1] - side[0]) / 2e-3);
      free(direction);
    }
    free(before);
    sr_agent_free(&agent);
  }
  sr_context_free(&ctx);
}

/* Targets by hand: r + gamma max over the head's own values of the target network, and no more at
 * the end. */
static void targets_are_bellman_s(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  for (int double_q = 0; double_q < 2; double_q++) {
    sr_agent *agent = new_agent(ctx, double_q ? "double_q=yes gamma=0.9" : "gamma=0.9", 6);
    assert_ok(ctx, sr_agent_train(ctx, agent, 180 / HASTE));
    agent->net[0].adam.rate = 0;
    int ended = 0;
    for (int t = 0; t < 4 * HASTE; t++) {
      assert_ok(ctx, sr__agent_learn(ctx, agent));
      for (int32_t i = 0; i < agent->batch.count; i++) {
        float online[9];
        sr__qnet_forward(&agent->net[0].online, &agent->work, 1, agent->next_frames + i);
        memcpy(online, agent->work.q, sizeof online);
        sr__qnet_forward(&agent->net[0].target, &agent->work, 1, agent->next_frames + i);
        int64_t slot = sr__buffer_slot(agent->buffer, agent->batch.row[i]);
        for (int32_t h = 0; h < 3; h++) {
          const float *value = agent->work.q + 3 * h, *choice = double_q ? online + 3 * h : value;
          int best = choice[1] > choice[0] ? 1 : 0;
          if (choice[2] > choice[best]) best = 2;
          double y = (double)agent->buffer->reward[slot];
          if (!(agent->buffer->flags[slot] & SR__ROW_OVER)) y += 0.9 * (double)value[best];
          assert_close((double)agent->target[3 * i + h], y, 1e-5);
        }
        ended += (agent->buffer->flags[slot] & SR__ROW_OVER) != 0;
      }
    }
    assert_true(ended > 0);
    sr_agent_free(&agent);
  }
  sr_context_free(&ctx);
}

/* ---- more steps than were planned ------------------------------------------------------------ */

/* An agent that was planned for few steps and goes on is the agent that was planned for all of
 * them, where nothing was learned before: schedules, buffer and records. */
static void a_longer_plan_is_as_if_planned_at_first(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  char path[512];
  snprintf(path, sizeof path, "%s/planned", test_folder());
  for (size_t k = 0; k < SETTINGS; k++) {
    char text[3][256];
    const char *const plan[] = {"steps=40 log_every=0", "steps=2000 log_every=0",
                                "steps=2000 log_every=0"};
    sr_agent *agent[2] = {NULL}, *loaded = NULL;
    for (int i = 0; i < 2; i++) {
      snprintf(text[i], sizeof text[i], "%s capacity=0 start=41 %s", settings[k], plan[i]);
      agent[i] = new_agent(ctx, text[i], 5);
    }
    assert_int_equal(agent[0]->buffer->capacity, 1060);
    assert_ok(ctx, sr_agent_train(ctx, agent[0], 40));
    assert_ok(ctx, sr_agent_save(ctx, agent[0], path));
    assert_ok(ctx, sr_agent_load(ctx, path, &loaded));
    assert_ok(ctx, sr_agent_plan(ctx, loaded, 40)); /* the same: nothing changes */
    assert_same_agents(ctx, loaded, agent[0]);
    assert_ok(ctx, sr_agent_plan(ctx, loaded, 2000));
    assert_int_equal(sr_agent_get(loaded)->options->steps, 2000);
    assert_int_equal(sr_agent_get(loaded)->options->capacity, 4000);
    assert_int_equal(sr_agent_get(loaded)->options->log_every, 100);
    assert_ok(ctx, sr_agent_train(ctx, agent[1], 40));
    assert_ok(ctx, sr_agent_train(ctx, agent[1], THIRD));
    assert_ok(ctx, sr_agent_train(ctx, loaded, THIRD));
    /* records of the first 40 steps came every second step */
    assert_true(loaded->view.records >= 20);
    loaded->view.records = agent[1]->view.records = 0;
    loaded->window_return = agent[1]->window_return = (sr__tally){0};
    loaded->window_loss = agent[1]->window_loss = (sr__tally){0};
    loaded->window_target = agent[1]->window_target = (sr__tally){0};
    assert_same_agents(ctx, loaded, agent[1]);
    sr_agent_free(&agent[0]);
    sr_agent_free(&agent[1]);
    sr_agent_free(&loaded);
  }
  /* What was asked for stays; so does a larger buffer, and an agent that is refused. */
  sr_agent *agent = new_agent(ctx, "capacity=300 steps=100", 1);
  assert_ok(ctx, sr_agent_plan(ctx, agent, 100000));
  assert_int_equal(sr_agent_get(agent)->options->capacity, 300);
  assert_int_equal(sr_agent_get(agent)->options->log_every, 100 / HASTE);
  assert_int_equal(sr_agent_plan(ctx, agent, 0), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_agent_get(agent)->options->steps, 100000);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

static sr_status plan_more(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr_agent *agent = NULL;
  sr_agent_options options;
  sr_agent_options_init(&options);
  options.sampler = data;
  options.heads = 2;
  options.batch = 2;
  options.steps = 10;
  SR_TRY(sr_agent_new(ctx, &options, 1, &agent));
  SR_TRY(sr_agent_train(ctx, agent, 10));
  SR_TRY(sr_agent_plan(ctx, agent, 40));
cleanup:
  sr_agent_free(&agent);
  return status;
}

/* ---- masks ----------------------------------------------------------------------------------- */

static void one_head_per_row_where_rows_are_owned(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const char *const owned[] = {"sampler=routed:6 heads=4", "sampler=fifth heads=4",
                               "sampler=contiguous heads=4",
                               "sampler=routed-features:landmarks=60,parts=8 heads=4"};
  for (size_t k = 0; k < 4; k++) {
    sr_agent *agent = new_agent(ctx, owned[k], 2);
    assert_ok(ctx, sr_agent_train(ctx, agent, 200 / HASTE));
    unsigned seen = 0;
    for (int t = 0; t < 5 * HASTE; t++) {
      assert_ok(ctx, sr__agent_learn(ctx, agent));
      for (int32_t i = 0; i < agent->batch.count; i++) {
        int heads = 0;
        for (int32_t h = 0; h < 4; h++) {
          heads += agent->mask[4 * i + h];
          seen |= (unsigned)agent->mask[4 * i + h] << h;
        }
        assert_int_equal(heads, 1);
      }
    }
    assert_int_equal(seen, 15);
    sr_agent_free(&agent);
  }
  sr_agent *agent = new_agent(ctx, "sampler=uniform heads=4 bootstrap=0.3", 2);
  double heads = 0, rows = 0;
  assert_ok(ctx, sr_agent_train(ctx, agent, 200 / HASTE));
  for (int t = 0; t < 20 * HASTE; t++) {
    assert_ok(ctx, sr__agent_learn(ctx, agent));
    for (int32_t i = 0; i < 4 * agent->batch.count; i++) heads += agent->mask[i];
    rows += 4 * agent->batch.count;
  }
  assert_true(fabs(heads / rows - 0.3) < 0.05); /* 190 rows x 4 coins: standard error .017 */
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

/* With a batch for each head every row of it is the head's own, placed by the hidden layer where
 * that is how rows are owned; a head without rows learns nothing. */
static void batches_of_a_head_are_its_own_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const char *const cases[] = {"sampler=routed-features:landmarks=30,parts=8",
                               "sampler=routed:1000000", "sampler=fifth"};
  for (size_t k = 0; k < 3; k++) {
    char text[256];
    snprintf(text, sizeof text, "%s heads=4 batches=each game=qbert", cases[k]);
    sr_agent *agent = new_agent(ctx, text, 2);
    assert_ok(ctx, sr_agent_train(ctx, agent, 200 / HASTE));
    sr__learner_net *net = &agent->net[0];
    net->adam.rate = 0; /* the hidden layer stays, and with it the places of rows */
    for (int t = 0; t < 5; t++) {
      assert_ok(ctx, sr__agent_learn(ctx, agent));
      int count = agent->batch.count;
      for (int32_t i = 0; i < count; i++) {
        int64_t row = agent->batch.row[i];
        const uint8_t *frames[SR__STACK_MAX + 1];
        assert_true(agent->batch.weight[i] > 0);
        sr__buffer_frames(agent->buffer, row, frames);
        sr__qnet_forward(&net->online, &agent->work, 1, frames);
        int32_t owner = agent->sampler->owner(agent->sampler_state, row, agent->work.hidden);
        assert_int_equal(owner, i / BATCH);
        for (int32_t h = 0; h < 4; h++) assert_int_equal(agent->mask[4 * i + h], h == owner);
      }
    }
    sr_agent_free(&agent);
  }
  /* A part is an episode here: fewer than there are heads. */
  sr_agent *agent = new_agent(ctx, "sampler=routed:1000000 heads=16 batches=each game=pitfall", 2);
  bool has[16] = {false};
  int without = 0;
  assert_ok(ctx, sr_agent_train(ctx, agent, 100 / HASTE));
  assert_ok(ctx, sr__agent_learn(ctx, agent));
  for (int64_t r = 0; r < agent->buffer->written; r++)
    if (sr__buffer_drawable(agent->buffer, r))
      has[agent->sampler->owner(agent->sampler_state, r, NULL)] = true;
  for (int32_t h = 0; h < 16; h++) without += !has[h];
  assert_in_range(without, 1, 15);
  for (int32_t i = 0; i < agent->batch.count; i++)
    for (int32_t h = 0; h < 16; h++)
      assert_int_equal(agent->mask[16 * i + h], h == i / BATCH && has[h]);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

/* ---- learning -------------------------------------------------------------------------------- */

static double evaluated(sr_context *ctx, sr_agent *agent, int64_t episodes) {
  double returns[100], sum = 0;
  assert_ok(ctx, sr_agent_evaluate(ctx, agent, episodes, 0.01, 77, returns));
  for (int64_t i = 0; i < episodes; i++) sum += returns[i];
  return sum / (double)episodes;
}

/* Random play returns 0.29 in Breakout and -5.4 in Pong. */
static void learns_breakout_and_pong(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip();
#endif
  sr_context *ctx = test_context(1);
  static const struct {
    const char *game;
    double goal;
  } known[] = {{"breakout", 3.5},
               {"pong", 2}}; /* 12 times random play; more points won than lost */
  for (int k = 0; k < 2; k++) {
    char text[256];
    snprintf(
        text, sizeof text,
        "game=%s heads=1 capacity=20000 steps=10000 start=500 epsilon_steps=4000 target_every=250 "
        "learning_rate=1e-3",
        known[k].game);
    sr_agent *agent = new_agent(ctx, text, 3);
    assert_ok(ctx, sr_agent_train(ctx, agent, 10000));
    double reached = evaluated(ctx, agent, 20);
    if (reached < known[k].goal) fail_msg("%s: return %g", text, reached);
    sr_agent_free(&agent);
  }
  sr_context_free(&ctx);
}

static void evaluation_leaves_the_agent_alone(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *a = new_agent(ctx, "game=pong:skip=2", 3), *b = new_agent(ctx, "game=pong:skip=2", 3);
  assert_ok(ctx, sr_agent_train(ctx, a, 100));
  assert_ok(ctx, sr_agent_train(ctx, b, 100));
  assert_true(evaluated(ctx, a, 2) == evaluated(ctx, b, 2));
  (void)evaluated(ctx, a, 3);
  assert_ok(ctx, sr_agent_train(ctx, a, 50));
  assert_ok(ctx, sr_agent_train(ctx, b, 50));
  assert_same_agents(ctx, a, b);
  double returns[1];
  assert_int_equal(sr_agent_evaluate(ctx, a, 1, 1.5, 1, returns), SR_ERROR_ARGUMENT);
  sr_agent_free(&a);
  sr_agent_free(&b);
  sr_context_free(&ctx);
}

/* ---- refusals and memory --------------------------------------------------------------------- */

static void damaged_files_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *agent = new_agent(ctx, "sampler=per", 3), *loaded = NULL;
  assert_ok(ctx, sr_agent_train(ctx, agent, 100));
  size_t size;
  char *bytes = saved(ctx, agent, &size);
  for (size_t at = 0; at < size; at += 1 + size / 37) {
    bytes[at] ^= 16;
    assert_int_equal(sr_agent_load(ctx, test_file("bad", bytes, size), &loaded), SR_ERROR_FORMAT);
    bytes[at] ^= 16;
    assert_int_equal(sr_agent_load(ctx, test_file("short", bytes, at), &loaded), SR_ERROR_FORMAT);
  }
  assert_int_equal(sr_agent_load(ctx, "/nonexistent/agent", &loaded), SR_ERROR_IO);
  assert_null(loaded);
  free(bytes);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

static void wrong_settings_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent_options options;
  sr_agent *agent = NULL;
  sr_agent_options_init(&options);
  options.sampler = "rooted";
  assert_int_equal(sr_agent_new(ctx, &options, 1, &agent), SR_ERROR_NOT_FOUND);
  assert_non_null(strstr(sr_context_error(ctx).message, "routed"));
  sr_agent_options_init(&options);
  options.heads = 65;
  assert_int_equal(sr_agent_new(ctx, &options, 1, &agent), SR_ERROR_ARGUMENT);
  options.heads = 1;
  options.gamma = 1.5;
  assert_int_equal(sr_agent_new(ctx, &options, 1, &agent), SR_ERROR_ARGUMENT);
  options.gamma = 0.9;
  options.capacity = 3;
  assert_int_equal(sr_agent_new(ctx, &options, 1, &agent), SR_ERROR_ARGUMENT);
  assert_null(agent);
  sr_context_free(&ctx);
}

static sr_status train_save_load(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr_agent *agent = NULL, *again = NULL;
  sr_agent_options options;
  char path[512];
  double returns[1];
  snprintf(path, sizeof path, "%s/brief", test_folder());
  sr_agent_options_init(&options);
  options.sampler = data;
  options.heads = 2;
  options.batch = 2;
  options.capacity = 100;
  options.start = 20;
  options.prior = 1;
  options.log_every = 10;
  SR_TRY(sr_agent_new(ctx, &options, 1, &agent));
  SR_TRY(sr_agent_train(ctx, agent, 21));
  SR_TRY(sr_agent_evaluate(ctx, agent, 1, 1, 1, returns));
  SR_TRY(sr_agent_save(ctx, agent, path));
  SR_TRY(sr_agent_load(ctx, path, &again));
  SR_TRY(sr_agent_check_option(ctx, again, "sampler", data));
cleanup:
  sr_agent_free(&agent);
  sr_agent_free(&again);
  return status;
}

/* Features that need no network: rows in two clusters. */
static sr_status made_features(sr_context *ctx, void *data, int64_t count, const int64_t *rows,
                               float *features) {
  (void)ctx, (void)data;
  for (int64_t i = 0; i < count; i++)
    for (int j = 0; j < 3; j++)
      features[3 * i + j] = (float)(rows[i] % 2 * 5 + rows[i] * (j + 1) % 7);
  return SR_OK;
}

/* Graph, spectrum and parts of a cut, which make most allocations; without the networks, whose
 * weights would be drawn anew for each of them. */
static sr_status cut_buffer(sr_context *ctx, void *data) {
  sr_status status = SR_OK;
  sr__configuration configuration = {0};
  sr__buffer *buffer = NULL;
  const sr__sampler *sampler = NULL;
  void *own = NULL;
  bool cut = false;
  const uint8_t frame[16] = {1};
  sr_allocator allocator = sr__allocator(ctx);
  SR_TRY(sr__configure(ctx, "sampler", sr_sampler_method, data, &configuration));
  sampler = (const sr__sampler *)(const void *)configuration.method;
  SR_TRY(sr__buffer_new(ctx, 60, sizeof frame, 1, &buffer));
  sr__sampler_setup setup = {buffer, 2, 3, 1, true};
  SR_TRY(sampler->prepare(ctx, configuration.options, &setup, &own));
  sr__buffer_begin(buffer, frame);
  sampler->added(own, 0, true);
  for (int64_t row = 1; row < 50; row++) {
    sr__buffer_add(buffer, 0, 1, false, frame);
    sampler->added(own, row, false);
  }
  SR_TRY(sampler->refresh(ctx, own, made_features, NULL, &cut));
  assert_true(cut);
cleanup:
  if (own) sampler->free_state(&allocator, own);
  sr__buffer_free(&buffer);
  sr__configuration_free(&allocator, &configuration);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char features[] = "routed-features:landmarks=20,parts=4", separate[] = "separate";
  test_every_allocation(cut_buffer, features);
  test_every_allocation(train_save_load, separate);
  char per[] = "per";
  test_every_allocation(plan_more, per);
}

/* An agent knows what it was made with, in any spelling. */
static void options_are_checked_against_the_agent(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_agent *agent = new_agent(ctx, "sampler=routed:block=9 game=pong:skip=2", 3);
  assert_ok(ctx, sr_agent_check_option(ctx, agent, "sampler", "routed:9"));
  assert_ok(ctx, sr_agent_check_option(ctx, agent, "game", "pong:sticky=0.1,skip=2"));
  assert_ok(ctx, sr_agent_check_option(ctx, agent, "heads", "3"));
  assert_ok(ctx, sr_agent_check_option(ctx, agent, "stack", "4")); /* chosen by the game */
  assert_int_equal(sr_agent_check_option(ctx, agent, "sampler", "routed"), SR_ERROR_ARGUMENT);
  assert_string_equal(sr_context_error(ctx).message,
                      "the agent has sampler routed:block=9, not routed");
  assert_int_equal(sr_agent_check_option(ctx, agent, "game", "pong"), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_agent_check_option(ctx, agent, "heads", "4"), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_agent_check_option(ctx, agent, "haeds", "3"), SR_ERROR_NOT_FOUND);
  assert_int_equal(sr_agent_check_option(ctx, agent, "sampler", "rooted"), SR_ERROR_NOT_FOUND);
  sr_agent_free(&agent);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_loaded_agent_goes_on_bit_for_bit),
                                     cmocka_unit_test(thread_count_changes_nothing),
                                     cmocka_unit_test(steps_follow_the_gradient_of_their_loss),
                                     cmocka_unit_test(targets_are_bellman_s),
                                     cmocka_unit_test(a_longer_plan_is_as_if_planned_at_first),
                                     cmocka_unit_test(batches_of_a_head_are_its_own_rows),
                                     cmocka_unit_test(one_head_per_row_where_rows_are_owned),
                                     cmocka_unit_test(learns_breakout_and_pong),
                                     cmocka_unit_test(evaluation_leaves_the_agent_alone),
                                     cmocka_unit_test(damaged_files_are_refused),
                                     cmocka_unit_test(wrong_settings_are_refused),
                                     cmocka_unit_test(options_are_checked_against_the_agent),
                                     cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
