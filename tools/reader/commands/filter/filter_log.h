/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the records of a log that a part of it keeps. */
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
	FATE_OPEN,		/* depends on its user chain */
};

/**
 * struct part - a part of a log
 * @event:    keep the PMCs of this event; NULL: all
 * @not_event: keep the PMCs of all other events instead
 * @p:        processes, PMCs and the clock so far
 * @select:   conditions that need symbols
 * @hurry:    a program waits for the output
 * @held:     records that are not written yet
 * @lone:     a sample with a condition on its fields
 * @late:     by thread, the newest kept sample whose user chain follows
 * @seen, @kept: samples of this log; a stream may have several logs
 * @late_kept, @answers: kept samples with a later user chain; chains that came
 * @dropped:  by cause, lost samples in DROPNOTIFYs that were kept
 * @cut, @cut_by: samples left out whose records say that their chains are cut
 * @fate:     fate of the last record, if it is a sample
 * @tsc:      latest timestamp of this log, on its own clock
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
 * The caller sets @event, @not_event, @hurry, held.put and held.ctx (the output
 * of records) after it.
 */
void part_init(struct part *t, struct filter *filter, struct select *select,
	       const struct image_root *root);
void part_free(struct part *t);
/*
 * Writes the record as it is in the part, now or later, or leaves it out.
 * Before a CLOSELOG, and at the end of a log without one, the caller calls
 * part_settle() and writes part_note().
 */
void part_record(struct part *t, const struct pmclog_rec *r);
/* Decides on the waiting samples: no more records of this log follow. */
void part_settle(struct part *t);
/* The record that describes the log it is a part of; its length in *@len. */
const unsigned char *part_note(struct part *t, const char *conditions,
			       uint32_t *len);

#endif /* READER_FILTER_LOG_H */
