/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log that is read from the device.
 */
#ifndef HWPMC_STREAM_H
#define HWPMC_STREAM_H

#include <linux/list.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct hwpmc_owner;
struct iov_iter;

enum stream_state {
	STREAM_NONE,	/* no log that can be read */
	STREAM_OPEN,	/* the thread writes to it */
	STREAM_ENDED,	/* complete, not yet read to its end */
	STREAM_READ,	/* read to its end: the next log may begin */
};

/**
 * struct log_stream - the data for read(2): see stream.c
 * @lock: protects all fields unless stated otherwise
 * @chunks: appended by the writer thread, removed by the reader
 * @queued: bytes of @chunks, and of the one that is about to be appended
 * @limit: bytes that may wait; constant while the log lasts
 * @charged: LIMIT_RING_BYTES charged: @limit, or @queued if that is more
 * @full:  the writer thread waits for the reader ...
 * @stuck: ... during a dump that an ioctl waits for
 * @taken: the reader has made room since the thread last tried to write
 * @reading: a process is in read(2); the log stays meanwhile: @state is OPEN or ENDED
 * @at:    the reader's: offset in the first chunk
 */
struct log_stream {
	spinlock_t	lock;
	enum stream_state state;
	struct list_head chunks;
	u64		queued;
	u64		limit;
	u64		charged;
	bool		full;
	bool		stuck;
	bool		taken;
	bool		reading;
	u32		at;
};

void hwpmc_stream_init(struct log_stream *s);
bool hwpmc_stream_size_ok(u64 size);
int hwpmc_stream_attach(struct hwpmc_owner *o, u64 size);
void hwpmc_stream_begin(struct hwpmc_owner *o);
void hwpmc_stream_detach(struct hwpmc_owner *o);
void hwpmc_stream_drop(struct hwpmc_owner *o);
enum stream_state hwpmc_stream_state(struct hwpmc_owner *o);
bool hwpmc_stream_full(struct hwpmc_owner *o);
bool hwpmc_stream_stuck(struct hwpmc_owner *o);
__poll_t hwpmc_stream_poll(struct hwpmc_owner *o);
ssize_t hwpmc_stream_read(struct hwpmc_owner *o, struct iov_iter *to,
			  bool may_wait);

#endif /* HWPMC_STREAM_H */
