/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight recorder's window: see flight.c.  Only the writer thread uses it, except
 * that it is created before the thread runs.
 */
#ifndef HWPMC_FLIGHT_H
#define HWPMC_FLIGHT_H

#include "hwpmc.h"

#define FLIGHT_SEGMENTS	8
#define FLIGHT_MIN	(256ULL << 10)
#define FLIGHT_MAX	(4ULL << 30)
#define FLIGHT_BUFFER	(8U << 10)	/* at least: two of the longest records */

/**
 * struct flight_segment - records that are discarded together
 * @data, @used: complete records; its packs do not refer to slots of earlier packs
 * @since: no record in it has an earlier stamp
 * @real_ahead: the wall clock before CLOCK_MONOTONIC_RAW then
 * @start: the account of everything before it
 * @base:  all processes as they are at its start; mostly empty
 */
struct flight_segment {
	u8		*data;
	u32		used;
	u64		since;
	u64		real_ahead;
	struct pmclog_account start;
	struct list_head base;
};

/**
 * struct flight - the last part of a log
 * @room: bytes of a segment
 * @first, @n: the oldest segment, and how many are in use: at least one
 * @base: the state at the start of the oldest segment: chunks of records whose
 *	stamps have no meaning
 * @base_limit: if the base has more bytes than this, it is to be rebuilt
 * @renew: the base is to be rebuilt; @renewing: the new base is being made, or
 *	is in a segment that is not the oldest yet
 * @untold: a notice of lost process records was discarded, and the base may lack these
 *	records.  A snapshot writes the notice again, if no new base has come before it
 * @lossy: because of such a loss the base is to be rebuilt, but not before @not_before
 *	(CLOCK_MONOTONIC).  Losses that no base has, as of PROCCSW, are not told apart:
 *	they cost a base
 * @barren: there was no memory for records of the oldest segment
 * @lost: a record of the base is lost, and all must be dumped again; @lost_meta:
 *	also the user's metadata
 * @hush: number of segments for which that is not repeated; @still: a record was
 *	lost in this time
 * @begun: the first records of the log have been written
 */
struct flight {
	u32		room;
	unsigned int	first, n;
	struct flight_segment seg[FLIGHT_SEGMENTS];
	struct list_head base;
	size_t		base_bytes;
	u64		base_records;
	size_t		base_limit;
	bool		renew, renewing, untold, lossy;
	u64		not_before;
	bool		barren;
	bool		lost, lost_meta, still;
	unsigned int	hush;
	bool		begun;
};

/* The @i'th segment, counted from the oldest. */
static inline struct flight_segment *flight_seg(struct flight *f, unsigned int i)
{
	return &f->seg[(f->first + i) % FLIGHT_SEGMENTS];
}

static inline struct flight_segment *flight_last(struct flight *f)
{
	return flight_seg(f, f->n - 1);
}

void hwpmc_flight_account(struct hwpmc_owner *o, struct pmclog_account *a);

/* flight.c: the window of a flight recorder */
bool hwpmc_flight_size_ok(u64 size);
int hwpmc_flight_attach(struct hwpmc_owner *o, u64 size);
void hwpmc_flight_free(struct hwpmc_owner *o);
void hwpmc_flight_tell_losses(struct hwpmc_owner *o);

/* snapshot.c: ioctl side, under owner->mutex; then the writer thread's */
int hwpmc_snapshot_take(struct hwpmc_owner *o, struct file *file);
int hwpmc_snapshot_arm(struct hwpmc_owner *o, struct file *file);
int hwpmc_snapshot_disarm(struct hwpmc_owner *o);
bool hwpmc_snapshot_wanted(struct hwpmc_log *log, const struct log_request *r);
void hwpmc_snapshot_answer(struct hwpmc_owner *o);
void hwpmc_snapshot_forget(struct hwpmc_owner *o);

#endif /* HWPMC_FLIGHT_H */
