// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work under locks that others need is done by a kernel worker: a task that gets no CPU,
 * as one of SCHED_IDLE beside tasks that compute, would hold the locks for as long.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "hwpmc.h"

/**
 * struct request - a caller waits for a function
 * @work: on an unbound queue
 * @fn: see hwpmc_run_by_worker()
 * @arg: likewise
 * @took: CPU time of the function, in nanoseconds
 */
struct request {
	struct work_struct work;
	void		(*fn)(void *arg);
	void		*arg;
	u64		took;
};

static void request_work(struct work_struct *work)
{
	struct request *r = container_of(work, struct request, work);
	const u64 began = ktime_get_ns();
	/* the tick adds to it, so the last one may be missing */
	u64 ran = READ_ONCE(current->se.sum_exec_runtime);

	r->fn(r->arg);
	ran = READ_ONCE(current->se.sum_exec_runtime) - ran;
	r->took = min(ktime_get_ns() - began, ran + TICK_NSEC);
}

/*
 * hwpmc_run_by_worker - have a kernel worker call @fn, and wait for its end
 *
 * @fn may not use the current task.  May sleep; locks of the caller stay held.  Returns the
 * CPU time that it took, in nanoseconds.
 */
u64 hwpmc_run_by_worker(void (*fn)(void *arg), void *arg)
{
	struct request r = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&r.work, request_work);
	queue_work(compat_unbound_wq(), &r.work);
	flush_work(&r.work);
	destroy_work_on_stack(&r.work);
	return r.took;
}
