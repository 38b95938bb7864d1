// SPDX-License-Identifier: GPL-2.0-only
/* task_newtask's clone flags are u64 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <trace/events/task.h>

#ifdef PROBE_OLD
typedef unsigned long flags_type;
#else
typedef u64 flags_type;
#endif

static void hook(void *data, struct task_struct *task, flags_type clone_flags)
{
}

void probe(void);
void probe(void)
{
	check_trace_callback_type_task_newtask(hook);
}
