// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Merges an owner's rings into one stream in time order.
 *
 * A pass reads the clock, executes a full barrier, then looks at each ring.  A
 * look finds which records may be taken, and the stamp below which no record
 * can appear any more (the ring's horizon).  The pass then emits the records
 * below the smallest horizon.  ring.h explains why that is safe against
 * producers nested to any depth.
 */
#include "merge.h"

/*
 * hwpmc_merge_look_begin - first half of a look at a ring
 *
 * Returns the state word for the second half: hwpmc_merge_look_end() or
 * hwpmc_merge_look_holds().
 */
u64 hwpmc_merge_look_begin(struct merge_src *s)
{
	return ring_read_acquire(&s->ring->state);		/* pairs with C */
}

/*
 * hwpmc_merge_look_holds - has no producer run since hwpmc_merge_look_begin()?
 *
 * What the caller has read of the producers in between, such as their counters, is of
 * one moment then.
 */
bool hwpmc_merge_look_holds(struct merge_src *s, u64 state)
{
	ring_rmb();
	return !(state & RING_DEPTH_MASK) && ring_read(&s->ring->state) == state;
}

/*
 * hwpmc_merge_look_end - second half of a look for records
 * @now: the clock of the pass, which was read before the first half, with a full
 *	barrier behind it
 *
 * Returns true, and sets the snapshot, if no producer ran in between.
 */
bool hwpmc_merge_look_end(struct merge_src *s, u64 state, u64 now)
{
	u64 head = ring_read(&s->ring->head);

	if (!hwpmc_merge_look_holds(s, state))
		return false;
	s->snap.bound = head;
	s->snap.horizon = now;
	s->snap.quiet = true;
	return true;
}

/*
 * Snapshot of a ring that has a producer at every look: only records that are
 * certainly published are taken, and the result of the last look still holds.
 */
void hwpmc_merge_look_busy(struct merge_src *s)
{
	struct hwpmc_ring *r = s->ring;
	u64 pos = ring_read(&r->tail);
	u64 bound = ring_read_acquire(&r->commit);		/* pairs with B */
	u64 last = r->last;
	struct ring_rec *rec;

	if (bound < s->snap.bound)
		bound = s->snap.bound;
	while (pos < bound) {
		rec = (struct ring_rec *)(r->data + (pos & (r->size - 1)));
		if (rec->kind != RING_PAD && ring_payload(rec)->tsc > last)
			last = ring_payload(rec)->tsc;
		pos += rec->len;
	}
	s->snap.bound = bound;
	if (last > s->snap.horizon)
		s->snap.horizon = last;
	s->snap.quiet = false;
}

u64 hwpmc_merge_horizon(const struct merge *m, u64 now)
{
	u64 horizon = now;
	unsigned int i;

	for (i = 0; i < m->n; i++)
		if (m->src[i].ring && m->src[i].snap.horizon < horizon)
			horizon = m->src[i].snap.horizon;
	return horizon;
}

static bool is_first(const struct merge *m, unsigned int child, u64 stamp)
{
	return child >= m->live || stamp <= m->heap[child].stamp;
}

/*
 * Puts @head into place @i of the heap, whose entry is gone.
 *
 * CPUs sample in turn, so the next record of a ring is mostly later than those of
 * nearly all other rings.  Therefore the hole moves to the bottom first, and then up
 * to the place of @head.  The choice between two children needs no branch, which
 * would often be mispredicted.
 */
static void heap_put(struct merge *m, unsigned int i, struct merge_head head)
{
	struct merge_head *heap = m->heap;
	unsigned int top = i, child = 2 * i + 1;

	if (is_first(m, child, head.stamp) && is_first(m, child + 1, head.stamp)) {
		heap[i] = head;
		return;
	}
	while (child + 1 < m->live) {
		child += heap[child + 1].stamp < heap[child].stamp;
		heap[i] = heap[child];
		i = child;
		child = 2 * i + 1;
	}
	if (child < m->live) {	/* an only child */
		heap[i] = heap[child];
		i = child;
	}
	for (; i > top && head.stamp < heap[(i - 1) / 2].stamp; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = head;
}

/*
 * Finds the next record of a source.  Returns false if there is none.
 *
 * The record is read once those of the other rings before it are.  No processor
 * foresees that with many rings, so its lines are fetched here, and with them the
 * beginning of the record behind it.
 */
static bool src_next(struct merge_src *s, struct merge_head *head)
{
	struct ring_rec *rec = ring_peek(s->ring, s->snap.bound);

	s->rec = rec;
	if (!rec)
		return false;
	ring_prefetch((unsigned char *)rec + 64);
	ring_prefetch((unsigned char *)rec + 128);
	ring_prefetch((unsigned char *)rec + 192);
	head->stamp = ring_payload(rec)->tsc;
	head->src = s;
	return true;
}

static void merge_heapify(struct merge *m)
{
	unsigned int i;

	m->live = 0;
	for (i = 0; i < m->n; i++)
		if (m->src[i].ring && src_next(&m->src[i], &m->heap[m->live]))
			m->live++;
	for (i = m->live / 2; i-- > 0; )
		heap_put(m, i, m->heap[i]);
}

/*
 * hwpmc_merge_run - emit and consume the records with a stamp of at most @upto
 *
 * @upto must not be above hwpmc_merge_horizon().  Returns the number of
 * records.
 * @emit may sleep; it no longer uses the payload when it returns.
 */
u64 hwpmc_merge_run(struct merge *m, u64 upto, merge_emit_fn emit, void *arg)
{
	u64 count = 0;

	merge_heapify(m);
	while (m->live) {
		struct merge_head head = m->heap[0];
		struct merge_src *s = head.src;
		struct ring_rec *rec = s->rec;

		if (head.stamp > upto)
			break;
		emit(arg, s - m->src, rec->kind, ring_payload(rec),
		     rec->len - (u32)sizeof(*rec));
		ring_consume(s->ring, rec);
		count++;
		if (!src_next(s, &head)) {
			head = m->heap[--m->live];
			if (!m->live)
				break;
		}
		if (m->live == 1)
			m->heap[0] = head;
		else
			heap_put(m, 0, head);
	}
	return count;
}

/* Returns true if all records that the last look found are consumed. */
bool hwpmc_merge_empty(const struct merge *m)
{
	unsigned int i;

	for (i = 0; i < m->n; i++) {
		const struct merge_src *s = &m->src[i];

		if (s->ring && ring_read(&s->ring->tail) < s->snap.bound)
			return false;
	}
	return true;
}
