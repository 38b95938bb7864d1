// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much one user can have.
 *
 * What is counted belongs to owners, and goes to the account of the real user
 * who opened the device, whoever uses it since.  Who may profile the kernel has
 * no account.  An account lasts as long as there are owners of its user; an
 * owner whose writing thread is stuck counts until that lets it go.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "hwpmc.h"

struct limit_account {
	struct list_head node;		/* accounts_mutex */
	unsigned int	ref;		/* owners; accounts_mutex */
	kuid_t		uid;		/* constant */
	atomic64_t	used[LIMIT_KINDS];	/* any context */
};

static LIST_HEAD(accounts);
static DEFINE_MUTEX(accounts_mutex);

static struct limit_account *find_account(kuid_t uid)
{
	struct limit_account *a;

	list_for_each_entry(a, &accounts, node)
		if (uid_eq(a->uid, uid))
			return a;
	return NULL;
}

static struct limit_account *get_account(kuid_t uid)
{
	struct limit_account *a;

	mutex_lock(&accounts_mutex);
	a = find_account(uid);
	if (!a) {
		a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
		if (a) {
			a->uid = uid;
			list_add(&a->node, &accounts);
		}
	}
	if (a)
		a->ref++;
	mutex_unlock(&accounts_mutex);
	return a;
}

static void put_account(struct limit_account *a)
{
	mutex_lock(&accounts_mutex);
	if (!--a->ref) {
		list_del(&a->node);
		kfree(a);
	}
	mutex_unlock(&accounts_mutex);
}

/*
 * limit_charge - @n more of @kind for @o
 *
 * -EDQUOT: that is more than its user can have.  Any context.
 */
int limit_charge(struct hwpmc_owner *o, enum limit_kind kind, u64 n)
{
	s64 max = param_limit(kind), used;

	if (!o->account)
		return 0;
	used = atomic64_read(&o->account->used[kind]);
	do {
		if (used + (s64)n > max)
			return -EDQUOT;
	} while (!atomic64_try_cmpxchg(&o->account->used[kind], &used,
				       used + n));
	return 0;
}

/* What was charged, no more and no less.  Any context. */
void limit_release(struct hwpmc_owner *o, enum limit_kind kind, u64 n)
{
	if (o->account)
		WARN_ON_ONCE(atomic64_sub_return(n, &o->account->used[kind]) <
			     0);
}

/*
 * limit_open - a new owner, opened by the caller
 *
 * -EMFILE: its user has too many.  Then and after -ENOMEM there is nothing to
 * take back.
 */
int limit_open(struct hwpmc_owner *o)
{
	if (perfmon_capable())
		return 0;
	o->account = get_account(o->cred->uid);
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
