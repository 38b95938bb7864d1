// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a counter's overflow to a committed sample.
 *
 * Everything below runs in the overflow handler: NMI, IRQ or process context
 * with preemption off, possibly with a runqueue lock held.  It takes no lock,
 * allocates nothing, never faults, and each loop is bounded.
 */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/ptrace.h>

#include "chain_frame.h"
#include "compat.h"
#include "hwpmc.h"
#include "period.h"
#include "pmc/pmc.h"
#include "record.h"
#include "sample.h"
#include "unwind/unwind.h"

/*
 * Nesting depth of handlers that interrupt each other; deeper ones drop their
 * sample.
 */
#define SCRATCH_LEVELS	4

/*
 * A chain is unwound into this memory first, so that the ring reserves exactly
 * its length.  Shared by all owners; the level counts the handlers on this CPU.
 */
struct scratch {
	struct chain_cache *cache;	/* see chain_cache.c; may be NULL */
	struct rule_cache *rules;	/* see chain_tables.c; may be NULL */
	u64 pc[PMCLOG_CHAIN_MAX + CHAIN_SLACK];
};

static struct scratch **scratch;	/* by CPU; SCRATCH_LEVELS each */
static DEFINE_PER_CPU(unsigned int, scratch_level);

static struct scratch *scratch_new(unsigned int cpu)
{
	struct scratch *sc;

	sc = kvzalloc_node(SCRATCH_LEVELS * sizeof(*sc), GFP_KERNEL,
			   cpu_to_node(cpu));
	/*
	 * only the first level has caches: nested handlers without locks would
	 * tear entries
	 */
	if (sc)
		sc->cache = hwpmc_chain_cache_new(cpu_to_node(cpu));
	if (sc)
		sc->rules = hwpmc_chain_tables_new_cache(cpu_to_node(cpu));
	return sc;
}

int hwpmc_sample_init(void)
{
	unsigned int cpu;
	scratch = kcalloc(nr_cpu_ids, sizeof(*scratch), GFP_KERNEL);
	if (!scratch)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		scratch[cpu] = scratch_new(cpu);
		if (!scratch[cpu]) {
			hwpmc_sample_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/* No event exists any more. */
void hwpmc_sample_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (scratch[cpu]) {
			hwpmc_chain_cache_free(scratch[cpu]->cache);
			kvfree(scratch[cpu]->rules);
		}
		kvfree(scratch[cpu]);
	}
	kfree(scratch);
}

/*
 * Counts a drop.  The window of a PMC's losses begins again with the first drop
 * that the writer thread has not counted yet.  Any context.  Atomic, because
 * perf may have moved the event to another CPU than @pc's.
 */
static void count_drop(struct pmc_cpu *pc, unsigned int cause, u64 now)
{
	struct pmc_stat *st = &pc->stat;
	u64 last = READ_ONCE(st->last[cause]);

	/* a handler that has interrupted this one may have counted a later drop */
	if (atomic64_read(&st->dropped[cause]) == READ_ONCE(pc->counted[cause]) ||
	    now < READ_ONCE(st->first[cause]))
		WRITE_ONCE(st->first[cause], now);
	while (last < now && !try_cmpxchg64(&st->last[cause], &last, now))
		;
	atomic64_inc(&st->dropped[cause]);
}

/*
 * Is @pc in the caller of tracepoint probes?  Such a @pc does not show where
 * the event occurred.
 */
static bool is_tracepoint_caller(const struct hwpmc_pmc *pmc, u64 pc)
{
	return pc - pmc->caller < pmc->caller_size;
}

static unsigned int user_part(struct scratch *sc, const struct pmc_cpu *pc,
				u64 *to, unsigned int max,
				struct pt_regs *regs, unsigned int *end)
{
	if (pc->pmc->flags & HWPMC_F_UNWIND)
		return hwpmc_chain_tables_walk(pc->pmc->owner->unwinder,
					       sc->rules, to, max, regs, end);
	return hwpmc_chain_user_walk(to, max, regs, end);
}

/*
 * A sample of user mode whose address was replaced: the address, and the callers of
 * the place where the task has left user mode.  That place is in the registers that
 * the task has entered the kernel with, whether the interrupt was that entry or came
 * later.  It may be in another function than the address, if the task has called or
 * left one between the two moments.  The callers are those of that function then; perf
 * has the same chain.
 *
 * The task may have changed between the two moments: a kernel thread has no callers.
 */
static unsigned int replaced_user_part(struct scratch *sc,
				       const struct pmc_cpu *pc,
				       unsigned int max, struct pt_regs *regs,
				       unsigned int *end)
{
	unsigned int n = 0;

	if (hwpmc_chain_user_is_known(regs))
		n = user_part(sc, pc, sc->pc, max, NULL, end);
	sc->pc[0] = user_pc(regs);
	if (n)
		return n;
	*end |= CUT(USER);
	return 1;
}

/*
 * Does current have the address space of an image that is being loaded?  Its code is
 * noted at the end of the exec, when the new stack is there.
 */
static bool is_loading_an_image(void)
{
	const struct mm_struct *mm = current->mm;

	return data_race(!!current->in_execve) && mm && !data_race(mm->start_code);
}

/*
 * The user part of a sample of the kernel.  While an image is loaded the old stack is
 * gone, and the new one is not there yet: nothing is missing.
 * @regs: of the kernel
 */
static unsigned int entered_user_part(struct scratch *sc,
				      const struct pmc_cpu *pc, u64 *to,
				      unsigned int max, struct pt_regs *regs,
				      unsigned int *end)
{
	const unsigned int before = *end;
	unsigned int n;

	if (!hwpmc_chain_user_is_known(regs)) {
		*end |= CUT(USER);
		return 0;
	}
	n = user_part(sc, pc, to, max, NULL, end);
	if (likely(!(*end & CUT(USER))) || !is_loading_an_image())
		return n;
	*end = before;
	return 0;
}

/*
 * Unwinds the call chain of a sample of @pc.  Returns its length; @end: see
 * CUT().
 */
static unsigned int sample_unwind(struct scratch *sc, struct pmc_cpu *pc,
				  struct pt_regs *regs, unsigned int *end)
{
	unsigned int max = hwpmc_param_chain_depth();
	unsigned int n;

	*end = 0;
	if (user_mode(regs))
		return hwpmc_sample_ip_is_replaced(regs) ?
			       replaced_user_part(sc, pc, max, regs, end) :
			       user_part(sc, pc, sc->pc, max, regs, end);
	n = hwpmc_chain_kernel_walk(sc->pc, max, regs, sc->cache, end);
	if (n > 1 && is_tracepoint_caller(pc->pmc, sc->pc[0]))
		memmove(sc->pc, sc->pc + 1, --n * sizeof(*sc->pc));
	/* nothing can follow a kernel part that was cut by the depth */
	if ((pc->pmc->flags & HWPMC_F_USERCALLCHAIN) && !(*end & CUT(DEPTH)))
		n += entered_user_part(sc, pc, sc->pc + n, max - n, regs, end);
	return n;
}

/* Counts the cuts of a committed sample.  Its user part may be deferred. */
static void count_end(struct pmc_stat *st, u32 flags)
{
	unsigned int cause;

	if (flags & PMCLOG_CC_USERLATE)
		local64_inc(&st->late);
	if (!(flags & PMCLOG_CC_CUT_ANY))
		return;
	local64_inc(&st->cut);
	for (cause = 0; cause < PMCLOG_CUT_NCAUSE; cause++)
		if (flags & PMCLOG_CC_CUT(cause))
			local64_inc(&st->cut_by[cause]);
}

static u32 place_flags(struct pt_regs *regs)
{
	return user_mode(regs) ? PMCLOG_CC_USERSPACE : 0;
}

/*
 * What perf passes of an overflow.
 * @data:   for a PMC whose samples have more than a chain, else NULL
 * @period: code of the period that is over, for a PMC that samples at a rate, else 0
 * @flags:  of the sample, PMCLOG_CC_*; set once its chain is known
 */
struct overflow {
	const struct perf_sample_data *data;
	u32 period;
	u32 flags;
};

/* Flags of a PMC whose samples have more than a chain */
#define HAS_MORE	(HWPMC_F_RAW | HWPMC_F_OF_PMU)

/* What follows a sample in the ring; @room: bytes; 0: nothing */
struct more {
	u32 kind;
	u32 room;
};

static struct more more_of(const struct hwpmc_pmc *pmc,
			   const struct perf_sample_data *data)
{
	const struct perf_raw_record *raw;
	struct more m = { KIND_SAMPLE, 0 };

	if (pmc->flags & HWPMC_F_OF_PMU) {
		m.room = hwpmc_detail_room(pmc, data);
		m.kind = m.room ? KIND_SAMPLE_DETAIL : KIND_SAMPLE;
		return m;
	}
	raw = compat_raw(data);
	if (raw) {
		m.kind = KIND_SAMPLE_RAW;
		m.room = hwpmc_raw_room(raw);
	}
	return m;
}

static void more_fill(void *to, struct more m, const struct hwpmc_pmc *pmc,
		      const struct perf_sample_data *data)
{
	if (m.kind == KIND_SAMPLE_RAW)
		hwpmc_raw_fill(to, compat_raw(data));
	else
		hwpmc_detail_fill(to, pmc, data, m.room);
}

/* Inline, so that a sample without more does not pay for it. */
static __always_inline bool commit_with(struct owner_ring *or, struct pmc_cpu *pc,
					const struct overflow *v, const u64 *chain,
					unsigned int n, struct more more)
{
	const u32 len = sizeof(struct pmclog_callchain) + n * sizeof(u64);
	const struct hwpmc_pmc *pmc = pc->pmc;
	const u32 pid = owner_pid_of(pmc->owner, current);
	const u32 tid = owner_tid_of(pmc->owner, current);
	struct pmclog_callchain *cc;
	enum ring_result res;
	struct ring_stamp *s;
	u64 now;

	s = ring_reserve(&or->ring, len + more.room, more.kind,
			 or->ring.size >> HWPMC_RING_KEEP_SHIFT, &now, &res);
	if (unlikely(!s)) {
		count_drop(pc, res == RING_FULL ? PMCLOG_DROP_FULL :
						  PMCLOG_DROP_CONTENDED, now);
		return false;
	}
	stamp_header(s, PMCLOG_T_CALLCHAIN, len);
	s->spare = v->period;
	cc = (struct pmclog_callchain *)s;
	cc->pid = pid;
	cc->tid = tid;
	cc->pmcid = pmc->id;
	cc->cpuflags = PMCLOG_CC_CPUFLAGS(pc->cpu, v->flags);
	copy_words((u64 *)(cc + 1), chain, n);
	if (more.room)
		more_fill(&cc->pc[n], more, pmc, v->data);
	local64_inc(&pc->stat.committed);
	return true;
}

static noinline bool commit_more(struct owner_ring *or, struct pmc_cpu *pc,
				 const struct overflow *v, const u64 *chain,
				 unsigned int n)
{
	return commit_with(or, pc, v, chain, n, more_of(pc->pmc, v->data));
}

/* Counts the sample, too.  Returns false if it was lost. */
static bool sample_commit(struct owner_ring *or, struct pmc_cpu *pc,
			  const struct overflow *v, const u64 *chain,
			  unsigned int n)
{
	const struct more none = { KIND_SAMPLE, 0 };

	if (unlikely(v->data))
		return commit_more(or, pc, v, chain, n);
	return commit_with(or, pc, v, chain, n, none);
}

/* A system-wide PMC leaves out its opener without HWPMC_F_INCLUDE_OWNER. */
static bool is_own_doing(const struct hwpmc_pmc *pmc)
{
	return pmc->mode == HWPMC_MODE_SS &&
	       !(pmc->flags & HWPMC_F_INCLUDE_OWNER) &&
	       /* cleared if the parent reaps current while it still runs */
	       data_race(task_tgid(current)) == pmc->owner->opener;
}

/* RECORD has not started all counters yet, or is stopping them. */
static bool is_too_soon(const struct hwpmc_pmc *pmc)
{
	return READ_ONCE(pmc->gated) && !READ_ONCE(pmc->owner->gate_open);
}

/*
 * The writer thread is not sampled.  A user-mode counter that skids into the
 * kernel has no useful address.
 */
static __always_inline bool sample_is_unwanted(const struct hwpmc_pmc *pmc,
					       struct pt_regs *regs)
{
	return current == READ_ONCE(pmc->owner->log.task) ||
	       (pmc->attr.exclude_kernel && !user_mode(regs)) ||
	       ((pmc->flags & HWPMC_F_EXCLUDE_IDLE) &&
		data_race(is_idle_task(current))) ||
	       is_own_doing(pmc) || is_too_soon(pmc) ||
	       (rcu_access_pointer(pmc->filter) &&
		hwpmc_filter_refuses(pmc, regs));
}

/* The scratch memory of this handler's level, or NULL if too deep. */
static struct scratch *scratch_get(int cpu)
{
	unsigned int level = this_cpu_inc_return(scratch_level);

	return level <= SCRATCH_LEVELS ? &scratch[cpu][level - 1] : NULL;
}

static void scratch_put(void)
{
	this_cpu_dec(scratch_level);
}

/* @chain: as far as it is known */
static bool ask_for_later(const struct pmc_cpu *pc, const u64 *chain,
			  struct pt_regs *regs)
{
	const bool user = user_mode(regs);
	const bool own = user && !hwpmc_sample_ip_is_replaced(regs);

	if (!own && !hwpmc_chain_user_is_known(regs))
		return false;
	return hwpmc_chain_deferred_ask(pc->pmc, own ? regs : NULL,
					user ? chain : NULL);
}

static void take_chain(struct owner_ring *or, struct pmc_cpu *pc,
		       struct overflow *v, struct pt_regs *regs)
{
	struct scratch *sc = scratch_get(pc->cpu);
	unsigned int end, n;

	if (!sc) {
		count_drop(pc, PMCLOG_DROP_NESTED, ring_clock());
		goto out;
	}
	n = sample_unwind(sc, pc, regs, &end);
	if (!(pc->pmc->flags & HWPMC_F_CALLCHAIN)) {	/* only the first pc */
		n = 1;
		end = 0;
	}
	if (unlikely(end & CUT(USER)) && ask_for_later(pc, sc->pc, regs))
		end = (end & ~CUT(USER)) | PMCLOG_CC_USERLATE;
	v->flags = place_flags(regs) | end;
	if (sample_commit(or, pc, v, sc->pc, n) &&
	    unlikely(end & (PMCLOG_CC_CUT_ANY | PMCLOG_CC_USERLATE)))
		count_end(&pc->stat, end);
out:
	scratch_put();
}

static void take_place(struct owner_ring *or, struct pmc_cpu *pc,
		       struct overflow *v, struct pt_regs *regs)
{
	u64 ip = user_mode(regs) ? user_pc(regs) : instruction_pointer(regs);

	v->flags = place_flags(regs);
	sample_commit(or, pc, v, &ip, 1);
}

static void sample_take(struct owner_ring *or, struct pmc_cpu *pc,
			struct overflow *v, struct pt_regs *regs)
{
	if ((pc->pmc->flags & HWPMC_F_CALLCHAIN) ||
	    is_tracepoint_caller(pc->pmc, instruction_pointer(regs)))
		take_chain(or, pc, v, regs);
	else
		take_place(or, pc, v, regs);
	if (unlikely(pc->pmc->flags & HWPMC_F_TRIGGER))
		hwpmc_trigger_overflow(or, pc->pmc);
}

/* perf takes no sample of the clock in some mode, or when the CPU is idle. */
static bool clock_is_partial(const struct perf_event_attr *attr)
{
	return attr->exclude_user || attr->exclude_kernel || attr->exclude_idle;
}

/*
 * The time since the last overflow of a clock.  Its timer may come late, and begins
 * again when the period changes, so this is not the period.  perf has brought the count
 * up to date.  It uses the stamp only of events whose period it chooses.
 *
 * The count goes on where perf takes no sample: such a clock's sample stands for the
 * time since the timer last expired, which is a period.
 *
 * The first period of a thread begins anywhere: its sample stands for a whole one, as
 * threads that ended before their first sample are to be counted, too.
 */
static u64 clock_over(struct perf_event *event)
{
	const u64 now = (u64)local64_read(&event->count);
	const u64 then = event->hw.freq_count_stamp;

	event->hw.freq_count_stamp = now;
	if (clock_is_partial(&event->attr))
		return event->hw.sample_period;
	return then ? now - then : max_t(u64, now, event->hw.sample_period);
}

/*
 * The events since the last overflow of an event that the kernel counts itself.  For these
 * perf tells the period that begins, not the one that is over: of a thread that ends soon
 * the last sample would stand for many more events than the thread had.  What a thread has
 * after its last sample is in no sample.  perf does not use their prev_count;
 * begin_anywhere() sets where it begins.
 *
 * An overflow in an interrupt in between has taken all events, and so has an earlier one of
 * the same event: this one has none, and stands for one.
 */
static u64 events_over(struct perf_event *event)
{
	const u64 then = (u64)local64_read(&event->hw.prev_count);
	const u64 now = (u64)local64_read(&event->count);

	if ((u64)local64_cmpxchg(&event->hw.prev_count, then, now) != then)
		return 0;
	return now - then;
}

static u64 period_over(const struct hwpmc_pmc *pmc, struct perf_event *event,
		       const struct perf_sample_data *data)
{
	if (attr_is_clock(&pmc->attr))
		return clock_over(event);
	return attr_is_exact(&pmc->attr) ? events_over(event) : data->period;
}

/*
 * The code of what the sample stands for, of a PMC that samples at a rate.  The next thread
 * on this CPU begins with the period that perf tells.  Not with the one that perf has just
 * chosen: after the first samples of a thread that is far too long.
 */
static u32 take_period(struct pmc_cpu *pc, struct perf_event *event,
		       const struct perf_sample_data *data)
{
	WRITE_ONCE(pc->last_period, data->period);
	return period_code(period_over(pc->pmc, event, data));
}

/*
 * perf has moved the event to another CPU, or the ring of this one could not be
 * allocated.  Not counted in overflows: hwpmc_stats_read_count() adds it.
 */
static noinline void drop_without_ring(struct pmc_cpu *pc, struct pt_regs *regs)
{
	count_drop(pc, PMCLOG_DROP_NORING, ring_clock());
	if ((pc->pmc->flags & HWPMC_F_TRIGGER) && !sample_is_unwanted(pc->pmc, regs))
		hwpmc_trigger_overflow(NULL, pc->pmc);
}

static void count_cost(struct owner_ring *or, u64 began)
{
	local64_add(ring_clock() - began, &or->cost.handlers);
	local64_inc(&or->cost.samples);
}

/*
 * The statistics change between ring_enter() and ring_exit() only.  If
 * hwpmc_merge_look_holds() finds that no handler ran meanwhile, the reader has seen all
 * changes of each handler.  A sampling PMC runs only with a log, so there is a ring unless
 * its allocation failed when this CPU came online.  perf may move an event to another CPU.
 * A handler there must not write to this CPU's ring, so its samples are dropped as if
 * there were no ring.
 */
static void sample_overflow(struct pmc_cpu *pc, struct perf_event *event,
			    const struct perf_sample_data *data,
			    struct pt_regs *regs)
{
	const struct hwpmc_owner *o = pc->pmc->owner;
	const u64 began = unlikely(READ_ONCE(o->budget.ppm)) ? ring_clock() : 0;
	struct owner_ring *or = READ_ONCE(o->rings[pc->cpu]);
	struct overflow v = { 0 };
	u64 entered;

	/* also of a sample that is lost: its time is not the next one's */
	if (pc->pmc->flags & HWPMC_F_FREQ)
		v.period = take_period(pc, event, data);
	if (unlikely(!or || pc->cpu != smp_processor_id())) {
		drop_without_ring(pc, regs);
		return;
	}
	entered = ring_enter(&or->ring);
	local64_inc(&pc->stat.overflows);
	if (compat_event_throttled(event))
		local64_inc(&pc->stat.throttled);
	if (unlikely(pc->pmc->flags & HAS_MORE))
		v.data = data;
	if (sample_is_unwanted(pc->pmc, regs))
		local64_inc(&pc->stat.filtered);
	else
		sample_take(or, pc, &v, regs);
	ring_exit(&or->ring, entered);
	hwpmc_record_wake_writer(or);
	if (unlikely(began))
		count_cost(or, began);
}

/* hwpmc_overflow - overflow handler of an event of a CPU */
void hwpmc_overflow(struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *regs)
{
	sample_overflow(event->overflow_handler_context, event, data, regs);
}

/* hwpmc_overflow_thread - overflow handler of an event of a thread */
void hwpmc_overflow_thread(struct perf_event *event,
			   struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	struct hwpmc_pmc *pmc = event->overflow_handler_context;

	sample_overflow(pmc->cpus[smp_processor_id()], event, data, regs);
}
