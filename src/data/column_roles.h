/* Which column of a file plays which role. Internal to src/data. */
#ifndef SR_DATA_COLUMN_ROLES_H
#define SR_DATA_COLUMN_ROLES_H

#include "target.h"

typedef enum sr__role {
  SR_ROLE_FEATURE,
  SR_ROLE_TARGET,
  SR_ROLE_TIME,
  SR_ROLE_GROUP,
  SR_ROLE_REGION,
  SR_ROLE_COORDINATE,
  SR_ROLE_WEIGHT,
  SR_ROLE_DROP
} sr__role;

typedef struct sr__column_role {
  sr__role role;
  int32_t place;        /* among the columns of this role, from 0 */
  bool categorical;     /* asked for, or so in the schema */
  bool numeric;         /* so in the schema */
  sr__target_rule rule; /* of the target */
} sr__column_role;

/* The column that `reference` names: by its name, else by its number from 1. Where there is none
 * the error lists names that are close. `option` is what the user set, for the message. */
SR_MUST_CHECK sr_status sr__find_column(sr_context *ctx, sr__file_columns columns,
                                        const char *option, const char *reference, int64_t *column);
/* Fills roles[0..count); a column in two roles is an error, except that drop gives way. */
SR_MUST_CHECK sr_status sr__assign_roles(sr_context *ctx, const char *file,
                                         const char *const *names, int64_t count,
                                         const sr_read_options *options, sr__column_role *roles);
/* SR_ERROR_UNSUPPORTED where an option asks for columns that this format does not have. */
SR_MUST_CHECK sr_status sr__refuse_roles(sr_context *ctx, const char *file, const char *format,
                                         const sr_read_options *options);

#endif
