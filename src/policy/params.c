// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters.  At load time a value out of range is replaced by the
 * default, with one message.  A value that can be changed later is clamped
 * where it is used.
 */
#include <linux/cpumask.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>

#include "compat.h"
#include "hwpmc.h"

#define DEF_CHAIN_DEPTH	128
#define DEF_RING_KIB	1024	/* of a CPU ... */
#define LOG_RINGS_MIB	64	/* ... but not more for a log on all CPUs ... */
#define LEAST_RING_KIB	128	/* ... unless each has less: half a second of 1 kHz */
#define DEF_BUFFER_KIB	256
#define DEF_MINCOUNT	1000
#define DEF_OWNERS	64
#define DEF_PMCS	1024
#define DEF_RING_MIB	256	/* the default rings of 32 owners on 8 CPUs ... */
#define DEF_RING_LOGS	4	/* ... but at least those of this many logs on all CPUs */
#define BY_CPUS		UINT_MAX
#define DEF_COUNTERS	65536
#define DEF_CPU		100	/* of one CPU */
#define MAX_COUNT	(1 << 20)	/* maximum of each limit; 1 TiB of rings */
#define MIN_BUFFER	(8 << 10)	/* two of the longest records */
#define MAX_DROPS	64		/* fewer than a workqueue has: see event.c */
#define MIN_CLOCK_NS	20000		/* perf's own floor is 10000 */

static unsigned int callchaindepth = DEF_CHAIN_DEPTH;
module_param(callchaindepth, uint, 0444);
MODULE_PARM_DESC(callchaindepth, "frames of a call chain, 1..512 (128)");

static unsigned int ringsize = BY_CPUS;
module_param(ringsize, uint, 0444);
MODULE_PARM_DESC(ringsize,
		 "KiB per CPU and owner, a power of two, 16..65536 (1024, with more than 64 CPUs less)");

static unsigned int logbuffersize = DEF_BUFFER_KIB;
module_param(logbuffersize, uint, 0444);
MODULE_PARM_DESC(logbuffersize, "KiB per write to the log, 1..16384 (256)");

static unsigned int mincount = DEF_MINCOUNT;
module_param(mincount, uint, 0444);
MODULE_PARM_DESC(mincount,
		 "shortest period of a hardware event, 1..1000000000 (1000)");

static bool unprivileged_syspmcs;
module_param(unprivileged_syspmcs, bool, 0644);
MODULE_PARM_DESC(unprivileged_syspmcs,
		 "allow system-wide PMCs (user mode only) without CAP_PERFMON (N)");

static bool perf_rules;

static int set_perf_rules(const char *val, const struct kernel_param *kp)
{
	bool on = true;
	int err = val ? kstrtobool(val, &on) : 0;

	if (err)
		return err;
	if (on && !COMPAT_PERF_RULES) {
		pr_err("perf_rules: this kernel does not export perf_allow_kernel(), so perf's rules cannot be asked\n");
		return -EOPNOTSUPP;
	}
	WRITE_ONCE(perf_rules, on);
	return 0;
}

static const struct kernel_param_ops perf_rules_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= set_perf_rules,
	.get	= param_get_bool,
};

module_param_cb(perf_rules, &perf_rules_ops, &perf_rules, 0644);
__MODULE_PARM_TYPE(perf_rules, "bool");
MODULE_PARM_DESC(perf_rules,
		 "refuse what kernel.perf_event_paranoid and security modules may refuse to perf (N)");

static unsigned int max_owners = DEF_OWNERS;
module_param(max_owners, uint, 0644);
MODULE_PARM_DESC(max_owners,
		 "open devices of a user without CAP_PERFMON, 0..1048576 (64)");

static unsigned int max_pmcs = DEF_PMCS;
module_param(max_pmcs, uint, 0644);
MODULE_PARM_DESC(max_pmcs,
		 "PMCs of a user without CAP_PERFMON, 0..1048576 (1024)");

static unsigned int max_ringmem = BY_CPUS;
module_param(max_ringmem, uint, 0644);
MODULE_PARM_DESC(max_ringmem,
		 "MiB of rings of a user without CAP_PERFMON, 0..1048576 (256, or four logs' on all CPUs)");

static unsigned int max_counters = DEF_COUNTERS;
module_param(max_counters, uint, 0644);
MODULE_PARM_DESC(max_counters,
		 "PMCs times CPUs they are on and threads they are attached to, of a user without CAP_PERFMON, 0..1048576 (65536)");

static unsigned int max_cpu = DEF_CPU;
module_param(max_cpu, uint, 0644);
MODULE_PARM_DESC(max_cpu,
		 "per cent of a CPU each for the writer threads and the workers of a user without CAP_PERFMON, 1..1048576 (100)");

static unsigned int default_ring_kib(void)
{
	unsigned int kib = LOG_RINGS_MIB * 1024 / num_present_cpus();

	return clamp_t(unsigned int, rounddown_pow_of_two(max(kib, 1U)),
		       LEAST_RING_KIB, DEF_RING_KIB);
}

/* A user's log on a machine of many CPUs needs room for its tables, too. */
static unsigned int default_ring_mib(void)
{
	u64 kib = max_t(u64, ringsize, DEF_RING_KIB);
	u64 mib = DEF_RING_LOGS * num_possible_cpus() * kib >> 10;

	return clamp_t(u64, mib, DEF_RING_MIB, MAX_COUNT);
}

static void params_check_one(const char *name, unsigned int *value, bool good,
			     unsigned int def)
{
	if (good)
		return;
	pr_warn("%s=%u is out of range, using %u\n", name, *value, def);
	*value = def;
}

/* Module load, before any parameter is read. */
void hwpmc_params_check(void)
{
	params_check_one("callchaindepth", &callchaindepth,
			 callchaindepth >= 1 &&
				 callchaindepth <= PMCLOG_CHAIN_MAX,
			 DEF_CHAIN_DEPTH);
	if (ringsize == BY_CPUS)
		ringsize = default_ring_kib();
	params_check_one("ringsize", &ringsize,
			 ringsize >= 16 && ringsize <= 65536 &&
				 is_power_of_2(ringsize),
			 default_ring_kib());
	params_check_one("logbuffersize", &logbuffersize,
			 logbuffersize >= 1 && logbuffersize <= 16384,
			 DEF_BUFFER_KIB);
	params_check_one("mincount", &mincount,
			 mincount >= 1 && mincount <= 1000000000, DEF_MINCOUNT);
	params_check_one("max_owners", &max_owners, max_owners <= MAX_COUNT,
			 DEF_OWNERS);
	params_check_one("max_pmcs", &max_pmcs, max_pmcs <= MAX_COUNT,
			 DEF_PMCS);
	if (max_ringmem == BY_CPUS)
		max_ringmem = default_ring_mib();
	params_check_one("max_ringmem", &max_ringmem, max_ringmem <= MAX_COUNT,
			 default_ring_mib());
	params_check_one("max_counters", &max_counters,
			 max_counters <= MAX_COUNT, DEF_COUNTERS);
	params_check_one("max_cpu", &max_cpu,
			 max_cpu >= 1 && max_cpu <= MAX_COUNT, DEF_CPU);
}

unsigned int hwpmc_param_chain_depth(void)
{
	return callchaindepth;
}

u32 hwpmc_param_ring_bytes(void)
{
	return ringsize << 10;
}

u32 hwpmc_param_buffer_bytes(void)
{
	return max_t(u32, logbuffersize << 10, MIN_BUFFER);
}

bool hwpmc_param_unprivileged(void)
{
	/* param_set_bool() writes this without WRITE_ONCE() */
	return data_race(unprivileged_syspmcs);
}

bool hwpmc_param_perf_rules(void)
{
	return READ_ONCE(perf_rules);
}

/* Any context.  param_set_uint() writes these without WRITE_ONCE(). */
s64 hwpmc_param_limit(enum limit_kind kind)
{
	switch (kind) {
	case LIMIT_OWNERS:
		return min_t(s64, data_race(max_owners), MAX_COUNT);
	case LIMIT_PMCS:
		return min_t(s64, data_race(max_pmcs), MAX_COUNT);
	case LIMIT_RING_BYTES:
		return min_t(s64, data_race(max_ringmem), MAX_COUNT) << 20;
	case LIMIT_COUNTERS:
		return min_t(s64, data_race(max_counters), MAX_COUNT);
	case LIMIT_DROPS:
		return MAX_DROPS;
	default:
		return 0;
	}
}

/* Any context.  As hwpmc_param_limit(). */
u32 hwpmc_param_cpu_percent(void)
{
	return clamp_t(u32, data_race(max_cpu), 1, MAX_COUNT);
}

/*
 * Shortest period: keeps an event from overloading the machine; 1 for rare
 * events.
 */
u64 hwpmc_param_min_period(const struct perf_event_attr *attr)
{
	if (attr_is_clock(attr))
		return MIN_CLOCK_NS;
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return 1;
	default:
		return mincount;
	}
}

/* Most samples a second that perf is asked for, by HWPMC_F_FREQ. */
u64 hwpmc_param_max_rate(void)
{
	return NSEC_PER_SEC / MIN_CLOCK_NS;
}
