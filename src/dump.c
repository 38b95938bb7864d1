// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is there already: processes, threads and executable mappings.
 *
 * Only the writing thread comes here, and only for owners whose hooks are in
 * place: what changes before a process is looked at is in the rings with
 * earlier stamps, what changes after it with later ones.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"

#define LOOK_AGAIN	4	/* for a process that execs under our eyes */
#define LOCK_TRIES	100

struct dump_thread {
	u32	tid;
	char	comm[TASK_COMM_LEN];
};

/* One process at one moment: what is kept, has room, and was there. */
struct dump {
	u32		pid;
	u64		tsc;
	unsigned int	nmaps, maps_size, maps_there;
	unsigned int	nthreads, threads_size, threads_there;
	struct ring_map	*maps;
	struct dump_thread *threads;
};

/* Drops what was kept; what was counted stays, for dump_grow(). */
static void dump_drop(struct dump *d)
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
	dump_drop(d);
	kvfree(d->maps);
	kvfree(d->threads);
}

static void *grow(void *old, unsigned int *size, unsigned int there,
		  size_t each)
{
	if (there <= *size)
		return old;
	kvfree(old);
	*size = there + there / 4;
	old = kvcalloc(*size, each, GFP_KERNEL_ACCOUNT);
	if (!old)
		*size = 0;
	return old;
}

/* Room for all that was there; false without memory. */
static bool dump_grow(struct dump *d)
{
	d->maps = grow(d->maps, &d->maps_size, d->maps_there,
		       sizeof(*d->maps));
	d->threads = grow(d->threads, &d->threads_size, d->threads_there,
			  sizeof(*d->threads));
	return d->maps_there <= d->maps_size &&
	       d->threads_there <= d->threads_size;
}

static void look_at_maps(struct dump *d, struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (d->maps_there++ < d->maps_size)
			map_fill(&d->maps[d->nmaps++], vma, d->pid);
	}
}

static void look_at_threads(struct dump *d, struct hwpmc_owner *o,
			    struct task_struct *leader)
{
	struct dump_thread *dt;
	struct task_struct *t;

	rcu_read_lock();
	for_each_thread(leader, t) {
		u32 tid = owner_tid_of(o, t);

		if (tid == PMCLOG_PID_KERNEL)	/* gone meanwhile */
			continue;
		if (d->threads_there++ >= d->threads_size)
			continue;
		dt = &d->threads[d->nthreads++];
		dt->tid = tid;
		get_task_comm(dt->comm, t);
	}
	rcu_read_unlock();
}

/*
 * Its holder may be in a page fault that takes long, and the rings do not wait:
 * a tenth of a second, then the process is given up.
 */
static bool lock_maps(struct hwpmc_owner *o, struct mm_struct *mm)
{
	int i;

	for (i = 0; i < LOCK_TRIES && !READ_ONCE(o->log.abort); i++) {
		if (mmap_read_trylock(mm))
			return true;
		usleep_range(1000, 1500);
	}
	return false;
}

/*
 * Looks at the process under its mmap lock, which mmap, munmap and exec take
 * for writing: the stamp is in order with their records.
 */
static bool look_once(struct dump *d, struct hwpmc_owner *o,
		      struct task_struct *leader, struct task_struct *user,
		      struct mm_struct *mm)
{
	d->maps_there = 0;
	d->threads_there = 0;
	if (mm && !lock_maps(o, mm))
		return false;
	d->tsc = ring_clock();
	if (mm)
		look_at_maps(d, mm);
	look_at_threads(d, o, leader);
	if (mm)
		mmap_read_unlock(mm);
	/* an exec may have put another in its place before we had the lock */
	return d->nmaps == d->maps_there && d->nthreads == d->threads_there &&
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
		if (mm)
			mmput(mm);
		if (user)
			put_task_struct(user);
		if (!good) {
			dump_drop(d);
			if (!dump_grow(d))
				break;
		}
	}
	return good;
}

static void emit_dump(struct hwpmc_owner *o, const struct dump *d)
{
	unsigned int i;

	o->log.to_tee = o->log.teeing;
	for (i = 0; i < d->nthreads; i++)
		emit_names(o, d->pid, d->threads[i].tid, d->threads[i].comm,
			   d->tsc);
	for (i = 0; i < d->nmaps; i++)
		emit_mapping(o, &d->maps[i], d->tsc);
	o->log.to_tee = false;
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
	dump_drop(d);
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

	o->log.to_tee = o->log.teeing;
	emit_names(o, 0, 0, "swapper", o->log.last_tsc);
	o->log.to_tee = false;
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
