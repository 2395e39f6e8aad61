/* Parsing and printing NAME[:KEY=VALUE,...] for registries. Internal. */
#ifndef SR_CORE_OPTIONS_H
#define SR_CORE_OPTIONS_H

#include <specroute/method.h>

#include "core.h"

/* A method and the values of its options. Texts in them live as long as this. */
typedef struct sr__configuration {
  const sr_method *method;
  void *options; /* the method's own struct; one block with the texts */
} sr__configuration;

/* What a text says of a method of a registry. A zeroed configuration is empty; free it with
 * sr__configuration_free. Errors as sr_method_check. */
SR_MUST_CHECK sr_status sr__configure(sr_context *ctx, const char *kind, sr_method_at at,
                                      const char *text, sr__configuration *configuration);
void sr__configuration_free(const sr_allocator *allocator, sr__configuration *configuration);

/* SR_ERROR_ARGUMENT where a program set a number outside its range, or a choice to no word of it.
 * `what` names the struct in the message. */
SR_MUST_CHECK sr_status sr__options_check(sr_context *ctx, const char *what, const sr_option *list,
                                          const void *options);

/* The method's name and every option that is not at its default, as sr__configure takes it; freed
 * with sr__free. NULL where memory is out. */
char *sr__configuration_text(sr_context *ctx, const sr_method *method, const void *options);

/* Builds the table of a registry from its methods.def, which holds one SR_ENTRY(name) per method
 * and is included twice: #define SR_ENTRY(name) extern const sr__scheme sr__scheme_##name; #include
 * "methods.def" #undef SR_ENTRY An operations table begins with its sr_method (`about`), so that
 * one leads to the other. */

#endif
