// SPDX-License-Identifier: GPL-2.0-only
/*
 * GETATBASE: where the run-time loader of a process sits.
 *
 * The kernel tells a program by its auxiliary vector, and keeps a copy with the
 * program's memory; the process may have written over its own.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "compat.h"
#include "emit.h"
#include "hooks.h"
#include "hwpmc.h"

/*
 * Its memory, referenced, and whether its words are of 32 bits.  NULL: it has
 * none, or none any more.  Under access_hold(): it stays what it is.
 */
static struct mm_struct *memory_of(struct task_struct *leader, bool *is32)
{
	struct task_struct *user = memory_user(leader);
	struct mm_struct *mm;

	if (!user)
		return NULL;
	mm = get_task_mm(user);
	*is32 = compat_task_is_32bit(user);
	put_task_struct(user);
	return mm;
}

/* EAGAIN: an exec has given it new memory, and not yet told it what is where. */
static int look(struct hwpmc_owner *o, struct task_struct *leader, u64 *base)
{
	struct mm_struct *mm = NULL;
	bool is32;
	int err;

	err = access_hold(leader);
	if (err)
		return err;
	err = access_attach(o, leader);
	if (!err)
		mm = memory_of(leader, &is32);
	access_release(leader);
	if (!mm)
		return err ?: -ESRCH;
	/* set last, when all else is in its place */
	if (READ_ONCE(mm->start_code)) {
		smp_rmb();
		/* PR_SET_MM_AUXV of prctl(2) may write it over */
		*base = data_race(auxv_base(mm, is32));
	} else {
		err = -EAGAIN;
	}
	mmput(mm);
	return err;
}

/*
 * atbase_get - GETATBASE; owner->mutex
 *
 * EINVAL: a negative pid.  ESRCH: there is no such process, it is ending, or it
 * is a kernel thread.  EPERM: PMCs could not be attached to it either.  EINTR.
 */
int atbase_get(struct hwpmc_owner *o, struct hwpmc_atbase *a)
{
	struct task_struct *leader;
	int err;

	if (a->pid < 0 || a->reserved)
		return -EINVAL;
	rcu_read_lock();
	leader = get_pid_task(a->pid ? find_vpid(a->pid) : task_tgid(current),
			      PIDTYPE_TGID);
	rcu_read_unlock();
	if (!leader)
		return -ESRCH;
	for (;;) {
		err = look(o, leader, &a->base);
		if (err != -EAGAIN)
			break;
		schedule_timeout_interruptible(1);
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
	}
	put_task_struct(leader);
	return err;
}
