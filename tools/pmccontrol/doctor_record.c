/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device answers: a trial of each thing that a recorder asks for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "pmccontrol.h"

#define PERIOD	10000000	/* ns */

static bool refused(int err)
{
	return err == EPERM || err == EACCES;
}

/* 0, or an errno */
static int allocate(struct doctor *d, enum pmc_mode mode, const char *spec,
		    uint32_t flags, pmc_id_t *id)
{
	struct pmc_allocate_opts o = {
		.size = sizeof(o), .mode = mode, .flags = flags,
		.count = PERIOD,
		.cpu = mode == PMC_MODE_SS ? PMC_CPU_ALL : PMC_CPU_ANY,
	};

	return pmc_owner_allocate(d->owner, spec, &o, id) ? errno : 0;
}

/* Allocates the PMC for a moment; 0, or an errno. */
static int ask(struct doctor *d, enum pmc_mode mode, const char *spec,
	       uint32_t flags)
{
	pmc_id_t id;
	int err = allocate(d, mode, spec, flags, &id);

	if (!err)
		pmc_owner_release(d->owner, id);
	return err;
}

/*
 * Records for a moment, into a log that nobody reads; 0, or an errno.  ENOBUFS:
 * too many processes run for such a log; other logs take them.
 */
static int record(struct doctor *d, enum pmc_mode mode, const char *spec)
{
	pmc_id_t id;
	int err = allocate(d, mode, spec, PMC_F_CALLCHAIN, &id);

	if (err)
		return err;
	if (pmc_owner_record(d->owner, 1, NULL, NULL) ||
	    pmc_owner_record(d->owner, 0, NULL, NULL))
		err = errno == ENOBUFS ? 0 : errno;
	pmc_owner_release(d->owner, id);
	return err;
}

/* From the most to the least; 0, or the errno of the last */
static int find_reach(struct doctor *d)
{
	static const struct {
		enum pmc_mode	mode;
		const char	*spec;
		enum reach	reach;
	} trials[] = {
		{ PMC_MODE_SS, "cpu-clock", REACH_SYSTEM },
		{ PMC_MODE_SS, "cpu-clock:u", REACH_USER },
		{ PMC_MODE_TS, "cpu-clock:u", REACH_OWN },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		err = record(d, trials[i].mode, trials[i].spec);
		if (!err) {
			d->reach = trials[i].reach;
			return 0;
		}
		if (!refused(err))
			break;
	}
	d->reach = REACH_NOTHING;
	return err;
}

/* ------------------------------------------------------------------------
 * Why nothing can be recorded
 */
/* The level, or -1: perf's rules do not apply, or cannot be seen. */
static int level_in_force(const struct doctor *d)
{
	char on[8], level[16];

	if (file_line(d, on, sizeof(on),
		      "/sys/module/hwpmc/parameters/perf_rules") ||
	    strcmp(on, "Y") ||
	    file_line(d, level, sizeof(level),
		      "/proc/sys/kernel/perf_event_paranoid"))
		return -1;
	return atoi(level) < 0 ? 0 : atoi(level);
}

/* All rows of some CPU: a PMC of the whole system has one on each. */
static bool rows_are_disabled(struct doctor *d)
{
	const struct hwpmc_cpuinfo *info;
	struct hwpmc_pmcinfo_row *rows;
	size_t n, i, disabled = 0;
	unsigned int cpu;

	if (pmc_owner_cpuinfo(d->owner, &info))
		return false;
	for (cpu = 0; cpu < info->ncpu && disabled < info->npmc; cpu++) {
		if (pmc_owner_pmcinfo(d->owner, (int)cpu, &rows, &n))
			continue;
		for (i = disabled = 0; i < n; i++)
			disabled += !rows[i].enabled;
		free(rows);
	}
	return disabled && disabled >= info->npmc;
}

static void tell_refused(struct doctor *d)
{
	int level = level_in_force(d);

	if (rows_are_disabled(d)) {
		answer(d, MARK_PROBLEM, "the administrator has disabled all "
		       "rows");
		mend("pmccontrol -e '*'");
	} else if (level > 1) {
		answer(d, MARK_PROBLEM, "refused by perf's rules: the module's "
		       "perf_rules is set, and kernel.perf_event_paranoid is "
		       "%d: run this as root, or let every user profile "
		       "the kernel, by perf, too:", level);
		mend("sysctl kernel.perf_event_paranoid=1");
	} else {
		answer(d, MARK_PROBLEM, "refused; the trace event "
		       "hwpmc:hwpmc_refusal says why");
	}
}

static void tell_failure(struct doctor *d, int err)
{
	switch (err) {
	case EPERM: case EACCES:
		tell_refused(d);
		break;
	case EOPNOTSUPP:
		answer(d, MARK_PROBLEM, "on this kernel only the whole system "
		       "can be recorded (it does not export task_work_add), "
		       "which needs privilege: run this as root, or let all who "
		       "may open the device sample the programs of everybody:");
		mend("echo Y "
		     ">/sys/module/hwpmc/parameters/unprivileged_syspmcs");
		break;
	case EDQUOT:
		answer(d, MARK_PROBLEM, "this user has used up what the "
		       "module's parameters max_pmcs, max_counters and "
		       "max_ringmem allow; by what programs:");
		mend("pmccontrol -l");
		break;
	default:
		answer(d, MARK_PROBLEM, "it fails: %s", strerror(err));
	}
}

void look_at_recording(struct doctor *d)
{
	int err;

	err = find_reach(d);
	if (d->reach == REACH_SYSTEM)
		answer(d, MARK_OK, "the whole system can be recorded, kernel "
		       "and user mode; tried with cpu-clock");
	else if (d->reach == REACH_USER)
		answer(d, MARK_OK, "the whole system can be recorded, in user "
		       "mode only; tried with cpu-clock:u");
	else if (d->reach == REACH_OWN)
		answer(d, MARK_OK, "this user's own processes can be recorded, "
		       "in user mode; more needs CAP_PERFMON; tried with "
		       "cpu-clock:u");
	else
		tell_failure(d, err);
}

/* ------------------------------------------------------------------------
 * What else a recorder asks for
 */
void look_at_rules(struct doctor *d)
{
	char on[8], level[16];

	if (file_line(d, level, sizeof(level),
		      "/proc/sys/kernel/perf_event_paranoid"))
		strcpy(level, "unknown");
	if (file_line(d, on, sizeof(on),
		      "/sys/module/hwpmc/parameters/perf_rules"))
		answer(d, MARK_NOTE, "whether they apply is seen when the "
		       "module is loaded; kernel.perf_event_paranoid is %s",
		       level);
	else if (strcmp(on, "Y"))
		answer(d, MARK_OK, "they do not apply (perf_rules is off); "
		       "kernel.perf_event_paranoid is %s", level);
	else if (level_in_force(d) > 1)
		answer(d, MARK_NOTE, "they apply (perf_rules is set), and "
		       "kernel.perf_event_paranoid is %s: users without "
		       "privilege can record nothing", level);
	else
		answer(d, MARK_OK, "they apply (perf_rules is set), and "
		       "kernel.perf_event_paranoid is %s", level);
}

void look_at_processes(struct doctor *d)
{
	int err;

	err = ask(d, PMC_MODE_TS, "cpu-clock:u", 0);
	if (err == EOPNOTSUPP)
		answer(d, MARK_NOTE, "they cannot be recorded (pmcstat -P, "
		       "-p): this kernel does not export task_work_add; the "
		       "chain of a user stack that is paged out is cut");
	else if (err)
		answer(d, MARK_NOTE, "they cannot be recorded: %s",
		       strerror(err));
	else if (d->reach == REACH_OWN)
		answer(d, MARK_OK, "this user's, if pmcstat starts them "
		       "(pmcstat -P ... command); others need CAP_PERFMON and "
		       "CAP_SYS_PTRACE, whatever kernel.yama.ptrace_scope is");
	else
		answer(d, MARK_OK, "they can be recorded (pmcstat -P, -p)");
}

void look_at_chains(struct doctor *d)
{
	const uint32_t flags = PMC_F_CALLCHAIN | PMC_F_UNWIND;
	int err;

	if (d->reach == REACH_SYSTEM)
		err = ask(d, PMC_MODE_SS, "cpu-clock", flags);
	else
		err = ask(d, PMC_MODE_TS, "cpu-clock:u", flags);
	if (!err)
		answer(d, MARK_OK, "by unwind tables, and by frame pointers "
		       "where there is no table");
	else if (err == EOPNOTSUPP)
		answer(d, MARK_NOTE, "by frame pointers only: this kernel does "
		       "not export task_work_add");
	else if (err == EINVAL)
		answer(d, MARK_NOTE, "by frame pointers only: this module has "
		       "no unwind tables");
	else
		answer(d, MARK_NOTE, "by frame pointers only: %s",
		       strerror(err));
}
