// SPDX-License-Identifier: GPL-2.0-only
/* events have a state for a removed PMU */
#include <linux/perf_event.h>

bool probe(const struct perf_event *event);
bool probe(const struct perf_event *event)
{
#ifdef PROBE_OLD
	return event->state == PERF_EVENT_STATE_EXIT;
#else
	return event->state == PERF_EVENT_STATE_REVOKED;
#endif
}
