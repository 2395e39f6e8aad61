/* An agent on disk: magic, length and checksum of the state, the state, the buffer. */
#include <errno.h>

#include "agent.h"

enum { FILE_VERSION = 3, HEADER_BYTES = 24 };
static const char magic[8] = "SRAGENT";

static uint64_t checksum(const uint8_t *bytes, int64_t count) {
  uint64_t sum = UINT64_C(0xCBF29CE484222325);
  for (int64_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001B3);
  return sum;
}

/* ---- pieces, written and read in one order -------------------------------------------------- */

static void put_tally(sr__bytes *bytes, const sr__tally *tally) {
  sr__put_f64(bytes, tally->count);
  sr__put_f64(bytes, tally->sum);
  sr__put_f64(bytes, tally->squares);
}
static void get_tally(sr__byte_reader *reader, sr__tally *tally) {
  tally->count = sr__get_f64(reader);
  tally->sum = sr__get_f64(reader);
  tally->squares = sr__get_f64(reader);
}

static void put_options(sr__bytes *bytes, const sr_agent_options *options) {
  char text[512];
  for (const sr_option *option = sr_agent_option_list(); option->key; option++) {
    if (option->type == SR_OPTION_TEXT) continue;
    sr_option_print(option, options, text, sizeof text);
    sr__put_string(bytes, option->key);
    sr__put_string(bytes, text);
  }
  sr__put_string(bytes, "");
  sr__put_string(bytes, options->game);
  sr__put_string(bytes, options->sampler);
}

/* game and sampler of the options are to be freed. */
static sr_status get_options(sr_context *ctx, sr__byte_reader *reader, sr_agent_options *options,
                             char **game, char **sampler) {
  sr_status status = SR_OK;
  char *key = NULL, *text = NULL;
  sr_agent_options_init(options);
  for (;;) {
    key = sr__get_string(reader);
    SR_TRY(reader->status);
    if (*key == 0) break;
    text = sr__get_string(reader);
    SR_TRY(reader->status);
    SR_TRY(sr_options_set(ctx, "the saved agent", sr_agent_option_list(), options, key, text));
    sr__free(ctx, key);
    sr__free(ctx, text);
    key = text = NULL;
  }
  options->game = *game = sr__get_string(reader);
  options->sampler = *sampler = sr__get_string(reader);
  status = reader->status;
cleanup:
  sr__free(ctx, key);
  sr__free(ctx, text);
  return status;
}

static void put_floats(sr__bytes *bytes, const float *x, int64_t count) {
  sr__put_raw(bytes, x, count * (int64_t)sizeof *x);
}
static void get_floats(sr__byte_reader *reader, float *x, int64_t count) {
  sr__get_raw(reader, x, count * (int64_t)sizeof *x);
}

static void put_nets(sr__bytes *bytes, const sr_agent *agent) {
  for (int32_t k = 0; k < agent->nets; k++) {
    const sr__parameters *online = &agent->net[k].online.parameters;
    put_floats(bytes, online->value, online->count);
    put_floats(bytes, online->first_moment, online->count);
    put_floats(bytes, online->second_moment, online->count);
    put_floats(bytes, agent->net[k].target.parameters.value, online->count);
    sr__put_f64(bytes, agent->net[k].adam.power1);
    sr__put_f64(bytes, agent->net[k].adam.power2);
  }
}
static void get_nets(sr__byte_reader *reader, sr_agent *agent) {
  for (int32_t k = 0; k < agent->nets; k++) {
    sr__parameters *online = &agent->net[k].online.parameters;
    get_floats(reader, online->value, online->count);
    get_floats(reader, online->first_moment, online->count);
    get_floats(reader, online->second_moment, online->count);
    get_floats(reader, agent->net[k].target.parameters.value, online->count);
    agent->net[k].adam.power1 = sr__get_f64(reader);
    agent->net[k].adam.power2 = sr__get_f64(reader);
  }
}

static void put_progress(sr__bytes *bytes, const sr_agent *agent) {
  const sr_agent_view *view = &agent->view;
  sr__put_u64(bytes, (uint64_t)view->step);
  sr__put_u64(bytes, (uint64_t)view->episodes);
  sr__put_u64(bytes, (uint64_t)view->gradient_steps);
  sr__put_u64(bytes, (uint64_t)view->cuts);
  sr__put_u8(bytes, agent->playing);
  sr__put_u32(bytes, (uint32_t)agent->acting_head);
  sr__put_f64(bytes, agent->credit);
  sr__put_random(bytes, &agent->act_random);
  sr__put_random(bytes, &agent->draw_random);
  sr__put_random(bytes, &agent->mix_random);
  put_tally(bytes, &agent->window_return);
  put_tally(bytes, &agent->window_target);
  put_tally(bytes, &agent->window_loss);
  put_tally(bytes, &agent->reading);
  sr__put_u64(bytes, (uint64_t)view->records);
  for (int64_t i = 0; i < view->records; i++) {
    const sr_agent_record *r = &view->record[i];
    sr__put_u64(bytes, (uint64_t)r->step);
    sr__put_u64(bytes, (uint64_t)r->episodes);
    const double numbers[] = {r->mean_return, r->loss, r->target_mean, r->target_variance,
                              r->epsilon};
    for (int k = 0; k < 5; k++) sr__put_f64(bytes, numbers[k]);
  }
}

static sr_status get_progress(sr_context *ctx, sr__byte_reader *reader, sr_agent *agent) {
  sr_status status = SR_OK;
  sr_agent_view *view = &agent->view;
  view->step = (int64_t)sr__get_u64(reader);
  view->episodes = (int64_t)sr__get_u64(reader);
  view->gradient_steps = (int64_t)sr__get_u64(reader);
  view->cuts = (int64_t)sr__get_u64(reader);
  agent->playing = sr__get_u8(reader);
  agent->acting_head = (int32_t)sr__get_u32(reader);
  if (agent->acting_head < -1 || agent->acting_head >= agent->heads)
    sr__get_refuse(reader, "there is no such head");
  agent->credit = sr__get_f64(reader);
  sr__get_random(reader, &agent->act_random);
  sr__get_random(reader, &agent->draw_random);
  sr__get_random(reader, &agent->mix_random);
  get_tally(reader, &agent->window_return);
  get_tally(reader, &agent->window_target);
  get_tally(reader, &agent->window_loss);
  get_tally(reader, &agent->reading);
  int64_t records = sr__get_count(reader, 56);
  SR_TRY(reader->status);
  SR_GROW(ctx, agent->record, agent->record_capacity, records);
  view->record = agent->record;
  view->records = records;
  for (int64_t i = 0; i < records; i++) {
    sr_agent_record *r = &agent->record[i];
    r->step = (int64_t)sr__get_u64(reader);
    r->episodes = (int64_t)sr__get_u64(reader);
    double *numbers[] = {&r->mean_return, &r->loss, &r->target_mean, &r->target_variance,
                         &r->epsilon};
    for (int k = 0; k < 5; k++) *numbers[k] = sr__get_f64(reader);
  }
  status = reader->status;
cleanup:
  return status;
}

/* ---- files --------------------------------------------------------------------------------- */

sr_status sr_agent_save(sr_context *ctx, sr_agent *agent, const char *path) {
  sr_status status = SR_OK;
  sr__writer *writer = NULL;
  sr__bytes head = {.ctx = ctx}, bytes = {.ctx = ctx};
  put_options(&bytes, &agent->options);
  sr__put_u64(&bytes, agent->seed);
  sr__put_u8(&bytes, agent->chosen_capacity);
  sr__put_u8(&bytes, agent->chosen_log_every);
  put_progress(&bytes, agent);
  put_nets(&bytes, agent);
  if (agent->sampler->save) agent->sampler->save(agent->sampler_state, &bytes);
  SR_TRY(sr__game_save(ctx, agent->game, &bytes));
  SR_TRY(bytes.status);
  sr__put_raw(&head, magic, sizeof magic);
  sr__put_u64(&head, (uint64_t)bytes.size << 8 | FILE_VERSION);
  sr__put_u64(&head, checksum(bytes.data, bytes.size));
  SR_TRY(head.status);
  SR_TRY(sr__writer_open(ctx, path, &writer));
  SR_TRY(sr__writer_put(writer, head.data, HEADER_BYTES));
  SR_TRY(sr__writer_put(writer, bytes.data, (size_t)bytes.size));
  SR_TRY(sr__buffer_save(agent->buffer, writer));
  SR_TRY(sr__writer_commit(&writer));
cleanup:
  sr__writer_abort(&writer);
  sr__bytes_free(&head);
  sr__bytes_free(&bytes);
  return status;
}

/* The state's bytes, checked; to be freed. */
static sr_status read_state(sr_context *ctx, FILE *file, const char *path, uint8_t **bytes,
                            int64_t *size) {
  sr_status status = SR_OK;
  uint8_t head[HEADER_BYTES];
  sr__byte_reader reader = {ctx, head, HEADER_BYTES, (int64_t)sizeof magic, path, SR_OK};
  if (fread(head, HEADER_BYTES, 1, file) != 1 || memcmp(head, magic, sizeof magic) != 0)
    return sr__fail(ctx, SR_ERROR_FORMAT, "%s is not a saved agent", path);
  uint64_t length = sr__get_u64(&reader), sum = sr__get_u64(&reader);
  if ((length & 255) != FILE_VERSION)
    return sr__fail(ctx, SR_ERROR_FORMAT,
                    "%s was saved by another version of specroute (%d, this one reads %d)", path,
                    (int)(length & 255), FILE_VERSION);
  *size = (int64_t)(length >> 8);
  long here = ftell(file);
  if (fseek(file, 0, SEEK_END) != 0 || *size > ftell(file) - here ||
      fseek(file, here, SEEK_SET) != 0)
    return sr__fail(ctx, SR_ERROR_FORMAT, "%s: the saved agent ends too early", path);
  SR_NEW(ctx, *bytes, *size);
  if (fread(*bytes, 1, (size_t)*size, file) != (size_t)*size || checksum(*bytes, *size) != sum)
    status =
        sr__fail(ctx, SR_ERROR_FORMAT, "%s: its checksum is wrong, some byte was altered", path);
cleanup:
  return status;
}

sr_status sr_agent_load(sr_context *ctx, const char *path, sr_agent **agent) {
  sr_status status = SR_OK;
  sr_agent *made = NULL;
  sr_agent_options options;
  uint8_t *bytes = NULL;
  int64_t size = 0;
  char *game = NULL, *sampler = NULL;
  *agent = NULL;
  FILE *file = fopen(path, "rb");
  if (!file) SR_TRY(sr__check_interrupt(ctx));
  if (!file) return sr__fail(ctx, SR_ERROR_IO, "%s cannot be opened: %s", path, strerror(errno));
  SR_TRY(read_state(ctx, file, path, &bytes, &size));
  sr__byte_reader reader = {ctx, bytes, size, 0, path, SR_OK};
  SR_TRY(get_options(ctx, &reader, &options, &game, &sampler));
  uint64_t seed = sr__get_u64(&reader);
  bool chosen_capacity = sr__get_u8(&reader), chosen_log_every = sr__get_u8(&reader);
  SR_TRY(sr_agent_new(ctx, &options, seed, &made));
  made->chosen_capacity = chosen_capacity;
  made->chosen_log_every = chosen_log_every;
  SR_TRY(get_progress(ctx, &reader, made));
  get_nets(&reader, made);
  if (made->sampler->load) made->sampler->load(made->sampler_state, &reader);
  SR_TRY(reader.status);
  SR_TRY(sr__game_load(ctx, &reader, made->game));
  SR_TRY(sr__buffer_load(ctx, file, path, made->buffer));
  made->view.target_mean = sr__tally_mean(&made->reading);
  made->view.target_variance = sr__tally_variance(&made->reading);
  *agent = made;
  made = NULL;
cleanup:
  fclose(file);
  sr_agent_free(&made);
  sr__free(ctx, bytes);
  sr__free(ctx, game);
  sr__free(ctx, sampler);
  return status;
}
