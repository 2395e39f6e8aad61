#include <specroute/core.h>

const char *sr_status_name(sr_status status) {
  switch (status) {
#define SR_CASE(name, number, sentence) \
  case name:                            \
    return #name;
    SR_STATUS_MAP(SR_CASE)
#undef SR_CASE
  }
  return "SR_ERROR_UNKNOWN";
}

const char *sr_status_message(sr_status status) {
  switch (status) {
#define SR_CASE(name, number, sentence) \
  case name:                            \
    return sentence;
    SR_STATUS_MAP(SR_CASE)
#undef SR_CASE
  }
  return "unknown status";
}
