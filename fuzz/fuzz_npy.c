/* The reader of npy files; the first byte chooses the options. */
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_table(data, size, "npy");
  return 0;
}
