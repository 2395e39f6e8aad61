#include "suggest.h"

#include <specroute/method.h>
#include <string.h>

enum { LONGEST = 63 };

int sr__edit_distance(const char *a, size_t length, const char *b) {
  size_t width = strlen(b);
  int row[LONGEST + 1];
  if (length > LONGEST || width > LONGEST) return LONGEST + 1;
  for (size_t j = 0; j <= width; j++) row[j] = (int)j;
  for (size_t i = 1; i <= length; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= width; j++) {
      int above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[width];
}

/* The largest distance at which a word of this length is worth suggesting. */
static int suggest_limit(size_t length) { return length <= 3 ? 1 : length <= 6 ? 2 : 3; }

int sr_suggest(const char *word, const char *known, int *distance) {
  int here = sr__edit_distance(word, strlen(word), known);
  if (here > suggest_limit(strlen(word)) || here >= *distance) return 0;
  *distance = here;
  return 1;
}
