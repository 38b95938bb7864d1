// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every error of the operations on PMCs, in the order of the checks.
 */
#include "errors.h"

TEST_F(errors, allocate)
{
#define ALLO	HWPMC_IOC_PMCALLOCATE
	static const struct call calls[] = {
		{ "unknown mode", FRESH, ALLO, -EINVAL, { A(mode, 4) } },
		{ "wild mode", FRESH, ALLO, -EINVAL, { A(mode, UINT32_MAX) } },
		{ "high CPU", FRESH, ALLO, -EINVAL, { A(cpu, 1 << 20) } },
		{ "low CPU", FRESH, ALLO, -EINVAL, { A(cpu, -3) } },
		{ "system without CPU", FRESH, ALLO, -EINVAL, { A(cpu, -1) } },
		{ "process with CPU", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_TS), A(cpu, 0) } },
		{ "process on all CPUs", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_TC), A(flags, 0) } },
		{ "unknown flag", FRESH, ALLO, -EINVAL, { A(flags, 1U << 23) } },
		{ "flag of PMCRW", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_OLDVALUE) } },
		{ "switches of a system PMC", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_LOG_PROCCSW) } },
		{ "exits of a system PMC", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_LOG_PROCEXIT) } },
		{ "descendants of a system PMC", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_DESCENDANTS) } },
		{ "rate of a counter", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_FREQ) } },
		{ "chains of a counter", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC) } },
		{ "owner of a counter", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_INCLUDE_OWNER) } },
		{ "user chain alone", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_USERCALLCHAIN) } },
		{ "no class", FRESH, ALLO, -EINVAL, { A(pmc_class, 0) } },
		{ "unknown class", FRESH, ALLO, -EINVAL, { A(pmc_class, 0x10F) } },
		{ "edge", FRESH, ALLO, -EOPNOTSUPP, { A(caps, HWPMC_CAP_EDGE) } },
		{ "unknown capability", FRESH, ALLO, -EOPNOTSUPP,
		  { A(caps, 1U << 31) } },
		/* those that there are: sources.c */
		{ "no tracepoint of a process", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_TS), A(cpu, -1),
		    A(type, PERF_TYPE_TRACEPOINT), A(config, 1U << 30) } },
		{ "no tracepoint", FRESH, ALLO, -EINVAL,
		  { A(type, PERF_TYPE_TRACEPOINT), A(config, 1U << 30) } },
		{ "breakpoint of no kind", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, 0),
		    A(type, PERF_TYPE_BREAKPOINT) } },
		{ "kind of breakpoint", FRESH, ALLO, -EINVAL, { A(bp_type, 1) } },
		{ "raw data of a clock", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_RAW) } },
		{ "raw data of a count", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_RAW),
		    A(type, PERF_TYPE_TRACEPOINT) } },
		{ "branches of no kind", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_BRANCH),
		    A(branch, PERF_SAMPLE_BRANCH_USER) } },
		{ "branches, not asked for", FRESH, ALLO, -EINVAL,
		  { A(branch, PERF_SAMPLE_BRANCH_ANY) } },
		{ "branches of a count", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_BRANCH),
		    A(branch, PERF_SAMPLE_BRANCH_ANY) } },
		{ "accesses of a count", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, HWPMC_F_DATA) } },
		{ "precise count", FRESH, ALLO, -EINVAL,
		  { A(mode, HWPMC_MODE_SC), A(flags, 0),
		    A(caps, HWPMC_CAP_PRECISE) } },
		{ "branches of a clock", FRESH, ALLO, -EOPNOTSUPP,
		  { A(flags, HWPMC_F_BRANCH), A(branch, PERF_SAMPLE_BRANCH_ANY) } },
		{ "accesses of a clock", FRESH, ALLO, -EOPNOTSUPP,
		  { A(flags, HWPMC_F_DATA) } },
		{ "precise clock", FRESH, ALLO, -EOPNOTSUPP,
		  { A(caps, HWPMC_CAP_PRECISE) } },
		{ "call stacks of hardware", FRESH, ALLO, -EOPNOTSUPP,
		  { A(flags, HWPMC_F_BRANCH), A(type, PERF_TYPE_HARDWARE),
		    A(branch, PERF_SAMPLE_BRANCH_ANY |
			      PERF_SAMPLE_BRANCH_CALL_STACK) } },
		{ "unknown branches", FRESH, ALLO, -EOPNOTSUPP,
		  { A(flags, HWPMC_F_BRANCH), A(type, PERF_TYPE_HARDWARE),
		    A(branch, PERF_SAMPLE_BRANCH_ANY | 1U << 30) } },
		{ "other PMU", FRESH, ALLO, -ENOENT, { A(type, 9999) } },
		{ "last PMU", FRESH, ALLO, -ENOENT, { A(type, UINT32_MAX) } },
		{ "no such event", FRESH, ALLO, -ENOENT, { A(config, 999) } },
		{ "reserved", FRESH, ALLO, -EINVAL, { A(reserved, 1) } },
		{ "reserved at the end", FRESH, ALLO, -EINVAL, { A(reserved3, 1) } },
		{ "control character", FRESH, ALLO, -EINVAL,
		  { A(name[0], '\n') } },
		{ "eighth bit", FRESH, ALLO, -EINVAL, { A(name[1], 0xC3) } },
		{ "period too long for perf", FRESH, ALLO, -EINVAL,
		  { A(count, 1ULL << 63) } },
		/* two faults: the first rule speaks */
		{ "flag, capability", FRESH, ALLO, -EINVAL,
		  { A(flags, 1U << 30), A(caps, HWPMC_CAP_EDGE) } },
		{ "class, capability", FRESH, ALLO, -EINVAL,
		  { A(pmc_class, 1), A(caps, HWPMC_CAP_EDGE) } },
		{ "process flags, capability", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_DESCENDANTS), A(caps, HWPMC_CAP_EDGE) } },
		{ "mode, type", FRESH, ALLO, -EINVAL, { A(mode, 9), A(type, 9999) } },
		{ "CPU, capability", FRESH, ALLO, -EINVAL,
		  { A(cpu, 1 << 20), A(caps, HWPMC_CAP_EDGE) } },
		{ "type, event", FRESH, ALLO, -ENOENT,
		  { A(type, 9999), A(config, 999) } },
		{ "raw data, type", FRESH, ALLO, -EINVAL,
		  { A(flags, HWPMC_F_RAW), A(type, 9999) } },
		{ "type, name", FRESH, ALLO, -EINVAL,
		  { A(type, 9999), A(name[0], '\n') } },
		/* nothing has made it an owner yet */
		{ "not an owner", FRESH, HWPMC_IOC_PMCSTART, -ESRCH,
		  { S(id, ID_FREE) } },
	};
	struct hwpmc_allocate a = pmc_clock(100);

	RUN_CALLS(calls);
	memset(a.name, 'x', sizeof(a.name));
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev[FRESH], &a));
	a = pmc_counter(PERF_TYPE_HARDWARE, 9999);
	EXPECT_NE(0, dev_allocate(self->dev[FRESH], &a));
}

/* What is said of an id is the same for all that take one. */
TEST_F(errors, ids)
{
	static const unsigned long cmds[] = {
		HWPMC_IOC_PMCRELEASE, HWPMC_IOC_PMCSTART, HWPMC_IOC_PMCSTOP,
		HWPMC_IOC_PMCSETCOUNT, HWPMC_IOC_PMCRW,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		/* PMCRW wants flags first: they are the second word */
		uint32_t second = cmds[i] == HWPMC_IOC_PMCRW ?
				  HWPMC_F_OLDVALUE : 0;
		struct patch two = S(reserved, second);
		struct call calls[] = {
			{ "owner of nothing", FRESH, cmds[i], -ESRCH,
			  { S(id, ID_FREE), two } },
			{ "no class", FRESH, cmds[i], -EINVAL,
			  { S(id, ID_NO_CLASS), two } },
			{ "no mode", FRESH, cmds[i], -EINVAL,
			  { S(id, ID_NO_MODE), two } },
			{ "all ones", FRESH, cmds[i], -EINVAL,
			  { S(id, UINT32_MAX), two } },
			{ "free row", OWNER, cmds[i], -EINVAL,
			  { S(id, ID_FREE), two } },
			{ "row with another CPU", OWNER, cmds[i], -EINVAL,
			  { S(id, ID_OTHER_CPU), two } },
			{ "unknown second word", OWNER, cmds[i], -EINVAL,
			  { S(id, LATER(STOPPED)), S(reserved, 0x100) } },
			{ "second word before id", FRESH, cmds[i], -EINVAL,
			  { S(id, ID_FREE), S(reserved, 0x100) } },
		};

		RUN_CALLS(calls);
	}
}

TEST_F(errors, life)
{
#define RW	HWPMC_IOC_PMCRW
#define SETC	HWPMC_IOC_PMCSETCOUNT
#define OLDV	HWPMC_F_OLDVALUE
#define NEWV	HWPMC_F_NEWVALUE
	static const struct call calls[] = {
		{ "start without a log", OWNER, HWPMC_IOC_PMCSTART, -EBADFD,
		  { S(id, LATER(SAMPLER)) } },
		{ "start again", OWNER, HWPMC_IOC_PMCSTART, 0,
		  { S(id, LATER(RUNNING)) } },
		{ "stop before start", OWNER, HWPMC_IOC_PMCSTOP, -EINVAL,
		  { S(id, LATER(COUNTER)) } },
		{ "still not running", OWNER, HWPMC_IOC_PMCSTOP, -EINVAL,
		  { S(id, LATER(SAMPLER)) } },
		{ "stop again", OWNER, HWPMC_IOC_PMCSTOP, 0,
		  { S(id, LATER(STOPPED)) } },
		{ "set while running", OWNER, SETC, -EBUSY,
		  { C(id, LATER(RUNNING)), C(count, 5) } },
		{ "no period", OWNER, SETC, -EINVAL, { C(id, LATER(SAMPLER)) } },
		{ "period too long for perf", OWNER, SETC, -EINVAL,
		  { C(id, LATER(SAMPLER)), C(count, 1ULL << 63) } },
		{ "period", OWNER, SETC, 0,
		  { C(id, LATER(SAMPLER)), C(count, 10000000) } },
		{ "count", OWNER, SETC, 0,
		  { C(id, LATER(STOPPED)), C(count, UINT64_MAX) } },
		{ "neither old nor new", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(cpu, -2) } },
		{ "neither, and no id", OWNER, RW, -EINVAL, { R(id, ID_FREE) } },
		{ "reserved", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, OLDV), R(cpu, -2),
		    R(reserved, 1) } },
		{ "new while running", OWNER, RW, -EBUSY,
		  { R(id, LATER(RUNNING)), R(flags, OLDV | NEWV), R(cpu, -2) } },
		{ "old while running", OWNER, RW, 0,
		  { R(id, LATER(RUNNING)), R(flags, OLDV), R(cpu, -2) } },
		{ "new of one CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, NEWV), R(cpu, 0) } },
		{ "no CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, OLDV), R(cpu, -1) } },
		{ "high CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(STOPPED)), R(flags, OLDV), R(cpu, 1 << 20) } },
		{ "not its CPU", OWNER, RW, -EINVAL,
		  { R(id, LATER(SINGLE)), R(flags, OLDV), R(cpu, 1) } },
		{ "its CPU", OWNER, RW, 0,
		  { R(id, LATER(SINGLE)), R(flags, OLDV), R(cpu, 0) } },
		{ "release", OWNER, HWPMC_IOC_PMCRELEASE, 0,
		  { S(id, LATER(RUNNING)) } },
		{ "release again", OWNER, HWPMC_IOC_PMCRELEASE, -EINVAL,
		  { S(id, LATER(RUNNING)) } },
		{ "start of a released one", OWNER, HWPMC_IOC_PMCSTART, -EINVAL,
		  { S(id, LATER(RUNNING)) } },
	};

	RUN_CALLS(calls);
}

/* The conditions themselves come next. */
TEST_F(errors, filter)
{
#define FILT	HWPMC_IOC_PMCFILTER
	static const struct call calls[] = {
		{ "owner of nothing", FRESH, FILT, -ESRCH, { F(id, ID_FREE) } },
		{ "free row", OWNER, FILT, -EINVAL, { F(id, ID_FREE) } },
		{ "counter", OWNER, FILT, -EINVAL, { F(id, LATER(COUNTER)) } },
		{ "counter that runs", OWNER, FILT, -EINVAL,
		  { F(id, LATER(RUNNING)) } },
		{ "too many", OWNER, FILT, -E2BIG,
		  { F(id, LATER(SAMPLER)), F(n, HWPMC_NCONDITION + 1),
		    F(conditions, LATER(ZERO_PTR)) } },
		{ "most of all", OWNER, FILT, -E2BIG,
		  { F(id, LATER(SAMPLER)), F(n, UINT32_MAX) } },
		{ "no memory there", OWNER, FILT, -EFAULT,
		  { F(id, LATER(SAMPLER)), F(n, 1), F(conditions, LATER(NO_PTR)) } },
		{ "kernel memory", OWNER, FILT, -EFAULT,
		  { F(id, LATER(SAMPLER)), F(n, 1),
		    F(conditions, 0xFFFFFFFF81000000ULL) } },
		{ "zeros", OWNER, FILT, -EINVAL,
		  { F(id, LATER(SAMPLER)), F(n, 1),
		    F(conditions, LATER(ZERO_PTR)) } },
		{ "junk", OWNER, FILT, -EINVAL,
		  { F(id, LATER(SAMPLER)), F(n, 1),
		    F(conditions, LATER(JUNK_PTR)) } },
		{ "none", OWNER, FILT, 0, { F(id, LATER(SAMPLER)) } },
	};

	RUN_CALLS(calls);
}

TEST_F(errors, filter_conditions)
{
#define COND(what_, op_, value_, comm_) \
	{ .what = HWPMC_COND_##what_, .op = op_, .value = value_, .comm = comm_ }
	static const struct {
		struct hwpmc_condition c;
		int	want;
	} conditions[] = {
		{ COND(PID, 0, 1, ""),			0 },
		{ COND(PID, 1, 0, ""),			0 },
		{ COND(TID, 1, -1, ""),			0 },
		{ COND(TID, 0, INT32_MAX, ""),		0 },
		{ COND(COMM, 0, 0, "x"),		0 },
		{ COND(COMM, 1, 0, ""),			0 },
		{ COND(COMM, 0, 0, "fifteen letters"),	0 },
		{ COND(USER, 1, 0, ""),			0 },
		{ COND(PID, 2, 1, ""),			-EINVAL },
		{ COND(PID, 0, -2, ""),			-EINVAL },
		{ COND(PID, 0, 1LL << 31, ""),		-EINVAL },
		{ COND(PID, 0, 1LL << 32, ""),		-EINVAL },
		{ COND(PID, 0, 1, "x"),			-EINVAL },
		{ COND(TID, 0, INT64_MIN, ""),		-EINVAL },
		{ COND(COMM, 0, 1, "x"),		-EINVAL },
		{ COND(COMM, 0, 0, "x\0y"),		-EINVAL },
		{ COND(COMM, 0, 0, "sixteen letters."),	-EINVAL },
		{ COND(USER, 0, 1, ""),			-EINVAL },
		{ COND(USER, 0, 0, "x"),		-EINVAL },
		{ { .what = HWPMC_COND_USER + 1 },	-EINVAL },
		{ { .what = UINT32_MAX },		-EINVAL },
		{ COND(CGROUP, 0, NO_FD, ""),		-EBADF },
		{ COND(CGROUP, 0, -1, ""),		-EBADF },
		{ COND(CGROUP, 0, 1LL << 32, ""),	-EBADF },
	};
	struct hwpmc_condition c = COND(CGROUP, 0, 0, "");
	int dev = self->dev[OWNER];
	uint32_t id = self->late[SAMPLER];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(conditions); i++) {
		EXPECT_EQ(conditions[i].want,
			  dev_filter(dev, id, &conditions[i].c, 1))
			TH_LOG("condition %u", i);
	}
	/* a file, and a directory of another file system */
	for (i = FILE_FD; i <= PATH_FD; i++) {
		c.value = self->late[i];
		EXPECT_EQ(-EBADF, dev_filter(dev, id, &c, 1));
	}
}

TEST_HARNESS_MAIN
