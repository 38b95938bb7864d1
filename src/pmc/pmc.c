// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a PMC: allocate, start, stop, release.
 *
 * Everything here runs in an ioctl (or the last close) under owner->mutex.  The order
 * of the checks is part of the interface.
 */
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "compat.h"
#include "target/hooks.h"
#include "hwpmc.h"
#include "pmc.h"
#include "target/target.h"

#define FLAGS_KNOWN	(HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW | \
			 HWPMC_F_LOG_PROCEXIT | HWPMC_F_CALLCHAIN | \
			 HWPMC_F_USERCALLCHAIN | HWPMC_F_EXCLUDE_IDLE | \
			 HWPMC_F_INCLUDE_OWNER | HWPMC_F_TRIGGER | \
			 HWPMC_F_RAW | HWPMC_F_UNWIND | HWPMC_F_FREQ | \
			 HWPMC_F_OF_PMU)

static int check_cpu(const struct hwpmc_owner *o,
		     const struct hwpmc_allocate *a)
{
	if (a->mode > HWPMC_MODE_TC)
		return -EINVAL;
	if (a->cpu < HWPMC_CPU_ALL || a->cpu >= (int)nr_cpu_ids)
		return -EINVAL;
	if (!mode_is_system(a->mode))	/* processes run on all CPUs */
		return a->cpu == HWPMC_CPU_ANY && !o->hp.only ? 0 : -EINVAL;
	if (a->cpu == HWPMC_CPU_ANY)
		return -EINVAL;
	if (a->cpu == HWPMC_CPU_ALL)
		return 0;
	if (!cpu_possible(a->cpu) || !owner_has_cpu(o, a->cpu))
		return -EINVAL;
	return cpu_online(a->cpu) ? 0 : -ENXIO;
}

static int check_flags(const struct hwpmc_allocate *a)
{
	if (a->flags & ~FLAGS_KNOWN)
		return -EINVAL;
	if (mode_is_system(a->mode) && (a->flags & (HWPMC_F_LOG_PROCCSW |
					       HWPMC_F_LOG_PROCEXIT |
					       HWPMC_F_DESCENDANTS)))
		return -EINVAL;
	/* perf's clocks and the handler leave out samples, not counts */
	if ((a->flags & (HWPMC_F_CALLCHAIN | HWPMC_F_TRIGGER | HWPMC_F_FREQ |
			 HWPMC_F_EXCLUDE_IDLE)) && !mode_is_sampling(a->mode))
		return -EINVAL;
	if ((a->flags & HWPMC_F_INCLUDE_OWNER) && a->mode != HWPMC_MODE_SS)
		return -EINVAL;
	if ((a->flags & (HWPMC_F_USERCALLCHAIN | HWPMC_F_UNWIND)) &&
	    !(a->flags & HWPMC_F_CALLCHAIN))
		return -EINVAL;
	return hwpmc_source_check_flags(a);
}

static int check_name(const char *name)
{
	size_t i, len = strnlen(name, HWPMC_NAME_MAX);

	if (len == HWPMC_NAME_MAX)
		return -EINVAL;
	for (i = 0; i < len; i++)
		if (!isascii(name[i]) || !isprint(name[i]))
			return -EINVAL;
	return 0;
}

static int check_event(const struct hwpmc_allocate *a)
{
	int err;

	if (a->pmc_class != HWPMC_CLASS_SOFT)
		return -EINVAL;
	if (a->caps & ~HWPMC_CAPS_OFFERED)
		return -EOPNOTSUPP;
	if (!mode_is_system(a->mode) && !compat_can_follow())
		return -EOPNOTSUPP;
	err = hwpmc_source_check(a);
	if (err)
		return err;
	/* perf reserves the top bit of a period */
	if (mode_is_sampling(a->mode) && a->count > S64_MAX)
		return -EINVAL;
	return check_name(a->name);
}

static int check_allocate(struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	int err;

	if (a->reserved || a->reserved2 || a->reserved3)
		return -EINVAL;
	err = check_cpu(o, a);
	if (!err)
		err = hwpmc_access_allocate(o, a);
	if (!err)
		err = check_flags(a);
	if (!err)
		err = check_event(a);
	if (!err)
		err = hwpmc_access_lockdown(a);
	if (!err)
		err = hwpmc_access_perf(o, mode_is_system(a->mode),
					a->type == PERF_TYPE_TRACEPOINT);
	return err;
}

/*
 * Rows are handed out in turn.  A row is not reused before the writer thread
 * has finished with the records of its last PMC.  Rows that the administrator
 * has disabled are skipped.
 */
static int find_row(struct hwpmc_owner *o, int cpu, u32 *row)
{
	int err = -EINVAL;
	unsigned int i;

	for (i = 0; i < HWPMC_NROW; i++) {
		*row = (o->pmcs.next_row + i) % HWPMC_NROW;
		if (READ_ONCE(o->pmcs.at[*row]))
			continue;
		if (hwpmc_rows_take(cpu, *row)) {
			o->pmcs.next_row = (*row + 1) % HWPMC_NROW;
			return 0;
		}
		err = -EPERM;
	}
	return err;
}

static void fill_attr(struct hwpmc_pmc *pmc, const struct hwpmc_allocate *a)
{
	struct perf_event_attr *attr = &pmc->attr;
	bool user = a->caps & HWPMC_CAP_USER;
	bool system = a->caps & HWPMC_CAP_SYSTEM;

	attr->size = sizeof(*attr);
	hwpmc_source_fill(attr, a);
	attr->disabled = 1;
	attr->exclude_user = system && !user;
	attr->exclude_kernel = user && !system;
	attr->exclude_hv = attr->exclude_kernel;
	attr->exclude_guest = 1;
	/* some hardware refuses exclude_idle; the handler checks in any case */
	attr->exclude_idle = a->type == PERF_TYPE_SOFTWARE &&
			     (a->flags & HWPMC_F_EXCLUDE_IDLE);
	hwpmc_source_fill_hardware(attr, a);
}

static struct hwpmc_pmc *pmc_new(struct hwpmc_owner *o,
				 const struct hwpmc_allocate *a)
{
	struct hwpmc_pmc *pmc;

	pmc = kzalloc(struct_size(pmc, cpus, nr_cpu_ids), HWPMC_GFP);
	if (!pmc)
		return NULL;
	pmc->owner = o;
	pmc->mode = a->mode;
	pmc->flags = a->flags;
	pmc->cpu = a->cpu;
	fill_attr(pmc, a);
	strscpy(pmc->name, a->name, sizeof(pmc->name));
	if (!pmc->name[0])
		snprintf(pmc->name, sizeof(pmc->name), "type=%u,config=%#llx",
			 a->type, a->config);
	if (mode_is_sampling(a->mode))
		hwpmc_pmc_fill_period(pmc, a->count);
	else
		pmc->zero.origin = a->count;
	return pmc;
}

static void pmc_publish(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, u32 class)
{
	u32 cpu = pmc->cpu < 0 ? HWPMC_ID_CPU_NONE : pmc->cpu;

	pmc->id = HWPMC_ID(cpu, pmc->mode, class, pmc->row);
	if (pmc->row >= o->pmcs.end_row)
		WRITE_ONCE(o->pmcs.end_row, pmc->row + 1);
	smp_store_release(&o->pmcs.at[pmc->row], pmc);
	__set_bit(pmc->row, o->pmcs.live);
	o->is_owner = true;
	hwpmc_log_kick(o);	/* to announce the PMC */
}

static int allocate_on(struct hwpmc_owner *o, struct hwpmc_allocate *a, u32 row)
{
	struct hwpmc_pmc *pmc;
	int err;

	err = hwpmc_hotplug_add_owner(o);
	if (!err)
		err = hwpmc_pmc_charge(o, a->mode, a->cpu);
	if (err)
		return err;
	pmc = pmc_new(o, a);
	if (!pmc) {
		hwpmc_pmc_uncharge(o, a->mode, a->cpu);
		return -ENOMEM;
	}
	pmc->row = row;
	err = hwpmc_create_events(pmc);
	if (err) {
		hwpmc_budget_unexpect(pmc);
		hwpmc_pmc_free(pmc);
		return err;
	}
	pmc_publish(o, pmc, a->pmc_class);
	a->id = pmc->id;
	a->flags = pmc->flags;
	a->precise = pmc->attr.precise_ip;
	a->count = pmc_is_sampling(pmc) ? pmc->asked : pmc->zero.origin;
	return 0;
}

int hwpmc_pmc_allocate(struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	u32 row;
	int err;

	err = check_allocate(o, a);
	if (!err && a->cpu >= 0)
		a->cpu = array_index_nospec(a->cpu, nr_cpu_ids);
	if (!err)
		err = find_row(o, a->cpu, &row);
	if (err)
		return err;
	err = allocate_on(o, a, row);
	if (err)
		hwpmc_rows_put(a->cpu, row);
	return err;
}

/*
 * Finds the PMC with an id from the user.  Checks first that the id is valid
 * (EINVAL), then that the owner has PMCs (ESRCH), then that it has this one
 * (EINVAL).
 */
struct hwpmc_pmc *hwpmc_pmc_find(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc;

	if (HWPMC_ID_MODE(id) > HWPMC_MODE_TC ||
	    HWPMC_ID_CLASS(id) != HWPMC_CLASS_SOFT)
		return ERR_PTR(-EINVAL);
	if (!o->is_owner)
		return ERR_PTR(-ESRCH);
	if (!test_bit(HWPMC_ID_ROW(id), o->pmcs.live))
		return ERR_PTR(-EINVAL);
	pmc = o->pmcs.at[HWPMC_ID_ROW(id)];
	return pmc->id == id ? pmc : ERR_PTR(-EINVAL);
}

/*
 * If there is a writer thread, the PMC stays until its last drops and its
 * rates are in the log.  The thread then folds its counters and frees it.
 */
static void pmc_retire(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	__clear_bit(pmc->row, o->pmcs.live);
	smp_store_release(&pmc->state, PMC_DELETED);
	if (!hwpmc_log_hand_over(o))
		hwpmc_pmc_fold(o, pmc, true);
}

/* A target was removed: drops unneeded probes, which slow down all processes. */
static void settle_hooks(struct hwpmc_owner *o)
{
	if (list_empty(&o->targets))
		hwpmc_hooks_let_go(o);
}

int hwpmc_pmc_release(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, id);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	hwpmc_create_undo(pmc);
	hwpmc_event_drops_wait(pmc);
	synchronize_rcu();
	pmc_retire(o, pmc);
	settle_hooks(o);
	return 0;
}

/* PMCALLOCATE could not return its result: without the id, nobody could release the PMC. */
void hwpmc_pmc_allocate_undo(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, id);

	if (WARN_ON_ONCE(IS_ERR(pmc)))
		return;		/* owner->mutex was held since */
	hwpmc_budget_unexpect(pmc);
	hwpmc_pmc_release(o, id);
}

/* Last close: releases all PMCs with one grace period. */
void hwpmc_pmc_release_all(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	hwpmc_targets_release_all(o);
	for_each_live_pmc(o, row, pmc)
		hwpmc_create_undo_cpus(pmc);
	for_each_live_pmc(o, row, pmc)
		hwpmc_event_drops_wait(pmc);
	synchronize_rcu();
	for_each_live_pmc(o, row, pmc)
		pmc_retire(o, pmc);
}

bool hwpmc_pmc_needs_log(const struct hwpmc_pmc *pmc)
{
	return pmc_is_sampling(pmc) ||
	       (pmc->flags & (HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT));
}

/*
 * A log can be read alone only if all mappings are in it before the first
 * sample.  So follow the processes first, then dump the existing ones.
 */
static int prepare_log(struct hwpmc_owner *o, const struct hwpmc_pmc *pmc)
{
	int err;

	if (!hwpmc_log_active(o))
		return hwpmc_pmc_needs_log(pmc) ? -EBADFD : 0;
	if (pmc_is_system(pmc) && !pmc_is_sampling(pmc))
		return 0;
	err = hwpmc_hooks_follow(o, pmc_is_system(pmc));
	return err ? err : hwpmc_log_dump(o);
}

/* The hooks that a PMC of a process mode needs. */
static unsigned long hooks_of(const struct hwpmc_pmc *pmc)
{
	unsigned long mask = BIT(HOOK_TASKS);

	if (pmc_is_sampling(pmc))
		mask |= BIT(HOOK_MAPS);
	if (pmc->flags & HWPMC_F_LOG_PROCCSW)
		mask |= BIT(HOOK_SWITCHES);
	return mask;
}

static bool has_lost_targets(const struct hwpmc_pmc *pmc)
{
	return pmc->attached && !READ_ONCE(pmc->ntargets);
}

static int find_targets(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	int err;

	if (has_lost_targets(pmc))
		return -ESRCH;
	if (pmc_is_system(pmc) || READ_ONCE(pmc->ntargets))
		return 0;
	err = hwpmc_hooks_hold(o, hooks_of(pmc));
	if (!err && hwpmc_log_active(o))
		err = hwpmc_hooks_follow(o, false);
	return err ? err : hwpmc_attach_self(o, pmc);
}

/* The same rule as in hwpmc_access_lockdown() at allocation. */
static bool shows_kernel(const struct hwpmc_pmc *pmc)
{
	return !pmc->attr.exclude_kernel ||
	       branch_shows_kernel(pmc->attr.branch_sample_type) ||
	       hwpmc_access_is_private(pmc->attr.type, pmc->attr.config,
				       pmc->mode);
}

/* May the PMC start?  The administrator's parameter may have changed since. */
static bool may_see(const struct hwpmc_owner *o, const struct hwpmc_pmc *pmc)
{
	if (pmc_is_system(pmc) && !hwpmc_access_system(o))
		return false;
	return !shows_kernel(pmc) || hwpmc_access_privileged(o);
}

/*
 * Repeats the checks of the allocation: the kernel may have been locked down
 * since.
 */
int hwpmc_pmc_may_start(struct hwpmc_owner *o, const struct hwpmc_pmc *pmc)
{
	int err;

	if (!may_see(o, pmc))
		return -EPERM;
	err = shows_kernel(pmc) ? hwpmc_access_locked() : 0;
	return err ?: hwpmc_access_perf(o, pmc_is_system(pmc),
					pmc->attr.type == PERF_TYPE_TRACEPOINT);
}

/* The error that a start would return, log or not. */
int hwpmc_pmc_check(struct hwpmc_owner *o, const struct hwpmc_pmc *pmc)
{
	int err = hwpmc_pmc_may_start(o, pmc);

	if (err)
		return err;
	return has_lost_targets(pmc) ? -ESRCH : 0;
}

/* All of a start that can fail or takes long.  The PMC does not run yet. */
int hwpmc_pmc_prepare(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	int err = hwpmc_pmc_may_start(o, pmc);

	if (err)
		return err;
	if (hwpmc_pmc_needs_log(pmc) && !hwpmc_log_active(o))
		return -EBADFD;
	err = find_targets(o, pmc);
	return err ? err : prepare_log(o, pmc);
}

/* The rest of a start. */
void hwpmc_pmc_enable(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	if (!pmc_is_system(pmc)) {
		hwpmc_targets_enable(pmc);
		return;
	}
	WRITE_ONCE(pmc->state, PMC_RUNNING);
	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu] && pmc->cpus[cpu]->event)
			perf_event_enable(pmc->cpus[cpu]->event);
}

int hwpmc_pmc_start(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, id);
	const unsigned long held = o->hooks.held;
	const bool hooked = o->hooks.hooked;
	bool fresh;
	int err;

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_RUNNING)
		return 0;
	fresh = !pmc_is_system(pmc) && !pmc->attached;
	/* the log's reader decides how long the first takes: the rules may have changed */
	err = hwpmc_pmc_prepare(o, pmc) ?: hwpmc_pmc_may_start(o, pmc);
	if (err) {
		if (fresh) {
			hwpmc_attach_undo(pmc);
			hwpmc_hooks_undo(o, held, hooked);
		}
		return err;
	}
	WRITE_ONCE(pmc->gated, false);
	hwpmc_pmc_enable(pmc);
	return 0;
}

/* The first checks of PMCATTACH and PMCDETACH, in this order. */
static struct hwpmc_pmc *pmc_of_process(struct hwpmc_owner *o,
					const struct hwpmc_attach *a)
{
	struct hwpmc_pmc *pmc;

	if (a->pid < 0)
		return ERR_PTR(-EINVAL);
	pmc = hwpmc_pmc_find(o, a->id);
	if (!IS_ERR(pmc) && pmc_is_system(pmc))
		return ERR_PTR(-EINVAL);
	return pmc;
}

/* PMCATTACH; the order of the checks matters */
int hwpmc_pmc_attach(struct hwpmc_owner *o, struct hwpmc_attach *a)
{
	struct hwpmc_pmc *pmc = pmc_of_process(o, a);
	const unsigned long held = o->hooks.held;
	const bool hooked = o->hooks.hooked;
	int err;

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_RUNNING)
		return -EBUSY;
	err = hwpmc_hooks_hold(o, hooks_of(pmc));
	/*
	 * before hwpmc_attach_target(): a fork meanwhile is logged by the hooks
	 * or by the dump
	 */
	if (!err && hwpmc_log_active(o))
		err = hwpmc_hooks_follow(o, false);
	if (!err)
		err = hwpmc_attach_target(o, pmc, a->pid);
	if (err) {
		hwpmc_event_drops_settle(pmc);
		hwpmc_hooks_undo(o, held, hooked);
	}
	if (err || !hwpmc_log_active(o))
		return err;
	err = hwpmc_log_dump(o);
	/* the PMC is attached; PMCSTART waits for the dump as well */
	return err == -ENOBUFS || err == -ERESTARTSYS ? 0 : err;
}

/* PMCDETACH; also for a running PMC */
int hwpmc_pmc_detach(struct hwpmc_owner *o, struct hwpmc_attach *a)
{
	struct hwpmc_pmc *pmc = pmc_of_process(o, a);
	int err;

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	err = hwpmc_attach_detach(o, pmc, a->pid);
	hwpmc_event_drops_settle(pmc);
	if (!err)
		settle_hooks(o);
	return err;
}

/* PMCFILTER */
int hwpmc_pmc_filter(struct hwpmc_owner *o, const struct hwpmc_filter *a)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, a->id);

	return IS_ERR(pmc) ? PTR_ERR(pmc) : hwpmc_filter_set(pmc, a);
}

/* Does not read the counters; hwpmc_pmc_refresh() does. */
void hwpmc_pmc_disable(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	if (!pmc_is_system(pmc))
		hwpmc_targets_disable(pmc);
	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = pmc->cpus[cpu];

		if (pc && pc->event)
			perf_event_disable(pc->event);
	}
	WRITE_ONCE(pmc->state, PMC_STOPPED);
}

static void pmc_stop_events(struct hwpmc_pmc *pmc)
{
	hwpmc_pmc_disable(pmc);
	hwpmc_pmc_refresh(pmc);
}

int hwpmc_pmc_stop(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = hwpmc_pmc_find(o, id);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_STOPPED)
		return 0;
	if (pmc->state != PMC_RUNNING)
		return -EINVAL;
	pmc_stop_events(pmc);
	return 0;
}

/* The log ends: stops the PMCs that cannot run without one. */
void hwpmc_pmc_stop_logging(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		if (pmc->state == PMC_RUNNING && hwpmc_pmc_needs_log(pmc))
			pmc_stop_events(pmc);
	synchronize_rcu();	/* wait for handlers that still write to a ring */
}
