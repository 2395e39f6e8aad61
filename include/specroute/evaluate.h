/* Folds of whole units, and what an ensemble is worth on rows that it never saw. */
#ifndef SPECROUTE_EVALUATE_H
#define SPECROUTE_EVALUATE_H

#include <specroute/ensemble.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whole units dealt to folds, with what is left out of training around them. It owns what it holds.
 */
typedef struct sr_folds sr_folds;

typedef struct sr_folds_options {
  int64_t folds;  /* 8; with groups 0 = one group per fold */
  int64_t buffer; /* -1: tmix rows around what is held out of a series, at most 15 % of all rows; on
                     maps the reach of the residuals around areas, at most a sixth of the map, in
                     the unit of the coordinates (degrees: meters); 0 elsewhere */
} sr_folds_options;

typedef enum sr_fold_role { SR_ROLE_TRAIN, SR_ROLE_TEST, SR_ROLE_FREE } sr_fold_role;

typedef struct sr_folds_view {
  int64_t rows;
  int32_t folds;
  int32_t units;
  sr_unit unit; /* blocks of rows or parts, or groups; blocks of a series: each fold is one stretch
                   of them */
  const int32_t *unit_of_row;
  const int32_t *fold_of_unit;
  int64_t buffer;         /* rows of a series, steps of a graph; 0 on maps */
  double buffer_distance; /* on maps, in distance_unit; 0 elsewhere */
  const uint8_t *role;    /* of each row in each fold: role[fold * rows + row] is an sr_fold_role */
  sr_distance_unit distance_unit; /* of buffer_distance and reach */
  double reach; /* on maps: the distance that residuals are alike up to; NaN elsewhere */
} sr_folds_view;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_folds_option_list(void);
SR_API void sr_folds_options_init(sr_folds_options *options);
/* `options` may be NULL. Free with sr_folds_free. Errors: SR_ERROR_ARGUMENT, SR_ERROR_DATA (too few
 * units, or the buffer leaves nothing to train on), SR_ERROR_MEMORY. Memory: one byte per row and
 * fold. */
SR_API SR_MUST_CHECK sr_status sr_folds_new(sr_context *ctx, const sr_structure *structure,
                                            const sr_folds_options *options, uint64_t seed,
                                            sr_folds **folds);
/* Folds *forward in time: the rows in their order are cut into folds + 1 blocks, fold k tests block
 * k + 1 and trains on what comes before it and a buffer (-1: tmix rows, at most a quarter of a
 * block); later rows are free. Free with sr_folds_free. Errors: SR_ERROR_ARGUMENT, SR_ERROR_DATA
 * (fewer rows than blocks, or the buffer leaves nothing to train on), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_folds_forward(sr_context *ctx, const sr_structure *structure,
                                                int64_t folds, int64_t buffer, sr_folds **forward);
SR_API void sr_folds_free(sr_folds **folds);
/* Valid as long as the folds. */
SR_API const sr_folds_view *sr_folds_get(const sr_folds *folds);

/* Writes the folds for another trainer: .csv ("-" too: lines row,fold,role), .npy (bytes, folds x
 * rows: 0 train, 1 test, 2 free) or .json (rows of train and test per fold). Rows are counted from
 * 0 as they stood in the file of `table`; NULL: as they are. Errors: SR_ERROR_UNSUPPORTED (another
 * ending), SR_ERROR_OUTPUT, SR_ERROR_INTERRUPTED, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_folds_write(sr_context *ctx, const sr_folds *folds,
                                              const sr_table *table, const char *path);

/* How an ensemble is judged when it is trained. */
typedef struct sr_evaluate_options {
  int evaluate;       /* 1: naive and honest error, covariance */
  int importance;     /* 1: permutation importance, and what members share, as well */
  double level;       /* of the intervals: 0.95 */
  int64_t next;       /* rows of the next unit; 0: a twentieth of the rows, or a group */
  int forward;        /* 1: train on the past and judge what follows, from five origins */
  int keep_held_rows; /* 1: sr_evaluation.held_rows */
  /* Maps: where the model will be used, with coordinates of the same kind and, for the area of
   * applicability, the same features; borrowed while training runs. NULL: not said */
  const sr_table *predict_on;
  sr_folds_options folds;
} sr_evaluate_options;

SR_API void sr_evaluate_options_init(sr_evaluate_options *options);

/* Writes what was kept of an ensemble's held-out rows as .csv or .tsv (also .gz; "-": csv), lines
 * row,truth,prediction,p_CLASS...,part,fold in the order of the file, rows from 0: what
 * sr_prediction_file_read takes. Errors: SR_ERROR_ARGUMENT (none were kept: keep_held_rows),
 * SR_ERROR_OUTPUT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_held_rows_write(sr_context *ctx, const sr_ensemble *ensemble,
                                                  const char *path);

/* ---- what predictions are worth ------------------------------------------------------------- */

/* Somebody's predictions, a row each: classes, probabilities or both; or numbers, which are refused
 * so far. Zero what is not set. */
typedef struct sr_predictions {
  const int32_t *label; /* code of a class, -1: none was made; NULL: the largest probability */
  const float *proba;   /* rows x classes, row-major; NaN in a row: none was made; NULL: none */
  const double *value;  /* a number per row, NaN: none was made; NULL: the target is a class */
} sr_predictions;

typedef struct sr_judge_options {
  double level;       /* of the interval: 0.95 */
  int64_t *confusion; /* gets classes x classes counts, a row per true class; NULL: not wanted */
} sr_judge_options;

typedef struct sr_judgment {
  int64_t rows;     /* judged: with a class and a prediction */
  double error;     /* share of them that is wrong */
  double low, high; /* of the error on other rows of the process, dependence included; NaN: fewer
                       than five T rows, or six units, tell too little, as does an interval that
                       is wider than .9 */
  double level;
  double naive_low, naive_high; /* what the interval would be were the rows independent */
  double baseline;              /* error of always naming the most frequent class */
  sr_unit unit;  /* what was taken for independent: spans of T rows in a series (row),
                    parts or groups */
  int32_t units; /* how many */
  double tmix;   /* rows until a row, or a loss, is new */
  sr_metrics metrics;
  sr_dictionary classes;    /* of the table, valid as long as it is */
  const int64_t *confusion; /* that of the options */
} sr_judgment;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_judge_option_list(void);
SR_API void sr_judge_options_init(sr_judge_options *options);
/* The honest evaluation of anybody's predictions of a table's rows, made without having seen them.
 * The table gives the classes, the structure what depends on what. `options` may be NULL. Errors:
 * SR_ERROR_ARGUMENT (a code or probability out of range, a structure of other rows, neither classes
 * nor probabilities), SR_ERROR_UNSUPPORTED (numbers), SR_ERROR_DATA (no classes, or no row with a
 * prediction), SR_ERROR_MEMORY.
 * Cost: O(n log n) per class with probabilities, else O(n). */
SR_API SR_MUST_CHECK sr_status sr_judge(sr_context *ctx, const sr_table *table,
                                        const sr_structure *structure,
                                        const sr_predictions *predictions,
                                        const sr_judge_options *options, sr_judgment *judgment);
/* Predictions in a file, one per row of a table. They own what they hold. */
typedef struct sr_prediction_file sr_prediction_file;

typedef struct sr_prediction_columns {
  const char *row;        /* column that counts the rows of the table's file from 0; NULL: `row` or
                             `index` where there is one, else the lines are in the file's order */
  const char *prediction; /* column of the class; NULL: `prediction`, `predicted`, `y_pred` or the
                             target's name */
} sr_prediction_columns;

/* Reads somebody's predictions of the rows of `table` from a file of any format ("-": csv on
 * standard input): a column of classes, or one `p_CLASS` (also `proba_CLASS`, `prob_CLASS` or the
 * bare name) per class, where one of two is enough; empty fields are rows without a prediction.
 * `columns` may be NULL. Free with sr_prediction_file_free. Errors: SR_ERROR_DATA (a class or row
 * that the table has not, a row that occurs twice, another number of lines, probabilities for some
 * classes only), SR_ERROR_NOT_FOUND (no such column), those of sr_table_read. Cost: the file is
 * held in memory. */
SR_API SR_MUST_CHECK sr_status sr_prediction_file_read(sr_context *ctx, const char *path,
                                                       const sr_table *table,
                                                       const sr_prediction_columns *columns,
                                                       sr_prediction_file **file);
SR_API void sr_prediction_file_free(sr_prediction_file **file);
/* In the order of the table's rows; valid as long as the file object. */
SR_API const sr_predictions *sr_prediction_file_get(const sr_prediction_file *file);
/* What an ensemble is worth on new rows with classes: its predictions, judged. Classes that it
 * never saw count as missed. `structure` NULL: estimated from the table; the confusion is not told
 * (sr_judge does). Errors as
 * sr_ensemble_predict, sr_structure_estimate and sr_judge. Cost: theirs together. */
SR_API SR_MUST_CHECK sr_status sr_evaluate(sr_context *ctx, const sr_ensemble *ensemble,
                                           const sr_table *table, const sr_structure *structure,
                                           const sr_judge_options *options, sr_judgment *judgment);

#ifdef __cplusplus
}
#endif
#endif
