/* One training step of the sequence nets, timed on request, so that nn_peers.py can take turns:
 *   bench_nn KIND LENGTH BATCH    reads lines "run K" and prints the processor seconds of a step
 * each bench_nn product              rate of the matrix product at the sizes of the nets, GF/s */
#include <stdlib.h>

#include "bench.h"
#include "learner/sequence/net.h"

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(sr_context *ctx) {
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  return 1;
}

static sr__net *made_net(sr_context *ctx, const char *kind, int64_t length) {
  sr__net *net = NULL;
  const sr__net_shape shape = {.channels = 1,
                               .classes = 2,
                               .longest = length,
                               .width = 64,
                               .blocks = 2,
                               .heads = 4,
                               .feed_forward = 128,
                               .stride = length >= 300 ? 4 : 2};
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_LEARNER, 0, 0);
  if (sr__net_new(ctx, strcmp(kind, "mamba") == 0 ? &sr__mamba_body : &sr__transformer_body, &shape,
                  length, true, &net) != SR_OK)
    return NULL;
  sr__net_initialize(net, &random);
  return net;
}

/* Forward with dropout, loss, backward, clipping, AdamW. */
static void step(sr__net *net, sr__adam *adam, int64_t length, int64_t batch, const float *x,
                 uint32_t key) {
  sr__parameters_clear_gradient(&net->parameters);
  sr__net_pack(net);
  for (int64_t i = 0; i < batch; i++) {
    const uint32_t own = sr__nn_dropout_key(key, (uint32_t)i);
    sr__net_forward(net, length, x + i * length, 0.1f, own);
    (void)sr__nn_cross_entropy(2, net->score, (int32_t)(i % 2), 1.0f / (float)batch, net->dscore);
    sr__net_backward(net, length, 0.1f, own);
  }
  sr__net_finish_gradient(net);
  sr__adam_step(adam, &net->parameters);
}

static int serve(sr_context *ctx, const char *kind, int64_t length, int64_t batch) {
  sr__net *net = made_net(ctx, kind, length);
  float *x = malloc(sizeof(float) * (size_t)(batch * length));
  if (!net || !x) return fail(ctx);
  sr__random random;
  sr__random_init(&random, 2, SR_PURPOSE_LEARNER, 0, 0);
  for (int64_t i = 0; i < batch * length; i++) x[i] = (float)sr__random_normal(&random);
  sr__adam adam = {1e-4f, 0.9f, 0.99f, 1e-8f, 0.05f, 1.0f, 0, 0};
  char line[64];
  int steps;
  uint32_t key = 0;
  while (fgets(line, sizeof line, stdin) && sscanf(line, "run %d", &steps) == 1) {
    double start = processor_seconds();
    for (int i = 0; i < steps; i++) step(net, &adam, length, batch, x, key++);
    printf("%.9f %.1f\n", (processor_seconds() - start) / steps, bench_peak_mb());
    fflush(stdout);
  }
  free(x);
  sr__net_free(&net);
  return 0;
}

static int product_rates(void) {
  static const struct {
    const char *name;
    int64_t rows, columns, inner, a_row, a_inner, b_row;
  } shape[] = {
      {"q k v", 63, 192, 64, 64, 1, 0},          {"q k v, weights", 64, 192, 63, 1, 64, 192},
      {"q k v, back", 63, 64, 192, 192, 1, 0},   {"Mamba in", 63, 256, 64, 64, 1, 0},
      {"scores", 63, 64, 16, 192, 1, 0},         {"weights x values", 63, 16, 63, 64, 1, 0},
      {"convolution 2", 250, 32, 112, 32, 1, 0}, {"convolution 3", 63, 64, 224, 128, 1, 0},
      {"convolution 1", 500, 16, 9, 1, 1, 0}};
  enum { FLOATS = 1 << 18 };
  float *a = calloc(FLOATS, sizeof *a), *b = calloc(FLOATS, sizeof *b), *c = calloc(FLOATS, 4);
  for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
    const sr__product p = {.rows = shape[k].rows,
                           .columns = shape[k].columns,
                           .inner = shape[k].inner,
                           .a = a,
                           .a_row = shape[k].a_row,
                           .a_inner = shape[k].a_inner,
                           .b = b,
                           .b_row = shape[k].b_row,
                           .c = c,
                           .c_row = shape[k].columns,
                           .add = shape[k].a_inner != 1};
    const double flops = 2.0 * (double)(p.rows * p.columns * p.inner);
    const int times = (int)(5e7 / flops);
    double best = 0;
    for (int r = 0; r < 7; r++) {
      double start = processor_seconds();
      for (int i = 0; i < times; i++) sr__nn_product(&p);
      double rate = times * flops * 1e-9 / (processor_seconds() - start);
      if (rate > best) best = rate;
    }
    printf("{\"bench\": \"nn\", \"case\": \"product %s\", \"gflops\": %.1f}\n", shape[k].name,
           best);
  }
  free(a), free(b), free(c);
  return 0;
}

int main(int argc, char **argv) {
  sr_context *ctx = NULL;
  if (sr_context_new(NULL, &ctx) != SR_OK) return 1;
  int code = 2;
  if (argc == 2 && strcmp(argv[1], "product") == 0)
    code = product_rates();
  else if (argc == 4)
    code = serve(ctx, argv[1], atoll(argv[2]), atoll(argv[3]));
  else
    fputs("bench_nn transformer|mamba LENGTH BATCH, or bench_nn product\n", stderr);
  sr_context_free(&ctx);
  return code;
}
