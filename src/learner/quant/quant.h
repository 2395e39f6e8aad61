/* QUANT: quantiles over fixed dyadic intervals of a series, of its differences and of its Fourier
 * magnitudes, and extremely randomized trees on them (Dempster, Schmidt and Webb 2024).
 *
 *   shape      of one length: which intervals there are and where their quantiles stand
 *   encoder    what all members have in common: a shape a channel, edges between bins
 *   rows       features of rows, as floats (to be predicted) or as bins (to be learned from)
 *   member     one or more trees
 * Internal to src/learner/quant. */
#ifndef SR_LEARNER_QUANT_QUANT_H
#define SR_LEARNER_QUANT_QUANT_H

#include "learner/intervals/interval_learner.h"

/* ---- shapes ------------------------------------------------------------------------------- */

enum {
  SR__QUANT_KINDS = 4,   /* series, first differences, second differences, Fourier magnitudes */
  SR__QUANT_LEVELS = 6,  /* of intervals, the whole first */
  SR__QUANT_HALVES = 32, /* intervals of the last level */
  SR__QUANT_LANES = 8,   /* series that are looked at side by side */
  SR__QUANT_TILE = 32,   /* features that a node looks at side by side */
  SR__QUANT_MAX_LEAF = 1 << 24 /* classes and mixtures of a member */
};

/* Discrete Fourier transform of one length. Factors up to 31 are taken one by one; where there is a
 * larger one, the transform is a convolution with a chirp of `inner->length` points (Bluestein). */
typedef struct sr__quant_fourier sr__quant_fourier;
struct sr__quant_fourier {
  int32_t length;
  int32_t factors, factor[32];
  double *root;            /* length x (cos, -sin) of 2 pi k / length */
  double *chirp;           /* length x (cos, -sin) of pi k^2 / length, or NULL */
  double *chirp_transform; /* inner->length x (real, imaginary) */
  sr__quant_fourier *inner;
};

/* The intervals of m values: level l has 2^l of them with edges floor(j m / 2^l); where `moved`,
 * also all but the last, moved on by ceil(m / 2^(l+1)). */
typedef struct sr__quant_kind {
  int32_t count;  /* m */
  int32_t levels; /* 0 where there are no values */
  int32_t finest; /* level whose pieces are sorted first: all others are merged from it */
  bool moved[SR__QUANT_LEVELS];
  int32_t at[SR__QUANT_LEVELS][SR__QUANT_HALVES]; /* first feature of an interval */
  int32_t moved_at[SR__QUANT_LEVELS][SR__QUANT_HALVES];
} sr__quant_kind;

typedef struct sr__quant_shape {
  sr_allocator allocator;
  int32_t length;
  int32_t features;
  sr__quant_kind kind[SR__QUANT_KINDS];
  sr__quant_fourier *fourier;
} sr__quant_shape;

static inline int32_t sr__quant_edge(int32_t count, int level, int32_t j) {
  return (int32_t)((int64_t)j * count >> level);
}
/* Quantiles of an interval of `width` values. */
static inline int32_t sr__quant_quantiles(int32_t width) {
  return width < 1 ? 0 : 1 + (width - 1) / 4;
}

SR_MUST_CHECK sr_status sr__quant_shape_new(sr_context *ctx, int32_t length,
                                            sr__quant_shape **shape);
void sr__quant_shape_free(sr__quant_shape **shape);

/* What one thread needs to transform eight series; parts of one block. */
typedef struct sr__quant_scratch {
  void *memory;
  float *series, *changed, *run[2], *spare, *cut;      /* length x 8 each, and some */
  double *sum;                                         /* (length + 1) x 8 */
  double *fourier_in, *fourier_out, *fourier_spare[2]; /* points x 8 */
} sr__quant_scratch;

/* Enough for each of the shapes. */
SR_MUST_CHECK sr_status sr__quant_scratch_new(sr_context *ctx, sr__quant_shape *const *shape,
                                              int32_t shapes, sr__quant_scratch *scratch);
void sr__quant_scratch_free(sr_context *ctx, sr__quant_scratch *scratch);

/* ---- encoder ------------------------------------------------------------------------------ */

enum {
  SR__QUANT_LAST_BIN = 255,
  SR__QUANT_EDGES = 256,  /* the bin of a value is the number of edges below it */
  SR__QUANT_SAMPLE = 2048 /* rows that the edges are made of, at most */
};

/* Features are numbered channel by channel in the order of their shapes. They stand in tiles of 32
 * places in a random order that the number of features fixes. */
struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  int32_t channels;
  int32_t *length; /* a channel */
  int32_t shapes;
  sr__quant_shape **shape; /* one per length that occurs */
  int32_t *shape_of;       /* a channel */
  int32_t *first;          /* a channel: its first feature */
  int32_t features;
  int32_t tiles;
  int32_t *feature_at; /* a place; -1 behind the last */
  int32_t *place_of;   /* a feature */
  float *edge;         /* features x 256, the first -inf, then increasing, filled up with +inf, the
                          last always; NULL where there are none */
};

/* ---- rows --------------------------------------------------------------------------------- */

/* Either of both. Missing features are NaN and bin 0: they go left. */
struct sr__encoded {
  sr_allocator allocator;
  void *memory;
  int64_t count;
  int32_t features;
  int32_t tiles;
  float *value; /* blocks of eight rows x features x 8 rows */
  uint8_t *bin; /* tiles x rows x 32 */
};

/* Encoder and binned rows of a training set. The edges of a feature are 127 quantiles and 127 steps
 * of equal width of at most SR__QUANT_SAMPLE rows, evenly spaced. Cost: one transform of the rows,
 * and one more of the sample where it is not all of them; memory 1 byte a row and feature, and 4
 * bytes a sampled row and feature while it runs. */
SR_MUST_CHECK sr_status sr__quant_prepare(sr_context *ctx, const sr__series_view *series,
                                          int32_t classes, sr__encoder **encoder,
                                          sr__encoded **rows);
/* Rows [first, first + count) as floats. */
SR_MUST_CHECK sr_status sr__quant_encode(sr_context *ctx, const sr__encoder *encoder,
                                         const sr__series_view *series, int64_t first,
                                         int64_t count, sr__encoded **rows);
void sr__quant_free_encoder(sr__encoder *encoder);
void sr__quant_free_encoded(sr__encoded *rows);
/* The edges are needed to bin further rows and to fit; prediction does without them. */
void sr__quant_save_encoder(const sr__encoder *encoder, bool with_edges, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__quant_load_encoder(sr__byte_reader *reader, sr__encoder **encoder);
/* An encoder without edges. */
SR_MUST_CHECK sr_status sr__quant_encoder_new(sr_context *ctx, const sr__even_shape *shape,
                                              sr__encoder **encoder);

/* ---- members ------------------------------------------------------------------------------ */

extern const sr__learner sr__learner_quant;

typedef struct sr__quant_options {
  int64_t trees; /* of a member */
  double share;  /* of the features that a node looks at */
} sr__quant_options;

/* Children stand side by side. A row goes to left + (its feature > threshold), which is the same as
 * its bin > bin. A leaf is its own left child with threshold +inf and bin 255; its `bin` then is
 * not looked at beyond the lowest byte: leaf = bin >> 8 is the class of a pure leaf, or classes +
 * the number of its shares. */
typedef struct sr__quant_node {
  uint32_t left;
  uint32_t feature;
  float threshold;
  uint32_t bin;
} sr__quant_node;

struct sr__member {
  sr_allocator allocator;
  int32_t trees;
  uint32_t *root;
  int32_t *depth;
  int64_t nodes;
  sr__quant_node *node;
  int64_t mixtures; /* leaves whose rows are equal but for their classes */
  float *share;     /* mixtures x classes */
};

/* The training rows are bins. SR_ERROR_DATA where no row of the bag has a label. */
SR_MUST_CHECK sr_status sr__quant_fit(sr_context *ctx, const sr__fit_input *input,
                                      const sr__bag *bag, sr__random *random, sr__member **member);
/* Ties go to the lower class. */
SR_MUST_CHECK sr_status sr__quant_predict(sr_context *ctx, const sr__encoder *encoder,
                                          const sr__member *member, const sr__encoded *rows,
                                          sr__picked picked, sr__answers answers);
void sr__quant_save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__quant_load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                                              sr__member **member);
void sr__quant_free_member(sr__member *member);

#endif
