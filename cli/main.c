#include <stdio.h>

#include <specroute/specroute.h>

int main(void) {
  printf("specroute %s\n", sr_version());
  return 0;
}
