/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/clock.h"
#include "bpf/recorder.h"

#define QUEUE_MIN	(512U << 10)
#define CLOCK_INTERVAL	60000000000ULL

/*
 * perf reads the clock of a record some microseconds before the record is in its ring,
 * and tells nobody that it is about to: so long after a moment it is taken for sure
 * that the records until then are there.
 */
#define SIDEBAND_MARGIN	10000000ULL

static void open_rings(struct recorder *r)
{
	u32 size = r->o->ring_size > QUEUE_MIN ? r->o->ring_size : QUEUE_MIN;
	unsigned int cpu;

	if (queues_init(&r->q, 2 * r->ncpu, size))
		die(EX_OSERR, "out of memory");
	if (sideband_open(&r->sideband, r->ncpu))
		die(errno == EACCES || errno == EPERM ? EX_NOPERM : EX_OSERR,
		    "--bpf: cannot follow processes by perf: %s",
		    strerror(errno));
	for (cpu = 0; cpu < r->ncpu; cpu++)
		if (r->sideband.page[cpu] &&
		    sampler_add_ring(&r->sampler, cpu, &r->q, cpu))
			die(EX_OSERR, "--bpf: cannot make a ring of %u bytes: %s",
			    r->o->ring_size, strerror(errno));
}

static void begin_procs(struct recorder *r)
{
	const struct options *o = r->o;
	size_t i;

	r->procs.w = &r->w;
	r->procs.quiet = o->quiet;
	r->procs.pmcid = PMCLOG_PMCID_NONE;
	for (i = 0; i < o->ncounters; i++) {
		const struct counter *c = &o->counters[i];

		r->procs.all |= c->mode == PMC_MODE_SS;
		r->procs.descend |= PMC_IS_VIRTUAL_MODE(c->mode) &&
				    (c->flags & PMC_F_DESCENDANTS);
		if (PMC_IS_VIRTUAL_MODE(c->mode) &&
		    r->procs.pmcid == PMCLOG_PMCID_NONE)
			r->procs.pmcid = c->id;
	}
	if (r->procs.all)
		r->procs.pmcid = PMCLOG_PMCID_NONE;
}

/* perf's records begin before the dump, so that nothing is missing in between. */
void recorder_begin(struct recorder *r, int fd, int other_pid)
{
	uint32_t row;

	r->told = calloc((size_t)r->ncpu * r->o->ncounters, sizeof(*r->told));
	r->lost = calloc(r->ncpu, sizeof(*r->lost));
	if (!r->told || !r->lost || writer_init(&r->w, fd))
		die(EX_OSERR, "out of memory");
	clock_compare();
	sampler_open(&r->sampler, r->o, r->ncpu, other_pid);
	writer_begin(&r->w, getpid());
	r->next_clock = clock_mono() + CLOCK_INTERVAL;
	for (row = 0; row < r->o->ncounters; row++)
		writer_counter(&r->w, &r->o->counters[row], row);
	begin_procs(r);
	open_rings(r);
	if (!r->procs.all)
		return;
	writer_name(&r->w, 0, 0, "swapper", clock_raw());	/* not in /proc */
	follow_dump(&r->procs, 0);
}

static void note_cuts(struct pmclog_account *a, uint32_t flags)
{
	unsigned int cause;

	a->cut += !!(flags & PMCLOG_CC_CUT_ANY);
	for (cause = 0; cause < PMCLOG_CUT_NCAUSE; cause++)
		a->cut_by[cause] += !!(flags & PMCLOG_CC_CUT(cause));
}

static int is_of_kernel(uint64_t pc)
{
	return (int)(pc >> 63);
}

/*
 * A frame pointer that is none may lead to what looks like an address of the kernel: the
 * chain ends before it, as the module's does.  The first user frame is exact, and can be
 * in the kernel's half: vsyscall.
 */
static void end_user_part(struct pmclog_callchain *cc)
{
	uint32_t len = PMCLOG_HEADER_LEN(cc->h.header);
	uint32_t n = (len - (uint32_t)sizeof(*cc)) / 8, i = 1;

	if (!(cc->cpuflags & PMCLOG_CC_USERSPACE))
		while (i < n && is_of_kernel(cc->pc[i]))
			i++;
	while (i < n && !is_of_kernel(cc->pc[i]))
		i++;
	if (i == n)
		return;
	cc->h.header = PMCLOG_HEADER(PMCLOG_T_CALLCHAIN, sizeof(*cc) + 8 * i);
	cc->cpuflags |= PMCLOG_CC_CUT(PMCLOG_CUT_USER);
}

/* hwpmc_merge_run()'s callback: one record, in the order of time */
static void emit(void *arg, unsigned int src, u32 kind, struct ring_stamp *s,
		 u32 len)
{
	uint64_t tsc = clock_of_log(s->tsc);
	struct recorder *r = arg;

	(void)src;
	(void)len;
	switch (kind) {
	case SAMPLER_SAMPLE:
		end_user_part((struct pmclog_callchain *)s);
		periods_sample(r, (struct pmclog_callchain *)s, tsc);
		writer_copy(&r->w, s, tsc, 1);
		note_cuts(&r->account,
			  ((struct pmclog_callchain *)s)->cpuflags);
		r->taken++;
		break;
	case SAMPLER_EXEC:
		follow_exec(&r->procs, (struct sampler_exec *)s, tsc);
		break;
	case SAMPLER_PERF:
		follow_perf(&r->procs, ((struct sideband_record *)s)->perf, tsc);
		break;
	}
}

/* A queue that had no room for everything has all up to its last record. */
static void look(struct recorder *r, uint64_t now, uint64_t margin)
{
	unsigned int cpu;

	for (cpu = 0; cpu < r->ncpu; cpu++) {
		enum take took = sampler_take(&r->sampler, cpu);

		if (took == TAKE_ALL)
			queue_seen(&r->q, cpu, now);
		else if (took == TAKE_FULL)
			hwpmc_merge_look_busy(&r->q.merge.src[cpu]);
		if (sideband_take(&r->sideband, cpu, &r->q, r->ncpu + cpu))
			queue_seen(&r->q, r->ncpu + cpu, now - margin);
		else
			hwpmc_merge_look_busy(&r->q.merge.src[r->ncpu + cpu]);
	}
}

static void tell_lost_execs(struct recorder *r)
{
	uint64_t lost = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < r->ncpu; cpu++)
		lost += r->sampler.cpu[cpu].execs_lost;
	if (lost != r->execs_lost)
		follow_flush(&r->procs);
	r->execs_lost = lost;
}

static uint64_t pass(struct recorder *r, uint64_t margin)
{
	uint64_t now = clock_compare(), n;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	look(r, now, margin);
	n = hwpmc_merge_run(&r->q.merge, hwpmc_merge_horizon(&r->q.merge, now),
			    emit, r);
	tell_lost_execs(r);
	account_drops(r);
	if (now >= r->next_clock) {
		writer_clock(&r->w);
		r->next_clock = now + CLOCK_INTERVAL;
	}
	return n;
}

int recorder_pass(struct recorder *r)
{
	pass(r, SIDEBAND_MARGIN);
	return r->w.err ? -1 : 0;
}

/* Nothing is produced any more: two passes without a record have seen the end. */
void recorder_drain(struct recorder *r)
{
	int idle = 0;

	sideband_stop(&r->sideband);
	while (idle < 2)
		idle = pass(r, 0) ? 0 : idle + 1;
	sideband_settle(&r->sideband);
	account_drops(r);
	follow_flush(&r->procs);
}

void recorder_end(struct recorder *r)
{
	account_rates(r);
	account_sum(r);
	writer_end(&r->w, &r->account);
}

void recorder_free(struct recorder *r)
{
	size_t i, j;

	for (i = 0; i < r->o->ncounters; i++) {
		for (j = 0; j < r->events[i].n; j++)
			sampler_detach(&r->events[i].event[j]);
		events_close(&r->events[i]);
	}
	free(r->events);
	if (r->w.buf) {
		sideband_close(&r->sideband);
		sampler_close(&r->sampler);
		queues_free(&r->q);
		follow_free(&r->procs);
		writer_free(&r->w);
	}
	free(r->told);
	free(r->lost);
	free(r->periods);
}
