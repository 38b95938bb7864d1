/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples whose user chain comes later (PMCLOG_EXT_USERCHAIN).
 *
 * Each sample is counted at once with its cut chain, and waits.  When its user
 * chain comes, the sample is moved to the full chain.  A sample whose user
 * chain never comes, or that is dropped, stays counted with the cut chain.
 */
#ifndef READER_LATE_H
#define READER_LATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/idtab.h"
#include "log/rec.h"
#include "sample/sample.h"

/* Limits for the memory of waiting samples: of all, and of one thread. */
#define LATE_BYTES	((size_t)32 << 20)
#define LATE_TID_BYTES	((size_t)8 << 20)

/**
 * struct late_sample - a sample that waits
 * @sample: the sample, with the chain that it is counted as
 * @more:  what it has, if it has more
 * @user:  its first user pc
 * @pc:    its kernel part, as it is in the log; then its raw data and branches
 * @older, @newer: in the order of time, of the same thread and of all
 */
struct late_sample {
	struct late_sample *older, *newer;
	struct late_sample *older_of_all, *newer_of_all;
	struct sample sample;
	struct sample_more more;
	uint64_t user;
	uint32_t tid;		/* number in @tids */
	uint32_t npc;
	unsigned char pc[];
};

struct late_tid {
	uint32_t tid;
	size_t bytes;
	struct late_sample *oldest, *newest;
};

/**
 * struct late - all waiting samples
 * @given_up: called for each sample that is dropped without a chain; or NULL
 * @ended: pid of the last SYSEXIT, while its process may be told again; 0: none
 * @asked, @answered: samples that had the flag, and those whose chain came
 */
struct late {
	void (*given_up)(void *ctx, const struct late_sample *s);
	void *ctx;
	struct late_tid *tids;
	uint32_t n, cap;
	struct idtab tab;
	size_t bytes;
	struct late_sample *oldest, *newest;
	uint32_t ended;
	uint64_t asked, answered;
};

/* Adds a copy of @s, with @pcs as its @s->npc pcs, and of its raw data. */
void late_add(struct late *t, const struct late_sample *s,
	      const unsigned char *pcs);
/*
 * Takes the newest sample of thread @tid that is not older than @first and
 * whose first user pc is @user; the caller frees it.  Samples passed over on
 * the way are dropped: no chain for them can follow.  NULL: none is left.
 */
struct late_sample *late_take(struct late *t, uint32_t tid, uint64_t first,
			      uint64_t user);
/* Drops the sample that has waited longest. */
void late_give_up(struct late *t);
/*
 * To be called for each record but samples, before anything else that it does
 * here.  Drops the samples of threads that have ended.  A process has not if
 * its state follows its SYSEXIT at once: so it is told again after a loss.
 */
void late_record(struct late *t, const struct pmclog_rec *rec);
/* Drops all samples and frees all memory; @asked and @answered stay. */
void late_free(struct late *t);

#endif /* READER_LATE_H */
