// SPDX-License-Identifier: GPL-2.0-only
/* Creation and release of an owner. */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "target/hooks.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/sample.h"
#include "trace.h"
#include "unwind/unwind.h"

static atomic_t serials = ATOMIC_INIT(0);

static int alloc_per_cpu(struct hwpmc_owner *o)
{
	/* one is RING_OF_IOCTLS */
	o->rings = kcalloc(nr_cpu_ids + 1, sizeof(*o->rings), HWPMC_GFP);
	o->hp.cpu_lives = kcalloc(nr_cpu_ids, sizeof(*o->hp.cpu_lives),
			       HWPMC_GFP);
	return o->rings && o->hp.cpu_lives ? 0 : -ENOMEM;
}

static void owner_free(struct kref *ref)
{
	struct hwpmc_owner *o = container_of(ref, struct hwpmc_owner, ref);

	trace_hwpmc_owner(o, "free", 0);
	hwpmc_stats_remove_owner(o);
	hwpmc_unwind_end(o);
	hwpmc_hotplug_sync_rings(o);
	hwpmc_hotplug_free_rings(o);
	kfree(o->hp.cpu_lives);
	kfree(o->hp.only);
	hwpmc_log_free(o);
	put_pid(o->opener);
	put_pid_ns(o->pid_ns);
	hwpmc_limit_drop(o->limit.account);
	put_cred(o->cred);
	mutex_destroy(&o->mutex);
	mutex_destroy(&o->cpus_mutex);
	mutex_destroy(&o->targets_mutex);
	mutex_destroy(&o->fold_mutex);
	kfree_rcu(o, rcu);	/* a hook may still hold its target */
}

/* Returns -EMFILE if the caller's user has too many owners, or -ENOMEM. */
struct hwpmc_owner *hwpmc_owner_create(struct file *file)
{
	struct hwpmc_owner *o = kzalloc(sizeof(*o), HWPMC_GFP);
	int err;

	if (!o)
		return ERR_PTR(-ENOMEM);
	kref_init(&o->ref);
	o->free = owner_free;
	o->file = file;
	o->cred = get_cred(file->f_cred);
	o->traces_all = hwpmc_access_traces_all(o->cred);
	o->opener = get_pid(task_tgid(current));
	o->serial = atomic_inc_return(&serials);
	err = alloc_per_cpu(o);
	if (!err)
		err = hwpmc_limit_open(o);
	if (err) {
		kfree(o->rings);
		kfree(o->hp.cpu_lives);
		put_pid(o->opener);
		put_cred(o->cred);
		kfree(o);
		return ERR_PTR(err);
	}
	mutex_init(&o->mutex);
	mutex_init(&o->cpus_mutex);
	mutex_init(&o->targets_mutex);
	mutex_init(&o->fold_mutex);
	INIT_LIST_HEAD(&o->targets);
	o->pid_ns = get_pid_ns(task_active_pid_ns(current));
	hwpmc_log_init(o);
	hwpmc_stats_add_owner(o);
	trace_hwpmc_owner(o, "open", 0);
	return o;
}

/* Locks @o for an ioctl.  Returns -ERESTARTSYS on a signal. */
int hwpmc_owner_lock(struct hwpmc_owner *o)
{
	if (mutex_lock_interruptible(&o->mutex))
		return -ERESTARTSYS;
	mutex_lock(&o->cpus_mutex);
	return 0;
}

void hwpmc_owner_unlock(struct hwpmc_owner *o)
{
	mutex_unlock(&o->cpus_mutex);
	mutex_unlock(&o->mutex);
}

/*
 * hwpmc_owner_flush - a descriptor is closed
 *
 * A process that exits closes all its descriptors before the first device is
 * released.  All its logs begin to end here, so the process waits for them
 * together.  Another process may get a descriptor at this moment (pidfd_getfd(2)):
 * it finds the log ended.
 */
void hwpmc_owner_flush(struct hwpmc_owner *o, struct file *file)
{
	if (!(current->flags & PF_EXITING) || file_count(file) != 1 ||
	    !hwpmc_log_is_callers(o))
		return;
	mutex_lock(&o->mutex);
	mutex_lock(&o->cpus_mutex);
	if (hwpmc_log_active(o)) {
		hwpmc_logging_begin_end(o);
		o->log.end.ending = jiffies ?: 1;
	}
	hwpmc_owner_unlock(o);
}

/*
 * hwpmc_owner_close - the last close of the file
 *
 * The order is: no CPU that comes up gets an event any more; the events are
 * released; deferred user chains are cancelled; the hooks are removed.  Then
 * nothing produces records, and the log can end.  Only the process that opened
 * the device or configured the log waits for that, for at most a second.
 */
void hwpmc_owner_close(struct hwpmc_owner *o)
{
	trace_hwpmc_owner(o, "close", 0);
	hwpmc_budget_end(o);
	hwpmc_hotplug_remove_owner(o);
	mutex_lock(&o->mutex);
	mutex_lock(&o->cpus_mutex);
	hwpmc_pmc_release_all(o);
	hwpmc_chain_deferred_forget(o);
	hwpmc_unwind_close(o);
	hwpmc_hooks_unfollow(o);
	hwpmc_hooks_close(o);
	hwpmc_owner_unlock(o);
	hwpmc_log_shutdown(o);
	hwpmc_limit_leave(o);
	owner_put(o);
}
