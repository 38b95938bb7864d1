// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The edges of the ring, one by one, without threads. */
#include "edges.h"

u64 test_now;
void (*clock_hook)(void);

u64 ring_clock(void)
{
	u64 t = test_now;

	if (clock_hook)
		clock_hook();
	return t;
}

bool this_ok;

struct box box[9];
struct hwpmc_ring *const ring = &box[0].ring;

#define GUARD	0x6755617264477561ULL

void reset(void)
{
	unsigned int i;

	clock_hook = NULL;
	test_now = 100;
	for (i = 0; i < 9; i++) {
		memset(box[i].data, 0xEE, SIZE);
		box[i].before = box[i].after = GUARD;
		ring_init(&box[i].ring, box[i].data, SIZE);
	}
}

bool guards_ok(void)
{
	unsigned int i;

	for (i = 0; i < 9; i++)
		if (box[i].before != GUARD || box[i].after != GUARD)
			return false;
	return true;
}

static enum ring_result put_keep(struct hwpmc_ring *r, u32 len, u64 tsc,
				 u32 keep)
{
	u64 entered = ring_enter(r);
	enum ring_result res = RING_OK;
	struct ring_stamp *s;
	u64 now = 0;

	test_now = tsc;
	s = ring_reserve(r, len, KIND, keep, &now, &res);
	if (s) {
		EXPECT(s->tsc == now);
		memset(s + 1, (int)tsc, len - sizeof(*s));
	}
	EXPECT(!s == (res != RING_OK));
	EXPECT(now >= tsc);
	ring_exit(r, entered);
	return res;
}

enum ring_result put(struct hwpmc_ring *r, u32 len, u64 tsc)
{
	return put_keep(r, len, tsc, 0);
}

u64 take(struct hwpmc_ring *r)
{
	struct ring_rec *rec = ring_peek(r, ring_read(&r->head));
	u64 tsc;

	if (!rec)
		return 0;
	tsc = ring_payload(rec)->tsc;
	ring_consume(r, rec);
	return tsc;
}

static void test_exact_fit(void)
{
	int i;

	for (i = 0; i < 8; i++)
		EXPECT(put(ring, BODY(32), 100 + i) == RING_OK);
	EXPECT(ring_read(&ring->head) == SIZE);		/* no pad */
	EXPECT(put(ring, BODY(32), 200) == RING_FULL);
	EXPECT(ring_read(&ring->head) == SIZE);
	EXPECT(take(ring) == 100);
	EXPECT(put(ring, BODY(32), 201) == RING_OK);
	EXPECT(put(ring, BODY(32), 202) == RING_FULL);
	for (i = 1; i < 8; i++)
		EXPECT(take(ring) == 100u + i);
	EXPECT(take(ring) == 201);
	EXPECT(take(ring) == 0);
	EXPECT(guards_ok());
}

static void test_whole_ring(void)
{
	EXPECT(put(ring, BODY(SIZE), 1) == RING_OK);
	EXPECT(put(ring, 16, 2) == RING_FULL);
	EXPECT(take(ring) == 1);
	EXPECT(put(ring, BODY(SIZE), 3) == RING_OK);
	EXPECT(take(ring) == 3);
	EXPECT(put(ring, BODY(SIZE) + 1, 4) == RING_FULL);
	EXPECT(put(ring, SIZE * 4, 5) == RING_FULL);
	EXPECT(ring_read(&ring->head) == 2 * SIZE);
	EXPECT(guards_ok());
}

static void test_pad(void)
{
	struct ring_rec *rec;

	EXPECT(put(ring, BODY(SIZE - 40), 1) == RING_OK);
	/* 40 bytes left: 48 do not fit, and with the pad are too much */
	EXPECT(put(ring, BODY(48), 2) == RING_FULL);
	EXPECT(ring_read(&ring->head) == SIZE - 40);
	EXPECT(take(ring) == 1);
	EXPECT(put(ring, BODY(48), 3) == RING_OK);
	EXPECT(ring_read(&ring->head) == SIZE + 48);
	rec = (struct ring_rec *)(ring->data + SIZE - 40);
	EXPECT(rec->kind == RING_PAD && rec->len == 40);
	rec = ring_peek(ring, SIZE + 48);
	EXPECT(rec == (struct ring_rec *)ring->data && rec->kind == KIND);
	EXPECT(ring_read(&ring->tail) == SIZE);		/* the pad is free */
	EXPECT(take(ring) == 3);
	EXPECT(ring_peek(ring, SIZE + 48) == NULL);
	EXPECT(guards_ok());
}

/* A pad of 8 bytes, a record header and nothing else. */
static void test_smallest_pad(void)
{
	EXPECT(put(ring, BODY(SIZE - 8), 1) == RING_OK);
	EXPECT(take(ring) == 1);
	EXPECT(put(ring, BODY(24), 2) == RING_OK);
	EXPECT(ring_read(&ring->head) == SIZE + 24);
	EXPECT(take(ring) == 2);
	EXPECT(ring_read(&ring->tail) == SIZE + 24);
	EXPECT(guards_ok());
}

/* The pad counts against the limit: pad + record == what is free. */
static void test_pad_exact(void)
{
	EXPECT(put(ring, BODY(96), 1) == RING_OK);
	EXPECT(put(ring, BODY(96), 2) == RING_OK);
	EXPECT(take(ring) == 1);			/* 64 + 96 free */
	EXPECT(put(ring, BODY(104), 3) == RING_FULL);
	EXPECT(put(ring, BODY(96), 3) == RING_OK);
	EXPECT(put(ring, 16, 4) == RING_FULL);
	EXPECT(take(ring) == 2 && take(ring) == 3 && take(ring) == 0);
	EXPECT(guards_ok());
}

static void test_rounding(void)
{
	u32 len;

	for (len = 16; len <= 40; len++) {
		struct ring_rec *rec;

		EXPECT(put(ring, len, len) == RING_OK);
		rec = ring_peek(ring, ring_read(&ring->head));
		EXPECT(rec && rec->len == ((len + 7) & ~7U) + 8);
		EXPECT(take(ring) == len);
		EXPECT(!(ring_read(&ring->tail) & 7));
	}
	EXPECT(guards_ok());
}

static void test_keep(void)
{
	int i;

	for (i = 0; i < 6; i++)
		EXPECT(put_keep(ring, BODY(32), 1 + i, 64) == RING_OK);
	EXPECT(put_keep(ring, BODY(32), 10, 64) == RING_FULL);
	EXPECT(put_keep(ring, 16, 11, 64) == RING_FULL);
	EXPECT(put(ring, BODY(32), 12) == RING_OK);
	EXPECT(put(ring, BODY(32), 13) == RING_OK);
	EXPECT(put(ring, BODY(32), 14) == RING_FULL);
	EXPECT(take(ring) == 1);
	EXPECT(put_keep(ring, BODY(32), 15, 64) == RING_FULL);
	EXPECT(take(ring) == 2 && take(ring) == 3);
	EXPECT(put_keep(ring, BODY(32), 16, 64) == RING_OK);
	EXPECT(put_keep(ring, BODY(32), 17, 64) == RING_FULL);
	EXPECT(put_keep(ring, BODY(32), 18, SIZE) == RING_FULL);
}

static void test_full_clock(void)
{
	enum ring_result res;
	u64 entered;
	u64 now = 0;

	EXPECT(put(ring, BODY(SIZE), 1) == RING_OK);
	entered = ring_enter(ring);
	test_now = 77;
	EXPECT(!ring_reserve(ring, 16, KIND, 0, &now, &res));
	EXPECT(now == 77 && res == RING_FULL);
	ring_exit(ring, entered);
}

static int nest_times, clock_reads;

/* Somebody nests each time the clock is read. */
static void nest(void)
{
	clock_reads++;
	if (nest_times-- <= 0)
		return;
	clock_hook = NULL;
	EXPECT(put(ring, 16, ++test_now) == RING_OK);
	EXPECT(take(ring) == test_now);
	clock_hook = nest;
}

static void test_retry(void)
{
	clock_hook = nest;
	clock_reads = 0;
	nest_times = RING_TRIES - 1;
	EXPECT(put(ring, 16, 1000) == RING_OK);
	EXPECT(clock_reads == RING_TRIES);
	EXPECT(take(ring) == 1000 + RING_TRIES - 1);
	EXPECT(ring_read(&ring->commit) == ring_read(&ring->head));
}

static void test_contended(void)
{
	u64 head;

	clock_hook = nest;
	clock_reads = 0;
	nest_times = 1000;
	EXPECT(put(ring, 16, 1000) == RING_CONTENDED);
	EXPECT(clock_reads == RING_TRIES);
	clock_hook = NULL;
	head = ring_read(&ring->head);
	EXPECT(head == RING_TRIES * 24ULL + (head / SIZE) * 16);
	EXPECT(ring_read(&ring->commit) == head);
	EXPECT((ring_read(&ring->state) & RING_DEPTH_MASK) == 0);
	EXPECT(take(ring) == 0);
}

static void test_state(void)
{
	u64 e1, e2, e3;

	e1 = ring_enter(ring);
	e2 = ring_enter(ring);
	e3 = ring_enter(ring);
	EXPECT(e1 == 1 && e2 == 2 && e3 == 3);
	EXPECT(ring_read(&ring->state) == 3);
	ring_exit(ring, e3);
	EXPECT(ring_read(&ring->state) == 2);
	ring_exit(ring, e2);
	ring_exit(ring, e1);
	EXPECT(ring_read(&ring->state) == 0x100);
	e1 = ring_enter(ring);
	EXPECT(e1 == 0x101);
	ring_exit(ring, e1);
	EXPECT(ring_read(&ring->state) == 0x200);
}

static void test_commit_outermost(void)
{
	enum ring_result res;
	u64 entered;
	u64 now;

	EXPECT(put(ring, 16, 1) == RING_OK);
	EXPECT(ring_read(&ring->commit) == 24);
	entered = ring_enter(ring);
	EXPECT(ring_reserve(ring, 16, KIND, 0, &now, &res) != NULL);
	EXPECT(put(ring, 16, 2) == RING_OK);		/* nested */
	EXPECT(ring_read(&ring->commit) == 24);
	ring_exit(ring, entered);
	EXPECT(ring_read(&ring->commit) == 72);
}

/* Positions do not fit in 32 bits; head and tail on both sides of that. */
static void test_positions(void)
{
	u64 at = (1ULL << 32) - 48;
	int i;

	ring->head = ring->tail = ring->commit = at;
	for (i = 0; i < 100; i++) {
		EXPECT(put(ring, BODY(56), 100 + i) == RING_OK);
		EXPECT(put(ring, BODY(72), 100 + i) == RING_OK);
		EXPECT(take(ring) == 100u + i && take(ring) == 100u + i);
	}
	EXPECT(ring_read(&ring->tail) > 1ULL << 32);
	EXPECT(guards_ok());
}

/*
 * What takes no more than half of what may be used fits wherever the ring
 * begins, if it is empty: a pad takes less than the record.
 */
static void test_fits_anywhere(void)
{
	u32 keep = SIZE / 8, limit = SIZE - keep;
	u64 at, base = (1ULL << 32) - SIZE;
	u32 need;

	for (need = 24; need <= limit / 2 / 8 * 8; need += 8)
		for (at = base; at < base + 2 * SIZE; at += 8) {
			ring->head = ring->tail = ring->commit = at;
			EXPECT(put_keep(ring, BODY(need), 1, keep) == RING_OK);
			EXPECT(take(ring) == 1 && take(ring) == 0);
		}
	EXPECT(guards_ok());
}

/* A stale copy of the tail makes a producer look again, not give up. */
static void test_tail_copy(void)
{
	int i;

	for (i = 0; i < 8; i++)
		EXPECT(put(ring, BODY(32), 1 + i) == RING_OK);
	EXPECT(put(ring, BODY(32), 10) == RING_FULL);
	for (i = 0; i < 4; i++)
		EXPECT(take(ring) == 1u + i);
	EXPECT(put(ring, BODY(32), 11) == RING_OK);
	ring->seen = 0;			/* an interrupted producer's, older */
	for (i = 0; i < 3; i++)
		EXPECT(put(ring, BODY(32), 12 + i) == RING_OK);
	EXPECT(put(ring, BODY(32), 20) == RING_FULL);
	EXPECT(ring_above(ring, ring_read(&ring->head), SIZE - 1));
	EXPECT(!ring_above(ring, ring_read(&ring->head), SIZE));
	EXPECT(guards_ok());
}

/* A nested exit undoes its entry, whatever nested in it. */
static void test_nested_exits(void)
{
	u64 e1 = ring_enter(ring), e2, e3;
	int i;

	for (i = 0; i < 3; i++) {
		e2 = ring_enter(ring);
		EXPECT(e2 == e1 + 1);
		e3 = ring_enter(ring);
		ring_exit(ring, e3);
		EXPECT(ring_read(&ring->state) == e2);
		ring_exit(ring, e2);
		EXPECT(ring_read(&ring->state) == e1);
	}
	ring_exit(ring, e1);
	EXPECT(ring_read(&ring->state) == 0x100);
}

const struct edge ring_edges[] = {
	EDGE(test_exact_fit), EDGE(test_whole_ring), EDGE(test_pad),
	EDGE(test_smallest_pad), EDGE(test_pad_exact), EDGE(test_rounding),
	EDGE(test_keep), EDGE(test_full_clock), EDGE(test_retry),
	EDGE(test_contended), EDGE(test_state), EDGE(test_commit_outermost),
	EDGE(test_positions), EDGE(test_fits_anywhere), EDGE(test_tail_copy),
	EDGE(test_nested_exits),
	{ NULL, NULL },
};
