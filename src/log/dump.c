// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps what exists already: processes, threads and executable mappings.
 *
 * Called only by the writer thread, and only for owners whose hooks are in place:
 * a change before a process is looked at is in the rings with an earlier stamp, a
 * change after it with a later one.
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
#include "emit.h"
#include "process_list.h"
#include "target/hooks.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "target/target.h"

#define LOOK_AGAIN	4	/* for a process that execs meanwhile */
#define LISTS_MAX	16	/* of processes, for those that are created meanwhile */
#define LOCK_TRIES	100	/* for a process; each takes a millisecond */
#define LOCK_PATIENCE	1000	/* for all of a dump */

struct dump_thread {
	u32	tid;
	char	comm[TASK_COMM_LEN];
};

/* One process at one moment: entries kept, with room, and found. */
struct dump {
	u32		pid;
	u64		tsc;
	unsigned int	nmaps, maps_size, maps_there;
	unsigned int	nthreads, threads_size, threads_there;
	struct ring_map	*maps;
	struct dump_thread *threads;
	bool		no_memory;
	bool		no_lock;	/* could not get the mmap lock in time */
	unsigned int	waited;		/* for mmap locks, in tries */
	bool		in_exec;	/* an exec did not come to its end in time */
	bool		no_maps;	/* of a target: mappings are not wanted */
	bool		no_names;	/* names are in the log already */
	const struct dump_target *target;
};

/* A target to be logged, with the PMCs whose PMCATTACH is not in the log. */
struct dump_target {
	struct list_head node;
	struct pid	*pid;		/* referenced */
	u32		nr;
	bool		names, maps;	/* to be logged as well */
	bool		news;		/* some of it is not in the current log */
	unsigned int	nids;
	u32		ids[];
};

/* Drops the entries kept; the numbers found stay, for dump_grow(). */
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

static void *dump_grow_array(void *old, unsigned int *size, unsigned int there,
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

/* Makes room for all entries found; false if out of memory. */
static bool dump_grow(struct dump *d)
{
	d->maps = dump_grow_array(d->maps, &d->maps_size, d->maps_there,
				  sizeof(*d->maps));
	d->threads = dump_grow_array(d->threads, &d->threads_size,
				     d->threads_there, sizeof(*d->threads));
	d->no_memory = d->maps_there > d->maps_size ||
		       d->threads_there > d->threads_size;
	return !d->no_memory;
}

static void look_at_maps(struct dump *d, struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma) {
		struct area a = hwpmc_proc_map_area(vma);

		cond_resched();
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (d->no_maps)
			continue;
		if (d->maps_there++ < d->maps_size)
			hwpmc_proc_map_fill(&d->maps[d->nmaps++], vma, &a,
					    d->pid);
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

		if (tid == PMCLOG_PID_KERNEL)	/* ended meanwhile */
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
 * The lock's holder may be in a page fault that takes long, and the rings fill
 * meanwhile: after a tenth of a second the process is given up, and after a second
 * all whose lock is not free.  @waited: so far
 */
static bool lock_maps(struct hwpmc_owner *o, struct mm_struct *mm,
		      unsigned int *waited)
{
	int i;

	for (i = 0; i < LOCK_TRIES && !READ_ONCE(o->log.abort); i++) {
		if (mmap_read_trylock(mm))
			return true;
		if (*waited >= LOCK_PATIENCE)
			break;
		++*waited;
		usleep_range(1000, 1500);
	}
	return false;
}

/*
 * Looks at the process under its mmap lock.  mmap, munmap and exec take this lock
 * for writing, so the stamp is in order with their records.
 */
static bool look_once(struct dump *d, struct hwpmc_owner *o,
		      struct task_struct *leader, struct task_struct *user,
		      struct mm_struct *mm)
{
	d->maps_there = 0;
	d->threads_there = 0;
	d->no_lock = mm && !lock_maps(o, mm, &d->waited);
	if (d->no_lock)
		return false;
	d->tsc = ring_clock();
	if (mm)
		look_at_maps(d, mm);
	look_at_threads(d, o, leader);
	if (mm)
		mmap_read_unlock(mm);
	/* an exec may have replaced the mm before the lock was taken */
	return d->nmaps == d->maps_there && d->nthreads == d->threads_there &&
	       (!mm || READ_ONCE(user->mm) == mm);
}

/*
 * A thread of the process that still has its mm, referenced: the leader may end
 * before the others.  NULL: the process is exiting, or is a kernel thread.
 */
struct task_struct *hwpmc_dump_find_mm_user(struct task_struct *leader)
{
	struct task_struct *t, *user = NULL;

	/* the task changes its other flags as it runs */
	if (data_race(leader->flags) & PF_KTHREAD)
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

/*
 * The mm of @leader's process, referenced; NULL: none, or @o may not see it.
 *
 * A target may have become a process that the owner may not inspect, and not be
 * detached yet.  A target that execs right now is logged by the hook.
 */
static struct mm_struct *get_memory(struct hwpmc_owner *o,
				    struct task_struct *leader,
				    struct task_struct *user)
{
	struct mm_struct *mm = NULL;

	if (READ_ONCE(o->hooks.follow_all))
		return get_task_mm(user);
	if (!down_read_trylock(&leader->signal->exec_update_lock))
		return NULL;
	if (hwpmc_access_still(o, leader))
		mm = get_task_mm(user);
	up_read(&leader->signal->exec_update_lock);
	return mm;
}

/*
 * Is the process of @leader, which @o may not inspect, no target any more because
 * of an exec?  Its name is the new program's then.  -EAGAIN: the exec is still
 * under way; the hook logs its mappings, but the name may be the new one already.
 */
static int leaves_by_exec(struct hwpmc_owner *o, struct task_struct *leader)
{
	const struct hwpmc_target *t;
	bool leaves;

	if (READ_ONCE(o->hooks.follow_all))
		return 0;
	if (!hwpmc_access_try_hold(leader))
		return -EAGAIN;
	mutex_lock(&o->targets_mutex);
	rcu_read_lock();
	t = hwpmc_target_find_rcu(o, task_tgid(leader));
	rcu_read_unlock();
	leaves = !t || hwpmc_follow_lost_events(t);
	mutex_unlock(&o->targets_mutex);
	hwpmc_access_release(leader);
	return leaves;
}

/* Looks at what can be seen without memory.  False: not at this moment. */
static bool look_without_memory(struct dump *d, struct hwpmc_owner *o,
				struct task_struct *leader)
{
	int leaves = leaves_by_exec(o, leader);

	d->in_exec = leaves == -EAGAIN;
	if (d->in_exec)
		usleep_range(1000, 1500);
	else if (leaves)
		dump_drop(d);
	return !d->in_exec;
}

static bool look_at_process(struct dump *d, struct hwpmc_owner *o,
			    struct task_struct *leader)
{
	struct task_struct *user;
	struct mm_struct *mm;
	bool good = false;
	int i;

	d->no_lock = false;
	d->in_exec = false;
	for (i = 0; i < LOOK_AGAIN && !good && !d->no_lock &&
	     !READ_ONCE(o->log.abort); i++) {
		user = hwpmc_dump_find_mm_user(leader);
		mm = user ? get_memory(o, leader, user) : NULL;
		/* @user may have dropped an mm that other threads still use */
		if (mm || !user || READ_ONCE(user->mm) || i == LOOK_AGAIN - 1)
			good = look_once(d, o, leader, user, mm);
		if (good && user && !mm)
			good = look_without_memory(d, o, leader);
		if (mm)
			compat_mmput_later(mm);
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

static void emit_one(struct hwpmc_owner *o, const struct dump *d)
{
	unsigned int i;

	for (i = 0; i < d->nthreads && !d->no_names; i++)
		hwpmc_emit_names(o, d->pid, d->threads[i].tid,
				 d->threads[i].comm, d->tsc);
	for (i = 0; i < d->nmaps; i++)
		hwpmc_emit_mapping(o, &d->maps[i], d->tsc);
}

/*
 * While the next log is prepared, a dump is for that log.  Only what is new goes
 * to the current log as well, because it is not dumped there again.
 */
static bool is_for_log(const struct hwpmc_owner *o, const struct dump_target *dt)
{
	return !o->log.tee.on || (dt && dt->news);
}

static void emit_dump(struct hwpmc_owner *o, const struct dump *d)
{
	if (is_for_log(o, d->target))
		emit_one(o, d);
	if (!o->log.tee.on)
		return;
	o->log.tee.to = true;
	emit_one(o, d);
	o->log.tee.to = false;
}

/*
 * Not all processes could be logged.  The next pass reports lost process records
 * and dumps everything again.  While rotate.c prepares the next log, rotate.c
 * handles the failure.
 */
void hwpmc_dump_failed(struct hwpmc_owner *o)
{
	if (o->log.tee.on)
		o->log.tee.failed = true;
	else
		atomic64_inc(&o->noring.dropped);
}

/*
 * One process could not be logged.  If memory was short, or an exec under way, the
 * dump is retried.  If the mmap lock was held for too long, a retry would only delay
 * the thread again.
 */
static void process_failed(struct hwpmc_owner *o, const struct dump *d)
{
	bool again = d->no_memory || d->in_exec;
	/* else the next log lacks this process only, and says so */
	bool fails = o->log.tee.on && d->no_memory;

	pr_warn_ratelimited("process %u could not be dumped\n", d->pid);
	if (fails)
		hwpmc_dump_failed(o);
	if (fails && !is_for_log(o, d->target))
		return;
	preempt_disable();
	hwpmc_record_lost(o, again ? d->pid : PMCLOG_PID_KERNEL);
	preempt_enable();
}

static void dump_process(struct dump *d, struct hwpmc_owner *o,
			 struct task_struct *leader)
{
	d->pid = owner_pid_of(o, leader);
	if (d->pid == PMCLOG_PID_KERNEL)
		return;
	if (look_at_process(d, o, leader)) {
		hwpmc_drain_upto(o, d->tsc);
		emit_dump(o, d);
	} else if (!READ_ONCE(o->log.abort)) {
		process_failed(o, d);
	}
	dump_drop(d);
}

/* Under targets_mutex.  NULL if out of memory. */
static struct dump_target *note_target(struct hwpmc_owner *o,
				       struct hwpmc_target *t)
{
	unsigned long number = o->log.told.telling, before = o->log.told.number;
	struct target_link *link;
	struct dump_target *dt;
	unsigned int n = 0;

	list_for_each_entry(link, &t->links, node)
		n += link->told_log != number;
	dt = kzalloc(struct_size(dt, ids, n), GFP_KERNEL_ACCOUNT);
	if (!dt)
		return NULL;
	list_for_each_entry(link, &t->links, node) {
		if (link->told_log == number)
			continue;
		dt->ids[dt->nids++] = link->pmc->id;
		dt->news |= link->told_log != before;
		link->told_log = number;
	}
	dt->pid = get_pid(t->pid);
	dt->nr = t->nr;
	/* else they are logged with those of all processes */
	if (!READ_ONCE(o->hooks.follow_all)) {
		dt->names = t->names_log != number;
		dt->maps = t->sampled && t->maps_log != number;
	}
	t->names_log = number;
	t->maps_log = t->sampled ? number : 0;
	if (dt->nids || dt->names || dt->maps)
		t->told_at = o->log.told.attaches;
	return dt;
}

static void forget_told(struct hwpmc_target *t)
{
	t->names_log = 0;
	t->maps_log = 0;
}

/*
 * Collects the targets that are not fully logged, or all, as they are at @tsc:
 * a later detach or exit has a later stamp.  False if out of memory.
 */
static bool note_targets(struct hwpmc_owner *o, bool all, struct list_head *list,
			 u64 *tsc)
{
	struct hwpmc_target *t;
	struct dump_target *dt;
	bool good = true;

	mutex_lock(&o->targets_mutex);
	*tsc = ring_clock();
	list_for_each_entry(t, &o->targets, node) {
		if (all)
			forget_told(t);
		dt = note_target(o, t);
		if (!dt) {
			good = false;
			break;
		}
		list_add_tail(&dt->node, list);
		if (!dt->nids && !dt->names && !dt->maps) {
			list_del(&dt->node);
			put_pid(dt->pid);
			kfree(dt);
		}
	}
	mutex_unlock(&o->targets_mutex);
	return good;
}

/* The executable of @leader's process, referenced; NULL: none, or not for @o. */
static struct file *look_at_exe(struct dump *d, struct hwpmc_owner *o,
				struct task_struct *leader)
{
	struct task_struct *user = hwpmc_dump_find_mm_user(leader);
	struct mm_struct *mm = user ? get_memory(o, leader, user) : NULL;
	struct vm_area_struct *vma;
	struct file *exe = NULL;

	if (mm && lock_maps(o, mm, &d->waited)) {
		vma = vma_lookup(mm, mm->start_code);
		if (vma && (vma->vm_flags & VM_EXEC))
			exe = hwpmc_proc_map_file(vma);
		mmap_read_unlock(mm);
	}
	if (mm)
		compat_mmput_later(mm);
	if (user)
		put_task_struct(user);
	return exe;
}

static void emit_attaches(struct hwpmc_owner *o, const struct dump_target *dt,
			  struct file *exe, u64 tsc)
{
	unsigned int i;

	for (i = 0; i < dt->nids; i++)
		hwpmc_emit_attach(o, dt->ids[i], dt->nr, exe, tsc);
}

/* Logs the PMCs of a target; without a path if the process has ended. */
static void tell_target(struct dump *d, struct hwpmc_owner *o,
			const struct dump_target *dt, u64 tsc)
{
	struct task_struct *task;
	struct file *exe = NULL;

	if (!dt->nids)
		return;
	task = get_pid_task(dt->pid, PIDTYPE_TGID);
	if (task) {
		exe = look_at_exe(d, o, task);
		put_task_struct(task);
	}
	if (is_for_log(o, dt))
		emit_attaches(o, dt, exe, tsc);
	if (o->log.tee.on) {
		o->log.tee.to = true;
		emit_attaches(o, dt, exe, tsc);
		o->log.tee.to = false;
	}
	if (exe)
		fput(exe);
}

static bool is_target(const struct hwpmc_owner *o, const struct pid *pid)
{
	bool yes;

	rcu_read_lock();
	yes = hwpmc_target_find_rcu(o, pid);
	rcu_read_unlock();
	return yes;
}

static void dump_target(struct dump *d, struct hwpmc_owner *o,
			const struct dump_target *dt)
{
	struct task_struct *task;

	/* a target that was detached meanwhile is not logged */
	if ((!dt->names && !dt->maps) || !is_target(o, dt->pid))
		return;
	task = get_pid_task(dt->pid, PIDTYPE_TGID);
	if (!task)
		return;
	d->target = dt;
	d->no_maps = !dt->maps;
	d->no_names = !dt->names;
	dump_process(d, o, task);
	put_task_struct(task);
}

static void dump_targets(struct hwpmc_owner *o, bool all)
{
	struct dump_target *dt, *next;
	struct dump d = {};
	LIST_HEAD(list);
	u64 tsc;

	/* the child of a process that forks meanwhile logs itself: follow_process() */
	WRITE_ONCE(o->log.told.attaches, o->log.told.attaches + 1);
	if (!note_targets(o, all, &list, &tsc))
		hwpmc_dump_failed(o);
	/* this also announces the PMCs that they are targets of */
	hwpmc_drain_upto(o, tsc);
	/* all attaches precede later events of any of the targets */
	list_for_each_entry(dt, &list, node)
		tell_target(&d, o, dt, tsc);
	list_for_each_entry_safe(dt, next, &list, node) {
		dump_target(&d, o, dt);
		put_pid(dt->pid);
		kfree(dt);
	}
	smp_store_release(&o->log.told.attaches, o->log.told.attaches + 1);
	dump_free(&d);
}

/* Dumps those that are not in @before, which then is @now.  True: there were any. */
static bool dump_fresh(struct dump *d, struct hwpmc_owner *o,
		       struct process_list *before, struct process_list *now)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < now->n; i++) {
		if (hwpmc_process_list_has(before, now->tasks[i]))
			continue;
		dump_process(d, o, now->tasks[i]);
		any = true;
	}
	hwpmc_process_list_put(before);
	*before = *now;
	hwpmc_process_list_sort(before);
	return any;
}

/*
 * The child of a process that is not dumped yet has no mappings by the log.  So the
 * list is made again until nothing is new in it, or often.
 */
static void dump_processes(struct hwpmc_owner *o)
{
	struct process_list before = {}, now;
	struct dump d = {};
	bool any = true;
	int lists;

	o->log.tee.to = o->log.tee.on;
	hwpmc_emit_names(o, 0, 0, "swapper", o->log.told.last_tsc);
	o->log.tee.to = false;
	for (lists = 0; any && lists < LISTS_MAX; lists++) {
		if (!hwpmc_process_list_get(&now)) {
			pr_warn_ratelimited("no memory to dump the processes\n");
			hwpmc_dump_failed(o);
			break;
		}
		any = dump_fresh(&d, o, &before, &now);
	}
	hwpmc_process_list_put(&before);
	dump_free(&d);
}

/* Dumps all that belongs into the log, even if it was dumped before. */
void hwpmc_dump_all(struct hwpmc_owner *o)
{
	bool all = READ_ONCE(o->hooks.follow_all);

	if (all)
		dump_processes(o);
	dump_targets(o, !all);
	o->log.told.all = all;
}

/* Dumps what is not in this log yet. */
void hwpmc_dump_news(struct hwpmc_owner *o)
{
	if (READ_ONCE(o->hooks.follow_all) && !o->log.told.all)
		hwpmc_dump_all(o);
	else
		dump_targets(o, false);
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
 * @d: gets what the owner wants to know of it
 *
 * The process that had the number may have ended, and this one may be another
 * user's.  The log of an owner that does not follow all processes names targets only.
 * A target that it may not inspect any more is named: the log has its samples.
 *
 * 0, -ESRCH, or -EAGAIN: the process may be a child of a target, and not a target
 * yet.  The log has such a child from its fork on.  The fork is pending before a
 * record of it can be lost.
 */
static int may_dump(struct hwpmc_owner *o, const struct pid *pid,
		    struct task_struct *task, struct dump *d, bool last)
{
	const struct hwpmc_target *t;
	int err = 0;

	if (READ_ONCE(o->hooks.follow_all))
		return 0;
	mutex_lock(&o->targets_mutex);
	rcu_read_lock();
	/* none that is gone: the mutex is held */
	t = hwpmc_target_find_rcu(o, pid);
	if (t)
		d->no_maps = !t->sampled;
	rcu_read_unlock();
	if (!t)
		err = atomic_read(&task->signal->live) && is_forking(o, last) ?
		      -EAGAIN : -ESRCH;
	mutex_unlock(&o->targets_mutex);
	return err;
}

/*
 * A record of process @nr was lost: SYSEXIT makes readers forget it, then it is
 * dumped.  False: nothing was done, this has to be repeated.  @last: it is not, and
 * a child that is not a target yet is not dumped.
 */
bool hwpmc_dump_pid(struct hwpmc_owner *o, u32 nr, bool last)
{
	struct task_struct *task = NULL;
	struct dump d = {};
	struct pid *pid;
	int err = -ESRCH;

	rcu_read_lock();
	pid = get_pid(find_pid_ns(nr, o->pid_ns));
	rcu_read_unlock();
	if (pid) {
		task = get_pid_task(pid, PIDTYPE_TGID);
		if (task)
			err = may_dump(o, pid, task, &d, last);
	}
	if (err != -EAGAIN)
		hwpmc_emit_sysexit(o, nr, o->log.told.last_tsc);
	if (!err) {
		dump_process(&d, o, task);
		dump_free(&d);
	}
	if (task)
		put_task_struct(task);
	put_pid(pid);
	return err != -EAGAIN;
}
