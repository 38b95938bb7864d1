// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps many processes: reads a batch of them, then logs the batch in time order.
 *
 * All older records must be logged before a process is.  One pass over the rings per
 * batch is sufficient.  A pass per process would also write the records that have
 * arrived meanwhile; under overload, these are full rings each time.  Called only by
 * the writer thread.
 */
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "dump.h"
#include "emit.h"
#include "hwpmc.h"
#include "process_list.h"
#include "sample/record.h"

#define BATCH_PROCESSES	32
#define BATCH_MAPS	1024	/* each may hold a file */

/**
 * struct dump_batch - processes that have been read
 * @owner: constant
 * @n: processes in @d
 * @nmaps: the mappings of all
 * @waited: see struct dump; for all batches of a dump
 * @d: in order of time; arrays are kept for the next batch
 */
struct dump_batch {
	struct hwpmc_owner *owner;
	unsigned int	n, nmaps;
	u64		waited;
	struct dump	d[BATCH_PROCESSES];
};

/*
 * @brief: waits for one mmap lock at most, because there is a later pass
 *
 * NULL without memory.
 */
struct dump_batch *hwpmc_dump_batch_new(struct hwpmc_owner *o, bool brief)
{
	struct dump_batch *b = kzalloc(sizeof(*b), HWPMC_GFP);

	if (!b)
		return NULL;
	b->owner = o;
	b->waited = brief ? DUMP_PATIENCE - 1 : 0;
	return b;
}

void hwpmc_dump_batch_free(struct dump_batch *b)
{
	unsigned int i;

	for (i = 0; i < BATCH_PROCESSES; i++)
		hwpmc_dump_free(&b->d[i]);
	kfree(b);
}

/*
 * Logs the batch.  The caller may free its dump_targets then.  A dump may be of millions
 * of mappings, so it is not left to the next pass to keep to the user's share of CPU.
 */
void hwpmc_dump_batch_tell(struct dump_batch *b)
{
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		hwpmc_drain_upto(b->owner, b->d[i].tsc);
		hwpmc_dump_tell(&b->d[i], b->owner);
	}
	b->n = 0;
	b->nmaps = 0;
	hwpmc_drain_give_way(b->owner, false);
}

/*
 * If the mmap lock is not free, at least the names are logged.  The mappings follow
 * within about a second, or are counted as lost by dump_lost.c.  A process without names is
 * reported as a loss, because samples may come before the next attempt.
 */
static bool look_or_report(struct dump *d, struct hwpmc_owner *o,
			   struct task_struct *leader)
{
	bool good = hwpmc_dump_look(d, o, leader), busy;

	if (good)
		return true;
	busy = d->no_lock;
	if (busy)
		good = hwpmc_dump_look_at_names(d, o, leader);
	if (!good)
		hwpmc_dump_process_failed(o, d);
	if (busy || !good)
		hwpmc_dump_later(o, d->pid, d->no_memory ? DUMP_PATIENCE : 0,
				 good && !d->no_maps);
	if (!good)
		hwpmc_dump_drop(d);
	return good;
}

/* Adds @d, the next entry of the batch, which has been read. */
static void batch_keep(struct dump_batch *b, const struct dump *d)
{
	b->n++;
	b->nmaps += d->nmaps;
	if (b->n == BATCH_PROCESSES || b->nmaps >= BATCH_MAPS)
		hwpmc_dump_batch_tell(b);
}

/* Has another process than that of @leader the pid?  After an exec it may have another leader. */
static bool has_new_process(const struct hwpmc_owner *o, u32 nr, struct task_struct *leader)
{
	struct task_struct *task;
	bool new;

	rcu_read_lock();
	task = pid_task(find_pid_ns(nr, o->pid_ns), PIDTYPE_TGID);
	new = task && task->signal != leader->signal;
	rcu_read_unlock();
	return new;
}

/*
 * Has the process @nr that was read ended meanwhile?  Its exit hook may have passed before
 * it was read, so that nothing would end it in the log.
 *
 * False: it is about to end, and the caller looks again later.
 */
static bool batch_check(struct dump_batch *b, struct task_struct *leader, u32 nr)
{
	u64 tsc;

	/* it had been waited for before it was read */
	if (nr == PMCLOG_PID_KERNEL)
		return true;
	if (!hwpmc_dump_has_ended(b->owner, leader))
		return !hwpmc_dump_is_ending(b->owner, leader);
	/* a process that gets the pid after the look has a later stamp */
	tsc = ring_clock();
	if (!has_new_process(b->owner, nr, leader))
		hwpmc_dump_batch_ended(b, nr, tsc);
	return true;
}

/*
 * hwpmc_dump_batch_add - read the process of @leader, and add it to the batch
 * @dt: selects what is logged of a target; stays until hwpmc_dump_batch_tell().
 *	NULL: everything is logged
 */
void hwpmc_dump_batch_add(struct dump_batch *b, struct task_struct *leader,
			  const struct dump_target *dt)
{
	struct dump *d = &b->d[b->n];
	u32 pid;

	/* waited for already; one that is not may still run the last part of its exit */
	if (owner_pid_of(b->owner, leader) == PMCLOG_PID_KERNEL)
		return;
	d->target = dt;
	d->no_maps = dt && !dt->maps;
	d->no_names = dt && !dt->names;
	d->again = false;
	d->waited = b->waited;
	if (look_or_report(d, b->owner, leader)) {
		b->waited = d->waited;
		pid = d->pid;
		batch_keep(b, d);
		if (!dt && !batch_check(b, leader, pid))
			hwpmc_dump_end_later(b->owner, pid);
	} else {
		b->waited = d->waited;
	}
}

/*
 * Reads a process of which a record was lost.  -EAGAIN: its mmap lock is not free, or
 * it is in an exec, which logs the new image itself when it ends.  -ENOMEM.  -EBUSY:
 * it cannot be read.  -ESRCH: only SYSEXIT can be logged.
 * @counted: out: the log counts what it lacks as lost
 */
static int look_again(struct dump *d, struct hwpmc_owner *o,
		      struct task_struct *leader, bool last, bool *counted)
{
	if (hwpmc_dump_look(d, o, leader))
		return 0;
	if (d->no_memory && !last)
		return -ENOMEM;
	if ((d->in_exec || d->no_lock) && !last)
		return -EAGAIN;
	hwpmc_dump_process_failed(o, d);
	*counted = true;
	if (!d->no_lock)
		return -EBUSY;
	/* the lost record may be an exec: log no mappings rather than old ones */
	return hwpmc_dump_look_at_names(d, o, leader) ? 0 : -ESRCH;
}

/*
 * hwpmc_dump_batch_again - read a process of which a record was lost
 * @last: there is no later attempt
 * @told: out: its mappings are read, not wanted, or counted as lost
 *
 * 0, or see look_again().  1: it is read, and about to end.
 */
int hwpmc_dump_batch_again(struct dump_batch *b, struct task_struct *leader, u32 nr,
			   bool no_maps, bool last, bool *told)
{
	struct dump *d = &b->d[b->n];
	int err;

	d->target = NULL;
	d->no_maps = no_maps;
	d->no_names = false;
	d->again = true;
	d->waited = b->waited;
	err = look_again(d, b->owner, leader, last, told);
	b->waited = d->waited;
	d->pid = nr;
	/* a process that ends has no mappings any more; those that are hidden are counted */
	*told |= no_maps || d->nmaps || d->hidden;
	if (err) {
		hwpmc_dump_drop(d);
		return err;
	}
	batch_keep(b, d);
	return !batch_check(b, leader, nr);
}

/* hwpmc_dump_batch_ended - process @nr has ended before @tsc: log its SYSEXIT */
void hwpmc_dump_batch_ended(struct dump_batch *b, u32 nr, u64 tsc)
{
	struct dump *d = &b->d[b->n];

	d->target = NULL;
	d->pid = nr;
	d->tsc = tsc;
	d->again = true;
	batch_keep(b, d);
}

/* As hwpmc_dump_look_at_exe() */
struct file *hwpmc_dump_batch_exe(struct dump_batch *b, struct task_struct *leader)
{
	return hwpmc_dump_look_at_exe(b->owner, leader, &b->waited);
}
