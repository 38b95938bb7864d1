// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps what losses make necessary: each process of which a record was lost, and all
 * processes if it is not known whose record it was.
 *
 * The lists of all CPUs are taken over first, without repetitions, and the processes
 * are looked at in batches.  So what comes into the rings meanwhile is written out
 * once for many of them, and a process that lost many records is logged once.
 * Called only by the writer thread.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "dump.h"
#include "emit.h"
#include "hwpmc.h"
#include "sample/record.h"
#include "target/target.h"

#define PATIENCE	NSEC_PER_SEC	/* with forks, execs and mmap locks */
#define MEMORY_WAIT	NSEC_PER_SEC

/*
 * hwpmc_dump_later - process @nr is to be logged by a later pass
 * @delay: ns
 *
 * False: too many wait.  All processes will be dumped instead.
 */
bool hwpmc_dump_later(struct hwpmc_owner *o, u32 nr, u64 delay)
{
	struct log_lost *l = &o->log.lost;
	struct lost_process *p;

	for (p = l->at; p < l->at + l->n; p++)
		if (p->nr == nr)
			break;
	if (p == l->at + LOST_MAX) {
		l->due = true;
		return false;
	}
	if (p == l->at + l->n) {
		l->n++;
		*p = (struct lost_process){ .nr = nr };
	}
	p->after = delay ? ktime_get_ns() + delay : 0;
	return true;
}

/*
 * Takes over the list of a CPU.  What is listed from now on is looked at by the next
 * pass.  False: it was too long.
 */
static bool take_list(struct hwpmc_owner *o, struct owner_ring *or)
{
	u32 head = smp_load_acquire(&or->lost_head), lost[RING_NLOST], i, n;

	n = head - or->lost_tail;
	for (i = 0; i < n && i < RING_NLOST; i++)
		lost[i] = READ_ONCE(or->lost[(or->lost_tail + i) % RING_NLOST]);
	smp_rmb();	/* the copy is complete if nothing was added */
	/* in a full list the oldest is overwritten before the head moves */
	if (n && (n >= RING_NLOST || READ_ONCE(or->lost_head) != head)) {
		or->lost_tail = READ_ONCE(or->lost_head);
		return false;
	}
	or->lost_tail = head;
	for (i = 0; i < n; i++)
		if (!hwpmc_dump_later(o, lost[i], 0))
			return false;
	return true;
}

static void take_lists(struct hwpmc_owner *o)
{
	struct log_lost *l = &o->log.lost;
	struct owner_ring *or;
	unsigned int cpu;

	l->due |= o->noring.lost != o->noring.seen;
	o->noring.seen = o->noring.lost;
	for_each_possible_cpu(cpu) {
		or = smp_load_acquire(&o->rings[cpu]);
		if (or && !take_list(o, or))
			l->due = true;
	}
}

/* @last: nobody waits for the children: they are dumped when they are targets */
static bool is_forking(struct hwpmc_owner *o, bool last)
{
	struct hwpmc_target *t;
	bool forking = false;

	lockdep_assert_held(&o->targets_mutex);
	list_for_each_entry(t, &o->targets, node) {
		if (!atomic_read(&t->pending))
			continue;
		forking = true;
		if (last)
			t->told_at = o->log.told.attaches;
	}
	return forking && !last;
}

/*
 * May the process be dumped that has the number of which a record was lost?
 * @no_maps: out: the owner does not want its mappings
 *
 * The process that had the number may have ended, and this one may be another
 * user's.  The log of an owner that does not follow all processes names targets only.
 * A target that it may not inspect any more is named: the log has its samples.
 *
 * 0, -ESRCH, or -EAGAIN: the process may be a child of a target, and not a target
 * yet.  The log has such a child from its fork on.  The fork is pending before a
 * record of it can be lost.  -EBUSY: the end of a log that has all processes has
 * begun, and the rings have samples of this one.
 */
static int may_dump(struct hwpmc_owner *o, const struct pid *pid,
		    struct task_struct *task, bool *no_maps, bool last)
{
	struct hwpmc_target *t;
	int err = 0;

	if (READ_ONCE(o->hooks.follow_all))
		return 0;
	if (o->log.told.all)
		return -EBUSY;
	mutex_lock(&o->targets_mutex);
	rcu_read_lock();
	/* none that is gone: the mutex is held */
	t = hwpmc_target_find_rcu(o, pid);
	if (t) {
		*no_maps = !t->sampled;
		t->told_at = o->log.told.attaches;
	}
	rcu_read_unlock();
	if (!t)
		err = atomic_read(&task->signal->live) && is_forking(o, last) ?
		      -EAGAIN : -ESRCH;
	mutex_unlock(&o->targets_mutex);
	return err;
}

/*
 * Looks at process @nr.  SYSEXIT makes readers forget it, then it is logged.  Until
 * then what the log has of it is of use, so all older records come first, also if the
 * process has ended: its samples may still be in the rings.
 *
 * 0: nothing is left to do; -EAGAIN: not at this moment; -ENOMEM.
 */
static int dump_again(struct dump_batch *b, struct hwpmc_owner *o, u32 nr, bool last)
{
	struct task_struct *task = NULL;
	bool no_maps = false;
	struct pid *pid;
	int err;
	u64 tsc;

	rcu_read_lock();
	pid = get_pid(find_pid_ns(nr, o->pid_ns));
	if (pid)
		task = get_pid_task(pid, PIDTYPE_TGID);
	/* before another process can have the number, and be logged by its fork */
	tsc = ring_clock();
	rcu_read_unlock();
	err = task ? may_dump(o, pid, task, &no_maps, last) : -ESRCH;
	if (!err)
		err = hwpmc_dump_batch_again(b, task, nr, no_maps, last);
	if (err == -ESRCH)
		hwpmc_dump_batch_ended(b, nr, tsc);
	if (task)
		put_task_struct(task);
	put_pid(pid);
	return err == -EAGAIN || err == -ENOMEM ? err : 0;
}

/* True: @p stays in the list. */
static bool dump_listed(struct dump_batch *b, struct hwpmc_owner *o,
			struct lost_process *p, u64 now, bool last)
{
	bool over = p->since && now - p->since > PATIENCE;
	int err;

	if (!last && p->after > now)
		return true;
	p->after = 0;
	err = dump_again(b, o, p->nr, last || over);
	if (err == -EAGAIN) {
		p->since = p->since ?: now;
		return true;
	}
	if (err != -ENOMEM || last)
		return false;
	p->since = 0;
	p->after = now + MEMORY_WAIT;
	return true;
}

/* Returns how many were dumped. */
static unsigned int dump_all_listed(struct hwpmc_owner *o, bool last)
{
	struct log_lost *l = &o->log.lost;
	unsigned int i, n = l->n, kept = 0;
	struct dump_batch *b;
	u64 now = ktime_get_ns();

	if (!n)
		return 0;
	b = hwpmc_dump_batch_new(o, !last);
	if (!b) {
		/* their losses are in the log; nothing is lost by a delay */
		for (i = 0; i < n; i++)
			l->at[i].after = now + MEMORY_WAIT;
		return 0;
	}
	/* as in hwpmc_dump_targets(): for forks of the processes meanwhile */
	WRITE_ONCE(o->log.told.attaches, o->log.told.attaches + 1);
	for (i = 0; i < n; i++)
		if (dump_listed(b, o, &l->at[i], now, last))
			l->at[kept++] = l->at[i];
	hwpmc_dump_batch_tell(b);
	smp_store_release(&o->log.told.attaches, o->log.told.attaches + 1);
	hwpmc_dump_batch_free(b);
	l->n = kept;
	return n - kept;
}

/*
 * Dumps all processes, after a loss of which it is not known whose it was.  Where such
 * losses go on, as on a CPU without a ring, dumps take a tenth of the time at most.
 * False: later.
 */
static bool dump_all(struct hwpmc_owner *o, bool last)
{
	struct log_lost *l = &o->log.lost;
	u64 began = ktime_get_ns(), took;

	if (!last && began < l->not_before)
		return false;
	hwpmc_dump_all(o);
	took = ktime_get_ns() - began;
	l->not_before = began + took + max_t(u64, 9 * took, NSEC_PER_SEC);
	return true;
}

/*
 * hwpmc_dump_lost - dump each process again of which a record was lost, and those that
 * were created since the pass before the loss
 * @last: there is no later pass in this log
 */
void hwpmc_dump_lost(struct hwpmc_owner *o, bool last)
{
	struct log_lost *l = &o->log.lost;
	u64 now = ktime_get_ns();
	bool all, any;

	take_lists(o);
	/* before: those that it finds busy come to the list of the next pass */
	all = l->due;
	l->due = false;
	any = dump_all_listed(o, last);
	if (all && !dump_all(o, last))
		l->due = true;
	if (!all && any)
		hwpmc_dump_young(o, l->complete_since);
	if (!l->n && !l->due)
		l->complete_since = now;
}

/* What was lost after the last pass of the log before is not for this one. */
void hwpmc_dump_forget_lost(struct hwpmc_owner *o)
{
	struct log_lost *l = &o->log.lost;
	struct owner_ring *or;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		or = smp_load_acquire(&o->rings[cpu]);
		if (or)
			or->lost_tail = smp_load_acquire(&or->lost_head);
	}
	o->noring.seen = o->noring.lost;
	l->n = 0;
	l->due = false;
	l->not_before = 0;
	l->complete_since = ktime_get_ns();
}
