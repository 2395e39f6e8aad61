/* The page with pictures that `train --report` writes. */
#ifndef SR_CLI_TRAIN_PAGE_H
#define SR_CLI_TRAIN_PAGE_H

#include "cli.h"

SR_MUST_CHECK sr_status train_write_page(cli_run *run, const sr_table *table,
                                         const sr_ensemble *ensemble, const char *path);

#endif
