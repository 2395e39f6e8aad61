#include "grid.h"

#include "core/random.h"

const sr_option sr__grid_option_list[] = {
    SR_INTEGER(sr__grid_options, skip, "4", 1, 8, "frames per step; a tick of the game has 4"),
    SR_REAL(sr__grid_options, sticky, "0.1", 0, 1,
            "probability that a tick repeats the action before"),
    SR_FLAG(sr__grid_options, ramp, "yes", "the game gets harder from level to level"),
    SR_OPTIONS_END};

static const char *const move_names[SR__MOVES] = {"stay", "up", "down", "left", "right", "fire"};

typedef struct grid {
  sr__cells planes[SR__GRID_CHANNELS_MAX]; /* the frame */
  _Alignas(16) uint8_t rule_state[SR__GRID_STATE_MAX];
  sr__random random;
  const sr__grid_rules *rules;
  uint64_t sticky_bound; /* a random word below this repeats the action */
  int32_t skip;
  bool ramp;
  int32_t tick;                    /* of the episode */
  int32_t phase;                   /* frames of this tick that are over */
  uint8_t asked[SR__MOVES];        /* frames of this tick that asked for each move */
  uint8_t last_asked, last_played; /* moves */
  const char *action_names[SR__MOVES];
} grid;

static void show(const grid *state, sr__cells *planes) {
  for (int c = 0; c < state->rules->channels; c++) planes[c] = 0;
  state->rules->draw(state->rule_state, planes);
}

static sr_status open_grid(sr_context *ctx, const sr__game *entry, const void *options,
                           uint64_t seed, sr_game *game) {
  sr_status status = SR_OK;
  const sr__grid_options *chosen = options;
  const sr__grid_rules *rules = entry->rules;
  grid *state = NULL;
  SR_NEW_ZERO(ctx, state, 1);
  state->rules = rules;
  state->skip = (int32_t)chosen->skip;
  state->ramp = chosen->ramp;
  state->sticky_bound = (uint64_t)(chosen->sticky * 0x1p53);
  sr__random_init(&state->random, seed, SR_PURPOSE_REPLAY, 0, 0);
  for (int a = 0; a < rules->actions; a++) state->action_names[a] = move_names[rules->allowed[a]];
  game->state = state;
  game->form = SR__FRAME_BITS;
  game->frame = (const uint8_t *)state->planes;
  game->frame_bytes = (size_t)rules->channels * sizeof(sr__cells);
  game->view.channels = rules->channels;
  game->view.height = game->view.width = SR__GRID_SIDE;
  game->view.actions = rules->actions;
  game->view.action_names = state->action_names;
  game->view.skip = state->skip;
cleanup:
  return status;
}

static sr_status reset_grid(sr_context *ctx, sr_game *game) {
  (void)ctx;
  grid *state = game->state;
  sr__turn turn = {&state->random, 0, state->ramp, false};
  memset(state->rule_state, 0, sizeof state->rule_state);
  memset(state->asked, 0, sizeof state->asked);
  state->tick = state->phase = 0;
  state->last_asked = state->last_played = SR__STAY;
  state->rules->start(state->rule_state, &turn);
  show(state, state->planes);
  return SR_OK;
}

/* The move that most frames of a tick asked for. */
static int most_asked(grid *state) {
  int move = state->last_asked;
  for (int k = 0; k < SR__MOVES; k++)
    if (state->asked[k] > state->asked[move]) move = k;
  memset(state->asked, 0, sizeof state->asked);
  state->phase = 0;
  return move;
}

/* The move that is played: the one asked for, or the one before. */
static sr__move decide(grid *state, int move) {
  if (state->sticky_bound && sr__random_bits(&state->random) >> 11 < state->sticky_bound)
    move = state->last_played;
  state->last_played = (uint8_t)move;
  return (sr__move)move;
}

static sr_status step_grid(sr_context *ctx, sr_game *game, int32_t action, double *reward) {
  (void)ctx;
  grid *state = game->state;
  const sr__grid_rules *rules = state->rules;
  int move = rules->allowed[action];
  float sum = 0;
  for (int frames = state->skip; frames > 0 && !game->view.over && !game->view.truncated;) {
    /* As many frames at once as ask for one move within one tick. */
    int together = SR__TICK_FRAMES - state->phase;
    if (together > frames) together = frames;
    frames -= together;
    state->last_asked = (uint8_t)move;
    int asked = move;
    if (together < SR__TICK_FRAMES) {
      state->phase += together;
      state->asked[move] = (uint8_t)(state->asked[move] + together);
      if (state->phase < SR__TICK_FRAMES) break;
      asked = most_asked(state);
    }
    sr__move played = decide(state, asked);
    sr__turn turn = {&state->random, ++state->tick, state->ramp, false};
    sum += rules->tick(state->rule_state, played, &turn);
    game->view.over = turn.over;
    game->view.truncated = !turn.over && state->tick >= rules->tick_cap;
  }
  show(state, state->planes);
  *reward = sum;
  return SR_OK;
}

static int32_t script_grid(const sr_game *game) {
  const grid *state = game->state;
  if (!state->rules->script) return -1;
  sr__move move = state->rules->script(state->rule_state, state->tick);
  for (int32_t a = 0; a < state->rules->actions; a++)
    if (state->rules->allowed[a] == move) return a;
  return 0;
}

static sr_status save_grid(sr_context *ctx, sr_game *game, sr__bytes *bytes) {
  (void)ctx;
  const grid *state = game->state;
  sr__put_random(bytes, &state->random);
  sr__put_u32(bytes, (uint32_t)state->tick);
  sr__put_u32(bytes, (uint32_t)state->phase);
  sr__put_raw(bytes, state->asked, SR__MOVES);
  sr__put_u8(bytes, state->last_asked);
  sr__put_u8(bytes, state->last_played);
  sr__put_raw(bytes, state->rule_state, (int64_t)state->rules->state_size);
  return bytes->status;
}

static sr_status load_grid(sr_context *ctx, sr_game *game, sr__byte_reader *reader) {
  (void)ctx;
  grid *state = game->state;
  sr__get_random(reader, &state->random);
  state->tick = (int32_t)sr__get_u32(reader);
  state->phase = (int32_t)(sr__get_u32(reader) % SR__TICK_FRAMES);
  sr__get_raw(reader, state->asked, SR__MOVES);
  state->last_asked = sr__get_u8(reader) % SR__MOVES;
  state->last_played = sr__get_u8(reader) % SR__MOVES;
  sr__get_raw(reader, state->rule_state, (int64_t)state->rules->state_size);
  if (reader->status == SR_OK) show(state, state->planes);
  return reader->status;
}

static void close_grid(sr_game *game) { sr__release(&game->allocator, game->state); }

const sr__game_operations sr__grid_operations = {open_grid, reset_grid, step_grid, script_grid,
                                                 save_grid, load_grid,  close_grid};
