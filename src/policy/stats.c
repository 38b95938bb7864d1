// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: what became of every overflow, per owner and for the module.
 *
 * There may be many owners with many PMCs, so adding them up can be preempted.  It
 * takes one fold_mutex after another, and owners_mutex in between to find the next
 * owner.  Only for owners that are about to be freed does it take fold_mutex with
 * owners_mutex held: see add_ending().  Holders of fold_mutex wait for no other mutex.
 * A signal ends the wait for workers of the same user, not that for the caller's own.
 */
#include <linux/mutex.h>
#include <linux/sched.h>

#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"

static DEFINE_MUTEX(sum_mutex);		/* outside of owners_mutex */
static DEFINE_MUTEX(owners_mutex);
static LIST_HEAD(owners);		/* owners_mutex */
static struct hwpmc_driverstats gone;	/* owners_mutex; of closed owners */
/* owners_mutex; number of the sum, whether it is in progress, and owners that it missed */
static u64 sums;
static bool summing;
static struct hwpmc_driverstats missed;

void hwpmc_stats_read_count(struct pmc_count *c, const struct pmc_stat *s)
{
	unsigned int i;

	c->overflows = local64_read(&s->overflows);
	c->committed = local64_read(&s->committed);
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++) {
		c->dropped[i] = atomic64_read(&s->dropped[i]);
		c->first[i] = READ_ONCE(s->first[i]);
		c->last[i] = READ_ONCE(s->last[i]);
	}
	/*
	 * the handler does not count these in overflows: without a ring no look
	 * is known to be quiet; see sample.c
	 */
	c->overflows += c->dropped[PMCLOG_DROP_NORING];
	c->filtered = local64_read(&s->filtered);
	c->cut = local64_read(&s->cut);
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		c->cut_by[i] = local64_read(&s->cut_by[i]);
	c->late = local64_read(&s->late);
	c->throttled = local64_read(&s->throttled);
}

void hwpmc_stats_add_count(struct pmclog_account *a, const struct pmc_count *c)
{
	unsigned int i;

	a->overflows += c->overflows;
	a->committed += c->committed;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		a->dropped[i] += c->dropped[i];
	a->filtered += c->filtered;
	a->cut += c->cut;
	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		a->cut_by[i] += c->cut_by[i];
	a->late += c->late;
	a->throttled += c->throttled;
}

/* An account consists of u64 counters only: they are added word by word. */
static void account_combine(struct pmclog_account *a,
			    const struct pmclog_account *b, u64 sign)
{
	const u64 *from = (const u64 *)b;
	u64 *to = (u64 *)a;
	unsigned int i;

	for (i = 0; i < sizeof(*a) / sizeof(u64); i++)
		to[i] += sign * from[i];
}

void hwpmc_stats_add_account(struct pmclog_account *a,
			     const struct pmclog_account *b)
{
	account_combine(a, b, 1);
}

void hwpmc_stats_sub_account(struct pmclog_account *a,
			     const struct pmclog_account *b)
{
	account_combine(a, b, -1ULL);
}

/* fold_mutex prevents PMCs from being folded, and so freed, meanwhile. */
static void sum_pmcs(struct hwpmc_owner *o, struct pmclog_account *a)
{
	struct pmc_count count;
	struct hwpmc_pmc *pmc;
	unsigned int row, cpu;

	mutex_lock(&o->fold_mutex);
	*a = o->log.acct.retired;
	for_each_pmc(o, row, pmc) {
		for_each_possible_cpu(cpu) {
			struct pmc_cpu *pc = smp_load_acquire(&pmc->cpus[cpu]);

			if (!pc)
				continue;
			hwpmc_stats_read_count(&count, &pc->stat);
			hwpmc_stats_add_count(a, &count);
		}
		cond_resched();
	}
	mutex_unlock(&o->fold_mutex);
}

static void sum_rings(struct hwpmc_owner *o, struct pmclog_account *a)
{
	struct owner_ring *or;
	unsigned int cpu;

	for_each_owner_ring(o, cpu, or) {
		a->proc_committed += READ_ONCE(or->proc_committed);
		a->proc_dropped += READ_ONCE(or->proc_dropped);
		a->late_answered += READ_ONCE(or->late_answered);
	}
	a->proc_dropped += atomic64_read(&o->noring.dropped) +
			   atomic64_read(&o->noring.beyond_dump);
}

/* hwpmc_stats_owner - an owner's statistics; exact while it produces nothing */
void hwpmc_stats_owner(struct hwpmc_owner *o, struct hwpmc_driverstats *st)
{
	struct hwpmc_log *log = &o->log;
	struct pmclog_account *a = &st->account;
	u64 written, discarded;
	unsigned int i;

	memset(st, 0, sizeof(*st));
	/* pairs with sink_error(): the counts are not older than the error */
	st->log_errno = -smp_load_acquire(&log->error);
	/* read before the committed count, so that in_rings is not negative */
	written = atomic64_read(&log->totals.written);
	discarded = atomic64_read(&log->totals.discarded);
	smp_rmb();
	sum_pmcs(o, a);
	sum_rings(o, a);
	a->written = written;
	a->discarded = discarded;
	a->in_rings = a->committed - a->written - a->discarded;
	a->made = atomic64_read(&log->totals.made);
	st->intr_processed = a->committed;
	st->intr_ignored = a->filtered;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		st->intr_bufferfull += a->dropped[i];
	st->syscalls = atomic64_read(&o->calls.done);
	st->syscall_errors = atomic64_read(&o->calls.failed);
	st->buffer_requests = atomic64_read(&o->calls.ring_requests);
	st->buffer_requests_failed = atomic64_read(&o->calls.ring_failures);
	st->log_sweeps = atomic64_read(&log->totals.sweeps);
	st->bytes_written = atomic64_read(&log->totals.bytes);
	st->records_written = atomic64_read(&log->totals.records);
}

static void stats_combine(struct hwpmc_driverstats *to,
			  const struct hwpmc_driverstats *from)
{
	to->intr_processed += from->intr_processed;
	to->intr_ignored += from->intr_ignored;
	to->intr_bufferfull += from->intr_bufferfull;
	to->syscalls += from->syscalls;
	to->syscall_errors += from->syscall_errors;
	to->buffer_requests += from->buffer_requests;
	to->buffer_requests_failed += from->buffer_requests_failed;
	to->log_sweeps += from->log_sweeps;
	to->bytes_written += from->bytes_written;
	to->records_written += from->records_written;
	hwpmc_stats_add_account(&to->account, &from->account);
}

void hwpmc_stats_add_owner(struct hwpmc_owner *o)
{
	mutex_lock(&owners_mutex);
	list_add(&o->sum.node, &owners);
	mutex_unlock(&owners_mutex);
}

/*
 * The last reference to @o is dropped: its statistics are added to @gone.  A sum
 * in progress that has not reached @o gets them from @missed.
 */
void hwpmc_stats_remove_owner(struct hwpmc_owner *o)
{
	struct hwpmc_driverstats st;

	hwpmc_stats_owner(o, &st);
	mutex_lock(&owners_mutex);
	list_del(&o->sum.node);
	stats_combine(&gone, &st);
	if (summing && o->sum.last != sums)
		stats_combine(&missed, &st);
	mutex_unlock(&owners_mutex);
}

/* The first owner from @node on that is not about to be freed; referenced. */
static struct hwpmc_owner *get_owner_from(struct list_head *node)
{
	struct hwpmc_owner *o;

	lockdep_assert_held(&owners_mutex);
	for (; node != &owners; node = node->next) {
		o = list_entry(node, struct hwpmc_owner, sum.node);
		if (kref_get_unless_zero(&o->ref))
			return o;
	}
	return NULL;
}

static struct hwpmc_owner *first_owner(void)
{
	struct hwpmc_owner *o;

	mutex_lock(&owners_mutex);
	o = get_owner_from(owners.next);
	mutex_unlock(&owners_mutex);
	return o;
}

/* @o is released, and must not be used any more. */
static struct hwpmc_owner *next_owner(struct hwpmc_owner *o)
{
	struct hwpmc_owner *next;

	mutex_lock(&owners_mutex);
	next = get_owner_from(o->sum.node.next);
	mutex_unlock(&owners_mutex);
	owner_put(o);
	return next;
}

struct owner_walk {
	void (*fn)(struct hwpmc_owner *o, void *arg);
	void *arg;
};

/* owners_mutex is not held while the function runs: it may read many PMCs. */
static void walk_owners(void *arg)
{
	const struct owner_walk *w = arg;
	struct hwpmc_owner *o;

	for (o = first_owner(); o; o = next_owner(o)) {
		w->fn(o, w->arg);
		cond_resched();
	}
}

/*
 * hwpmc_stats_for_each_owner - call @fn for all owners that have a reference
 * @asker: its user is charged for the time
 *
 * @fn may take the owner's fold_mutex, and may not use the current task: a worker calls
 * it, so that a caller that is not scheduled holds up no owner.  -ERESTARTSYS on a signal.
 */
int hwpmc_stats_for_each_owner(struct hwpmc_owner *asker,
			       void (*fn)(struct hwpmc_owner *o, void *arg), void *arg)
{
	struct owner_walk w = { .fn = fn, .arg = arg };

	if (hwpmc_limit_begin_work(asker))
		return -ERESTARTSYS;
	hwpmc_limit_end_work(asker, hwpmc_run_by_worker(walk_owners, &w));
	return 0;
}

static void stats_add_one(struct hwpmc_owner *o, void *arg)
{
	struct hwpmc_driverstats one;

	hwpmc_stats_owner(o, &one);
	mutex_lock(&owners_mutex);
	o->sum.last = sums;
	stats_combine(arg, &one);
	mutex_unlock(&owners_mutex);
}

/* Adds the owners that have no reference any more and are not removed yet.  owners_mutex */
static void add_ending(struct hwpmc_driverstats *st)
{
	struct hwpmc_driverstats one;
	struct hwpmc_owner *o;

	list_for_each_entry(o, &owners, sum.node) {
		if (o->sum.last == sums || kref_read(&o->ref))
			continue;
		hwpmc_stats_owner(o, &one);
		stats_combine(st, &one);
		o->sum.last = sums;
	}
}

/* In a worker: a caller that is not scheduled holds up no other sum. */
static void sum_module(void *arg)
{
	struct owner_walk w = { .fn = stats_add_one, .arg = arg };
	struct hwpmc_driverstats *st = arg;

	mutex_lock(&sum_mutex);
	mutex_lock(&owners_mutex);
	*st = gone;
	memset(&missed, 0, sizeof(missed));
	sums++;
	summing = true;
	mutex_unlock(&owners_mutex);
	walk_owners(&w);
	mutex_lock(&owners_mutex);
	add_ending(st);
	summing = false;
	stats_combine(st, &missed);
	mutex_unlock(&owners_mutex);
	mutex_unlock(&sum_mutex);
}

struct own_sum {
	struct hwpmc_owner *o;
	struct hwpmc_driverstats *st;
};

static void sum_own(void *arg)
{
	const struct own_sum *s = arg;

	hwpmc_stats_owner(s->o, s->st);
}

/*
 * hwpmc_stats_own - the statistics of the caller's owner
 *
 * By a worker, too: those who read all owners wait for its fold_mutex.  @o's user is
 * charged for the time.  -ERESTARTSYS on a signal.
 */
int hwpmc_stats_own(struct hwpmc_owner *o, struct hwpmc_driverstats *st)
{
	struct own_sum s = { .o = o, .st = st };

	if (hwpmc_limit_begin_work(o))
		return -ERESTARTSYS;
	hwpmc_limit_end_work(o, hwpmc_run_by_worker(sum_own, &s));
	st->scope = HWPMC_STATS_OWNER;
	return 0;
}

/*
 * hwpmc_stats_module - the statistics of all owners since the module was loaded
 *
 * Only one sum is made at a time.  Each owner is in it once: as it is when the sum
 * reaches it or, if it ends before, as it was at its end.  @o's user is charged for the
 * time.  -ERESTARTSYS on a signal.
 */
int hwpmc_stats_module(struct hwpmc_owner *o, struct hwpmc_driverstats *st)
{
	if (hwpmc_limit_begin_work(o))
		return -ERESTARTSYS;
	hwpmc_limit_end_work(o, hwpmc_run_by_worker(sum_module, st));
	return 0;
}
