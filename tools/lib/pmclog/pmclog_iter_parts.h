/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the iterator share.  Private to the library: records are
 * found and handed out in pmclog_iter.c, out of bytes that pmclog_iter_bytes.c
 * gets; where one is damaged, pmclog_iter_recover.c tells where it goes on.
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
 * The bytes read and not yet handed out are a window [p, end) in the buffer
 * (or in the caller's memory).  A record is checked where it lies; bytes move
 * only when a record is cut by the end of the buffer.  A pack stays at the
 * window's start until the last of its samples has been handed out.
 *
 * Of memory that may change, the buffer has the record that is looked at.
 */
enum source { SOURCE_FD, SOURCE_MEM, SOURCE_FEED, SOURCE_WINDOW };

struct pmclog_iter {
	const unsigned char *p;
	const unsigned char *end;
	uint64_t offset;	/* of p in the stream */
	uint64_t serial;
	struct pmclog_session session;
	struct pmclog_pack *pack;	/* from the first one on */
	uint32_t inside;	/* length of the pack that we are in, or 0 */
	uint32_t owed;		/* the same, before a sample of it had it */
	int raw;
	unsigned char *buf;
	size_t size;
	enum source source;
	struct pmclog_source *from;	/* of SOURCE_FD */
	pmclog_window_fn window;	/* of SOURCE_WINDOW */
	void *window_ctx;
	const char *error;
	uint64_t error_offset;
	bool damaged;		/* the error is the log's own */
	char text[80];		/* an error with a changing part */
	bool resync;
	bool lost;		/* looking for a record */
	bool bad;		/* what is at @p is none */
	bool guessed;		/* what the log is without INITIALIZE */
	uint64_t gaps, gap_first, gap_end, skipped;
};

static inline void pmclog_iter_step(struct pmclog_iter *it, size_t len)
{
	it->p += len;
	it->offset += len;
}

/* pmclog_iter_bytes.c */

/* The record stays where it is, so the next call finds the same fault. */
enum pmclog_iter_status pmclog_iter_fail(struct pmclog_iter *it,
					 const char *error);
/* The same when it is the log's own. */
enum pmclog_iter_status pmclog_iter_damaged(struct pmclog_iter *it,
					    const char *error);
/*
 * The stream ends here for now.  A file may still grow, so this is not for
 * good, not even in the middle of a record.
 */
enum pmclog_iter_status pmclog_iter_at_end(struct pmclog_iter *it);
/* RECORD: there is more now. */
enum pmclog_iter_status pmclog_iter_more(struct pmclog_iter *it);
/* The window moves on; it may be found to end where the log was cut. */
enum pmclog_iter_status pmclog_iter_move(struct pmclog_iter *it);

/* pmclog_iter_recover.c */

/* Nothing is handed out of the @n bytes from @offset on. */
void pmclog_iter_count_gap(struct pmclog_iter *it, uint64_t offset, size_t n);
/* Looks for where the log goes on; RECORD: there it is. */
enum pmclog_iter_status pmclog_iter_go_on(struct pmclog_iter *it);
/* What can be done about an error: RECORD if there is a record after all. */
enum pmclog_iter_status pmclog_iter_recover(struct pmclog_iter *it);
/*
 * What seems damaged may be where the log was cut meanwhile: then that is its
 * end.  ERROR: it is not.
 */
enum pmclog_iter_status pmclog_iter_cut_here(struct pmclog_iter *it);

#endif /* PMCLOG_ITER_PARTS_H */
