/* Reinforcement learning from a replay buffer: games, samplers, and agents with several heads. */
#ifndef SPECROUTE_REPLAY_H
#define SPECROUTE_REPLAY_H

#include <specroute/core.h>
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
SR_API const sr_method *sr_game_method(int index);
/* Starts a game and its first episode. `text` is NAME[:KEY=VALUE,...], such as "breakout" or
 * "space_invaders:skip=1,sticky=0.25". Free with sr_game_free. Errors: SR_ERROR_NOT_FOUND,
 * SR_ERROR_ARGUMENT, SR_ERROR_UNSUPPORTED (a program that the game needs is missing),
 * SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_game_new(sr_context *ctx, const char *text, uint64_t seed,
                                           sr_game **game);
SR_API void sr_game_free(sr_game **game);
/* Lives as long as the game and shows its present state. */
SR_API const sr_game_view *sr_game_get(const sr_game *game);
/* Starts the next episode. */
SR_API SR_MUST_CHECK sr_status sr_game_reset(sr_context *ctx, sr_game *game);
/* Plays `action` (0 to actions - 1) for one step. SR_ERROR_ARGUMENT where there is no such action
 * or the episode has ended. */
SR_API SR_MUST_CHECK sr_status sr_game_step(sr_context *ctx, sr_game *game, int32_t action,
                                            double *reward);
/* What the game's written player would do now; -1 where it has none. It reads the state, not the
 * picture. */
SR_API int32_t sr_game_script(const sr_game *game);
/* The newest picture: channels x height x width bytes, 0 or 1 in grid games, gray from 0 to 255
 * elsewhere. */
SR_API void sr_game_picture(const sr_game *game, uint8_t *picture);

/* ---- samplers ----------------------------------------------------------------------------- */

/* The entry of a sampler in the registry, NULL past the end. */
SR_API const sr_method *sr_sampler_method(int index);

#ifdef __cplusplus
}
#endif
#endif
