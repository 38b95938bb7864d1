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
#include <linux/rhashtable.h>
#include <linux/workqueue.h>

#include "hooks.h"
#include "hwpmc.h"
#include "target.h"

#define REMOVE_DELAY	(2 * HZ)

LIST_HEAD(hwpmc_hooks_owners);
LIST_HEAD(hwpmc_hooks_followers);

/* Registration of probes, which takes long and locks of the whole kernel */
static DEFINE_MUTEX(hooks_mutex);

/* The lists and the numbers of holders */
static DEFINE_SPINLOCK(hooks_lock);

/*
 * How often an owner has begun to follow all processes.  Changed under hooks_lock;
 * hwpmc_hooks_each() reads it once, so that it sees an owner that begins right now
 * either as one with targets or as a follower.
 */
static unsigned long followers_begun;

static int register_maps(void)
{
	int err = hwpmc_mapping_hooks_register();

	if (err)
		return err;
	err = hwpmc_kmod_register();
	if (err)
		hwpmc_mapping_hooks_unregister();
	return err;
}

static void unregister_maps(void)
{
	hwpmc_kmod_unregister();
	hwpmc_mapping_hooks_unregister();
}

/*
 * @holders: number of owners; hooks_lock
 * @registered: changes under hooks_mutex and hooks_lock
 */
static struct hook_set {
	int (*reg)(void);
	void (*unreg)(void);
	unsigned int holders;
	bool registered;
} sets[] = {
	[HOOK_TASKS] = { hwpmc_proc_tasks_register,
			 hwpmc_proc_tasks_unregister },
	[HOOK_MAPS] = { register_maps, unregister_maps },
	[HOOK_SWITCHES] = { hwpmc_proc_switch_register,
			    hwpmc_proc_switch_unregister },
};

/* From here on @s must be registered again before it has a holder. */
static bool may_remove(struct hook_set *s)
{
	bool may;

	lockdep_assert_held(&hooks_mutex);
	spin_lock(&hooks_lock);
	may = s->registered && !s->holders;
	if (may)
		s->registered = false;
	spin_unlock(&hooks_lock);
	return may;
}

static void remove_hooks(struct work_struct *work)
{
	struct hook_set *s;

	mutex_lock(&hooks_mutex);
	for (s = sets; s < sets + ARRAY_SIZE(sets); s++)
		if (may_remove(s))
			s->unreg();
	mutex_unlock(&hooks_mutex);
}

static DECLARE_DELAYED_WORK(remove_work, remove_hooks);

/* Makes @o a holder of the sets of @mask; returns those that are not registered. */
static unsigned long hold_registered(struct hwpmc_owner *o, unsigned long mask)
{
	unsigned long lacking = 0;
	unsigned int set;

	mask &= ~o->hooks.held;
	spin_lock(&hooks_lock);
	for_each_set_bit(set, &mask, HOOK_SETS) {
		if (sets[set].registered) {
			sets[set].holders++;
			o->hooks.held |= BIT(set);
		} else {
			lacking |= BIT(set);
		}
	}
	spin_unlock(&hooks_lock);
	return lacking;
}

static void keep_only(struct hwpmc_owner *o, unsigned long mask)
{
	unsigned long dropped = o->hooks.held & ~mask;
	unsigned int set;

	spin_lock(&hooks_lock);
	for_each_set_bit(set, &dropped, HOOK_SETS)
		if (!--sets[set].holders)
			schedule_delayed_work(&remove_work, REMOVE_DELAY);
	o->hooks.held &= ~dropped;
	spin_unlock(&hooks_lock);
}

/**
 * struct hook_request - sets of probes to be registered
 * @owner: becomes their holder
 * @lacking: sets
 * @err: out
 */
struct hook_request {
	struct hwpmc_owner *owner;
	unsigned long	lacking;
	int		err;
};

static void register_sets(void *arg)
{
	struct hook_request *r = arg;
	unsigned int set;

	mutex_lock(&hooks_mutex);
	for_each_set_bit(set, &r->lacking, HOOK_SETS) {
		if (!sets[set].registered) {
			r->err = sets[set].reg();
			if (r->err)
				break;
			spin_lock(&hooks_lock);
			sets[set].registered = true;
			spin_unlock(&hooks_lock);
		}
	}
	if (!r->err)	/* nothing is removed meanwhile */
		hold_registered(r->owner, r->lacking);
	mutex_unlock(&hooks_mutex);
	/* what was registered before an error goes */
	if (r->err)
		schedule_delayed_work(&remove_work, REMOVE_DELAY);
}

/*
 * hwpmc_hooks_hold - keep probes registered for @o; under owner->mutex
 * @mask: BIT(HOOK_*)
 *
 * A registration holds locks of the whole kernel.  So a kernel worker does it: the caller
 * may be a task that gets no CPU.
 */
int hwpmc_hooks_hold(struct hwpmc_owner *o, unsigned long mask)
{
	unsigned long before = o->hooks.held;
	struct hook_request r = {
		.owner = o,
		.lacking = hold_registered(o, mask),
	};

	if (!r.lacking)
		return 0;
	hwpmc_run_by_worker(register_sets, &r);
	if (r.err)
		keep_only(o, before);
	return r.err;
}

/*
 * hwpmc_hooks_close - @o is closed.  Under owner->mutex.
 */
void hwpmc_hooks_close(struct hwpmc_owner *o)
{
	keep_only(o, 0);
}

/*
 * hwpmc_hooks_let_go - @o has no targets: drop the probes that only targets
 * need
 *
 * The log keeps the others until it ends, so that it misses nothing between two
 * targets.  Under owner->mutex.
 */
void hwpmc_hooks_let_go(struct hwpmc_owner *o)
{
	unsigned long kept = o->hooks.hooked ? BIT(HOOK_TASKS) | BIT(HOOK_MAPS) : 0;

	/* unwind maps need the mapping hooks as long as there are events */
	if (o->unwinder)
		kept |= BIT(HOOK_MAPS);
	keep_only(o, kept);
}

/*
 * Like hwpmc_hooks_follow() of targets; cannot fail, because @o holds
 * HOOK_TASKS.
 */
void hwpmc_hooks_join(struct hwpmc_owner *o)
{
	if (o->hooks.hooked)
		return;
	spin_lock(&hooks_lock);
	list_add_tail_rcu(&o->hooks.node, &hwpmc_hooks_owners);
	spin_unlock(&hooks_lock);
	WRITE_ONCE(o->hooks.slices, true);
	WRITE_ONCE(o->hooks.hooked, true);
}

/*
 * From the store to followers_begun on, hooks take @o for a follower.  Then the forks of
 * targets that are told again (follow.c) must be in the rings before the dump of all
 * processes begins: in the log, a fork replaces the mappings of the child.
 */
static void follow_all(struct hwpmc_owner *o)
{
	spin_lock(&hooks_lock);
	WRITE_ONCE(o->hooks.follows_from, followers_begun + 1);
	list_add_tail_rcu(&o->hooks.follow_node, &hwpmc_hooks_followers);
	smp_store_release(&followers_begun, followers_begun + 1);
	spin_unlock(&hooks_lock);
	WRITE_ONCE(o->hooks.follow_all, true);
	/* no first target can appear here: attaches also need owner->mutex */
	if (!list_empty(&o->targets))
		synchronize_rcu();
}

/*
 * hwpmc_hooks_follow - have process records committed for @o; under
 * owner->mutex
 * @all: of all processes; else only of targets, unless @o has all already
 */
int hwpmc_hooks_follow(struct hwpmc_owner *o, bool all)
{
	int err = hwpmc_hooks_hold(o, BIT(HOOK_TASKS) |
				      (all ? BIT(HOOK_MAPS) : 0));

	if (err)
		return err;
	if (all && !o->hooks.follow_all)
		follow_all(o);
	hwpmc_hooks_join(o);
	return 0;
}

/*
 * When this returns, no probe commits for @o any more.  Under owner->mutex until
 * the grace period is over: only then may the nodes be added to the lists again.
 */
void hwpmc_hooks_unfollow(struct hwpmc_owner *o)
{
	if (!o->hooks.hooked)
		return;
	spin_lock(&hooks_lock);
	list_del_rcu(&o->hooks.node);
	if (o->hooks.follow_all)
		list_del_rcu(&o->hooks.follow_node);
	spin_unlock(&hooks_lock);
	WRITE_ONCE(o->hooks.hooked, false);
	synchronize_rcu();
	hwpmc_thread_end_slices(o);
	/* last: until then it has no records of its targets either */
	WRITE_ONCE(o->hooks.follows_from, 0);
	WRITE_ONCE(o->hooks.follow_all, false);
	/* else the targets need the hooks */
	if (list_empty(&o->targets))
		hwpmc_hooks_let_go(o);
}

/*
 * hwpmc_hooks_undo - drop the probes that a failed attach has added
 * @held, @hooked: the owner's hooks.held and hooks.hooked before it
 *
 * Under owner->mutex.
 */
void hwpmc_hooks_undo(struct hwpmc_owner *o, unsigned long held, bool hooked)
{
	if (!hooked && o->hooks.hooked) {
		hwpmc_hooks_unfollow(o);
		/* for the records in the rings: the thread's next sleep may be long */
		hwpmc_log_kick(o);
	}
	if (o->hooks.held & ~held)
		keep_only(o, held);
}

/* Module exit: no owner is left. */
void hwpmc_hooks_exit(void)
{
	cancel_delayed_work_sync(&remove_work);
	remove_hooks(NULL);
}

/* @begun: followers_begun, as the hook has read it */
static bool is_follower(const struct hwpmc_owner *o, unsigned long begun)
{
	unsigned long from = READ_ONCE(o->hooks.follows_from);

	return from && from <= begun;
}

/*
 * hwpmc_hooks_each - call @fn once for each owner whose log follows a process
 * @list: the process' targets
 *
 * RCU read section, preemption off.  Targets may come and go meanwhile, so @fn
 * is called for an owner from one place only.  If an owner begins to follow all
 * processes just now, its dump has the records of other processes than its targets
 * that are left out here.  What happens on another CPU than the owner is for is for
 * the log of another owner, and not lost.  An owner for some CPUs has no targets.
 */
void hwpmc_hooks_each(struct rhlist_head *list, hook_fn fn, void *arg)
{
	/* the owners that it counts are in the list */
	unsigned long begun = smp_load_acquire(&followers_begun);
	struct hwpmc_target *t;
	struct rhlist_head *pos;
	struct hwpmc_owner *o;

	for_each_hook_follower(o)
		if (is_follower(o, begun) && owner_has_cpu(o, smp_processor_id()))
			fn(o, hwpmc_target_among_rcu(list, o), arg);
	for_each_target_rcu(t, pos, list)
		if (READ_ONCE(t->owner->hooks.hooked) &&
		    !is_follower(t->owner, begun))
			fn(t->owner, t, arg);
}
