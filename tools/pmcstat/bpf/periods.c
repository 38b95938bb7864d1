/* SPDX-License-Identifier: BSD-2-Clause */
/* Periods of PMCs that sample at a rate: as src/log/emit_period.c */
#include <stdlib.h>

#include "bpf/recorder.h"
#include "sample/period.h"

static struct period_logged *last_of(struct recorder *r,
				     const struct pmclog_callchain *cc)
{
	size_t n = r->o->ncounters, row = HWPMC_ID_ROW(cc->pmcid),
	       cpu = PMCLOG_CC_CPU(cc->cpuflags);

	if (!r->periods)
		r->periods = calloc(n * r->ncpu, sizeof(*r->periods));
	if (!r->periods)
		die(EX_OSERR, "out of memory");
	return row < n && cpu < r->ncpu ? &r->periods[cpu * n + row] : NULL;
}

/* The program has left the code of the period in the sample's header. */
void periods_sample(struct recorder *r, struct pmclog_callchain *cc, uint64_t tsc)
{
	uint32_t code = cc->h.spare;
	struct period_logged *last;

	cc->h.spare = 0;
	if (!code)
		return;
	last = last_of(r, cc);
	if (last && period_log(last, period_decode(code), 1))
		writer_period(&r->w, cc->pmcid, PMCLOG_CC_CPU(cc->cpuflags),
			      last->period, tsc);
}
