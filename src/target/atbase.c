// SPDX-License-Identifier: GPL-2.0-only
/*
 * GETATBASE: the address of a process' run-time loader.
 *
 * The kernel passes it to the program in the auxiliary vector, and keeps a copy
 * in the mm; the process may have overwritten the vector in its own memory.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "compat.h"
#include "log/emit.h"
#include "hooks.h"
#include "hwpmc.h"

/*
 * Returns the process' mm, referenced, and sets @is32 if its words have 32 bits.
 * NULL: the process has no mm, or no longer.  Under hwpmc_access_hold(), so
 * that no exec replaces the mm.
 */
static struct mm_struct *memory_of(struct task_struct *leader, bool *is32)
{
	struct task_struct *user = hwpmc_dump_find_mm_user(leader);
	struct mm_struct *mm;

	if (!user)
		return NULL;
	mm = get_task_mm(user);
	*is32 = compat_task_is_32bit(user);
	put_task_struct(user);
	return mm;
}

/* EAGAIN: an exec has installed a new mm, but not yet filled it in. */
static int atbase_look_up(struct hwpmc_owner *o, struct task_struct *leader,
			  u64 *base)
{
	struct mm_struct *mm = NULL;
	bool is32;
	int err;

	err = hwpmc_access_hold(leader);
	if (err)
		return err;
	err = hwpmc_access_attach(o, leader);
	if (!err)
		mm = memory_of(leader, &is32);
	hwpmc_access_release(leader);
	if (!mm)
		return err ?: -ESRCH;
	/* exec sets this last, when all else is in place */
	if (READ_ONCE(mm->start_code)) {
		smp_rmb();
		/* PR_SET_MM_AUXV of prctl(2) may overwrite it */
		*base = data_race(hwpmc_proc_auxv_base(mm, is32));
	} else {
		err = -EAGAIN;
	}
	mmput(mm);
	return err;
}

/* Waits for an exec.  -ERESTARTSYS on a signal. */
static int atbase_wait(struct hwpmc_owner *o, struct task_struct *leader,
		       u64 *base)
{
	int err;

	for (;;) {
		err = atbase_look_up(o, leader, base);
		if (err != -EAGAIN)
			return err;
		schedule_timeout_interruptible(1);
		if (signal_pending(current))
			return -ERESTARTSYS;
	}
}

/*
 * hwpmc_atbase_get - GETATBASE; under owner->mutex
 *
 * Releases cpus_mutex: a CPU that comes online does not wait for an exec.
 *
 * EINVAL: a negative pid.  ESRCH: no such process, or it is ending, or it is a
 * kernel thread.  EPERM: the caller could not attach a PMC to it either.  ERESTARTSYS.
 */
int hwpmc_atbase_get(struct hwpmc_owner *o, struct hwpmc_atbase *a)
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
	mutex_unlock(&o->cpus_mutex);
	err = atbase_wait(o, leader, &a->base);
	mutex_lock(&o->cpus_mutex);
	put_task_struct(leader);
	return err;
}
