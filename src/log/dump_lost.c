// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps processes again after losses: each process of which a record was lost, and
 * all processes if the process of a lost record is not known.
 *
 * First the lists of all CPUs are merged, without duplicates.  Then the processes are
 * read in batches.  So records that arrive meanwhile are written once per batch, and a
 * process that has lost many records is logged once.  Called only by the writer thread.
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
#define END_PATIENCE	(10 * NSEC_PER_SEC)	/* with the end of a process */
#define MEMORY_WAIT	NSEC_PER_SEC

static struct lost_process *find_lost(struct log_lost *l, u32 nr)
{
	struct lost_process *p;

	for (p = l->at; p < l->at + l->n; p++)
		if (p->nr == nr)
			return p;
	return NULL;
}

/* One whose end alone is waited for, and nothing else is owed to; or NULL */
static struct lost_process *find_ending(struct log_lost *l)
{
	struct lost_process *p;

	for (p = l->at; p < l->at + l->n; p++)
		if (p->ends && !p->owed)
			return p;
	return NULL;
}

/* Gives up one of which only the end is missing, if need be.  NULL: the list is full. */
static struct lost_process *add_lost(struct log_lost *l, u32 nr)
{
	struct lost_process *p = l->n < LOST_MAX ? &l->at[l->n++] : find_ending(l);

	if (p)
		*p = (struct lost_process){ .nr = nr };
	return p;
}

/*
 * hwpmc_dump_later - process @nr is to be logged by a later pass
 * @delay: ns
 * @owed: see struct lost_process
 *
 * False: the list is full.  All processes will be dumped instead.
 */
bool hwpmc_dump_later(struct hwpmc_owner *o, u32 nr, u64 delay, bool owed)
{
	struct log_lost *l = &o->log.lost;
	struct lost_process *p = find_lost(l, nr) ?: add_lost(l, nr);

	if (!p) {
		l->due = true;
		if (owed)
			hwpmc_dump_count_loss(o);
		return false;
	}
	p->after = delay ? ktime_get_ns() + delay : 0;
	p->owed |= owed;
	if (p->ends)
		p->since = 0;
	p->ends = false;
	return true;
}

/*
 * hwpmc_dump_end_later - process @nr has been logged, and may have passed its exit hook
 *
 * Nothing of it is lost.  Without room the log has no end of it.
 */
void hwpmc_dump_end_later(struct hwpmc_owner *o, u32 nr)
{
	struct log_lost *l = &o->log.lost;

	if (!find_lost(l, nr) && l->n < LOST_MAX)
		add_lost(l, nr)->ends = true;
}

/* All but those of which only the end is waited for */
static unsigned int lost_count(const struct log_lost *l)
{
	unsigned int i, n = 0;

	for (i = 0; i < l->n; i++)
		n += !l->at[i].ends;
	return n;
}

/*
 * Takes over the list of a CPU.  The next pass handles entries that are added from
 * now on.  False: the list has overflowed.
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
		if (!hwpmc_dump_later(o, lost[i], 0, false))
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
	for_each_owner_ring(o, cpu, or)
		if (!take_list(o, or))
			l->due = true;
}

/* @last: there is no later attempt: the children are dumped when they become targets */
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
 * May @task, which has the pid of a lost record, be dumped?
 * @no_maps: out: the owner does not want its mappings
 *
 * The process that had the pid may have ended, and @task may be another user's
 * process.  If the owner does not follow all processes, its log names targets only.
 * It also names a target that the owner may not inspect any more, because the log has
 * its samples.
 *
 * Returns 0 or -ESRCH.  -EAGAIN: @task may be a child of a target, and not a
 * target yet.  The log has such a child from its fork on, and the fork is pending
 * before a record of the child can be lost.  -EBUSY: the log has all processes,
 * its end has begun, and the rings may have samples of @task.
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
	/* the target is not gone, because the mutex is held */
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
 * Reads the process of @p.  SYSEXIT makes readers forget the process, then its state is
 * logged again.  Samples that are still in the rings need the state that readers
 * have, so all older records are logged first, even if the process has ended.
 *
 * @waited: ns since the first attempt
 * @told: out: the log has its mappings, needs none, or counts them as lost
 *
 * 0: nothing is left to do.  -EAGAIN: try again later.  -ENOMEM.
 */
static int dump_again(struct dump_batch *b, struct hwpmc_owner *o, struct lost_process *p,
		      bool last, u64 waited, bool *told)
{
	bool no_maps = false, over = last || waited > PATIENCE, ended;
	struct task_struct *task = NULL;
	struct pid *pid;
	int err;
	u64 tsc;

	rcu_read_lock();
	pid = get_pid(find_pid_ns(p->nr, o->pid_ns));
	if (pid)
		task = get_pid_task(pid, PIDTYPE_TGID);
	ended = !task || hwpmc_dump_has_ended(o, task);
	/* before another process can get the pid and log its fork */
	tsc = ring_clock();
	rcu_read_unlock();
	if (ended)
		err = -ESRCH;
	else if (p->ends)
		err = !last && waited < END_PATIENCE &&
		      hwpmc_dump_is_ending(o, task) ? -EAGAIN : -EBUSY;
	else
		err = may_dump(o, pid, task, &no_maps, over);
	if (!err)
		err = hwpmc_dump_batch_again(b, task, p->nr, no_maps, over, told);
	if (err > 0) {
		p->ends = true;
		p->since = 0;
		err = -EAGAIN;
	}
	if (err == -ESRCH)
		hwpmc_dump_batch_ended(b, p->nr, tsc);
	if (task)
		put_task_struct(task);
	put_pid(pid);
	return err == -EAGAIN || err == -ENOMEM ? err : 0;
}

/* True: @p stays in the list. */
static bool dump_listed(struct dump_batch *b, struct hwpmc_owner *o,
			struct lost_process *p, u64 now, bool last)
{
	u64 waited = p->since ? now - p->since : 0;
	bool told = false;
	int err;

	if (!last && p->after > now)
		return true;
	p->after = 0;
	err = dump_again(b, o, p, last, waited, &told);
	p->owed &= !told;
	if (err == -EAGAIN && !last) {
		p->since = p->since ?: now;
		return true;
	}
	if (err != -ENOMEM || last) {
		if (p->owed)
			hwpmc_dump_count_loss(o);
		return false;
	}
	p->since = 0;
	p->after = now + MEMORY_WAIT;
	return true;
}

/* Returns how many were dumped, or have begun to end. */
static unsigned int dump_all_listed(struct hwpmc_owner *o, bool last)
{
	struct log_lost *l = &o->log.lost;
	unsigned int i, n = l->n, kept = 0, lost = lost_count(l);
	struct dump_batch *b;
	u64 now = ktime_get_ns();

	if (!n)
		return 0;
	b = hwpmc_dump_batch_new(o, !last);
	if (!b) {
		/* their losses are in the log; nothing is lost by a delay */
		for (i = 0; i < n; i++) {
			l->at[i].after = now + MEMORY_WAIT;
			if (last && l->at[i].owed)
				hwpmc_dump_count_loss(o);
			l->at[i].owed &= !last;
		}
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
	return lost - lost_count(l);
}

/*
 * Dumps all processes, because the process of a lost record is not known.  If such
 * losses continue, as on a CPU without a ring, dumps take at most a tenth of the time.
 * False: it is too early for a dump.
 */
static bool dump_all(struct hwpmc_owner *o, bool last)
{
	struct log_lost *l = &o->log.lost;
	u64 began = ktime_get_ns(), gave = o->log.pace.gave, now, took;

	if (!last && began < l->not_before)
		return false;
	hwpmc_dump_all(o);
	now = ktime_get_ns();
	took = now - began - (o->log.pace.gave - gave);
	l->not_before = now + max_t(u64, 9 * took, NSEC_PER_SEC);
	return true;
}

/*
 * hwpmc_dump_lost - dump again each process of which a record was lost, and those that
 * were created since the pass before the loss
 * @last: there is no later pass in this log
 */
void hwpmc_dump_lost(struct hwpmc_owner *o, bool last)
{
	struct log_lost *l = &o->log.lost;
	u64 now = ktime_get_ns();
	bool all, any;

	take_lists(o);
	/* first: dump_all() adds the processes that it finds busy for the next pass */
	all = l->due;
	l->due = false;
	any = dump_all_listed(o, last);
	if (all && !dump_all(o, last))
		l->due = true;
	if (!all && any)
		hwpmc_dump_young(o, l->complete_since);
	if (!lost_count(l) && !l->due)
		l->complete_since = now;
}

/* Losses after the last pass of the previous log are not for this log. */
void hwpmc_dump_forget_lost(struct hwpmc_owner *o)
{
	struct log_lost *l = &o->log.lost;
	struct owner_ring *or;
	unsigned int cpu;

	for_each_owner_ring(o, cpu, or)
		or->lost_tail = smp_load_acquire(&or->lost_head);
	o->noring.seen = o->noring.lost;
	l->n = 0;
	l->due = false;
	l->not_before = 0;
	l->complete_since = ktime_get_ns();
}
