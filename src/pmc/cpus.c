// SPDX-License-Identifier: GPL-2.0-only
/*
 * SETCPUS: an owner for some of the CPUs, so that several owners, each with a writer
 * thread of its own, share a machine.
 *
 * The owner's PMCs of all CPUs have events on these CPUs only, and its log has what
 * hooks see there.  A fork, an exec or a mapping on another CPU is in the log of the
 * owner that is for that CPU, and is no loss of this one.
 */
#include <linux/cpu.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "hwpmc.h"
#include "pmc.h"

/*
 * Copies a mask of the caller, without the CPUs that the machine cannot have.  A longer
 * mask than the kernel's is cut: its rest cannot have other CPUs.
 */
static struct cpumask *copy_mask(const struct hwpmc_setcpus *a)
{
	struct cpumask *mask = kzalloc(cpumask_size(), HWPMC_GFP);
	int err = 0;

	if (!mask)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(mask, u64_to_user_ptr(a->mask),
			   min_t(size_t, a->len, cpumask_size())))
		err = -EFAULT;
	else if (!cpumask_and(mask, mask, cpu_possible_mask))
		err = -EINVAL;
	if (!err)
		return mask;
	kfree(mask);
	return ERR_PTR(err);
}

/*
 * hwpmc_cpus_set - SETCPUS
 *
 * Under owner->mutex and owner->cpus_mutex.  Rings that the owner has already stay.
 */
int hwpmc_cpus_set(struct hwpmc_owner *o, const struct hwpmc_setcpus *a)
{
	struct cpumask *mask = NULL;

	if (a->reserved || (!a->len && a->mask))
		return -EINVAL;
	if (!bitmap_empty(o->pmcs.live, HWPMC_NROW) || hwpmc_log_has_writer(o))
		return -EBUSY;
	if (a->len)
		mask = copy_mask(a);
	if (IS_ERR(mask))
		return PTR_ERR(mask);
	cpus_read_lock();	/* against cpu_up_callback() */
	swap(o->hp.only, mask);
	cpus_read_unlock();
	kfree(mask);
	return 0;
}
