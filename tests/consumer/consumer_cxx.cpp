#include <specroute/specroute.h>

int main() {
  sr_context *ctx = nullptr;
  sr_status status = sr_context_new(nullptr, &ctx);
  sr_context_free(&ctx);
  return status == SR_OK ? 0 : 1;
}
