// SPDX-License-Identifier: GPL-2.0-only
/* sched_process_exit tells whether the process ends */
#include <trace/events/sched.h>

static void hook(void *data, struct task_struct *p, bool group_dead)
{
}

void probe(void);
void probe(void)
{
	check_trace_callback_type_sched_process_exit(hook);
}
