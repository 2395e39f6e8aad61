/* What a person and a program are told about a model. */
#ifndef SR_CLI_MODEL_PAGE_H
#define SR_CLI_MODEL_PAGE_H

#include "cli.h"

void cli_say_model(const cli_run *run, const sr_ensemble *ensemble);
/* plan, members, error, covariance and more; the caller adds its own keys. */
json_t *cli_model_json(const sr_ensemble *ensemble);

#endif
