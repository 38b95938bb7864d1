// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf events behind a PMC: one per CPU.
 *
 * All under owner->mutex; all may sleep and interrupt other CPUs.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwpmc.h"

static const struct cred *module_cred;

int event_init(void)
{
	module_cred = prepare_kernel_cred(&init_task);
	return module_cred ? 0 : -ENOMEM;
}

void event_exit(void)
{
	put_cred(module_cred);
}

/*
 * perf asks for some permissions here too, by rules that are not ours; ours
 * have been checked.
 */
static struct perf_event *create_counter(struct pmc_cpu *pc,
					 struct perf_event_attr *attr)
{
	const struct cred *old = override_creds(module_cred);
	struct perf_event *event;

	event = perf_event_create_kernel_counter(attr, pc->cpu, NULL,
						 pmc_is_sampling(pc->pmc) ?
						 hwpmc_overflow : NULL, pc);
	revert_creds(old);
	return event;
}

/*
 * event_create - a disabled counter on @pc's CPU
 *
 * Returns 0, -ENODEV when the CPU is offline, or what perf says of the event
 * (ENOENT and EOPNOTSUPP: this machine has no such event).
 */
int event_create(struct pmc_cpu *pc)
{
	struct hwpmc_pmc *pmc = pc->pmc;
	struct perf_event_attr attr = pmc->attr;
	u32 life = READ_ONCE(pmc->owner->cpu_lives[pc->cpu]);
	struct perf_event *event;

	if (pmc_is_sampling(pmc))
		attr.sample_period = pmc->period;
	event = create_counter(pc, &attr);
	if (IS_ERR(event))
		return PTR_ERR(event);
	pc->event = event;
	pc->life = life;
	return 0;
}

/* Brings @pc's totals up to date. */
void event_read(struct pmc_cpu *pc)
{
	u64 count, enabled, running;

	if (!pc->event)
		return;
	count = perf_event_read_value(pc->event, &enabled, &running);
	WRITE_ONCE(pc->total, pc->base + count);
	WRITE_ONCE(pc->enabled, pc->enabled0 + enabled);
	WRITE_ONCE(pc->running, pc->running0 + running);
}

/* The totals stay.  A handler may run until the next synchronize_rcu(). */
void event_release(struct pmc_cpu *pc)
{
	if (!pc->event)
		return;
	perf_event_disable(pc->event);
	event_read(pc);
	pc->base = pc->total;
	pc->enabled0 = pc->enabled;
	pc->running0 = pc->running;
	perf_event_release_kernel(pc->event);
	pc->event = NULL;
}

static struct pmc_cpu *add_pmc_cpu(struct hwpmc_pmc *pmc, int cpu)
{
	struct pmc_cpu *pc;

	pc = kzalloc_node(sizeof(*pc), GFP_KERNEL_ACCOUNT, cpu_to_node(cpu));
	if (!pc)
		return NULL;
	pc->pmc = pmc;
	pc->cpu = cpu;
	/* the writing thread finds it without the mutex */
	smp_store_release(&pmc->cpus[cpu], pc);
	return pc;
}

static int sync_cpu(struct hwpmc_pmc *pmc, int cpu)
{
	struct pmc_cpu *pc = pmc->cpus[cpu];
	int err;

	/* perf has detached the event of a CPU that went away, for good */
	if (pc && pc->event &&
	    pc->life != READ_ONCE(pmc->owner->cpu_lives[cpu]))
		event_release(pc);
	if (!cpu_online(cpu) || (pc && pc->event))
		return 0;
	if (!pc)
		pc = add_pmc_cpu(pmc, cpu);
	if (!pc)
		return -ENOMEM;
	err = event_create(pc);
	if (!err && pmc->state == PMC_RUNNING)
		perf_event_enable(pc->event);
	return err == -ENODEV ? 0 : err;
}

/*
 * event_sync_cpus - make @pmc's events match the CPUs that are online
 *
 * Returns the first error; goes on to the other CPUs all the same.
 */
int event_sync_cpus(struct hwpmc_pmc *pmc)
{
	int cpu, err, first = 0;

	for_each_possible_cpu(cpu) {
		if (pmc->cpu != HWPMC_CPU_ALL && pmc->cpu != cpu)
			continue;
		err = sync_cpu(pmc, cpu);
		if (err && !first)
			first = err;
	}
	return first;
}
