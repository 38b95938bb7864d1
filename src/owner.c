// SPDX-License-Identifier: GPL-2.0-only
/*
 * An owner's beginning and end.
 */
#include <linux/cpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "hwpmc.h"

struct hwpmc_owner *owner_create(struct file *file)
{
	struct hwpmc_owner *o = kzalloc(sizeof(*o), GFP_KERNEL_ACCOUNT);

	if (!o)
		return NULL;
	o->rings = kcalloc(nr_cpu_ids, sizeof(*o->rings), GFP_KERNEL_ACCOUNT);
	o->cpu_lives = kcalloc(nr_cpu_ids, sizeof(*o->cpu_lives),
				 GFP_KERNEL_ACCOUNT);
	if (!o->rings || !o->cpu_lives) {
		kfree(o->rings);
		kfree(o->cpu_lives);
		kfree(o);
		return NULL;
	}
	kref_init(&o->ref);
	o->file = file;
	mutex_init(&o->mutex);
	o->pid_ns = get_pid_ns(task_active_pid_ns(current));
	log_init(o);
	stats_add_owner(o);
	return o;
}

static void owner_free(struct kref *ref)
{
	struct hwpmc_owner *o = container_of(ref, struct hwpmc_owner, ref);

	stats_remove_owner(o);
	rings_sync(o);
	rings_free(o);
	kfree(o->cpu_lives);
	log_free(o);
	put_pid_ns(o->pid_ns);
	mutex_destroy(&o->mutex);
	kfree(o);
}

void owner_get(struct hwpmc_owner *o)
{
	kref_get(&o->ref);
}

void owner_put(struct hwpmc_owner *o)
{
	kref_put(&o->ref, owner_free);
}

/*
 * owner_close - the last close of the file
 *
 * First no CPU that comes up gets an event any more, then the events go, then
 * the hooks; then nothing produces, and the log can end.  Does not wait for
 * user space for more than a second.
 */
void owner_close(struct hwpmc_owner *o)
{
	hotplug_remove_owner(o);
	mutex_lock(&o->mutex);
	pmc_release_all(o);
	hooks_unfollow(o);
	mutex_unlock(&o->mutex);
	log_shutdown(o);
	owner_put(o);
}
