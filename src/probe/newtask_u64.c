// SPDX-License-Identifier: GPL-2.0-only
/* task_newtask's clone flags are u64 */
#include <trace/events/task.h>

static void hook(void *data, struct task_struct *task, u64 clone_flags)
{
}

void probe(void);
void probe(void)
{
	check_trace_callback_type_task_newtask(hook);
}
