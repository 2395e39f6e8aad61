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
      sr__qnet_forward(&net->target, &agent->work, many, agent->frames);
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
static void show_rows(const sr__sampler *sampler, void *state, const sr__buffer *buffer) {
  int64_t oldest = sr__buffer_oldest(buffer);
  for (int64_t row = oldest; row < buffer->written; row++) {
    uint8_t flags = buffer->flags[sr__buffer_slot(buffer, row)];
    if (sampler->added) sampler->added(state, row, row == oldest || flags & SR__ROW_FIRST);
    if (sampler->completed && flags & SR__ROW_WHOLE) sampler->completed(state, row);
  }
}

static void split_heads(const sr__sampler *sampler, void *state, const frozen *f, int32_t heads,
                        sr_target_split *split) {
  sr__tally all = {0}, head[SR__HEADS_MAX] = {{0}};
  for (int64_t i = 0; i < f->rows; i++) {
    sr__tally_add(&all, f->y[i]);
    int32_t owner =
        sampler->traits & SR__SAMPLER_OWNED ? sampler->owner(state, f->row[i], NULL) : 0;
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

static void batch_error(const sr_agent *agent, const sr__sampler *sampler, void *state,
                        const frozen *f, int64_t draws, uint64_t seed, sr__batch *batch,
                        sr_target_split *split) {
  sr__random random;
  double squares = 0;
  sr__random_init(&random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_DRAW);
  for (int64_t d = 0; d < draws; d++) {
    int32_t head = sampler->traits & SR__SAMPLER_OWNED ? (int32_t)(d % agent->heads) : -1;
    double sum = 0, weights = 0;
    for (int32_t i = 0; i < batch->count; i++) batch->weight[i] = 1;
    if (sampler->draw)
      sampler->draw(state, &random, head, 1, batch);
    else
      for (int32_t i = 0; i < batch->count; i++)
        batch->row[i] = sr__draw_row(agent->buffer, &random);
    for (int32_t i = 0; i < batch->count; i++) {
      sum += (double)batch->weight[i] * f->y[place_of(f, batch->row[i])];
      weights += (double)batch->weight[i];
    }
    squares += (sum / weights - split->mean) * (sum / weights - split->mean);
  }
  split->batch_error =
      draws > 0 && split->total > 0 ? squares / (double)draws / (split->total / batch->count) : NAN;
}

sr_status sr_agent_target_split(sr_context *ctx, sr_agent *agent, const char *text, int64_t draws,
                                uint64_t seed, sr_target_split *split) {
  sr_status status = SR_OK;
  sr__configuration configuration = {0};
  const sr__sampler *sampler = NULL;
  void *state = NULL;
  frozen f = {0};
  SR_TRY(sr__configure(ctx, "sampler", sr_sampler_method, text, &configuration));
  sampler = (const sr__sampler *)(const void *)configuration.method;
  if (sampler->traits & SR__SAMPLER_FEATURES)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%s cannot be asked: its heads follow the hidden layer of a network that "
                    "learns; ask a sampler on "
                    "rows, such as routed",
                    text));
  if (agent->buffer->whole <= agent->options.stack)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "the buffer is empty; train the agent or collect steps first"));
  sr__sampler_setup setup = {agent->buffer, agent->heads, agent->net[0].online.shape.hidden,
                             agent->seed};
  if (sampler->prepare) SR_TRY(sampler->prepare(ctx, configuration.options, &setup, &state));
  show_rows(sampler, state, agent->buffer);
  SR_TRY(freeze(ctx, agent, &f));
  split_heads(sampler, state, &f, agent->heads, split);
  sr__batch batch = {(int32_t)agent->options.batch, agent->batch.row, agent->batch.weight};
  batch_error(agent, sampler, state, &f, draws, seed, &batch, split);
cleanup:
  if (state) {
    sr_allocator allocator = sr__allocator(ctx);
    sampler->free_state(&allocator, state);
  }
  sr_allocator allocator = sr__allocator(ctx);
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
