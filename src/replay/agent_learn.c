/* One gradient step: draw, targets, errors, backward, update. */
#include <math.h>

#include "agent.h"

/* The head of a row; the network is asked where that takes the row's hidden layer. */
static int32_t owner_of(void *data, int64_t row) {
  sr_agent *agent = data;
  const uint8_t *frames[SR__STACK_MAX + 1];
  int32_t owner = agent->sampler->owner(agent->sampler_state, row, NULL);
  if (owner >= 0) return owner;
  sr__buffer_frames(agent->buffer, row, frames);
  sr__qnet_forward(&agent->net[0].online, &agent->work, 1, frames);
  return agent->sampler->owner(agent->sampler_state, row, agent->work.hidden);
}

/* Rows of the batch: one for all heads, or one per head in turn. */
static int32_t draw_rows(sr_agent *agent) {
  const sr_agent_options *o = &agent->options;
  bool owned = agent->sampler->traits & SR__SAMPLER_OWNED;
  int32_t batches = o->batches ? agent->heads : 1;
  double progress = (double)agent->view.step / (double)o->steps;
  for (int64_t i = 0; i < agent->rows_max; i++) agent->batch.weight[i] = 1;
  for (int32_t b = 0; b < batches; b++) {
    sr__batch batch = {(int32_t)o->batch, agent->batch.row + b * o->batch,
                       agent->batch.weight + b * o->batch};
    if (owned && o->batches) {
      sr__draw_owned(agent->buffer, &agent->draw_random, owner_of, agent, b, &batch);
    } else if (agent->sampler->draw) {
      agent->sampler->draw(agent->sampler_state, &agent->draw_random, progress, &batch);
    } else {
      for (int32_t i = 0; i < batch.count; i++)
        batch.row[i] = sr__draw_row(agent->buffer, &agent->draw_random);
    }
  }
  agent->batch.count = (int32_t)o->batch * batches;
  const uint8_t *frames[SR__STACK_MAX + 1];
  for (int32_t i = 0; i < agent->batch.count; i++) {
    sr__buffer_frames(agent->buffer, agent->batch.row[i], frames);
    memcpy(agent->frames + i * o->stack, frames, (size_t)o->stack * sizeof *frames);
    memcpy(agent->next_frames + i * o->stack, frames + 1, (size_t)o->stack * sizeof *frames);
  }
  return agent->batch.count;
}

/* Whether a head sees a row at all, by a hash of both: a coin that stays with the row. */
static bool bootstrapped(const sr_agent *agent, int64_t row, int32_t head) {
  if (agent->options.bootstrap >= 1) return true;
  uint64_t z = agent->seed * UINT64_C(0xD1342543DE82EF95) +
               (uint64_t)(row * SR__HEADS_MAX + head) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 < agent->options.bootstrap;
}

/* hidden: count x width of the last hidden layer, for samplers that place rows by it. Rows of
 * weight 0 are those of a head that has none. */
static void fill_mask(sr_agent *agent, const float *hidden, int64_t width) {
  bool owned = agent->sampler->traits & SR__SAMPLER_OWNED;
  for (int32_t i = 0; i < agent->batch.count; i++) {
    int64_t row = agent->batch.row[i];
    int32_t owner = -1;
    if (agent->options.batches)
      owner = (int32_t)(i / agent->options.batch);
    else if (owned)
      owner = agent->sampler->owner(agent->sampler_state, row, hidden ? hidden + i * width : NULL);
    for (int32_t h = 0; h < agent->heads; h++)
      agent->mask[i * agent->heads + h] =
          (owner < 0 || owner == h) && agent->batch.weight[i] > 0 && bootstrapped(agent, row, h);
  }
}

void sr__agent_forward(sr_agent *agent, const sr__learner_net *net, const sr__qnet *which,
                       int64_t count, const uint8_t *const *frames) {
  sr__qnet_work *work = &agent->work;
  int64_t values = count * which->shape.outputs;
  if (agent->options.prior > 0) {
    sr__qnet_forward(&net->prior, work, count, frames);
    memcpy(agent->extra_q, work->q, (size_t)values * sizeof(float));
  }
  sr__qnet_forward(which, work, count, frames);
  if (agent->options.prior > 0)
    for (int64_t i = 0; i < values; i++)
      work->q[i] += (float)agent->options.prior * agent->extra_q[i];
}

static int32_t largest(int32_t actions, const float *q) {
  int32_t best = 0;
  for (int32_t a = 1; a < actions; a++)
    if (q[a] > q[best]) best = a;
  return best;
}

/* target[i][h] = r + gamma max_a Q_target(s', a), nothing to come after the end. With double_q the
 * online network chooses a. mixture (heads) sums the heads up to one; then h = 0 alone is filled.
 */
static void fill_targets(sr_agent *agent, sr__learner_net *net, int64_t count,
                         const uint8_t *const *next_frames, const float *mixture) {
  const sr__buffer *buffer = agent->buffer;
  int32_t actions = agent->actions, heads = net->heads;
  int64_t outputs = (int64_t)heads * actions;
  float mixed[256], *choice_q = NULL;
  sr__agent_forward(agent, net, &net->target, count, next_frames);
  memcpy(agent->next_q, agent->work.q, (size_t)(count * outputs) * sizeof(float));
  if (agent->options.double_q) {
    sr__agent_forward(agent, net, &net->online, count, next_frames);
    choice_q = agent->work.q;
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t slot = sr__buffer_slot(buffer, agent->batch.row[agent->chosen[i]]);
    bool over = buffer->flags[slot] & SR__ROW_OVER;
    for (int32_t h = 0; h < (mixture ? 1 : heads); h++) {
      const float *q = agent->next_q + i * outputs + h * actions;
      const float *choice = choice_q ? choice_q + i * outputs + h * actions : q;
      if (mixture) {
        float mixed_choice[256] = {0};
        for (int32_t a = 0; a < actions; a++) {
          mixed[a] = 0;
          for (int32_t k = 0; k < heads; k++) {
            mixed[a] += mixture[k] * q[k * actions + a];
            mixed_choice[a] += mixture[k] * choice[k * actions + a];
          }
        }
        float best = mixed[largest(actions, mixed_choice)];
        agent->target[i] = buffer->reward[slot] + (over ? 0 : (float)agent->options.gamma * best);
      } else {
        float best = q[largest(actions, choice)];
        agent->target[i * heads + h] =
            buffer->reward[slot] + (over ? 0 : (float)agent->options.gamma * best);
      }
    }
  }
}

/* Huber's loss of an error, and its slope. */
static double huber(float error, float *slope) {
  *slope = error > 1 ? 1 : error < -1 ? -1 : error;
  double size = fabs((double)error);
  return size <= 1 ? 0.5 * size * size : size - 0.5;
}

static void note_target(sr_agent *agent, double target) {
  sr__tally_add(&agent->window_target, target);
  if (agent->view.step < SR__TARGET_READING_STEPS) sr__tally_add(&agent->reading, target);
}

/* dq of a random mixture of the heads. */
static void mixture_gradient(sr_agent *agent, const sr__learner_net *net, int64_t count,
                             const float *mixture) {
  int32_t actions = agent->actions, heads = net->heads;
  for (int64_t i = 0; i < count; i++) {
    int32_t row = agent->chosen[i],
            action = agent->buffer->action[sr__buffer_slot(agent->buffer, agent->batch.row[row])];
    const float *q = agent->work.q + i * heads * actions;
    float value = 0, slope;
    for (int32_t h = 0; h < heads; h++) value += mixture[h] * q[h * actions + action];
    float error = value - agent->target[i];
    sr__tally_add(&agent->window_loss, huber(error, &slope));
    note_target(agent, (double)agent->target[i]);
    for (int32_t h = 0; h < heads; h++)
      agent->work.dq[(i * heads + h) * actions + action] =
          mixture[h] * agent->batch.weight[row] * slope / (float)count;
    agent->error[row] = fabsf(error);
  }
}

/* dq of each head on the rows that it learns from: the mean over its rows, averaged over all heads.
 */
static void heads_gradient(sr_agent *agent, const sr__learner_net *net, int64_t count) {
  int32_t actions = agent->actions, heads = net->heads;
  float share[SR__HEADS_MAX];
  for (int32_t h = 0; h < heads; h++) {
    int64_t own = 0;
    for (int64_t i = 0; i < count; i++)
      own += agent->mask[agent->chosen[i] * agent->heads + net->first_head + h];
    int64_t rows = agent->options.loss_rows ? agent->options.batch : own;
    share[h] = rows > 0 ? 1 / ((float)rows * (float)heads) : 0;
  }
  for (int64_t i = 0; i < count; i++) {
    int32_t row = agent->chosen[i],
            action = agent->buffer->action[sr__buffer_slot(agent->buffer, agent->batch.row[row])];
    float errors = 0, learning = 0;
    for (int32_t h = 0; h < heads; h++) {
      if (!agent->mask[row * agent->heads + net->first_head + h]) continue;
      int64_t at = (i * heads + h) * actions + action;
      float slope, error = agent->work.q[at] - agent->target[i * heads + h];
      sr__tally_add(&agent->window_loss, huber(error, &slope));
      note_target(agent, (double)agent->target[i * heads + h]);
      agent->work.dq[at] = agent->batch.weight[row] * slope * share[h];
      errors += fabsf(error);
      learning += 1;
    }
    agent->error[row] = learning > 0 ? errors / learning : 0;
  }
}

static void backward_and_step(sr_agent *agent, sr__learner_net *net, int64_t count,
                              const uint8_t **frames) {
  if (agent->options.optimizer == 0) {
    sr__qnet_learn(&net->online, &agent->work, count, frames, &net->adam);
  } else {
    sr__rmsprop how = {net->adam.rate, 0.95f, 0.01f, true};
    sr__qnet_backward(&net->online, &agent->work, count, frames);
    sr__rmsprop_step(&how, &net->online.parameters);
  }
}

/* Learns the chosen rows, whose frames lie side by side. */
static void learn_net(sr_agent *agent, sr__learner_net *net, int64_t count, const uint8_t **frames,
                      const uint8_t **next_frames, const float *mixture) {
  fill_targets(agent, net, count, next_frames, mixture);
  sr__agent_forward(agent, net, &net->online, count, frames);
  memset(agent->work.dq, 0, (size_t)(count * net->online.shape.outputs) * sizeof(float));
  if (mixture) {
    mixture_gradient(agent, net, count, mixture);
  } else {
    if (agent->sampler->traits & SR__SAMPLER_FEATURES)
      fill_mask(agent, agent->work.hidden, net->online.shape.hidden);
    heads_gradient(agent, net, count);
  }
  backward_and_step(agent, net, count, frames);
}

sr_status sr__agent_learn(sr_context *ctx, sr_agent *agent) {
  (void)ctx;
  int32_t count = draw_rows(agent);
  int64_t stack = agent->options.stack;
  float mixture[SR__HEADS_MAX];
  bool mixes = agent->sampler->traits & SR__SAMPLER_MIXES;
  if (mixes) { /* uniform numbers divided by their sum */
    float sum = 0;
    for (int32_t h = 0; h < agent->heads; h++)
      sum += mixture[h] = (float)sr__random_uniform(&agent->mix_random);
    for (int32_t h = 0; h < agent->heads; h++) mixture[h] /= sum;
  }
  if (!(agent->sampler->traits & SR__SAMPLER_FEATURES)) fill_mask(agent, NULL, 0);
  if (agent->nets == 1) {
    for (int32_t i = 0; i < count; i++) agent->chosen[i] = i;
    learn_net(agent, &agent->net[0], count, agent->frames, agent->next_frames,
              mixes ? mixture : NULL);
  } else {
    /* Each network gets the rows of its head, moved to the front of the lists of frames. */
    for (int32_t k = 0; k < agent->nets; k++) {
      int32_t own = 0;
      const uint8_t *frames[SR__STACK_MAX + 1];
      for (int32_t i = 0; i < count; i++) {
        if (!agent->mask[i * agent->heads + k]) continue;
        sr__buffer_frames(agent->buffer, agent->batch.row[i], frames);
        memcpy(agent->frames + own * stack, frames, (size_t)stack * sizeof *frames);
        memcpy(agent->next_frames + own * stack, frames + 1, (size_t)stack * sizeof *frames);
        agent->chosen[own++] = i;
      }
      if (own > 0) learn_net(agent, &agent->net[k], own, agent->frames, agent->next_frames, NULL);
    }
  }
  if (agent->sampler->learned) {
    sr__batch batch = {count, agent->batch.row, agent->batch.weight};
    agent->sampler->learned(agent->sampler_state, &batch, agent->error);
  }
  agent->view.gradient_steps++;
  return SR_OK;
}

/* ---- values of the present --------------------------------------------------------------- */

void sr__agent_head_values(sr_agent *agent, const uint8_t *const *frames, float *q) {
  for (int32_t k = 0; k < agent->nets; k++) {
    sr__learner_net *net = &agent->net[k];
    sr__agent_forward(agent, net, &net->online, 1, frames);
    memcpy(q + net->first_head * agent->actions, agent->work.q,
           (size_t)(net->heads * agent->actions) * sizeof(float));
  }
}

int32_t sr__agent_greedy(sr_agent *agent, const uint8_t *const *frames, int32_t head) {
  float *q = agent->next_q, sum[256] = {0};
  sr__agent_head_values(agent, frames, q);
  if (head >= 0) return largest(agent->actions, q + head * agent->actions);
  for (int32_t h = 0; h < agent->heads; h++)
    for (int32_t a = 0; a < agent->actions; a++) sum[a] += q[h * agent->actions + a];
  return largest(agent->actions, sum);
}

sr_status sr__agent_features(sr_context *ctx, void *data, int64_t count, const int64_t *rows,
                             float *features) {
  (void)ctx;
  sr_agent *agent = data;
  const sr__qnet *net = &agent->net[0].online;
  const uint8_t *frames[SR__STACK_MAX + 1];
  int64_t stack = agent->options.stack, width = net->shape.hidden;
  for (int64_t done = 0; done < count;) {
    int64_t many = count - done < agent->rows_max ? count - done : agent->rows_max;
    for (int64_t i = 0; i < many; i++) {
      sr__buffer_frames(agent->buffer, rows[done + i], frames);
      memcpy(agent->frames + i * stack, frames, (size_t)stack * sizeof *frames);
    }
    sr__qnet_forward(net, &agent->work, many, agent->frames);
    memcpy(features + done * width, agent->work.hidden, (size_t)(many * width) * sizeof(float));
    done += many;
  }
  return SR_OK;
}
