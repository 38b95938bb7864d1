// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows: which rows are in use on a CPU, and which the administrator has
 * disabled there, over all owners.
 *
 * Each owner has its own rows.  A PMC of one CPU uses its row on that CPU.  A
 * PMC of all CPUs, or of a process, uses its row on every CPU, also on CPUs
 * that come later.  A disabled row is not used, and a row in use cannot be
 * disabled: one lock protects both.  Process context.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/user_namespace.h>

#include "hwpmc.h"
#include "pmc/pmc.h"

static DEFINE_SPINLOCK(rows_lock);

/* A CPU's rows.  @used counts the PMCs of this one CPU only; rows_lock */
struct cpu_rows {
	u32 used[HWPMC_NROW];
	DECLARE_BITMAP(disabled, HWPMC_NROW);
};

static struct cpu_rows __percpu *cpu_rows;
static u32 used_everywhere[HWPMC_NROW];		/* rows_lock */
static u32 disabled_somewhere[HWPMC_NROW];	/* number of CPUs; rows_lock */

int hwpmc_rows_init(void)
{
	cpu_rows = alloc_percpu(struct cpu_rows);
	return cpu_rows ? 0 : -ENOMEM;
}

void hwpmc_rows_exit(void)
{
	free_percpu(cpu_rows);
}

static u32 *use_count(int cpu, u32 row)
{
	return cpu < 0 ? &used_everywhere[row] :
			 &per_cpu_ptr(cpu_rows, cpu)->used[row];
}

/*
 * hwpmc_rows_take - one more PMC uses @row
 * @cpu: the only CPU on which it does, or negative: all CPUs
 *
 * Returns false if the row is disabled there.
 */
bool hwpmc_rows_take(int cpu, u32 row)
{
	bool disabled;

	spin_lock(&rows_lock);
	disabled = cpu < 0 ? disabled_somewhere[row] :
			     test_bit(row, per_cpu_ptr(cpu_rows, cpu)->disabled);
	if (!disabled)
		++*use_count(cpu, row);
	spin_unlock(&rows_lock);
	return !disabled;
}

void hwpmc_rows_put(int cpu, u32 row)
{
	spin_lock(&rows_lock);
	WARN_ON_ONCE(!(*use_count(cpu, row))--);
	spin_unlock(&rows_lock);
}

void hwpmc_rows_disabled(int cpu, unsigned long *map)
{
	spin_lock(&rows_lock);
	bitmap_copy(map, per_cpu_ptr(cpu_rows, cpu)->disabled, HWPMC_NROW);
	spin_unlock(&rows_lock);
}

static int row_disable(int cpu, u32 row)
{
	struct cpu_rows *rows = per_cpu_ptr(cpu_rows, cpu);
	int err = 0;

	spin_lock(&rows_lock);
	if (used_everywhere[row] || rows->used[row])
		err = -EBUSY;
	else if (!__test_and_set_bit(row, rows->disabled))
		disabled_somewhere[row]++;
	spin_unlock(&rows_lock);
	return err;
}

static void row_enable(int cpu, u32 row)
{
	spin_lock(&rows_lock);
	if (__test_and_clear_bit(row, per_cpu_ptr(cpu_rows, cpu)->disabled))
		disabled_somewhere[row]--;
	spin_unlock(&rows_lock);
}

/* Checks a CPU number of the user: EINVAL out of range, ENXIO if offline. */
int hwpmc_rows_check_cpu(int cpu)
{
	if (cpu < 0 || cpu >= (int)nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	return cpu_online(cpu) ? 0 : -ENXIO;
}

/* The order of the checks is part of the interface. */
int hwpmc_rows_admin(const struct hwpmc_owner *o, const struct hwpmc_admin *a)
{
	u32 cpu, row;
	int err;

	if (!hwpmc_access_admin(o))
		return -EPERM;
	if (a->reserved)
		return -EINVAL;
	err = hwpmc_rows_check_cpu(a->cpu);
	if (err)
		return err;
	if (a->state != HWPMC_STATE_DISABLED && a->state != HWPMC_STATE_FREE)
		return -EINVAL;
	if (a->row >= HWPMC_NROW)
		return -EINVAL;
	cpu = array_index_nospec(a->cpu, nr_cpu_ids);
	row = array_index_nospec(a->row, HWPMC_NROW);
	if (a->state == HWPMC_STATE_DISABLED)
		return row_disable(cpu, row);
	row_enable(cpu, row);
	return 0;
}
