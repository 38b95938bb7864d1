// SPDX-License-Identifier: GPL-2.0-only
/*
 * hwpmc: performance counters recorded by the kernel, in FreeBSD's log format.
 *
 *	overflow (NMI, IRQ, or process	sample.c, chain_*.c
 *	   context with preemption off;
 *	   the runqueue lock may be held)
 *	hooks (atomic)			proc.c, mapping.c, kmod.c, record.c
 *	return to user mode (process)	chain_deferred.c
 *	   reserve, fill, commit	ring.h
 *	writer thread			drain.c, merge.c, emit.c, dump.c
 *	   write			sink.c
 *	the user's file descriptor, or
 *	a reader of the device	stream.c
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/uio.h>

#include "coverage.h"
#include "target/hooks.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/sample.h"
#include "target/target.h"
#include "unwind/unwind.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int hwpmc_open(struct inode *inode, struct file *file)
{
	struct hwpmc_owner *o = hwpmc_owner_create(file);

	if (IS_ERR(o))
		return PTR_ERR(o);
	file->private_data = o;
	return stream_open(inode, file);
}

static int hwpmc_fasync(int fd, struct file *file, int on)
{
	struct hwpmc_owner *o = file->private_data;

	return fasync_helper(fd, file, on, &o->fasync);
}

/* A descriptor of the device is closed. */
static int hwpmc_flush(struct file *file, fl_owner_t id)
{
	hwpmc_owner_flush(file->private_data, file);
	return 0;
}

static struct workqueue_struct *closers;

static void close_work(struct work_struct *work)
{
	hwpmc_owner_close(container_of(work, struct hwpmc_owner, log.end.close_work));
	module_put(THIS_MODULE);	/* hwpmc_exit() waits for the end of this function */
}

/*
 * The last close of a process to which the descriptor was sent, or of a worker that
 * discards such descriptors, waits for nothing: it takes long to release many events, and
 * targets may hold it up.
 */
static int hwpmc_release(struct inode *inode, struct file *file)
{
	struct hwpmc_owner *o = file->private_data;

	if (hwpmc_log_is_callers(o)) {
		hwpmc_owner_close(o);
		return 0;
	}
	__module_get(THIS_MODULE);	/* the file has one still */
	INIT_WORK(&o->log.end.close_work, close_work);
	queue_work(closers, &o->log.end.close_work);
	return 0;
}

static ssize_t hwpmc_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct hwpmc_owner *o = file->private_data;

	return hwpmc_access_gate(o) ?:
	       hwpmc_stream_read(o, to, !(file->f_flags & O_NONBLOCK) &&
				 !(iocb->ki_flags & IOCB_NOWAIT));
}

/*
 * EPOLLIN: read(2) returns a record or the end of the log.  EPOLLERR: the log
 * has a write error.  EPOLLHUP: there were targets, and all have gone.
 * EPOLLPRI: an armed snapshot has been taken.  EPOLLRDBAND: UNWINDNEXT has an
 * object to return.
 */
static __poll_t hwpmc_poll(struct file *file, poll_table *wait)
{
	struct hwpmc_owner *o = file->private_data;

	poll_wait(file, &o->log.waitq, wait);
	return hwpmc_stream_poll(o) |
	       (READ_ONCE(o->log.error) ? EPOLLERR : 0) |
	       (READ_ONCE(o->lost_all) ? EPOLLHUP : 0) |
	       (READ_ONCE(o->log.snap.ended) ? EPOLLPRI : 0) |
	       (hwpmc_unwind_wants(o) ? EPOLLRDBAND : 0);
}

static const struct file_operations hwpmc_fops = {
	.owner		= THIS_MODULE,
	.open		= hwpmc_open,
	.flush		= hwpmc_flush,
	.release	= hwpmc_release,
	.read_iter	= hwpmc_read_iter,
	.unlocked_ioctl	= hwpmc_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.poll		= hwpmc_poll,
	.fasync		= hwpmc_fasync,
};

static struct miscdevice hwpmc_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "hwpmc",
	.fops	= &hwpmc_fops,
	.mode	= 0600,
};

static int __init hwpmc_init(void)
{
	int err;

	hwpmc_params_check();
	closers = alloc_workqueue("hwpmc_close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!closers)
		return -ENOMEM;
	err = hwpmc_chain_deferred_init();
	if (err)
		goto err_closers;
	err = hwpmc_sample_init();
	if (err)
		goto err_deferred;
	err = hwpmc_event_init();
	if (err)
		goto err_sample;
	err = hwpmc_rows_init();
	if (err)
		goto err_event;
	err = hwpmc_hotplug_init();
	if (err)
		goto err_rows;
	err = hwpmc_targets_init();
	if (err)
		goto err_hotplug;
	err = hwpmc_threads_init();
	if (err)
		goto err_targets;
	err = hwpmc_unwind_init();
	if (err)
		goto err_threads;
	err = misc_register(&hwpmc_device);
	if (err)
		goto err_unwind;
	hwpmc_coverage_init();
	return 0;

err_unwind:
	hwpmc_unwind_exit();
err_threads:
	hwpmc_threads_exit();
err_targets:
	hwpmc_targets_exit();
err_hotplug:
	hwpmc_hotplug_exit();
err_rows:
	hwpmc_rows_exit();
err_event:
	hwpmc_event_exit();
err_sample:
	hwpmc_sample_exit();
err_deferred:
	hwpmc_chain_deferred_exit();
err_closers:
	destroy_workqueue(closers);
	return err;
}

/*
 * Module unload: no owner is left, so no writer thread, event or follower is
 * left.
 */
static void __exit hwpmc_exit(void)
{
	hwpmc_coverage_exit();
	misc_deregister(&hwpmc_device);
	destroy_workqueue(closers);
	hwpmc_hooks_exit();
	synchronize_rcu_tasks();	/* queued task work has returned */
	hwpmc_unwind_exit();
	hwpmc_threads_exit();
	hwpmc_targets_exit();
	hwpmc_hotplug_exit();
	hwpmc_rows_exit();
	hwpmc_event_exit();
	hwpmc_sample_exit();
	hwpmc_chain_deferred_exit();
}

module_init(hwpmc_init);
module_exit(hwpmc_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("performance counters recorded in FreeBSD's pmclog format");
MODULE_VERSION("0.1.0");
