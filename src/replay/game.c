#include "game.h"

#define SR_ENTRY(name) extern const sr__game sr__game_##name;
#include "games.def"
#undef SR_ENTRY

static const sr__game *const games[] = {
#define SR_ENTRY(name) &sr__game_##name,
#include "games.def"
#undef SR_ENTRY
};

const sr_method *sr_game_method(int index) {
  int count = (int)(sizeof games / sizeof *games);
  return index >= 0 && index < count ? &games[index]->about : NULL;
}

sr_status sr_game_new(sr_context *ctx, const char *text, uint64_t seed, sr_game **game) {
  sr_status status = SR_OK;
  sr_game *made = NULL;
  *game = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__configure(ctx, "game", sr_game_method, text, &made->configuration));
  made->entry = (const sr__game *)(const void *)made->configuration.method;
  made->label =
      sr__configuration_text(ctx, made->configuration.method, made->configuration.options);
  if (!made->label) {
    status = sr_context_error(ctx).status;
    goto cleanup;
  }
  made->view.name = made->label;
  SR_TRY(made->entry->operations->open(ctx, made->entry, made->configuration.options, seed, made));
  SR_TRY(sr_game_reset(ctx, made));
  *game = made;
  made = NULL;
cleanup:
  sr_game_free(&made);
  return status;
}

void sr_game_free(sr_game **game) {
  if (!*game) return;
  sr_allocator allocator = (*game)->allocator;
  if ((*game)->state) (*game)->entry->operations->close(*game);
  sr__configuration_free(&allocator, &(*game)->configuration);
  sr__release(&allocator, (*game)->label);
  sr__release(&allocator, *game);
  *game = NULL;
}

const sr_game_view *sr_game_get(const sr_game *game) { return &game->view; }

sr_status sr_game_reset(sr_context *ctx, sr_game *game) {
  game->view.over = game->view.truncated = 0;
  game->view.steps = 0;
  game->view.score = 0;
  return game->entry->operations->reset(ctx, game);
}

sr_status sr_game_step(sr_context *ctx, sr_game *game, int32_t action, double *reward) {
  sr_game_view *view = &game->view;
  if (action < 0 || action >= view->actions)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s has no action %d; it has the actions 0 to %d",
                    view->name, (int)action, (int)view->actions - 1);
  if (view->over || view->truncated)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "the episode of %s has ended; start the next one by a reset", view->name);
  sr_status status = game->entry->operations->step(ctx, game, action, reward);
  if (status != SR_OK) return status;
  view->steps++;
  view->score += *reward;
  return SR_OK;
}

int32_t sr_game_script(const sr_game *game) { return game->entry->operations->script(game); }

void sr_game_picture(const sr_game *game, uint8_t *picture) {
  sr__frame_to_bytes(game->form, &game->view, game->frame, picture);
}

/* Byte k of entry b is bit k of b. */
#define BIT(b, k) ((uint64_t)((b) >> (k)&1) << 8 * (k))
#define ONE(b) \
  (BIT(b, 0) | BIT(b, 1) | BIT(b, 2) | BIT(b, 3) | BIT(b, 4) | BIT(b, 5) | BIT(b, 6) | BIT(b, 7))
#define FOUR(b) ONE(b), ONE((b) + 1), ONE((b) + 2), ONE((b) + 3)
#define SIXTEEN(b) FOUR(b), FOUR((b) + 4), FOUR((b) + 8), FOUR((b) + 12)
#define ALL(b) SIXTEEN(b), SIXTEEN((b) + 16), SIXTEEN((b) + 32), SIXTEEN((b) + 48)
static const uint64_t spread[256] = {ALL(0), ALL(64), ALL(128), ALL(192)};

void sr__frame_to_bytes(sr__frame_form form, const sr_game_view *shape, const uint8_t *frame,
                        uint8_t *bytes) {
  size_t cells = (size_t)shape->height * (size_t)shape->width;
  if (form == SR__FRAME_GRAY) {
    memcpy(bytes, frame, cells * (size_t)shape->channels);
    return;
  }
  size_t whole = cells / 8, rest = cells % 8;
  for (int c = 0; c < shape->channels; c++, frame += 16, bytes += cells) {
    for (size_t k = 0; k < whole; k++) memcpy(bytes + 8 * k, &spread[frame[k]], 8);
    if (rest == 0) continue;
    if (c + 1 < shape->channels) /* the next channel writes over what is too much */
      memcpy(bytes + 8 * whole, &spread[frame[whole]], 8);
    else
      memcpy(bytes + 8 * whole, &spread[frame[whole]], rest);
  }
}

/* ---- saving ------------------------------------------------------------------------------- */

void sr__put_random(sr__bytes *bytes, const sr__random *random) {
  for (int k = 0; k < 2; k++) sr__put_u64(bytes, random->key[k]);
  for (int k = 0; k < 4; k++) sr__put_u64(bytes, random->counter[k]);
  for (int k = 0; k < 4; k++) sr__put_u64(bytes, random->block[k]);
  sr__put_u8(bytes, (uint8_t)random->used);
}

void sr__get_random(sr__byte_reader *reader, sr__random *random) {
  for (int k = 0; k < 2; k++) random->key[k] = sr__get_u64(reader);
  for (int k = 0; k < 4; k++) random->counter[k] = sr__get_u64(reader);
  for (int k = 0; k < 4; k++) random->block[k] = sr__get_u64(reader);
  random->used = sr__get_u8(reader);
  if (random->used > 4) sr__get_refuse(reader, "a random stream has spent more words than it has");
}

sr_status sr__game_save(sr_context *ctx, sr_game *game, sr__bytes *bytes) {
  sr__put_string(bytes, game->label);
  sr__put_u8(bytes, (uint8_t)game->view.over);
  sr__put_u8(bytes, (uint8_t)game->view.truncated);
  sr__put_u64(bytes, (uint64_t)game->view.steps);
  sr__put_f64(bytes, game->view.score);
  return game->entry->operations->save(ctx, game, bytes);
}

sr_status sr__game_load(sr_context *ctx, sr__byte_reader *reader, sr_game *game) {
  sr_status status = SR_OK;
  char *label = sr__get_string(reader);
  if (reader->status == SR_OK && strcmp(label, game->label) != 0)
    sr__get_refuse(reader, "the game is not the one that was saved");
  sr__free(ctx, label);
  game->view.over = sr__get_u8(reader);
  game->view.truncated = sr__get_u8(reader);
  game->view.steps = (int64_t)sr__get_u64(reader);
  game->view.score = sr__get_f64(reader);
  SR_TRY(reader->status);
  SR_TRY(game->entry->operations->load(ctx, game, reader));
cleanup:
  return status;
}
