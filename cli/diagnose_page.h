/* The page with pictures that `diagnose -o` writes. */
#ifndef SR_CLI_DIAGNOSE_PAGE_H
#define SR_CLI_DIAGNOSE_PAGE_H

#include "cli.h"

SR_MUST_CHECK sr_status diagnose_write_page(cli_run *run, const sr_table *table,
                                            const sr_structure_view *view, const char *path);
/* The words, tables and pictures of such a page, for a page that says more. */
SR_MUST_CHECK sr_status diagnose_add_sections(cli_run *run, sr_page *page, const sr_table *table,
                                              const sr_structure_view *view);
/* Nothing is drawn where the rows have no place. */
SR_MUST_CHECK sr_status diagnose_add_map(cli_run *run, sr_page *page, const sr_table *table,
                                         const sr_graph *graph);

#endif
