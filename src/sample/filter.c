// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMCFILTER: selects which samples of a PMC are wanted.
 *
 * A filter is built in advance, replaces the previous one while its PMC does not
 * run, and never changes.  The overflow handler finds it through RCU.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"

/**
 * struct condition - all constant
 * @what:   HWPMC_COND_*
 * @ne:     not equal
 * @nr:     PID, TID
 * @comm:   COMM
 * @cgroup: CGROUP, referenced
 */
struct condition {
	u32		what;
	bool		ne;
	u32		nr;
	char		comm[TASK_COMM_LEN];
	struct cgroup	*cgroup;
};

/**
 * struct pmc_filter - all constant
 * @n:    number of @conditions
 * @must: BIT(what) of each kind of condition of which a sample must meet one
 * @conditions: as the caller gave them
 */
struct pmc_filter {
	unsigned int	n;
	unsigned int	must;
	struct condition conditions[];
};

/* The matches_*() functions run in the overflow handler: see sample.c. */

static bool matches_pid(const struct hwpmc_pmc *pmc, const struct condition *c,
			struct pt_regs *regs)
{
	return owner_pid_of(pmc->owner, current) == c->nr;
}

static bool matches_tid(const struct hwpmc_pmc *pmc, const struct condition *c,
			struct pt_regs *regs)
{
	return owner_tid_of(pmc->owner, current) == c->nr;
}

/* A concurrent rename may give the old name, the new one, or a mixture. */
static bool matches_comm(const struct hwpmc_pmc *pmc, const struct condition *c,
			 struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < TASK_COMM_LEN; i++) {
		char now = data_race(READ_ONCE(current->comm[i]));

		if (now != c->comm[i])
			return false;
		if (!now)
			break;
	}
	return true;
}

/* RCU read section */
static bool matches_cgroup(const struct hwpmc_pmc *pmc,
			   const struct condition *c, struct pt_regs *regs)
{
	return compat_in_cgroup(current, c->cgroup);
}

static bool matches_user(const struct hwpmc_pmc *pmc, const struct condition *c,
			 struct pt_regs *regs)
{
	return user_mode(regs);
}

/* The idle task is 0; -1: in another pid namespace, or already reaped. */
static int take_number(struct condition *c, const struct hwpmc_condition *from)
{
	if (from->value < -1 || from->value > S32_MAX)
		return -EINVAL;
	c->nr = from->value;
	return 0;
}

static int take_comm(struct condition *c, const struct hwpmc_condition *from)
{
	size_t len = strnlen(from->comm, sizeof(from->comm));

	BUILD_BUG_ON(sizeof(c->comm) != sizeof(from->comm));
	if (from->value || len == sizeof(from->comm) ||
	    memchr_inv(from->comm + len, 0, sizeof(from->comm) - len))
		return -EINVAL;
	memcpy(c->comm, from->comm, sizeof(c->comm));
	return 0;
}

/* EBADF: not a cgroup2 directory; ENOENT: it has been removed */
static int take_cgroup(struct condition *c, const struct hwpmc_condition *from)
{
	struct cgroup *cgroup;

	if (from->value < 0 || from->value > S32_MAX)
		return -EBADF;
	cgroup = compat_cgroup_get(from->value);
	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	c->cgroup = cgroup;
	return 0;
}

static int take_nothing(struct condition *c, const struct hwpmc_condition *from)
{
	return from->value ? -EINVAL : 0;
}

static const struct kind {
	int (*take)(struct condition *c, const struct hwpmc_condition *from);
	bool (*matches)(const struct hwpmc_pmc *pmc, const struct condition *c,
			struct pt_regs *regs);
} kinds[] = {
	[HWPMC_COND_PID]	= { take_number, matches_pid },
	[HWPMC_COND_TID]	= { take_number, matches_tid },
	[HWPMC_COND_COMM]	= { take_comm, matches_comm },
	[HWPMC_COND_CGROUP]	= { take_cgroup, matches_cgroup },
	[HWPMC_COND_USER]	= { take_nothing, matches_user },
};

/*
 * hwpmc_filter_refuses - is there a condition that the coming sample does not
 * meet?
 *
 * Runs in the overflow handler: see sample.c.
 */
bool hwpmc_filter_refuses(const struct hwpmc_pmc *pmc, struct pt_regs *regs)
{
	const struct pmc_filter *f;
	unsigned int i, met = 0;
	bool refused = false;

	rcu_read_lock();
	f = rcu_dereference(pmc->filter);
	for (i = 0; f && i < f->n && !refused; i++) {
		const struct condition *c = &f->conditions[i];

		if (!kinds[c->what].matches(pmc, c, regs))
			continue;
		refused = c->ne;
		met |= BIT(c->what);
	}
	if (f)
		refused |= f->must & ~met;
	rcu_read_unlock();
	return refused;
}

static void free_filter(struct pmc_filter *f)
{
	unsigned int i;

	for (i = 0; f && i < f->n; i++)
		if (f->conditions[i].cgroup)
			compat_cgroup_put(f->conditions[i].cgroup);
	kfree(f);
}

static int add_condition(struct pmc_filter *f,
			 const struct hwpmc_condition *from)
{
	struct condition *c = &f->conditions[f->n];
	int err;

	if (!from->what || from->what >= ARRAY_SIZE(kinds) ||
	    from->op > HWPMC_COND_NE)
		return -EINVAL;
	if (from->what != HWPMC_COND_COMM &&
	    memchr_inv(from->comm, 0, sizeof(from->comm)))
		return -EINVAL;
	c->what = array_index_nospec(from->what, ARRAY_SIZE(kinds));
	c->ne = from->op == HWPMC_COND_NE;
	err = kinds[c->what].take(c, from);
	if (err)
		return err;
	if (!c->ne)
		f->must |= BIT(c->what);
	f->n++;
	return 0;
}

static struct pmc_filter *new_filter(const struct hwpmc_filter *a)
{
	struct hwpmc_condition *from;
	struct pmc_filter *f;
	int err = 0;
	u32 i;

	from = memdup_user(u64_to_user_ptr(a->conditions),
			   a->n * sizeof(*from));
	if (IS_ERR(from))
		return ERR_CAST(from);
	f = kzalloc(struct_size(f, conditions, a->n), HWPMC_GFP);
	if (!f)
		err = -ENOMEM;
	for (i = 0; i < a->n && !err; i++)
		err = add_condition(f, &from[i]);
	kfree(from);
	if (!err)
		return f;
	free_filter(f);
	return ERR_PTR(err);
}

/*
 * hwpmc_filter_set - PMCFILTER of @pmc; under owner->mutex
 *
 * EINVAL: the PMC does not sample, or a condition is invalid.  EBUSY: the PMC
 * runs.  E2BIG, EFAULT, ENOMEM; for a cgroup's fd EBADF, ENOENT, EOPNOTSUPP.
 */
int hwpmc_filter_set(struct hwpmc_pmc *pmc, const struct hwpmc_filter *a)
{
	struct pmc_filter *f = NULL, *old;

	if (!pmc_is_sampling(pmc))
		return -EINVAL;
	if (pmc->state == PMC_RUNNING)
		return -EBUSY;
	if (a->n > HWPMC_NCONDITION)
		return -E2BIG;
	if (a->n)
		f = new_filter(a);
	if (IS_ERR(f))
		return PTR_ERR(f);
	old = rcu_replace_pointer(pmc->filter, f, lockdep_is_held(&pmc->owner->mutex));
	if (old) {
		synchronize_rcu();	/* a handler that began before the stop */
		free_filter(old);
	}
	return 0;
}

/* The PMC is freed; its events are gone, and a grace period has passed since. */
void hwpmc_filter_free(struct hwpmc_pmc *pmc)
{
	free_filter(rcu_dereference_protected(pmc->filter, true));
}
