/* Time Series Forest: a tree on means, deviations and slopes of random intervals (Deng, Runger, Tuv
 * and Vladimir 2013).
 *
 *   encoder    lengths of the channels
 *   rows       running sums of every series: mean, deviation and slope of any interval in O(1)
 *   member     one tree with its own intervals
 * Internal to src/learner/tsf. */
#ifndef SR_LEARNER_TSF_TSF_H
#define SR_LEARNER_TSF_TSF_H

#include "core/bytes.h"
#include "core/random.h"
#include "learner/answers.h"
#include "learner/intervals/even_series.h"

enum {
  SR__TSF_MAX_CLASSES = 1 << 16,
  SR__TSF_MAX_INTERVALS = 1 << 24,
  SR__TSF_SHORTEST = 3, /* points of an interval, where the series has as many */
  SR__TSF_KINDS = 3,    /* mean, population deviation, least-squares slope */
  SR__TSF_TILE = 64     /* rows side by side, at most */
};

typedef struct sr__tsf_encoder {
  sr_allocator allocator;
  int32_t classes;
  int32_t channels;
  int32_t *length; /* a channel */
  int64_t *first;  /* a channel: its first point among those of a row; channels + 1 */
} sr__tsf_encoder;

/* Tiles of rows side by side. Place t of a channel holds the sums of x - center, (x - center)^2 and
 * t (x - center) over the points before t; the center is the mean of the series, so that large
 * levels take no digits from the deviation. Channels follow each other, each with one place more
 * than points.
 */
typedef struct sr__tsf_rows {
  sr_allocator allocator;
  void *memory;
  int64_t count;
  int64_t width;  /* rows of a tile, a multiple of 8 */
  double *sum;    /* tiles x places x 3 sums x width */
  double *center; /* tiles x channels x width; NaN where no point is there */
} sr__tsf_rows;

SR_MUST_CHECK sr_status sr__tsf_encoder_new(sr_context *ctx, const int32_t *length,
                                            int32_t channels, int32_t classes,
                                            sr__tsf_encoder **encoder);
/* Encoder and rows of a training set; 24 bytes a point. */
SR_MUST_CHECK sr_status sr__tsf_prepare(sr_context *ctx, const sr__series_view *series,
                                        int32_t classes, sr__tsf_encoder **encoder,
                                        sr__tsf_rows **rows);
/* Rows [first, first + count). */
SR_MUST_CHECK sr_status sr__tsf_encode(sr_context *ctx, const sr__tsf_encoder *encoder,
                                       const sr__series_view *series, int64_t first, int64_t count,
                                       sr__tsf_rows **rows);
void sr__tsf_encoder_free(sr__tsf_encoder **encoder);
void sr__tsf_rows_free(sr__tsf_rows **rows);
void sr__tsf_encoder_save(const sr__tsf_encoder *encoder, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__tsf_encoder_load(sr__byte_reader *reader, sr__tsf_encoder **encoder);

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

static inline int64_t sr__tsf_places(const sr__tsf_encoder *encoder) {
  return encoder->first[encoder->channels] + encoder->channels;
}
sr__tsf_reader sr__tsf_reader_of(const sr__tsf_encoder *encoder, const sr__tsf_interval *interval,
                                 int32_t kind);
/* Features of the eights [first, first + eights) of a tile's rows, features x eights x 8: those
 * that are listed, or all where `list` is NULL; +inf where the series has no point. */
void sr__tsf_features(const sr__tsf_encoder *encoder, const sr__tsf_rows *rows, int64_t tile,
                      int64_t first, int64_t eights, const sr__tsf_reader *reader,
                      const int32_t *list, int32_t count, float *feature);

/* Children stand side by side. A row goes to left + (its feature > threshold). A leaf is its own
 * left child with threshold +inf; `leaf` is its class, or classes + the number of its shares. */
typedef struct sr__tsf_node {
  uint32_t left;
  uint32_t feature; /* 3 interval + kind; 0 in a leaf */
  float threshold;
  uint32_t leaf;
} sr__tsf_node;

typedef struct sr__tsf_member {
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
} sr__tsf_member;

/* Makes the readers of the member's intervals, and the list of the features that its nodes ask for.
 */
SR_MUST_CHECK sr_status sr__tsf_member_readers(sr_context *ctx, const sr__tsf_encoder *encoder,
                                               sr__tsf_member *member);
SR_MUST_CHECK sr_status sr__tsf_member_used(sr_context *ctx, sr__tsf_member *member);
/* label -1 is missing and passed over. The bag is `length` rows, each counts[i] times (NULL: once).
 * `intervals` 0: as many as the root of the points of all channels. SR_ERROR_DATA where no row has
 * a label. */
SR_MUST_CHECK sr_status sr__tsf_fit(sr_context *ctx, const sr__tsf_encoder *encoder,
                                    const sr__tsf_rows *rows, const int32_t *label,
                                    const int32_t *bag, const int32_t *counts, int64_t length,
                                    int32_t intervals, sr__random *random, sr__tsf_member **member);
/* Ties go to the lower class. */
SR_MUST_CHECK sr_status sr__tsf_predict(sr_context *ctx, const sr__tsf_encoder *encoder,
                                        const sr__tsf_member *member, const sr__tsf_rows *rows,
                                        sr__picked picked, sr__answers answers);
void sr__tsf_member_save(const sr__tsf_encoder *encoder, const sr__tsf_member *member,
                         sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__tsf_member_load(sr__byte_reader *reader, const sr__tsf_encoder *encoder,
                                            sr__tsf_member **member);
void sr__tsf_member_free(sr__tsf_member **member);

#endif
