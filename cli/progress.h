/* A progress bar on a terminal. */
#ifndef SR_CLI_PROGRESS_H
#define SR_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
  bool shown;   /* something stands on the line */
  double last;  /* when it was last drawn */
  double began; /* when this stage began */
  char stage[64];
  char note[96]; /* stands behind the bar; "" for nothing */
} cli_progress;

/* An sr_progress_fn; data is a cli_progress. Draws at most ten times a second. */
void cli_progress_update(void *data, const char *stage, int64_t done, int64_t total);
/* Takes the bar away. */
void cli_progress_clear(cli_progress *progress);

#endif
