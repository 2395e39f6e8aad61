#ifndef SPECROUTE_STATS_H
#define SPECROUTE_STATS_H

#include <specroute/core.h>

#endif
