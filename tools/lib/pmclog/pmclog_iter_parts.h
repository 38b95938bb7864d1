/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the parts of the iterator.  Private to the library.
 * pmclog_iter.c finds and returns records, pmclog_iter_bytes.c reads their bytes,
 * and pmclog_iter_recover.c finds the next record after a damaged one.
 */
#ifndef PMCLOG_ITER_PARTS_H
#define PMCLOG_ITER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmclog_era.h"
#include "pmclog_iter.h"
#include "pmclog_pack.h"

/*
 * The bytes read and not yet returned are a window [p, end) in the buffer (or in
 * the caller's memory).  A record is checked in place.  Bytes move only when the
 * end of the buffer cuts a record.  A pack stays at the start of the window until
 * the last of its samples has been returned.
 *
 * If the memory may change, the buffer has a copy of the current record.
 */
enum source { SOURCE_FD, SOURCE_MEM, SOURCE_FEED, SOURCE_WINDOW };

struct pmclog_iter {
	const unsigned char *p;
	const unsigned char *end;
	uint64_t offset;	/* of p in the stream */
	uint64_t serial;
	struct pmclog_session session;
	struct pmclog_pack *pack;	/* allocated at the first pack */
	uint32_t inside;	/* length of the current pack, or 0 */
	uint32_t owed;		/* the same, until a sample's @stored has it */
	int raw;
	unsigned char *buf;
	size_t size;
	enum source source;
	struct pmclog_source *from;	/* of SOURCE_FD */
	pmclog_window_fn window;	/* of SOURCE_WINDOW */
	void *window_ctx;
	const char *error;
	uint64_t error_offset;
	bool damaged;		/* the error is damage in the log */
	char text[80];		/* an error with a changing part */
	bool resync;
	bool lost;		/* looking for a record */
	bool bad;		/* no record begins at @p */
	bool held;		/* lost at the end: [p, end) is skipped, unless more follows */
	bool guessed;		/* the format, without INITIALIZE */
	uint64_t gaps, gap_first, gap_end, skipped;
};

static inline void pmclog_iter_step(struct pmclog_iter *it, size_t len)
{
	it->p += len;
	it->offset += len;
}

/* pmclog_iter_bytes.c */

/* Does not move the window, so the next call finds the same fault. */
enum pmclog_iter_status pmclog_iter_fail(struct pmclog_iter *it,
					 const char *error);
/* The same for damage in the log. */
enum pmclog_iter_status pmclog_iter_damaged(struct pmclog_iter *it,
					    const char *error);
/*
 * The stream ends here for now.  A file may still grow, so this state is not
 * permanent, even within a record.
 */
enum pmclog_iter_status pmclog_iter_at_end(struct pmclog_iter *it);
/* Reads more bytes.  RECORD: the window has more now. */
enum pmclog_iter_status pmclog_iter_more(struct pmclog_iter *it);
/* Maps the window at the current offset; finds out if the log was cut. */
enum pmclog_iter_status pmclog_iter_move(struct pmclog_iter *it);

/* pmclog_iter_recover.c */

/* Counts @n bytes from @offset on as skipped. */
void pmclog_iter_count_gap(struct pmclog_iter *it, uint64_t offset, size_t n);
/* Searches the next record after damage; RECORD: found. */
enum pmclog_iter_status pmclog_iter_go_on(struct pmclog_iter *it);
/* Handles an error.  RECORD: the iterator can continue with a record. */
enum pmclog_iter_status pmclog_iter_recover(struct pmclog_iter *it);
/*
 * A place that seems damaged may be one where the log was cut meanwhile; then it
 * is the end of the log.  ERROR: it is not.
 */
enum pmclog_iter_status pmclog_iter_cut_here(struct pmclog_iter *it);

#endif /* PMCLOG_ITER_PARTS_H */
