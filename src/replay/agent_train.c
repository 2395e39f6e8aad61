/* Playing, learning, recording; and evaluation apart from both. */
#include <math.h>

#include "agent.h"

void sr__agent_begin(sr_agent *agent, const uint8_t *frame) {
  sr__buffer_begin(agent->buffer, frame);
  if (agent->sampler->added)
    agent->sampler->added(agent->sampler_state, agent->buffer->written - 1, true);
}

static float clip(const sr_agent *agent, double reward) {
  double limit = agent->options.reward_clip;
  if (limit > 0 && fabs(reward) > limit) reward = reward > 0 ? limit : -limit;
  return (float)reward;
}

void sr__agent_add(sr_agent *agent, int32_t action, double reward, bool over, const uint8_t *next) {
  int64_t row = agent->buffer->written - 1;
  sr__buffer_add(agent->buffer, action, clip(agent, reward), over, next);
  if (agent->sampler->completed) agent->sampler->completed(agent->sampler_state, row);
  if (agent->sampler->added) agent->sampler->added(agent->sampler_state, row + 1, false);
}

static void begin_episode(sr_agent *agent) {
  sr__agent_begin(agent, agent->game->frame);
  agent->acting_head = -1;
  if (agent->options.act == 1)
    agent->acting_head = (int32_t)sr__random_below(&agent->act_random, (uint64_t)agent->heads);
  agent->playing = true;
}

static double epsilon_now(const sr_agent *agent) {
  const sr_agent_options *o = &agent->options;
  double past = (double)(agent->view.step - o->start) / (double)o->epsilon_steps;
  return past <= 0 ? 1 : past >= 1 ? o->epsilon_end : 1 - (1 - o->epsilon_end) * past;
}

static sr_status play_step(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  const sr_game_view *view = sr_game_get(agent->game);
  int32_t action;
  double reward;
  if (!agent->playing) begin_episode(agent);
  int64_t row = agent->buffer->written - 1;
  if (sr__random_uniform(&agent->act_random) < epsilon_now(agent)) {
    action = (int32_t)sr__random_below(&agent->act_random, (uint64_t)agent->actions);
  } else {
    const uint8_t *frames[SR__STACK_MAX + 1];
    sr__buffer_frames(agent->buffer, row, frames);
    action = sr__agent_greedy(agent, frames, agent->acting_head);
  }
  SR_TRY(sr_game_step(ctx, agent->game, action, &reward));
  sr__agent_add(agent, action, reward, view->over, agent->game->frame);
  if (view->over || view->truncated) {
    sr__tally_add(&agent->window_return, view->score);
    agent->view.episodes++;
    SR_TRY(sr_game_reset(ctx, agent->game));
    agent->playing = false;
  }
cleanup:
  return status;
}

static sr_status learn_if_due(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  const sr_agent_options *o = &agent->options;
  int64_t step = agent->view.step;
  if (step < o->start || step % o->train_every != 0 || agent->buffer->whole <= o->stack)
    return SR_OK;
  if (agent->sampler->refresh) {
    bool cut = false;
    double begun = sr_seconds();
    SR_TRY(agent->sampler->refresh(ctx, agent->sampler_state, sr__agent_features, agent, &cut));
    agent->view.seconds_cut += sr_seconds() - begun;
    agent->view.cuts += cut;
  }
  double begun = sr_seconds();
  for (agent->credit += agent->pace.gradient_steps; agent->credit >= 1; agent->credit -= 1)
    SR_TRY(sr__agent_learn(ctx, agent));
  agent->view.seconds_learn += sr_seconds() - begun;
cleanup:
  return status;
}

static sr_status record(sr_context *ctx, sr_agent *agent) {
  sr_status status = SR_OK;
  sr_agent_view *view = &agent->view;
  SR_GROW(ctx, agent->record, agent->record_capacity, view->records + 1);
  view->record = agent->record;
  agent->record[view->records++] =
      (sr_agent_record){.step = view->step,
                        .episodes = (int64_t)agent->window_return.count,
                        .mean_return = sr__tally_mean(&agent->window_return),
                        .loss = sr__tally_mean(&agent->window_loss),
                        .target_mean = sr__tally_mean(&agent->window_target),
                        .target_variance = sr__tally_variance(&agent->window_target),
                        .epsilon = epsilon_now(agent)};
  const sr_agent_record *last = &agent->record[view->records - 1];
  char cuts[64] = "";
  if (view->cuts > 0)
    snprintf(cuts, sizeof cuts, ", %lld cuts in %.2g %% of the time", (long long)view->cuts,
             100 * view->seconds_cut /
                 (view->seconds_cut + view->seconds_learn + view->seconds_play));
  sr__log(ctx, SR_LOG_DEBUG,
          "%s, %s, step %lld: return %.3g over %lld episodes, loss %.3g, mean y %.3g, Var(y) "
          "%.3g%s",
          view->game, view->sampler, (long long)last->step, last->mean_return,
          (long long)last->episodes, last->loss, last->target_mean, last->target_variance, cuts);
  agent->window_return = agent->window_loss = agent->window_target = (sr__tally){0};
cleanup:
  return status;
}

/* What a progress line shows: this window, or the last record where nothing has come since. */
static void refresh_recent(sr_agent *agent) {
  sr_agent_view *view = &agent->view;
  if (agent->window_return.count > 0) view->recent_return = sr__tally_mean(&agent->window_return);
  if (agent->window_loss.count > 0) view->recent_loss = sr__tally_mean(&agent->window_loss);
}

sr_status sr_agent_train(sr_context *ctx, sr_agent *agent, int64_t steps) {
  sr_status status = SR_OK;
  sr_agent_view *view = &agent->view;
  int64_t end = view->step + steps;
  while (view->step < end) {
    if (view->step % 16 == 0) SR_TRY(sr__check_interrupt(ctx));
    double begun = sr_seconds();
    SR_TRY(play_step(ctx, agent));
    view->seconds_play += sr_seconds() - begun;
    view->step++;
    SR_TRY(learn_if_due(ctx, agent));
    if (view->step % agent->options.target_every == 0)
      for (int32_t k = 0; k < agent->nets; k++)
        sr__qnet_copy_weights(&agent->net[k].online, &agent->net[k].target);
    refresh_recent(agent);
    if (view->step % agent->options.log_every == 0) SR_TRY(record(ctx, agent));
    if (view->step % 16 == 0) sr__progress(ctx, "training", view->step, agent->options.steps);
  }
cleanup:
  view->target_mean = sr__tally_mean(&agent->reading);
  view->target_variance = sr__tally_variance(&agent->reading);
  return status;
}

sr_status sr_agent_evaluate(sr_context *ctx, sr_agent *agent, int64_t episodes, double epsilon,
                            uint64_t seed, double *returns) {
  sr_status status = SR_OK;
  sr_game *game = NULL;
  sr__buffer *seen = NULL; /* a few rows, for the stacks */
  sr__random random;
  const uint8_t *frames[SR__STACK_MAX + 1];
  if (!(epsilon >= 0 && epsilon <= 1))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "epsilon %g is not a probability; give 0 to 1",
                    epsilon);
  SR_TRY(sr_game_new(ctx, agent->options.game, seed, &game));
  SR_TRY(sr__buffer_new(ctx, 4 * agent->options.stack, (int64_t)game->frame_bytes,
                        (int32_t)agent->options.stack, &seen));
  sr__random_init(&random, seed, SR_PURPOSE_REPLAY, 0, SR__STREAM_EVALUATE);
  const sr_game_view *view = sr_game_get(game);
  for (int64_t e = 0; e < episodes; e++) {
    sr__buffer_begin(seen, game->frame);
    while (!view->over && !view->truncated) {
      int32_t action;
      double reward;
      if (sr__random_uniform(&random) < epsilon) {
        action = (int32_t)sr__random_below(&random, (uint64_t)agent->actions);
      } else {
        sr__buffer_frames(seen, seen->written - 1, frames);
        action = sr__agent_greedy(agent, frames, -1);
      }
      SR_TRY(sr_game_step(ctx, game, action, &reward));
      sr__buffer_add(seen, action, (float)reward, view->over, game->frame);
      SR_TRY(sr__check_interrupt(ctx));
    }
    returns[e] = view->score;
    SR_TRY(sr_game_reset(ctx, game));
  }
cleanup:
  sr__buffer_free(&seen);
  sr_game_free(&game);
  return status;
}
