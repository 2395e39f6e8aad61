/* RMSProp, plain and centered. Internal. */
#ifndef SR_NN_RMSPROP_H
#define SR_NN_RMSPROP_H

#include "nn/nn.h"

/* v = decay v + (1 - decay) g^2 and, where centered, m = decay m + (1 - decay) g;
 * value -= rate g / sqrt(v - m^2 + epsilon). The moments are those of the parameters. */
typedef struct sr__rmsprop {
  float rate, decay, epsilon;
  bool centered;
} sr__rmsprop;

void sr__rmsprop_step(const sr__rmsprop *how, sr__parameters *parameters);

#endif
