// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends of a log that do not depend on whether its file takes data.
 *
 * Two events end a log from outside.  The first is the last close of the device:
 * after some patience a work makes the writer thread give up, whether or not a
 * process waits for it.  Only the process that opened the device, or configured
 * the log, waits in its close: another process may have been sent the device only
 * to make it wait.
 *
 * The second is the end of the process that configured the log.  A Unix socket can
 * hold the device, as a descriptor that was sent and not yet received.  If the log
 * holds the socket, both stay forever once no process has them.  The kernel's
 * collection of such sockets takes the log's reference for one of a process, and
 * a module cannot find out where the references to its file are.  A process,
 * however, can be seen and killed.  So the log keeps a file that can hold others
 * only while the process that supplied it lives.
 *
 * These files cannot hold others, and stay for as long as the device is open:
 * regular files and pipes, which contain bytes; TCP, UDP and VSOCK, which carry
 * bytes.  All others are assumed to hold files.  Sockets of other families may wrap
 * a Unix socket, and character devices hold the files that their driver was given.
 * For example, vhost holds the memory of a process, and with it its mappings; one
 * can be an io_uring whose file table has the device.  An io_uring, an epoll and
 * the device itself cannot be logs: they cannot be written to.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "hwpmc.h"
#include "log.h"

#define CLOSE_PATIENCE	(HZ * 6 / 10)	/* for the log's last bytes */
#define CLOSE_GRACE	(HZ * 3 / 10)	/* then, for the thread to end */
#define STUCK_AFTER	(HZ * 10)	/* on a busy machine a thread may take some time */
#define KEEPER_INTERVAL	HZ

static bool socket_may_hold(struct socket *sock)
{
	switch (READ_ONCE(sock->ops)->family) {
	case PF_INET:
	case PF_INET6:
	case PF_VSOCK:
		return false;
	default:
		return true;
	}
}

/* Can @file hold another file open, and so the device? */
bool hwpmc_log_may_hold(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct socket *sock = sock_from_file(file);

	if (sock)
		return socket_may_hold(sock);
	/* some kernels call anonymous inodes regular */
	if (inode->i_sb->s_magic == ANON_INODE_FS_MAGIC)
		return true;
	return !S_ISREG(inode->i_mode) && !S_ISFIFO(inode->i_mode);
}

/* The work freezes with the thread, so that a suspend does not look like a hanging file. */
static void watch_in(struct hwpmc_log *log, unsigned long delay)
{
	mod_delayed_work(system_freezable_wq, &log->end.watch, delay);
}

/*
 * hwpmc_log_keep - set the process that keeps the log's file
 * @keeper: the reference is taken over; NULL: the log has no file any more
 *
 * Called by the writer thread, or before it runs.  A signal that was sent to
 * interrupt a write to the previous file must not interrupt the next write.
 */
void hwpmc_log_keep(struct hwpmc_owner *o, struct pid *keeper, bool bound)
{
	struct hwpmc_log *log = &o->log;

	spin_lock(&log->lock);
	swap(log->end.keeper, keeper);
	log->end.bound = bound;
	if (log->end.orphaned)
		flush_signals(current);
	WRITE_ONCE(log->end.orphaned, false);
	spin_unlock(&log->lock);
	put_pid(keeper);
	if (bound)	/* after a close the work is already queued */
		queue_delayed_work(system_freezable_wq, &log->end.watch,
				   KEEPER_INTERVAL);
}

static bool keeper_has_ended(struct pid *pid)
{
	struct task_struct *leader;
	bool ended;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	ended = !leader || !atomic_read(&leader->signal->live);
	rcu_read_unlock();
	return ended;
}

/*
 * Interrupts any wait of the thread.  Under log.lock while the log has a
 * keeper, so that @task is its thread; or after the last close.
 */
static void break_off(struct hwpmc_log *log)
{
	send_sig(SIGKILL, log->task, 1);
}

/* Returns true if there is a keeper that must be checked again. */
static bool look_at_keeper(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	bool again, ended;

	spin_lock(&log->lock);
	again = log->end.bound && !log->end.orphaned;
	ended = again && keeper_has_ended(log->end.keeper);
	if (ended) {
		WRITE_ONCE(log->end.orphaned, true);
		break_off(log);
	}
	spin_unlock(&log->lock);
	if (ended)
		hwpmc_log_kick(o);
	return again && !ended;
}

/* The rest of @patience, which began with the end of the log. */
static unsigned long left_of(const struct hwpmc_log *log, unsigned long patience)
{
	unsigned long gone = jiffies - log->end.ending;

	return gone < patience ? patience - gone : 0;
}

/*
 * The thread may be stuck in a file that does not take the rest.  If it cannot
 * even give up (a frozen or hung file system), it stays, with the references
 * that it holds.
 */
static void look_at_closed(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	unsigned long left = left_of(log, CLOSE_PATIENCE);

	if (completion_done(&log->done))
		return;
	if (left) {	/* the work was queued to check the keeper */
		watch_in(log, left);
		return;
	}
	if (log->end.gave_up) {
		pr_warn_ratelimited("%s is stuck in its log file; it ends when that lets it go\n",
			log->task->comm);
		return;
	}
	log->end.gave_up = true;
	WRITE_ONCE(log->abort, true);
	break_off(log);
	hwpmc_log_kick(o);
	watch_in(log, STUCK_AFTER);
}

static void logend_watch(struct work_struct *work)
{
	struct hwpmc_log *log = container_of(to_delayed_work(work),
					     struct hwpmc_log, end.watch);
	struct hwpmc_owner *o = container_of(log, struct hwpmc_owner, log);

	if (smp_load_acquire(&log->end.closed))	/* @ending is set before it */
		look_at_closed(o);
	else if (look_at_keeper(o))
		queue_delayed_work(system_freezable_wq, &log->end.watch,
				   KEEPER_INTERVAL);
}

void hwpmc_log_watch_init(struct hwpmc_log *log)
{
	INIT_DELAYED_WORK(&log->end.watch, logend_watch);
}

/* Did the calling process open the device or configure the log? */
bool hwpmc_log_is_callers(struct hwpmc_owner *o)
{
	bool is;

	spin_lock(&o->log.lock);
	is = task_tgid(current) == o->opener ||
	     task_tgid(current) == o->log.end.keeper;
	spin_unlock(&o->log.lock);
	return is;
}

/*
 * hwpmc_log_shutdown - the last close of the device: the log ends within a
 * second
 *
 * The caller waits only if it is the opener or the keeper.  No producer runs any
 * more.
 */
void hwpmc_log_shutdown(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	bool wait = hwpmc_log_is_callers(o);

	spin_lock(&log->lock);
	if (log->state == LOG_NONE) {
		spin_unlock(&log->lock);
		return;
	}
	log->req.close = true;
	log->state = LOG_CLOSING;
	spin_unlock(&log->lock);
	if (hwpmc_stream_state(o) != STREAM_NONE)	/* no reader is left */
		WRITE_ONCE(log->abort, true);
	if (!log->end.ending)
		log->end.ending = jiffies ?: 1;
	/* pairs with logend_watch() */
	smp_store_release(&log->end.closed, true);
	hwpmc_log_kick(o);
	watch_in(log, left_of(log, CLOSE_PATIENCE));
	if (wait)
		wait_for_completion_killable_timeout(&log->done,
				left_of(log, CLOSE_PATIENCE + CLOSE_GRACE));
}
