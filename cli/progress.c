#include "progress.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { BAR_WIDTH = 30 };

static void draw(cli_progress *p, int64_t done, int64_t total, double now) {
  char bar[BAR_WIDTH + 1];
  double share = total > 0 ? (double)done / (double)total : 0.0;
  if (share > 1.0) share = 1.0;
  int filled = (int)(share * BAR_WIDTH);
  memset(bar, '#', (size_t)filled);
  memset(bar + filled, '.', (size_t)(BAR_WIDTH - filled));
  bar[BAR_WIDTH] = '\0';
  if (total <= 0) {
    fprintf(stderr, "\r\033[K%s %lld", p->stage, (long long)done);
  } else {
    double elapsed = now - p->began;
    double left = share > 0.0 ? elapsed * (1.0 - share) / share : 0.0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f %% %.0f s left%s%s", p->stage, bar, 100.0 * share, left,
            p->note[0] ? ", " : "", p->note);
  }
  fflush(stderr);
  p->shown = true;
}

void cli_progress_update(void *data, const char *stage, int64_t done, int64_t total) {
  cli_progress *p = data;
  double now = sr_seconds();
  /* What follows a comma tells how the stage goes and does not begin a new one. */
  size_t name = strcspn(stage, ",");
  bool same = strcspn(p->stage, ",") == name && strncmp(p->stage, stage, name) == 0;
  snprintf(p->stage, sizeof p->stage, "%s", stage);
  if (!same) {
    p->began = now;
    p->last = 0.0;
  }
  if (now - p->last < 0.1) return;
  p->last = now;
  draw(p, done, total, now);
}

void cli_progress_clear(cli_progress *progress) {
  if (!progress->shown) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  progress->shown = false;
}
