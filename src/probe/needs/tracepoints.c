// SPDX-License-Identifier: GPL-2.0-only
/* it has no tracepoints (CONFIG_TRACEPOINTS), which tell of processes */
#include <linux/tracepoint.h>

#ifndef CONFIG_TRACEPOINTS
#error "no tracepoints"
#endif
