// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event sources that there are not, and who may have those that there are.
 */
#include <linux/capability.h>

#include "limit.h"
#include "source.h"
#include "test.h"
#include "user.h"

#define NOBODY		65534
#define EVENT		"syscalls/sys_enter_getpriority"

static volatile uint64_t watched __attribute__((aligned(8)));

static void called(void)
{
}

FIXTURE(sources_rules)
{
	int dev;
};

FIXTURE_SETUP(sources_rules)
{
	if (!tracefs_mount())
		SKIP(return, "this kernel has no tracefs");
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(sources_rules)
{
}

TEST_F(sources_rules, errors)
{
	struct hwpmc_allocate a;

#define REFUSED(error)	EXPECT_EQ(error, dev_allocate(self->dev, &a))
	a = pmc_tracepoint(HWPMC_MODE_SC, 0x7FFFFFF0);
	REFUSED(-EINVAL);
	a = pmc_tracepoint(HWPMC_MODE_TS, UINT64_MAX);
	REFUSED(-EINVAL);
	/* ftrace's own, of every function: it can be counted only */
	a = pmc_tracepoint(HWPMC_MODE_SS, tracefs_id("ftrace/function"));
	REFUSED(-EINVAL);
	/* of unknown PMUs */
	a = pmc_counter(9999, 0);
	REFUSED(-ENOENT);
	a = pmc_counter(UINT32_MAX, 0);
	REFUSED(-ENOENT);
	/* fields that others have */
	a = pmc_counter(PERF_TYPE_TRACEPOINT, tracefs_id(EVENT));
	a.bp_type = BP_W;
	REFUSED(-EINVAL);
	a.bp_type = 0;
	a.flags = HWPMC_F_RAW;
	REFUSED(-EINVAL);
	a = pmc_clock(100);
	a.flags |= HWPMC_F_RAW;
	REFUSED(-EINVAL);
	a = pmc_breakpoint(HWPMC_MODE_TS, BP_X, called, BP_X_LEN);
	a.flags |= HWPMC_F_RAW;
	REFUSED(-EINVAL);
	/* breakpoints that there are not */
	a = pmc_breakpoint(HWPMC_MODE_TC, 0, &watched, 8);
	REFUSED(-EINVAL);
	a = pmc_breakpoint(HWPMC_MODE_TC, BP_W | BP_X | 1, &watched, 8);
	REFUSED(-EINVAL);
	a = pmc_breakpoint(HWPMC_MODE_TC, 0x10, &watched, 8);
	REFUSED(-EINVAL);
	a = pmc_breakpoint(HWPMC_MODE_TC, BP_W, &watched, 9);
	REFUSED(-EINVAL);
	a = pmc_breakpoint(HWPMC_MODE_TC, BP_W,
		       (void *)(uintptr_t)kallsyms_addr("jiffies"), 8);
	REFUSED(-EINVAL);	/* user mode only, in the kernel */
	/* PMUs that take strings: tracefs is the way */
	a = pmc_counter(pmu_type("kprobe"), 0);
	a.config1 = (uintptr_t)"schedule";
	REFUSED(-EOPNOTSUPP);
	a = pmc_counter(pmu_type("uprobe"), 0);
	a.config1 = (uintptr_t)"/bin/true";
	REFUSED(-EOPNOTSUPP);
}

/* Takes all the breakpoints that a CPU has left: how many those were. */
static unsigned int all_on_cpu(int dev, int cpu)
{
	struct hwpmc_allocate a = pmc_breakpoint(HWPMC_MODE_SC, BP_W, &watched, 8);
	unsigned int n = 0;

	a.cpu = cpu;
	while (!dev_allocate(dev, &a))
		n++;
	return n;
}

/* More breakpoints than the processor has. */
TEST_F(sources_rules, too_many_breakpoints)
{
	struct hwpmc_allocate a = pmc_breakpoint(HWPMC_MODE_SC, BP_W, &watched, 8);
	unsigned int n = 0;
	int err;

	while (!(err = dev_allocate(self->dev, &a)))
		n++;
	EXPECT_EQ(-ENOSPC, err);
	EXPECT_LT(0, n);
	EXPECT_EQ(0, dev_release(self->dev, a.id));
	EXPECT_EQ(0, dev_allocate(self->dev, &a));
	close(self->dev);
	OPEN_DEVICE(self->dev);
	/* CPU 1 has none left, and what a PMC had on CPU 0 by then is free again */
	EXPECT_EQ(n, all_on_cpu(self->dev, 1));
	a.cpu = HWPMC_CPU_ALL;
	for (err = 0; err < 3; err++)
		EXPECT_EQ(-ENOSPC, dev_allocate(self->dev, &a));
	EXPECT_EQ(n, all_on_cpu(self->dev, 0));
}

static const struct rule {
	const char	*what;
	uint32_t	mode;
	uint32_t	type;
	uint32_t	caps;
	int		want;		/* of who has no privilege */
} rules[] = {
#define TP	PERF_TYPE_TRACEPOINT
#define BP	PERF_TYPE_BREAKPOINT
#define U	HWPMC_CAP_USER
	{ "tracepoint in oneself",	HWPMC_MODE_TC, TP, 0, -EPERM },
	{ "... in user mode",		HWPMC_MODE_TC, TP, U, -EPERM },
	{ "... sampled",		HWPMC_MODE_TS, TP, U, -EPERM },
	{ "tracepoint",			HWPMC_MODE_SC, TP, U, -EPERM },
	{ "kprobe",			HWPMC_MODE_TC, 6, U, -EPERM },
	{ "uprobe",			HWPMC_MODE_TC, 7, U, -EPERM },
	{ "another PMU",		HWPMC_MODE_TC, 8, U, -EPERM },
	{ "no PMU",			HWPMC_MODE_TC, 9999, U, -EPERM },
	{ "no PMU at all",		HWPMC_MODE_TC, UINT32_MAX, U, -EPERM },
	{ "breakpoint in oneself",	HWPMC_MODE_TC, BP, U, 0 },
	{ "... without a mode",		HWPMC_MODE_TC, BP, 0, 0 },
	{ "... in the kernel",		HWPMC_MODE_TC, BP, HWPMC_CAP_SYSTEM,
	  -EPERM },
	{ "breakpoint",			HWPMC_MODE_SC, BP, U, -EPERM },
};

/* What needs no privilege: the answer is root's, were it that there is no PMU. */
static const struct {
	uint32_t	type;
	uint64_t	config;
} free_for_all[] = {
	{ PERF_TYPE_SOFTWARE,	PERF_COUNT_SW_PAGE_FAULTS },
	{ PERF_TYPE_HARDWARE,	PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HW_CACHE,	PERF_COUNT_HW_CACHE_L1D },
	{ PERF_TYPE_RAW,	0x3C },
};
static int roots[ARRAY_SIZE(free_for_all)];

static int try_free(int dev, unsigned int i, uint32_t mode)
{
	struct hwpmc_allocate a = pmc_process_counter(free_for_all[i].type,
						      free_for_all[i].config, 0);

	a.mode = mode;
	a.caps = U;
	return dev_allocate(dev, &a);
}

static int try_rule(int dev, const struct rule *r)
{
	struct hwpmc_allocate a = pmc_breakpoint(r->mode, BP_W, &watched, 8);

	a.type = r->type;
	a.caps = r->caps;
	if (r->type != BP) {
		a.bp_type = 0;
		a.config = r->type == TP ? tracefs_id("sched/sched_switch") : 0;
	}
	return dev_allocate(dev, &a);
}

/* In a child: as nobody. */
static int nobody_tries(int dev)
{
	struct hwpmc_allocate a = pmc_breakpoint(HWPMC_MODE_TC, BP_W,
			(void *)(uintptr_t)0xFFFFFFFF81000000ULL, 8);
	struct hwpmc_allocate raw = pmc_process_counter(PERF_TYPE_RAW,
							1U << 21 | 0x3C, 0);
	unsigned int i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		int got = try_rule(dev, &rules[i]);

		if (got == rules[i].want)
			continue;
		bad++;
		fprintf(stderr, "# %s: %s\n", rules[i].what, strerror(-got));
	}
	for (i = 0; i < ARRAY_SIZE(free_for_all); i++) {
		bad += try_free(dev, i, HWPMC_MODE_TC) != roots[i];
		bad += try_free(dev, i, HWPMC_MODE_TS) == -EPERM;
	}
	bad += dev_allocate(dev, &a) != -EINVAL;
	raw.caps = U;
	if (BREAKS_SAMPLE)	/* x86: AnyThread */
		bad += dev_allocate(dev, &raw) != -EPERM;
	return bad;
}

static int as_nobody(void)
{
	pid_t pid = fork_bound();
	int dev;

	if (!pid) {
		if (!user_stay(NOBODY))
			_exit(100);
		dev = dev_open();
		_exit(dev < 0 ? 101 : nobody_tries(dev));
	}
	return wait_for(pid);
}

TEST_F(sources_rules, without_privilege)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(free_for_all); i++)
		roots[i] = try_free(self->dev, i, HWPMC_MODE_TC);
	EXPECT_EQ(0, roots[0]);
	ASSERT_TRUE(device_for_group());
	EXPECT_EQ(0, as_nobody());
	/* what opens user mode to everybody opens no more than that */
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	EXPECT_EQ(0, as_nobody());
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
	device_for_root();
}

static int with_perfmon(void)
{
	int dev, bad;
	struct hwpmc_allocate a;

	if (keep_caps(1ULL << CAP_PERFMON))
		return 100;
	dev = dev_open();
	a = pmc_tracepoint(HWPMC_MODE_SC, tracefs_id(EVENT));
	bad = dev_allocate(dev, &a) != 0;
	a = pmc_breakpoint(HWPMC_MODE_SC, BP_W, &watched, 8);
	bad |= (dev_allocate(dev, &a) != 0) << 1;
	a.caps = 0;
	bad |= (dev_allocate(dev, &a) != -EPERM) << 2;
	a.mode = HWPMC_MODE_TC;
	a.cpu = HWPMC_CPU_ANY;
	a.caps = HWPMC_CAP_SYSTEM;
	return bad | (dev_allocate(dev, &a) != -EPERM) << 3;
}

/* All but breakpoints in the kernel. */
TEST_F(sources_rules, with_a_part_of_privilege)
{
	EXPECT_EQ(0, IN_CHILD(with_perfmon()));
}

/* Root has allocated it, in user mode even; who got the device cannot start it. */
TEST_F(sources_rules, handed_over)
{
	struct hwpmc_allocate a = pmc_tracepoint(HWPMC_MODE_TC, tracefs_id(EVENT));

	a.caps = U;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(0, IN_CHILD(!user_stay(NOBODY) ? 100 :
			      dev_start(self->dev, a.id) != -EPERM));
	EXPECT_EQ(0, dev_start(self->dev, a.id));
}

TEST_HARNESS_MAIN
