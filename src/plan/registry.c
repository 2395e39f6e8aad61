#include "plan.h"

static const sr__scheme *const schemes[] = {
    &sr__scheme_uniform,      &sr__scheme_uniform_nm, &sr__scheme_lag_thin, &sr__scheme_tmix_thin,
    &sr__scheme_stationary,   &sr__scheme_circular,   &sr__scheme_moving,   &sr__scheme_burn_in,
    &sr__scheme_oracle_block, &sr__scheme_auto_block, &sr__scheme_spectral, &sr__scheme_routed,
    &sr__scheme_bags,
};

const sr__scheme *sr__scheme_at(int index) {
  int count = (int)(sizeof schemes / sizeof *schemes);
  return index >= 0 && index < count ? schemes[index] : NULL;
}

const sr_method_info *sr_plan_scheme(int index) {
  const sr__scheme *scheme = sr__scheme_at(index);
  return scheme ? &scheme->info : NULL;
}

sr_status sr__scheme_find(sr_context *ctx, const char *name, const sr__scheme **scheme) {
  char known[256] = "";
  size_t used = 0;
  for (int i = 0; (*scheme = sr__scheme_at(i)); i++) {
    if (name && strcmp(name, (*scheme)->info.name) == 0) return SR_OK;
    int written =
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", (*scheme)->info.name);
    if (written > 0 && used + (size_t)written < sizeof known) used += (size_t)written;
  }
  return sr__fail(ctx, SR_ERROR_NOT_FOUND, "there is no plan named '%s'; known plans: %s",
                  name ? name : "", known);
}
