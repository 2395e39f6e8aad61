/* specroute: voting ensembles on rows that depend on each other. The only supported include.
 *
 * What holds in every header:
 * - x_free(&x) frees what a call gave, sets x to NULL, takes NULL and needs no context.
 * - x_options_init sets the defaults; options that are NULL mean the same.
 * - What x_get points to lives as long as the object; what x_method and x_option_list point to, as
 *   long as the process. `index` counts the entries of a registry; NULL past the end.
 * - After a status that is not SR_OK outputs are NULL or not to be read, unless a call says more.
 */
#ifndef SPECROUTE_SPECROUTE_H
#define SPECROUTE_SPECROUTE_H

#include <specroute/core.h>
#include <specroute/data.h>
#include <specroute/dependence.h>
#include <specroute/describe.h>
#include <specroute/ensemble.h>
#include <specroute/evaluate.h>
#include <specroute/graph.h>
#include <specroute/method.h>
#include <specroute/partition.h>
#include <specroute/plan.h>
#include <specroute/replay.h>
#include <specroute/report.h>
#include <specroute/simulate.h>
#include <specroute/spectrum.h>
#include <specroute/stats.h>
#include <specroute/structure.h>
#include <specroute/train.h>

#endif
