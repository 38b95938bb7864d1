/* SPDX-License-Identifier: BSD-2-Clause */
/* Which records of a log a part of it has. */
#ifndef READER_FILTER_LOG_H
#define READER_FILTER_LOG_H

#include "profile.h"

struct late_kept {
	uint32_t tid;
	uint64_t tsc;
};

/**
 * struct part - a part of a log
 * @event:    of whose PMCs; NULL: all
 * @not_event: of those of all others
 * @p:        what is known of processes, PMCs and the clock so far
 * @late:     by thread, the newest sample kept whose user chain follows
 * @seen, @kept: samples of this log; there may be several in one stream
 * @late_kept, @answers: of those kept, with a chain to come; chains that came
 * @dropped:  by cause, samples told by DROPNOTIFYs that were kept
 * @with_raw: the last record was a sample that was kept
 * @tsc:      the latest of this log's records, on its own clock
 */
struct part {
	const char *event;
	bool not_event;
	struct filter *filter;
	struct profile p;
	struct late_kept *late;
	uint32_t nlate, caplate;
	struct idtab latetab;
	uint64_t seen, kept;
	uint64_t late_kept, answers;
	uint64_t dropped[PMCLOG_DROP_NCAUSE];
	bool with_raw;
	uint64_t tsc;
	unsigned char buf[65536];	/* longer than any record */
};

void part_init(struct part *t, struct filter *filter, const char *event);
void part_free(struct part *t);
/*
 * The record as it is in the part, or NULL: it is not.  Before a CLOSELOG, and
 * at the end of a log without one, goes part_note().
 */
const unsigned char *part_record(struct part *t, const struct pmclog_rec *r);
/* The record that says what the log is a part of; its length in *@len. */
const unsigned char *part_note(struct part *t, const char *conditions,
			       uint32_t *len);

#endif /* READER_FILTER_LOG_H */
