/* A transformer on series as a learner. */
#include "learner/sequence/sequence_learner.h"

static const sr_option options_list[] = {
    SR__SEQUENCE_OPTIONS,
    SR_INTEGER(sr__sequence_learner_options, heads, "4", 1, 64,
               "heads of the attention; they divide the width"),
    SR_INTEGER(sr__sequence_learner_options, feed_forward, "128", 1, 8192,
               "numbers between the two maps of a block"),
    SR_OPTIONS_END};

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  return sr__sequence_learner_fit(ctx, &sr__transformer_body, input, bag, random, member);
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  (void)encoder;
  return sr__sequence_learner_predict(ctx, &sr__transformer_body, member, rows, picked, answers);
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  return sr__sequence_learner_load(reader, &sr__transformer_body, encoder, member);
}

const sr__learner sr__learner_transformer = {
    .about = {"transformer", "series: three convolutions, attention over time, a linear head",
              options_list, sizeof(sr__sequence_learner_options), NULL},
    .fit = fit,
    .predict = predict,
    .load_member = load_member,
    SR__SEQUENCE_LEARNER_OPERATIONS};
