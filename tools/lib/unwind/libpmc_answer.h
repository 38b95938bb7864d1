/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers to UNWINDNEXT, in two steps, because only the first may take for ever.
 */
#ifndef LIBPMC_ANSWER_H
#define LIBPMC_ANSWER_H

#include <linux/hwpmc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libpmc_unwind.h"

struct pmc_failed {
	uint32_t	id;
	uint32_t	times;
};

/**
 * struct pmc_answers - what is remembered of earlier answers; one thread uses it
 * @failed: objects whose files could not be read so far, @n of them
 * @next: which one is forgotten for another when there are too many
 * @refused: EDQUOT when the module has refused a table because of the user's limit;
 *	any thread may read it
 */
struct pmc_answers {
	struct pmc_failed *failed;
	size_t		n;
	size_t		room;
	size_t		next;
	atomic_int	refused;
};

/* Makes the object's table: 0, or an errno and no table */
int pmc_answer_make(const struct hwpmc_unwindnext *next, struct pmc_unwind *t);
/*
 * Supplies the table, or selects frame pointers if there will be none.  @err: of
 * pmc_answer_make().  Frees @t.
 */
void pmc_answer_give(struct pmc_answers *a, int device, uint32_t id,
		     struct pmc_unwind *t, int err);

/* libpmc_owner.c: for pmc_owner_unwind() */
struct pmc_owner;
struct pmc_answers *pmc_owner_answers(struct pmc_owner *owner);

#endif
