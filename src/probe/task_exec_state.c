// SPDX-License-Identifier: GPL-2.0-only
/* the permission to read a task's memory is kept with the task, not with the mm */
#include <linux/sched.h>
#include <linux/sched/coredump.h>

#ifndef PROBE_OLD
#include <linux/sched/exec_state.h>
#endif

unsigned int probe(struct task_struct *task);
unsigned int probe(struct task_struct *task)
{
#ifdef PROBE_OLD
	return get_dumpable(task->mm) == SUID_DUMP_USER &&
	       task->mm->user_ns;
#else
	const struct task_exec_state *s = rcu_dereference(task->exec_state);

	return s->dumpable == TASK_DUMPABLE_OWNER && s->user_ns;
#endif
}
