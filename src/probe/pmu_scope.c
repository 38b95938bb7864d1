// SPDX-License-Identifier: GPL-2.0-only
/* PMUs say which CPUs they count for */
#include <linux/perf_event.h>

u64 probe(const struct pmu *pmu);
u64 probe(const struct pmu *pmu)
{
#ifdef PROBE_OLD
	return pmu->type;
#else
	return pmu->scope == PERF_PMU_SCOPE_PKG;
#endif
}
