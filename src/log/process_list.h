/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of all processes at one moment. */
#ifndef HWPMC_PROCESS_LIST_H
#define HWPMC_PROCESS_LIST_H

#include <linux/types.h>

struct task_struct;

/* thread group leaders, referenced */
struct process_list {
	struct task_struct **tasks;
	unsigned int	n;
};

/* The writer thread's; process context, may sleep. */
bool hwpmc_process_list_get(struct process_list *l);
void hwpmc_process_list_put(struct process_list *l);
void hwpmc_process_list_sort(struct process_list *l);
bool hwpmc_process_list_has(const struct process_list *l,
			    const struct task_struct *task);

#endif /* HWPMC_PROCESS_LIST_H */
