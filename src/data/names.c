#include "names.h"

#include <math.h>
#include <stdlib.h>

#include "parse_number.h"

/* FNV-1a, finished by a multiplication so that the low bits depend on all. */
static uint64_t hash_text(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15u >> 16;
}

const char *sr__names_get(const sr__names *names, int64_t code) {
  return names->text + names->start[code];
}

size_t sr__names_length(const sr__names *names, int64_t code) {
  int64_t end = code + 1 < names->count ? names->start[code + 1] : names->text_used;
  return (size_t)(end - names->start[code] - 1);
}

/* The slot that holds the text, or the free one where it belongs. */
static int64_t find_slot(const sr__names *names, const char *text, size_t length) {
  int64_t at = (int64_t)(hash_text(text, length) & (uint64_t)(names->slots - 1));
  while (names->slot[at]) {
    int64_t code = names->slot[at] - 1;
    if (sr__names_length(names, code) == length &&
        memcmp(sr__names_get(names, code), text, length) == 0)
      return at;
    at = (at + 1) & (names->slots - 1);
  }
  return at;
}

int32_t sr__names_find(const sr__names *names, const char *text, size_t length) {
  return names->slots ? names->slot[find_slot(names, text, length)] - 1 : -1;
}

/* Keeps the table of slots at most half full. */
static sr_status grow_slots(sr_context *ctx, sr__names *names) {
  sr_status status = SR_OK;
  if ((names->count + 1) * 2 <= names->slots) return SR_OK;
  int64_t slots = names->slots ? names->slots * 2 : 16;
  int32_t *slot = NULL;
  SR_NEW_ZERO(ctx, slot, slots);
  sr__free(ctx, names->slot);
  names->slot = slot;
  names->slots = slots;
  for (int64_t code = 0; code < names->count; code++)
    slot[find_slot(names, sr__names_get(names, code), sr__names_length(names, code))] =
        (int32_t)code + 1;
cleanup:
  return status;
}

sr_status sr__names_add(sr_context *ctx, sr__names *names, const char *text, size_t length,
                        int64_t line, int32_t *code) {
  sr_status status = SR_OK;
  SR_TRY(grow_slots(ctx, names));
  int64_t at = find_slot(names, text, length);
  if (names->slot[at]) {
    *code = names->slot[at] - 1;
    if (line < names->line[*code]) names->line[*code] = line;
    return SR_OK;
  }
  if (names->count == INT32_MAX - 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "a column has more than %d different texts",
                    INT32_MAX - 1));
  SR_GROW(ctx, names->text, names->text_capacity, names->text_used + (int64_t)length + 1);
  SR_GROW(ctx, names->start, names->capacity, names->count + 1);
  SR_GROW(ctx, names->line, names->line_capacity, names->count + 1);
  names->start[names->count] = names->text_used;
  names->line[names->count] = line;
  if (length) memcpy(names->text + names->text_used, text, length);
  names->text[names->text_used + (int64_t)length] = '\0';
  names->text_used += (int64_t)length + 1;
  *code = (int32_t)names->count++;
  names->slot[at] = *code + 1;
cleanup:
  return status;
}

/* ---- order -------------------------------------------------------------------------------- */

typedef struct ranked {
  const char *text;
  double value;
  bool is_number;
  int32_t code;
} ranked;

static int compare_ranked(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  if (a->is_number != b->is_number) return a->is_number ? -1 : 1;
  if (a->is_number && a->value != b->value) return a->value < b->value ? -1 : 1;
  return strcmp(a->text, b->text);
}

bool sr__names_one_number(double value) { return fabs(value) <= 0x1p53 - 1.0; }

static bool are_one_number(const ranked *a, const ranked *b) {
  return a->is_number && b->is_number && a->value == b->value && sr__names_one_number(a->value);
}

/* Equal numbers stand together in the order: each run becomes one name, its shortest. */
static int32_t merge_numbers(const ranked *order, int64_t count, int32_t *rank,
                             const char **texts) {
  int32_t last = -1;
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || !are_one_number(&order[i], &order[i - 1]))
      texts[++last] = order[i].text;
    else if (strlen(order[i].text) < strlen(texts[last]))
      texts[last] = order[i].text;
    rank[order[i].code] = last;
  }
  return last + 1;
}

static sr_status sort_names(sr_context *ctx, const sr__names *names, bool merge, int32_t *rank,
                            sr_dictionary *sorted) {
  sr_status status = SR_OK;
  ranked *order = NULL;
  const char **texts = NULL;
  int32_t kept = (int32_t)names->count;
  *sorted = (sr_dictionary){0, NULL};
  SR_NEW(ctx, order, names->count);
  SR_NEW(ctx, texts, names->count);
  for (int64_t code = 0; code < names->count; code++) {
    ranked *entry = &order[code];
    *entry = (ranked){.text = sr__names_get(names, code), .code = (int32_t)code};
    entry->is_number =
        sr__whole_double(entry->text, sr__names_length(names, code), &entry->value) &&
        entry->value == entry->value;
  }
  qsort(order, (size_t)names->count, sizeof *order, compare_ranked);
  for (int64_t i = 0; i < names->count; i++) {
    rank[order[i].code] = (int32_t)i;
    texts[i] = order[i].text;
  }
  if (merge) kept = merge_numbers(order, names->count, rank, texts);
  SR_TRY(sr__dictionary_copy(ctx, (sr_dictionary){kept, (const char *const *)texts}, sorted));
cleanup:
  sr__free(ctx, texts);
  sr__free(ctx, order);
  return status;
}

sr_status sr__names_sort(sr_context *ctx, const sr__names *names, int32_t *rank,
                         sr_dictionary *sorted) {
  return sort_names(ctx, names, false, rank, sorted);
}

sr_status sr__names_sort_classes(sr_context *ctx, const sr__names *names, int32_t *rank,
                                 sr_dictionary *sorted) {
  return sort_names(ctx, names, true, rank, sorted);
}

sr_status sr__names_dictionary(sr_context *ctx, const sr__names *names, sr_dictionary *dictionary) {
  sr_status status = SR_OK;
  const char **texts = NULL;
  *dictionary = (sr_dictionary){0, NULL};
  SR_NEW(ctx, texts, names->count);
  for (int64_t code = 0; code < names->count; code++) texts[code] = sr__names_get(names, code);
  SR_TRY(sr__dictionary_copy(ctx,
                             (sr_dictionary){(int32_t)names->count, (const char *const *)texts},
                             dictionary));
cleanup:
  sr__free(ctx, texts);
  return status;
}

void sr__names_clear(sr__names *names) {
  if (names->count) memset(names->slot, 0, (size_t)names->slots * sizeof *names->slot);
  names->count = 0;
  names->text_used = 0;
}

void sr__names_free(sr_context *ctx, sr__names *names) {
  sr__free(ctx, names->text);
  sr__free(ctx, names->start);
  sr__free(ctx, names->line);
  sr__free(ctx, names->slot);
  *names = (sr__names){0};
}
