/* SPDX-License-Identifier: BSD-2-Clause */
/* The device and its PMCs, and messages for failures. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/backend.h"
#include "reader/base/numbers.h"
#include "pmcstat.h"

#define PARAMETERS	"/sys/module/hwpmc/parameters"

const char *pmcs_limit(int err, const char *limit)
{
	static char text[128];

	if (err != EDQUOT)
		return strerror(err);
	snprintf(text, sizeof(text), "that is more than a user may have: see "
		 "%s in " PARAMETERS, limit);
	return text;
}

static int is_missing(int err)
{
	return err == ENOENT || err == ENODEV || err == ENXIO;
}

/*
 * Without a module, BPF does what it can.  Returns why not, in one line, or NULL:
 * recording by BPF.
 */
static const char *try_bpf(struct options *o)
{
	static char why[256];
	const char *refusal = bpf_refusal();

	if (refusal)
		return refusal;
	if (bpf_check(o, why, sizeof(why)))
		return why;
	o->by_bpf = 1;
	if (!o->quiet)
		warn_line("no module (/dev/hwpmc): recording by BPF, as with "
			  "--bpf");
	return NULL;
}

struct pmc_owner *pmcs_open(struct options *o)
{
	struct pmc_owner *owner;
	const char *hint = "", *why;

	if (o->by_bpf)
		return NULL;
	owner = pmc_owner_open(0);
	if (owner)
		return owner;
	if (is_missing(errno)) {
		int err = errno;

		why = try_bpf(o);
		if (!why)
			return NULL;
		die(EX_UNAVAILABLE, "cannot open /dev/hwpmc: %s; is the module "
		    "loaded (modprobe hwpmc)?  Without it: %s", strerror(err),
		    why);
	}
	if (errno == EPROTONOSUPPORT)
		die(EX_UNAVAILABLE, "the hwpmc module is older than this "
		    "pmcstat");
	if (errno == EACCES || errno == EPERM)
		hint = "; are you root?";
	else if (errno == EMFILE)
		hint = ": this process (ulimit -n), or the user's recordings "
		       "and counts (max_owners in " PARAMETERS ")";
	die(errno == EACCES || errno == EPERM ? EX_NOPERM : EX_UNAVAILABLE,
	    "cannot open /dev/hwpmc: %s%s", strerror(errno), hint);
}

#define BOTH_MODES	(PMC_CAP_USER | PMC_CAP_SYSTEM)

static int not_permitted(int err)
{
	return err == EPERM || err == EACCES;
}

/* Process modes need task_work_add(); if the kernel lacks it, every event fails. */
static int can_follow_processes(struct pmc_owner *owner)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = PMC_MODE_TC, .cpu = PMC_CPU_ANY,
	};
	struct pmc_event_desc event;
	pmc_id_t id;

	if (pmc_event_parse("task-clock:u", &event, NULL, 0))
		return 1;
	/* the PMC is released when this program ends */
	return !pmc_owner_allocate_event(owner, &event, &opts, &id) ||
	       errno != EOPNOTSUPP;
}

/* What only some PMUs can do, and was asked for; NULL: nothing */
static const char *why_no_hardware(const struct counter *c, int err)
{
	const int precise = !!(c->event.caps & PMC_CAP_PRECISE);

	if (err != EOPNOTSUPP && err != EINVAL && err != E2BIG)
		return NULL;
	if (err != EOPNOTSUPP && ((c->flags & (PMC_F_BRANCH | PMC_F_DATA))))
		return "the processor cannot do it with --branch or --data, or the "
		       "hwpmc module is older than this pmcstat";
	if ((c->flags & PMC_F_BRANCH) && precise)
		return "its PMU records no branches (--branch), or it cannot be "
		       "precise (:p); cycles of a processor with such hardware can";
	if (c->flags & PMC_F_BRANCH)
		return "its PMU records no branches: leave out --branch, or take "
		       "an event of a processor that does (pmcstat(8))";
	if (precise)
		return "its PMU cannot be precise: leave out :p or precise";
	if (c->flags & PMC_F_DATA)
		return "it is of no PMU that records accesses to memory: leave out "
		       "--data, or take an event of the processor";
	return NULL;
}

static int is_of_scheduler(const struct pmc_event_desc *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		e->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		e->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static const char *why_not_allocated(struct pmc_owner *owner,
				     const struct counter *c, int err)
{
	const char *why = why_no_hardware(c, err);

	if (why)
		return why;
	switch (err) {
	case EOPNOTSUPP:
		if (PMC_IS_VIRTUAL_MODE(c->mode) &&
		    !can_follow_processes(owner))
			return "this kernel lets no module follow processes "
			       "(it does not export task_work_add); of the "
			       "system (-s, -S) it can be had";
		if (is_of_scheduler(&c->event))
			return "it happens in the kernel only: in user mode there is "
			       "nothing to count, and without privilege PMCs count "
			       "in user mode";
		/* fall through */
	case ENOENT: case ENODEV:
		if (c->split)
			return "this machine has no such event, or no kind of its "
			       "cores has it by this name (pmcstat -L)";
		if (c->cpu >= 0 && (c->event.flags & PMC_EVENT_SOME_CPUS))
			return "this CPU has no such event";
		return PMC_IS_SAMPLING_MODE(c->mode) ?
		       "this machine has no such event (cpu-clock is always "
		       "there)" : "this machine has no such event";
	case ENXIO:
		return "the CPU is offline";
	case EINVAL:
		return c->cpu >= 0 ? "no such CPU or event" : "no such event";
	case ENOSPC: case EBUSY:
		return "all counters are taken";
	default:
		return strerror(err);
	}
}

static const char *hint_of(const struct counter *c, int err)
{
	if (!not_permitted(err))
		return "";
	if (PMC_IS_VIRTUAL_MODE(c->mode) && (c->event.caps & PMC_CAP_SYSTEM))
		return "; kernel mode needs privilege, user mode (:u) does not";
	if (!geteuid())
		return "; root may, but not in a user namespace, if the kernel "
		       "is locked down, or if all rows are disabled "
		       "(pmccontrol -l)";
	return "";
}

/* @limit: the module parameter that limits the request */
static void __attribute__((noreturn))
refused(struct pmc_owner *owner, const struct counter *c, const char *where,
	int err, const char *limit)
{
	const char *why = err == EDQUOT ? pmcs_limit(err, limit) :
					  why_not_allocated(owner, c, err);

	die(not_permitted(err) ? EX_NOPERM : EX_UNAVAILABLE,
	    "cannot %s %s%s: %s%s",
	    PMC_IS_SAMPLING_MODE(c->mode) ? "sample" : "count", c->event.name,
	    where, why, hint_of(c, err));
}

static void tell_rate(const struct options *o, const struct counter *c,
		      const char *where, uint64_t rate)
{
	if (rate != c->period && options_tell(o))
		warn_line("%s%s: %llu samples a second lowered to %llu, the most "
			  "that the module allows", c->event.name, where,
			  (unsigned long long)c->period, (unsigned long long)rate);
	else if (o->verbose)
		warn_line("%s%s: %llu %s a second", c->event.name, where,
			  (unsigned long long)rate, plural(rate, "sample", "samples"));
}

static void tell_period(const struct options *o, const struct counter *c,
			const char *where, uint64_t period)
{
	if (period != c->period && options_tell(o))
		warn_line("%s%s: period %llu raised to %llu, the least that "
			  "the module allows", c->event.name, where,
			  (unsigned long long)c->period,
			  (unsigned long long)period);
	else if (o->verbose)
		warn_line("%s%s: a sample every %llu %s", c->event.name, where,
			  (unsigned long long)period,
			  plural(period, "event", "events"));
}

/*
 * A user who may not sample the kernel, and has given no mode, gets user mode.  The
 * module would do the same, but the event's name and numbers should show it.
 */
static int allocate_event(struct pmc_owner *owner, struct counter *c,
			  struct pmc_allocate_opts *opts)
{
	struct pmc_event_desc event = c->event;

	if (event.caps & BOTH_MODES)
		return pmc_owner_allocate_event(owner, &event, opts, &c->id);
	event.caps |= BOTH_MODES;
	if (!pmc_owner_allocate_event(owner, &event, opts, &c->id))
		return 0;
	if (!not_permitted(errno))
		return -1;
	event.caps &= ~(uint32_t)PMC_CAP_SYSTEM;
	strcat(event.name, ":u");	/* the parser leaves room */
	if (pmc_owner_allocate_event(owner, &event, opts, &c->id))
		return -1;
	c->event = event;
	return 0;
}

/*
 * True if the failure can be due to tables: an older module, a kernel without
 * the functions that tables need, or a system-wide PMC without privilege.
 */
static int has_no_tables(const struct counter *c)
{
	return (c->flags & PMC_F_UNWIND) &&
	       (errno == EINVAL || errno == EOPNOTSUPP ||
		(not_permitted(errno) && c->mode == PMC_MODE_SS));
}

static int allocate_unwound(struct pmc_owner *owner, struct counter *c,
			    struct pmc_allocate_opts *opts)
{
	if (!allocate_event(owner, c, opts))
		return 0;
	if (!has_no_tables(c))
		return -1;
	c->flags &= ~(uint32_t)PMC_F_UNWIND;
	opts->flags = c->flags;
	return allocate_event(owner, c, opts);
}

/*
 * A kernel may not know PMUs' numbers in perf's own events (arm64 before 6.6).  Without
 * one, the event of a CPU is that of the CPU's PMU.
 */
static int allocate_of_kind(struct pmc_owner *owner, struct counter *c, int siblings,
			    struct pmc_allocate_opts *opts)
{
	struct pmc_event_desc plain, own = c->event;

	if (!allocate_unwound(owner, c, opts))
		return 0;
	if (errno != ENOENT || !c->split || !PMC_IS_SYSTEM_MODE(c->mode) ||
	    (c->cpu == PMC_CPU_ALL && siblings))
		return -1;
	if (!pmc_event_parse(c->spec, &plain, NULL, 0)) {
		c->event = plain;
		c->split = 0;
		if (!allocate_unwound(owner, c, opts))
			return 0;
		c->split = 1;
		c->event = own;
	}
	errno = ENOENT;
	return -1;
}

/* Are there counters of other kinds of cores? */
static int has_siblings(const struct options *o, const struct counter *c)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (counter_is_sibling(c, &o->counters[i]))
			return 1;
	return 0;
}

/* -1: the CPUs of this kind have no such event */
static int allocate(const struct options *o, struct pmc_owner *owner, struct counter *c)
{
	struct pmc_allocate_opts opts = {
		.size = sizeof(opts), .mode = c->mode, .flags = c->flags,
		.cpu = c->cpu, .count = c->period, .branch = c->branch,
	};
	const int siblings = has_siblings(o, c);
	uint32_t asked = c->event.caps;
	char where[32] = "";

	if (c->cpu >= 0)
		snprintf(where, sizeof(where), " on CPU %d", c->cpu);
	if (allocate_of_kind(owner, c, siblings, &opts)) {
		if (siblings && (errno == ENOENT || errno == EINVAL))
			return -1;
		refused(owner, c, where, errno, "max_pmcs or max_counters");
	}
	if (c->event.caps != asked && options_tell(o))
		warn_line("%s: in user mode only, the kernel needs privilege",
			  c->event.name);
	if (!PMC_IS_SAMPLING_MODE(c->mode))
		return 0;
	if (opts.precise && o->verbose)
		warn_line("%s%s: perf's precise_ip is %u", c->event.name, where,
			  opts.precise);
	(c->flags & PMC_F_FREQ ? tell_rate : tell_period)(o, c, where, opts.count);
	c->period = opts.count;
	return 0;
}

/* Takes a counter out, as perf does with what other kinds of cores have. */
static struct counter leave_out(struct options *o, size_t i)
{
	struct counter left = o->counters[i];

	memmove(&o->counters[i], &o->counters[i + 1],
		(--o->ncounters - i) * sizeof(left));
	return left;
}

static void allocate_all(struct options *o, struct pmc_owner *owner)
{
	static struct counter left[HWPMC_NROW];
	size_t nleft = 0, i = 0;

	while (i < o->ncounters) {
		if (allocate(o, owner, &o->counters[i]))
			left[nleft++] = leave_out(o, i);
		else
			i++;
	}
	/* unless one event of all kinds has taken its place */
	for (i = 0; i < nleft; i++)
		if (has_siblings(o, &left[i]) && options_tell(o))
			warn_line("%s: these CPUs have no such event", left[i].event.name);
}

static void set_budget(struct pmc_owner *owner, uint32_t ppm)
{
	if (pmc_owner_set_budget(owner, ppm))
		die(EX_UNAVAILABLE, "--budget: %s", errno == ENOTTY ?
		    "the hwpmc module is older than this pmcstat" : strerror(errno));
}

static void set_cpus(struct pmc_owner *owner, const struct cpugroup *g)
{
	if (pmc_owner_set_cpus(owner, g->mask, g->len))
		die(EX_UNAVAILABLE, "--writers: %s", errno == ENOTTY ?
		    "the hwpmc module is older than this pmcstat" : strerror(errno));
}

void pmcs_allocate(struct options *o, struct pmc_owner *owner)
{
	size_t i;

	if (o->by_bpf) {
		bpf_allocate(o);
		return;
	}
	if (o->cpus)
		set_cpus(owner, o->cpus);
	if (o->budget_ppm)
		set_budget(owner, o->budget_ppm);
	allocate_all(o, owner);
	for (i = 0; i < o->ncounters; i++)
		filter_set(owner, &o->counters[i]);
}

int pmcs_attach(const struct options *o, struct pmc_owner *owner, int pid)
{
	const struct counter *c;
	char where[32];
	size_t i;

	if (o->by_bpf)
		return bpf_attach(o, pid);
	snprintf(where, sizeof(where), " in process %d", pid);
	for (i = 0; i < o->ncounters; i++) {
		c = &o->counters[i];
		/* a descendant of an attached process is attached already */
		if (!PMC_IS_VIRTUAL_MODE(c->mode) ||
		    !pmc_owner_attach(owner, c->id, pid) || errno == EEXIST)
			continue;
		if (errno == ESRCH)
			return ESRCH;
		if (not_permitted(errno))
			return EPERM;
		refused(owner, c, where, errno, "max_counters");
	}
	return 0;
}

/*
 * Starts all PMCs at once.  Older modules cannot.  If it fails, the caller
 * starts the PMCs one by one to find which of them fails.
 */
static int start_together(const struct options *o, struct pmc_owner *owner)
{
	uint64_t skew;
	uint32_t n;

	if (pmc_owner_record(owner, 1, &n, &skew))
		return -1;
	if (o->verbose)
		warn_line("%u %s samples through from one moment on, "
			  "%llu ns from the first one's start to the last's", n,
			  plural(n, "PMC lets", "PMCs let"),
			  (unsigned long long)skew);
	return 0;
}

int pmcs_start(const struct options *o, struct pmc_owner *owner)
{
	size_t i;

	if (o->by_bpf) {
		bpf_start();
		return 0;
	}
	if (!start_together(o, owner))
		return 0;

	for (i = 0; i < o->ncounters; i++) {
		if (!pmc_owner_start(owner, o->counters[i].id))
			continue;
		if (errno == ESRCH && !o->command)
			return ESRCH;
		die(EX_OSERR, "cannot start %s: %s", o->counters[i].event.name,
		    strerror(errno));
	}
	return 0;
}

void pmcs_stop(const struct options *o, struct pmc_owner *owner)
{
	size_t i;

	if (o->by_bpf) {
		bpf_stop();
		return;
	}
	if (!pmc_owner_record(owner, 0, NULL, NULL))
		return;

	for (i = 0; i < o->ncounters; i++)
		pmc_owner_stop(owner, o->counters[i].id);
}

int pmcs_read(struct pmc_owner *owner, const struct counter *c,
	      struct pmc_reading *r)
{
	return owner ? pmc_owner_read(owner, c->id, PMC_CPU_ALL, r) :
		       bpf_read(c, r);
}

void pmcs_close(struct pmc_owner *owner)
{
	if (owner)
		pmc_owner_close(owner);
	else
		bpf_close();
}
