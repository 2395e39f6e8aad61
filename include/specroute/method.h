/* Methods that describe themselves: a name, a line of help and typed options.
 *
 * Every registry of the library (plans, learners, graphs, solvers, formats, simulators, ...) shows
 * its entries as sr_method, and every method is named by one grammar: NAME[:KEY=VALUE,...]. One
 * value without a key is the first option ("time:5", "edges:FILE"). The value of a text option runs
 * to the end, so it comes last. */
#ifndef SPECROUTE_METHOD_H
#define SPECROUTE_METHOD_H

#include <specroute/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an option's value is, and its C type in the struct that holds it. */
typedef enum sr_option_type {
  SR_OPTION_INTEGER, /* int64_t */
  SR_OPTION_REAL,    /* double */
  SR_OPTION_FLAG,    /* int, "no" or "yes" */
  SR_OPTION_CHOICE,  /* int, the index of the word in `choices` */
  SR_OPTION_TEXT     /* const char * */
} sr_option_type;

typedef struct sr_option {
  const char *key; /* NULL ends a list */
  sr_option_type type;
  const char *fallback; /* the default as text; NULL (texts only): must be given */
  const char *choices;  /* choices: "gini|entropy" */
  double low, high;     /* numbers: the range, both ends included */
  const char *help;
  size_t offset; /* of the value in the struct of options */
} sr_option;

/* An option under the name of its field, or (_AT) a field of a struct inside under a key of its
 * own. */
#define SR_INTEGER_AT(type, field, key, fallback, low, high, help) \
  { key, SR_OPTION_INTEGER, fallback, NULL, low, high, help, offsetof(type, field) }
#define SR_REAL_AT(type, field, key, fallback, low, high, help) \
  { key, SR_OPTION_REAL, fallback, NULL, low, high, help, offsetof(type, field) }
#define SR_FLAG_AT(type, field, key, fallback, help) \
  { key, SR_OPTION_FLAG, fallback, "no|yes", 0, 0, help, offsetof(type, field) }
#define SR_CHOICE_AT(type, field, key, fallback, choices, help) \
  { key, SR_OPTION_CHOICE, fallback, choices, 0, 0, help, offsetof(type, field) }
#define SR_TEXT_AT(type, field, key, fallback, help) \
  { key, SR_OPTION_TEXT, fallback, NULL, 0, 0, help, offsetof(type, field) }
#define SR_INTEGER(type, field, ...) SR_INTEGER_AT(type, field, #field, __VA_ARGS__)
#define SR_REAL(type, field, ...) SR_REAL_AT(type, field, #field, __VA_ARGS__)
#define SR_FLAG(type, field, ...) SR_FLAG_AT(type, field, #field, __VA_ARGS__)
#define SR_CHOICE(type, field, ...) SR_CHOICE_AT(type, field, #field, __VA_ARGS__)
#define SR_TEXT(type, field, ...) SR_TEXT_AT(type, field, #field, __VA_ARGS__)
#define SR_OPTIONS_END \
  { NULL, SR_OPTION_INTEGER, NULL, NULL, 0, 0, NULL, 0 }

typedef struct sr_method {
  const char *name, *help;
  const sr_option *options; /* NULL: none */
  size_t options_size;      /* of the struct that holds their values */
  const char *missing;      /* what this build lacks for it; NULL: nothing */
} sr_method;

/* A registry shows its methods in a fixed order; NULL past the end. */
typedef const sr_method *(*sr_method_at)(int index);

/* Sets one of a `list` of options in its struct by the text of its value (not copied). `what` names
 * the struct in messages. Errors: SR_ERROR_NOT_FOUND (no such key; the nearest is suggested),
 * SR_ERROR_ARGUMENT (not a value of that type or outside its range). */
SR_API SR_MUST_CHECK sr_status sr_options_set(sr_context *ctx, const char *what,
                                              const sr_option *list, void *options, const char *key,
                                              const char *value);
/* Sets every option of a list to its default; a text without a default becomes NULL. */
SR_API void sr_options_init(const sr_option *list, void *options);
/* The value of an option as sr_options_set takes it, cut to `size` bytes with the end mark. */
SR_API void sr_option_print(const sr_option *option, const void *options, char *text, size_t size);

/* Checks that `text` names a method of a registry with options that it has, of the right type and
 * range, before any work is done; *method (may be NULL) is then the entry that `at` shows, a
 * constant. `kind` names the registry in messages ("plan"). Errors: SR_ERROR_NOT_FOUND (name or
 * key), SR_ERROR_ARGUMENT (value), SR_ERROR_UNSUPPORTED (not in this build), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_method_check(sr_context *ctx, const char *kind, sr_method_at at,
                                               const char *text, const sr_method **method);
/* Splits a list "a,b:x=1,y=2,c" into methods: an item KEY=VALUE belongs to the one before it. Gives
 * how many there are; the first `most` are put into start and length. */
SR_API int32_t sr_methods_split(const char *list, int32_t most, const char **start, size_t *length);

/* 1 where `known` is near enough to the mistyped `word` to be suggested and nearer than *distance,
 * which then becomes its distance. Start with INT_MAX and keep the last word that gave 1. */
SR_API int sr_suggest(const char *word, const char *known, int *distance);

#ifdef __cplusplus
}
#endif
#endif
