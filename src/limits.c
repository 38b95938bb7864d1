// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much one user can have.
 *
 * What is counted belongs to owners, and goes to the account of the real user
 * who opened the device, whoever uses it since.  In a user namespace it also goes
 * to the account that the namespace's creator has outside, and so on up to the
 * first namespace: all users that a namespace has for its creator can have no
 * more together than he can.  An opener that may profile the kernel has none.
 *
 * An account lasts as long as there are owners of its user, or of a namespace
 * that he made; an owner whose writing thread is stuck counts until that lets it
 * go.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "hwpmc.h"
#include "trace.h"

/* by the parameters that set them */
static const char *const limit_names[LIMIT_KINDS] = {
	[LIMIT_OWNERS]		= "max_owners",
	[LIMIT_PMCS]		= "max_pmcs",
	[LIMIT_RING_BYTES]	= "max_ringmem",
	[LIMIT_COUNTERS]	= "max_counters",
};

#define RUN_AHEAD	(100 * (s64)NSEC_PER_MSEC)	/* of rest saved up */

/**
 * struct limit_account - what a user has, as a user of one user namespace
 * @node: accounts_mutex
 * @ref:  owners, and accounts whose parent it is; accounts_mutex
 * @ns:   whose; referenced; constant
 * @uid:  whose; constant
 * @parent: of the user who made @ns; NULL: @ns is the first one; constant
 * @used: any context
 * @rested: when what its writing threads have run for is paid; any context
 */
struct limit_account {
	struct list_head node;
	unsigned int	ref;
	struct user_namespace *ns;
	kuid_t		uid;
	struct limit_account *parent;
	atomic64_t	used[LIMIT_KINDS];
	atomic64_t	rested;
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

static struct limit_account *new_account(struct user_namespace *ns, kuid_t uid)
{
	struct limit_account *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return NULL;
	a->ns = get_user_ns(ns);
	a->uid = uid;
	list_add(&a->node, &accounts);
	return a;
}

/* ... and what it keeps of those above it.  NULL: there are none above it. */
static void drop_account(struct limit_account *a)
{
	struct limit_account *parent;

	lockdep_assert_held(&accounts_mutex);
	for (; a && !--a->ref; a = parent) {
		parent = a->parent;
		list_del(&a->node);
		put_user_ns(a->ns);
		kfree(a);
	}
}

static void put_account(struct limit_account *a)
{
	mutex_lock(&accounts_mutex);
	drop_account(a);
	mutex_unlock(&accounts_mutex);
}

/* NULL: no memory */
static struct limit_account *get_account(struct user_namespace *ns, kuid_t uid)
{
	struct limit_account *first = NULL, **link = &first, *a;

	mutex_lock(&accounts_mutex);
	for (;;) {
		a = find_account(ns, uid) ?: new_account(ns, uid);
		if (!a)
			break;
		*link = a;
		/* who was there has a reference to those above */
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

static bool charge(struct limit_account *a, enum limit_kind kind, u64 n)
{
	s64 max = param_limit(kind), used = atomic64_read(&a->used[kind]);

	do {
		if (used + (s64)n > max)
			return false;
	} while (!atomic64_try_cmpxchg(&a->used[kind], &used, used + n));
	return true;
}

static void release(struct limit_account *a, enum limit_kind kind, u64 n)
{
	WARN_ON_ONCE(atomic64_sub_return(n, &a->used[kind]) < 0);
}

/*
 * limit_charge - @n more of @kind for @o
 *
 * -EDQUOT: that is more than its user can have, or who made his namespace.  Any
 * context.
 */
int limit_charge(struct hwpmc_owner *o, enum limit_kind kind, u64 n)
{
	struct limit_account *a, *done;

	for (a = o->account; a; a = a->parent)
		if (!charge(a, kind, n))
			break;
	if (!a)
		return 0;
	for (done = o->account; done != a; done = done->parent)
		release(done, kind, n);
	trace_hwpmc_refusal(o, limit_names[kind], -EDQUOT);
	return -EDQUOT;
}

/* What was charged, no more and no less.  Any context. */
void limit_release(struct hwpmc_owner *o, enum limit_kind kind, u64 n)
{
	struct limit_account *a;

	for (a = o->account; a; a = a->parent)
		release(a, kind, n);
}

/* @cost: of time, in nanoseconds; returns how much of it is still to come. */
static u64 spend(struct limit_account *a, s64 now, s64 cost)
{
	s64 rested = atomic64_read(&a->rested), then;

	do {
		then = max(rested, now - RUN_AHEAD) + cost;
	} while (!atomic64_try_cmpxchg(&a->rested, &rested, then));
	return max(then - now, 0LL);
}

/*
 * limit_run - @o's writing thread has run for @ran nanoseconds
 *
 * Returns for how long it is to sleep.  All writing threads of an account together
 * take no more of the CPUs than their share.  Any context.
 */
u64 limit_run(struct hwpmc_owner *o, u64 ran)
{
	u64 cost = div_u64(ran * 100, param_cpu_percent()), wait = 0;
	s64 now = ktime_get_ns();
	struct limit_account *a;

	for (a = o->account; a; a = a->parent)
		wait = max(wait, spend(a, now, cost));
	return wait;
}

/*
 * limit_open - a new owner, opened by the caller
 *
 * -EMFILE: that would be too many.  Then and after -ENOMEM there is nothing to
 * take back.
 */
int limit_open(struct hwpmc_owner *o)
{
	if (perfmon_capable())
		return 0;
	o->account = get_account(o->cred->user_ns, o->cred->uid);
	if (!o->account)
		return -ENOMEM;
	if (limit_charge(o, LIMIT_OWNERS, 1)) {
		put_account(o->account);
		return -EMFILE;
	}
	return 0;
}

/* Its device is closed; it may linger, with what is charged for it. */
void limit_close(struct hwpmc_owner *o)
{
	limit_release(o, LIMIT_OWNERS, 1);
}

/* The owner has nothing any more. */
void limit_forget(struct hwpmc_owner *o)
{
	if (o->account)
		put_account(o->account);
}
