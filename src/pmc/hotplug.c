// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go online and offline.
 *
 * perf takes cpus_read_lock to create and release events.  So the callback only
 * creates the CPU's ring (before any task runs there) and queues work that replaces
 * the CPU's events.  Nothing is done when a CPU goes offline: perf detaches its
 * events, and its ring is drained as before.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc.h"
#include "sample/record.h"

#define RETRY_DELAY	(HZ / 10)
#define IOCTLS_BYTES	(64U << 10)	/* at most, of RING_OF_IOCTLS */
#define AT_ONCE_GFP	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

static enum cpuhp_state hp_state;

/* Hard IRQ, also on PREEMPT_RT. */
static void wake_thread(struct irq_work *work)
{
	struct owner_ring *or = container_of(work, struct owner_ring, wake);
	struct task_struct *task = READ_ONCE(or->owner->log.task);

	WRITE_ONCE(or->owner->log.kick, true);
	if (task)
		wake_up_process(task);
}

/*
 * Memory for the ring of a CPU that comes online, charged to owner->hp.memcg.  All
 * CPUs that come and go wait for this, so this does not wait for a full control
 * group: memory that cannot be charged to it at once is bounded by max_ringmem.
 * kvmalloc() calls vmalloc() only if it may wait, and contiguous pages for a ring
 * are often not available.
 */
static void *alloc_at_once(struct hwpmc_owner *o, size_t size, int node)
{
	struct mem_cgroup *old = set_active_memcg(o->hp.memcg);
	void *p;

	p = size > PAGE_SIZE ? __vmalloc(size, AT_ONCE_GFP) :
			       kmalloc_node(size, AT_ONCE_GFP, node);
	set_active_memcg(old);
	return p ?: hwpmc_memory(size, node, 0);
}

static void *ring_alloc(struct hwpmc_owner *o, size_t size, int node, bool late)
{
	return late ? alloc_at_once(o, size, node) :
		      hwpmc_memory(size, node, __GFP_ACCOUNT);
}

/* -ENOMEM, -EDQUOT, or 0: charged to the owner's user, and in @out */
static int ring_new(struct hwpmc_owner *o, u32 size, int node, bool late,
		    struct owner_ring **out)
{
	struct owner_ring *or;
	void *data;
	int err = hwpmc_limit_charge(o, LIMIT_RING_BYTES, size);

	if (err)
		return err;
	or = ring_alloc(o, sizeof(*or), node, late);
	data = ring_alloc(o, size, node, late);
	if (!or || !data) {
		kvfree(or);
		kvfree(data);
		hwpmc_limit_release(o, LIMIT_RING_BYTES, size);
		return -ENOMEM;
	}
	memset(or, 0, sizeof(*or));
	ring_init(&or->ring, data, size);
	or->owner = o;
	*out = or;
	return 0;
}

static void ring_free(struct hwpmc_owner *o, struct owner_ring *or)
{
	hwpmc_limit_release(o, LIMIT_RING_BYTES, or->ring.size);
	kvfree(or->ring.data);
	kvfree(or);
}

/*
 * Under owner->cpus_mutex, or in the CPU's own hotplug callback: both may create the same
 * ring, and the second one is freed.  On a machine of many CPUs a control group may have
 * no room for all rings: no task is killed for them.
 * @at:   the CPU, or RING_OF_IOCTLS; then also under owner->mutex
 * @late: not for the calling process, but for a CPU that comes online
 */
static int ring_create(struct hwpmc_owner *o, unsigned int at, bool late)
{
	const bool of_cpu = at != RING_OF_IOCTLS;
	u32 size = hwpmc_param_ring_bytes();
	struct owner_ring *or;
	int err;

	if (READ_ONCE(o->rings[at]))
		return 0;
	if (!of_cpu)
		size = min(size, IOCTLS_BYTES);
	atomic64_inc(&o->calls.ring_requests);
	err = ring_new(o, size, of_cpu ? cpu_to_node(at) : NUMA_NO_NODE, late,
		       &or);
	if (err && READ_ONCE(o->rings[at]))	/* the other one had room */
		return 0;
	if (err) {
		atomic64_inc(&o->calls.ring_failures);
		return err;
	}
	or->wake = IRQ_WORK_INIT_HARD(wake_thread);
	or->cpu = of_cpu ? at : 0;
	/* handlers and the writer thread find it without a lock */
	if (cmpxchg_release(&o->rings[at], NULL, or))
		ring_free(o, or);
	return 0;
}

/*
 * Also counts how often the CPU went online: perf detached its events when it went
 * offline, permanently and without notice.
 */
static int cpu_up_callback(unsigned int cpu, struct hlist_node *node)
{
	struct hwpmc_owner *o = hlist_entry(node, struct hwpmc_owner, hp.node);

	/* without a ring this CPU's samples are dropped, and counted */
	if (READ_ONCE(o->hp.want_rings) && owner_has_cpu(o, cpu))
		ring_create(o, cpu, true);
	WRITE_ONCE(o->hp.cpu_lives[cpu], o->hp.cpu_lives[cpu] + 1);
	queue_delayed_work(compat_unbound_wq(), &o->hp.work, 0);
	return 0;
}

/*
 * An online CPU that has no ring.  If there is none, nr_cpu_ids: CPUs that come online
 * from now on create their rings.
 */
static unsigned int find_without_ring(struct hwpmc_owner *o)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_cpu_and(cpu, cpu_online_mask, owner_cpus(o))
		if (!READ_ONCE(o->rings[cpu]))
			break;
	if (cpu >= nr_cpu_ids)
		WRITE_ONCE(o->hp.want_rings, true);
	cpus_read_unlock();
	return cpu;
}

/*
 * Rings for all online CPUs that the owner is for.  Under owner->cpus_mutex.  Rings
 * created before a failure stay for the next attempt.  The caller may be delayed for its
 * control group's sake: CPUs that come and go do not wait for that.
 * @late: as in ring_create()
 */
static int create_rings(struct hwpmc_owner *o, bool late)
{
	unsigned int cpu;
	int err;

	while ((cpu = find_without_ring(o)) < nr_cpu_ids) {
		err = ring_create(o, cpu, late);
		if (err)
			return err;
		if (!late && fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/*
 * Runs even while an ioctl waits for the reader of the log or for an exec.  Does not
 * itself wait for an ioctl, because an ioctl may wait for its caller's memory.
 */
static void hotplug_work(struct work_struct *work)
{
	struct hwpmc_owner *o = container_of(to_delayed_work(work),
					     struct hwpmc_owner, hp.work);
	struct hwpmc_pmc *pmc;
	bool again = true;
	unsigned int row;
	int err;

	if (!mutex_trylock(&o->cpus_mutex))
		goto out;
	/* the callback may have had no memory; over quota, a retry would not help */
	again = READ_ONCE(o->hp.want_rings) && create_rings(o, true) == -ENOMEM;
	for_each_live_pmc(o, row, pmc) {
		err = hwpmc_event_sync_cpus(pmc);
		if (err)
			pr_warn_ratelimited("%s: no event on a CPU that came online: %d\n",
					    pmc->name, err);
		again |= err == -ENOMEM;
	}
	mutex_unlock(&o->cpus_mutex);
out:
	if (again)
		queue_delayed_work(compat_unbound_wq(), &o->hp.work, RETRY_DELAY);
}

int hwpmc_hotplug_init(void)
{
	int state = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN,
					    "perf/hwpmc:online",
					    cpu_up_callback, NULL);

	if (state < 0)
		return state;
	hp_state = state;
	return 0;
}

void hwpmc_hotplug_exit(void)
{
	cpuhp_remove_multi_state(hp_state);
}

/* Under owner->mutex; once per owner. */
int hwpmc_hotplug_add_owner(struct hwpmc_owner *o)
{
	int err;

	if (o->hp.added)
		return 0;
	INIT_DELAYED_WORK(&o->hp.work, hotplug_work);
	err = cpuhp_state_add_instance_nocalls(hp_state, &o->hp.node);
	if (!err)
		o->hp.added = true;
	return err;
}

/* The caller holds neither owner->mutex nor owner->cpus_mutex: the work is waited for. */
void hwpmc_hotplug_remove_owner(struct hwpmc_owner *o)
{
	if (!o->hp.added)
		return;
	cpuhp_state_remove_instance_nocalls(hp_state, &o->hp.node);
	cancel_delayed_work_sync(&o->hp.work);
}

/*
 * hwpmc_hotplug_begin_rings - rings for all online CPUs that the owner is for, and for
 * those of them that come online later
 *
 * CONFIGURELOG: under owner->mutex and owner->cpus_mutex.  New rings are charged to
 * the caller's control group from now on.
 */
int hwpmc_hotplug_begin_rings(struct hwpmc_owner *o)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(current->mm);
	int err = 0;

	cpus_read_lock();	/* against cpu_up_callback() */
	swap(o->hp.memcg, memcg);
	cpus_read_unlock();
	mem_cgroup_put(memcg);
	if (o->hp.only)
		err = ring_create(o, RING_OF_IOCTLS, false);
	return err ?: create_rings(o, false);
}

/*
 * No producer runs, and there is no writer thread to be woken.  A ring that a CPU
 * creates meanwhile as it comes online has no records yet.
 */
void hwpmc_hotplug_sync_rings(struct hwpmc_owner *o)
{
	struct owner_ring *or;
	unsigned int cpu;

	for_each_owner_ring(o, cpu, or)
		irq_work_sync(&or->wake);
}

void hwpmc_hotplug_free_rings(struct hwpmc_owner *o)
{
	struct owner_ring *or;
	unsigned int cpu;

	for_each_owner_ring(o, cpu, or)
		ring_free(o, or);
	kfree(o->rings);
	mem_cgroup_put(o->hp.memcg);
}
