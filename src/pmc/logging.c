// SPDX-License-Identifier: GPL-2.0-only
/*
 * What begins and ends a log, and what else takes more than the log: its rings, the
 * hooks, the counts of PMCs.
 *
 * Under owner->mutex and owner->cpus_mutex.
 */
#include <linux/file.h>

#include "hwpmc.h"
#include "log/flight.h"
#include "pmc.h"
#include "sample/sample.h"
#include "target/hooks.h"

/* @file: NULL for a log without a file; else the log takes over the reference */
static int begin_log(struct hwpmc_owner *o, struct file *file,
		     const struct hwpmc_configurelog *c)
{
	/*
	 * No first target can appear here: attaches also need owner->mutex.  If
	 * there are targets, their attaches hold HOOK_TASKS.
	 */
	bool follow = !list_empty(&o->targets);
	int err;

	err = hwpmc_hotplug_add_owner(o);
	if (!err)
		err = hwpmc_hotplug_begin_rings(o);
	if (err)
		return err;
	hwpmc_pmc_forget_logged(o);
	err = hwpmc_log_begin(o, file, c);
	if (err)
		return err;
	if (follow) {
		hwpmc_hooks_join(o);
		hwpmc_log_want_dump(o);
	}
	return 0;
}

/*
 * hwpmc_logging_begin_end - stop everything that needs the log, and let the thread
 * write the rest
 */
void hwpmc_logging_begin_end(struct hwpmc_owner *o)
{
	if (!hwpmc_log_active(o))
		return;
	hwpmc_pmc_stop_logging(o);
	hwpmc_chain_deferred_forget(o);
	hwpmc_hooks_unfollow(o);
	hwpmc_log_begin_end(o);
}

/*
 * Ends the log.  If the wait is interrupted, the log still ends, later.  Does not
 * wait for the reader of the device, because the caller may be the reader.
 */
static int end_log(struct hwpmc_owner *o)
{
	hwpmc_logging_begin_end(o);
	return hwpmc_stream_state(o) == STREAM_NONE ? hwpmc_log_await_end(o) : 0;
}

/* Checks the flags of a log with a file, or without one. */
static bool flags_ok(const struct hwpmc_configurelog *c)
{
	if (c->fd >= 0)
		return !(c->flags & ~HWPMC_LOG_PACKED) && !c->size;
	if (c->flags & HWPMC_LOG_STREAM)
		return !(c->flags & ~(HWPMC_LOG_STREAM | HWPMC_LOG_PACKED)) &&
		       hwpmc_stream_size_ok(c->size);
	if (c->flags & HWPMC_LOG_FLIGHT)
		return !(c->flags & ~(HWPMC_LOG_FLIGHT | HWPMC_LOG_PACKED)) &&
		       hwpmc_flight_size_ok(c->size);
	return !c->flags && !c->size;
}

/*
 * hwpmc_logging_configure - CONFIGURELOG
 *
 * EBUSY: a log is configured, or part of the last one has not been read.  EBADF:
 * the fd is not open for writing.  EINVAL: negative fd without a log, or a file
 * that cannot be used for a log.  ENOMEM, EDQUOT.  EINTR: interrupted while the rest
 * of the log was being written; the writing continues.
 */
int hwpmc_logging_configure(struct hwpmc_owner *o,
			    const struct hwpmc_configurelog *c)
{
	struct file *file = NULL;
	int err, there;

	if (!flags_ok(c))
		return -EINVAL;
	there = hwpmc_log_there(o);
	if (there < 0)
		return there;
	if (c->fd < 0 && !c->flags)
		return there ? end_log(o) : -EINVAL;
	if (there)
		return -EBUSY;
	if (c->fd >= 0)
		file = hwpmc_log_get_file(c->fd);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = begin_log(o, file, c);
	if (err && file)
		fput(file);
	return err;
}

/*
 * hwpmc_logging_close - CLOSELOG: like CONFIGURELOG(-1), but returns a write error
 *
 * An error that is already pending is returned, and the log stays open.
 */
int hwpmc_logging_close(struct hwpmc_owner *o)
{
	int err = hwpmc_log_there(o);

	if (err <= 0)
		return err ?: -EINVAL;
	err = READ_ONCE(o->log.error);
	if (!err)
		err = end_log(o);
	return err ? err : READ_ONCE(o->log.error);
}

/*
 * hwpmc_logging_drop - end a log that is read from the device, before the user
 * learns of it
 */
void hwpmc_logging_drop(struct hwpmc_owner *o)
{
	if (!hwpmc_log_active(o) || hwpmc_stream_state(o) == STREAM_NONE)
		return;
	WRITE_ONCE(o->log.abort, true);
	hwpmc_logging_begin_end(o);
	hwpmc_log_forget(o);
}

/*
 * hwpmc_logging_rotate - ROTATELOG: the old log ends, the log in @fd begins, no PMC
 * stops
 *
 * Errors: those of hwpmc_log_get_place() and hwpmc_log_rotate().
 */
int hwpmc_logging_rotate(struct hwpmc_owner *o, int fd, u32 flags)
{
	struct log_place to = {};
	int err = hwpmc_log_get_place(o, fd, flags, &to);

	if (err)
		return err;
	hwpmc_pmc_refresh_all(o);
	return hwpmc_log_rotate(o, &to);
}

/*
 * hwpmc_logging_snapshot - SNAPSHOT
 *
 * EINVAL: no flight recorder, an unknown flag, nothing to disarm, or a file
 * that cannot take a log.  EBADF.  EINTR: cancelled.  Or the error of the file.
 */
int hwpmc_logging_snapshot(struct hwpmc_owner *o, const struct hwpmc_snapshot *s)
{
	struct file *file;

	if (s->flags & ~HWPMC_SNAPSHOT_ARM)
		return -EINVAL;
	/* also for a log whose end waits for its snapshot */
	if (s->fd < 0 && s->flags)
		return hwpmc_snapshot_disarm(o);
	if (!hwpmc_log_active(o) || !o->log.flight)
		return -EINVAL;
	file = hwpmc_log_get_file(s->fd);
	if (IS_ERR(file))
		return PTR_ERR(file);
	if (s->flags)
		return hwpmc_snapshot_arm(o, file);
	hwpmc_pmc_refresh_all(o);	/* for the rates */
	return hwpmc_snapshot_take(o, file);
}
