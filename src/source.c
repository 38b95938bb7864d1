// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event sources: which of perf's there are for whom, and on what terms.
 *
 * Events are made with the module's credentials: what a PMU asks its caller's
 * for is always granted, so what is not harmless to grant is refused here.
 *
 * All in process context, under owner->mutex unless it says otherwise.
 */
#include <linux/device.h>
#include <linux/device/bus.h>
#include <linux/kallsyms.h>
#include <linux/topology.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc.h"

#define DEFAULT_PERIOD	65536
#define NO_TYPE		U32_MAX

/*
 * The PMUs that make a probe of what they are given: addresses of strings in
 * the memory of whoever happens to create the event.  An event of ours may be
 * created by the hotplug work, or by a thread that has just been born.
 * Constant once the module is loaded.
 */
static u32 kprobe_type = NO_TYPE, uprobe_type = NO_TYPE;

/* These two are not modules: they stay. */
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

/* Module load.  The way to the bus of all PMUs is an event of one of them. */
int source_init(void)
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

/*
 * source_is_private - does it take privilege, whatever mode is counted in?
 *
 * Tracepoints and the PMUs of who knows what tell of others; so does a
 * breakpoint that is not in a process of one's own, and a counter of all threads
 * of a core.  Any context.
 */
bool source_is_private(u32 type, u64 config, u32 mode)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_HW_CACHE:
		return false;
	case PERF_TYPE_RAW:
		return config & COMPAT_RAW_ANY_THREAD;
	case PERF_TYPE_BREAKPOINT:
		return mode_is_system(mode);
	default:
		return true;
	}
}

/* What of @a says something only of other sources, or other ways to count. */
int source_check_flags(const struct hwpmc_allocate *a)
{
	if ((a->flags & HWPMC_F_RAW) && (a->type != PERF_TYPE_TRACEPOINT ||
					 !mode_is_sampling(a->mode)))
		return -EINVAL;
	return a->bp_type && a->type != PERF_TYPE_BREAKPOINT ? -EINVAL : 0;
}

/* What cannot be had here, whoever asks. */
int source_check(const struct hwpmc_allocate *a)
{
	if (a->config3 && !compat_has_config3())
		return -EOPNOTSUPP;
	if (a->type > INT_MAX)	/* what perf has for "without a number" */
		return -ENOENT;
	if (a->type == kprobe_type || a->type == uprobe_type)
		return -EOPNOTSUPP;
	if (a->type == PERF_TYPE_BREAKPOINT && mode_is_sampling(a->mode) &&
	    !COMPAT_BREAKPOINT_GOES_ON)
		return -EOPNOTSUPP;
	return 0;
}

u64 source_default_period(u32 type)
{
	return type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT ?
	       1 : DEFAULT_PERIOD;
}

void source_fill(struct perf_event_attr *attr, const struct hwpmc_allocate *a)
{
	attr->type = a->type;
	attr->config = a->config;
	attr->config1 = a->config1;
	attr->config2 = a->config2;
	compat_set_config3(attr, a->config3);
	attr->bp_type = a->bp_type;
	/* without, perf has no more to do than to count, and no data for us */
	if (a->flags & HWPMC_F_RAW)
		attr->sample_type |= PERF_SAMPLE_RAW;
}

/*
 * source_knows_no_modes - is @attr worth another try, as one that counts always?
 *
 * Many PMUs know neither modes nor guests, and refuse to be asked for them.
 * Returns true with @attr changed.
 */
bool source_knows_no_modes(struct perf_event_attr *attr)
{
	if (attr->type < PERF_TYPE_MAX || !attr->exclude_guest ||
	    attr->exclude_user || attr->exclude_kernel)
		return false;
	attr->exclude_guest = 0;
	return true;
}

/*
 * source_suits - perf has made it, but only perf_event_open() would have asked
 *
 * A PMU that writes into a buffer of its own has none here.
 */
int source_suits(const struct perf_event *event, bool sampling)
{
	if (event->pmu->setup_aux)
		return -EOPNOTSUPP;
	if (sampling && (event->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT))
		return -EOPNOTSUPP;
	return 0;
}

/* "name+0x0/0x5a"; 0: unknown */
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
 * source_note - what is to be known of @event's source when it overflows
 *
 * A tracepoint that somebody else listens to as well calls a function that calls
 * all of them; where perf takes its registers from is in there then.
 */
void source_note(struct hwpmc_pmc *pmc, const struct perf_event *event)
{
	unsigned long caller = compat_tracepoint_caller(event);

	if (!caller || pmc->caller)
		return;
	pmc->caller = caller;
	pmc->caller_size = size_of_function(caller);
}

/*
 * source_is_elsewhere - does another CPU's event count all that this one would?
 *
 * For events on all CPUs.  A PMU of several CPUs moves its events to one of them,
 * or has them count the same on each.
 */
bool source_is_elsewhere(const struct perf_event *event, int cpu)
{
	const struct cpumask *shared = compat_pmu_cpus(event->pmu, cpu);

	if (event->cpu != cpu)
		return true;
	return shared && cpumask_first_and(shared, cpu_online_mask) != cpu;
}
