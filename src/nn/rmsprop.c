#include "nn/rmsprop_kernel.h"

void sr__rmsprop_step(const sr__rmsprop *how, sr__parameters *parameters) {
  /* Tensors begin at multiples of eight floats, and what lies between them is zero in all arrays.
   */
  sr__rmsprop_kernel_now()->update((parameters->count + 7) / 8 * 8, how, parameters->gradient,
                                   parameters->first_moment, parameters->second_moment,
                                   parameters->value);
}
