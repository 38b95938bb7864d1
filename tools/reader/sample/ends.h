/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts how user call chains end: of the samples with a user part, by event
 * and command.
 *
 * A sample is counted by the bits of its cpuflags that say how its chain ends.
 * Old logs do not have these bits in any record: the ends of their chains are
 * unknown.
 */
#ifndef READER_ENDS_H
#define READER_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "log/chain_end.h"

/**
 * struct ends_sum - samples with a user part
 * @untold: those of @all in logs that do not say how chains end; only the
 *	    others are counted below
 * @whole:  chains up to their thread's first frame
 * @tables: chains whose callers were all found by unwind tables
 * @cut:    chains that are not whole, for a cause in the user part
 * @by:     by enum pmclog_cut_cause; one sample may have several causes
 */
struct ends_sum {
	uint64_t all, untold;
	uint64_t whole, tables, cut;
	uint64_t by[PMCLOG_CUT_NCAUSE];
};

/**
 * struct ends_place - counts of an event and command
 * @key:    event << 32 | command
 * @n:	    samples of the current log
 * @before: samples of earlier logs
 * @next:   the next one of the same event
 */
struct ends_place {
	uint64_t key;
	struct ends_place *next;
	uint64_t n[ENDS];
	struct ends_sum before;
};

#define ENDS_NEAR	256U	/* a power of 2 */

/**
 * struct ends
 * @first: by event: its places
 * @near: cache of the places used last; a miss looks the place up
 * @told: the current log says how chains end
 */
struct ends {
	struct ends_place **place;
	uint32_t n, cap;
	struct ends_place **first;
	uint32_t nfirst;
	struct ends_place *near[ENDS_NEAR];
	struct idtab tab;
	bool told;
};

void ends_init(struct ends *t);
void ends_free(struct ends *t);
struct ends_place *ends_find(struct ends *t, uint64_t key);

static inline uint32_t ends_near(uint32_t event, uint32_t comm)
{
	return (comm + event * 8) % ENDS_NEAR;
}

static inline uint64_t *ends_count_of(struct ends *t, uint32_t event,
				      uint32_t comm, uint8_t ends)
{
	uint64_t key = (uint64_t)event << 32 | comm;
	struct ends_place *p = t->near[ends_near(event, comm)];

	if (__builtin_expect(p->key != key, 0))
		p = ends_find(t, key);
	return &p->n[ends];
}

/* The caller must set @told, from all samples that it reads. */
static inline void ends_put(struct ends *t, uint32_t event, uint32_t comm,
			    uint8_t ends)
{
	++*ends_count_of(t, event, comm, ends);
}

/* Counts a sample as @to that was counted as @from while it waited. */
void ends_move(struct ends *t, uint32_t event, uint32_t comm, uint8_t from,
	       uint8_t to);
/* The current log ends. */
void ends_settle(struct ends *t);
struct ends_sum ends_of_event(const struct ends *t, uint32_t event);
void ends_sum_add(struct ends_sum *to, const struct ends_sum *from);
/* Does any log so far say how its samples' chains end? */
bool ends_are_told(const struct ends *t);

/*
 * Commands with a smaller share of chains that are whole, or made by tables,
 * than the event, and with enough samples to matter; the worst first.
 */
struct ends_comm {
	uint32_t comm;
	struct ends_sum sum;
};

#define ENDS_COMMS	10U

uint32_t ends_worst(const struct ends *t, uint32_t event,
		    struct ends_comm worst[ENDS_COMMS]);

/*
 * ends_text.c: "98.7 % whole, 1.3 % cut: 12 too deep"; the caller frees it.
 * @plain: numbers have no commas.
 */
char *ends_text(const struct ends_sum *s, bool plain);
char *ends_causes(const struct ends_sum *s, bool plain);
/* "7 ring full, 3 nested too deep" of @n causes, behind @before; "" if all are 0 */
char *causes_text(const char *before, const uint64_t *by, const char *const *texts, int n,
		  bool plain);
/* The same of the chains that were cut, behind ": " */
char *account_cuts(const struct pmclog_account *a, bool plain);
/*
 * Text: how the callers in user code were found; the caller frees it.  @x86:
 * the recorded machine is one; @asked: unwind tables were asked for.
 */
char *ends_callers(const struct ends_sum *s, bool x86, bool asked);
/* Are callers missing, without the log saying which? */
bool ends_misses(const struct ends_sum *s, bool x86, bool asked);

#endif /* READER_ENDS_H */
