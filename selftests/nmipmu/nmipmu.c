// SPDX-License-Identifier: GPL-2.0-only
/*
 * nmipmu: a PMU whose counters overflow in real x86 NMIs, for a virtual machine
 * that has none.
 *
 * Each CPU has a timer, which sends an NMI to the next CPU. The handler of the NMI
 * advances the events that count on that CPU by the time that has passed, and calls
 * perf for those that have come to the end of their period. So perf's handlers
 * interrupt whatever the CPU does, as they do with a PMU in hardware: sections with
 * interrupts off, the entry of a system call, other interrupts. On a machine with one
 * CPU, NMIs come from the CPU's own timer and interrupt nothing else.
 *
 * The PMU has the number of the CPU's own (PERF_TYPE_RAW), which must not be there:
 * PERF_COUNT_HW_CPU_CYCLES is an event of it, as is nmipmu/ticks/. Both count
 * nanoseconds. Events of one mode (user or kernel) count by where NMIs find the CPU.
 *
 * Two terms make an event's samples like those of AMD's IBS: perf gets the registers
 * that the NMI has found, but with another address, the code segment of that address,
 * and PERF_EFLAGS_EXACT. With skid=N the address is N bytes lower, with ip=ADDRESS it is
 * always this one.
 *
 * Other terms give samples what the hardware of other PMUs records. branches=N: N
 * branches, if they are asked for: each jumps 8 bytes forward, and 8 bytes further is
 * the next, up to the address of the sample. data: an access to memory, of the stack.
 * leak: the hardware takes no notice of modes: the second branch goes to the kernel,
 * and so does the access.
 *
 * Parameters: tick_us, how often the timers run (a shorter period than that becomes
 * one sample a tick); counters, how many events a CPU can count at a time (perf
 * multiplexes more); present, where perf lets a PMU go that has events: N removes the
 * PMU, as if its driver had been unbound, and Y brings another one; move, "FROM TO"
 * written to it: perf moves the events of CPU FROM to CPU TO, as the drivers of uncore
 * PMUs make it do when a CPU goes offline; hybrid, two kinds
 * of CPU with a PMU each, as hybrid processors have: nmipmu of the CPUs with an even
 * number and nmipmu_atom of the others. "cpus" of each in sysfs lists its CPUs. A generic
 * event without a CPU goes to the first, unless the upper half of config names the PMU.
 * The first also has PERF_COUNT_HW_REF_CPU_CYCLES, which counts the same.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define COUNTERS_MAX	8
#define IDLE_NS		(10 * NSEC_PER_MSEC)	/* between looks, without events */

static unsigned int tick_us = 250;
module_param(tick_us, uint, 0444);
MODULE_PARM_DESC(tick_us, "microseconds between the NMIs of a CPU");

static unsigned int counters = 4;
module_param(counters, uint, 0444);
MODULE_PARM_DESC(counters, "events that a CPU counts at a time, at most 8");

static bool hybrid;
module_param(hybrid, bool, 0444);
MODULE_PARM_DESC(hybrid, "two kinds of CPU, with a PMU each");

/* terms in config */
#define TERM_BRANCHES(config)	((config) >> 8 & BRANCHES_MAX)
#define TERM_LEAK		(1ULL << 15)
#define TERM_DATA		(1ULL << 16)
#define TERMS			(TERM_LEAK | TERM_DATA | BRANCHES_MAX << 8)
#define BRANCHES_MAX		127ULL
#define LEAK			0xffffffff81234560ULL
#define PRECISE_MAX		2

/**
 * struct nmipmu_cpu - a CPU's counters
 * @event:   those that count. Changed with interrupts off on this CPU, read by its
 *	     NMI handler
 * @pending: an NMI of ours is on its way. Set by the CPU that sends it
 * @timer:   sends to the next CPU
 * @br:      the branches of the present sample; its NMI handler's
 * @br_words: room for them
 */
struct nmipmu_cpu {
	struct perf_event	*event[COUNTERS_MAX];
	atomic_t		pending;
	struct hrtimer		timer;
	union {
		struct perf_branch_stack br;
		u64		br_words[2 + 3 * BRANCHES_MAX];
	};
};

static DEFINE_PER_CPU(struct nmipmu_cpu, nmipmu_cpus);
static atomic_t nmipmu_active;		/* events that count, on all CPUs */
static enum cpuhp_state nmipmu_state;
static struct pmu nmipmu, nmipmu_atom;	/* the other kind's, if hybrid */
static bool nmipmu_present;		/* param_lock */

/* NMIs that were sent, that were handled, and that interrupted user mode */
static atomic64_t nmipmu_sent, nmipmu_handled, nmipmu_user;

/* Not exported by any kernel: its address is asked of a probe. */
static int (*nmipmu_overflow)(struct perf_event *event,
			      struct perf_sample_data *data,
			      struct pt_regs *regs);

/* ------------------------------------------------------------------------
 * Counting
 */

/* Does @event count what the CPU does at @regs? */
static bool is_wanted(const struct perf_event *event, struct pt_regs *regs)
{
	return !(user_mode(regs) ? event->attr.exclude_user :
				   event->attr.exclude_kernel);
}

static bool is_of_one_mode(const struct perf_event *event)
{
	return event->attr.exclude_user || event->attr.exclude_kernel;
}

/*
 * Advances @event by the time since the last call. An NMI may interrupt another call
 * on this CPU: whichever exchanges prev_count counts the time.
 */
static void advance(struct perf_event *event, bool counts)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 prev, now;

	do {
		prev = local64_read(&hwc->prev_count);
		now = ktime_get_mono_fast_ns();
	} while (local64_cmpxchg(&hwc->prev_count, prev, now) != prev);
	if (!counts || now <= prev)
		return;
	local64_add(now - prev, &event->count);
	local64_sub(now - prev, &hwc->period_left);
}

/* Begins the next period. True if one has ended. */
static bool renew_period(struct hw_perf_event *hwc)
{
	s64 left = local64_read(&hwc->period_left), period = hwc->sample_period;

	if (left > 0)
		return false;
	/* a period that is shorter than a tick: what is too much is left out */
	left = left <= -period ? period : left + period;
	local64_set(&hwc->period_left, left);
	return true;
}

/*
 * Registers with the address of another moment, as perf_ibs_handle_irq() and
 * set_linear_ip() of the kernel make them.
 */
static void replace_ip(struct pt_regs *copy, const struct pt_regs *regs,
		       const struct perf_event_attr *attr)
{
	*copy = *regs;
	copy->ip = attr->config2 ?: regs->ip - attr->config1;
	copy->cs = (long)copy->ip < 0 ? __KERNEL_CS : __USER_CS;
	copy->flags |= PERF_EFLAGS_EXACT;
}

/* Newer kernels cut to sample_max_stack what a PMU has. */
static void record_branches(struct perf_event *event, struct perf_sample_data *data,
			    u64 ip)
{
	struct perf_branch_stack *br = this_cpu_ptr(&nmipmu_cpus.br);
	unsigned int i, n = TERM_BRANCHES(event->attr.config);

	br->nr = event->attr.sample_max_stack ? n : 0;
	for (i = 0; i < n; i++)
		br->entries[i] = (struct perf_branch_entry){
			.from = ip - 16 * (i + 1),
			.to = ip - 16 * (i + 1) + 8,
			.mispred = i & 1,
			.predicted = !(i & 1),
			.cycles = i,
			.type = PERF_BR_COND,
		};
	if (n > 1 && (event->attr.config & TERM_LEAK))
		br->entries[1].to = LEAK;
	data->br_stack = br;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
}

/* A load that was served by the second level, or by local memory. */
static void record_access(struct perf_event *event, struct perf_sample_data *data,
			  const struct pt_regs *regs)
{
	const u64 asked = event->attr.sample_type;

	if (asked & PERF_SAMPLE_DATA_SRC)
		data->data_src.val = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
				     (regs->ip & 16 ? PERF_MEM_S(LVL, L2) :
						      PERF_MEM_S(LVL, LOC_RAM));
	if (asked & PERF_SAMPLE_WEIGHT_TYPE) {
		data->weight.var1_dw = regs->ip & 16 ? 14 : 300;
		data->weight.var2_w = 3;
		data->weight.var3_w = 0;
	}
	if (asked & PERF_SAMPLE_ADDR)
		data->addr = event->attr.config & TERM_LEAK ? LEAK : regs->sp;
	data->sample_flags |= asked & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_ADDR);
	if (asked & PERF_SAMPLE_WEIGHT_TYPE)
		data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
}

/* NMI context. */
static void handle_event(struct perf_event *event, struct pt_regs *regs)
{
	struct hw_perf_event *hwc = &event->hw;
	struct perf_sample_data data;
	struct pt_regs copy;

	if (READ_ONCE(hwc->state) & PERF_HES_STOPPED)
		return;
	advance(event, is_wanted(event, regs));
	if (!is_sampling_event(event) || !is_wanted(event, regs) ||
	    !renew_period(hwc))
		return;
	perf_sample_data_init(&data, 0, hwc->last_period);
	hwc->last_period = hwc->sample_period;
	perf_event_update_userpage(event);
	if (event->attr.config1 || event->attr.config2) {
		replace_ip(&copy, regs, &event->attr);
		regs = &copy;
	}
	if (has_branch_stack(event))
		record_branches(event, &data, regs->ip);
	if (event->attr.config & TERM_DATA)
		record_access(event, &data, regs);
	if (nmipmu_overflow(event, &data, regs))
		nmipmu.stop(event, 0);
}

static int nmipmu_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct nmipmu_cpu *cpu = this_cpu_ptr(&nmipmu_cpus);
	struct perf_event *event;
	unsigned int i;

	if (!atomic_xchg(&cpu->pending, 0))
		return NMI_DONE;
	atomic64_inc(&nmipmu_handled);
	if (user_mode(regs)) {
		atomic64_inc(&nmipmu_user);
		/* the handlers of perf may look for them there */
		WARN_ON_ONCE(regs != task_pt_regs(current));
	}
	for (i = 0; i < counters; i++) {
		event = READ_ONCE(cpu->event[i]);
		if (event)
			handle_event(event, regs);
	}
	return NMI_HANDLED;
}

/* ------------------------------------------------------------------------
 * Ticks
 */
static unsigned int next_cpu(unsigned int cpu)
{
	unsigned int next = cpumask_next(cpu, cpu_online_mask);

	return next < nr_cpu_ids ? next : cpumask_first(cpu_online_mask);
}

/* Hard interrupt. A CPU that is going offline takes no NMI, and has no events. */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	unsigned int next = next_cpu(smp_processor_id());
	bool active = atomic_read(&nmipmu_active);

	if (active && !atomic_xchg(&per_cpu(nmipmu_cpus, next).pending, 1)) {
		atomic64_inc(&nmipmu_sent);
		apic->send_IPI(next, NMI_VECTOR);
	}
	hrtimer_forward_now(timer, active ? ns_to_ktime(tick_us * NSEC_PER_USEC) :
					    ns_to_ktime(IDLE_NS));
	return HRTIMER_RESTART;
}

static int nmipmu_online(unsigned int number)
{
	struct nmipmu_cpu *cpu = per_cpu_ptr(&nmipmu_cpus, number);

	atomic_set(&cpu->pending, 0);
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(&cpu->timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&cpu->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	cpu->timer.function = tick;
#endif
	hrtimer_start(&cpu->timer, ns_to_ktime(IDLE_NS), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static int nmipmu_offline(unsigned int number)
{
	hrtimer_cancel(&per_cpu_ptr(&nmipmu_cpus, number)->timer);
	return 0;
}

/* ------------------------------------------------------------------------
 * Two kinds of CPU
 */
static bool has_cpu(const struct pmu *pmu, unsigned int cpu)
{
	return !hybrid || (cpu % 2) == (pmu == &nmipmu_atom);
}

/* One event is of the first kind only. */
static bool has_generic(const struct pmu *pmu, u64 config)
{
	return config == PERF_COUNT_HW_CPU_CYCLES ||
	       (config == PERF_COUNT_HW_REF_CPU_CYCLES && hybrid && pmu == &nmipmu);
}

/* perf leaves the events of a task off its CPU if that is of the other kind. */
#ifdef HAVE_PMU_FILTER
static bool nmipmu_filter(struct pmu *pmu, int cpu)
{
	return !has_cpu(pmu, cpu);
}
#else
static int nmipmu_filter_match(struct perf_event *event)
{
	return has_cpu(event->pmu, smp_processor_id());
}
#endif

static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct pmu *pmu = dev_get_drvdata(dev);
	cpumask_var_t cpus;
	unsigned int cpu;
	ssize_t n;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	for_each_online_cpu(cpu)
		if (has_cpu(pmu, cpu))
			cpumask_set_cpu(cpu, cpus);
	n = sysfs_emit(page, "%*pbl\n", cpumask_pr_args(cpus));
	free_cpumask_var(cpus);
	return n;
}

static DEVICE_ATTR_RO(cpus);

static struct attribute *nmipmu_cpus_attrs[] = { &dev_attr_cpus.attr, NULL };

static umode_t cpus_mode(struct kobject *kobj, struct attribute *attr, int i)
{
	return hybrid ? attr->mode : 0;
}

static const struct attribute_group nmipmu_cpus_group = {
	.attrs = nmipmu_cpus_attrs, .is_visible = cpus_mode,
};

/* ------------------------------------------------------------------------
 * The PMU. perf calls add(), del(), start(), stop() and read() with interrupts off,
 * on the CPU of the event.
 */
static int nmipmu_event_init(struct perf_event *event)
{
	if (event->cpu >= 0 && !has_cpu(event->pmu, event->cpu))
		return -ENOENT;
	if (event->attr.type == PERF_TYPE_HARDWARE) {
		if (!has_generic(event->pmu, event->attr.config))
			return -ENOENT;
	} else if (event->attr.type != event->pmu->type) {
		return -ENOENT;
	} else if (event->attr.config & ~TERMS) {
		return -EINVAL;
	}
	if (event->attr.precise_ip > PRECISE_MAX)
		return -EOPNOTSUPP;
	if (has_branch_stack(event) && !TERM_BRANCHES(event->attr.config))
		return -EOPNOTSUPP;
	return 0;
}

static void nmipmu_start(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!(hwc->state & PERF_HES_STOPPED))
		return;
	local64_set(&hwc->prev_count, ktime_get_mono_fast_ns());
	WRITE_ONCE(hwc->state, 0);
	perf_event_update_userpage(event);
}

static void nmipmu_stop(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (hwc->state & PERF_HES_STOPPED)
		return;
	WRITE_ONCE(hwc->state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	advance(event, !is_of_one_mode(event));
}

static int nmipmu_add(struct perf_event *event, int flags)
{
	struct nmipmu_cpu *cpu = this_cpu_ptr(&nmipmu_cpus);
	unsigned int i;

	if (WARN_ON_ONCE(!has_cpu(event->pmu, smp_processor_id())))
		return -ENOENT;
	for (i = 0; i < counters && cpu->event[i]; i++)
		;
	if (i == counters)
		return -EAGAIN;
	event->hw.idx = i;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	/* an event that comes back goes on with the period that it has begun */
	if (is_sampling_event(event) && local64_read(&event->hw.period_left) <= 0)
		local64_set(&event->hw.period_left, event->hw.sample_period);
	WRITE_ONCE(cpu->event[i], event);
	atomic_inc(&nmipmu_active);
	if (flags & PERF_EF_START)
		nmipmu_start(event, PERF_EF_RELOAD);
	return 0;
}

static void nmipmu_del(struct perf_event *event, int flags)
{
	struct nmipmu_cpu *cpu = this_cpu_ptr(&nmipmu_cpus);

	nmipmu_stop(event, PERF_EF_UPDATE);
	WRITE_ONCE(cpu->event[event->hw.idx], NULL);
	atomic_dec(&nmipmu_active);
	perf_event_update_userpage(event);
}

static void nmipmu_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED) && !is_of_one_mode(event))
		advance(event, true);
}

PMU_EVENT_ATTR_STRING(ticks, nmipmu_ticks, "event=0");

static struct attribute *nmipmu_events[] = { &nmipmu_ticks.attr.attr, NULL };
static const struct attribute_group nmipmu_events_group = {
	.name = "events", .attrs = nmipmu_events,
};

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(branches, "config:8-14");
PMU_FORMAT_ATTR(leak, "config:15");
PMU_FORMAT_ATTR(data, "config:16");
PMU_FORMAT_ATTR(skid, "config1:0-15");
PMU_FORMAT_ATTR(ip, "config2:0-63");

static struct attribute *nmipmu_format[] = {
	&format_attr_event.attr, &format_attr_skid.attr, &format_attr_ip.attr,
	&format_attr_branches.attr, &format_attr_leak.attr, &format_attr_data.attr, NULL,
};
static const struct attribute_group nmipmu_format_group = {
	.name = "format", .attrs = nmipmu_format,
};

static const struct attribute_group *nmipmu_groups[] = {
	&nmipmu_events_group, &nmipmu_format_group, &nmipmu_cpus_group, NULL,
};

static const struct pmu nmipmu_template = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_hw_context,
	.attr_groups	= nmipmu_groups,
	.event_init	= nmipmu_event_init,
	.add		= nmipmu_add,
	.del		= nmipmu_del,
	.start		= nmipmu_start,
	.stop		= nmipmu_stop,
	.read		= nmipmu_read,
#ifdef HAVE_PMU_FILTER
	.filter		= nmipmu_filter,
#else
	.filter_match	= nmipmu_filter_match,
#endif
};

/* ------------------------------------------------------------------------
 * The module
 */
static void *address_of(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	void *to;

	if (register_kprobe(&kp))
		return NULL;
	to = kp.addr;
	unregister_kprobe(&kp);
	return to;
}

static int get_nmis(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld sent, %lld handled, %lld in user mode\n",
			  atomic64_read(&nmipmu_sent), atomic64_read(&nmipmu_handled),
			  atomic64_read(&nmipmu_user));
}

/* A PMU is registered once: perf keeps state of the last time in the structure. */
static int register_kind(struct pmu *pmu, const char *name, int type)
{
	*pmu = nmipmu_template;
	if (hybrid)
		pmu->capabilities |= PERF_PMU_CAP_EXTENDED_HW_TYPE;
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
	if (hybrid)	/* otherwise one PMU only has the events of tasks */
		pmu->capabilities |= PERF_PMU_CAP_HETEROGENEOUS_CPUS;
#endif
	return perf_pmu_register(pmu, name, type);
}

static int register_pmu(void)
{
	int err = register_kind(&nmipmu, "nmipmu", PERF_TYPE_RAW);

	if (err)
		return err;
	err = hybrid ? register_kind(&nmipmu_atom, "nmipmu_atom", -1) : 0;
	if (err)
		perf_pmu_unregister(&nmipmu);
	nmipmu_present = !err;
	return err;
}

static void unregister_pmu(void)
{
	if (!nmipmu_present)
		return;
	if (hybrid)
		perf_pmu_unregister(&nmipmu_atom);
	perf_pmu_unregister(&nmipmu);
	nmipmu_present = false;
}

#ifdef HAVE_EVENTS_WITHOUT_PMU
static int set_present(const char *val, const struct kernel_param *kp)
{
	bool present;
	int err = kstrtobool(val, &present);

	if (err || present == nmipmu_present)
		return err;
	if (present)
		return register_pmu();
	unregister_pmu();
	return 0;
}

static const struct kernel_param_ops present_ops = {
	.set = set_present,
	.get = param_get_bool,
};
module_param_cb(present, &present_ops, &nmipmu_present, 0600);
__MODULE_PARM_TYPE(present, "bool");
MODULE_PARM_DESC(present, "the PMU is registered");
#endif

static int set_move(const char *val, const struct kernel_param *kp)
{
	unsigned int from, to;
	int err = -EINVAL;

	if (sscanf(val, "%u %u", &from, &to) != 2)
		return err;
	cpus_read_lock();
	/* a hybrid's kinds of CPU do not run each other's events */
	if (from < nr_cpu_ids && to < nr_cpu_ids && from != to && cpu_online(from) &&
	    cpu_online(to) && nmipmu_present && !hybrid) {
		perf_pmu_migrate_context(&nmipmu, from, to);
		err = 0;
	}
	cpus_read_unlock();
	return err;
}

static const struct kernel_param_ops move_ops = { .set = set_move };
module_param_cb(move, &move_ops, NULL, 0200);
MODULE_PARM_DESC(move, "FROM TO: moves the events of a CPU to another");

static const struct kernel_param_ops nmis_ops = { .get = get_nmis };
module_param_cb(nmis, &nmis_ops, NULL, 0444);
MODULE_PARM_DESC(nmis, "the NMIs so far");

static int __init nmipmu_init(void)
{
	int err;

	if (!tick_us || !counters || counters > COUNTERS_MAX)
		return -EINVAL;
	nmipmu_overflow = address_of("perf_event_overflow");
	if (!nmipmu_overflow)
		return -ENOENT;
	err = register_nmi_handler(NMI_LOCAL, nmipmu_nmi, 0, "nmipmu");
	if (err)
		return err;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "nmipmu:online", nmipmu_online,
				nmipmu_offline);
	if (err < 0)
		goto no_state;
	nmipmu_state = err;
	err = register_pmu();
	if (!err)
		return 0;
	cpuhp_remove_state(nmipmu_state);
no_state:
	unregister_nmi_handler(NMI_LOCAL, "nmipmu");
	return err;
}

static void __exit nmipmu_exit(void)
{
	unregister_pmu();
	cpuhp_remove_state(nmipmu_state);
	unregister_nmi_handler(NMI_LOCAL, "nmipmu");
}

module_init(nmipmu_init);
module_exit(nmipmu_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a PMU for tests whose interrupts are NMIs");
