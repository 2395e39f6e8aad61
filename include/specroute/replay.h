/* Reinforcement learning from a replay buffer: games, samplers, and agents with several heads. */
#ifndef SPECROUTE_REPLAY_H
#define SPECROUTE_REPLAY_H

#include <specroute/data.h>
#include <specroute/method.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- games -------------------------------------------------------------------------------- */

/* A game in some state of an episode. It draws from one random stream of its own: the same text,
 * seed and actions give the same pictures and rewards. */
typedef struct sr_game sr_game;

typedef struct sr_game_view {
  const char *name;                /* the game with its options, as sr_game_new takes it */
  int32_t channels, height, width; /* of one picture */
  int32_t actions;
  const char *const *action_names;
  int32_t skip;  /* frames per step */
  int over;      /* the episode has ended by the game's rules */
  int truncated; /* the episode was cut at its longest length; it would have gone on */
  int64_t steps; /* of this episode */
  double score;  /* sum of the rewards of this episode */
} sr_game_view;

/* The entry of a game in the registry, NULL past the end. */
SR_API SR_EXPERIMENTAL const sr_method *sr_game_method(int index);
/* Starts a game and its first episode. `text` is NAME[:KEY=VALUE,...], such as "breakout" or
 * "space_invaders:skip=1,sticky=0.25". Free with sr_game_free. Errors: SR_ERROR_NOT_FOUND,
 * SR_ERROR_ARGUMENT, SR_ERROR_UNSUPPORTED (a program that the game needs is missing),
 * SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_game_new(sr_context *ctx, const char *text,
                                                           uint64_t seed, sr_game **game);
SR_API SR_EXPERIMENTAL void sr_game_free(sr_game **game);
/* Lives as long as the game and shows its present state. */
SR_API SR_EXPERIMENTAL const sr_game_view *sr_game_get(const sr_game *game);
/* Starts the next episode of a game. Errors: SR_ERROR_IO (an emulator has ended). */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_game_reset(sr_context *ctx, sr_game *game);
/* Plays `action` (0 to actions - 1) of a game for one step; *reward is what it gave. Errors:
 * SR_ERROR_ARGUMENT (no such action, or the episode has ended), SR_ERROR_IO (an emulator has
 * ended). */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_game_step(sr_context *ctx, sr_game *game,
                                                            int32_t action, double *reward);
/* What the game's written player would do now; -1 where it has none. It reads the state, not the
 * picture. */
SR_API SR_EXPERIMENTAL int32_t sr_game_script(const sr_game *game);
/* The newest picture of a game: channels x height x width bytes, 0 or 1 in grid games, gray from 0
 * to 255 elsewhere. */
SR_API SR_EXPERIMENTAL void sr_game_picture(const sr_game *game, uint8_t *picture);

/* ---- samplers ----------------------------------------------------------------------------- */

/* The entry of a sampler in the registry, NULL past the end. */
SR_API SR_EXPERIMENTAL const sr_method *sr_sampler_method(int index);

/* ---- agents ------------------------------------------------------------------------------- */

/* Q-learning with several heads on one network: how a run is set up. A field with 0 is chosen by
 * the game, as the list of options says. */
typedef struct sr_agent_options {
  const char *game;    /* as sr_game_new takes it */
  const char *sampler; /* NAME[:KEY=VALUE,...] of sr_sampler_method */
  int64_t heads;
  int64_t steps; /* planned: prioritized weights reach their end there; sr_agent_plan changes it */
  int64_t capacity, stack, batch;
  int64_t start, train_every, target_every;
  double gamma, learning_rate;
  int optimizer; /* 0 adam, 1 rmsprop */
  int double_q;
  double epsilon_end;
  int64_t epsilon_steps;
  int batches;   /* 0: one batch, a row teaches its head or all; 1: a batch per head */
  int loss_rows; /* a head's loss is a mean over 0: its own rows, 1: all rows of the batch */
  double bootstrap;
  double prior;
  int act; /* 0: the mean of the heads, 1: one head per episode */
  double reward_clip;
  int64_t log_every;
} sr_agent_options;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API SR_EXPERIMENTAL const sr_option *sr_agent_option_list(void);
SR_API SR_EXPERIMENTAL void sr_agent_options_init(sr_agent_options *options);

typedef struct sr_agent sr_agent;

/* What a run looked like over `log_every` steps. */
typedef struct sr_agent_record {
  int64_t step;           /* the last one */
  int64_t episodes;       /* that ended */
  double mean_return;     /* of these; NaN where none ended */
  double loss;            /* mean over the rows that were learned */
  double target_mean;     /* of the targets y that were learned */
  double target_variance; /* never without target_mean: it grows with the scale of Q */
  double epsilon;
} sr_agent_record;

typedef struct sr_agent_view {
  const char *game, *sampler;      /* with the options that are not at their default */
  const sr_agent_options *options; /* what was chosen by the game is filled in */
  uint64_t seed;
  int32_t actions;
  int64_t step, episodes, gradient_steps, parameters;
  int64_t records;
  const sr_agent_record *record;
  double recent_return, recent_loss; /* since the last record, or of it; NaN where there is none */
  /* The targets of the first 10^5 steps: the paper's reading, confounded by the scale of Q. */
  double target_mean, target_variance;
  int64_t cuts;                                    /* of a graph over the last hidden layer */
  double seconds_play, seconds_learn, seconds_cut; /* of this process, not saved */
} sr_agent_view;

/* An agent at step 0. `options` NULL: defaults. Free with sr_agent_free. Errors: those of
 * sr_game_new, SR_ERROR_ARGUMENT, SR_ERROR_NOT_FOUND, SR_ERROR_UNSUPPORTED, SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_new(sr_context *ctx,
                                                            const sr_agent_options *options,
                                                            uint64_t seed, sr_agent **agent);
SR_API SR_EXPERIMENTAL void sr_agent_free(sr_agent **agent);
SR_API SR_EXPERIMENTAL const sr_agent_view *sr_agent_get(const sr_agent *agent);
/* That the agent was made with this value of the option `key`, as text; what the game chose counts
 * as the value. Errors: SR_ERROR_ARGUMENT with both values where it was not, SR_ERROR_NOT_FOUND
 * where there is no such option or method. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_check_option(sr_context *ctx,
                                                                     const sr_agent *agent,
                                                                     const char *key,
                                                                     const char *value);
/* Plays and learns `steps` steps more. Same options and seed, same bytes, in however many calls. An
 * interrupt is heard between two steps: what was done is kept and the agent can go on or be saved.
 * Errors: SR_ERROR_INTERRUPTED, SR_ERROR_IO (an emulator has ended), SR_ERROR_MEMORY. Cost: one
 * gradient step every train_every steps, beside the game. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_train(sr_context *ctx, sr_agent *agent,
                                                              int64_t steps);
/* Plans `steps` steps of the agent in all, those already made included: schedules over the whole
 * run end there. A buffer and records that were chosen by the planned steps are chosen anew; the
 * buffer grows, never shrinks, and keeps its rows. The same steps as before change nothing. Errors:
 * SR_ERROR_ARGUMENT (fewer than 1), SR_ERROR_MEMORY; then the agent is as before. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_plan(sr_context *ctx, sr_agent *agent,
                                                             int64_t steps);
/* Plays `episodes` of the agent apart from training, with random actions with probability
 * `epsilon`; `returns` holds one number per episode, not clipped. Errors: SR_ERROR_ARGUMENT
 * (epsilon), SR_ERROR_INTERRUPTED, SR_ERROR_IO, SR_ERROR_MEMORY. Cost: a forward pass per step. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_evaluate(sr_context *ctx, sr_agent *agent,
                                                                 int64_t episodes, double epsilon,
                                                                 uint64_t seed, double *returns);
/* Everything, buffer included, so that a loaded agent goes on bit for bit. Written under a
 * temporary name and renamed. Takes the size of the buffer on disk. A loaded agent is freed with
 * sr_agent_free. Errors: SR_ERROR_OUTPUT; SR_ERROR_IO and SR_ERROR_FORMAT (not an agent, or
 * damaged); SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_save(sr_context *ctx, sr_agent *agent,
                                                             const char *path);
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_load(sr_context *ctx, const char *path,
                                                             sr_agent **agent);

/* ---- what a sampler does to the targets --------------------------------------------------- */

/* Targets y = r + gamma max Q(next) of all rows of one buffer under one frozen network: the same
 * for every sampler, so that what differs is the sampler. Never a variance without the mean beside
 * it: both grow with the scale of Q. */
typedef struct sr_target_split {
  int64_t rows;
  double mean, total;     /* of y over the buffer */
  double within, between; /* heads: total = within + between */
  double batch_error;     /* E (mean of a head's batch - mean)^2 in units of total / batch: 1 for
                             uniform rows */
} sr_target_split;

/* Splits the targets of the agent's buffer, under its target network (with its prior) and averaged
 * over its heads, by the rows that `sampler` would give each head, into *split; `draws` batches for
 * the batch error. The agent's own sampler is asked as it stands, another as if it had seen the
 * buffer being filled. Errors: SR_ERROR_UNSUPPORTED (samplers on features: their heads follow a
 * network that is not frozen; samplers by error that are not the agent's own: nothing was learned
 * for them), SR_ERROR_DATA (too few rows in the buffer), SR_ERROR_NOT_FOUND, SR_ERROR_ARGUMENT,
 * SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_target_split(sr_context *ctx,
                                                                     sr_agent *agent,
                                                                     const char *sampler,
                                                                     int64_t draws, uint64_t seed,
                                                                     sr_target_split *split);

/* Fills the agent's buffer with `steps` steps of another agent, the player, at random with
 * probability `epsilon`. Errors: SR_ERROR_ARGUMENT (they do not play the same game with the same
 * stack), SR_ERROR_INTERRUPTED, SR_ERROR_IO, SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_collect(sr_context *ctx, sr_agent *agent,
                                                                sr_agent *player, int64_t steps,
                                                                double epsilon, uint64_t seed);
/* Takes `gradient_steps` on the agent's buffer as it is; the target network is copied every
 * target_every of them. A batch may be larger than the buffer: rows are drawn again. Errors:
 * SR_ERROR_DATA (no more rows than a stack has frames), SR_ERROR_INTERRUPTED, SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_learn(sr_context *ctx, sr_agent *agent,
                                                              int64_t gradient_steps);
/* Values of all heads of an agent at `count` rows of the buffer of `seen`, drawn with `seed`:
 * `values` holds count x heads x actions. Errors: SR_ERROR_ARGUMENT (another game), SR_ERROR_DATA
 * (an empty buffer), SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_values(sr_context *ctx, sr_agent *agent,
                                                               sr_agent *seen, int64_t count,
                                                               uint64_t seed, float *values);
/* The last hidden layer of up to `rows` rows of the agent's buffer, oldest first, as a table; the
 * group is the episode. Free with sr_table_free. Errors: SR_ERROR_DATA (an empty buffer),
 * SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_agent_table(sr_context *ctx, sr_agent *agent,
                                                              int64_t rows, sr_table **table);

#ifdef __cplusplus
}
#endif
#endif
