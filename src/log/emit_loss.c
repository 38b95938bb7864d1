// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of losses, by cause and CPU, and of the number of samples that each PMC
 * should have had.  Called only by the writer thread.
 */
#include "emit.h"
#include "hwpmc.h"
#include "log.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "trace.h"

static struct pmclog_dropnotify *emit_drop(struct hwpmc_owner *o, u32 pmcid,
					   u32 cpu, u32 cause, u64 tsc)
{
	struct pmclog_dropnotify *d;

	d = hwpmc_emit_reserve(o, PMCLOG_T_DROPNOTIFY, sizeof(*d), tsc);
	d->pmcid = pmcid;
	d->cpu = cpu;
	d->cause = cause;
	return d;
}

static void emit_pmc_drops(struct hwpmc_owner *o, struct pmc_cpu *pc, u64 tsc)
{
	struct pmclog_dropnotify *d;
	unsigned int cause;

	for (cause = 0; cause < PMCLOG_DROP_NCAUSE; cause++) {
		u64 count = pc->seen.dropped[cause] - pc->told[cause];

		if (!count)
			continue;
		d = emit_drop(o, pc->pmc->id, pc->cpu, cause, tsc);
		d->count = count;
		/* the stored first is too old if its handler missed a new @counted */
		d->first = max(pc->seen.first[cause],
			       pc->told_last[cause] + 1);
		d->last = max(pc->seen.last[cause], d->first);
		pc->told_last[cause] = d->last;
		pc->told[cause] += count;
		o->log.acct.drops[cause] += count;
		trace_hwpmc_loss(o, pc->pmc->id, pc->cpu, cause, count);
	}
}

static void emit_proc_drops(struct hwpmc_owner *o, struct owner_ring *or)
{
	u64 count = or->proc_seen.dropped - or->proc_told;
	struct pmclog_dropnotify *d;

	if (!count)
		return;
	d = emit_drop(o, PMCLOG_PMCID_NONE, or->cpu, PMCLOG_DROP_FULL,
		      o->log.told.last_tsc);
	d->count = count;
	d->first = max(or->proc_seen.first, or->proc_told_last + 1);
	d->last = max(or->proc_seen.last, d->first);
	or->proc_told_last = d->last;
	or->proc_told += count;
	o->log.acct.proc_drops += count;
	trace_hwpmc_loss(o, PMCLOG_PMCID_NONE, or->cpu, PMCLOG_DROP_FULL,
			 count);
}

static void emit_noring_drops(struct hwpmc_owner *o)
{
	/* around the reads: room for the notice may take long to get */
	u64 before = ring_clock();
	u64 lost = atomic64_read(&o->noring.dropped);
	u64 count = lost + atomic64_read(&o->noring.beyond_dump) - o->noring.told;
	u64 after = ring_clock();
	struct pmclog_dropnotify *d;

	if (!count)
		return;
	d = emit_drop(o, PMCLOG_PMCID_NONE, 0, PMCLOG_DROP_NORING,
		      o->log.told.last_tsc);
	d->count = count;
	d->first = max(o->log.times.drops_told, o->noring.told_at);
	/* the look may be older than the losses that were counted just now */
	d->last = max(after, d->first);
	o->noring.told_at = before;
	o->noring.told += count;
	o->noring.lost = lost;
	o->log.acct.proc_drops += count;
	trace_hwpmc_loss(o, PMCLOG_PMCID_NONE, PMCLOG_PID_KERNEL,
			 PMCLOG_DROP_NORING, count);
}

/*
 * hwpmc_emit_process_drops - emit the losses of process records that the last look has
 * found, before its samples: a process may be unknown because of them
 */
void hwpmc_emit_process_drops(struct hwpmc_owner *o)
{
	struct owner_ring *or;
	unsigned int cpu;

	for_each_owner_ring(o, cpu, or)
		emit_proc_drops(o, or);
	emit_noring_drops(o);
}

/* hwpmc_emit_drops - emit the losses of samples that the last look has found */
void hwpmc_emit_drops(struct hwpmc_owner *o, u64 tsc)
{
	struct hwpmc_pmc *pmc;
	unsigned int row, cpu;
	struct pmc_cpu *pc;

	for_each_pmc(o, row, pmc) {
		for_each_pmc_cpu(pmc, cpu, pc)
			emit_pmc_drops(o, pc, tsc);
		cond_resched();
	}
	/* a new ring's horizon may be before that of the last look */
	o->log.times.drops_told = max(o->log.times.drops_told, tsc);
}

static struct pmclog_ext_rate *emit_rate(struct hwpmc_owner *o,
					 struct hwpmc_pmc *pmc, u32 cpu,
					 const struct rate_expected *rate,
					 u64 enabled, u64 running)
{
	struct pmclog_ext_rate *r;

	r = hwpmc_emit_ext(o, PMCLOG_EXT_RATE, sizeof(*r), o->log.told.last_tsc);
	r->pmcid = pmc->id;
	r->cpu = cpu;
	if (!(pmc->flags & HWPMC_F_FREQ))
		r->period = READ_ONCE(pmc->period_logged);
	r->expected = READ_ONCE(rate->expected);
	r->enabled = enabled;
	r->running = running;
	return r;
}

/* Threads migrate: their samples are counted by CPU, but their counts are not. */
static void emit_rate_of_threads(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	struct pmclog_ext_rate *r;
	struct pmc_cpu *pc;
	unsigned int cpu;

	r = emit_rate(o, pmc, PMCLOG_CPU_NONE, &pmc->rate,
		      READ_ONCE(pmc->sum.enabled), READ_ONCE(pmc->sum.running));
	for_each_pmc_cpu(pmc, cpu, pc) {
		r->achieved += pc->seen.overflows;
		r->throttled += pc->seen.throttled;
	}
}

/* Requested and achieved samples.  perf does not notify kernel counters of throttling. */
void hwpmc_emit_rates(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	struct pmclog_ext_rate *r;
	struct pmc_cpu *pc;
	unsigned int cpu;

	if (!pmc_is_sampling(pmc))
		return;
	if (!pmc_is_system(pmc)) {
		emit_rate_of_threads(o, pmc);
		return;
	}
	for_each_pmc_cpu(pmc, cpu, pc) {
		r = emit_rate(o, pmc, cpu, &pc->rate, READ_ONCE(pc->enabled),
			      READ_ONCE(pc->running));
		r->achieved = pc->seen.overflows;
		r->throttled = pc->seen.throttled;
	}
}

void hwpmc_emit_all_rates(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_pmc(o, row, pmc)
		if (!pmc->rates_told)
			hwpmc_emit_rates(o, pmc);
}
