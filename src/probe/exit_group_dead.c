// SPDX-License-Identifier: GPL-2.0-only
/* sched_process_exit reports whether the process ends */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <trace/events/sched.h>

#ifdef PROBE_OLD
static void hook(void *data, struct task_struct *p)
#else
static void hook(void *data, struct task_struct *p, bool group_dead)
#endif
{
}

void probe(void);
void probe(void)
{
	check_trace_callback_type_sched_process_exit(hook);
}
