/* Ensembles: fitted members that vote, and the records that a model carries of them. */
#ifndef SPECROUTE_ENSEMBLE_H
#define SPECROUTE_ENSEMBLE_H

#include <specroute/plan.h>
#include <specroute/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_ensemble sr_ensemble;

typedef enum sr_vote {
  SR_VOTE_HARD, /* each member one vote */
  SR_VOTE_SOFT, /* mean of the members' class probabilities */
  SR_VOTE_AUTO, /* soft where the learner's probabilities are calibrated, else hard; a fitted
                   ensemble says which */
  SR_VOTE_GATED /* members weighted by how near their parts lie to the row (an extension) */
} sr_vote;

typedef struct sr_ensemble_options {
  const char *learner; /* NAME[:KEY=VALUE,...] of sr_learner_method; "tree" */
  sr_vote vote;        /* SR_VOTE_AUTO */
} sr_ensemble_options;

SR_API void sr_ensemble_options_init(sr_ensemble_options *options);
/* One member per bag, fitted in parallel. Rows without a class are passed over. The same seed gives
 * the same members at any thread count. `options` may be NULL. Gated votes need sr_train. Free with
 * sr_ensemble_free. Errors: SR_ERROR_ARGUMENT (the plan is for another number of rows),
 * SR_ERROR_NOT_FOUND (learner or option), SR_ERROR_DATA (nothing to learn from),
 * SR_ERROR_UNSUPPORTED, SR_ERROR_MEMORY. Cost: the sum over members of the learner's cost on their
 * bags. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_fit(sr_context *ctx, const sr_table *table,
                                               const sr_plan *plan,
                                               const sr_ensemble_options *options, uint64_t seed,
                                               sr_ensemble **ensemble);
SR_API void sr_ensemble_free(sr_ensemble **ensemble);
/* label[i]: the class of row i; `proba` (may be NULL) gets rows x classes vote shares, row-major.
 * Columns are found by their names where both tables have names, else by their order; categories by
 * their names. Errors: SR_ERROR_DATA names the first column that is missing; SR_ERROR_MEMORY. Cost:
 * rows times members, on all threads. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_predict(sr_context *ctx, const sr_ensemble *ensemble,
                                                   const sr_table *table, int32_t *label,
                                                   float *proba);
/* The same on rows that are in no table: the view's arrays are read where they stand. Errors as
 * sr_ensemble_predict, and SR_ERROR_ARGUMENT for a view that sr_table_new would refuse. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_predict_view(sr_context *ctx,
                                                        const sr_ensemble *ensemble,
                                                        const sr_table_view *rows, int32_t *label,
                                                        float *proba);
/* What is said beside the class, and how much is predicted at once. */
typedef struct sr_predict_options {
  int proba;       /* 1: a feature "p_CLASS" per class, its share of the vote */
  int uncertainty; /* 1: a feature "uncertainty": 1 - the largest share */
  int outside;     /* 1: a feature "outside": 1 where the row lies outside the model's area of
                      applicability (sr_evaluation.applicability), else 0 */
  int64_t along;   /* series: an answer after every so many samples; 0: one for the whole series */
  int64_t tile;    /* rasters: cells in memory at once, at least a block of 256 x 256; 0: about
                      256 MB of them */
} sr_predict_options;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_predict_option_list(void);
SR_API void sr_predict_options_init(sr_predict_options *options);
/* The same as a table *predictions: the class of each row as its label and the features that the
 * options ask for; time, group, coordinates and cells of the input go along. With `along` the
 * answers along every series instead: after every `along` samples and at the end of each series a
 * row with the features "row" (of the series, from 1) and "step" (samples so far) before the
 * others, and the class as its label; class and shares are missing while nothing can be said. A
 * series ends at the last value that is there in any channel; its last answer is that of
 * sr_ensemble_predict. `options` may be NULL. Free with sr_table_free, write with sr_table_write.
 * Errors as sr_ensemble_predict, SR_ERROR_ARGUMENT (an option out of its range, or outside with
 * along), SR_ERROR_UNSUPPORTED where the model does not know its area of applicability, and with
 * `along` those of sr_stream_new. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_predict_table(sr_context *ctx,
                                                         const sr_ensemble *ensemble,
                                                         const sr_table *table,
                                                         const sr_predict_options *options,
                                                         sr_table **predictions);
/* What was done with a raster. */
typedef struct sr_raster_summary {
  int64_t rows;          /* cells that were predicted */
  int64_t judged, wrong; /* of those with a class, where options.target names a band */
  int64_t tiles;
} sr_raster_summary;
/* Whether sr_ensemble_predict_raster serves `input` and `output`: both GeoTIFF, by their names (or
 * options->format), and neither labels nor windows asked for. `options` may be NULL. */
SR_API int sr_reads_in_tiles(const char *input, const sr_read_options *options, const char *output);
/* Predicts the raster `input` tile by tile, so that it may be larger than memory, and writes the
 * map to `output` as sr_ensemble_predict_table and sr_table_write do: the same bytes whatever the
 * tiles. `read` and `options` may be NULL; a target that is compared with the median is not judged.
 * The file appears whole or not at all. `summary` may be NULL. Errors: SR_ERROR_UNSUPPORTED (not
 * served), those of sr_table_read, sr_ensemble_predict_table and sr_table_write. Cost: one pass;
 * memory of one tile. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_predict_raster(
    sr_context *ctx, const sr_ensemble *ensemble, const char *input, const sr_read_options *read,
    const sr_predict_options *options, const char *output, sr_raster_summary *summary);
/* Class of each row by each member: member j's vote on row i is votes[j * rows + i]. Errors and
 * cost as sr_ensemble_predict. Cost: memory of rows x members is the caller's. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_votes(sr_context *ctx, const sr_ensemble *ensemble,
                                                 const sr_table *table, int32_t *votes);

/* ---- what the votes are worth --------------------------------------------------------------- */

typedef struct sr_class_report {
  int64_t rows;     /* judged rows of this class */
  double error;     /* share of them that the vote missed (1 - recall) */
  double precision; /* share of the votes for this class that were right; NaN: no such vote */
} sr_class_report;

/* What an error is asked for. Each is a number of its own: what was held out decides which. */
typedef enum sr_question_kind {
  SR_QUESTION_ROWS,      /* new rows between those of the table */
  SR_QUESTION_ELSEWHERE, /* rows of the same process, far from every training row: the mean risk */
  SR_QUESTION_NEXT,      /* one more unit: so many rows in a row, or a group */
  SR_QUESTION_FUTURE,    /* the rows that follow, by training on the past alone */
  SR_QUESTION_GROUPS,    /* new groups: the mean risk */
  SR_QUESTION_PIXELS,    /* on maps: rows between the sampled ones */
  SR_QUESTION_FIELDS,    /* new fields of the same ground */
  SR_QUESTION_AREAS,     /* ground beyond the range of the residuals */
  SR_QUESTION_REGIONS,   /* another region */
  SR_QUESTION_USE        /* the places where the model will be used */
} sr_question_kind;
/* A kind as "rows", "elsewhere", "next", "future", "groups", "pixels", "fields", "areas", "regions"
 * or "use": a constant. */
SR_API const char *sr_question_name(sr_question_kind kind);

/* An answer: NaN where it is refused, and then `reason` says why. */
typedef struct sr_question {
  sr_question_kind kind;
  double estimate, low, high;
  double next_low, next_high; /* for one more unit of the same kind */
  int32_t units;              /* how many were held out */
  double distance;    /* from what was held out to the nearest training row: rows, on maps in
                         sr_evaluation.distance_unit; NaN where it has no meaning */
  const char *reason; /* sentences: why there is no answer, or how to read it; NULL: nothing */
  double buffer; /* on maps: the distance around what was held out that was kept free; else NaN */
} sr_question;

/* What the vote said of rows that were held out: one entry each, in the order of the file. */
typedef struct sr_held_rows {
  int64_t count;
  const int64_t *row;   /* as the file of the table counts it, from 0 */
  const int32_t *label; /* its class */
  const int32_t *vote;
  const float *share; /* count x classes, row-major; NULL: members judged that saw nothing near */
  const int32_t *unit, *fold; /* that it was held out with */
} sr_held_rows;

/* The error of held-out rows where so many members vote. */
typedef struct sr_curve_point {
  int32_t members;
  double error;
} sr_curve_point;

/* Which rows are not like those that the model was trained on, by their features. It sees new
 * ground, not a change of law: it may refuse, never promise. Opaque. */
typedef struct sr_applicability sr_applicability;

typedef struct sr_evaluation {
  int64_t rows;    /* rows with a class */
  double baseline; /* error of always naming the most frequent class */
  double naive;    /* each row judged by the members that did not draw the row; NaN: none */
  int64_t naive_rows;
  double honest;                  /* each row judged by an ensemble that saw nothing of its unit */
  double honest_low, honest_high; /* over units */
  double level;                   /* of that interval */
  int64_t honest_rows;
  sr_unit held_out;          /* what was held out together */
  int32_t units;             /* how many of them */
  int32_t folds;             /* 0: members that never saw the unit; else folds were fitted */
  int64_t buffer;            /* rows or graph steps kept free around what was held out */
  double judges;             /* mean number of members that judged a row */
  double covariance;         /* mean pairwise covariance of member margins on held-out rows */
  double variance_of_margin; /* variance over rows of the mean margin rho */
  double variance_of_member; /* the same of one member's margin */
  double effective_members;  /* variance_of_member / variance_of_margin */
  /* The covariance by what members share; NaN: importance was not asked for, or bags of one's own.
   */
  double shared_rows, shared_parts, shared_law; /* the law: what independent data would teach too */
  /* What would be taken off variance_of_margin by twice the members, by bags of 30 % of the rows,
   * and by half of the parts per member; NaN like these. */
  double gain_members, gain_bags, gain_place;
  int32_t curve_count;         /* 0: bags of one's own */
  const sr_curve_point *curve; /* more and more members of the folds, then the ensemble itself */
  int32_t classes;
  const sr_class_report *by_class;
  int64_t features;
  const double *importance; /* per feature: error gained by shuffling it inside parts, on the
                               held-out rows; NULL: not asked for */
  int32_t question_count;
  const sr_question *questions;
  double tmix_careful;        /* the scale that the intervals were made for, losses included */
  double degrees;             /* of freedom of the honest interval */
  int64_t next_rows;          /* length of the next unit; 0: a group */
  int32_t origin_count;       /* 0: the future was not asked for */
  const double *origin_error; /* in order of time: trained on the past, judged on what follows */
  double forward, forward_low, forward_high; /* the line through them at the next origin */
  double forward_mean, forward_mean_low, forward_mean_high; /* their mean, for one unit more */
  double forward_slope;     /* error gained from one origin to the next, over its standard error */
  sr_metrics metrics;       /* of the votes on held-out rows, by the members of the folds */
  const int64_t *confusion; /* classes x classes: held-out rows of a class (row) by their vote */
  sr_held_rows held_rows;   /* count 0: not asked for; not in the model file */
  const sr_applicability *applicability; /* of maps; NULL: none */
  double applicability_limit; /* distance in standardized features that held-out rows keep to the
                                 other folds; beyond it a row is outside; NaN: none */
  double outside; /* share of the rows of use that lie outside; NaN: not asked or not known */
  double seconds; /* with what a named plan fits on folds; not in the model file */
  sr_distance_unit distance_unit; /* of the distances of maps */
  double reach; /* distance that residuals are alike up to; 0: none was seen; NaN: no map */
  double buffer_distance; /* kept free around the folds of a map; NaN: no map */
} sr_evaluation;

/* ---- the choice of a plan ------------------------------------------------------------------- */

typedef struct sr_candidate {
  const char *plan;  /* NAME[:KEY=VALUE,...] */
  double error;      /* on held-out blocks, NaN: never scored */
  double difference; /* error minus that of the default, paired over blocks */
  double difference_se;
  int32_t members; /* that the last score used */
  double cost;     /* of one member over one full-bootstrap member */
} sr_candidate;

typedef struct sr_choice {
  int32_t candidate_count;
  const sr_candidate *candidates;
  int32_t chosen, fallback; /* indices */
  double cost;              /* of the choice over one full-bootstrap ensemble */
  int32_t folds;
  int64_t buffer;
  const char *reason; /* one sentence */
} sr_choice;

/* ---- what an ensemble is ------------------------------------------------------------------ */

/* Members that one plan trained, and what they weigh. A named plan is a mix of one. */
typedef struct sr_mix_entry {
  const char *plan; /* NAME[:KEY=VALUE,...] */
  const char *name; /* of the scheme */
  int32_t parameter_count;
  const sr_plan_parameter *parameters; /* what the scheme worked with */
  int32_t members;
  double weight;     /* of all of them together; the weights sum to 1 */
  double large_leaf; /* share of that weight that answers from leaves of five rows */
} sr_mix_entry;

/* What made a mix better than plain bagging: held-out squared error of the vote, summed over
 * classes. The four gains add up to plain - mix. */
typedef struct sr_mix_gain {
  double plain, mix;
  double difference,
      difference_se; /* of the vote without its offset: mix minus plain, over blocks */
  double bag_size, leaf_size, place, offset;
  double score_tmix; /* rows that the score (truth minus vote) remembers; a place is offered where
                        it is 2 or more */
  int thin;          /* 1: the rows are too few to choose */
} sr_mix_gain;

typedef struct sr_ensemble_view {
  const char *learner; /* NAME[:KEY=VALUE,...] */
  const char *learner_name;
  sr_vote vote;
  int32_t members;
  uint64_t seed;
  int64_t rows; /* it was trained on */
  int64_t features;
  const char *const *feature_names; /* NULL where the table had none */
  int32_t channels;                 /* of the series that the learner takes; 0: none */
  const char *const *channel_names; /* NULL where the table had none */
  sr_dictionary classes;
  const char *target_name; /* may be NULL */
  int32_t mix_count;       /* plans in the mix */
  const sr_mix_entry *mix;
  const sr_mix_gain *gain;         /* NULL: a plan was named */
  const float *offset;             /* added to each class's share before the vote; NULL: none */
  const sr_structure *structure;   /* it was trained with; NULL after loading */
  double tmix;                     /* NaN where it was not needed */
  const sr_evaluation *evaluation; /* NULL: none was made */
  const sr_choice *choice;         /* NULL: the plan was named; not kept in the model file */
  const char *reason;              /* why this plan */
  int32_t warning_count;           /* of the structure; kept in the model file */
  const char *const *warnings;
  double seconds_structure, seconds_choice, seconds_fit; /* not in the file; choice: with what a
                                                            rule fits on folds; what a named plan
                                                            fits there is evaluation */
} sr_ensemble_view;

/* Valid as long as the ensemble. */
SR_API const sr_ensemble_view *sr_ensemble_get(const sr_ensemble *ensemble);
/* The columns and classes of the training table, without rows: what sr_read_options.schema takes,
 * so that a file is read as the model knows it. Valid as long as the ensemble. */
SR_API const sr_table_view *sr_ensemble_schema(const sr_ensemble *ensemble);

/* ---- trees from inside ---------------------------------------------------------------------- */

/* One member as node arrays. It owns what it holds. */
typedef struct sr_nodes sr_nodes;

typedef struct sr_nodes_view {
  int64_t nodes; /* node 0 is the root */
  int32_t classes;
  const int32_t *feature;      /* that the node asks; -1: a leaf */
  const float *threshold;      /* a number goes left where it is at most this; NaN at leaves and at
                                  categorical nodes */
  const int32_t *left, *right; /* children; -1 at leaves */
  const uint8_t *missing_left; /* 1: a missing value goes left */
  /* Categorical nodes: codes category[category_offset[i] .. category_offset[i + 1]) go left. */
  const int64_t *category_offset;
  const int32_t *category;
  const float *share; /* nodes x classes, row-major: class shares of a leaf, 0 elsewhere */
} sr_nodes_view;

/* Free with sr_nodes_free. Errors: SR_ERROR_ARGUMENT (no such member), SR_ERROR_UNSUPPORTED (the
 * learner's members are no trees), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_nodes(sr_context *ctx, const sr_ensemble *ensemble,
                                                 int32_t member, sr_nodes **nodes);
SR_API void sr_nodes_free(sr_nodes **nodes);
/* Valid as long as the nodes. */
SR_API const sr_nodes_view *sr_nodes_get(const sr_nodes *nodes);

/* Writes the trees for other programs: .json (docs/guide/export.md says its form) or .onnx, a
 * form that ONNX runtimes read (numbers only). Errors: SR_ERROR_UNSUPPORTED (the
 * members are no trees, a gated vote, text features as .onnx, another ending), SR_ERROR_OUTPUT,
 * SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_export(sr_context *ctx, const sr_ensemble *ensemble,
                                                  const char *path);

enum { SR_PARTIAL_POINTS = 24 };
/* How the vote moves with one feature: the mean share of every class over rows of a table in which
 * the feature is set to one value after the other. */
typedef struct sr_partial_dependence_view {
  int32_t points, classes;
  double value[SR_PARTIAL_POINTS]; /* quantiles of the feature, or the codes of its categories */
  const double *share;             /* points x classes, the caller's */
} sr_partial_dependence_view;
/* `feature` of the ensemble by its number, on at most 500 rows of `table`, evenly spaced; `share`
 * holds SR_PARTIAL_POINTS x classes numbers and is pointed to by `*dependence`. Errors:
 * SR_ERROR_ARGUMENT (no such feature), SR_ERROR_UNSUPPORTED (the learner takes no features),
 * SR_ERROR_DATA (a value is never there; columns are missing), SR_ERROR_MEMORY. Cost: a prediction
 * of at most 500 rows per point. */
SR_API SR_MUST_CHECK sr_status sr_partial_dependence(sr_context *ctx, const sr_ensemble *ensemble,
                                                     const sr_table *table, int64_t feature,
                                                     double *share,
                                                     sr_partial_dependence_view *dependence);

/* ---- model files -------------------------------------------------------------------------- */

/* Writes a model under a temporary name and renames it. Errors: SR_ERROR_OUTPUT, SR_ERROR_MEMORY.
 */
SR_API SR_MUST_CHECK sr_status sr_ensemble_save(sr_context *ctx, const sr_ensemble *ensemble,
                                                const char *path);
/* Free with sr_ensemble_free. Errors: SR_ERROR_IO, SR_ERROR_FORMAT for anything that is not a
 * whole, unaltered model of a known version, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_load(sr_context *ctx, const char *path,
                                                sr_ensemble **ensemble);
/* The same to and from `count` bytes in memory. *bytes is freed with sr_bytes_free, *ensemble with
 * sr_ensemble_free. Errors: SR_ERROR_FORMAT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_ensemble_to_bytes(sr_context *ctx, const sr_ensemble *ensemble,
                                                    void **bytes, int64_t *count);
SR_API SR_MUST_CHECK sr_status sr_ensemble_from_bytes(sr_context *ctx, const void *bytes,
                                                      int64_t count, sr_ensemble **ensemble);

/* The registry of learners in a fixed order; NULL past the end. */
SR_API const sr_method *sr_learner_method(int index);

/* ---- how members were trained --------------------------------------------------------------- */

/* A look of a member at the rows that it held out while it was trained. */
typedef struct sr_learning_look {
  int64_t step;
  double training_loss; /* mean of the batches since the look before */
  double held_out_loss; /* NaN where nothing was held out */
  int kept;             /* 1: the member is the net of this look; never where it was trained anew on
                           all rows once the held-out ones had chosen (refit=yes) */
  int best;             /* 1: the held-out loss was least here */
} sr_learning_look;

/* Look `index` at the training of a member, from 0; 0 past the last, and for learners that are not
 * trained in steps. `look` is filled in where there is one. */
SR_API int sr_ensemble_look(const sr_ensemble *ensemble, int32_t member, int64_t index,
                            sr_learning_look *look);

/* What a member found on rows of its bag that it left out while it was fitted: its penalty and its
 * temperature come from them. */
typedef struct sr_own_judgment {
  int64_t judged;     /* rows that were left out and asked */
  double error;       /* share of them that was told wrong */
  int64_t sets;       /* of rows that were left out together (whole parts); 0: each row by itself */
  double penalty;     /* of the ridge; NaN where there is none */
  double temperature; /* scores are divided by it to give the shares */
} sr_own_judgment;

/* 1 and the judgment, or 0 where the member left nothing out. For rocket, minirocket, transformer
 * and mamba. */
SR_API int sr_ensemble_own_judgment(const sr_ensemble *ensemble, int32_t member,
                                    sr_own_judgment *judgment);

/* ---- along a stream ------------------------------------------------------------------------- */

/* The ensemble's answer to a series that is still coming in, in constant memory: after the last
 * sample it is the answer to the whole series, to the bit. For mamba, trained with scaling
 * training, running or none; with causal=yes the answer never waits for samples ahead. */
typedef struct sr_stream sr_stream;

/* The ensemble must live as long as the stream. Free with sr_stream_free. Errors:
 * SR_ERROR_UNSUPPORTED (the learner reads whole series alone), SR_ERROR_ARGUMENT (series are scaled
 * by their own moments), SR_ERROR_MEMORY. Cost of a sample: that of the net for one step. */
SR_API SR_MUST_CHECK sr_status sr_stream_new(sr_context *ctx, const sr_ensemble *ensemble,
                                             sr_stream **stream);
SR_API void sr_stream_free(sr_stream **stream);
/* The stream forgets all samples: the next one begins another series. */
SR_API void sr_stream_start(sr_stream *stream);
/* The next sample of the stream: one value per channel, NaN = missing. */
SR_API void sr_stream_push(sr_stream *stream, const float *sample);
/* Tells the stream that no sample follows, so that the nets no longer wait for those ahead. */
SR_API void sr_stream_end(sr_stream *stream);
/* The class of the stream so far, -1 while nothing can be said yet; `proba` (may be NULL) gets the
 * vote shares of the classes. */
SR_API int32_t sr_stream_answer(sr_stream *stream, float *proba);

#ifdef __cplusplus
}
#endif
#endif
