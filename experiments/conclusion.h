/* A conclusion: tables beside the paper, plots, remarks and the verdict. */
#ifndef SR_EXPERIMENTS_CONCLUSION_H
#define SR_EXPERIMENTS_CONCLUSION_H

#include <jansson.h>

#include "results.h"

enum { LABEL_SIZE = 48 };

typedef struct conclusion_cell {
  int table;
  char row[LABEL_SIZE], column[LABEL_SIZE];
  double paper, paper_sd;
  double measured, sd; /* sd of a sample, NaN for an estimate */
  double low, high;    /* interval of an estimate, NaN for a sample */
  int64_t n;
  sr_agreement agreement;
} conclusion_cell;

struct conclusion {
  const experiment *e;
  experiment_scale scale;
  sr_context *ctx;
  sr_page *page; /* NULL: no plots */
  results found;
  double *value; /* scratch that samples point into, in chunks that stay */
  struct sample_block *blocks;
  conclusion_cell *cells;
  int64_t cell_count, cell_capacity;
  char (*caption)[256];
  int table_count;
  char (*remark)[REASON_SIZE];
  int remark_count;
  verdict verdict;
  char reason[REASON_SIZE];
  sr_status status; /* the first failure of a helper; authors need not check each */
};

/* Which result file. */
typedef struct result_source {
  const experiment *e;
  experiment_scale scale;
  const char *folder;
} result_source;

/* Reads the result file of the experiment and concludes. `page` may be NULL. On failure `reason`
 * says why. Free with conclusion_free. */
SR_MUST_CHECK sr_status conclusion_read(sr_context *ctx, const result_source *source, sr_page *page,
                                        conclusion **out, char *reason, size_t reason_size);
void conclusion_free(conclusion **c);

const char *verdict_name(verdict v);
sr_agreement verdict_agreement(verdict v);
/* {row, column, paper, measured, sd, n}, ... */
json_t *conclusion_cells(const conclusion *c);
/* Writes the tables, remarks and the verdict onto the page (plots are there already). */
SR_MUST_CHECK sr_status conclusion_tables(const conclusion *c, sr_page *page);
/* The tables as plain text for a terminal. */
void conclusion_print(const conclusion *c, FILE *out);

#endif
