// SPDX-License-Identifier: GPL-2.0-only
/* events have a config3 */
#include <linux/perf_event.h>

u64 probe(const struct perf_event_attr *attr);
u64 probe(const struct perf_event_attr *attr)
{
#ifdef PROBE_OLD
	return attr->config2;
#else
	return attr->config3;
#endif
}
