// SPDX-License-Identifier: BSD-2-Clause
/* Rules of pmclog verify for PMCs that sample at a rate. */
#include <inttypes.h>

#include <linux/hwpmc.h>

#include "commands/verify/verify.h"

const char *verify_period(struct verify *v, const struct pmclog_rec *rec,
			  uint32_t flags)
{
	uint32_t cpu = REC32(rec, ext_period, cpu);

	if (!(flags & HWPMC_F_FREQ))
		return verify_fault(v, "PERIOD of PMC 0x%" PRIx32
				    ", which does not sample at a rate",
				    REC32(rec, ext_period, pmcid));
	if (v->ncpu && cpu >= v->ncpu)
		return verify_fault(v, "PERIOD of CPU %" PRIu32
				    ", but there are %" PRIu32, cpu, v->ncpu);
	if (!REC64(rec, ext_period, period))
		return "PERIOD of 0 events";
	periods_record(&v->periods, rec);
	return NULL;
}

const char *verify_weight(struct verify *v, const struct pmclog_rec *rec,
			  uint32_t flags)
{
	uint32_t pmcid = REC32(rec, callchain, pmcid);
	uint32_t cpu = PMCLOG_CC_CPU(REC32(rec, callchain, cpuflags));

	if (!(flags & HWPMC_F_FREQ) || periods_of(&v->periods, pmcid, cpu))
		return NULL;
	return verify_fault(v, "sample of PMC 0x%" PRIx32 " on CPU %" PRIu32
			    " without a PERIOD before it", pmcid, cpu);
}
