// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of the resources of one user.
 *
 * Owners are charged for their resources, on the account of the real user who
 * opened the device, even if another process uses the descriptor.  In a user
 * namespace the charge also goes to the account that the namespace's creator has
 * outside, and so on up to the first namespace.  So all users that a creator makes
 * in a namespace can together have no more than the creator.  An opener that may
 * profile the kernel has no account.
 *
 * An account lasts as long as there are owners of its user, or of a namespace that the
 * user created.  After the close an owner does not count any more, unless its writer
 * thread is stuck or a target still has work to do: then it counts, and the resources that
 * it still has stay charged, until that ends.
 * Unwind tables that a sampled task still uses stay charged until it has finished.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "hwpmc.h"
#include "trace.h"

/* names of the parameters that set the limits; NULL: the limit refuses no operation */
static const char *const limit_names[LIMIT_KINDS] = {
	[LIMIT_OWNERS]		= "max_owners",
	[LIMIT_PMCS]		= "max_pmcs",
	[LIMIT_RING_BYTES]	= "max_ringmem",
	[LIMIT_COUNTERS]	= "max_counters",
};

#define RUN_AHEAD	(100 * (s64)NSEC_PER_MSEC)	/* unused time kept */

/**
 * struct limit_account - the resources of a user of one user namespace
 * @node: under accounts_mutex
 * @ref:  owners, their unwinders, and accounts that have it as parent; under
 *	   accounts_mutex
 * @ns:   the user's namespace; referenced; constant
 * @uid:  the user; constant
 * @parent: account of @ns's creator; NULL: @ns is the first one; constant
 * @used: any context
 * @rested: when the run time of its writer threads, and of workers for it, is paid off;
 *	any context
 * @work: a worker runs for it, or for an account that has it as parent; only of an
 *	account without a parent
 */
struct limit_account {
	struct list_head node;
	unsigned int	ref;
	struct user_namespace *ns;
	kuid_t		uid;
	struct limit_account *parent;
	atomic64_t	used[LIMIT_KINDS];
	atomic64_t	rested[LIMIT_TIMES];
	struct mutex	work;
};

static LIST_HEAD(accounts);
static DEFINE_MUTEX(accounts_mutex);

static struct limit_account *find_account(struct user_namespace *ns, kuid_t uid)
{
	struct limit_account *a;

	list_for_each_entry(a, &accounts, node)
		if (a->ns == ns && uid_eq(a->uid, uid))
			return a;
	return NULL;
}

/* accounts_mutex is everybody's: a control group without memory must not hold it up. */
static struct limit_account *new_account(struct user_namespace *ns, kuid_t uid)
{
	struct limit_account *a =
		kzalloc(sizeof(*a), GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN) ?:
		kzalloc(sizeof(*a), HWPMC_GFP & ~__GFP_ACCOUNT);

	if (!a)
		return NULL;
	mutex_init(&a->work);
	a->ns = get_user_ns(ns);
	a->uid = uid;
	list_add(&a->node, &accounts);
	return a;
}

/* Also drops the references to the parents.  The first namespace has no parent. */
static void drop_account(struct limit_account *a)
{
	struct limit_account *parent;

	lockdep_assert_held(&accounts_mutex);
	for (; a && !--a->ref; a = parent) {
		parent = a->parent;
		list_del(&a->node);
		put_user_ns(a->ns);
		mutex_destroy(&a->work);
		kfree(a);
	}
}

static void put_account(struct limit_account *a)
{
	mutex_lock(&accounts_mutex);
	drop_account(a);
	mutex_unlock(&accounts_mutex);
}

/* NULL: out of memory */
static struct limit_account *get_account(struct user_namespace *ns, kuid_t uid)
{
	struct limit_account *first = NULL, **link = &first, *a;

	mutex_lock(&accounts_mutex);
	for (;;) {
		a = find_account(ns, uid) ?: new_account(ns, uid);
		if (!a)
			break;
		*link = a;
		/* an account that existed holds a reference to its parents */
		if (a->ref++ || !ns->parent)
			goto out;
		link = &a->parent;
		uid = ns->owner;
		ns = ns->parent;
	}
	drop_account(first);
	first = NULL;
out:
	mutex_unlock(&accounts_mutex);
	return first;
}

static bool limit_charge_account(struct limit_account *a, enum limit_kind kind,
				 u64 n)
{
	s64 max = hwpmc_param_limit(kind), used = atomic64_read(&a->used[kind]);

	do {
		if (used + (s64)n > max)
			return false;
	} while (!atomic64_try_cmpxchg(&a->used[kind], &used, used + n));
	return true;
}

static void limit_release_account(struct limit_account *a, enum limit_kind kind,
				  u64 n)
{
	WARN_ON_ONCE(atomic64_sub_return(n, &a->used[kind]) < 0);
}

/*
 * hwpmc_limit_charge - charge @o for @n more of @kind
 *
 * -EDQUOT: that exceeds the limit of its user, or of the creator of the user's
 * namespace.  Any context.
 */
int hwpmc_limit_charge(struct hwpmc_owner *o, enum limit_kind kind, u64 n)
{
	struct limit_account *a, *done;

	for (a = o->limit.account; a; a = a->parent)
		if (!limit_charge_account(a, kind, n))
			break;
	if (!a)
		return 0;
	for (done = o->limit.account; done != a; done = done->parent)
		limit_release_account(done, kind, n);
	if (limit_names[kind])
		trace_hwpmc_refusal(o, limit_names[kind], -EDQUOT);
	return -EDQUOT;
}

/*
 * hwpmc_limit_give_back - release @n of @kind, which an owner of @a was charged for
 * @a: NULL: an owner without an account
 *
 * Any context.
 */
void hwpmc_limit_give_back(struct limit_account *a, enum limit_kind kind, u64 n)
{
	for (; a; a = a->parent)
		limit_release_account(a, kind, n);
}

/* Releases @n of @kind, which @o was charged for.  Any context. */
void hwpmc_limit_release(struct hwpmc_owner *o, enum limit_kind kind, u64 n)
{
	hwpmc_limit_give_back(o->limit.account, kind, n);
}

/* @cost: time in nanoseconds; returns how much of it is still to be paid off. */
static u64 limit_spend_time(atomic64_t *rests, s64 now, s64 cost)
{
	s64 rested = atomic64_read(rests), then;

	do {
		then = max(rested, now - RUN_AHEAD) + cost;
	} while (!atomic64_try_cmpxchg(rests, &rested, then));
	return max(then - now, 0LL);
}

/*
 * hwpmc_limit_run - @o's writer thread, or a worker for @o, has run for @ran nanoseconds
 *
 * Returns how long it must rest.  All writer threads of an account together use no more
 * CPU time than their share, nor do all workers.  Any context.
 */
u64 hwpmc_limit_run(struct hwpmc_owner *o, enum limit_time kind, u64 ran)
{
	u64 cost = div_u64(ran * 100, hwpmc_param_cpu_percent()), wait = 0;
	s64 now = ktime_get_ns();
	struct limit_account *a;

	for (a = o->limit.account; a; a = a->parent)
		wait = max(wait, limit_spend_time(&a->rested[kind], now, cost));
	return wait;
}

/* One worker at a time runs for all users of a namespace and its creator. */
static struct limit_account *account_of_work(const struct hwpmc_owner *o)
{
	struct limit_account *a = o->limit.account;

	while (a && a->parent)
		a = a->parent;
	return a;
}

/* Waits until all time of workers is paid off.  -ERESTARTSYS on a signal. */
static int pay_for_work(struct hwpmc_owner *o)
{
	u64 wait;

	while ((wait = hwpmc_limit_run(o, LIMIT_WORKERS, 0))) {
		schedule_timeout_interruptible(nsecs_to_jiffies(wait) + 1);
		if (signal_pending(current))
			return -ERESTARTSYS;
	}
	return 0;
}

/*
 * hwpmc_limit_begin_work - a worker is to run for @o's user
 *
 * A caller that uses little time itself can make a worker use much.  Waits for other
 * workers of the user, and until they have rested.  Called without locks.  -ERESTARTSYS on
 * a signal; otherwise hwpmc_limit_end_work() must follow.
 */
int hwpmc_limit_begin_work(struct hwpmc_owner *o)
{
	struct limit_account *a = account_of_work(o);

	if (!a)
		return 0;
	for (;;) {
		if (pay_for_work(o) || mutex_lock_interruptible(&a->work))
			return -ERESTARTSYS;
		if (!hwpmc_limit_run(o, LIMIT_WORKERS, 0))
			return 0;
		mutex_unlock(&a->work);
	}
}

/* The worker has run for @ran nanoseconds. */
void hwpmc_limit_end_work(struct hwpmc_owner *o, u64 ran)
{
	struct limit_account *a = account_of_work(o);

	if (!a)
		return;
	hwpmc_limit_run(o, LIMIT_WORKERS, ran);
	mutex_unlock(&a->work);
}

/*
 * hwpmc_limit_open - charge for a new owner, opened by the caller
 *
 * -EMFILE: too many owners.  After this error and -ENOMEM nothing needs to be
 * undone.
 */
int hwpmc_limit_open(struct hwpmc_owner *o)
{
	refcount_set(&o->limit.holders, 1);
	if (perfmon_capable())
		return 0;
	o->limit.account = get_account(o->cred->user_ns, o->cred->uid);
	if (!o->limit.account)
		return -ENOMEM;
	if (hwpmc_limit_charge(o, LIMIT_OWNERS, 1)) {
		put_account(o->limit.account);
		return -EMFILE;
	}
	return 0;
}

/* One more holder of @o, which has one.  Any context. */
void hwpmc_limit_keep(struct hwpmc_owner *o)
{
	refcount_inc(&o->limit.holders);
}

/*
 * hwpmc_limit_leave - the file is closed, or the writer thread or a target is gone
 *
 * The last holder ends the charge for the owner.  The last reference would end it too
 * late: the writer thread has one for a moment after its log has ended, and the device may
 * be opened again as soon as close(2) has returned.  Any context.
 */
void hwpmc_limit_leave(struct hwpmc_owner *o)
{
	if (refcount_dec_and_test(&o->limit.holders))
		hwpmc_limit_release(o, LIMIT_OWNERS, 1);
}

/*
 * hwpmc_limit_hold - the account of @o, referenced, for an object that outlives @o
 *
 * May be NULL.  hwpmc_limit_drop() drops it.
 */
struct limit_account *hwpmc_limit_hold(struct hwpmc_owner *o)
{
	if (o->limit.account) {
		mutex_lock(&accounts_mutex);
		o->limit.account->ref++;
		mutex_unlock(&accounts_mutex);
	}
	return o->limit.account;
}

/* The holder of @a, which may be NULL, has no charges any more. */
void hwpmc_limit_drop(struct limit_account *a)
{
	if (a)
		put_account(a);
}
