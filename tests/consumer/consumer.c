/* A program of someone else's: finds the installed library and simulates a table. */
#include <stdio.h>

#include <specroute/specroute.h>

int main(void) {
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  if (sr_context_new(NULL, &ctx) != SR_OK) return 1;
  if (sr_simulate(ctx, "ar1:n=100", 1, 0, &table, NULL) != SR_OK) return 1;
  printf("%lld rows with specroute %s\n", (long long)sr_table_get(table)->rows, sr_version());
  sr_table_free(&table);
  sr_context_free(&ctx);
  return 0;
}
