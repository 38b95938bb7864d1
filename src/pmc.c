// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a PMC: allocate, set, start, read, stop, release.
 *
 * Everything here runs in an ioctl (or the last close) under owner->mutex.  The
 * order of the checks is part of the interface.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"

#define FLAGS_KNOWN	(HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW | \
			 HWPMC_F_LOG_PROCEXIT | HWPMC_F_CALLCHAIN | \
			 HWPMC_F_USERCALLCHAIN | HWPMC_F_EXCLUDE_IDLE)
#define DEFAULT_PERIOD	65536

static bool is_system(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_SC;
}

static int check_cpu(const struct hwpmc_allocate *a)
{
	if (a->mode > HWPMC_MODE_TC)
		return -EINVAL;
	if (a->cpu < HWPMC_CPU_ALL || a->cpu >= (int)nr_cpu_ids)
		return -EINVAL;
	if (!is_system(a->mode))
		return a->cpu == HWPMC_CPU_ANY ? 0 : -EINVAL;
	if (a->cpu == HWPMC_CPU_ANY)
		return -EINVAL;
	if (a->cpu == HWPMC_CPU_ALL)
		return 0;
	if (!cpu_possible(a->cpu))
		return -EINVAL;
	return cpu_online(a->cpu) ? 0 : -ENXIO;
}

/*
 * May profile the kernel: both who opened the device and who calls, since
 * descriptors can be passed on.
 */
bool pmc_privileged(struct hwpmc_owner *o)
{
	return perfmon_capable() &&
	       (file_ns_capable(o->file, &init_user_ns, CAP_PERFMON) ||
		file_ns_capable(o->file, &init_user_ns, CAP_SYS_ADMIN));
}

/*
 * Counters made inside the kernel pass by all checks of perf_event_open(), so
 * they are here.  Without privilege the kernel stays out of sight.
 */
static int check_permission(struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	if (!is_system(a->mode))
		return 0;
	if (current_user_ns() != &init_user_ns)
		return -EPERM;
	if (!pmc_privileged(o)) {
		if (!param_unprivileged() || (a->caps & HWPMC_CAP_SYSTEM))
			return -EPERM;
		a->caps |= HWPMC_CAP_USER;
	}
	return 0;
}

static int check_flags(const struct hwpmc_allocate *a)
{
	if (a->flags & ~FLAGS_KNOWN)
		return -EINVAL;
	if (is_system(a->mode) && (a->flags & (HWPMC_F_LOG_PROCCSW |
					       HWPMC_F_LOG_PROCEXIT |
					       HWPMC_F_DESCENDANTS)))
		return -EINVAL;
	if ((a->flags & HWPMC_F_CALLCHAIN) && !mode_is_sampling(a->mode))
		return -EINVAL;
	if ((a->flags & HWPMC_F_USERCALLCHAIN) &&
	    !(a->flags & HWPMC_F_CALLCHAIN))
		return -EINVAL;
	return 0;
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
	if (a->pmc_class != HWPMC_CLASS_SOFT)
		return -EINVAL;
	if (a->caps & ~HWPMC_CAPS_OFFERED)
		return -EOPNOTSUPP;
	if (!is_system(a->mode))
		return -EOPNOTSUPP;
	switch (a->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		break;
	default:
		return -EOPNOTSUPP;
	}
	/* perf keeps the top bit of a period to itself */
	if (mode_is_sampling(a->mode) && a->count > S64_MAX)
		return -EINVAL;
	return check_name(a->name);
}

static int check_lockdown(const struct hwpmc_allocate *a)
{
	if ((a->caps & HWPMC_CAP_USER) && !(a->caps & HWPMC_CAP_SYSTEM))
		return 0;
	return security_locked_down(LOCKDOWN_PERF);
}

static int check_allocate(struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	int err;

	if (a->reserved)
		return -EINVAL;
	err = check_cpu(a);
	if (!err)
		err = check_permission(o, a);
	if (!err)
		err = check_flags(a);
	if (!err)
		err = check_event(a);
	if (!err)
		err = check_lockdown(a);
	return err;
}

/*
 * Rows are handed out in turn, and not again before the writing thread is done
 * with the last bearer's records.
 */
static int find_row(struct hwpmc_owner *o, u32 *row)
{
	unsigned int i;

	for (i = 0; i < HWPMC_NROW; i++) {
		*row = (o->next_row + i) % HWPMC_NROW;
		if (!READ_ONCE(o->pmcs[*row])) {
			o->next_row = (*row + 1) % HWPMC_NROW;
			return 0;
		}
	}
	return -EINVAL;
}

static void fill_attr(struct hwpmc_pmc *pmc, const struct hwpmc_allocate *a)
{
	struct perf_event_attr *attr = &pmc->attr;
	bool user = a->caps & HWPMC_CAP_USER;
	bool system = a->caps & HWPMC_CAP_SYSTEM;

	attr->size = sizeof(*attr);
	attr->type = a->type;
	attr->config = a->config;
	attr->config1 = a->config1;
	attr->config2 = a->config2;
	attr->disabled = 1;
	attr->exclude_user = system && !user;
	attr->exclude_kernel = user && !system;
	attr->exclude_hv = attr->exclude_kernel;
	attr->exclude_guest = 1;
	/* some hardware refuses it; the handler looks all the same */
	attr->exclude_idle = a->type == PERF_TYPE_SOFTWARE &&
			     (a->flags & HWPMC_F_EXCLUDE_IDLE);
}

static struct hwpmc_pmc *pmc_new(struct hwpmc_owner *o,
				 const struct hwpmc_allocate *a)
{
	struct hwpmc_pmc *pmc;

	pmc = kzalloc(struct_size(pmc, cpus, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
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
		pmc->period = max(a->count ?: DEFAULT_PERIOD,
				  param_min_period(&pmc->attr));
	else
		pmc->origin = a->count;
	return pmc;
}

static void pmc_free(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kfree(pmc->cpus[cpu]);
	kfree(pmc);
}

/*
 * pmc_fold - the end of a released PMC: its counters become the owner's
 *
 * Called by the writing thread, or under owner->mutex without one.  No event
 * of it exists any more, and an RCU grace period has passed since.
 */
void pmc_fold(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	struct pmc_count count;
	unsigned int cpu;

	spin_lock(&o->log.lock);
	for_each_possible_cpu(cpu) {
		if (!pmc->cpus[cpu])
			continue;
		pmc_count_read(&count, &pmc->cpus[cpu]->stat);
		account_add_count(&o->log.retired, &count);
	}
	smp_store_release(&o->pmcs[pmc->row], NULL);
	spin_unlock(&o->log.lock);
	pmc_free(pmc);
}

static void release_events(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu])
			event_release(pmc->cpus[cpu]);
}

static bool has_event(const struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu] && pmc->cpus[cpu]->event)
			return true;
	return false;
}

static int create_events(struct hwpmc_pmc *pmc)
{
	int err = event_sync_cpus(pmc);

	if (!err && !has_event(pmc))
		err = -ENXIO;	/* the CPU went away meanwhile */
	if (err) {
		release_events(pmc);
		synchronize_rcu();
	}
	return err;
}

static void publish(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, u32 class)
{
	u32 cpu = pmc->cpu == HWPMC_CPU_ALL ? HWPMC_ID_CPU_NONE : pmc->cpu;

	pmc->id = HWPMC_ID(cpu, pmc->mode, class, pmc->row);
	smp_store_release(&o->pmcs[pmc->row], pmc);
	__set_bit(pmc->row, o->live);
	o->is_owner = true;
	log_kick(o);	/* to be announced */
}

int pmc_allocate(struct hwpmc_owner *o, struct hwpmc_allocate *a)
{
	struct hwpmc_pmc *pmc;
	u32 row;
	int err;

	err = check_allocate(o, a);
	if (!err)
		err = find_row(o, &row);
	if (!err)
		err = hotplug_add_owner(o);
	if (err)
		return err;
	pmc = pmc_new(o, a);
	if (!pmc)
		return -ENOMEM;
	pmc->row = row;
	err = create_events(pmc);
	if (err) {
		pmc_free(pmc);
		return err;
	}
	publish(o, pmc, a->pmc_class);
	a->id = pmc->id;
	a->count = pmc_is_sampling(pmc) ? pmc->period : pmc->origin;
	return 0;
}

/*
 * The id as the user spells it, found or refused.  An id that cannot be one is
 * told from an owner that has nothing, and that from an id it does not have.
 */
static struct hwpmc_pmc *find(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc;

	if (HWPMC_ID_MODE(id) > HWPMC_MODE_TC ||
	    HWPMC_ID_CLASS(id) != HWPMC_CLASS_SOFT)
		return ERR_PTR(-EINVAL);
	if (!o->is_owner)
		return ERR_PTR(-ESRCH);
	if (!test_bit(HWPMC_ID_ROW(id), o->live))
		return ERR_PTR(-EINVAL);
	pmc = o->pmcs[HWPMC_ID_ROW(id)];
	return pmc->id == id ? pmc : ERR_PTR(-EINVAL);
}

/*
 * With a writing thread the PMC stays until its last drops and its rates are
 * in the log; the thread folds its counters and frees it.
 */
static void retire(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	__clear_bit(pmc->row, o->live);
	smp_store_release(&pmc->state, PMC_DELETED);
	if (!log_hand_over(o))
		pmc_fold(o, pmc);
}

int pmc_release(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = find(o, id);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	release_events(pmc);
	synchronize_rcu();
	retire(o, pmc);
	return 0;
}

/* Last close: all at once, one grace period. */
void pmc_release_all(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		release_events(pmc);
	synchronize_rcu();
	for_each_live_pmc(o, row, pmc)
		retire(o, pmc);
}

static void refresh(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu])
			event_read(pmc->cpus[cpu]);
}

void pmc_refresh_all(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		refresh(pmc);
}

static u64 sum_totals(const struct hwpmc_pmc *pmc)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu])
			sum += pmc->cpus[cpu]->total;
	return sum;
}

static void set_value(struct hwpmc_pmc *pmc, u64 value)
{
	refresh(pmc);
	pmc->origin = value - sum_totals(pmc);
}

/* What the log says of a PMC; its header apart. */
void pmc_describe(const struct hwpmc_pmc *pmc, struct pmclog_pmcallocatedyn *a)
{
	a->pmcid = pmc->id;
	a->event = 0x20000 + pmc->row;
	a->flags = pmc->flags;
	strscpy(a->name, pmc->name, sizeof(a->name));
	a->rate = pmc_is_sampling(pmc) ? READ_ONCE(pmc->period) : 0;
	a->config = pmc->attr.config;
	a->type = pmc->attr.type;
	a->cpu = pmc->cpu;
}

/*
 * Samples taken with the old period may still be in the rings: the new one is
 * announced through them, in the order of time.
 */
static int announce_period(struct hwpmc_pmc *pmc)
{
	struct pmclog_pmcallocatedyn a = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PMCALLOCATEDYN, sizeof(a)),
	};

	if (!log_active(pmc->owner))
		return 0;
	pmc_describe(pmc, &a);
	return log_commit(pmc->owner, &a, sizeof(a));
}

static int set_period(struct hwpmc_pmc *pmc, u64 period)
{
	unsigned int cpu;
	int err;

	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = pmc->cpus[cpu];

		if (!pc || !pc->event)
			continue;
		err = perf_event_period(pc->event, period);
		if (err)
			return err;
	}
	WRITE_ONCE(pmc->period, period);
	return 0;
}

int pmc_setcount(struct hwpmc_owner *o, struct hwpmc_setcount *a)
{
	struct hwpmc_pmc *pmc = find(o, a->id);
	u64 old;
	int err;

	if (a->reserved)
		return -EINVAL;
	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_RUNNING)
		return -EBUSY;
	if (!pmc_is_sampling(pmc)) {
		set_value(pmc, a->count);
		return 0;
	}
	if (!a->count || a->count > S64_MAX)
		return -EINVAL;
	a->count = max(a->count, param_min_period(&pmc->attr));
	old = pmc->period;
	err = set_period(pmc, a->count);
	if (!err)
		err = announce_period(pmc);
	if (err)
		set_period(pmc, old);
	return err;
}

static int read_one_cpu(const struct hwpmc_pmc *pmc, struct hwpmc_rw *a)
{
	const struct pmc_cpu *pc;

	if (a->cpu < 0 || a->cpu >= (int)nr_cpu_ids)
		return -EINVAL;
	pc = pmc->cpus[a->cpu];
	if (!pc)
		return cpu_possible(a->cpu) && !cpu_online(a->cpu) ? -ENXIO :
								     -EINVAL;
	a->value = pc->total;
	a->enabled = pc->enabled;
	a->running = pc->running;
	return 0;
}

static void read_sum(const struct hwpmc_pmc *pmc, struct hwpmc_rw *a)
{
	unsigned int cpu;

	a->value = pmc->origin + sum_totals(pmc);
	a->enabled = 0;
	a->running = 0;
	for_each_possible_cpu(cpu) {
		if (!pmc->cpus[cpu])
			continue;
		a->enabled += pmc->cpus[cpu]->enabled;
		a->running += pmc->cpus[cpu]->running;
	}
}

int pmc_rw(struct hwpmc_owner *o, struct hwpmc_rw *a)
{
	struct hwpmc_pmc *pmc;
	u64 new = a->value;
	int err = 0;

	if (a->reserved || !a->flags ||
	    (a->flags & ~(HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE)))
		return -EINVAL;
	pmc = find(o, a->id);
	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (a->flags & HWPMC_F_NEWVALUE) {
		if (a->cpu != HWPMC_CPU_ALL)
			return -EINVAL;
		if (pmc->state == PMC_RUNNING)
			return -EBUSY;
	}
	if (pmc->cpu >= 0 && !cpu_online(pmc->cpu))
		return -ENXIO;
	refresh(pmc);
	if (a->cpu == HWPMC_CPU_ALL)
		read_sum(pmc, a);
	else
		err = read_one_cpu(pmc, a);
	if (!err && (a->flags & HWPMC_F_NEWVALUE))
		set_value(pmc, new);
	return err;
}

/*
 * A log can be read with nothing but itself only if all mappings are in it
 * before the first sample: follow the processes, then dump those there are.
 */
static int prepare_log(struct hwpmc_owner *o)
{
	int err;

	if (!log_active(o))
		return -EBADFD;
	err = hooks_follow(o);
	return err ? err : log_dump(o);
}

int pmc_start(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = find(o, id);
	unsigned int cpu;
	int err;

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_RUNNING)
		return 0;
	if (!pmc->attr.exclude_kernel && !pmc_privileged(o))
		return -EPERM;
	if (pmc_is_sampling(pmc)) {
		err = prepare_log(o);
		if (err)
			return err;
	}
	pmc->state = PMC_RUNNING;
	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu] && pmc->cpus[cpu]->event)
			perf_event_enable(pmc->cpus[cpu]->event);
	return 0;
}

static void stop(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = pmc->cpus[cpu];

		if (!pc || !pc->event)
			continue;
		perf_event_disable(pc->event);
		event_read(pc);
	}
	pmc->state = PMC_STOPPED;
}

int pmc_stop(struct hwpmc_owner *o, u32 id)
{
	struct hwpmc_pmc *pmc = find(o, id);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (pmc->state == PMC_STOPPED)
		return 0;
	if (pmc->state != PMC_RUNNING)
		return -EINVAL;
	stop(pmc);
	return 0;
}

/* The log ends: stop what cannot run without one. */
void pmc_stop_logging(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		if (pmc->state == PMC_RUNNING && pmc_is_sampling(pmc))
			stop(pmc);
	synchronize_rcu();	/* no handler is on its way into a ring */
}
