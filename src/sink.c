// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the thread's buffer to the user's file.
 *
 * Only the writing thread comes here (attach and check: the ioctl before it
 * runs).  A write may block as long as the file likes; the last close breaks it
 * with a signal.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "hwpmc.h"

#define RETRY_INTERVAL	(HZ / 20)	/* while a non-blocking file is full */

/* kernel_write() wants write_iter and nothing else; no cycles through us. */
int sink_check(struct file *file)
{
	if (file->f_op == &hwpmc_fops || S_ISDIR(file_inode(file)->i_mode))
		return -EINVAL;
	if (!(file->f_mode & FMODE_CAN_WRITE) || !file->f_op->write_iter ||
	    file->f_op->write)
		return -EINVAL;
	return 0;
}

/* Puts @file, whose reference becomes the log's, in the place of the old. */
void sink_swap(struct hwpmc_log *log, struct file *file)
{
	log->file = file;
	log->seekable = (file->f_mode & FMODE_LSEEK) &&
			!(file->f_mode & FMODE_STREAM);
	log->pos = log->seekable ? READ_ONCE(file->f_pos) : 0;
	log->used = 0;
	log->buf_samples = 0;
}

int sink_attach(struct hwpmc_log *log, struct file *file)
{
	log->size = param_buffer_bytes();
	log->buf = kvmalloc(log->size, GFP_KERNEL_ACCOUNT);
	log->path = kmalloc(PATH_MAX, GFP_KERNEL_ACCOUNT);
	log->spare = kmalloc(PMCLOG_RECORD_MAX, GFP_KERNEL_ACCOUNT);
	if (!log->buf || !log->path || !log->spare) {
		sink_detach(log);
		return -ENOMEM;
	}
	sink_swap(log, file);
	return 0;
}

/* Gives back what sink_attach() took, but for the file. */
void sink_detach(struct hwpmc_log *log)
{
	kvfree(log->buf);
	kfree(log->path);
	kfree(log->spare);
	log->buf = NULL;
	log->path = NULL;
	log->spare = NULL;
}

/* As whoever opened the file, not as whoever calls us. */
static ssize_t sink_write(struct hwpmc_log *log, const void *buf, size_t len)
{
	const struct cred *old = override_creds(log->file->f_cred);
	ssize_t n;

	n = kernel_write(log->file, buf, len, log->seekable ? &log->pos : NULL);
	revert_creds(old);
	return n;
}

/* Waits until the file takes more, or a while. */
static void sink_wait(struct hwpmc_log *log)
{
	struct poll_wqueues wait;

	poll_initwait(&wait);
	if (!(vfs_poll(log->file, &wait.pt) & (EPOLLOUT | EPOLLERR))) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!READ_ONCE(wait.triggered))
			schedule_timeout(RETRY_INTERVAL);
		__set_current_state(TASK_RUNNING);
	}
	poll_freewait(&wait);
}

static void sink_error(struct hwpmc_owner *o, int err)
{
	WRITE_ONCE(o->log.error, err);
	/* first the signal: who waits in poll() has it when that returns */
	kill_fasync(&o->fasync, SIGIO, POLL_ERR);
	wake_up_all(&o->log.waitq);
}

/* Bytes of the buffer that the file took; fewer after an error or an abort. */
static u32 write_out(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	u32 off = 0;
	ssize_t n;

	while (off < log->used && !log->error && !READ_ONCE(log->abort)) {
		n = sink_write(log, log->buf + off, log->used - off);
		switch (n) {
		case -EAGAIN:
			sink_wait(log);
			break;
		case -EINTR:
		case -ERESTARTSYS:
		case -ERESTARTNOINTR:
		case -ERESTARTNOHAND:
		case -ERESTART_RESTARTBLOCK:
			break;
		case 0:
			sink_error(o, -EIO);
			break;
		default:
			if (n < 0)
				sink_error(o, n);
			else
				off += n;
		}
	}
	return off;
}

/* Counts what is whole in the first @bytes of the buffer. */
static void count_written(struct hwpmc_log *log, u32 bytes, u64 *samples,
			  u64 *records)
{
	u32 at, header;

	*samples = 0;
	*records = 0;
	for (at = 0; at + sizeof(header) <= bytes;
	     at += PMCLOG_HEADER_LEN(header)) {
		memcpy(&header, log->buf + at, sizeof(header));
		if (at + PMCLOG_HEADER_LEN(header) > bytes)
			break;
		++*records;
		*samples += PMCLOG_HEADER_TYPE(header) == PMCLOG_T_CALLCHAIN;
	}
}

/*
 * sink_flush - write the buffer out, or account for what could not be
 */
void sink_flush(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	u64 samples, records;
	u32 bytes;

	if (!log->used)
		return;
	bytes = write_out(o);
	count_written(log, bytes, &samples, &records);
	atomic64_add(bytes, &log->bytes);
	atomic64_add(records, &log->records);
	atomic64_add(samples, &log->written);
	atomic64_add(log->buf_samples - samples, &log->discarded);
	log->lost_here += log->buf_samples - samples;
	if (log->seekable)	/* where the next writer goes on */
		log->file->f_pos = log->pos;
	log->used = 0;
	log->buf_samples = 0;
}
