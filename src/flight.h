/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight recorder's window: see flight.c.  All of it is the writing thread's,
 * but for its beginning, before that runs.
 */
#ifndef HWPMC_FLIGHT_H
#define HWPMC_FLIGHT_H

#include "hwpmc.h"

#define FLIGHT_SEGMENTS	8
#define FLIGHT_MIN	(256ULL << 10)
#define FLIGHT_MAX	(4ULL << 30)
#define FLIGHT_BUFFER	(8U << 10)	/* at least: two of the longest records */

/**
 * struct flight_segment - records that are given up together
 * @data, @used: whole records; packs name no table's slot of before
 * @since: all that is in it has this stamp or a later one
 * @start: the account of all before it
 * @base:  all processes as they are at its start; mostly empty
 */
struct flight_segment {
	u8		*data;
	u32		used;
	u64		since;
	struct pmclog_account start;
	struct list_head base;
};

/**
 * struct flight - the last part of a log
 * @room: bytes of a segment
 * @first, @n: the oldest segment, and how many are in use: at least one
 * @base: what there is to know at the start of the oldest: chunks of records
 *	whose stamps do not count
 * @base_limit: bytes of it, from which on it is to be made anew
 * @renew: it is; @renewing: and that is in some segment
 * @barren: there was no memory for what falls out of the oldest
 * @lost: a record of the base is, and all has to be told again; @lost_meta: also
 *	what the user has written
 * @hush: turns for which that is not done again; @still: there was reason to
 * @begun: the first records of the log have come
 */
struct flight {
	u32		room;
	unsigned int	first, n;
	struct flight_segment seg[FLIGHT_SEGMENTS];
	struct list_head base;
	size_t		base_bytes;
	u64		base_records;
	size_t		base_limit;
	bool		renew, renewing;
	bool		barren;
	bool		lost, lost_meta, still;
	unsigned int	hush;
	bool		begun;
};

/* The @i'th, from the oldest. */
static inline struct flight_segment *flight_seg(struct flight *f, unsigned int i)
{
	return &f->seg[(f->first + i) % FLIGHT_SEGMENTS];
}

static inline struct flight_segment *flight_last(struct flight *f)
{
	return flight_seg(f, f->n - 1);
}

void flight_account(struct hwpmc_owner *o, struct pmclog_account *a);

/* flight.c: the window of a flight recorder */
bool flight_size_ok(u64 size);
int flight_attach(struct hwpmc_owner *o, u64 size);
void flight_free(struct hwpmc_owner *o);

/* snapshot.c: ioctl side, under owner->mutex; then the writing thread's */
int snapshot(struct hwpmc_owner *o, const struct hwpmc_snapshot *s);
bool snapshot_wanted(struct hwpmc_log *log, const struct log_request *r);
void snapshot_answer(struct hwpmc_owner *o);
void snapshot_forget(struct hwpmc_owner *o);

#endif /* HWPMC_FLIGHT_H */
