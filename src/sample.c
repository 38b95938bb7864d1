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

#include "compat.h"
#include "hwpmc.h"

/* Handlers that may interrupt each other; deeper ones drop their sample. */
#define SCRATCH_LEVELS	4

/*
 * A sample is unwound here first, so that exactly its length is reserved.
 * Shared by all owners: the level counts handlers on this CPU.
 */
struct scratch {
	struct pmclog_callchain cc;
	u64 pc[PMCLOG_CHAIN_MAX + CHAIN_SLACK];
};

static struct scratch **scratch;	/* by CPU; SCRATCH_LEVELS each */
static DEFINE_PER_CPU(unsigned int, scratch_level);

int sample_init(void)
{
	unsigned int cpu;

	BUILD_BUG_ON(offsetof(struct scratch, pc) !=
		     sizeof(struct pmclog_callchain));
	scratch = kcalloc(nr_cpu_ids, sizeof(*scratch), GFP_KERNEL);
	if (!scratch)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		scratch[cpu] = kvmalloc_node(SCRATCH_LEVELS *
					     sizeof(struct scratch),
					     GFP_KERNEL, cpu_to_node(cpu));
		if (!scratch[cpu]) {
			sample_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/* No event exists any more. */
void sample_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kvfree(scratch[cpu]);
	kfree(scratch);
}

static void count_drop(struct pmc_cpu *pc, unsigned int cause, u64 now,
		       u32 epoch)
{
	struct pmc_stat *st = &pc->stat;

	local64_inc(&st->dropped[cause]);
	if (st->epoch[cause] != epoch) {
		st->epoch[cause] = epoch;
		WRITE_ONCE(st->first[cause], now);
	}
	WRITE_ONCE(st->last[cause], now);
}

/*
 * Fills the scratch with the sample, but for its stamp.  Returns its length.
 */
static u32 unwind(struct scratch *sc, struct pmc_cpu *pc, struct pt_regs *regs)
{
	const struct hwpmc_pmc *pmc = pc->pmc;
	unsigned int max = param_chain_depth();
	bool user = user_mode(regs), cut = false;
	unsigned int n = 0;

	if (!(pmc->flags & HWPMC_F_CALLCHAIN)) {
		sc->pc[n++] = instruction_pointer(regs);
	} else if (user) {
		n = chain_user(sc->pc, max, regs, &cut);
	} else {
		n = chain_kernel(sc->pc, max, regs, &cut);
		if (pmc->flags & HWPMC_F_USERCALLCHAIN)
			n += chain_user(sc->pc + n, max - n, NULL, &cut);
	}
	if (cut)
		local64_inc(&pc->stat.cut);
	sc->cc.pid = owner_pid_of(pmc->owner, current);
	sc->cc.tid = owner_tid_of(pmc->owner, current);
	sc->cc.pmcid = pmc->id;
	sc->cc.cpuflags = PMCLOG_CC_CPUFLAGS(pc->cpu,
					     user ? PMCLOG_CC_USERSPACE : 0);
	return sizeof(sc->cc) + n * sizeof(u64);
}

static bool commit(struct owner_ring *or, struct scratch *sc, u32 len,
		   u64 *now, unsigned int *cause)
{
	struct ring_stamp *s;
	enum ring_result res;

	s = ring_reserve(&or->ring, len, KIND_SAMPLE,
			 or->ring.size >> HWPMC_RING_KEEP_SHIFT, now, &res);
	if (!s) {
		*cause = res == RING_FULL ? PMCLOG_DROP_FULL :
					    PMCLOG_DROP_CONTENDED;
		return false;
	}
	stamp_header(s, PMCLOG_T_CALLCHAIN, len);
	memcpy(s + 1, &sc->cc.pid, len - sizeof(*s));
	return true;
}

/*
 * The recorder does not record itself, and a counter of user mode that skids
 * into the kernel does not tell where.
 */
static bool unwanted(const struct hwpmc_pmc *pmc, struct pt_regs *regs)
{
	return current == READ_ONCE(pmc->owner->log.task) ||
	       (pmc->attr.exclude_kernel && !user_mode(regs)) ||
	       ((pmc->flags & HWPMC_F_EXCLUDE_IDLE) && is_idle_task(current));
}

static void take_sample(struct owner_ring *or, struct pmc_cpu *pc,
			struct pt_regs *regs)
{
	unsigned int level = this_cpu_inc_return(scratch_level);
	unsigned int cause = PMCLOG_DROP_NESTED;
	struct scratch *sc;
	u64 now;

	if (level <= SCRATCH_LEVELS) {
		sc = &scratch[pc->cpu][level - 1];
		if (commit(or, sc, unwind(sc, pc, regs), &now, &cause)) {
			local64_inc(&pc->stat.committed);
			goto out;
		}
	} else {
		now = ring_clock();
	}
	count_drop(pc, cause, now, READ_ONCE(or->drop_epoch));
out:
	this_cpu_dec(scratch_level);
}

/*
 * hwpmc_overflow - a sampling PMC's event has overflowed
 *
 * The statistics move between ring_enter() and ring_exit(): a quiet look at
 * the ring sees them whole.  An SS PMC runs only with a log, so there is a
 * ring unless its allocation failed when this CPU came online.
 */
void hwpmc_overflow(struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *regs)
{
	struct pmc_cpu *pc = event->overflow_handler_context;
	struct owner_ring *or = READ_ONCE(pc->pmc->owner->rings[pc->cpu]);
	unsigned int depth;

	if (unlikely(!or)) {
		local64_inc(&pc->stat.overflows);
		count_drop(pc, PMCLOG_DROP_NORING, ring_clock(), 1);
		return;
	}
	depth = ring_enter(&or->ring);
	local64_inc(&pc->stat.overflows);
	if (compat_event_throttled(event))
		local64_inc(&pc->stat.throttled);
	if (unwanted(pc->pmc, regs))
		local64_inc(&pc->stat.filtered);
	else
		take_sample(or, pc, regs);
	ring_exit(&or->ring, depth);
	ring_wake_if_needed(or);
}
