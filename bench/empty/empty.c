// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty: what an event costs by itself.
 *
 * While the module is loaded, each CPU has the event that hwpmc creates for a PMC of
 * cpu-clock, with a handler that only counts. What a recording costs above that is
 * the recorder's. No CPU may come or go meanwhile.
 *
 * Parameters: period, in nanoseconds; enabled=N, and the events are there but do not
 * count. overflows says how many there were, on all CPUs.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

static unsigned long period = 1000000;
module_param(period, ulong, 0444);
MODULE_PARM_DESC(period, "nanoseconds from an overflow to the next");

static bool enabled = true;
module_param(enabled, bool, 0444);
MODULE_PARM_DESC(enabled, "whether the events count");

/* Changed only when the module is loaded and removed */
static DEFINE_PER_CPU(struct perf_event *, empty_event);

/* Each is written by its CPU's handler alone. */
static DEFINE_PER_CPU(unsigned long, empty_overflows);

/* Hard interrupt */
static void empty_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	this_cpu_inc(empty_overflows);
}

static int get_overflows(char *buf, const struct kernel_param *kp)
{
	unsigned long sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(empty_overflows, cpu));
	return sysfs_emit(buf, "%lu\n", sum);
}

static const struct kernel_param_ops overflows_ops = { .get = get_overflows };
module_param_cb(overflows, &overflows_ops, NULL, 0444);
MODULE_PARM_DESC(overflows, "how many there were");

static struct perf_event *new_event(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size		= sizeof(attr),
		.type		= PERF_TYPE_SOFTWARE,
		.config		= PERF_COUNT_SW_CPU_CLOCK,
		.sample_period	= period,
		.disabled	= !enabled,
		.exclude_guest	= 1,
		.exclude_idle	= 1,	/* pmcstat's default */
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, empty_overflow, NULL);
}

static void release_events(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(empty_event, cpu))
			perf_event_release_kernel(per_cpu(empty_event, cpu));
}

static int __init empty_init(void)
{
	struct perf_event *event;
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		event = new_event(cpu);
		err = PTR_ERR_OR_ZERO(event);
		if (err)
			break;
		per_cpu(empty_event, cpu) = event;
	}
	cpus_read_unlock();
	if (err)
		release_events();
	return err;
}

static void __exit empty_exit(void)
{
	release_events();
}

module_init(empty_init);
module_exit(empty_exit);

MODULE_DESCRIPTION("hwpmc benchmark: events whose overflow handler only counts");
MODULE_LICENSE("GPL");
