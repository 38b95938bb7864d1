// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf events behind a PMC: one per CPU.  Process-mode PMCs have theirs in
 * threads: see thread.c.
 *
 * hwpmc_event_new(), hwpmc_event_lost_pmu() and hwpmc_event_drop() also run under
 * targets_mutex alone.  The others run under owner->mutex, or in the hotplug work
 * under owner->cpus_mutex alone.  All may sleep and interrupt other CPUs.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/sample.h"

#define DROPS_MAX	128	/* of an owner at a time; beyond it, the caller waits */

static const struct cred *module_cred;
static struct workqueue_struct *droppers;

int hwpmc_event_init(void)
{
	int err = hwpmc_source_init();

	if (err)
		return err;
	module_cred = prepare_kernel_cred(&init_task);
	if (!module_cred)
		return -ENOMEM;
	droppers = alloc_workqueue("hwpmc", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!droppers) {
		put_cred(module_cred);
		return -ENOMEM;
	}
	return 0;
}

void hwpmc_event_exit(void)
{
	destroy_workqueue(droppers);	/* waits until all works have returned */
	put_cred(module_cred);
}

/* a disabled event that is being released */
struct event_drop {
	struct work_struct work;
	struct perf_event *event;
	struct hwpmc_pmc *pmc;
};

/*
 * May one more event of @o be released by a work?  A target can delay a work for any
 * time, so a user gets only a part of the workqueue.
 */
static bool drop_begin(struct hwpmc_owner *o)
{
	if (atomic_inc_return(&o->drops) <= DROPS_MAX &&
	    !hwpmc_limit_charge(o, LIMIT_DROPS, 1))
		return true;
	atomic_dec(&o->drops);
	return false;
}

static void drop_done(struct hwpmc_owner *o)
{
	hwpmc_limit_release(o, LIMIT_DROPS, 1);
	atomic_dec(&o->drops);
}

static void drop_work(struct work_struct *work)
{
	struct event_drop *d = container_of(work, struct event_drop, work);
	atomic_t *dropping = &d->pmc->dropping;

	perf_event_release_kernel(d->event);
	drop_done(d->pmc->owner);
	kfree(d);
	/* only the address is used: the PMC may be freed by then */
	if (atomic_dec_and_test(dropping))
		wake_up_var(dropping);
}

/*
 * hwpmc_event_drop - release an event of @pmc, which is disabled
 *
 * perf waits for RCU grace periods during the release, at least on PREEMPT_RT.
 * The works let the waits for many events overlap.  The events are no longer charged
 * (max_counters).  The handler's context stays until hwpmc_event_drops_wait().
 * Process context, may sleep.
 */
void hwpmc_event_drop(struct hwpmc_pmc *pmc, struct perf_event *event)
{
	struct event_drop *d = NULL;

	if (drop_begin(pmc->owner)) {
		d = kmalloc(sizeof(*d), GFP_KERNEL);
		if (!d)
			drop_done(pmc->owner);
	}
	if (!d) {
		perf_event_release_kernel(event);
		return;
	}
	INIT_WORK(&d->work, drop_work);
	d->event = event;
	d->pmc = pmc;
	atomic_inc(&pmc->dropping);
	queue_work(droppers, &d->work);
}

/* Waits for the last event of @pmc, which has no targets or CPUs any more. */
void hwpmc_event_drops_wait(struct hwpmc_pmc *pmc)
{
	wait_var_event(&pmc->dropping, !atomic_read(&pmc->dropping));
}

/* A CPU has few breakpoints: the next user may need those being released. */
void hwpmc_event_drops_settle(struct hwpmc_pmc *pmc)
{
	if (pmc->attr.type == PERF_TYPE_BREAKPOINT)
		hwpmc_event_drops_wait(pmc);
}

/* Does perf choose the periods?  Those of a clock with a rate are known. */
static bool perf_has_rate(const struct hwpmc_pmc *pmc)
{
	return (pmc->flags & HWPMC_F_FREQ) && !attr_is_clock(&pmc->attr);
}

/* What perf gets of @period, which is a rate with HWPMC_F_FREQ */
static u64 perf_period(const struct hwpmc_pmc *pmc, u64 period)
{
	if (!(pmc->flags & HWPMC_F_FREQ) || perf_has_rate(pmc))
		return period;
	return max(div64_u64(NSEC_PER_SEC, period),
		   hwpmc_param_min_period(&pmc->attr));
}

#define AGING	32

/*
 * Where a thread's @event begins.  It has not been enabled yet.
 *
 * The first sample comes anywhere within the first period.  Otherwise no thread that
 * lives for less than a period would ever be sampled, however many there are.  Of a
 * PMC with a rate, the event begins with the period that perf told last on this CPU.
 * Perf would begin with 1, and take tens of samples to find a better one.  It finds none
 * for a thread that ends before its first sample and the next tick, so each thread takes a
 * part off the last period.
 */
static void begin_anywhere(const struct hwpmc_pmc *pmc, struct perf_event *event)
{
	struct pmc_cpu *pc = smp_load_acquire(&pmc->cpus[raw_smp_processor_id()]);
	struct hw_perf_event *hw = &event->hw;
	u64 last = pc ? READ_ONCE(pc->last_period) : 0, gone;
	bool exact = attr_is_exact(&pmc->attr);

	if (!perf_has_rate(pmc)) {
		if (exact)
			return;
	} else if (last) {
		WRITE_ONCE(pc->last_period, last - last / AGING);
		hw->sample_period = last;
		hw->last_period = last;
	}
	if (!hw->sample_period)
		return;
	gone = get_random_u64() % hw->sample_period;
	local64_set(&hw->period_left, gone ?: hw->sample_period);
	/* the first sample stands for a whole period: see events_over() */
	if (exact)
		local64_set(&hw->prev_count, -gone);
}

/*
 * hwpmc_event_new - a disabled counter on @cpu, or in @task (then @cpu is -1)
 * @handler, @context: of overflows, for a PMC that samples
 *
 * perf checks some permissions here too, by its own rules; the module's rules have
 * been checked before.
 */
struct perf_event *hwpmc_event_new(struct hwpmc_pmc *pmc, int cpu,
				   struct task_struct *task, void *context,
				   perf_overflow_handler_t handler)
{
	const struct cred *old = override_creds(module_cred);
	struct perf_event_attr attr = pmc->attr;
	struct perf_event *event;
	int err;

	attr.freq = perf_has_rate(pmc);
	if (pmc_is_sampling(pmc))	/* or sample_freq */
		attr.sample_period = perf_period(pmc, pmc->period);
	else
		handler = NULL;
	event = perf_event_create_kernel_counter(&attr, cpu, task, handler,
						 context);
	if (event == ERR_PTR(-EINVAL) && hwpmc_source_knows_no_modes(&attr))
		event = perf_event_create_kernel_counter(&attr, cpu, task,
							 handler, context);
	revert_creds(old);
	err = IS_ERR(event) ? 0 : hwpmc_source_suits(event, handler);
	if (err) {
		perf_event_release_kernel(event);
		return ERR_PTR(err);
	}
	if (!IS_ERR(event)) {
		hwpmc_source_note(pmc, event);
		if (task && pmc_is_sampling(pmc))
			begin_anywhere(pmc, event);
	}
	return event;
}

/*
 * hwpmc_event_lost_pmu - has the PMU of @event, which is one of @pmc's, been removed?
 *
 * Then @pmc keeps its counts and gets no events any more: another PMU may have the
 * number by now.  Under owner->mutex, owner->cpus_mutex or targets_mutex.
 */
bool hwpmc_event_lost_pmu(struct hwpmc_pmc *pmc, const struct perf_event *event)
{
	if (!compat_event_lost_pmu(event))
		return false;
	WRITE_ONCE(pmc->no_pmu, true);
	return true;
}

/*
 * hwpmc_event_set_period - the next periods of @event, which is one of @pmc's
 * @period: or with HWPMC_F_FREQ their rate
 *
 * An event without a PMU keeps its period, because perf would use the PMU.  perf does
 * not check the event's state there, so a PMU must not be removed just now.  May sleep.
 */
int hwpmc_event_set_period(const struct hwpmc_pmc *pmc, struct perf_event *event,
			   u64 period)
{
	return compat_event_is_gone(event) ?
		       0 : perf_event_period(event, perf_period(pmc, period));
}

/*
 * hwpmc_event_create - a disabled counter on @pc's CPU
 *
 * Returns 0, -ENODEV if the CPU is offline, or the error that perf returns for the
 * event (ENOENT and EOPNOTSUPP: this machine has no such event).
 */
int hwpmc_event_create(struct pmc_cpu *pc)
{
	struct hwpmc_pmc *pmc = pc->pmc;
	u32 life = READ_ONCE(pmc->owner->hp.cpu_lives[pc->cpu]);
	struct perf_event *event;

	event = hwpmc_event_new(pmc, pc->cpu, NULL, pc, hwpmc_overflow);
	if (IS_ERR(event))
		return PTR_ERR(event);
	pc->event = event;
	pc->life = life;
	return 0;
}

/* Brings @pc's totals up to date. */
void hwpmc_event_read(struct pmc_cpu *pc)
{
	u64 count, enabled, running;
	struct count_sum now;

	if (!pc->event)
		return;
	count = perf_event_read_value(pc->event, &enabled, &running);
	WRITE_ONCE(pc->total, pc->base + count);
	WRITE_ONCE(pc->enabled, pc->enabled0 + enabled);
	WRITE_ONCE(pc->running, pc->running0 + running);
	now.value = pc->total;
	now.enabled = pc->enabled;
	now.running = pc->running;
	hwpmc_rate_read(pc->pmc, &pc->rate, &now);
}

/* The totals stay.  An overflow handler may run until the next synchronize_rcu(). */
void hwpmc_event_release(struct pmc_cpu *pc)
{
	if (!pc->event)
		return;
	perf_event_disable(pc->event);
	hwpmc_event_read(pc);
	pc->base = pc->total;
	pc->enabled0 = pc->enabled;
	pc->running0 = pc->running;
	hwpmc_event_drop(pc->pmc, pc->event);
	pc->event = NULL;
}

static struct pmc_cpu *add_pmc_cpu(struct hwpmc_pmc *pmc, int cpu)
{
	struct pmc_cpu *pc;

	pc = kzalloc_node(sizeof(*pc), HWPMC_GFP, cpu_to_node(cpu));
	if (!pc)
		return NULL;
	pc->pmc = pmc;
	pc->cpu = cpu;
	/* the writer thread finds it without the mutex */
	smp_store_release(&pmc->cpus[cpu], pc);
	return pc;
}

/*
 * hwpmc_event_add_cpus - create the per-CPU counters of overflows for all CPUs
 *
 * For PMCs whose events move with their threads.
 */
int hwpmc_event_add_cpus(struct hwpmc_pmc *pmc)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (!pmc->cpus[cpu] && !add_pmc_cpu(pmc, cpu))
			return -ENOMEM;
	return 0;
}

/* Does the event count the same as the event of another CPU? */
static bool counts_twice(const struct pmc_cpu *pc)
{
	return pc->pmc->cpu == HWPMC_CPU_ALL &&
	       hwpmc_source_is_elsewhere(pc->event, pc->cpu);
}

/*
 * Is there no such event on this CPU, but maybe on others?  Each kind of a hybrid's CPUs
 * has a PMU of its own.
 */
static bool lacks_event(const struct hwpmc_pmc *pmc, int err)
{
	return err == -ENOENT && pmc->cpu == HWPMC_CPU_ALL;
}

static int sync_cpu(struct hwpmc_pmc *pmc, int cpu)
{
	struct pmc_cpu *pc = pmc->cpus[cpu];
	int err;

	/*
	 * perf has permanently detached the event of a CPU that went offline, and
	 * of a PMU that was removed
	 */
	if (pc && pc->event &&
	    (pc->life != READ_ONCE(pmc->owner->hp.cpu_lives[cpu]) ||
	     compat_event_is_gone(pc->event) || counts_twice(pc))) {
		hwpmc_event_release(pc);
		hwpmc_event_drops_settle(pmc);
	}
	if (!cpu_online(cpu) || (pc && pc->event) || READ_ONCE(pmc->no_pmu))
		return 0;
	if (!pc)
		pc = add_pmc_cpu(pmc, cpu);
	if (!pc)
		return -ENOMEM;
	err = hwpmc_event_create(pc);
	if (!err && counts_twice(pc))
		hwpmc_event_release(pc);
	else if (!err && pmc->state == PMC_RUNNING)
		perf_event_enable(pc->event);
	return err == -ENODEV || lacks_event(pmc, err) ? 0 : err;
}

/*
 * hwpmc_event_sync_cpus - make @pmc's events match those CPUs that are online, of
 * those that the owner is for and that have the event
 *
 * Returns the first error, but handles the other CPUs all the same.
 */
int hwpmc_event_sync_cpus(struct hwpmc_pmc *pmc)
{
	int cpu, err, first = 0;

	for_each_possible_cpu(cpu) {
		struct pmc_cpu *pc = pmc->cpus[cpu];

		if (pc && pc->event && hwpmc_event_lost_pmu(pmc, pc->event))
			break;
	}
	for_each_cpu(cpu, owner_cpus(pmc->owner)) {
		if (pmc->cpu != HWPMC_CPU_ALL && pmc->cpu != cpu)
			continue;
		err = sync_cpu(pmc, cpu);
		if (err && !first)
			first = err;
	}
	return first;
}

static bool has_event(const struct hwpmc_pmc *pmc)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (pmc->cpus[cpu] && pmc->cpus[cpu]->event)
			return true;
	return false;
}

/* Has a CPU that the owner is not for the event?  0, or an error: ENOENT if none has. */
static int find_elsewhere(struct hwpmc_pmc *pmc)
{
	struct perf_event *event;
	int cpu, err;

	for_each_online_cpu(cpu) {
		if (owner_has_cpu(pmc->owner, cpu))
			continue;
		event = hwpmc_event_new(pmc, cpu, NULL, NULL, hwpmc_overflow);
		if (!IS_ERR(event)) {
			perf_event_release_kernel(event);
			return 0;
		}
		err = PTR_ERR(event);
		if (err != -ENOENT && err != -ENODEV)
			return err;
	}
	return -ENOENT;
}

/*
 * hwpmc_event_create_cpus - the first events of @pmc, which is of the system
 *
 * On a hybrid, an owner for some of the CPUs may have a PMC without events.  Another
 * owner has them.  ENXIO: the CPU is offline by now, or all of the owner's are.
 */
int hwpmc_event_create_cpus(struct hwpmc_pmc *pmc)
{
	int err = hwpmc_event_sync_cpus(pmc);

	if (err || has_event(pmc))
		return err;
	if (pmc->cpu != HWPMC_CPU_ALL ||
	    !cpumask_intersects(owner_cpus(pmc->owner), cpu_online_mask))
		return -ENXIO;
	return find_elsewhere(pmc);
}

/* The errors of perf for an event that this machine does not have. */
bool hwpmc_event_says_no(int err)
{
	switch (err) {
	case -ENOENT:
	case -EOPNOTSUPP:
	case -EINVAL:
	case -ENODEV:
		return true;
	default:
		return false;
	}
}

/*
 * hwpmc_event_exists - can this machine count the event?  1, 0, or an error
 *
 * Tests it with a counter of the calling task that never counts.
 */
int hwpmc_event_exists(u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = 1,
		.exclude_guest = 1,
	};
	const struct cred *old = override_creds(module_cred);
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL,
						 NULL);
	revert_creds(old);
	if (IS_ERR(event))
		return hwpmc_event_says_no(PTR_ERR(event)) ? 0 : PTR_ERR(event);
	perf_event_release_kernel(event);
	return 1;
}
