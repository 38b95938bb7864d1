// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event sources: which of perf's events a caller may use, and on what terms.
 *
 * Events are created with the module's credentials, so a PMU's checks of its
 * caller always pass.  So anything that is not harmless must be refused here, or
 * in access.c if privilege makes a difference.
 *
 * All in process context, under owner->mutex or, for created events, the locks
 * of event.c, unless stated otherwise.
 */
#include <linux/device.h>
#include <linux/device/bus.h>
#include <linux/kallsyms.h>
#include <linux/topology.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"

#define DEFAULT_PERIOD	65536
#define NO_TYPE		U32_MAX
#define PRECISE_MAX	3

/*
 * The PMUs that create a probe from their arguments.  The arguments are
 * addresses of strings in the memory of the task that creates the event.  The
 * module's events may be created by the hotplug work, or by a new thread.
 * Constant once the module is loaded.
 */
static u32 kprobe_type = NO_TYPE, uprobe_type = NO_TYPE;

/* These two are not modules: their types stay valid. */
static u32 type_of(const struct pmu *any, const char *name)
{
	struct device *dev = bus_find_device_by_name(any->dev->bus, NULL, name);
	u32 type = NO_TYPE;

	if (!dev)
		return NO_TYPE;
	type = ((const struct pmu *)dev_get_drvdata(dev))->type;
	put_device(dev);
	return type;
}

/* Module load.  An event of any PMU leads to the bus of all PMUs. */
int hwpmc_source_init(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	struct perf_event *event;
	int err = 0;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL,
						 NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	if (event->pmu->dev) {
		kprobe_type = type_of(event->pmu, "kprobe");
		uprobe_type = type_of(event->pmu, "uprobe");
	} else {
		err = -ENODEV;
	}
	perf_event_release_kernel(event);
	return err;
}

#define BRANCH_KINDS	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL |	\
			 PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL | \
			 PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | \
			 PERF_SAMPLE_BRANCH_NO_TX | PERF_SAMPLE_BRANCH_COND |	\
			 PERF_SAMPLE_BRANCH_IND_JUMP | PERF_SAMPLE_BRANCH_CALL)
#define BRANCH_KNOWN	(BRANCH_KINDS | PERF_SAMPLE_BRANCH_PLM_ALL |		\
			 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES | \
			 PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_PRIV_SAVE)

/* Refuses arguments in @a that apply only to other event types or modes. */
int hwpmc_source_check_flags(const struct hwpmc_allocate *a)
{
	if ((a->flags & HWPMC_F_RAW) && (a->type != PERF_TYPE_TRACEPOINT ||
					 !mode_is_sampling(a->mode)))
		return -EINVAL;
	if (!mode_is_sampling(a->mode) && ((a->caps & HWPMC_CAP_PRECISE) ||
					   (a->flags & HWPMC_F_OF_PMU)))
		return -EINVAL;
	/* perf does not check the attributes of a kernel counter */
	if (a->flags & HWPMC_F_BRANCH ? !(a->branch & BRANCH_KINDS) : a->branch)
		return -EINVAL;
	return a->bp_type && a->type != PERF_TYPE_BREAKPOINT ? -EINVAL : 0;
}

/* perf samples these in software, and ignores the flags that need a PMU. */
static bool is_of_no_pmu(u32 type)
{
	return type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
	       type == PERF_TYPE_BREAKPOINT;
}

/* These happen in the kernel only: perf would never count them in user mode. */
static bool is_of_scheduler(const struct hwpmc_allocate *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		a->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		a->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static bool is_user_only(const struct hwpmc_allocate *a)
{
	return (a->caps & HWPMC_CAP_USER) && !(a->caps & HWPMC_CAP_SYSTEM);
}

/* Refuses events that the module does not support, for any caller. */
int hwpmc_source_check(const struct hwpmc_allocate *a)
{
	if (is_of_no_pmu(a->type) && ((a->caps & HWPMC_CAP_PRECISE) ||
				      (a->flags & HWPMC_F_OF_PMU)))
		return -EOPNOTSUPP;
	if (is_of_scheduler(a) && is_user_only(a))
		return -EOPNOTSUPP;
	if (a->branch & ~(u64)BRANCH_KNOWN)
		return -EOPNOTSUPP;
	if (a->config3 && !compat_has_config3())
		return -EOPNOTSUPP;
	if (a->type > INT_MAX)	/* perf's value for "no number" */
		return -ENOENT;
	if (a->type == kprobe_type || a->type == uprobe_type)
		return -EOPNOTSUPP;
	if (a->type == PERF_TYPE_BREAKPOINT && mode_is_sampling(a->mode) &&
	    !COMPAT_BREAKPOINT_GOES_ON)
		return -EOPNOTSUPP;
	return 0;
}

u64 hwpmc_source_default_period(u32 type)
{
	return type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT ?
	       1 : DEFAULT_PERIOD;
}

void hwpmc_source_fill(struct perf_event_attr *attr,
		       const struct hwpmc_allocate *a)
{
	attr->type = a->type;
	attr->config = a->config;
	attr->config1 = a->config1;
	attr->config2 = a->config2;
	compat_set_config3(attr, a->config3);
	attr->bp_type = a->bp_type;
	/* otherwise perf only counts, and provides no data */
	if (a->flags & HWPMC_F_RAW)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (a->flags & HWPMC_F_DATA)
		attr->sample_type |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_ADDR |
				     PERF_SAMPLE_WEIGHT_STRUCT;
}

/*
 * perf_event_open() would supply the modes.  Newer kernels cut the branches of a sample
 * to sample_max_stack.
 */
static void fill_branch(struct perf_event_attr *attr, u64 branch)
{
	if (!(branch & PERF_SAMPLE_BRANCH_PLM_ALL)) {
		if (!attr->exclude_user)
			branch |= PERF_SAMPLE_BRANCH_USER;
		if (!attr->exclude_kernel)
			branch |= PERF_SAMPLE_BRANCH_KERNEL;
		if (!attr->exclude_hv)
			branch |= PERF_SAMPLE_BRANCH_HV;
	}
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = branch;
	attr->sample_max_stack = PMCLOG_BRANCH_MAX;
}

/*
 * hwpmc_source_fill_hardware - ask the PMU for what only hardware can record
 *
 * Called when the modes are known.  precise_ip begins with its highest value.
 *
 * x86 collects samples of a fixed period in a buffer, and hands them over when another
 * thread may run already, unless they have to wake a reader.
 */
void hwpmc_source_fill_hardware(struct perf_event_attr *attr,
				const struct hwpmc_allocate *a)
{
	if (a->flags & HWPMC_F_BRANCH)
		fill_branch(attr, a->branch);
	if (a->caps & HWPMC_CAP_PRECISE) {
		attr->precise_ip = PRECISE_MAX;
		attr->wakeup_events = 1;
	}
}

/* Does the PMU refuse, but may accept a lower precise_ip than @attr's? */
bool hwpmc_source_less_precise(struct perf_event_attr *attr, int err)
{
	if (attr->precise_ip <= 1 || !hwpmc_event_says_no(err))
		return false;
	attr->precise_ip--;
	return true;
}

/*
 * hwpmc_source_knows_no_modes - can @attr be retried without any exclusion?
 *
 * Many PMUs can exclude neither modes nor guests, and refuse the attempt.
 * Returns true with @attr changed.
 */
bool hwpmc_source_knows_no_modes(struct perf_event_attr *attr)
{
	if (attr->type < PERF_TYPE_MAX || !attr->exclude_guest ||
	    attr->exclude_user || attr->exclude_kernel)
		return false;
	attr->exclude_guest = 0;
	return true;
}

/*
 * hwpmc_source_suits - checks that only perf_event_open() makes, on a created
 * event
 *
 * EOPNOTSUPP: a PMU that writes into its own buffer has no buffer here.  ENODEV:
 * the PMU has been removed (see compat_event_is_gone()).
 */
int hwpmc_source_suits(const struct perf_event *event, bool sampling)
{
	const struct pmu *pmu = READ_ONCE(event->pmu);

	if (!pmu)
		return -ENODEV;
	if (pmu->setup_aux)
		return -EOPNOTSUPP;
	if (sampling && (pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT))
		return -EOPNOTSUPP;
	return 0;
}

/* size in "name+0x0/0x5a"; 0: unknown */
static unsigned long size_of_function(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long size;
	const char *at;

	sprint_symbol(text, addr);
	at = strstr(text, "+0x0/0x");
	return at && sscanf(at, "+0x0/0x%lx", &size) == 1 ? size : 0;
}

/*
 * hwpmc_source_note - note the properties of @event's source for the overflow handler
 *
 * A tracepoint with other listeners calls them all from one function.  perf then
 * takes its registers from within that function.
 */
void hwpmc_source_note(struct hwpmc_pmc *pmc, const struct perf_event *event)
{
	unsigned long caller = compat_tracepoint_caller(event);

	if (!caller || pmc->caller)
		return;
	pmc->caller = caller;
	pmc->caller_size = size_of_function(caller);
}

/*
 * hwpmc_source_is_elsewhere - does another CPU's event count the same as this one?
 *
 * For events on all CPUs.  A PMU shared by several CPUs moves its events to one
 * of them, or counts the same on each.  An event whose PMU has been removed counts
 * nothing: true.
 */
bool hwpmc_source_is_elsewhere(const struct perf_event *event, int cpu)
{
	const struct pmu *pmu = READ_ONCE(event->pmu);
	const struct cpumask *shared;

	if (!pmu || event->cpu != cpu)
		return true;
	shared = compat_pmu_cpus(pmu, cpu);
	return shared && cpumask_first_and(shared, cpu_online_mask) != cpu;
}
