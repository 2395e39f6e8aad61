/* Simulated witnesses: tables whose dependence and Bayes risk are known.
 *
 * Y = sign(<v, X> + noise), X = mu + xi with |v| = 1, v a random sign pattern over sqrt(d), mu of
 * length delta along v, and xi stationary with variance 1 in each coordinate. Each witness is a law
 * of xi over the rows. It is named by NAME[:KEY=VALUE,...], such as "ar1:n=5000,tmix=50,d=10". */
#ifndef SPECROUTE_SIMULATE_H
#define SPECROUTE_SIMULATE_H

#include <specroute/data.h>
#include <specroute/method.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Draws a table with columns x1..xd and the class y, "-1" or "1".
 *   text        the witness
 *   seed        names v, mu, the process and the noise
 *   replicate   another draw of process and noise for the same v and mu
 *   table       freed with sr_table_free
 *   bayes_risk  may be NULL; the exact Bayes risk under the stationary law
 * Errors: SR_ERROR_NOT_FOUND (name or key), SR_ERROR_ARGUMENT (value), SR_ERROR_MEMORY,
 * SR_ERROR_INTERRUPTED. Cost: O(n d), columns in parallel; the numbers do not depend on threads. */
SR_API SR_MUST_CHECK sr_status sr_simulate(sr_context *ctx, const char *text, uint64_t seed,
                                           uint64_t replicate, sr_table **table,
                                           double *bayes_risk);

/* 2 eta(x) - 1 of each row of a table of this witness and seed: the sign is the Bayes rule, the
 * absolute value the cost of disagreeing with it. `contrast` holds one double per row. Errors as
 * above, and SR_ERROR_ARGUMENT where the table has another number of features. */
SR_API SR_MUST_CHECK sr_status sr_simulate_contrast(sr_context *ctx, const char *text,
                                                    uint64_t seed, const sr_table *table,
                                                    double *contrast);

/* The witnesses in a fixed order; NULL past the last. Lives for ever. */
SR_API const sr_method *sr_simulator_method(int index);

#ifdef __cplusplus
}
#endif
#endif
