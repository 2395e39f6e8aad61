/* What a sampler does to the targets, and fresh buffers of one policy. */
#include <math.h>

#include <specroute/data.h>

#include "agent.h"

/* ---- targets under one frozen network ------------------------------------------------------- */

typedef struct frozen {
  int64_t rows;
  int64_t *row; /* drawable rows, increasing */
  double *y;
} frozen;

/* y of every drawable row: r + gamma times the heads' mean of their largest value of the next
 * picture. */
static sr_status freeze(sr_context *ctx, sr_agent *agent, frozen *f) {
  sr_status status = SR_OK;
  const sr__buffer *buffer = agent->buffer;
  int64_t oldest = sr__buffer_oldest(buffer), stack = agent->options.stack;
  SR_NEW(ctx, f->row, buffer->whole + 1);
  SR_NEW_ZERO(ctx, f->y, buffer->whole + 1);
  for (int64_t row = oldest; row < buffer->written; row++)
    if (sr__buffer_drawable(buffer, row)) f->row[f->rows++] = row;
  for (int64_t done = 0; done < f->rows; done += agent->rows_max) {
    int64_t many = f->rows - done < agent->rows_max ? f->rows - done : agent->rows_max;
    SR_TRY(sr__check_interrupt(ctx));
    for (int64_t i = 0; i < many; i++) {
      const uint8_t *frames[SR__STACK_MAX + 1];
      sr__buffer_frames(buffer, f->row[done + i], frames);
      memcpy(agent->frames + i * stack, frames + 1, (size_t)stack * sizeof *frames);
    }
    for (int32_t k = 0; k < agent->nets; k++) {
      const sr__learner_net *net = &agent->net[k];
      sr__agent_forward(agent, net, &net->target, many, agent->frames);
      for (int64_t i = 0; i < many * net->heads; i++) {
        const float *q = agent->work.q + i * agent->actions;
        float best = q[0];
        for (int32_t a = 1; a < agent->actions; a++) best = q[a] > best ? q[a] : best;
        f->y[done + i / net->heads] += (double)best / agent->heads;
      }
    }
    for (int64_t i = done; i < done + many; i++) {
      int64_t slot = sr__buffer_slot(buffer, f->row[i]);
      bool over = buffer->flags[slot] & SR__ROW_OVER;
      f->y[i] = (double)buffer->reward[slot] + (over ? 0 : agent->options.gamma * f->y[i]);
    }
  }
cleanup:
  return status;
}

static int64_t place_of(const frozen *f, int64_t row) {
  int64_t low = 0, high = f->rows - 1;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (f->row[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A sampler that saw the rows of the buffer as they were written. */
static sr_status show_rows(sr_context *ctx, const sr__sampler *sampler, void *state,
                           const sr__buffer *buffer) {
  bool cut;
  int64_t oldest = sr__buffer_oldest(buffer);
  for (int64_t row = oldest; row < buffer->written; row++) {
    uint8_t flags = buffer->flags[sr__buffer_slot(buffer, row)];
    if (sampler->added) sampler->added(state, row, row == oldest || flags & SR__ROW_FIRST);
    if (sampler->completed && flags & SR__ROW_WHOLE) sampler->completed(state, row);
  }
  return sampler->refresh ? sampler->refresh(ctx, state, NULL, NULL, &cut) : SR_OK;
}

/* A sampler that is asked, and whose rows. */
typedef struct asked {
  const sr__sampler *sampler;
  void *state;
} asked;
static int32_t owner_of(void *data, int64_t row) {
  const asked *a = data;
  return a->sampler->owner(a->state, row, NULL);
}

static void split_heads(asked *a, const frozen *f, int32_t heads, sr_target_split *split) {
  sr__tally all = {0}, head[SR__HEADS_MAX] = {{0}};
  for (int64_t i = 0; i < f->rows; i++) {
    sr__tally_add(&all, f->y[i]);
    int32_t owner = a->sampler->traits & SR__SAMPLER_OWNED ? owner_of(a, f->row[i]) : 0;
    sr__tally_add(&head[owner], f->y[i]);
  }
  *split = (sr_target_split){.rows = f->rows,
                             .mean = sr__tally_mean(&all),
                             .total = sr__tally_variance(&all)};
  for (int32_t h = 0; h < heads; h++) {
    if (head[h].count <= 0) continue;
    double share = head[h].count / all.count, apart = sr__tally_mean(&head[h]) - split->mean;
    split->within += share * sr__tally_variance(&head[h]);
    split->between += share * apart * apart;
  }
}

static void batch_error(const sr_agent *agent, asked *a, const frozen *f, int64_t draws,
                        uint64_t seed, sr__batch *batch, sr_target_split *split) {
  sr__random random;
  double squares = 0, batches = 0;
  sr__random_init(&random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_DRAW);
  for (int64_t d = 0; d < draws; d++) {
    double sum = 0, weights = 0;
    for (int32_t i = 0; i < batch->count; i++) batch->weight[i] = 1;
    if (a->sampler->traits & SR__SAMPLER_OWNED)
      sr__draw_owned(agent->buffer, &random, owner_of, a, (int32_t)(d % agent->heads), batch);
    else if (a->sampler->draw)
      a->sampler->draw(a->state, &random, 1, batch);
    else
      for (int32_t i = 0; i < batch->count; i++)
        batch->row[i] = sr__draw_row(agent->buffer, &random);
    for (int32_t i = 0; i < batch->count; i++) {
      sum += (double)batch->weight[i] * f->y[place_of(f, batch->row[i])];
      weights += (double)batch->weight[i];
    }
    if (weights <= 0) continue; /* the head has no rows */
    squares += (sum / weights - split->mean) * (sum / weights - split->mean);
    batches++;
  }
  split->batch_error =
      batches > 0 && split->total > 0 ? squares / batches / (split->total / batch->count) : NAN;
}

/* The agent's own sampler, as it stands. */
static sr_status is_own(sr_context *ctx, const sr_agent *agent,
                        const sr__configuration *configuration, bool *own) {
  char *label = sr__configuration_text(ctx, configuration->method, configuration->options);
  if (!label) return sr_context_error(ctx).status;
  *own = strcmp(label, agent->sampler_label) == 0;
  sr__free(ctx, label);
  return SR_OK;
}

sr_status sr_agent_target_split(sr_context *ctx, sr_agent *agent, const char *text, int64_t draws,
                                uint64_t seed, sr_target_split *split) {
  sr_status status = SR_OK;
  sr__configuration configuration = {0};
  sr_allocator allocator = sr__allocator(ctx);
  asked a = {0};
  bool own = false;
  frozen f = {0};
  SR_TRY(sr__configure(ctx, "sampler", sr_sampler_method, text, &configuration));
  SR_TRY(is_own(ctx, agent, &configuration, &own));
  a.sampler = (const sr__sampler *)(const void *)configuration.method;
  if (a.sampler->traits & SR__SAMPLER_FEATURES)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%s cannot be asked: its heads follow the hidden layer of a network that "
                    "learns; ask a sampler on "
                    "rows, such as routed",
                    text));
  if (a.sampler->traits & SR__SAMPLER_WEIGHTED && !own)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%s cannot be asked of an agent of %s: it draws by errors that were never "
                    "learned; ask an agent that was trained with it",
                    text, agent->sampler_label));
  if (agent->buffer->whole <= agent->options.stack)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "the buffer is empty; train the agent or collect steps first"));
  sr__sampler_setup setup = {agent->buffer, agent->heads, agent->net[0].online.shape.hidden,
                             agent->seed, agent->game->form == SR__FRAME_BITS};
  if (own) {
    a.state = agent->sampler_state;
  } else {
    if (a.sampler->prepare)
      SR_TRY(a.sampler->prepare(ctx, configuration.options, &setup, &a.state));
    SR_TRY(show_rows(ctx, a.sampler, a.state, agent->buffer));
  }
  SR_TRY(freeze(ctx, agent, &f));
  split_heads(&a, &f, agent->heads, split);
  sr__batch batch = {(int32_t)agent->options.batch, agent->batch.row, agent->batch.weight};
  batch_error(agent, &a, &f, draws, seed, &batch, split);
cleanup:
  if (a.state && !own) a.sampler->free_state(&allocator, a.state);
  sr__configuration_free(&allocator, &configuration);
  sr__free(ctx, f.row);
  sr__free(ctx, f.y);
  return status;
}

/* ---- fresh buffers of one policy ------------------------------------------------------------ */

sr_status sr_agent_collect(sr_context *ctx, sr_agent *agent, sr_agent *player, int64_t steps,
                           double epsilon, uint64_t seed) {
  sr_status status = SR_OK;
  sr_game *game = NULL;
  sr__random random;
  if (strcmp(agent->options.game, player->options.game) != 0 ||
      agent->options.stack != player->options.stack)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%s with stacks of %lld cannot be filled by a player of %s with stacks of %lld",
                    agent->options.game, (long long)agent->options.stack, player->options.game,
                    (long long)player->options.stack);
  SR_TRY(sr_game_new(ctx, agent->options.game, seed, &game));
  sr__random_init(&random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_ACT);
  const sr_game_view *view = sr_game_get(game);
  sr__agent_begin(agent, game->frame);
  for (int64_t t = 0; t < steps; t++) {
    const uint8_t *frames[SR__STACK_MAX + 1];
    double reward;
    int32_t action;
    if (t % 64 == 0) SR_TRY(sr__check_interrupt(ctx));
    if (sr__random_uniform(&random) < epsilon) {
      action = (int32_t)sr__random_below(&random, (uint64_t)agent->actions);
    } else {
      sr__buffer_frames(agent->buffer, agent->buffer->written - 1, frames);
      action = sr__agent_greedy(player, frames, -1);
    }
    SR_TRY(sr_game_step(ctx, game, action, &reward));
    sr__agent_add(agent, action, reward, view->over, game->frame);
    if (!view->over && !view->truncated) continue;
    SR_TRY(sr_game_reset(ctx, game));
    sr__agent_begin(agent, game->frame);
  }
cleanup:
  agent->playing = false; /* the agent's own game begins a new episode in the buffer */
  sr_game_free(&game);
  return status;
}

sr_status sr_agent_learn(sr_context *ctx, sr_agent *agent, int64_t gradient_steps) {
  sr_status status = SR_OK;
  if (agent->buffer->whole <= agent->options.stack)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the buffer is empty; train the agent or collect steps first");
  for (int64_t t = 1; t <= gradient_steps; t++) {
    if (t % 16 == 0) SR_TRY(sr__check_interrupt(ctx));
    if (agent->sampler->refresh) {
      bool cut = false;
      SR_TRY(agent->sampler->refresh(ctx, agent->sampler_state, sr__agent_features, agent, &cut));
      agent->view.cuts += cut;
    }
    SR_TRY(sr__agent_learn(ctx, agent));
    if (agent->view.gradient_steps % agent->options.target_every == 0)
      for (int32_t k = 0; k < agent->nets; k++)
        sr__qnet_copy_weights(&agent->net[k].online, &agent->net[k].target);
  }
cleanup:
  agent->view.target_mean = sr__tally_mean(&agent->reading);
  agent->view.target_variance = sr__tally_variance(&agent->reading);
  return status;
}

sr_status sr_agent_values(sr_context *ctx, sr_agent *agent, sr_agent *seen, int64_t count,
                          uint64_t seed, float *values) {
  sr__random random;
  if (strcmp(agent->options.game, seen->options.game) != 0 ||
      agent->options.stack != seen->options.stack)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "an agent of %s cannot value the pictures of %s",
                    agent->options.game, seen->options.game);
  if (seen->buffer->whole <= seen->options.stack)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the buffer is empty; train the agent or collect steps first");
  sr__random_init(&random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_EVALUATE);
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *frames[SR__STACK_MAX + 1];
    sr__buffer_frames(seen->buffer, sr__draw_row(seen->buffer, &random), frames);
    sr__agent_head_values(agent, frames, values + i * agent->heads * agent->actions);
  }
  return SR_OK;
}

/* ---- the buffer as a table ------------------------------------------------------------------ */

sr_status sr_agent_table(sr_context *ctx, sr_agent *agent, int64_t rows, sr_table **table) {
  sr_status status = SR_OK;
  const sr__buffer *buffer = agent->buffer;
  int64_t *row = NULL, count = 0;
  int32_t width = agent->net[0].online.shape.hidden, episode = 0;
  int32_t *group = NULL;
  float *features = NULL, *columns = NULL;
  char **names = NULL;
  *table = NULL;
  if (rows > buffer->whole) rows = buffer->whole;
  SR_NEW(ctx, row, rows);
  SR_NEW(ctx, group, rows);
  for (int64_t r = sr__buffer_oldest(buffer); r < buffer->written && count < rows; r++) {
    if (count > 0 && buffer->flags[sr__buffer_slot(buffer, r)] & SR__ROW_FIRST) episode++;
    if (!sr__buffer_drawable(buffer, r)) continue;
    group[count] = episode;
    row[count++] = r;
  }
  SR_NEW(ctx, features, count * width);
  SR_NEW(ctx, columns, count * width);
  SR_TRY(sr__agent_features(ctx, agent, count, row, features));
  for (int64_t i = 0; i < count; i++)
    for (int32_t j = 0; j < width; j++) columns[j * count + i] = features[i * width + j];
  SR_NEW_ZERO(ctx, names, episode + 1);
  for (int32_t e = 0; e <= episode; e++) {
    char name[32];
    snprintf(name, sizeof name, "%d", e + 1);
    names[e] = sr__strdup(ctx, name);
    if (!names[e]) SR_TRY(sr_context_error(ctx).status);
  }
  sr_table_view view = {.rows = count,
                        .features = width,
                        .x = columns,
                        .group = group,
                        .groups = {episode + 1, (const char *const *)names}};
  SR_TRY(sr_table_new(ctx, &view, table));
cleanup:
  for (int32_t e = 0; names && e <= episode; e++) sr__free(ctx, names[e]);
  sr__free(ctx, names);
  sr__free(ctx, row);
  sr__free(ctx, group);
  sr__free(ctx, features);
  sr__free(ctx, columns);
  return status;
}
