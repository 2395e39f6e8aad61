/* Time Series Forest: a tree on means, deviations and slopes of random intervals (Deng, Runger, Tuv
 * and Vladimir 2013).
 *
 *   encoder    lengths of the channels
 *   rows       running sums of every series: mean, deviation and slope of any interval in O(1)
 *   member     one tree with its own intervals
 * Internal to src/learner/tsf. */
#ifndef SR_LEARNER_TSF_TSF_H
#define SR_LEARNER_TSF_TSF_H

#include "learner/intervals/interval_learner.h"

enum {
  SR__TSF_MAX_INTERVALS = 1 << 24,
  SR__TSF_SHORTEST = 3, /* points of an interval, where the series has as many */
  SR__TSF_KINDS = 3,    /* mean, population deviation, least-squares slope */
  SR__TSF_TILE = 64     /* rows side by side, at most */
};

struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  int32_t channels;
  int32_t *length; /* a channel */
  int64_t *first;  /* a channel: its first point among those of a row; channels + 1 */
};

/* Tiles of rows side by side. Place t of a channel holds the sums of x - center, (x - center)^2 and
 * t (x - center) over the points before t; the center is the mean of the series, so that large
 * levels take no digits from the deviation. Channels follow each other, each with one place more
 * than points.
 */
struct sr__encoded {
  sr_allocator allocator;
  void *memory;
  int64_t count;
  int64_t width;  /* rows of a tile, a multiple of 8 */
  double *sum;    /* tiles x places x 3 sums x width */
  double *center; /* tiles x channels x width; NaN where no point is there */
};

SR_MUST_CHECK sr_status sr__tsf_encoder_new(sr_context *ctx, const sr__even_shape *shape,
                                            sr__encoder **encoder);
/* Encoder and rows of a training set; 24 bytes a point. */
SR_MUST_CHECK sr_status sr__tsf_prepare(sr_context *ctx, const sr__series_view *series,
                                        int32_t classes, sr__encoder **encoder, sr__encoded **rows);
/* Rows [first, first + count). */
SR_MUST_CHECK sr_status sr__tsf_encode(sr_context *ctx, const sr__encoder *encoder,
                                       const sr__series_view *series, int64_t first, int64_t count,
                                       sr__encoded **rows);
void sr__tsf_free_encoder(sr__encoder *encoder);
void sr__tsf_free_encoded(sr__encoded *rows);
void sr__tsf_save_encoder(const sr__encoder *encoder, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__tsf_load_encoder(sr__byte_reader *reader, sr__encoder **encoder);

/* [start, end) of a channel. */
typedef struct sr__tsf_interval {
  int32_t channel;
  int32_t start, end;
} sr__tsf_interval;

/* A kind of an interval, ready to be read from the sums of a row. With d the differences of the
 * sums at both ends: the mean is by_value d.value + center, the deviation sqrt(by_value d.square -
 * (by_value d.value)^2), the slope by_value d.value + by_moment d.moment. */
typedef struct sr__tsf_reader {
  int32_t channel;
  int32_t kind;
  int64_t start, end; /* places */
  double by_value, by_moment;
} sr__tsf_reader;

static inline int64_t sr__tsf_places(const sr__encoder *encoder) {
  return encoder->first[encoder->channels] + encoder->channels;
}
sr__tsf_reader sr__tsf_reader_of(const sr__encoder *encoder, const sr__tsf_interval *interval,
                                 int32_t kind);
/* The eights [first, first + eights) of a tile's rows. */
typedef struct sr__tsf_lanes {
  int64_t tile, first, eights;
} sr__tsf_lanes;
/* Readers that are listed, or all `count` where the list is NULL. */
typedef struct sr__tsf_asked {
  const sr__tsf_reader *reader;
  const int32_t *list;
  int32_t count;
} sr__tsf_asked;
/* Features x eights x 8; +inf where the series has no point. */
void sr__tsf_features(const sr__encoder *encoder, const sr__encoded *rows, sr__tsf_lanes lanes,
                      sr__tsf_asked asked, float *feature);

/* Children stand side by side. A row goes to left + (its feature > threshold). A leaf is its own
 * left child with threshold +inf; `leaf` is its class, or classes + the number of its shares. */
typedef struct sr__tsf_node {
  uint32_t left;
  uint32_t feature; /* 3 interval + kind; 0 in a leaf */
  float threshold;
  uint32_t leaf;
} sr__tsf_node;

struct sr__member {
  sr_allocator allocator;
  int32_t intervals;
  sr__tsf_interval *interval;
  sr__tsf_reader *reader; /* 3 a interval, made of them */
  int32_t used;           /* features that nodes ask for */
  int32_t *used_feature;
  int64_t nodes;
  int32_t depth; /* splits on the longest way to a leaf */
  sr__tsf_node *node;
  int64_t mixtures;
  float *share; /* mixtures x classes */
};

/* Makes the readers of the member's intervals, and the list of the features that its nodes ask for.
 */
SR_MUST_CHECK sr_status sr__tsf_member_readers(sr_context *ctx, const sr__encoder *encoder,
                                               sr__member *member);
SR_MUST_CHECK sr_status sr__tsf_member_used(sr_context *ctx, sr__member *member);
extern const sr__learner sr__learner_tsf;

typedef struct sr__tsf_options {
  int64_t intervals; /* 0: as many as the root of the points of all channels */
} sr__tsf_options;

/* SR_ERROR_DATA where no row of the bag has a label. */
SR_MUST_CHECK sr_status sr__tsf_fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                                    sr__random *random, sr__member **member);
/* Ties go to the lower class. */
SR_MUST_CHECK sr_status sr__tsf_predict(sr_context *ctx, const sr__encoder *encoder,
                                        const sr__member *member, const sr__encoded *rows,
                                        sr__picked picked, sr__answers answers);
void sr__tsf_save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__tsf_load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                                            sr__member **member);
void sr__tsf_free_member(sr__member *member);

#endif
