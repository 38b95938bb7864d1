// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERIOD records: how many events a sample stands for, of a PMC that samples at a
 * rate.  Called only by the writer thread.
 */
#include "emit.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/period.h"
#include "sample/record.h"
#include "sink.h"

/* The thread folds a PMC after its last sample, so this is not NULL. */
static struct pmc_cpu *pmc_cpu_of(struct hwpmc_owner *o,
				  const struct pmclog_callchain *cc)
{
	struct hwpmc_pmc *pmc = smp_load_acquire(&o->pmcs.at[HWPMC_ID_ROW(cc->pmcid)]);

	return pmc && pmc->id == cc->pmcid ?
		       smp_load_acquire(&pmc->cpus[PMCLOG_CC_CPU(cc->cpuflags)]) :
		       NULL;
}

/*
 * hwpmc_emit_period - emit the PERIOD that has to precede a sample
 * @cc:   the sample; @code: its period, see period_code()
 * @room: bytes that the sample needs in the buffer
 *
 * The buffer must not be written out in between.  What follows it must be readable
 * alone in a flight recorder.
 */
void hwpmc_emit_period(struct hwpmc_owner *o, const struct pmclog_callchain *cc,
		       u32 code, u32 room)
{
	struct hwpmc_log *log = &o->log;
	struct pmclog_ext_period *p;
	struct pmc_cpu *pc = pmc_cpu_of(o, cc);
	u64 period = period_decode(code);

	if (log->out.size - log->out.used < sizeof(*p) + room)
		hwpmc_sink_flush(o);
	if (!pc)
		return;
	if (!period_log(&pc->period, period, log->told.epoch))
		return;
	p = hwpmc_emit_ext(o, PMCLOG_EXT_PERIOD, sizeof(*p), cc->h.tsc);
	p->pmcid = cc->pmcid;
	p->cpu = pc->cpu;
	p->period = pc->period.period;
}
