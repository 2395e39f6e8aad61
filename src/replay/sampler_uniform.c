/* Samplers that draw every row alike: they differ in how much and how the heads learn. */
#include "sampler.h"

const sr__sampler sr__sampler_uniform = {
    .about = {"uniform", "every head learns from rows drawn from the whole buffer", NULL, 0, NULL}};

typedef struct more {
  double gradient_steps;
} more;
static const sr_option more_options[] = {SR_REAL(more, gradient_steps, "1.25", 0.01, 100,
                                                 "gradient steps per planned one"),
                                         SR_OPTIONS_END};
static void set_more(const void *options, sr__sampler_pace *pace) {
  pace->gradient_steps = ((const more *)options)->gradient_steps;
}
const sr__sampler sr__sampler_uniform_more = {
    .about = {"uniform-more", "uniform with more gradient steps, to match what other samplers cost",
              more_options, sizeof(more), NULL},
    .set_pace = set_more};

typedef struct half {
  double learning_rate;
} half;
static const sr_option half_options[] = {SR_REAL(half, learning_rate, "0.5", 1e-6, 1e6,
                                                 "factor of the learning rate"),
                                         SR_OPTIONS_END};
static void set_half(const void *options, sr__sampler_pace *pace) {
  pace->learning_rate = ((const half *)options)->learning_rate;
}
const sr__sampler sr__sampler_half_rate = {
    .about = {"half-rate",
              "control: uniform with half the learning rate, which alone shrinks the targets",
              half_options, sizeof(half), NULL},
    .set_pace = set_half};

const sr__sampler sr__sampler_rem = {
    .about = {"rem", "uniform rows, and each gradient step learns a random mixture of the heads",
              NULL, 0, NULL},
    .traits = SR__SAMPLER_MIXES};
