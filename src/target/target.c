// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets and their links to PMCs: how they are created and removed.
 *
 * All under owner->targets_mutex unless stated otherwise.
 */
#include <linux/pid.h>
#include <linux/slab.h>

#include "hwpmc.h"
#include "pmc/pmc.h"
#include "target.h"
#include "trace.h"

/* Returns NULL without memory. */
struct hwpmc_target *hwpmc_target_new(struct hwpmc_owner *o, struct pid *pid,
				      u32 nr)
{
	struct hwpmc_target *t = target_alloc(sizeof(*t));

	if (!t)
		return NULL;
	kref_init(&t->ref);
	t->owner = o;
	t->pid = pid;
	t->nr = nr;
	t->told_at = READ_ONCE(o->log.told.attaches) - 1;	/* in none yet */
	INIT_LIST_HEAD(&t->links);
	INIT_LIST_HEAD(&t->threads);
	/* hooks find @t from here on; the caller holds the owner and @pid */
	if (hwpmc_targets_insert(t)) {
		kfree(t);
		return NULL;
	}
	owner_get(o);
	hwpmc_limit_keep(o);
	get_pid(pid);
	list_add_tail(&t->node, &o->targets);
	return t;
}

static void target_free(struct kref *ref)
{
	struct hwpmc_target *t = container_of(ref, struct hwpmc_target, ref);

	put_pid(t->pid);
	hwpmc_limit_leave(t->owner);
	owner_put(t->owner);
	kfree_rcu(t, rcu);
}

/* Process context, with or without the mutex. */
void hwpmc_target_put(struct hwpmc_target *t)
{
	kref_put(&t->ref, target_free);
}

/* Updates the summary of the links that hooks read. */
static void target_summarize_links(struct hwpmc_target *t)
{
	unsigned int sampled = 0;
	struct target_link *link;
	bool descend = false;

	list_for_each_entry(link, &t->links, node) {
		descend |= link_logs(link, HWPMC_F_DESCENDANTS);
		sampled += pmc_is_sampling(link->pmc);
	}
	WRITE_ONCE(t->descend, descend);
	WRITE_ONCE(t->sampled, sampled);
	if (!sampled)
		t->maps_log = 0;	/* new mappings are not logged any more */
	link = list_first_entry_or_null(&t->links, struct target_link, node);
	WRITE_ONCE(t->first_id, link ? link->pmc->id : PMCLOG_PMCID_NONE);
}

struct target_link *hwpmc_target_find_link(const struct hwpmc_target *t,
					   const struct hwpmc_pmc *pmc)
{
	struct target_link *link;

	list_for_each_entry(link, &t->links, node)
		if (link->pmc == pmc)
			return link;
	return NULL;
}

/* Returns NULL without memory.  The threads get their counters later. */
struct target_link *hwpmc_target_link(struct hwpmc_target *t,
				      struct hwpmc_pmc *pmc)
{
	struct target_link *link = target_alloc(sizeof(*link));

	if (!link)
		return NULL;
	link->pmc = pmc;
	list_add_tail(&link->node, &t->links);
	pmc->ntargets++;
	pmc->attached = true;
	target_summarize_links(t);
	trace_hwpmc_target(t->owner, "attach", pmc->id, t->nr);
	return link;
}

/*
 * hwpmc_target_stop_link - stop a PMC in a target
 *
 * The caller drops the @stopped events of several targets at once with
 * hwpmc_thread_events_drop(), and then calls hwpmc_target_unlink().
 */
void hwpmc_target_stop_link(struct hwpmc_target *t, struct target_link *link,
			    struct list_head *stopped)
{
	struct target_thread *tt;
	struct thread_event *te, *next;

	link->leaves = true;
	list_for_each_entry(tt, &t->threads, node)
		list_for_each_entry_safe(te, next, &tt->events, node)
			if (te->link == link)
				hwpmc_thread_event_stop(tt, te, stopped);
}

/* Detaches the PMC from the target.  Its count goes to pmc->gone. */
void hwpmc_target_unlink(struct hwpmc_target *t, struct target_link *link)
{
	LIST_HEAD(stopped);

	hwpmc_target_stop_link(t, link, &stopped);
	hwpmc_thread_events_drop(&stopped);
	trace_hwpmc_target(t->owner, "detach", link->pmc->id, t->nr);
	sum_add(&link->pmc->gone, &link->sum);
	link->pmc->ntargets--;
	list_del(&link->node);
	kfree(link);
	target_summarize_links(t);
}

/* Logs a PMCATTACH without a path. */
void hwpmc_target_log_attach(const struct hwpmc_target *t,
			     const struct hwpmc_pmc *pmc)
{
	struct {
		struct pmclog_pmcattach a;
		char path[4];
	} r = {
		.a.h.header = PMCLOG_HEADER(PMCLOG_T_PMCATTACH, sizeof(r.a) +
					    sizeof(r.path)),
		.a.pmcid = pmc->id,
		.a.pid = t->nr,
	};

	hwpmc_follow_record_now(t->owner, &r, sizeof(r.a) + sizeof(r.path),
				PMCLOG_PID_KERNEL);
}

/*
 * Do the current log, and the next one if it is being made, have the link's
 * PMCATTACH before all later records?
 */
bool hwpmc_target_link_told(const struct hwpmc_target *t,
			    const struct target_link *link)
{
	return link->told_log == READ_ONCE(t->owner->log.told.telling);
}

/*
 * If the target ends before the writer thread has noted it, its PMCATTACH is
 * logged here.
 */
static void log_procexit(struct hwpmc_target *t, struct target_link *link)
{
	struct pmclog_procexit x = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PROCEXIT, sizeof(x)),
		.pmcid = link->pmc->id,
		.pid = t->nr,
		.value = link->sum.value,
		.enabled = link->sum.enabled,
		.running = link->sum.running,
	};

	if (!hwpmc_target_link_told(t, link))
		hwpmc_target_log_attach(t, link->pmc);
	hwpmc_follow_record_now(t->owner, &x, sizeof(x), PMCLOG_PID_KERNEL);
}

static void log_sysexit(struct hwpmc_target *t)
{
	struct pmclog_sysexit x = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_SYSEXIT, sizeof(x)),
		.pid = t->nr,
	};

	hwpmc_follow_record_now(t->owner, &x, sizeof(x), t->nr);
}

static void remove_target(struct hwpmc_target *t)
{
	struct target_thread *tt, *next;

	t->gone = true;
	list_for_each_entry_safe(tt, next, &t->threads, node)
		hwpmc_thread_drop(tt);
	hwpmc_targets_remove(t);
	list_del(&t->node);
	hwpmc_target_put(t);
}

/*
 * hwpmc_target_lost - a PMC has lost its last target: wake the waiters
 *
 * Process context.
 */
void hwpmc_target_lost(struct hwpmc_owner *o)
{
	WRITE_ONCE(o->lost_all, list_empty(&o->targets));
	kill_fasync(&o->fasync, SIGIO, POLL_HUP);
	wake_up_all(&o->log.waitq);
}

/* Would the PMC lose its last target with @link?  Not during an attach. */
bool hwpmc_target_link_last(const struct target_link *link)
{
	return link->pmc->ntargets == 1 && !link->fresh;
}

/*
 * A process that no log has gets no SYSEXIT.  While the next log is made, the
 * process may be in that one, or in the current one only.
 */
static bool is_in_log(const struct hwpmc_target *t)
{
	const struct hwpmc_owner *o = t->owner;

	return READ_ONCE(o->hooks.follow_all) ||
	       t->names_log == READ_ONCE(o->log.told.telling) ||
	       t->names_log == READ_ONCE(o->log.told.number);
}

/*
 * Logs the end, after the counts.  If the owner follows all processes and the last
 * thread has not reached the exit hook yet, the hook logs it: that thread may be one
 * that is not followed.
 */
static void tell_end(struct hwpmc_target *t)
{
	bool seen = test_and_set_bit(0, &t->ended);

	if (READ_ONCE(t->owner->hooks.follow_all) ? seen : is_in_log(t))
		log_sysexit(t);
}

static void process_ended(struct hwpmc_target *t)
{
	struct target_link *link, *next;

	list_for_each_entry_safe(link, next, &t->links, node) {
		if (link_logs(link, HWPMC_F_LOG_PROCEXIT))
			log_procexit(t, link);
		hwpmc_target_unlink(t, link);
	}
	tell_end(t);
}

/*
 * hwpmc_target_settle - after threads or links have gone: remove the target?
 *
 * A child that is being created keeps its parent's target, because it takes
 * over the links.  A process may have threads left that could not be followed
 * for lack of memory.  It has not ended, but nothing counts in it any more.
 * The caller holds a reference.
 */
void hwpmc_target_settle(struct hwpmc_target *t)
{
	struct target_link *link;
	struct hwpmc_owner *o = t->owner;
	bool lost = false;

	if (t->gone)
		return;
	if (list_empty(&t->links)) {
		/* otherwise the exit hook logs the end: there is no target any more */
		if (test_and_set_bit(0, &t->ended) && READ_ONCE(o->hooks.follow_all))
			log_sysexit(t);
		remove_target(t);
		return;
	}
	if (!list_empty(&t->threads) || atomic_read(&t->pending))
		return;
	if (hwpmc_thread_left(t)) {
		t->left = true;
		hwpmc_target_detach_all(t);	/* returns here without links */
		return;
	}
	list_for_each_entry(link, &t->links, node)
		lost |= hwpmc_target_link_last(link);
	process_ended(t);
	remove_target(t);
	if (lost)
		hwpmc_target_lost(o);
}
