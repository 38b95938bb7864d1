// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the threads and the executable mappings of a process at one moment, and
 * logs them.  Called only by the writer thread.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "area.h"
#include "compat.h"
#include "dump.h"
#include "emit.h"
#include "hwpmc.h"
#include "process_list.h"
#include "sample/record.h"
#include "target/target.h"

#define LOOK_AGAIN	4	/* for a process that execs meanwhile */
#define LOCK_WAIT	(HZ / 10)	/* for a process */

/* Drops the entries kept; the numbers found stay, for dump_grow(). */
void hwpmc_dump_drop(struct dump *d)
{
	unsigned int i;

	for (i = 0; i < d->nmaps; i++)
		if (d->maps[i].file)
			fput(d->maps[i].file);
	d->nmaps = 0;
	d->nthreads = 0;
}

void hwpmc_dump_free(struct dump *d)
{
	hwpmc_dump_drop(d);
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
	old = hwpmc_memory(array_size(*size, each), NUMA_NO_NODE, __GFP_ACCOUNT | __GFP_ZERO);
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
		struct area a = hwpmc_area_of(vma);

		cond_resched();
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (d->no_maps)
			continue;
		if (d->maps_there++ < d->maps_size)
			hwpmc_area_fill(&d->maps[d->nmaps++], vma, &a, d->pid);
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

/* Ends the wait of lock_maps(). */
static void end_wait(struct work_struct *work)
{
	struct lock_wait *w = container_of(to_delayed_work(work),
					   struct lock_wait, over);

	/* like a signal, but none is queued: those of a close stay apart */
	set_tsk_thread_flag(w->task, TIF_NOTIFY_SIGNAL);
	wake_up_process(w->task);
}

/* Not under the mmap lock, because this waits for the work, which may be preempted. */
static void wait_is_over(struct lock_wait *w)
{
	cancel_delayed_work_sync(&w->over);
	clear_notify_signal();
	w->task = NULL;
}

/*
 * Queues for the lock, because a trylock fails while other threads queue for it.  The
 * work is not bound to a CPU: a real-time task on that CPU would make the wait longer.
 */
static bool wait_for_maps(struct lock_wait *w, struct mm_struct *mm)
{
	w->task = current;
	INIT_DELAYED_WORK(&w->over, end_wait);
	queue_delayed_work(compat_unbound_wq(), &w->over, LOCK_WAIT);
	if (!down_read_interruptible(&mm->mmap_lock))
		return true;
	wait_is_over(w);
	return false;
}

/*
 * The lock's holder may be in a long page fault, and the rings fill meanwhile.  So
 * one wait takes at most a tenth of a second, and a later pass tries again.  After
 * a second in all, there are no more waits.  @waited: time so far, in ns
 */
static bool lock_maps(struct hwpmc_owner *o, struct mm_struct *mm, u64 *waited)
{
	u64 began;
	bool locked;

	if (mmap_read_trylock(mm))
		return true;
	if (*waited >= DUMP_PATIENCE || dump_is_over(o))
		return false;
	began = ktime_get_ns();
	locked = wait_for_maps(&o->log.lock_wait, mm);
	*waited += ktime_get_ns() - began;
	return locked;
}

static void unlock_maps(struct hwpmc_owner *o, struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	if (o->log.lock_wait.task)
		wait_is_over(&o->log.lock_wait);
}

/*
 * Reads the process under its mmap lock.  mmap, munmap and exec take this lock
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
		unlock_maps(o, mm);
	/* an exec may have replaced the mm before the lock was taken */
	return d->nmaps == d->maps_there && d->nthreads == d->threads_there &&
	       (!mm || READ_ONCE(user->mm) == mm);
}

struct look {
	struct dump *d;
	struct hwpmc_owner *o;
	struct task_struct *leader;
	struct task_struct *user;
	struct mm_struct *mm;
	bool good;
};

static void look_work(void *arg)
{
	struct look *l = arg;

	l->good = look_once(l->d, l->o, l->leader, l->user, l->mm);
}

/*
 * A worker takes the mmap lock of another user's process in place of a writer thread that
 * has the priority of the opener and may get no CPU: the process could not map memory for
 * as long.
 */
static bool dump_look(struct dump *d, struct hwpmc_owner *o, struct task_struct *leader,
		      struct task_struct *user, struct mm_struct *mm)
{
	struct look l = { .d = d, .o = o, .leader = leader, .user = user, .mm = mm };

	if (!mm || !o->log.share.bound || !READ_ONCE(o->hooks.follow_all))
		return look_once(d, o, leader, user, mm);
	o->log.share.owed += hwpmc_run_by_worker(look_work, &l);
	return l.good;
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
 * The mm of @leader's process, referenced, or NULL.
 * @why: out: 0: it has none.  -EAGAIN: an exec is in progress, and the hook logs the new
 *	image.  -EACCES: @o may not see it, because the target has changed since its
 *	attach: by an exec, after which it will be detached, or otherwise.
 */
static struct mm_struct *get_memory(struct hwpmc_owner *o,
				    struct task_struct *leader,
				    struct task_struct *user, int *why)
{
	struct mm_struct *mm = NULL;

	*why = 0;
	if (READ_ONCE(o->hooks.follow_all))
		return get_task_mm(user);
	if (!down_read_trylock(&leader->signal->exec_update_lock)) {
		*why = -EAGAIN;
		return NULL;
	}
	if (hwpmc_access_still(o, leader))
		mm = get_task_mm(user);
	else if (READ_ONCE(user->mm))
		*why = -EACCES;
	up_read(&leader->signal->exec_update_lock);
	return mm;
}

/*
 * Has an exec ended the target of @leader's process, which @o may not inspect?
 * Then the process has the new program's name.  -EAGAIN: the exec is in progress.
 * The hook logs its mappings, but the process may have the new name already.
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
	leaves = !t || hwpmc_targets_lost_events(t);
	mutex_unlock(&o->targets_mutex);
	hwpmc_access_release(leader);
	return leaves;
}

/*
 * For a process whose mm was not read; @why: see get_memory().  Drops the names if an
 * exec has ended the target.  False: an exec is in progress, or was and has ended: the
 * hook may have logged its mappings before @d->tsc, and SYSEXIT would remove them from
 * the log.
 */
static bool look_without_memory(struct dump *d, struct hwpmc_owner *o,
				struct task_struct *leader, int why)
{
	int leaves = leaves_by_exec(o, leader);

	d->in_exec = leaves == -EAGAIN || (d->again && why == -EAGAIN && !leaves);
	d->hidden = why == -EACCES && !leaves && !d->no_maps;
	if (d->in_exec)
		usleep_range(1000, 1500);
	else if (leaves)
		hwpmc_dump_drop(d);
	return !d->in_exec;
}

static bool look_at_process(struct dump *d, struct hwpmc_owner *o,
			    struct task_struct *leader)
{
	struct task_struct *user;
	struct mm_struct *mm;
	bool good = false;
	int i, why = 0;

	d->no_lock = false;
	d->in_exec = false;
	d->hidden = false;
	for (i = 0; i < LOOK_AGAIN && !good && !d->no_lock &&
	     !READ_ONCE(o->log.abort); i++) {
		d->in_exec = false;
		user = hwpmc_dump_find_mm_user(leader);
		mm = user ? get_memory(o, leader, user, &why) : NULL;
		/* @user may have dropped an mm that other threads still use */
		if (mm || !user || READ_ONCE(user->mm) || i == LOOK_AGAIN - 1)
			good = dump_look(d, o, leader, user, mm);
		if (good && user && !mm)
			good = look_without_memory(d, o, leader, why);
		if (mm)
			compat_mmput_later(mm);
		if (user)
			put_task_struct(user);
		if (!good) {
			hwpmc_dump_drop(d);
			if (!dump_grow(d))
				break;
		}
	}
	return good;
}

/*
 * hwpmc_dump_look_at_names - read the thread names, without the mmap lock
 *
 * For a process whose mmap lock is not free.  False: this is not possible now.
 */
bool hwpmc_dump_look_at_names(struct dump *d, struct hwpmc_owner *o,
			      struct task_struct *leader)
{
	int i;

	for (i = 0; i < LOOK_AGAIN; i++) {
		if (look_once(d, o, leader, NULL, NULL))
			return look_without_memory(d, o, leader, 0);
		hwpmc_dump_drop(d);
		if (!dump_grow(d))
			break;
	}
	return false;
}

static void emit_one(struct hwpmc_owner *o, const struct dump *d)
{
	unsigned int i;

	if (d->again)
		hwpmc_emit_sysexit(o, d->pid, o->log.told.last_tsc);
	for (i = 0; i < d->nthreads && !d->no_names; i++)
		hwpmc_emit_names(o, d->pid, d->threads[i].tid,
				 d->threads[i].comm, d->tsc);
	for (i = 0; i < d->nmaps; i++)
		hwpmc_emit_mapping(o, &d->maps[i], d->tsc);
}

/*
 * While the next log is prepared, a dump is for that log.  Only new information
 * goes to the current log as well, because it is not dumped there again.
 */
bool hwpmc_dump_is_for_log(const struct hwpmc_owner *o, const struct dump_target *dt)
{
	return !o->log.tee.on || (dt && dt->news);
}

static void emit_dump(struct hwpmc_owner *o, const struct dump *d)
{
	if (hwpmc_dump_is_for_log(o, d->target))
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

/* hwpmc_dump_count_loss - count a loss for which no process is logged again */
void hwpmc_dump_count_loss(struct hwpmc_owner *o)
{
	preempt_disable();
	hwpmc_record_lost(o, PMCLOG_PID_KERNEL);
	preempt_enable();
}

/*
 * hwpmc_dump_process_failed - one process could not be logged
 *
 * Counts one loss.  For another attempt, the caller calls hwpmc_dump_later().
 */
void hwpmc_dump_process_failed(struct hwpmc_owner *o, const struct dump *d)
{
	/* otherwise the next log lacks only this process, and reports that */
	bool fails = o->log.tee.on && d->no_memory;

	if (READ_ONCE(o->log.abort))
		return;
	if (!d->in_exec)
		pr_warn_ratelimited("process %u could not be dumped\n", d->pid);
	if (fails)
		hwpmc_dump_failed(o);
	if (fails && !hwpmc_dump_is_for_log(o, d->target))
		return;
	hwpmc_dump_count_loss(o);
}

/*
 * A target that the owner may not inspect any more goes on, and so do its samples.  The
 * mappings that this log lacks are a loss.  SYSEXIT would also take away those that it
 * has.
 */
static void miss_maps(struct dump *d, struct hwpmc_owner *o)
{
	d->again = false;
	hwpmc_dump_count_loss(o);
}

/*
 * hwpmc_dump_has_ended - has the process passed its exit hook for sure?
 *
 * True for a process that nobody has waited for.  Its SYSEXIT has been logged or lost.
 * Samples may still come: it runs until its last context switch.  False for a target,
 * whose SYSEXIT comes after its counts.
 */
bool hwpmc_dump_has_ended(const struct hwpmc_owner *o, struct task_struct *leader)
{
	struct task_struct *t;
	bool ended;

	rcu_read_lock();
	ended = !hwpmc_target_find_rcu(o, task_tgid(leader));
	for_each_thread(leader, t) {
		ended = ended && data_race(READ_ONCE(t->exit_state));
		if (!ended)
			break;
	}
	rcu_read_unlock();
	return ended;
}

/*
 * hwpmc_dump_is_ending - may the process have passed its exit hook?
 *
 * True from before the hook on; see hwpmc_dump_has_ended(), which is true later.  Before
 * Linux 6.16 a process frees its memory in between, so one that was read then may have two
 * SYSEXITs, which does no harm.
 */
bool hwpmc_dump_is_ending(const struct hwpmc_owner *o, struct task_struct *leader)
{
	bool ending;

	rcu_read_lock();
	ending = !atomic_read(&leader->signal->live) &&
		 !hwpmc_target_find_rcu(o, task_tgid(leader));
	rcu_read_unlock();
	return ending;
}

/*
 * hwpmc_dump_look - read the process of @leader; hwpmc_dump_tell() logs it
 *
 * False: this is not possible now; @d has the reason.  hwpmc_dump_free() frees the
 * arrays.
 */
bool hwpmc_dump_look(struct dump *d, struct hwpmc_owner *o,
		     struct task_struct *leader)
{
	d->pid = owner_pid_of(o, leader);
	if (!look_at_process(d, o, leader))
		return false;
	if (d->hidden)
		miss_maps(d, o);
	return true;
}

/* Logs the process as it was read.  The caller has emitted all older records. */
void hwpmc_dump_tell(struct dump *d, struct hwpmc_owner *o)
{
	emit_dump(o, d);
	hwpmc_dump_drop(d);
}

/* The executable of @leader's process, referenced; NULL: none, or not for @o. */
struct file *hwpmc_dump_look_at_exe(struct hwpmc_owner *o,
				    struct task_struct *leader, u64 *waited)
{
	struct task_struct *user = hwpmc_dump_find_mm_user(leader);
	struct vm_area_struct *vma;
	struct mm_struct *mm = NULL;
	struct file *exe = NULL;
	int why;

	if (user)
		mm = get_memory(o, leader, user, &why);
	if (mm && lock_maps(o, mm, waited)) {
		vma = vma_lookup(mm, mm->start_code);
		if (vma && (vma->vm_flags & VM_EXEC))
			exe = hwpmc_area_file(vma);
		unlock_maps(o, mm);
	}
	if (mm)
		compat_mmput_later(mm);
	if (user)
		put_task_struct(user);
	return exe;
}
