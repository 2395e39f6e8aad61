/* Mamba on series as a learner: whole, or along a stream. */
#include "learner/sequence/sequence_learner.h"
#include "stream.h"

static const sr_option options_list[] = {SR__SEQUENCE_OPTIONS, SR_OPTIONS_END};

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  return sr__sequence_learner_fit(ctx, &sr__mamba_body, input, bag, random, member);
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  (void)encoder;
  return sr__sequence_learner_predict(ctx, &sr__mamba_body, member, rows, picked, answers);
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  return sr__sequence_learner_load(reader, &sr__mamba_body, encoder, member);
}

/* ---- along a stream ------------------------------------------------------------------------- */

static sr_status open_stream(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                             void **stream) {
  sr__mamba_stream *made = NULL;
  sr_status status = sr__mamba_stream_new(ctx, encoder->sequence, member->net, &made);
  *stream = made;
  return status;
}

static void start(void *stream) { sr__mamba_stream_start(stream); }
static void push(void *stream, const float *sample) { sr__mamba_stream_push(stream, sample); }
static void end(void *stream) { sr__mamba_stream_end(stream); }
static bool shares(void *stream, float *share) { return sr__mamba_stream_shares(stream, share); }
static void free_stream(void *stream) {
  sr__mamba_stream *made = stream;
  sr__mamba_stream_free(&made);
}

static const sr__stream_operations stream_operations = {open_stream, start,  push,
                                                        end,         shares, free_stream};

const sr__learner sr__learner_mamba = {
    .about = {"mamba", "series: three convolutions, selective scans over time, a linear head",
              options_list, sizeof(sr__sequence_learner_options), NULL},
    .fit = fit,
    .predict = predict,
    .load_member = load_member,
    .stream = &stream_operations,
    SR__SEQUENCE_LEARNER_OPERATIONS};
