#include "learner/mamba/stream.h"

#include "learner/mamba/mamba_net.h"

struct sr__mamba_stream {
  sr_allocator allocator;
  const sr__sequence_encoder *encoder;
  const sr__sequence_member *member;
  sr__net *net; /* holds one token; its blocks carry the state */
  sr__channel_state *channel;
  sr__floats floats;
  float *input;                /* one encoded sample */
  float *window[SR__NET_STEM]; /* the latest taps x in inputs of each convolution */
  float *output[SR__NET_STEM], *activated, *slope;
  int64_t pushed[SR__NET_STEM];
  float *sum; /* width: of the normed tokens so far, in time order */
  int64_t tokens;
};

static void layout(sr__mamba_stream *s) {
  const int64_t width = s->net->shape.width, widest = width > 32 ? width : 32;
  s->input = sr__floats_take(&s->floats, s->net->shape.channels);
  for (int i = 0; i < SR__NET_STEM; i++) {
    const sr__convolution *layer = &s->net->stem[i];
    s->window[i] = sr__floats_take(&s->floats, layer->taps * layer->in);
    s->output[i] = sr__floats_take(&s->floats, layer->out);
  }
  s->activated = sr__floats_take(&s->floats, widest);
  s->slope = sr__floats_take(&s->floats, widest);
  s->sum = sr__floats_take(&s->floats, width);
}

sr_status sr__mamba_stream_new(sr_context *ctx, const sr__sequence_encoder *encoder,
                               const sr__sequence_member *member, sr__mamba_stream **result) {
  sr_status status = SR_OK;
  sr__mamba_stream *stream = NULL;
  if (encoder->scaling == SR__SCALE_SERIES)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "a stream cannot be scaled by the moments of the whole series; train with "
                    "scaling training, running or none");
  SR_NEW_ZERO(ctx, stream, 1);
  stream->allocator = sr__allocator(ctx);
  stream->encoder = encoder;
  stream->member = member;
  SR_TRY(sr__sequence_member_net(ctx, &sr__mamba_body, member, 1, &stream->net));
  SR_NEW(ctx, stream->channel, encoder->channels);
  layout(stream);
  SR_TRY(sr__floats_allocate(ctx, &stream->floats));
  layout(stream);
  sr__mamba_stream_start(stream);
  *result = stream;
  stream = NULL;
cleanup:
  sr__mamba_stream_free(&stream);
  return status;
}

void sr__mamba_stream_free(sr__mamba_stream **stream) {
  if (!*stream) return;
  sr_allocator allocator = (*stream)->allocator;
  sr__net_free(&(*stream)->net);
  sr__release(&allocator, (*stream)->channel);
  sr__floats_free(&(*stream)->floats);
  sr__release(&allocator, *stream);
  *stream = NULL;
}

void sr__mamba_stream_start(sr__mamba_stream *s) {
  sr__sequence_start(s->encoder, s->channel);
  for (int i = 0; i < SR__NET_STEM; i++) {
    const sr__convolution *layer = &s->net->stem[i];
    memset(s->window[i], 0, (size_t)(layer->taps * layer->in) * sizeof(float));
    s->pushed[i] = 0;
  }
  for (int64_t i = 0; i < s->net->shape.blocks; i++)
    sr__mamba_block_start(s->net, sr__net_block(s->net, i));
  memset(s->sum, 0, (size_t)s->net->shape.width * sizeof(float));
  s->tokens = 0;
}

static void push_token(sr__mamba_stream *s, const float *token) {
  sr__net *net = s->net;
  const int64_t width = net->shape.width;
  memcpy(net->x[0], token, (size_t)width * sizeof *token);
  for (int64_t i = 0; i < net->shape.blocks; i++)
    sr__mamba_block_continue(net, sr__net_block(net, i), 1, net->x[i], net->x[i + 1]);
  sr__norm_forward(1, width, net->x[net->shape.blocks], sr__net_value(net, net->norm_weight),
                   sr__net_value(net, net->norm_bias), net->last, net->last_moments);
  sr__nn_add(width, s->sum, net->last);
  s->tokens++;
}

/* One input of convolution `level`. Its output j stands when input j * stride + taps - 1 - left has
 * come. */
static void push_input(sr__mamba_stream *s, int level, const float *x) {
  const sr__convolution *layer = &s->net->stem[level];
  const int64_t kept = (layer->taps - 1) * layer->in;
  memmove(s->window[level], s->window[level] + layer->in, (size_t)kept * sizeof *x);
  memcpy(s->window[level] + kept, x, (size_t)layer->in * sizeof *x);
  const int64_t ready = s->pushed[level]++ - (layer->taps - 1 - layer->left);
  if (ready < 0 || ready % layer->stride != 0) return;
  sr__linear_forward(&layer->map, 1, s->window[level], kept + layer->in, s->output[level],
                     layer->out, false);
  if (level + 1 == SR__NET_STEM) {
    push_token(s, s->output[level]);
    return;
  }
  sr__nn_gelu(layer->out, s->output[level], s->activated, s->slope);
  push_input(s, level + 1, s->activated);
}

void sr__mamba_stream_push(sr__mamba_stream *s, const float *sample) {
  sr__sequence_step(s->encoder, s->channel, sample, s->input);
  push_input(s, 0, s->input);
}

void sr__mamba_stream_end(sr__mamba_stream *s) {
  for (int i = 0; i < SR__NET_STEM; i++) {
    const sr__convolution *layer = &s->net->stem[i];
    float *zeros = i == 0 ? s->input : s->output[i - 1]; /* as wide as this level's inputs */
    for (int64_t k = layer->left; k < layer->taps - 1; k++) {
      memset(zeros, 0, (size_t)layer->in * sizeof *zeros);
      push_input(s, i, zeros);
    }
  }
}

int64_t sr__mamba_stream_tokens(const sr__mamba_stream *s) { return s->tokens; }

bool sr__mamba_stream_shares(sr__mamba_stream *s, float *share) {
  sr__net *net = s->net;
  const int64_t width = net->shape.width;
  if (s->tokens == 0) return false;
  const float part = 1.0f / (float)s->tokens;
  for (int64_t j = 0; j < width; j++) net->dropped[j] = s->sum[j] * part;
  sr__linear_forward(&net->head, 1, net->dropped, width, share, net->shape.classes, false);
  sr__sequence_shares(s->member, share);
  return true;
}
