/* Text of others, fit for JSON and for a terminal. */
#include "describe.h"

/* Bytes of the UTF-8 character at `text`; 0 where there is none. */
static size_t character_length(const unsigned char *text) {
  static const struct {
    unsigned char low, high, second_low, second_high;
    size_t length;
  } kind[] = {{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
              {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
              {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
              {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
              {0xf4, 0xf4, 0x80, 0x8f, 4}};
  for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
    if (text[0] < kind[k].low || text[0] > kind[k].high) continue;
    if (kind[k].length > 1 && (text[1] < kind[k].second_low || text[1] > kind[k].second_high))
      return 0;
    for (size_t i = 2; i < kind[k].length; i++)
      if (text[i] < 0x80 || text[i] > 0xbf) return 0;
    return kind[k].length;
  }
  return 0;
}

static bool is_control(const unsigned char *text, size_t length) {
  if (length == 1) return (text[0] < 0x20 && text[0] != '\n' && text[0] != '\t') || text[0] == 0x7f;
  return length == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

void sr_text_clean(const char *text, int controls, char *out, size_t size) {
  static const char unknown[] = "\xef\xbf\xbd";
  const unsigned char *from = (const unsigned char *)text;
  size_t used = 0;
  while (*from && size > 0) {
    size_t length = character_length(from), step = length ? length : 1;
    bool kept = length > 0 && (controls || !is_control(from, length));
    size_t bytes = kept ? length : sizeof unknown - 1;
    if (used + bytes >= size) break;
    memcpy(out + used, kept ? (const char *)from : unknown, bytes);
    used += bytes;
    from += step;
  }
  if (size > 0) out[used] = '\0';
}
