/* Text of others, fit for JSON and for a terminal. */
#include "core/text.h"
#include "describe.h"

void sr_text_clean(const char *text, int controls, char *out, size_t size) {
  sr__text_clean(text, controls != 0, out, size);
}
