// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps many processes: looks at some of them, then logs these in order of time.
 *
 * All older records have to be in the log before a process is.  One look at the rings
 * is enough for that for all of a batch; one for each process would write out, with
 * each, what came into the rings meanwhile, which in overload is all that they hold.
 * Called only by the writer thread.
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
 * struct dump_batch - processes that have been looked at
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

/* NULL without memory, which is reported in the log. */
struct dump_batch *hwpmc_dump_batch_new(struct hwpmc_owner *o)
{
	struct dump_batch *b = kzalloc(sizeof(*b), DUMP_GFP);

	if (b)
		b->owner = o;
	else
		hwpmc_dump_failed(o);
	return b;
}

void hwpmc_dump_batch_free(struct dump_batch *b)
{
	unsigned int i;

	for (i = 0; i < BATCH_PROCESSES; i++)
		hwpmc_dump_free(&b->d[i]);
	kfree(b);
}

/* Logs what has been looked at; dump_targets that were given may go then. */
void hwpmc_dump_batch_tell(struct dump_batch *b)
{
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		hwpmc_drain_upto(b->owner, b->d[i].tsc);
		hwpmc_dump_tell(&b->d[i], b->owner);
	}
	b->n = 0;
	b->nmaps = 0;
}

/*
 * Where the mmap lock is not free, the samples have names at least; the mappings
 * follow, or are reported as lost, within about a second.
 */
static bool look_or_report(struct dump *d, struct hwpmc_owner *o,
			   struct task_struct *leader)
{
	bool good = hwpmc_dump_look(d, o, leader);
	bool later = !good && (d->in_exec || d->no_lock);

	if (!good && d->no_lock)
		good = hwpmc_dump_look_at_names(d, o, leader);
	if (later) {
		preempt_disable();
		hwpmc_record_later(o, d->pid);
		preempt_enable();
	} else if (!good) {
		hwpmc_dump_process_failed(o, d, d->no_memory);
	}
	if (!good)
		hwpmc_dump_drop(d);
	return good;
}

/*
 * hwpmc_dump_batch_add - look at the process of @leader, to be logged
 * @dt: it is a target; stays until hwpmc_dump_batch_tell(); NULL: all is logged
 */
void hwpmc_dump_batch_add(struct dump_batch *b, struct task_struct *leader,
			  const struct dump_target *dt)
{
	struct dump *d = &b->d[b->n];

	if (owner_pid_of(b->owner, leader) == PMCLOG_PID_KERNEL)
		return;
	d->target = dt;
	d->no_maps = dt && !dt->maps;
	d->no_names = dt && !dt->names;
	d->waited = b->waited;
	if (look_or_report(d, b->owner, leader)) {
		b->n++;
		b->nmaps += d->nmaps;
	}
	b->waited = d->waited;
	if (b->n == BATCH_PROCESSES || b->nmaps >= BATCH_MAPS)
		hwpmc_dump_batch_tell(b);
}

/* As hwpmc_dump_look_at_exe() */
struct file *hwpmc_dump_batch_exe(struct dump_batch *b, struct task_struct *leader)
{
	return hwpmc_dump_look_at_exe(b->owner, leader, &b->waited);
}
