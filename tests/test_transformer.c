/* The transformer's gradients against PyTorch, and what attention in blocks promises. */
#include "sequence_kit.h"

static void gradients_are_those_of_pytorch_in_double(void **state) {
  (void)state;
  kit_check_gradients("transformer");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_those_of_pytorch_in_double),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
