// SPDX-License-Identifier: GPL-2.0-only
/* The list of all processes at one moment. */
#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "hwpmc.h"
#include "process_list.h"

/* False: out of memory. */
bool hwpmc_process_list_get(struct process_list *l)
{
	struct task_struct *p;
	/* the hooks see processes that are created from here on */
	unsigned int size = 16;

	rcu_read_lock();
	for_each_process(p)
		size++;
	rcu_read_unlock();
	l->n = 0;
	l->tasks = hwpmc_memory(array_size(size, sizeof(*l->tasks)), NUMA_NO_NODE,
				__GFP_ACCOUNT);
	if (!l->tasks)
		return false;
	rcu_read_lock();
	for_each_process(p)
		/* in the list: its count is not zero for a grace period */
		if (l->n < size)
			l->tasks[l->n++] = get_task_struct(p);
	rcu_read_unlock();
	return true;
}

void hwpmc_process_list_put(struct process_list *l)
{
	while (l->n)
		put_task_struct(l->tasks[--l->n]);
	kvfree(l->tasks);
	l->tasks = NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct task_struct *x = *(const struct task_struct *const *)a;
	const struct task_struct *y = *(const struct task_struct *const *)b;

	return x < y ? -1 : x > y;
}

/* For hwpmc_process_list_has(). */
void hwpmc_process_list_sort(struct process_list *l)
{
	sort(l->tasks, l->n, sizeof(*l->tasks), by_address, NULL);
}

/* Is @task in @l, which is sorted and references its tasks? */
bool hwpmc_process_list_has(const struct process_list *l,
			    const struct task_struct *task)
{
	return l->n && bsearch(&task, l->tasks, l->n, sizeof(task), by_address);
}
