/* Plans in words. */
#include "plan.h"

sr_status sr__plan_words(sr_context *ctx, const char *text, char *words, size_t size) {
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration plan = {0};
  snprintf(words, size, "%s", text);
  sr_status status = sr__configure(ctx, "plan", sr_plan_method, text, &plan);
  if (status != SR_OK) return status == SR_ERROR_MEMORY ? status : SR_OK;
  const sr__scheme *scheme = (const sr__scheme *)plan.method;
  const char *given = strchr(text, ':');
  if (scheme->say)
    scheme->say(plan.options, words, size);
  else
    snprintf(words, size, "%s%s%s%s", scheme->about.help, given ? " (" : "", given ? given + 1 : "",
             given ? ")" : "");
  sr__configuration_free(&allocator, &plan);
  return SR_OK;
}
