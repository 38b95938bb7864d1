/* SPDX-License-Identifier: BSD-2-Clause */
/* Which records of a log a part of it has. */
#ifndef READER_FILTER_LOG_H
#define READER_FILTER_LOG_H

#include "analysis/select.h"
#include "commands/filter/heldrecs.h"
#include "profile/profile.h"

struct late_kept {
	uint32_t tid;
	uint64_t tsc;
};

/* a sample whose fields may be in the next record */
struct lone_sample {
	bool valid;
	struct pmclog_rec rec;	/* in @buf */
	unsigned char *buf;
	size_t cap;
};

enum fate {
	FATE_OUT, FATE_STAYS,
	FATE_OPEN,		/* its user chain will tell */
};

/**
 * struct part - a part of a log
 * @event:    of whose PMCs; NULL: all
 * @not_event: of those of all others
 * @p:        what is known of processes, PMCs and the clock so far
 * @select:   what symbols are needed for
 * @hurry:    somebody waits for what is written
 * @held:     what is not written yet
 * @lone:     a sample of which the fields are asked for
 * @late:     by thread, the newest sample kept whose user chain follows
 * @seen, @kept: samples of this log; there may be several in one stream
 * @late_kept, @answers: of those kept, with a chain to come; chains that came
 * @dropped:  by cause, samples told by DROPNOTIFYs that were kept
 * @cut, @cut_by: samples left out whose records say that their chains are cut
 * @fate:     of the last record, if it is a sample
 * @tsc:      the latest of this log's records, on its own clock
 */
struct part {
	const char *event;
	bool not_event;
	struct filter *filter;
	struct select *select;
	bool hurry;
	struct heldrecs held;
	struct lone_sample lone;
	struct profile p;
	struct late_kept *late;
	uint32_t nlate, caplate;
	struct idtab latetab;
	uint64_t seen, kept;
	uint64_t late_kept, answers;
	uint64_t dropped[PMCLOG_DROP_NCAUSE];
	uint64_t cut, cut_by[PMCLOG_CUT_NCAUSE];
	enum fate fate;
	uint64_t tsc;
	unsigned char buf[65536];	/* longer than any record */
};

/*
 * @event and @not_event, @hurry, and where records go, that is held.put and
 * held.ctx, are to be set after it.
 */
void part_init(struct part *t, struct filter *filter, struct select *select,
	       const struct image_root *root);
void part_free(struct part *t);
/*
 * Writes the record as it is in the part, or not at all; perhaps later.  Before
 * a CLOSELOG, and at the end of a log without one, goes part_settle(), and then
 * part_note() is to be written.
 */
void part_record(struct part *t, const struct pmclog_rec *r);
/* Nothing more comes that could tell of the samples that wait. */
void part_settle(struct part *t);
/* The record that says what the log is a part of; its length in *@len. */
const unsigned char *part_note(struct part *t, const char *conditions,
			       uint32_t *len);

#endif /* READER_FILTER_LOG_H */
