/* Members that answer along a stream, and their vote. */
#include "ensemble.h"

struct sr_stream {
  sr_allocator allocator;
  const sr_ensemble *ensemble;
  void **member;
  float *share, *tally; /* classes each */
};

sr_status sr_stream_new(sr_context *ctx, const sr_ensemble *ensemble, sr_stream **stream) {
  sr_status status = SR_OK;
  sr_stream *made = NULL;
  const sr__stream_operations *along = ensemble->learner->stream;
  int32_t members = ensemble->view.members, classes = ensemble->view.classes.count;
  *stream = NULL;
  if (!along)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "learner %s reads whole series; mamba answers along a stream",
                    ensemble->view.learner_name);
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->ensemble = ensemble;
  SR_NEW_ZERO(ctx, made->member, members);
  SR_NEW(ctx, made->share, classes);
  SR_NEW(ctx, made->tally, classes);
  for (int32_t j = 0; j < members; j++)
    SR_TRY(along->open(ctx, ensemble->encoder, ensemble->member[j], &made->member[j]));
  *stream = made;
  made = NULL;
cleanup:
  sr_stream_free(&made);
  return status;
}

void sr_stream_free(sr_stream **stream) {
  if (!stream || !*stream) return;
  sr_stream *s = *stream;
  sr_allocator allocator = s->allocator;
  for (int32_t j = 0; s->member && j < s->ensemble->view.members; j++)
    s->ensemble->learner->stream->free_stream(s->member[j]);
  void *blocks[] = {s->member, s->share, s->tally, s};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *stream = NULL;
}

void sr_stream_start(sr_stream *stream) {
  for (int32_t j = 0; j < stream->ensemble->view.members; j++)
    stream->ensemble->learner->stream->start(stream->member[j]);
}

void sr_stream_push(sr_stream *stream, const float *sample) {
  for (int32_t j = 0; j < stream->ensemble->view.members; j++)
    stream->ensemble->learner->stream->push(stream->member[j], sample);
}

void sr_stream_end(sr_stream *stream) {
  for (int32_t j = 0; j < stream->ensemble->view.members; j++)
    stream->ensemble->learner->stream->end(stream->member[j]);
}

int32_t sr_stream_answer(sr_stream *stream, float *proba) {
  const sr_ensemble *e = stream->ensemble;
  int32_t classes = e->view.classes.count;
  memset(stream->tally, 0, (size_t)classes * sizeof *stream->tally);
  for (int32_t j = 0; j < e->view.members; j++) {
    if (!e->learner->stream->shares(stream->member[j], stream->share)) return -1;
    int32_t vote = sr__tally_winner(stream->share, classes);
    float weight = e->weight ? e->weight[j] : 1.0f;
    for (int32_t c = 0; c < classes; c++)
      stream->tally[c] +=
          weight * (e->view.vote == SR_VOTE_SOFT ? stream->share[c] : (float)(c == vote));
  }
  int32_t winner = sr__tally_settle(stream->tally, classes, e->offset);
  if (proba) memcpy(proba, stream->tally, (size_t)classes * sizeof *proba);
  return winner;
}
