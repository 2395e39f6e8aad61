/* What a learner is to the rest of the library: one operations table. A new learner is one file
 * that defines such a table and one line in methods.def. Internal.
 *
 * A learner works with four objects of its own kind, opaque to everybody else:
 *
 *   encoder   what all members have in common and prediction needs: bin edges, scaling, class
 *             count. Stored once in a model file.
 *   training  the training rows in the form that fit likes, made once for all members.
 *   encoded   rows in the form that predict likes, made once for all members (encode).
 *   member    one fitted model.
 *
 * prepare and encode use the context's threads; fit and predict run on the caller's thread and may
 * be called from many threads at once with a context each. Results depend on the arguments alone,
 * never on the thread count. */
#ifndef SR_LEARNER_LEARNER_H
#define SR_LEARNER_LEARNER_H

#include <specroute/data.h>

#include "answers.h"
#include "core/bytes.h"
#include "core/core.h"
#include "core/options.h"
#include "core/random.h"
#include "data/bag.h"
#include "nodes.h"

typedef struct sr__encoder sr__encoder;
typedef struct sr__training sr__training;
typedef struct sr__encoded sr__encoded;
typedef struct sr__member sr__member;

/* What others must know of a learner. */
enum {
  SR_LEARNER_TAKES_FEATURES = 1,
  SR_LEARNER_TAKES_SERIES = 2,
  SR_LEARNER_TAKES_NUMBERS = 4, /* a target that is a number */
  SR_LEARNER_CALIBRATED = 8     /* shares of a member are probabilities, fitted on rows left out */
};

enum { SR__LARGE_LEAF = 5 };

/* A look of a member at the rows that it held out while it was trained. */
typedef struct sr__learning_look {
  int64_t step;
  double training_loss; /* mean of the batches since the look before */
  double held_out_loss; /* NaN where nothing was held out */
  bool kept;            /* the member is the net of this look */
  bool best;            /* the held-out loss was least here */
} sr__learning_look;

/* What a member found on the rows of its bag that it left out. */
typedef struct sr__own_judgment {
  int64_t judged, wrong; /* rows */
  int64_t sets;          /* of rows left out together; 0: each row by itself */
  double penalty;        /* NaN where there is none */
  double temperature;    /* scores are divided by it */
} sr__own_judgment;

/* Members that are asked together. */
typedef struct sr__panel {
  sr__member *const *member;
  int32_t members;
} sr__panel;

/* What all members learn from. */
typedef struct sr__fit_input {
  const sr__encoder *encoder;
  const sr__training *training;
  const void *options; /* the learner's parsed struct */
  int at_once;         /* members in work at a time, at most */
} sr__fit_input;

/* What is to be trained, for the word on memory before it. */
typedef struct sr__fit_size {
  const sr_table_view *view;
  int64_t largest_set; /* rows that a member leaves out together; 0: each by itself */
  int at_once, threads;
} sr__fit_size;

/* Bytes at most, beside the table. */
typedef struct sr__fit_memory {
  double preparing; /* while what members learn from is made */
  double common;    /* what members learn from */
  double each;      /* a member in work */
  double fitted;    /* a fitted member */
  const char *word; /* what else is to be said; NULL: nothing */
} sr__fit_memory;

/* How a member answers along a stream, one sample at a time in constant memory. */
typedef struct sr__stream_operations {
  /* Borrows encoder and member; `stream` is freed with free_stream. */
  sr_status (*open)(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                    void **stream);
  void (*start)(void *stream);                     /* forgets everything */
  void (*push)(void *stream, const float *sample); /* a value per channel, NaN = missing */
  void (*end)(void *stream);                       /* nothing follows */
  bool (*shares)(void *stream, float *share);      /* false: nothing can be said yet */
  void (*free_stream)(void *stream);               /* null-safe */
} sr__stream_operations;

typedef struct sr__learner {
  sr_method about;
  unsigned flags;
  const char *search; /* values that a search tries, "KEY=A|B,..."; NULL: none */

  /* Before anything is made. NULL: nothing is said of memory. */
  void (*memory)(const void *options, const sr__fit_size *size, sr__fit_memory *memory);
  /* Looks at all rows, labels and weights of the table. `options` is the parsed struct of `about`.
   */
  sr_status (*prepare)(sr_context *ctx, const sr_table *table, const void *options,
                       sr__encoder **encoder, sr__training **training);
  /* The training rows as prediction sees them (row i of the table is row i here); owned by
   * `training`. This is how out-of-bag rows are judged without encoding again. */
  const sr__encoded *(*training_encoded)(const sr__training *training);
  /* `random` is the member's own stream. A bag without a labeled row is an SR_ERROR_DATA. */
  sr_status (*fit)(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                   sr__random *random, sr__member **member);

  /* Rows [first, first + count) of a table; labels and weights are not looked at. SR_ERROR_DATA
   * where the table does not have the features of the training table. */
  sr_status (*encode)(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                      int64_t first, int64_t count, sr__encoded **rows);
  /* Class and class shares of the picked rows. Members never vote for a class that their bag did
   * not hold; ties go to the lower class. */
  sr_status (*predict)(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                       const sr__encoded *rows, sr__picked picked, sr__answers answers);
  /* The same classes from several members at once, where there are at most 256 classes: vote[j * n
   * + i] is that of member j for row i of all n. NULL: members are asked one by one. */
  sr_status (*predict_votes)(sr_context *ctx, const sr__encoder *encoder, sr__panel panel,
                             const sr__encoded *rows, uint8_t *vote);
  /* Answers of larger leaves from the same member, for learners that have leaves; else all NULL.
   * read_leaves reads the bag of a fitted member once more and notes, for each of its leaves, the
   * class shares of the smallest node above it that holds SR__LARGE_LEAF rows of the bag.
   * predict_leaves then gives the shares of the leaf itself and of that node (rows x classes each);
   * blend_leaves makes (1 - weight) of the first and weight of the second the member's own shares
   * and forgets the note, so that predict gives the blend at its usual speed. */
  sr_status (*read_leaves)(sr_context *ctx, const sr__encoder *encoder,
                           const sr__training *training, const sr__bag *bag, sr__member *member);
  sr_status (*predict_leaves)(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                              const sr__encoded *rows, sr__picked picked, sr__leaf_answers answers);
  sr_status (*blend_leaves)(sr_context *ctx, const sr__encoder *encoder, float weight,
                            sr__member *member);

  /* rows_to's feature j becomes that of `from`, taken from row source[i] for row i (NULL: row i).
   * Both hold the same number of rows and were made by the same `encoder`. For permutation
   * importance; NULL where the learner has no features. */
  void (*copy_feature)(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                       const int32_t *source, sr__encoded *to);
  sr_status (*copy_encoded)(sr_context *ctx, const sr__encoder *encoder, const sr__encoded *from,
                            sr__encoded **copy);

  /* The member as node arrays (learner/nodes.h); NULL where members are no trees. */
  sr_status (*nodes)(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                     sr__nodes *nodes);

  /* Look `index` at a member's training; false past the last. NULL where there are no steps. */
  bool (*look)(const sr__member *member, int64_t index, sr__learning_look *look);
  /* False where the member left nothing out. NULL: members never do. */
  bool (*own_judgment)(const sr__member *member, sr__own_judgment *judgment);
  const sr__stream_operations *stream; /* NULL: whole series alone */

  int32_t (*classes)(const sr__encoder *encoder);
  int64_t (*features)(const sr__encoder *encoder); /* 0 where the learner takes series alone */
  int32_t (*channels)(const sr__encoder *encoder); /* of the series; NULL: takes none */

  /* Sticky writers and readers: see core/bytes.h. A loader checks every number it reads, so that no
   * bytes can make predict leave its arrays; it gives the reader's status. */
  void (*save_encoder)(const sr__encoder *encoder, sr__bytes *bytes);
  sr_status (*load_encoder)(sr__byte_reader *reader, sr__encoder **encoder);
  void (*save_member)(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes);
  sr_status (*load_member)(sr__byte_reader *reader, const sr__encoder *encoder,
                           sr__member **member);

  /* Null-safe. */
  void (*free_encoder)(sr__encoder *encoder);
  void (*free_training)(sr__training *training);
  void (*free_encoded)(sr__encoded *rows);
  void (*free_member)(sr__member *member);
} sr__learner;

/* That the table has rows, a target and the features or series that the learner takes. */
SR_MUST_CHECK sr_status sr__learner_check_table(sr_context *ctx, const sr__learner *learner,
                                                const sr_table *table);
/* The registry: learners in a fixed order; NULL past the end. */
SR_API const sr_method *sr_learner_method(int index);

#endif
