#include "agent.h"

#include <math.h>

static const sr_option option_list[] = {
    SR_TEXT(sr_agent_options, game, "breakout", "the game, NAME[:KEY=VALUE,...]"),
    SR_TEXT(sr_agent_options, sampler, "uniform", "the sampler, NAME[:KEY=VALUE,...]"),
    SR_INTEGER(sr_agent_options, heads, "5", 1, SR__HEADS_MAX, "heads that vote"),
    SR_INTEGER(sr_agent_options, steps, "200000", 1, 1e12, "steps of the game"),
    SR_INTEGER(sr_agent_options, capacity, "0", 0, 1e9,
               "rows of the buffer; 0: 10^5 on grids, 10^6 elsewhere, or what the steps need"),
    SR_INTEGER(sr_agent_options, stack, "0", 0, SR__STACK_MAX,
               "frames seen at once; 0: 1 on grids where a step is a tick or more, else 4"),
    SR_INTEGER(sr_agent_options, batch, "32", 1, 4096, "rows of a batch"),
    SR_INTEGER(sr_agent_options, start, "1000", 1, 1e12, "steps before the first gradient step"),
    SR_INTEGER(sr_agent_options, train_every, "0", 0, 1e9,
               "steps per gradient step; 0: 1 on grids, 4 elsewhere"),
    SR_INTEGER(sr_agent_options, target_every, "1000", 1, 1e12,
               "steps between two copies to the target network"),
    SR_REAL(sr_agent_options, gamma, "0.99", 0, 1, "worth of a reward one step later"),
    SR_REAL(sr_agent_options, learning_rate, "0", 0, 10,
            "of the optimizer; 0: 2.5e-4 on grids, 1e-4 elsewhere"),
    SR_CHOICE(sr_agent_options, optimizer, "adam", "adam|rmsprop",
              "rmsprop is centered, decay .95, epsilon .01"),
    SR_FLAG(sr_agent_options, double_q, "no",
            "the online network chooses the action that the target one values"),
    SR_REAL(sr_agent_options, epsilon_end, "0.05", 0, 1,
            "random actions at the end of the schedule; it begins at 1"),
    SR_INTEGER(sr_agent_options, epsilon_steps, "20000", 1, 1e12,
               "steps of the schedule, after `start`"),
    SR_CHOICE(sr_agent_options, batches, "one", "one|each",
              "one batch for all heads, or a batch each"),
    SR_CHOICE(sr_agent_options, loss_rows, "own", "own|batch",
              "rows that a head's loss is divided by"),
    SR_REAL(sr_agent_options, bootstrap, "1", 0, 1,
            "probability that a head learns from a row at all"),
    SR_REAL(sr_agent_options, prior, "0", 0, 1000,
            "factor of a random network that is added and never learns"),
    SR_CHOICE(sr_agent_options, act, "vote", "vote|head",
              "the mean of the heads, or one head per episode"),
    SR_REAL(sr_agent_options, reward_clip, "-1", -1, 1e9,
            "largest reward that is learned; 0: any; -1: 1 for gray pictures"),
    SR_INTEGER(sr_agent_options, log_every, "0", 0, 1e12,
               "steps per record; 0: a twentieth of the steps"),
    SR_OPTIONS_END};

const sr_option *sr_agent_option_list(void) { return option_list; }
void sr_agent_options_init(sr_agent_options *options) { sr_options_init(option_list, options); }

double sr__tally_mean(const sr__tally *tally) {
  return tally->count > 0 ? tally->sum / tally->count : NAN;
}
double sr__tally_variance(const sr__tally *tally) {
  double mean = sr__tally_mean(tally);
  return tally->count > 0 ? fmax(0, tally->squares / tally->count - mean * mean) : NAN;
}

/* Rows of the buffer where none are asked for. */
static int64_t usual_capacity(const sr_agent *agent, int64_t steps) {
  int64_t most = steps + steps / 2 + 1000; /* rows that a run can write, last pictures included */
  int64_t usual = agent->game->form == SR__FRAME_GRAY ? 1000000 : 100000;
  return most < usual ? most : usual;
}
static int64_t usual_log_every(int64_t steps) { return steps >= 20 ? steps / 20 : 1; }

/* Every option within its range, and what is 0 by the game. */
static sr_status settle_options(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  sr_agent_options *o = &agent->options, checked;
  char text[64];
  sr_agent_options_init(&checked);
  for (const sr_option *option = option_list; option->key; option++) {
    if (option->type == SR_OPTION_TEXT) continue;
    sr_option_print(option, o, text, sizeof text);
    SR_TRY(sr_options_set(ctx, "the agent", option_list, &checked, option->key, text));
  }
  bool gray = agent->game->form == SR__FRAME_GRAY;
  agent->chosen_capacity = o->capacity == 0;
  if (agent->chosen_capacity) o->capacity = usual_capacity(agent, o->steps);
  if (o->stack == 0) o->stack = gray || sr_game_get(agent->game)->skip < 4 ? 4 : 1;
  if (o->train_every == 0) o->train_every = gray ? 4 : 1;
  if (o->learning_rate <= 0) o->learning_rate = gray ? 1e-4 : 2.5e-4;
  if (o->reward_clip < 0) o->reward_clip = gray ? 1 : 0;
  agent->chosen_log_every = o->log_every == 0;
  if (agent->chosen_log_every) o->log_every = usual_log_every(o->steps);
cleanup:
  return status;
}

static sr_status make_nets(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  const sr_agent_options *o = &agent->options;
  bool separate = agent->sampler->traits & SR__SAMPLER_SEPARATE;
  sr__qnet_shape shape;
  agent->nets = separate ? agent->heads : 1;
  int32_t heads = separate ? 1 : agent->heads;
  SR_TRY(sr__qnet_choose(ctx, agent->game, (int32_t)o->stack, heads * agent->actions, &shape));
  SR_NEW_ZERO(ctx, agent->net, agent->nets);
  for (int32_t k = 0; k < agent->nets; k++) {
    sr__learner_net *net = &agent->net[k];
    sr__random random;
    net->first_head = k;
    net->heads = heads;
    net->adam = (sr__adam){.rate = (float)(o->learning_rate * agent->pace.learning_rate),
                           .beta1 = 0.9f,
                           .beta2 = 0.999f,
                           .epsilon = 1e-8f};
    SR_TRY(sr__qnet_new(ctx, &shape, true, &net->online));
    SR_TRY(sr__qnet_new(ctx, &shape, false, &net->target));
    sr__random_init(&random, agent->seed, SR_PURPOSE_REPLAY, (uint64_t)k, SR__STREAM_WEIGHTS);
    sr__qnet_draw_weights(&net->online, &random);
    sr__qnet_copy_weights(&net->online, &net->target);
    if (o->prior <= 0) continue;
    SR_TRY(sr__qnet_new(ctx, &shape, false, &net->prior));
    sr__random_init(&random, agent->seed, SR_PURPOSE_REPLAY, (uint64_t)k, SR__STREAM_PRIOR);
    sr__qnet_draw_weights(&net->prior, &random);
  }
  agent->view.parameters = agent->net[0].online.parameters.count * agent->nets;
  SR_TRY(sr__qnet_work_new(ctx, &shape, agent->rows_max, &agent->work));
cleanup:
  return status;
}

static sr_status make_scratch(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  int64_t rows = agent->rows_max, values = rows * agent->heads * agent->actions;
  SR_NEW_ZERO(ctx, agent->batch.row, rows);
  SR_NEW_ZERO(ctx, agent->batch.weight, rows);
  SR_NEW_ZERO(ctx, agent->frames, rows * agent->options.stack);
  SR_NEW_ZERO(ctx, agent->next_frames, rows * agent->options.stack);
  SR_NEW_ZERO(ctx, agent->mask, rows * agent->heads);
  SR_NEW_ZERO(ctx, agent->next_q, values);
  SR_NEW_ZERO(ctx, agent->extra_q, values);
  SR_NEW_ZERO(ctx, agent->target, rows * agent->heads);
  SR_NEW_ZERO(ctx, agent->error, rows);
  SR_NEW_ZERO(ctx, agent->chosen, rows);
cleanup:
  return status;
}

static sr_status make_sampler(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  agent->sampler = (const sr__sampler *)(const void *)agent->sampler_configuration.method;
  agent->sampler_label = sr__configuration_text(ctx, agent->sampler_configuration.method,
                                                agent->sampler_configuration.options);
  if (!agent->sampler_label) return sr_context_error(ctx).status;
  agent->pace = (sr__sampler_pace){1, 1};
  if (agent->sampler->set_pace)
    agent->sampler->set_pace(agent->sampler_configuration.options, &agent->pace);
  SR_TRY(sr__buffer_new(ctx, agent->options.capacity, (int64_t)agent->game->frame_bytes,
                        (int32_t)agent->options.stack, &agent->buffer));
  if (agent->sampler->prepare) {
    sr__sampler_setup setup = {agent->buffer, agent->heads,
                               agent->game->form == SR__FRAME_BITS ? 128 : 512, agent->seed,
                               agent->game->form == SR__FRAME_BITS};
    SR_TRY(agent->sampler->prepare(ctx, agent->sampler_configuration.options, &setup,
                                   &agent->sampler_state));
  }
cleanup:
  return status;
}

sr_status sr_agent_new(sr_context *ctx, const sr_agent_options *options, uint64_t seed,
                       sr_agent **agent) {
  sr_status status = SR_OK;
  sr_agent *made = NULL;
  sr_agent_options defaults;
  *agent = NULL;
  sr_agent_options_init(&defaults);
  if (!options) options = &defaults;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->options = *options;
  made->options.game = made->options.sampler = NULL;
  made->seed = seed;
  /* All names are checked before anything large is made. */
  SR_TRY(sr__configure(ctx, "sampler", sr_sampler_method, options->sampler,
                       &made->sampler_configuration));
  SR_TRY(sr_game_new(ctx, options->game, seed, &made->game));
  SR_TRY(settle_options(ctx, made));
  made->actions = sr_game_get(made->game)->actions;
  made->heads = (int32_t)made->options.heads;
  made->rows_max = made->options.batch * (made->options.batches ? made->heads : 1);
  SR_TRY(make_sampler(ctx, made));
  SR_TRY(make_nets(ctx, made));
  SR_TRY(make_scratch(ctx, made));
  made->options.game = sr_game_get(made->game)->name;
  made->options.sampler = made->sampler_label;
  sr__random_init(&made->act_random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_ACT);
  sr__random_init(&made->draw_random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_DRAW);
  sr__random_init(&made->mix_random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_MIX);
  made->view.game = made->options.game;
  made->view.sampler = made->options.sampler;
  made->view.options = &made->options;
  made->view.seed = seed;
  made->view.actions = made->actions;
  made->view.target_mean = made->view.target_variance = NAN;
  made->view.recent_return = made->view.recent_loss = NAN;
  *agent = made;
  made = NULL;
cleanup:
  sr_agent_free(&made);
  return status;
}

void sr_agent_free(sr_agent **agent) {
  if (!*agent) return;
  sr_agent *a = *agent;
  sr_allocator allocator = a->allocator;
  if (a->sampler_state) a->sampler->free_state(&allocator, a->sampler_state);
  for (int32_t k = 0; a->net && k < a->nets; k++) {
    sr__qnet_free(&a->net[k].online);
    sr__qnet_free(&a->net[k].target);
    sr__qnet_free(&a->net[k].prior);
  }
  sr__qnet_work_free(&a->work);
  void *blocks[] = {
      a->net,    a->batch.row, a->batch.weight, (void *)a->frames, (void *)a->next_frames,
      a->mask,   a->next_q,    a->extra_q,      a->target,         a->error,
      a->chosen, a->record,    a->sampler_label};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  sr__configuration_free(&allocator, &a->sampler_configuration);
  sr__buffer_free(&a->buffer);
  sr_game_free(&a->game);
  sr__release(&allocator, a);
  *agent = NULL;
}

const sr_agent_view *sr_agent_get(const sr_agent *agent) { return &agent->view; }

/* ---- more steps than were planned ----------------------------------------------------------- */

/* The ring in place of the agent's, which samplers point at; all of it or nothing. */
static sr_status grow_buffer(sr_context *ctx, sr_agent *agent, int64_t capacity) {
  sr_status status = SR_OK;
  sr__buffer *larger = NULL;
  SR_TRY(sr__buffer_larger(ctx, agent->buffer, capacity, &larger));
  if (agent->sampler->grow) SR_TRY(agent->sampler->grow(ctx, agent->sampler_state, larger));
  sr__buffer smaller = *agent->buffer;
  *agent->buffer = *larger;
  *larger = smaller;
cleanup:
  sr__buffer_free(&larger);
  return status;
}

sr_status sr_agent_plan(sr_context *ctx, sr_agent *agent, int64_t steps) {
  sr_status status = SR_OK;
  sr_agent_options *o = &agent->options, asked = *o;
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)steps);
  SR_TRY(sr_options_set(ctx, "the agent", option_list, &asked, "steps", text));
  int64_t capacity = usual_capacity(agent, steps);
  if (agent->chosen_capacity && capacity > o->capacity) {
    SR_TRY(grow_buffer(ctx, agent, capacity));
    o->capacity = capacity;
  }
  if (agent->chosen_log_every) o->log_every = usual_log_every(steps);
  o->steps = steps;
cleanup:
  return status;
}

/* ---- what it was made with ------------------------------------------------------------------ */

/* The method as it is printed, so that two spellings of it agree; to be freed. */
static sr_status label_of(sr_context *ctx, const char *kind, sr_method_at at, const char *text,
                          char **label) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration configuration = {0};
  SR_TRY(sr__configure(ctx, kind, at, text, &configuration));
  *label = sr__configuration_text(ctx, configuration.method, configuration.options);
  if (!*label) status = sr_context_error(ctx).status;
cleanup:
  sr__configuration_free(&allocator, &configuration);
  return status;
}

sr_status sr_agent_check_option(sr_context *ctx, const sr_agent *agent, const char *key,
                                const char *value) {
  sr_status status = SR_OK;
  sr_agent_options asked = agent->options;
  char *label = NULL, found[64], given[64];
  const char *has = found, *wants = given;
  const sr_option *option = option_list;
  while (option->key && strcmp(option->key, key) != 0) option++;
  SR_TRY(sr_options_set(ctx, "the agent", option_list, &asked, key, value));
  if (option->type == SR_OPTION_TEXT) {
    bool game = option->offset == offsetof(sr_agent_options, game);
    has = game ? agent->options.game : agent->options.sampler;
    SR_TRY(label_of(ctx, key, game ? sr_game_method : sr_sampler_method, value, &label));
    wants = label;
  } else {
    sr_option_print(option, &agent->options, found, sizeof found);
    sr_option_print(option, &asked, given, sizeof given);
  }
  if (strcmp(has, wants) != 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the agent has %s %s, not %s", key, has, wants));
cleanup:
  sr__free(ctx, label);
  return status;
}
