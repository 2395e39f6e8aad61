#ifndef SPECROUTE_REPORT_H
#define SPECROUTE_REPORT_H

#include <specroute/core.h>

#endif
