// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is there already: processes, threads and executable mappings.
 *
 * Only the writing thread comes here, and only for owners whose hooks are in
 * place: what changes before a process is looked at is in the rings with
 * earlier stamps, what changes after it with later ones.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"

#define LOOK_AGAIN	8	/* for a process that execs under our eyes */

struct dump_thread {
	u32	tid;
	char	comm[TASK_COMM_LEN];
};

/* One process at one moment. */
struct dump {
	u32		pid;
	u64		tsc;
	unsigned int	nmaps, maps_size;
	unsigned int	nthreads, threads_size;
	struct ring_map	*maps;
	struct dump_thread *threads;
};

static void dump_reset(struct dump *d)
{
	unsigned int i;

	for (i = 0; i < d->nmaps; i++)
		if (d->maps[i].file)
			fput(d->maps[i].file);
	d->nmaps = 0;
	d->nthreads = 0;
}

static void dump_free(struct dump *d)
{
	dump_reset(d);
	kvfree(d->maps);
	kvfree(d->threads);
}

/* Room for what was counted to be too much; false without memory. */
static bool dump_grow(struct dump *d)
{
	if (d->nmaps > d->maps_size) {
		kvfree(d->maps);
		d->maps_size = d->nmaps + d->nmaps / 4;
		d->maps = kvcalloc(d->maps_size, sizeof(*d->maps),
				   GFP_KERNEL_ACCOUNT);
	}
	if (d->nthreads > d->threads_size) {
		kvfree(d->threads);
		d->threads_size = d->nthreads + d->nthreads / 4;
		d->threads = kvcalloc(d->threads_size, sizeof(*d->threads),
				      GFP_KERNEL_ACCOUNT);
	}
	d->nmaps = 0;
	d->nthreads = 0;
	if ((d->maps_size && !d->maps) || (d->threads_size && !d->threads)) {
		d->maps_size = d->maps ? d->maps_size : 0;
		d->threads_size = d->threads ? d->threads_size : 0;
		return false;
	}
	return true;
}

/* Counts on when the array is full: the caller grows it and comes again. */
static void look_at_maps(struct dump *d, struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	unsigned int n = 0;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma) {
		struct ring_map *m = d->maps + n;

		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (n++ >= d->maps_size)
			continue;
		map_fill(m, vma, d->pid);
		d->nmaps = n;
	}
	if (n > d->maps_size) {
		dump_reset(d);
		d->nmaps = n;
	}
}

static void look_at_threads(struct dump *d, struct hwpmc_owner *o,
			    struct task_struct *leader)
{
	struct task_struct *t;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_thread(leader, t) {
		if (n < d->threads_size) {
			d->threads[n].tid = owner_tid_of(o, t);
			get_task_comm(d->threads[n].comm, t);
		}
		n++;
	}
	rcu_read_unlock();
	d->nthreads = n;
}

/*
 * Looks at the process under its mmap lock, which mmap, munmap and exec take
 * for writing: the stamp is in order with their records.
 */
static bool look_once(struct dump *d, struct hwpmc_owner *o,
		      struct task_struct *leader, struct task_struct *user,
		      struct mm_struct *mm)
{
	if (mm && mmap_read_lock_killable(mm))
		return false;
	d->tsc = ring_clock();
	if (mm)
		look_at_maps(d, mm);
	look_at_threads(d, o, leader);
	if (mm)
		mmap_read_unlock(mm);
	/* an exec may have put another in its place before we had the lock */
	return d->nmaps <= d->maps_size && d->nthreads <= d->threads_size &&
	       (!mm || READ_ONCE(user->mm) == mm);
}

/*
 * A thread of the process that still has its memory, referenced: the leader may
 * be dead before the others.  NULL: none, it is exiting or a kernel thread.
 */
static struct task_struct *memory_user(struct task_struct *leader)
{
	struct task_struct *t, *user = NULL;

	if (leader->flags & PF_KTHREAD)
		return NULL;
	rcu_read_lock();
	for_each_thread(leader, t) {
		if (READ_ONCE(t->mm)) {
			user = get_task_struct(t);
			break;
		}
	}
	rcu_read_unlock();
	return user;
}

static bool look_at_process(struct dump *d, struct hwpmc_owner *o,
			    struct task_struct *leader)
{
	struct task_struct *user;
	struct mm_struct *mm;
	bool good = false;
	int i;

	for (i = 0; i < LOOK_AGAIN && !good && !READ_ONCE(o->log.abort); i++) {
		user = memory_user(leader);
		mm = user ? get_task_mm(user) : NULL;
		good = look_once(d, o, leader, user, mm);
		if (!good) {
			if (d->nmaps <= d->maps_size)
				dump_reset(d);
			if (!dump_grow(d))
				i = LOOK_AGAIN;
		}
		if (mm)
			mmput(mm);
		if (user)
			put_task_struct(user);
	}
	return good;
}

static void emit_dump(struct hwpmc_owner *o, const struct dump *d)
{
	unsigned int i;

	for (i = 0; i < d->nthreads; i++)
		emit_names(o, d->pid, d->threads[i].tid, d->threads[i].comm,
			   d->tsc);
	for (i = 0; i < d->nmaps; i++)
		emit_mapping(o, &d->maps[i], d->tsc);
}

static void dump_process(struct dump *d, struct hwpmc_owner *o,
			 struct task_struct *leader)
{
	d->pid = owner_pid_of(o, leader);
	if (d->pid == PMCLOG_PID_KERNEL)
		return;
	if (look_at_process(d, o, leader)) {
		drain_upto(o, d->tsc);
		emit_dump(o, d);
	} else if (!READ_ONCE(o->log.abort)) {
		pr_warn_ratelimited("process %u could not be dumped\n", d->pid);
	}
	dump_reset(d);
}

/* References to all processes; NULL without memory. */
static struct task_struct **all_processes(unsigned int *count)
{
	struct task_struct **tasks, *p;
	unsigned int n = 0, size;

	rcu_read_lock();
	for_each_process(p)
		n++;
	rcu_read_unlock();
	/* those that come now are seen by the hooks */
	size = n + 16;
	tasks = kvcalloc(size, sizeof(*tasks), GFP_KERNEL_ACCOUNT);
	if (!tasks)
		return NULL;
	n = 0;
	rcu_read_lock();
	for_each_process(p)
		if (n < size)
			tasks[n++] = get_task_struct(p);
	rcu_read_unlock();
	*count = n;
	return tasks;
}

/* All processes there are. */
void dump_all(struct hwpmc_owner *o)
{
	struct task_struct **tasks;
	struct dump d = {};
	unsigned int i, n;

	emit_names(o, 0, 0, "swapper", o->log.last_tsc);
	tasks = all_processes(&n);
	if (!tasks) {
		pr_warn_ratelimited("no memory to dump the processes\n");
		return;
	}
	for (i = 0; i < n; i++) {
		dump_process(&d, o, tasks[i]);
		put_task_struct(tasks[i]);
	}
	dump_free(&d);
	kvfree(tasks);
}

/*
 * A record of @pid was lost: forget what is known of it, and say what there is.
 */
void dump_pid(struct hwpmc_owner *o, u32 pid)
{
	struct task_struct *task = NULL;
	struct dump d = {};
	struct pid *p;

	rcu_read_lock();
	p = find_pid_ns(pid, o->pid_ns);
	if (p)
		task = get_pid_task(p, PIDTYPE_TGID);
	rcu_read_unlock();
	emit_sysexit(o, pid, o->log.last_tsc);
	if (!task)
		return;
	dump_process(&d, o, task);
	dump_free(&d);
	put_task_struct(task);
}
