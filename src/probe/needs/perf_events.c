// SPDX-License-Identifier: GPL-2.0-only
/* it has no performance events (CONFIG_PERF_EVENTS) */
#include <linux/perf_event.h>

#ifndef CONFIG_PERF_EVENTS
#error "no performance events"
#endif
