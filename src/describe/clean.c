/* Text of others, fit for JSON and for a terminal. */
#include "core/text.h"
#include "describe.h"

static bool is_control(const unsigned char *text, size_t length) {
  if (length == 1) return (text[0] < 0x20 && text[0] != '\n' && text[0] != '\t') || text[0] == 0x7f;
  return length == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

void sr_text_clean(const char *text, int controls, char *out, size_t size) {
  static const char unknown[] = "\xef\xbf\xbd";
  const unsigned char *from = (const unsigned char *)text;
  size_t used = 0;
  while (*from && size > 0) {
    const char *bytes;
    size_t length = sr__utf8_next(&from, &bytes);
    if (!controls && is_control((const unsigned char *)bytes, length)) {
      bytes = unknown;
      length = sizeof unknown - 1;
    }
    if (used + length >= size) break;
    memcpy(out + used, bytes, length);
    used += length;
  }
  if (size > 0) out[used] = '\0';
}
