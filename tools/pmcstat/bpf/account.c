/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of a recording by BPF: losses by CPU and cause, rates, the sums. */
#include <linux/perf_event.h>

#include "bpf/clock.h"
#include "bpf/recorder.h"

/* Writes the losses that the log does not have yet.  @first, @last: of all */
static void tell(struct recorder *r, struct pmclog_dropnotify *d,
		 struct told_drops *told, uint64_t count, uint64_t first,
		 uint64_t last)
{
	d->count = count - told->dropped[d->cause];
	if (!d->count)
		return;
	d->first = clock_of_log(first);
	if (d->first <= told->last[d->cause])
		d->first = told->last[d->cause] + 1;
	d->last = clock_of_log(last);
	if (d->last < d->first)
		d->last = d->first;
	told->last[d->cause] = d->last;
	told->dropped[d->cause] = count;
	writer_drop(&r->w, d);
}

static void tell_samples(struct recorder *r, unsigned int cpu, uint32_t row)
{
	size_t at = (size_t)cpu * r->o->ncounters + row;
	const volatile struct sampler_count *n = &r->sampler.count[at];
	struct pmclog_dropnotify d = {
		.pmcid = r->o->counters[row].id, .cpu = cpu,
	};

	for (d.cause = 0; d.cause < PMCLOG_DROP_NCAUSE; d.cause++)
		tell(r, &d, &r->told[at], n->dropped[d.cause],
		     n->first[d.cause], n->last[d.cause]);
}

/* When perf's losses were is known to a pass.  What a dump lacks has no CPU: the first. */
static void tell_processes(struct recorder *r, unsigned int cpu)
{
	const volatile struct sampler_cpu *c = &r->sampler.cpu[cpu];
	struct pmclog_dropnotify d = {
		.pmcid = PMCLOG_PMCID_NONE, .cpu = cpu,
		.cause = PMCLOG_DROP_FULL,
	};
	uint64_t now = clock_mono();
	uint64_t unread = cpu ? 0 : r->procs.unread;

	tell(r, &d, &r->lost[cpu],
	     c->execs_lost + r->sideband.lost[cpu] + unread, now, now);
}

void account_drops(struct recorder *r)
{
	unsigned int cpu;
	uint32_t row;

	for (cpu = 0; cpu < r->ncpu; cpu++) {
		for (row = 0; row < r->o->ncounters; row++)
			tell_samples(r, cpu, row);
		tell_processes(r, cpu);
	}
}

void account_sum(struct recorder *r)
{
	struct pmclog_account *a = &r->account;
	const struct sampler_count *n;
	unsigned int cpu, cause;
	size_t i;

	for (i = 0; i < (size_t)r->ncpu * r->o->ncounters; i++) {
		n = &r->sampler.count[i];
		a->overflows += n->overflows;
		a->committed += n->committed;
		a->filtered += n->filtered;
		for (cause = 0; cause < PMCLOG_DROP_NCAUSE; cause++)
			a->dropped[cause] += n->dropped[cause];
	}
	for (cpu = 0; cpu < r->ncpu; cpu++) {
		a->proc_committed += r->sampler.cpu[cpu].execs;
		a->proc_dropped += r->lost[cpu].dropped[PMCLOG_DROP_FULL];
	}
	a->proc_committed += r->sideband.records;
	a->in_rings = a->committed - r->taken;
}

/* Events that the kernel counts one by one: see hwpmc_event_is_exact() of the module */
static bool is_exact(const struct pmc_event_desc *e)
{
	return e->type == PERF_TYPE_SOFTWARE || e->type == PERF_TYPE_TRACEPOINT ||
	       e->type == PERF_TYPE_BREAKPOINT;
}

/* As src/event/rate.c */
static uint64_t expected(const struct counter *c, const struct pmc_reading *got)
{
	const struct pmc_event_desc *e = &c->event;

	if (c->flags & PMC_F_FREQ)
		return 0;
	if (e->type != PERF_TYPE_SOFTWARE ||
	    (e->config != PERF_COUNT_SW_CPU_CLOCK &&
	     e->config != PERF_COUNT_SW_TASK_CLOCK))
		return is_exact(e) && PMC_IS_VIRTUAL_MODE(c->mode) ?
			       0 : got->value / c->period;
	if (c->flags & PMC_F_EXCLUDE_IDLE ||
	    !!(e->caps & PMC_CAP_USER) != !!(e->caps & PMC_CAP_SYSTEM))
		return 0;
	return got->running / c->period;
}

static void write_rate(struct recorder *r, uint32_t row, uint32_t cpu,
		       size_t first, size_t n, uint64_t achieved)
{
	const struct counter *c = &r->o->counters[row];
	struct pmc_reading got;
	struct pmclog_ext_rate rate = {
		.pmcid = c->id, .cpu = cpu, .achieved = achieved,
		.period = c->flags & PMC_F_FREQ ? 0 : c->period,
	};

	if (events_read(&r->events[row], first, n, &got))
		return;
	rate.expected = expected(c, &got);
	rate.enabled = got.enabled;
	rate.running = got.running;
	writer_rate(&r->w, &rate);
}

static void rates_of(struct recorder *r, uint32_t row)
{
	const struct events *e = &r->events[row];
	const struct sampler_count *n = r->sampler.count + row;
	uint64_t sum = 0;
	unsigned int cpu;
	size_t i;

	if (PMC_IS_SYSTEM_MODE(r->o->counters[row].mode)) {
		for (i = 0; i < e->n; i++) {
			cpu = (unsigned int)e->event[i].cpu;
			write_rate(r, row, cpu, i, 1,
				   n[cpu * r->o->ncounters].overflows);
		}
		return;
	}
	for (cpu = 0; cpu < r->ncpu; cpu++)
		sum += n[cpu * r->o->ncounters].overflows;
	write_rate(r, row, PMCLOG_CPU_NONE, 0, e->n, sum);
}

void account_rates(struct recorder *r)
{
	uint32_t row;

	for (row = 0; row < r->o->ncounters; row++)
		if (PMC_IS_SAMPLING_MODE(r->o->counters[row].mode))
			rates_of(r, row);
}
