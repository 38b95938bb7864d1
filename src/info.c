// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries about the machine: its CPUs, their rows, its events.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"

void hwpmc_info_cpus(struct hwpmc_cpuinfo *c)
{
	memset(c, 0, sizeof(*c));
	c->cputype = PMCLOG_CPUTYPE_GENERIC;
	c->ncpu = nr_cpu_ids;
	c->ncpu_online = num_online_cpus();
	c->npmc = HWPMC_NROW;
	c->nclass = 1;
	c->classes[0].pmc_class = HWPMC_CLASS_SOFT;
	c->classes[0].caps = HWPMC_CAPS_OFFERED;
	c->classes[0].width = 64;
	c->classes[0].num = HWPMC_NROW;
	compat_cpuid(c->cpuid, sizeof(c->cpuid));
}

/**
 * struct listing - the rows of a CPU, as they are collected
 * @cpu:    the CPU
 * @self:   the owner that asks
 * @uid:    effective user of its opener
 * @sees_all: the opener may see other users' PMCs
 * @pid_ns: the namespace in which pids are reported
 * @rows:   the rows, as far as there is room
 * @room:   size of @rows
 * @n:      number of rows found
 * @used:   rows that are in use
 */
struct listing {
	int		cpu;
	struct hwpmc_owner *self;
	kuid_t		uid;
	bool		sees_all;
	struct pid_namespace *pid_ns;
	struct hwpmc_pmcinfo_row *rows;
	u32		room;
	u32		n;
	DECLARE_BITMAP(used, HWPMC_NROW);
};

static const u32 state_of[] = {
	[PMC_ALLOCATED]	= HWPMC_STATE_ALLOCATED,
	[PMC_RUNNING]	= HWPMC_STATE_RUNNING,
	[PMC_STOPPED]	= HWPMC_STATE_STOPPED,
	[PMC_DELETED]	= HWPMC_STATE_DELETED,
};

/* If this process has ended, its number may belong to another one by now. */
static pid_t opener_of(const struct hwpmc_owner *o, struct pid_namespace *ns)
{
	pid_t nr = 0;

	rcu_read_lock();
	if (pid_task(o->opener, PIDTYPE_TGID))
		nr = pid_nr_ns(o->opener, ns);
	rcu_read_unlock();
	return nr ?: -1;
}

static struct hwpmc_pmcinfo_row *add_row(struct listing *l, u32 row)
{
	struct hwpmc_pmcinfo_row *r;

	if (l->n++ >= l->room)
		return NULL;
	r = &l->rows[l->n - 1];
	r->row = row;
	r->pmc_class = HWPMC_CLASS_SOFT;
	r->owner_pid = -1;
	return r;
}

/* Under fold_mutex of the PMC's owner. */
static void add_pmc(struct listing *l, const struct hwpmc_pmc *pmc)
{
	const struct hwpmc_owner *o = pmc->owner;
	struct hwpmc_pmcinfo_row *r = add_row(l, pmc->row);

	__set_bit(pmc->row, l->used);
	if (!r)
		return;
	r->enabled = 1;
	r->disposition = pmc->cpu == HWPMC_CPU_ANY ? HWPMC_DISP_THREAD :
						     HWPMC_DISP_STANDALONE;
	if (!l->sees_all && o != l->self && !uid_eq(o->cred->euid, l->uid))
		return;
	r->owner_pid = opener_of(o, l->pid_ns);
	r->mode = pmc->mode;
	r->state = state_of[READ_ONCE(pmc->state)];
	r->flags = pmc->flags;
	r->id = pmc->id;
	r->type = pmc->attr.type;
	r->config = pmc->attr.config;
	r->reload = pmc_is_sampling(pmc) ? READ_ONCE(pmc->period) : 0;
	strscpy(r->name, pmc->name, sizeof(r->name));
}

/* fold_mutex keeps PMCs from being folded, and so from being freed. */
static void info_add_owner(struct hwpmc_owner *o, void *arg)
{
	struct listing *l = arg;
	struct hwpmc_pmc *pmc;
	unsigned int row;

	mutex_lock(&o->fold_mutex);
	for_each_pmc(o, row, pmc)
		if (pmc->cpu < 0 || pmc->cpu == l->cpu)
			add_pmc(l, pmc);
	mutex_unlock(&o->fold_mutex);
}

/* -ERESTARTSYS */
static int info_collect_pmcs(struct listing *l)
{
	DECLARE_BITMAP(disabled, HWPMC_NROW);
	struct hwpmc_pmcinfo_row *r;
	unsigned int row;

	l->n = 0;
	bitmap_zero(l->used, HWPMC_NROW);
	if (hwpmc_stats_for_each_owner(l->self, info_add_owner, l))
		return -ERESTARTSYS;
	hwpmc_rows_disabled(l->cpu, disabled);
	for_each_set_bit(row, disabled, HWPMC_NROW) {
		/* it was in use, and has been disabled since */
		if (test_bit(row, l->used))
			continue;
		r = add_row(l, row);
		if (r)
			r->disposition = HWPMC_DISP_UNKNOWN;
	}
	return 0;
}

static int by_row(const void *a, const void *b)
{
	const struct hwpmc_pmcinfo_row *r = a, *s = b;

	if (r->row != s->row)
		return r->row < s->row ? -1 : 1;
	if (r->owner_pid != s->owner_pid)
		return r->owner_pid < s->owner_pid ? -1 : 1;
	return r->id < s->id ? -1 : r->id > s->id;
}

/* Owners come and go: repeats until there was room for all rows at once. */
static int collect_all(struct listing *l)
{
	const unsigned int slack = 16;
	int err = info_collect_pmcs(l);

	if (err)
		return err;
	do {
		kvfree(l->rows);
		l->room = l->n + slack;
		l->rows = hwpmc_memory(array_size(l->room, sizeof(*l->rows)), NUMA_NO_NODE,
				       __GFP_ACCOUNT | __GFP_ZERO);
		if (!l->rows)
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		err = info_collect_pmcs(l);
		if (err)
			return err;
	} while (l->n > l->room);
	sort(l->rows, l->n, sizeof(*l->rows), by_row, NULL);
	return 0;
}

static int copy_rows(u64 to, const void *rows, u32 n, size_t size)
{
	return copy_to_user(u64_to_user_ptr(to), rows, n * size) ? -EFAULT : 0;
}

/* GETPMCINFO.  Not under owner->mutex: it may wait for the user's workers. */
int hwpmc_info_pmcs(struct hwpmc_owner *o, struct hwpmc_pmcinfo *a)
{
	struct listing l = {
		.cpu = a->cpu,
		.self = o,
		.uid = o->cred->euid,
		.sees_all = hwpmc_access_privileged(o),
		.pid_ns = task_active_pid_ns(current),
	};
	int err;

	if (a->reserved)
		return -EINVAL;
	err = hwpmc_rows_check_cpu(a->cpu);
	if (err)
		return err;
	if (l.cpu >= 0)
		l.cpu = array_index_nospec(l.cpu, nr_cpu_ids);
	err = a->nrows ? collect_all(&l) : info_collect_pmcs(&l);
	if (!err)
		err = copy_rows(a->rows, l.rows, min(a->nrows, l.n),
				sizeof(*l.rows));
	kvfree(l.rows);
	a->nrows = l.n;
	a->npmc = HWPMC_NROW;
	return err;
}

#define HW(n, c)	{ .name = n, .type = PERF_TYPE_HARDWARE, \
			  .config = PERF_COUNT_HW_##c }
#define SW(n, c)	{ .name = n, .type = PERF_TYPE_SOFTWARE, \
			  .config = PERF_COUNT_SW_##c }

/* libpmc uses the same names. */
static const struct hwpmc_dynevent events[] = {
	HW("cycles",			CPU_CYCLES),
	HW("instructions",		INSTRUCTIONS),
	HW("cache-references",		CACHE_REFERENCES),
	HW("cache-misses",		CACHE_MISSES),
	HW("branches",			BRANCH_INSTRUCTIONS),
	HW("branch-misses",		BRANCH_MISSES),
	HW("bus-cycles",		BUS_CYCLES),
	HW("stalled-cycles-frontend",	STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend",	STALLED_CYCLES_BACKEND),
	HW("ref-cycles",		REF_CPU_CYCLES),
	SW("cpu-clock",			CPU_CLOCK),
	SW("task-clock",		TASK_CLOCK),
	SW("page-faults",		PAGE_FAULTS),
	SW("minor-faults",		PAGE_FAULTS_MIN),
	SW("major-faults",		PAGE_FAULTS_MAJ),
	SW("context-switches",		CONTEXT_SWITCHES),
	SW("cpu-migrations",		CPU_MIGRATIONS),
	SW("alignment-faults",		ALIGNMENT_FAULTS),
	SW("emulation-faults",		EMULATION_FAULTS),
	SW("cgroup-switches",		CGROUP_SWITCHES),
};

/* An event exists if it can be created: perf has no other way to ask. */
int hwpmc_info_events(struct hwpmc_dyneventinfo *a)
{
	u32 n = 0, i;
	int err;

	if (a->pmc_class != HWPMC_CLASS_SOFT)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		err = hwpmc_event_exists(events[i].type, events[i].config);
		if (err < 0)
			return err;
		if (!err)
			continue;
		if (n < a->nevents &&
		    copy_rows(a->events + n * sizeof(events[i]), &events[i], 1,
			      sizeof(events[i])))
			return -EFAULT;
		n++;
	}
	a->nevents = n;
	return 0;
}
