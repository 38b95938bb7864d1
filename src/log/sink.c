// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the thread's buffer to the log's destination; handles the user's file.
 *
 * Only the writer thread runs this code, except hwpmc_sink_attach(), which an
 * ioctl calls before the thread runs, and hwpmc_sink_check(), which ioctls call
 * at any time.  A write may block as long as the file likes.  The last close
 * interrupts it with a signal.
 */
#include <linux/cred.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "emit.h"
#include "flight.h"
#include "hwpmc.h"
#include "sink.h"
#include "trace.h"

#define RETRY_INTERVAL	(HZ / 20)	/* while a non-blocking file is full */

/* The effect of a write to such a file may depend on the task that writes. */
static bool is_of_the_kernel(const struct file *file)
{
	switch (file_inode(file)->i_sb->s_magic) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * kernel_write() needs write_iter and no write.  The device itself would be a
 * cycle: no other file belongs to the module.
 */
int hwpmc_sink_check(struct file *file)
{
	if (is_of_the_kernel(file))
		return -EINVAL;
	if (file->f_op->owner == THIS_MODULE || S_ISDIR(file_inode(file)->i_mode))
		return -EINVAL;
	if (!(file->f_mode & FMODE_CAN_WRITE) || !file->f_op->write_iter ||
	    file->f_op->write)
		return -EINVAL;
	return 0;
}

/*
 * Nothing may change on a disk after the image of a hibernation has been made,
 * so the thread can be frozen while it writes to one.  A pipe, a socket or a
 * terminal may make the thread wait for a reader that is already frozen; then a
 * freezable thread would keep the machine awake.  Data that is written to them
 * is memory, which is in the image as a whole.  FUSE is like them, because its
 * server is a process.
 */
static bool is_on_disk(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return (S_ISREG(inode->i_mode) || S_ISBLK(inode->i_mode)) &&
	       inode->i_sb->s_magic != FUSE_SUPER_MAGIC;
}

static void set_freezing(bool on)
{
	if (on)
		set_freezable();
	else
		current->flags |= PF_NOFREEZE;
}

/* Adapts the thread to its new file, or to having none. */
void hwpmc_sink_begin(struct hwpmc_log *log)
{
	set_freezing(log->out.file && is_on_disk(log->out.file));
}

/*
 * Writes with the credentials of the file's opener; to a socket, which may send them
 * along as those of the sender, with those of the device's opener.
 */
static ssize_t file_write(struct hwpmc_owner *o, const void *buf, u32 len)
{
	struct hwpmc_log *log = &o->log;
	const struct cred *cred = sock_from_file(log->out.file) ?
				  o->cred : log->out.file->f_cred;
	const struct cred *old = override_creds(cred);
	ssize_t n;

	n = kernel_write(log->out.file, buf, len, log->out.seekable ? &log->out.pos : NULL);
	revert_creds(old);
	if (log->out.seekable)	/* the next writer continues there */
		log->out.file->f_pos = log->out.pos;
	return n;
}

/*
 * Waits until a non-blocking file takes more, or for a while.  Some files always
 * report that they are writable, and take nothing: then this waits for a tick.
 */
static void file_wait(struct hwpmc_owner *o)
{
	struct poll_wqueues wait;
	bool ready;

	poll_initwait(&wait);
	ready = vfs_poll(o->log.out.file, &wait.pt) & (EPOLLOUT | EPOLLERR);
	if (!ready) {
		set_current_state(TASK_INTERRUPTIBLE);
		/* pollwake() sets it plainly, then wakes the thread */
		if (!data_race(wait.triggered))
			schedule_timeout(RETRY_INTERVAL);
		__set_current_state(TASK_RUNNING);
	}
	poll_freewait(&wait);
	if (ready)
		schedule_timeout_interruptible(1);
}

static void file_end(struct hwpmc_owner *o)
{
	struct file *file = o->log.out.file;

	o->log.out.file = NULL;
	if (file)	/* NULL if given up before the end */
		__fput_sync(file);
	set_freezing(false);
}

static const struct sink_ops sink_file = {
	.write	= file_write,
	.wait	= file_wait,
	.end	= file_end,
};

/* Replaces the log's file by @file.  The log takes over the reference to @file. */
void hwpmc_sink_swap(struct hwpmc_log *log, struct file *file)
{
	log->out.file = file;
	log->out.seekable = file && (file->f_mode & FMODE_LSEEK) &&
			!(file->f_mode & FMODE_STREAM);
	log->out.pos = log->out.seekable ? READ_ONCE(file->f_pos) : 0;
	log->out.used = 0;
	log->acct.buf_samples = 0;
	log->acct.buf_records = 0;
}

/* Makes @file, or the sink that @c asks for, the log's sink. */
int hwpmc_sink_attach(struct hwpmc_owner *o, struct file *file,
		      const struct hwpmc_configurelog *c)
{
	struct hwpmc_log *log = &o->log;
	int err;

	hwpmc_stream_detach(o);	/* all of it has been read */
	log->sink = &sink_file;
	log->out.size = hwpmc_param_buffer_bytes();
	log->maker.memcg = get_mem_cgroup_from_mm(current->mm);
	err = c->flags & HWPMC_LOG_STREAM ? hwpmc_stream_attach(o, c->size) :
	      c->flags & HWPMC_LOG_FLIGHT ? hwpmc_flight_attach(o, c->size) :
	      0;
	if (err) {
		hwpmc_sink_detach(log);
		return err;
	}
	log->out.buf = hwpmc_memory(log->out.size, NUMA_NO_NODE, __GFP_ACCOUNT);
	log->out.path = kmalloc(PATH_MAX, HWPMC_GFP);
	log->out.spare = kmalloc(PMCLOG_RECORD_MAX, HWPMC_GFP);
	log->out.pack = c->flags & HWPMC_LOG_PACKED ? hwpmc_pack_new() : NULL;
	if (!log->out.buf || !log->out.path || !log->out.spare ||
	    (!log->out.pack && (c->flags & HWPMC_LOG_PACKED))) {
		hwpmc_sink_detach(log);
		hwpmc_stream_detach(o);
		hwpmc_flight_free(o);
		return -ENOMEM;
	}
	hwpmc_sink_swap(log, file);
	return 0;
}

/* Releases the allocations of hwpmc_sink_attach(), but not the file. */
void hwpmc_sink_detach(struct hwpmc_log *log)
{
	kvfree(log->out.buf);
	kfree(log->out.path);
	kfree(log->out.spare);
	kvfree(log->out.pack);
	mem_cgroup_put(log->maker.memcg);
	log->maker.memcg = NULL;
	log->out.buf = NULL;
	log->out.path = NULL;
	log->out.spare = NULL;
	log->out.pack = NULL;
}

static void sink_error(struct hwpmc_owner *o, int err)
{
	/* after the counts of the write; pairs with hwpmc_stats_owner() */
	smp_store_release(&o->log.error, err);
	trace_hwpmc_log(o, "error", err);
	/* signal first: a process in poll() has it when poll() returns */
	kill_fasync(&o->fasync, SIGIO, POLL_ERR);
	wake_up_all(&o->log.waitq);
}

/* @off: bytes written; fewer than @len after an error, an abort or a cancel */
static int sink_write_all(struct hwpmc_owner *o, const struct sink_ops *sink,
			  const void *buf, u32 len, u32 *off)
{
	struct hwpmc_log *log = &o->log;
	ssize_t n;

	while (*off < len && !READ_ONCE(log->abort) &&
	       (sink == log->sink || !READ_ONCE(log->snap.cancel))) {
		if (READ_ONCE(log->end.orphaned))
			return -EOWNERDEAD;
		try_to_freeze();
		n = sink->write(o, buf + *off, len - *off);
		switch (n) {
		case -EAGAIN:
			sink->wait(o);
			break;
		case -EINTR:
		case -ERESTARTSYS:
		case -ERESTARTNOINTR:
		case -ERESTARTNOHAND:
		case -ERESTART_RESTARTBLOCK:
			/* without a signal the file itself returns this, maybe always */
			if (!signal_pending(current))
				sink->wait(o);
			break;
		case 0:
			return -EIO;
		default:
			if (n < 0)
				return n;
			*off += n;
		}
	}
	return 0;
}

/* Returns the number of bytes written from the buffer.  *@err is 0 or a new error. */
static u32 write_out(struct hwpmc_owner *o, int *err)
{
	struct hwpmc_log *log = &o->log;
	u32 off = 0;

	*err = 0;
	if (!log->error)
		*err = sink_write_all(o, log->sink, log->out.buf, log->out.used, &off);
	return off;
}

/*
 * hwpmc_sink_put_file - write all of @buf to the file of hwpmc_sink_swap()
 *
 * For a log whose own sink is not that file.  Returns -EINTR after an abort or
 * a cancel, or the file's error, which is not the log's.
 */
int hwpmc_sink_put_file(struct hwpmc_owner *o, const void *buf, u32 len)
{
	u32 off = 0;
	int err = sink_write_all(o, &sink_file, buf, len, &off);

	return err || off == len ? err : -EINTR;
}

void hwpmc_sink_end_file(struct hwpmc_owner *o)
{
	sink_file.end(o);
}

/* Counts the complete records and samples in the first @bytes of the buffer. */
static void count_written(struct hwpmc_log *log, u32 bytes, u64 *samples,
			  u64 *records)
{
	u32 at, header;

	*samples = 0;
	*records = 0;
	for (at = 0; at + sizeof(header) <= bytes;
	     at += PMCLOG_HEADER_LEN(header)) {
		memcpy(&header, log->out.buf + at, sizeof(header));
		if (at + PMCLOG_HEADER_LEN(header) > bytes)
			break;
		++*records;
		if (PMCLOG_HEADER_TYPE(header) == PMCLOG_T_CALLCHAIN)
			++*samples;
		else
			*samples += hwpmc_pack_count(log->out.buf + at,
						     PMCLOG_HEADER_LEN(header));
	}
}

/* hwpmc_sink_flush - write the buffer; account for samples that could not be written */
void hwpmc_sink_flush(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	u64 samples, records;
	u32 bytes;
	int err;

	/* memory never blocks, so the thread might never sleep */
	cond_resched();
	hwpmc_pack_end(log);
	if (!log->out.used)
		return;
	bytes = write_out(o, &err);
	if (likely(bytes == log->out.used)) {
		samples = log->acct.buf_samples;
		records = log->acct.buf_records;
	} else {
		count_written(log, bytes, &samples, &records);
	}
	atomic64_add(bytes, &log->totals.bytes);
	atomic64_add(records, &log->totals.records);
	atomic64_add(samples, &log->totals.written);
	atomic64_add(log->acct.buf_samples - samples, &log->totals.discarded);
	log->acct.lost_here += log->acct.buf_samples - samples;
	log->out.used = 0;
	log->acct.buf_samples = 0;
	log->acct.buf_records = 0;
	/* last: a process that learns of the error may read the counts at once */
	if (err)
		sink_error(o, err);
}

/*
 * The process that supplied the file has ended, and the file may hold the device
 * open.  The log gives the file up; further data is lost as after an error.
 */
void hwpmc_sink_check_keeper(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;

	if (!READ_ONCE(log->end.orphaned))
		return;
	if (!log->error)
		sink_error(o, -EOWNERDEAD);
	file_end(o);
	hwpmc_log_keep(o, NULL, false);
}
