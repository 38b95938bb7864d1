// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log that is read from the device.
 *
 * The writing thread appends its buffers, each as a chunk of whole records, and
 * waits while there are more bytes than the log is to keep ready: then the rings
 * fill, and what does not fit there is dropped and counted, as with a slow pipe.
 * It does not wait while an ioctl waits for it to tell of processes: a program
 * of one thread, that starts its PMCs before it reads, must come to read.
 *
 * There is one reader at a time, and none of him holds a lock while he copies:
 * the first chunk stays until he takes it out, others are only added behind.
 * While there is one, the log stays, too: it is over when he has been told so.
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

/* suspend freezes who reads where he is: he is not to notice */
#define WAIT_STATE	(TASK_INTERRUPTIBLE | TASK_FREEZABLE)

struct stream_chunk {
	struct list_head list;
	u32		len;
	u8		data[];
};

void stream_init(struct log_stream *s)
{
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->chunks);
}

bool stream_size_ok(u64 size)
{
	return !size || (size >= STREAM_MIN && size <= STREAM_MAX);
}

static enum stream_state state_of(struct log_stream *s)
{
	enum stream_state state;

	spin_lock(&s->lock);
	state = s->state;
	spin_unlock(&s->lock);
	return state;
}

enum stream_state stream_state(struct hwpmc_owner *o)
{
	return state_of(&o->log.stream);
}

/* More than may be queued waits for the reader.  Any process context. */
bool stream_full(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	bool full;

	spin_lock(&s->lock);
	full = s->full;
	spin_unlock(&s->lock);
	return full;
}

/* ... and so much of processes that no more can be had for them. */
bool stream_stuck(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	bool stuck;

	spin_lock(&s->lock);
	stuck = s->stuck;
	spin_unlock(&s->lock);
	return stuck;
}

/* ------------------------------------------------------------------------
 * The writing thread
 */

/* What there is to tell of processes may take an eighth of the memory. */
static u64 most(const struct log_stream *s)
{
	return s->limit + ((u64)totalram_pages() << PAGE_SHIFT >> 3);
}

/* log.stream.lock.  Nothing is taken if it cannot be. */
static bool charge(struct hwpmc_owner *o, u64 cost)
{
	struct log_stream *s = &o->log.stream;
	u64 sum = s->queued + cost;

	if (sum > most(s))
		return false;
	if (sum > s->charged) {
		if (limit_charge(o, LIMIT_RING_BYTES, sum - s->charged))
			return false;
		s->charged = sum;
	}
	s->queued = sum;
	return true;
}

/* log.stream.lock. */
static void uncharge(struct hwpmc_owner *o, u64 cost)
{
	struct log_stream *s = &o->log.stream;
	u64 keep;

	s->queued -= cost;
	keep = max(s->queued, s->limit);
	if (s->charged > keep) {
		limit_release(o, LIMIT_RING_BYTES, s->charged - keep);
		s->charged = keep;
	}
}

/*
 * An ioctl waits for a dump of processes.  For those that are forked while a log
 * begins nobody does: these dumps can wait for the reader.
 */
static bool dump_awaited(struct hwpmc_log *log)
{
	bool awaited;

	spin_lock(&log->lock);
	awaited = log->req.dump_awaited > log->req.dump_done;
	spin_unlock(&log->lock);
	return awaited;
}

static bool make_room(struct hwpmc_owner *o, u64 cost)
{
	struct log_stream *s = &o->log.stream;
	bool dump = dump_awaited(&o->log);
	bool over, good;

	spin_lock(&s->lock);
	WRITE_ONCE(s->taken, false);
	over = s->queued && s->queued + cost > s->limit;
	good = (!over || dump) && charge(o, cost);
	s->full = !good;
	s->stuck = !good && dump;
	spin_unlock(&s->lock);
	if (!good)	/* who waits for it to be written waits for himself */
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
	struct stream_chunk *c = log_alloc(log, cost_of(len));

	if (!c)
		return NULL;
	c->len = len;
	memcpy(c->data, buf, len);
	return c;
}

/* All of it or nothing: records stay whole. */
static ssize_t stream_write(struct hwpmc_owner *o, const void *buf, u32 len)
{
	struct log_stream *s = &o->log.stream;
	bool dump = dump_awaited(&o->log);
	struct stream_chunk *c;

	if (!make_room(o, cost_of(len)))
		return -EAGAIN;
	c = chunk_new(&o->log, buf, len);
	spin_lock(&s->lock);
	if (c) {
		list_add_tail(&c->list, &s->chunks);
	} else {
		uncharge(o, cost_of(len));
		/* what is queued has the memory: only the reader can help */
		s->full = s->queued;
		s->stuck = s->full && dump;
	}
	spin_unlock(&s->lock);
	wake_up_all(&o->log.waitq);
	return c ? len : -EAGAIN;
}

/* Who reads, or asks for a dump, wakes us; a wake-up lost costs an interval. */
static void stream_wait(struct hwpmc_owner *o)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (!READ_ONCE(o->log.stream.taken))
		schedule_timeout(RETRY_INTERVAL);
	__set_current_state(TASK_RUNNING);
}

/* The reader is left alone with what there is. */
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
};

/* ------------------------------------------------------------------------
 * ioctls, under owner->mutex; and the end of all
 */

/*
 * stream_attach - the log to come goes to a reader of the device
 * @size: bytes to keep ready; 0: the usual
 *
 * -EDQUOT: more than the user can have.  Nobody can read yet.
 */
int stream_attach(struct hwpmc_owner *o, u64 size)
{
	struct log_stream *s = &o->log.stream;
	u64 limit = size ?: STREAM_DEF;

	if (limit_charge(o, LIMIT_RING_BYTES, limit))
		return -EDQUOT;
	s->limit = limit;
	s->charged = limit;
	o->log.sink = &sink_stream;
	/* several buffers have room in the queue */
	o->log.size = min_t(u64, o->log.size, limit / 4);
	return 0;
}

/* The thread runs: from here on it can be read. */
void stream_begin(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;

	if (o->log.sink != &sink_stream)
		return;
	spin_lock(&s->lock);
	s->state = STREAM_OPEN;
	spin_unlock(&s->lock);
	log_kick(o);	/* what a log begins with is there at once */
}

/* No thread writes to it, and nobody reads it. */
void stream_detach(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	struct stream_chunk *c, *next;

	list_for_each_entry_safe(c, next, &s->chunks, list)
		kvfree(c);
	INIT_LIST_HEAD(&s->chunks);
	spin_lock(&s->lock);
	limit_release(o, LIMIT_RING_BYTES, s->charged);
	s->charged = 0;
	s->queued = 0;
	s->state = STREAM_NONE;
	spin_unlock(&s->lock);
}

/*
 * stream_drop - there was no such log; no thread writes to it any more
 *
 * Who is in read(2) just now has found it all the same, and reads to its end.
 */
void stream_drop(struct hwpmc_owner *o)
{
	struct log_stream *s = &o->log.stream;
	bool reading;

	spin_lock(&s->lock);
	reading = s->reading;
	if (!reading) {
		s->state = STREAM_NONE;		/* and nobody comes to read */
		s->at = 0;
	}
	spin_unlock(&s->lock);
	if (!reading)
		stream_detach(o);
}

/* ------------------------------------------------------------------------
 * read(2) and poll(2): no mutex, who holds it may be waiting for the reader
 */

/* There is a record, or the end. */
static bool readable(struct log_stream *s)
{
	bool yes;

	spin_lock(&s->lock);
	yes = s->state > STREAM_OPEN || !list_empty(&s->chunks);
	spin_unlock(&s->lock);
	return yes;
}

__poll_t stream_poll(struct hwpmc_owner *o)
{
	return readable(&o->log.stream) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Bytes of @c from @at on that are whole records and no more than @room. */
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
	uncharge(o, cost_of(c->len));
	s->full = false;
	s->stuck = false;
	WRITE_ONCE(s->taken, true);
	spin_unlock(&s->lock);
	kvfree(c);
	/* this log's thread: the next one does not begin while we read */
	wake_up_process(READ_ONCE(o->log.task));
}

/*
 * As many whole records as fit.  Of those that a fault cuts off, the first one
 * is not taken, though bytes of it may have been written behind what is.
 */
static ssize_t take(struct hwpmc_owner *o, struct iov_iter *to)
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
 * From here to reader_leave() the log stays.  1: you are the reader; 0: its end
 * has been told already.
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

static void reader_leave(struct log_stream *s, bool told_end)
{
	spin_lock(&s->lock);
	s->reading = false;
	if (told_end)
		s->state = STREAM_READ;
	spin_unlock(&s->lock);
}

static ssize_t read_records(struct hwpmc_owner *o, struct iov_iter *to,
			    bool may_wait)
{
	struct log_stream *s = &o->log.stream;
	int err = 0;

	if (may_wait)
		err = wait_event_state(o->log.waitq, readable(s), WAIT_STATE);
	else if (!readable(s))
		err = -EAGAIN;
	return err ?: take(o, to);
}

/*
 * stream_read - read(2): whole records, as many as fit, in the order of the log
 *
 * Waits for the first one.  0: the end.  EINVAL: there is no such log.  EBUSY:
 * somebody else reads.  EMSGSIZE: not even one record fits.  EAGAIN: none is
 * there, and the caller does not want to wait.  EINTR, EFAULT.
 */
ssize_t stream_read(struct hwpmc_owner *o, struct iov_iter *to, bool may_wait)
{
	struct log_stream *s = &o->log.stream;
	ssize_t ret;

	if (!iov_iter_count(to))
		return 0;
	ret = reader_enter(s);
	if (ret <= 0)
		return ret;
	ret = read_records(o, to, may_wait);
	reader_leave(s, !ret);
	return ret;
}
