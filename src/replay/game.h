/* What a game is to the frame buffer and the agent. Internal. */
#ifndef SR_REPLAY_GAME_H
#define SR_REPLAY_GAME_H

#include <specroute/replay.h>

#include "core/bytes.h"
#include "core/core.h"
#include "core/options.h"
#include "core/random.h"

/* How a frame is kept: gray is one byte per cell; bits is one 128-bit word per channel, bit `width
 * y + x`. */
typedef enum sr__frame_form { SR__FRAME_BITS, SR__FRAME_GRAY } sr__frame_form;

typedef struct sr__game sr__game;

typedef struct sr__game_operations {
  /* Fills game->state, view, frame and frame_bytes; the first episode is started by reset. */
  sr_status (*open)(sr_context *ctx, const sr__game *entry, const void *options, uint64_t seed,
                    sr_game *game);
  /* reset and step set over and truncated in the view, and the frame. */
  sr_status (*reset)(sr_context *ctx, sr_game *game);
  sr_status (*step)(sr_context *ctx, sr_game *game, int32_t action, double *reward);
  int32_t (*script)(const sr_game *game); /* an action, or -1 */
  /* Everything that the next step depends on. */
  sr_status (*save)(sr_context *ctx, sr_game *game, sr__bytes *bytes);
  sr_status (*load)(sr_context *ctx, sr_game *game, sr__byte_reader *reader);
  void (*close)(sr_game *game);
} sr__game_operations;

struct sr__game {
  sr_method about;
  const sr__game_operations *operations;
  const void *rules; /* of games that share their operations */
};

struct sr_game {
  sr_allocator allocator;
  const sr__game *entry;
  sr__configuration configuration;
  char *label;
  sr_game_view view;
  sr__frame_form form;
  size_t frame_bytes;
  const uint8_t *frame; /* the newest one, in its kept form */
  void *state;
};

/* A frame in its kept form as one byte per cell, channels x height x width. */
void sr__frame_to_bytes(sr__frame_form form, const sr_game_view *shape, const uint8_t *frame,
                        uint8_t *bytes);
/* Everything that the next step of a game depends on, to and from bytes; the game loaded into is of
 * the same text. */
SR_MUST_CHECK sr_status sr__game_save(sr_context *ctx, sr_game *game, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__game_load(sr_context *ctx, sr__byte_reader *reader, sr_game *game);
/* A round trip to the process of a game of `ale` that does nothing there. */
SR_MUST_CHECK sr_status sr__ale_ping(sr_context *ctx, sr_game *game);
void sr__put_random(sr__bytes *bytes, const sr__random *random);
void sr__get_random(sr__byte_reader *reader, sr__random *random);

#endif
