// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who follows processes: the owners with a system-wide sampling PMC.
 *
 * The probes are registered with the first of them and removed some time after
 * the last: a module that samples nothing costs nothing.
 */
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "hwpmc.h"

#define REMOVE_DELAY	(2 * HZ)

LIST_HEAD(hook_owners);
static DEFINE_MUTEX(hooks_mutex);
static bool registered;			/* hooks_mutex */

static void remove_hooks(struct work_struct *work)
{
	mutex_lock(&hooks_mutex);
	if (registered && list_empty(&hook_owners)) {
		kmod_unregister();
		proc_probes_unregister();
		registered = false;
	}
	mutex_unlock(&hooks_mutex);
}

static DECLARE_DELAYED_WORK(remove_work, remove_hooks);

static int register_hooks(void)
{
	int err;

	if (registered)
		return 0;
	err = proc_probes_register();
	if (err)
		return err;
	err = kmod_register();
	if (err) {
		proc_probes_unregister();
		return err;
	}
	registered = true;
	return 0;
}

/*
 * hooks_follow - have process records committed for @o; owner->mutex
 */
int hooks_follow(struct hwpmc_owner *o)
{
	int err = 0;

	if (o->hooked)
		return 0;
	mutex_lock(&hooks_mutex);
	err = register_hooks();
	if (!err) {
		list_add_tail_rcu(&o->hook_node, &hook_owners);
		WRITE_ONCE(o->hooked, true);
	}
	mutex_unlock(&hooks_mutex);
	return err;
}

/* No probe commits for @o any more when this returns.  owner->mutex. */
void hooks_unfollow(struct hwpmc_owner *o)
{
	if (!o->hooked)
		return;
	mutex_lock(&hooks_mutex);
	list_del_rcu(&o->hook_node);
	if (list_empty(&hook_owners))
		schedule_delayed_work(&remove_work, REMOVE_DELAY);
	mutex_unlock(&hooks_mutex);
	synchronize_rcu();
	WRITE_ONCE(o->hooked, false);
}

/* Module exit: nobody follows. */
void hooks_exit(void)
{
	cancel_delayed_work_sync(&remove_work);
	remove_hooks(NULL);
}
