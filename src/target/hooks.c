// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners that follow processes: those whose log describes processes, and those
 * with PMCs attached to some.
 *
 * The probes come in sets.  A set is registered for the first owner that needs it
 * and removed some time after the last one: the module costs nothing while it
 * follows nothing, and counting in processes does not make mmap() slower for others.
 */
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "hooks.h"
#include "hwpmc.h"

#define REMOVE_DELAY	(2 * HZ)

LIST_HEAD(hook_owners);
LIST_HEAD(hook_followers);
static DEFINE_MUTEX(hooks_mutex);

static int register_maps(void)
{
	int err = proc_maps_register();

	if (err)
		return err;
	err = kmod_register();
	if (err)
		proc_maps_unregister();
	return err;
}

static void unregister_maps(void)
{
	kmod_unregister();
	proc_maps_unregister();
}

/* @holders: number of owners.  Both change under hooks_mutex. */
static struct hook_set {
	int (*reg)(void);
	void (*unreg)(void);
	unsigned int holders;
	bool registered;
} sets[] = {
	[HOOK_TASKS]	= { proc_tasks_register, proc_tasks_unregister },
	[HOOK_MAPS]	= { register_maps, unregister_maps },
	[HOOK_SWITCHES]	= { proc_switch_register, proc_switch_unregister },
};

static void remove_hooks(struct work_struct *work)
{
	struct hook_set *s;

	mutex_lock(&hooks_mutex);
	for (s = sets; s < sets + ARRAY_SIZE(sets); s++) {
		if (!s->registered || s->holders)
			continue;
		s->unreg();
		s->registered = false;
	}
	mutex_unlock(&hooks_mutex);
}

static DECLARE_DELAYED_WORK(remove_work, remove_hooks);

/* Under hooks_mutex. */
static int hold(struct hwpmc_owner *o, unsigned int set)
{
	struct hook_set *s = &sets[set];
	int err;

	if (o->hooks_held & BIT(set))
		return 0;
	if (!s->registered) {
		err = s->reg();
		if (err)
			return err;
		s->registered = true;
	}
	s->holders++;
	o->hooks_held |= BIT(set);
	return 0;
}

/* Under hooks_mutex. */
static void drop(struct hwpmc_owner *o, unsigned long mask)
{
	unsigned int set;

	for_each_set_bit(set, &mask, HOOK_SETS)
		if (!--sets[set].holders)
			schedule_delayed_work(&remove_work, REMOVE_DELAY);
	o->hooks_held &= ~mask;
}

/*
 * hooks_hold - keep probes registered for @o; under owner->mutex
 * @mask: BIT(HOOK_*)
 */
int hooks_hold(struct hwpmc_owner *o, unsigned long mask)
{
	unsigned long before = o->hooks_held;
	unsigned int set;
	int err = 0;

	mutex_lock(&hooks_mutex);
	for_each_set_bit(set, &mask, HOOK_SETS) {
		err = hold(o, set);
		if (err)
			break;
	}
	if (err)
		drop(o, o->hooks_held & ~before);
	mutex_unlock(&hooks_mutex);
	return err;
}

/*
 * hooks_close - @o is closed.  Under owner->mutex.
 */
void hooks_close(struct hwpmc_owner *o)
{
	mutex_lock(&hooks_mutex);
	drop(o, o->hooks_held);
	mutex_unlock(&hooks_mutex);
}

/* @o does not follow any process any more.  Under owner->mutex. */
void hooks_let_go(struct hwpmc_owner *o)
{
	/* unwind maps need the mapping hooks as long as there are events */
	const unsigned long kept = o->unwinder ? BIT(HOOK_MAPS) : 0;

	mutex_lock(&hooks_mutex);
	drop(o, o->hooks_held & ~kept);
	mutex_unlock(&hooks_mutex);
}

/* Like hooks_follow() of targets; cannot fail, because @o holds HOOK_TASKS. */
void hooks_join(struct hwpmc_owner *o)
{
	if (o->hooked)
		return;
	mutex_lock(&hooks_mutex);
	list_add_tail_rcu(&o->hook_node, &hook_owners);
	mutex_unlock(&hooks_mutex);
	WRITE_ONCE(o->hooked, true);
}

/*
 * hooks_follow - have process records committed for @o; under owner->mutex
 * @all: of all processes; else only of targets, unless @o has all already
 */
int hooks_follow(struct hwpmc_owner *o, bool all)
{
	int err = hooks_hold(o, BIT(HOOK_TASKS) | (all ? BIT(HOOK_MAPS) : 0));

	if (err)
		return err;
	if (all && !o->follow_all) {
		/* first, so that no hook commits a record for @o twice */
		WRITE_ONCE(o->follow_all, true);
		mutex_lock(&hooks_mutex);
		list_add_tail_rcu(&o->follow_node, &hook_followers);
		mutex_unlock(&hooks_mutex);
	}
	hooks_join(o);
	return 0;
}

/*
 * When this returns, no probe commits for @o any more.  Under owner->mutex until
 * the grace period is over: only then may the nodes be added to the lists again.
 */
void hooks_unfollow(struct hwpmc_owner *o)
{
	if (!o->hooked)
		return;
	mutex_lock(&hooks_mutex);
	list_del_rcu(&o->hook_node);
	if (o->follow_all)
		list_del_rcu(&o->follow_node);
	mutex_unlock(&hooks_mutex);
	WRITE_ONCE(o->hooked, false);
	synchronize_rcu();
	/* last, for the reason in hooks_follow() */
	WRITE_ONCE(o->follow_all, false);
	/* else the targets need the hooks */
	if (list_empty(&o->targets))
		hooks_let_go(o);
}

/* Module exit: no owner is left. */
void hooks_exit(void)
{
	cancel_delayed_work_sync(&remove_work);
	remove_hooks(NULL);
}
