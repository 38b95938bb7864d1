/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One ring of records per owner and CPU.
 *
 * Producers run on the ring's CPU only and may interrupt each other at any
 * instruction (process context, IRQ, NMI); process context disables preemption.
 * The one consumer runs anywhere.  No side waits for another.
 *
 *	ring_enter()		depth + 1, full barrier		(A)
 *	ring_reserve()		load head, read clock, cmpxchg head; a
 *				nested producer makes it start over
 *	... fill ...
 *	ring_exit()		outermost: commit = head	(B, release)
 *				exits + 1, depth 0		(C, release)
 *				nested: state as it was found
 *
 *   consumer			pairs with
 *	read clock T, full barrier	(A)
 *	state, acquire			(C)
 *	head
 *	read barrier, state again
 *
 * The entry is one atomic addition: an interrupt between a separate load and
 * store would undo exits.  The exit need not be atomic.  Contexts on a CPU are
 * a stack, so a context that ran in between has left the state as it was.
 * Therefore the values that the state has at depth 0 only grow, by one for each
 * outermost exit.
 *
 * Clock and head are taken together, so on one CPU the order of records is the
 * order of their stamps.  If the consumer saw depth 0 in both looks at the
 * state and no exit in between, then no producer ran meanwhile.  All records
 * below head are complete, and by (A) a producer that enters later reads a
 * clock >= T.  Otherwise, records below the last published commit are complete,
 * and later records have a stamp not below the last one's.
 *
 * Positions count bytes since the ring was made and never wrap; a record never
 * crosses the end of the buffer (a pad fills the rest).  Everything is
 * 8-aligned.
 */
#ifndef HWPMC_RING_H
#define HWPMC_RING_H

#include "ring_shim.h"

#define RING_DEPTH_MASK	0xFFULL
#define RING_EXIT	0x100ULL	/* one exit */
#define RING_TRIES	16		/* reservations before giving up */
#define RING_ALIGN	8

/* First words of a record's payload, whatever its kind: as in the log. */
struct ring_stamp {
	u32	header;
	u32	spare;
	u64	tsc;
};

struct ring_rec {
	u32	len;		/* bytes, this header included */
	u32	kind;		/* RING_PAD, or the user's */
	/* payload, begins with struct ring_stamp (not in a pad) */
};

#define RING_PAD	0

/**
 * struct hwpmc_ring
 * @data, @size: the buffer, a power of two; constant
 * @state: low 8 bits: depth of producers; above: the number of outermost exits
 * @head:  end of the reserved records
 * @commit: end of the records that are certainly complete; written by outermost
 *	producers
 * @seen:  the producers' copy of @tail, refreshed only when it matters, to
 *	   leave the consumer's cache line alone.  It may go back when one
 *	   producer interrupts another, but is never beyond @tail
 * @tail:  end of the consumed records; written by the consumer
 * @last:  highest stamp consumed; the consumer's
 */
struct hwpmc_ring {
	unsigned char	*data;
	u32		size;

	ring_atomic	state ____cacheline_aligned;
	ring_atomic	head;
	ring_atomic	commit;
	ring_atomic	seen;

	ring_atomic	tail ____cacheline_aligned;
	u64		last;
};

enum ring_result {
	RING_OK,
	RING_FULL,
	RING_CONTENDED,
};

static inline void ring_init(struct hwpmc_ring *r, void *data, u32 size)
{
	memset(r, 0, sizeof(*r));
	r->data = data;
	r->size = size;
}

/* Any context, this CPU's ring, preemption off.  The result is for ring_exit(). */
static inline u64 ring_enter(struct hwpmc_ring *r)
{
	return ring_add_return_mb(&r->state, 1);			/* A */
}

static inline void ring_exit(struct hwpmc_ring *r, u64 entered)
{
	if ((entered & RING_DEPTH_MASK) > 1) {
		ring_store_release(&r->state, entered - 1);
		return;
	}
	/*
	 * A producer that interrupts between these two lines has complete
	 * records that are not published.  The next outermost producer
	 * publishes them, or the consumer finds the ring quiet and takes head.
	 */
	ring_store_release(&r->commit, ring_read(&r->head));		/* B */
	ring_store_release(&r->state, entered - 1 + RING_EXIT);		/* C */
}

/*
 * ring_above - are more than @bytes before @end not consumed yet?
 *
 * For producers.  The acquire orders the consumer's reads of the room that it
 * has given back before the producer's writes there.
 */
static inline bool ring_above(struct hwpmc_ring *r, u64 end, u64 bytes)
{
	u64 tail;

	if (end - ring_read(&r->seen) <= bytes)
		return false;
	tail = ring_read_acquire(&r->tail);
	ring_set(&r->seen, tail);
	return end - tail > bytes;
}

/**
 * ring_reserve - reserve room for one record; before ring_exit()
 * @len:  bytes of payload
 * @kind: not RING_PAD
 * @keep: bytes of the ring that this record may not use, at most its size
 * @now:  out: the clock at the reservation, or at its failure
 * @res:  out: RING_OK or the cause of the failure
 *
 * Any context.  The payload's stamp is set; the caller fills the rest.
 */
static inline struct ring_stamp *
ring_reserve(struct hwpmc_ring *r, u32 len, u32 kind, u32 keep, u64 *now,
	     enum ring_result *res)
{
	u32 need = ALIGN(len + (u32)sizeof(struct ring_rec), RING_ALIGN);
	struct ring_stamp *s;
	struct ring_rec *rec;
	int tries;

	for (tries = 0; tries < RING_TRIES; tries++) {
		u64 head = ring_read(&r->head), new;
		u32 off, pad, limit;

		barrier();	/* the clock is read after head */
		*now = ring_clock();
		off = head & (r->size - 1);
		pad = r->size - off < need ? r->size - off : 0;
		new = head + pad + need;
		limit = r->size - keep;
		if (ring_above(r, new, limit)) {
			*res = RING_FULL;
			return NULL;
		}
		if (!ring_cmpxchg_local(&r->head, head, new))
			continue;
		rec = (struct ring_rec *)(r->data + off);
		if (pad) {
			rec->len = pad;
			rec->kind = RING_PAD;
			rec = (struct ring_rec *)r->data;
		}
		rec->len = need;
		rec->kind = kind;
		s = (struct ring_stamp *)(rec + 1);
		s->tsc = *now;
		*res = RING_OK;
		return s;
	}
	*res = RING_CONTENDED;
	return NULL;
}

/**
 * struct ring_snap - the records that the consumer may take, and up to when
 * @bound:   records below this position are complete
 * @horizon: no record beyond @bound has or will get a stamp below this
 * @quiet:   no producer was active: @horizon is the pass' clock
 */
struct ring_snap {
	u64	bound;
	u64	horizon;
	bool	quiet;
};

static inline struct ring_stamp *ring_payload(const struct ring_rec *rec)
{
	return (struct ring_stamp *)(rec + 1);
}

/* The record at the tail, pads skipped, or NULL at @bound.  Consumer only. */
static inline struct ring_rec *ring_peek(struct hwpmc_ring *r, u64 bound)
{
	u64 tail = ring_read(&r->tail);
	struct ring_rec *rec;

	while (tail < bound) {
		rec = (struct ring_rec *)(r->data + (tail & (r->size - 1)));
		if (rec->kind != RING_PAD)
			return rec;
		tail += rec->len;
		ring_store_release(&r->tail, tail);
	}
	return NULL;
}

/* Gives the room of @rec, as returned by ring_peek(), back to producers. */
static inline void ring_consume(struct hwpmc_ring *r, struct ring_rec *rec)
{
	u64 tail = ring_read(&r->tail);

	if (ring_payload(rec)->tsc > r->last)
		r->last = ring_payload(rec)->tsc;
	ring_store_release(&r->tail, tail + rec->len);
}

#endif /* HWPMC_RING_H */
