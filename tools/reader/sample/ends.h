/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How user chains end: of the samples that have a user part, by event and
 * command.
 *
 * A sample is counted under the bits of its cpuflags that say it.  Logs that
 * were made before there were such bits have none in any record: of those it is
 * not told.
 */
#ifndef READER_ENDS_H
#define READER_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "log/chain_end.h"

/**
 * struct ends_sum - samples with a user part
 * @untold: of @all, of logs that do not say how chains end; the others are all
 *	    that is counted below
 * @whole:  with their thread's first frame
 * @tables: by unwind tables
 * @cut:    that are not whole, for a cause of the user part
 * @by:     by enum pmclog_cut_cause; one sample may have several
 */
struct ends_sum {
	uint64_t all, untold;
	uint64_t whole, tables, cut;
	uint64_t by[PMCLOG_CUT_NCAUSE];
};

/**
 * struct ends_place
 * @key:    event << 32 | command
 * @n:	    samples of the log that we are in
 * @before: those of logs before it
 */
struct ends_place {
	uint64_t key;
	uint64_t n[ENDS];
	struct ends_sum before;
};

#define ENDS_NEAR	256U	/* a power of 2 */

/**
 * struct ends
 * @near: places that were asked for last; those that differ are looked up
 * @told: the log that we are in says how chains end
 */
struct ends {
	struct ends_place **place;
	uint32_t n, cap;
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

/* It is for the caller to set @told, by all samples that are read. */
static inline void ends_put(struct ends *t, uint32_t event, uint32_t comm,
			    uint8_t ends)
{
	++*ends_count_of(t, event, comm, ends);
}

/* One that waited, and was counted as @from, is as @to. */
void ends_move(struct ends *t, uint32_t event, uint32_t comm, uint8_t from,
	       uint8_t to);
/* The log that we are in ends. */
void ends_settle(struct ends *t);
/* Adds a place, as it is for now. */
void ends_add(struct ends_sum *sum, const struct ends *t,
	      const struct ends_place *p);
struct ends_sum ends_of_event(const struct ends *t, uint32_t event);
/* Does any log so far say how its samples' chains end? */
bool ends_are_told(const struct ends *t);

/*
 * Commands of which fewer chains are whole, or by tables, than of the event as
 * a whole, and which have enough samples to matter; the worst first.
 */
struct ends_comm {
	uint32_t comm;
	struct ends_sum sum;
};

#define ENDS_COMMS	10U

uint32_t ends_worst(const struct ends *t, uint32_t event,
		    struct ends_comm worst[ENDS_COMMS]);

/* ends_text.c: why chains end early; NULL: a cause unheard of */
extern const char *const cut_causes[PMCLOG_CUT_NCAUSE];
/*
 * "98.7 % whole, 1.3 % cut: 12 too deep"; the caller frees it.
 * @plain: numbers have no commas.
 */
char *ends_text(const struct ends_sum *s, bool plain);
char *ends_causes(const struct ends_sum *s, bool plain);
/*
 * What the callers of user code are known by; the caller frees it.  @x86: the
 * machine that recorded is one; @asked: for unwind tables.
 */
char *ends_callers(const struct ends_sum *s, bool x86, bool asked);
/* Callers are missing, and the log does not say which. */
bool ends_misses(const struct ends_sum *s, bool x86, bool asked);

#endif /* READER_ENDS_H */
