/* How a range is cut for the pool, whatever the number of threads. */
#include "core.h"

enum { MAX_CHUNKS = 4096 };

int64_t sr__chunk_size(int64_t n, int64_t grain) {
  int64_t least = (n + MAX_CHUNKS - 1) / MAX_CHUNKS;
  return least > grain ? least : grain;
}

int64_t sr__chunk_count(int64_t n, int64_t grain) {
  int64_t size = sr__chunk_size(n, grain);
  return (n + size - 1) / size;
}
