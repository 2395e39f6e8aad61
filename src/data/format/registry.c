/* The formats by name, ending and content. */
#include <strings.h>

#include "format.h"

#define SR_ENTRY(name) extern const sr__format sr__format_##name;
#include "methods.def"
#undef SR_ENTRY

static const sr__format *const formats[] = {
#define SR_ENTRY(name) &sr__format_##name,
#include "methods.def"
#undef SR_ENTRY
};
enum { FORMATS = sizeof formats / sizeof *formats };

const sr__format *sr__format_at(int index) {
  return index >= 0 && index < FORMATS ? formats[index] : NULL;
}

const sr_method *sr_format_method(int index) {
  const sr__format *format = sr__format_at(index);
  return format ? &format->about : NULL;
}

const char *sr_format_endings(int index, int writes) {
  const sr__format *format = sr__format_at(index);
  return format && (!writes || format->write) ? format->endings_text : "";
}

/* The longest ending wins, so that _TRAIN.tsv is met before .tsv. */
const sr__format *sr__format_of_path(const char *path) {
  size_t length = strlen(path), longest = 0;
  const sr__format *found = NULL;
  if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
  for (int i = 0; i < FORMATS; i++) {
    for (int e = 0; formats[i]->endings[e]; e++) {
      size_t ending = strlen(formats[i]->endings[e]);
      if (ending > length || ending <= longest ||
          strncasecmp(path + length - ending, formats[i]->endings[e], ending) != 0)
        continue;
      found = formats[i];
      longest = ending;
    }
  }
  return found;
}

bool sr__begins_with_word(const sr__beginning *beginning, const char *word) {
  const char *at = beginning->bytes, *end = at + beginning->size;
  size_t length = strlen(word);
  if (end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r')) at++;
  return (size_t)(end - at) >= length && strncasecmp(at, word, length) == 0;
}
