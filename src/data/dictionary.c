#include "dictionary.h"

#include <math.h>
#include <stdlib.h>

#include "names.h"
#include "parse_number.h"

/* The array of names and its characters in one allocation, so that one release frees both. */
sr_status sr__copy_names(sr_context *ctx, const char *const *names, int64_t count,
                         const char *const **copy) {
  size_t bytes = (size_t)count * sizeof(char *);
  for (int64_t i = 0; i < count; i++) bytes += strlen(names[i]) + 1;
  char **pointers = sr__alloc(ctx, (int64_t)bytes, 1);
  if (!pointers) return SR_ERROR_MEMORY;
  char *text = (char *)(pointers + count);
  for (int64_t i = 0; i < count; i++) {
    size_t length = strlen(names[i]) + 1;
    pointers[i] = memcpy(text, names[i], length);
    text += length;
  }
  *copy = (const char *const *)pointers;
  return SR_OK;
}

sr_status sr__dictionary_copy(sr_context *ctx, sr_dictionary from, sr_dictionary *to) {
  *to = (sr_dictionary){0, NULL};
  if (from.count == 0) return SR_OK;
  sr_status status = sr__copy_names(ctx, from.names, from.count, &to->names);
  if (status == SR_OK) to->count = from.count;
  return status;
}

void sr__dictionary_free(const sr_allocator *allocator, sr_dictionary *dictionary) {
  sr__release(allocator, (void *)(uintptr_t)dictionary->names);
  *dictionary = (sr_dictionary){0, NULL};
}

void sr__dictionary_save(sr_dictionary dictionary, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)dictionary.count);
  for (int32_t c = 0; c < dictionary.count; c++) sr__put_string(bytes, dictionary.names[c]);
}

sr_status sr__dictionary_load(sr__byte_reader *reader, sr_dictionary *dictionary) {
  sr_status status = SR_OK;
  int64_t count = sr__get_count(reader, sizeof(uint64_t));
  char **names = NULL;
  *dictionary = (sr_dictionary){0, NULL};
  if (count > INT32_MAX) sr__get_refuse(reader, "a dictionary is too long");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, names, count);
  for (int64_t c = 0; c < count && reader->status == SR_OK; c++) names[c] = sr__get_string(reader);
  SR_TRY(reader->status);
  SR_TRY(sr__dictionary_copy(reader->ctx,
                             (sr_dictionary){(int32_t)count, (const char *const *)names},
                             dictionary));
cleanup:
  for (int64_t c = 0; names && c < count; c++) sr__free(reader->ctx, names[c]);
  sr__free(reader->ctx, names);
  return status;
}

bool sr__dictionary_equal(sr_dictionary a, sr_dictionary b) {
  if (a.count != b.count) return false;
  for (int32_t c = 0; c < a.count; c++) {
    if (strcmp(a.names[c], b.names[c]) != 0) return false;
  }
  return true;
}

typedef struct named_code {
  const char *name;
  int32_t code;
} named_code;

static int by_name(const void *a, const void *b) {
  return strcmp(((const named_code *)a)->name, ((const named_code *)b)->name);
}

sr_status sr__dictionary_match(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                               int32_t **code) {
  sr_status status = SR_OK;
  named_code *sorted = NULL;
  *code = NULL;
  SR_NEW(ctx, sorted, known.count);
  SR_NEW(ctx, *code, given.count);
  for (int32_t c = 0; c < known.count; c++) sorted[c] = (named_code){known.names[c], c};
  if (known.count) qsort(sorted, (size_t)known.count, sizeof *sorted, by_name);
  for (int32_t c = 0; c < given.count; c++) {
    named_code wanted = {given.names[c], 0};
    const named_code *found =
        known.count ? bsearch(&wanted, sorted, (size_t)known.count, sizeof *sorted, by_name) : NULL;
    (*code)[c] = found ? found->code : -1;
  }
cleanup:
  sr__free(ctx, sorted);
  return status;
}

typedef struct valued_code {
  double value;
  int32_t code;
} valued_code;

static int by_value(const void *left, const void *right) {
  const valued_code *a = left, *b = right;
  if (a->value != b->value) return a->value < b->value ? -1 : 1;
  return (a->code > b->code) - (a->code < b->code);
}

static bool number_of(const char *name, double *value) {
  return sr__whole_double(name, strlen(name), value) && sr__names_one_number(*value);
}

/* Names that were not found as they are written are found by their value; `alone`: only where one
 * known name has it. */
static sr_status match_numbers(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                               bool alone, int32_t *code) {
  sr_status status = SR_OK;
  valued_code *sorted = NULL;
  int32_t count = 0;
  SR_NEW(ctx, sorted, known.count);
  for (int32_t k = 0; k < known.count; k++) {
    double value;
    if (number_of(known.names[k], &value)) sorted[count++] = (valued_code){value, k};
  }
  if (count) qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  for (int32_t g = 0; g < given.count; g++) {
    double wanted;
    int32_t low = 0, high = count;
    if (code[g] >= 0 || !number_of(given.names[g], &wanted)) continue;
    while (low < high) {
      int32_t middle = low + (high - low) / 2;
      if (sorted[middle].value < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == count || sorted[low].value != wanted) continue;
    bool several = low + 1 < count && sorted[low + 1].value == wanted;
    if (!alone || !several) code[g] = sorted[low].code;
  }
cleanup:
  sr__free(ctx, sorted);
  return status;
}

sr_status sr__classes_match(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                            int32_t **code) {
  sr_status status = sr__dictionary_match(ctx, known, given, code);
  return status == SR_OK ? match_numbers(ctx, known, given, false, *code) : status;
}

sr_status sr__categories_match(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                               int32_t **code) {
  sr_status status = sr__dictionary_match(ctx, known, given, code);
  return status == SR_OK ? match_numbers(ctx, known, given, true, *code) : status;
}

sr_dictionary sr__categories_of(const sr_table_view *view, int64_t j) {
  return view->categories ? view->categories[j] : (sr_dictionary){0, NULL};
}

sr_status sr__check_feature_count(sr_context *ctx, const sr_table_view *view, int64_t features) {
  if (view->features == features) return SR_OK;
  return sr__fail(ctx, SR_ERROR_DATA,
                  "the table has %lld features, the model was trained on %lld; give the same "
                  "columns in the same order",
                  (long long)view->features, (long long)features);
}

sr_status sr__feature_match(sr_context *ctx, const sr_table_view *view, int64_t feature,
                            sr_dictionary known, int32_t **code) {
  sr_dictionary given = sr__categories_of(view, feature);
  *code = NULL;
  if ((given.count > 0) != (known.count > 0))
    return sr__fail(ctx, SR_ERROR_DATA,
                    "feature %lld (%s) is %s here and was %s in training; give the same columns",
                    (long long)feature + 1,
                    view->feature_names ? view->feature_names[feature] : "unnamed",
                    given.count > 0 ? "text" : "numeric", given.count > 0 ? "numeric" : "text");
  return known.count > 0 ? sr__dictionary_match(ctx, known, given, code) : SR_OK;
}
