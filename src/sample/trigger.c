// SPDX-License-Identifier: GPL-2.0-only
/*
 * The triggers of an armed snapshot: an overflow, or the end of a process.
 *
 *	function	change of the state
 *	arm		NONE -> ARMED
 *	fire		ARMED -> FIRING, fills in the cause, -> FIRED
 *	disarm		any but FIRING -> NONE; also by the writer thread
 *
 * A second trigger finds nothing armed.  It is ignored and not counted.
 */
#include <linux/processor.h>
#include <linux/sched/signal.h>

#include "hwpmc.h"
#include "pmc/pmc.h"
#include "record.h"
#include "trigger.h"

/* log.lock held, and the state is TRIGGER_NONE */
void hwpmc_trigger_arm(struct trigger *t)
{
	smp_store_release(&t->state, TRIGGER_ARMED);
}

/*
 * Process context.  Spins while a trigger fires: trigger_fire() cannot be
 * delayed.
 */
void hwpmc_trigger_disarm(struct trigger *t)
{
	u32 state;

	for (;;) {
		state = READ_ONCE(t->state);
		if (state == TRIGGER_FIRING)
			cpu_relax();
		else if (cmpxchg(&t->state, state, TRIGGER_NONE) == state)
			break;
	}
}

bool hwpmc_trigger_fired(const struct trigger *t)
{
	return smp_load_acquire(&t->state) == TRIGGER_FIRED;
}

/*
 * Preemption off; any context, also NMI.  The ring's irq_work wakes the thread,
 * because the caller may hold a runqueue lock.
 */
static void trigger_fire(struct hwpmc_owner *o, struct owner_ring *or,
			 const struct trigger *cause)
{
	struct trigger *t = &o->log.snap.trigger;

	if (cmpxchg(&t->state, TRIGGER_ARMED, TRIGGER_FIRING) != TRIGGER_ARMED)
		return;
	t->cause = cause->cause;
	t->pmcid = cause->pmcid;
	t->pid = cause->pid;
	t->status = cause->status;
	t->when = ring_clock();
	smp_store_release(&t->state, TRIGGER_FIRED);
	if (or)		/* otherwise the thread's next pass finds it */
		irq_work_queue(&or->wake);
}

static bool trigger_is_armed(const struct hwpmc_owner *o)
{
	return READ_ONCE(o->log.snap.trigger.state) == TRIGGER_ARMED;
}

/* A PMC with HWPMC_F_TRIGGER has overflowed.  Overflow handler. */
void hwpmc_trigger_overflow(struct owner_ring *or, const struct hwpmc_pmc *pmc)
{
	const struct trigger t = {
		.cause = PMCLOG_SNAPSHOT_PMC,
		.pmcid = pmc->id,
	};

	if (trigger_is_armed(pmc->owner))
		trigger_fire(pmc->owner, or, &t);
}

/* The whole condition in one word, because hooks read it while it may change. */
#define EXIT_WORD(what, status, pid) \
	((u64)(what) << 56 | (u64)(status) << 32 | (u32)(pid))
#define EXIT_WHAT(word)		((u32)((word) >> 56))
#define EXIT_OF_STATUS(word)	((s32)((word) >> 32 & EXIT_STATUS_MAX))
#define EXIT_PID(word)		((u32)(word))
#define EXIT_STATUS_MAX		0xFFFF	/* limit of wait(2) */

/*
 * hwpmc_trigger_exits - EXITTRIGGER, under owner->mutex
 *
 * EINVAL: no such condition, or one that no process can meet.
 */
int hwpmc_trigger_exits(struct hwpmc_owner *o,
			const struct hwpmc_exittrigger *e)
{
	if (e->reserved || e->what > HWPMC_EXIT_STATUS || e->pid < 0 ||
	    e->status < 0 || e->status > EXIT_STATUS_MAX)
		return -EINVAL;
	if ((e->status && e->what != HWPMC_EXIT_STATUS) ||
	    (e->pid && e->what == HWPMC_EXIT_NEVER))
		return -EINVAL;
	WRITE_ONCE(o->hooks.exit_trigger, EXIT_WORD(e->what, e->status, e->pid));
	return 0;
}

/* The status that wait(2) will return.  The last thread is about to end. */
static s32 exit_status(const struct task_struct *p)
{
	/* another thread may be ending the process, too */
	if (data_race(p->signal->flags) & SIGNAL_GROUP_EXIT)
		return READ_ONCE(p->signal->group_exit_code);
	return READ_ONCE(p->group_leader->exit_code);
}

/*
 * The process of @p, which is @pid in the log, has ended.  Tracepoint,
 * preemption off.
 */
void hwpmc_trigger_exit(struct hwpmc_owner *o, struct task_struct *p, u32 pid)
{
	u64 word = READ_ONCE(o->hooks.exit_trigger);
	struct trigger t = {
		.cause = PMCLOG_SNAPSHOT_EXIT,
		.pmcid = PMCLOG_PMCID_NONE,
		.pid = pid,
	};

	if (EXIT_WHAT(word) == HWPMC_EXIT_NEVER || !trigger_is_armed(o) ||
	    (EXIT_PID(word) && EXIT_PID(word) != pid))
		return;
	t.status = exit_status(p);
	if (EXIT_WHAT(word) == HWPMC_EXIT_FAILED ?
	    t.status != 0 : t.status == EXIT_OF_STATUS(word))
		trigger_fire(o, owner_this_ring(o), &t);
}
