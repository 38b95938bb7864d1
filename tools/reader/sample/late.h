/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples whose user chain comes later (PMCLOG_EXT_USERCHAIN).
 *
 * Each is counted at once, as the cut chain that it is so far, and waits.  When
 * the user chain comes it is counted anew and taken back there.  So whoever
 * waits in vain, or is not remembered, is what it has been all along.
 */
#ifndef READER_LATE_H
#define READER_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idtab.h"
#include "sample/sample.h"

/* What waits may take: all of it, and that of one thread. */
#define LATE_BYTES	((size_t)32 << 20)
#define LATE_TID_BYTES	((size_t)8 << 20)

/**
 * struct late_sample - one that waits
 * @sample: what is known of it, with the chain that it is counted as
 * @user:  its first user pc
 * @pc:    its kernel part, as it is in the log; then its raw data
 * @older, @newer: in the order of time, of the same thread and of all
 */
struct late_sample {
	struct late_sample *older, *newer;
	struct late_sample *older_of_all, *newer_of_all;
	struct sample sample;
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
 * struct late - all that wait
 * @given_up: is told of those that wait no longer, in vain; or NULL
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
	uint64_t asked, answered;
};

/* A copy of @s waits, with @pcs as its @s->npc pcs, and of its raw data. */
void late_add(struct late *t, const struct late_sample *s,
	      const unsigned char *pcs);
/*
 * One that a user chain from @user on may answer, which is taken after @first
 * and waits no longer; free() it.  Those after @first that it is not for have
 * nothing to wait for any more.  NULL: there is none left.
 */
struct late_sample *late_take(struct late *t, uint32_t tid, uint64_t first,
			      uint64_t user);
/* The one that has waited longest waits no longer. */
void late_give_up(struct late *t);
/* The thread has ended. */
void late_forget(struct late *t, uint32_t tid);
/* All of them, and all memory; the numbers stay. */
void late_free(struct late *t);

#endif /* READER_LATE_H */
