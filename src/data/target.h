/* What the target of a file is: classes, numbers, or two classes made of a number. Internal. */
#ifndef SR_DATA_TARGET_H
#define SR_DATA_TARGET_H

#include "names.h"

typedef enum sr__target_form { SR__CLASSES, SR__NUMBERS, SR__COMPARISON } sr__target_form;

/* A comparison such as "pm2.5 > 75" or "price <= median". */
typedef struct sr__target_rule {
  sr__target_form form;
  int relation;     /* index of the sign: > >= < <= == != */
  bool with_median; /* of all values that are not missing */
  double threshold;
} sr__target_rule;

/* The named columns of a file. */
typedef struct sr__file_columns {
  const char *file;
  const char *const *names;
  int64_t count;
} sr__file_columns;

/* The column and the rule that options->target names; column -1 where there is no target. Errors:
 * SR_ERROR_NOT_FOUND (no such column), SR_ERROR_ARGUMENT (no number on the right side). */
SR_MUST_CHECK sr_status sr__find_target(sr_context *ctx, sr__file_columns columns,
                                        const sr_read_options *options, sr__target_rule *rule,
                                        int64_t *column);
/* Sets view->value, or label, classes and target_name, from numbers; NaN = missing. Takes `value`
 * over, whatever comes. */
SR_MUST_CHECK sr_status sr__set_number_target(sr_context *ctx, const char *column,
                                              const sr__target_rule *rule, double *value,
                                              sr_table_view *view);
/* SR_ERROR_DATA where the texts of a target are plainly measurements, or one class alone would not
 * be told from another. `sure` says that the user calls them classes. */
SR_MUST_CHECK sr_status sr__check_classes(sr_context *ctx, const char *file, const char *name,
                                          const sr__names *classes, int64_t rows, bool sure);

#endif
