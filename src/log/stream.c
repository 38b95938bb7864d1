// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device.
 *
 * The writer thread appends its buffers, each as a chunk of whole records.  It
 * waits while the queue has more bytes than the log is to keep ready.  Then the
 * rings fill, and records that do not fit are dropped and counted, as with a
 * slow pipe.  The thread does not wait while an ioctl waits for a dump of
 * processes: a program with one thread that starts its PMCs before it reads
 * must get to read.
 *
 * There is one reader at a time.  It holds no lock while it copies: the first
 * chunk stays until the reader removes it, and other chunks are only added
 * behind it.  The log stays while there is a reader.  The log is over when a
 * reader has read its end.
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "hwpmc.h"
#include "sink.h"

#define STREAM_DEF	(1 << 20)
#define STREAM_MIN	(64 << 10)
#define STREAM_MAX	(1 << 30)
#define RETRY_INTERVAL	(HZ / 20)	/* while there is no memory */

/* suspend freezes a reader in place, and does not interrupt its wait */
#define WAIT_STATE	(TASK_INTERRUPTIBLE | TASK_FREEZABLE)

struct stream_chunk {
	struct list_head list;
	u32		len;
	u8		data[];
};

void hwpmc_stream_init(struct log_stream *s)
{
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->chunks);
}

bool hwpmc_stream_size_ok(u64 size)
{
	return !size || (size >= STREAM_MIN && size <= STREAM_MAX);
}

static enum stream_state stream_state_of(struct log_stream *s)
{
	enum stream_state state;

	spin_lock(&s->lock);
	state = s->state;
	spin_unlock(&s->lock);
	return state;
}

enum stream_state hwpmc_stream_state(struct hwpmc_owner *o)
{
	return stream_state_of(&o->log.stream);
}

/* The thread waits for the reader: the queue is full.  Any process context. */
bool hwpmc_stream_full(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	bool full;

	spin_lock(&s->lock);
	full = s->full;
	spin_unlock(&s->lock);
	return full;
}

/* ... and an awaited dump of processes gets no more memory. */
bool hwpmc_stream_stuck(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	bool stuck;

	spin_lock(&s->lock);
	stuck = s->stuck;
	spin_unlock(&s->lock);
	return stuck;
}

/* ------------------------------------------------------------------------
 * The writer thread
 */

/* A dump of processes may use an eighth of the memory beyond the limit. */
static u64 stream_dump_limit(const struct log_stream *s)
{
	return s->limit + ((u64)totalram_pages() << PAGE_SHIFT >> 3);
}

/* Under log.stream.lock.  Charges all of @cost or nothing. */
static bool stream_charge(struct hwpmc_owner *o, u64 cost)
{
	struct log_stream *s = &o->log.stream;
	u64 sum = s->queued + cost;

	if (sum > stream_dump_limit(s))
		return false;
	if (sum > s->charged) {
		if (hwpmc_limit_charge(o, LIMIT_RING_BYTES, sum - s->charged))
			return false;
		s->charged = sum;
	}
	s->queued = sum;
	return true;
}

/* Under log.stream.lock. */
static void stream_uncharge(struct hwpmc_owner *o, u64 cost)
{
	struct log_stream *s = &o->log.stream;
	u64 keep;

	s->queued -= cost;
	keep = max(s->queued, s->limit);
	if (s->charged > keep) {
		hwpmc_limit_release(o, LIMIT_RING_BYTES, s->charged - keep);
		s->charged = keep;
	}
}

/*
 * Does an ioctl wait for a dump of processes?  No ioctl waits for dumps of
 * processes that fork while a log begins: those can wait for the reader.
 */
static bool dump_awaited(struct hwpmc_log *log)
{
	bool awaited;

	spin_lock(&log->lock);
	awaited = log->req.dump_awaited > log->req.dump_done;
	spin_unlock(&log->lock);
	return awaited;
}

static bool stream_make_room(struct hwpmc_owner *o, u64 cost)
{
	struct log_stream *s = &o->log.stream;
	bool dump = dump_awaited(&o->log);
	bool over, good;

	spin_lock(&s->lock);
	WRITE_ONCE(s->taken, false);
	over = s->queued && s->queued + cost > s->limit;
	good = (!over || dump) && stream_charge(o, cost);
	s->full = !good;
	s->stuck = !good && dump;
	spin_unlock(&s->lock);
	if (!good)	/* a waiter for the write may be the reader itself */
		wake_up_all(&o->log.waitq);
	return good;
}

static u64 cost_of(u32 len)
{
	return sizeof(struct stream_chunk) + len;
}

static struct stream_chunk *chunk_new(struct hwpmc_log *log, const void *buf,
				      u32 len)
{
	struct stream_chunk *c = hwpmc_chunk_alloc(log, cost_of(len));

	if (!c)
		return NULL;
	c->len = len;
	memcpy(c->data, buf, len);
	return c;
}

/* Takes all of @buf or nothing, so that records stay whole. */
static ssize_t stream_write(struct hwpmc_owner *o, const void *buf, u32 len)
{
	struct log_stream *s = &o->log.stream;
	bool dump = dump_awaited(&o->log);
	struct stream_chunk *c;

	if (!stream_make_room(o, cost_of(len)))
		return -EAGAIN;
	c = chunk_new(&o->log, buf, len);
	spin_lock(&s->lock);
	if (c) {
		list_add_tail(&c->list, &s->chunks);
	} else {
		stream_uncharge(o, cost_of(len));
		/* the queue has the memory: only the reader can free it */
		s->full = s->queued;
		s->stuck = s->full && dump;
	}
	spin_unlock(&s->lock);
	wake_up_all(&o->log.waitq);
	if (!c)		/* no "?:" with @len, which would make it positive */
		return -EAGAIN;
	return len;
}

/*
 * A reader, or a request for a dump, wakes the thread.  A lost wake-up costs
 * one interval.
 */
static void stream_wait(struct hwpmc_owner *o)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (!READ_ONCE(o->log.stream.taken))
		schedule_timeout(RETRY_INTERVAL);
	__set_current_state(TASK_RUNNING);
}

/* The log is complete.  The reader can still read the queue. */
static void stream_end(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;

	spin_lock(&s->lock);
	s->state = STREAM_ENDED;
	s->full = false;
	s->stuck = false;
	spin_unlock(&s->lock);
	wake_up_all(&o->log.waitq);
}

static const struct sink_ops sink_stream = {
	.write	= stream_write,
	.wait	= stream_wait,
	.end	= stream_end,
	.prompt	= true,
};

/* ------------------------------------------------------------------------
 * ioctls, under owner->mutex; and the end of all
 */

/*
 * hwpmc_stream_attach - send the next log to a reader of the device
 * @size: bytes to keep ready; 0: the default
 *
 * Returns -EDQUOT if the user may not have that much.  The log cannot be read
 * yet.
 */
int hwpmc_stream_attach(struct hwpmc_owner *o, u64 size)
{
	struct log_stream *s = &o->log.stream;
	u64 limit = size ?: STREAM_DEF;

	if (hwpmc_limit_charge(o, LIMIT_RING_BYTES, limit))
		return -EDQUOT;
	s->limit = limit;
	s->charged = limit;
	o->log.sink = &sink_stream;
	/* the queue has room for several buffers */
	o->log.out.size = min_t(u64, o->log.out.size, limit / 4);
	return 0;
}

/* The thread runs: from here on the log can be read. */
void hwpmc_stream_begin(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;

	if (o->log.sink != &sink_stream)
		return;
	spin_lock(&s->lock);
	s->state = STREAM_OPEN;
	spin_unlock(&s->lock);
	hwpmc_log_kick(o);	/* the beginning of the log is there at once */
}

/* No thread writes to the log, and no process reads it. */
void hwpmc_stream_detach(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	struct stream_chunk *c, *next;

	list_for_each_entry_safe(c, next, &s->chunks, list)
		kvfree(c);
	INIT_LIST_HEAD(&s->chunks);
	spin_lock(&s->lock);
	hwpmc_limit_release(o, LIMIT_RING_BYTES, s->charged);
	s->charged = 0;
	s->queued = 0;
	s->state = STREAM_NONE;
	spin_unlock(&s->lock);
}

/*
 * hwpmc_stream_drop - discard the log; no thread writes to it any more
 *
 * A process that is in read(2) just now has found the log, and reads to its
 * end.
 */
void hwpmc_stream_drop(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	bool reading;

	spin_lock(&s->lock);
	reading = s->reading;
	if (!reading) {
		s->state = STREAM_NONE;		/* no reader enters any more */
		s->at = 0;
	}
	spin_unlock(&s->lock);
	if (!reading)
		hwpmc_stream_detach(o);
}

/* ------------------------------------------------------------------------
 * read(2) and poll(2): no owner->mutex, its holder may wait for the reader
 */

/* Is there a record, or the end of the log? */
static bool stream_is_readable(struct log_stream *s)
{
	bool yes;

	spin_lock(&s->lock);
	yes = s->state > STREAM_OPEN || !list_empty(&s->chunks);
	spin_unlock(&s->lock);
	return yes;
}

__poll_t hwpmc_stream_poll(struct hwpmc_owner *o)
{
	return stream_is_readable(&o->log.stream) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Bytes of @c from @at on that are whole records, @room at most. */
static u32 whole_records(const struct stream_chunk *c, u32 at, size_t room)
{
	u32 bytes = 0, header, len;

	while (at + bytes < c->len) {
		memcpy(&header, c->data + at + bytes, sizeof(header));
		len = PMCLOG_HEADER_LEN(header);
		if (len > room - bytes)
			break;
		bytes += len;
	}
	return bytes;
}

static struct stream_chunk *first_chunk(struct log_stream *s)
{
	struct stream_chunk *c;

	spin_lock(&s->lock);
	c = list_first_entry_or_null(&s->chunks, struct stream_chunk, list);
	spin_unlock(&s->lock);
	return c;
}

static void drop_chunk(struct hwpmc_owner *o, struct stream_chunk *c)
{
	struct log_stream *s = &o->log.stream;

	s->at = 0;
	spin_lock(&s->lock);
	list_del(&c->list);
	stream_uncharge(o, cost_of(c->len));
	s->full = false;
	s->stuck = false;
	WRITE_ONCE(s->taken, true);
	spin_unlock(&s->lock);
	kvfree(c);
	/* this log's thread: the next log does not begin during a read */
	wake_up_process(READ_ONCE(o->log.task));
}

/*
 * Copies as many whole records as fit.  After a fault, a record that was copied
 * in part stays queued, although bytes of it may be behind the copied ones.
 */
static ssize_t stream_copy_records(struct hwpmc_owner *o, struct iov_iter *to)
{
	struct log_stream *s = &o->log.stream;
	struct stream_chunk *c;
	ssize_t done = 0;
	size_t n;
	u32 run;

	while (iov_iter_count(to) && (c = first_chunk(s))) {
		run = whole_records(c, s->at, iov_iter_count(to));
		if (!run)
			return done ?: -EMSGSIZE;
		n = copy_to_iter(c->data + s->at, run, to);
		if (n < run) {
			run = whole_records(c, s->at, n);
			iov_iter_revert(to, n - run);
			s->at += run;
			return done + run ?: -EFAULT;
		}
		s->at += run;
		done += run;
		if (s->at == c->len)
			drop_chunk(o, c);
	}
	return done;
}

/*
 * The log stays until reader_leave().  Returns 1 if the caller is the reader
 * now, 0 if the end has been read already.
 */
static int reader_enter(struct log_stream *s)
{
	int ret = -EINVAL;

	spin_lock(&s->lock);
	switch (s->state) {
	case STREAM_OPEN:
	case STREAM_ENDED:
		ret = s->reading ? -EBUSY : 1;
		s->reading = true;
		break;
	case STREAM_READ:
		ret = 0;
		break;
	case STREAM_NONE:
		break;
	}
	spin_unlock(&s->lock);
	return ret;
}

static void reader_leave(struct hwpmc_owner *o, bool told_end)
{
	struct log_stream *s = &o->log.stream;

	spin_lock(&s->lock);
	s->reading = false;
	if (told_end) {
		s->state = STREAM_READ;
		/* nothing is queued any more, and nothing will be */
		hwpmc_limit_release(o, LIMIT_RING_BYTES, s->charged);
		s->charged = 0;
	}
	spin_unlock(&s->lock);
}

static ssize_t read_records(struct hwpmc_owner *o, struct iov_iter *to,
			    bool may_wait)
{
	struct log_stream *s = &o->log.stream;
	int err = 0;

	if (may_wait)
		err = wait_event_state(o->log.waitq, stream_is_readable(s),
				       WAIT_STATE);
	else if (!stream_is_readable(s))
		err = -EAGAIN;
	return err ?: stream_copy_records(o, to);
}

/*
 * hwpmc_stream_read - read(2): whole records, as many as fit, in the order of
 * the log
 *
 * Waits for the first record. 0: the end.  EINVAL: there is no such log.
 * EBUSY: another read is under way.  EMSGSIZE: not even one record fits.
 * EAGAIN: no record, and the caller does not want to wait.  EINTR, EFAULT.
 */
ssize_t hwpmc_stream_read(struct hwpmc_owner *o, struct iov_iter *to,
			  bool may_wait)
{
	struct log_stream *s = &o->log.stream;
	ssize_t ret;

	if (!iov_iter_count(to))
		return 0;
	ret = reader_enter(s);
	if (ret <= 0)
		return ret;
	ret = read_records(o, to, may_wait);
	reader_leave(o, !ret);
	return ret;
}
