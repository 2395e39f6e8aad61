/* specroute: voting ensembles on rows that depend on each other. The only supported include. */
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
