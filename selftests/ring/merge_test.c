// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The edges of the ring and of the merge, one by one, without threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

#define SIZE	256U
#define KIND	7
/* Bytes of payload of a record that takes @n bytes. */
#define BODY(n)	((n) - (u32)sizeof(struct ring_rec))

static u64 test_now;
static void (*clock_hook)(void);

u64 ring_clock(void)
{
	u64 t = test_now;

	if (clock_hook)
		clock_hook();
	return t;
}

static int tests, failed;
static bool this_ok;

#define EXPECT(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("# %s:%d: %s\n", __func__, __LINE__, #cond); \
			this_ok = false;				\
		}							\
	} while (0)

/* A ring with guards around its buffer. */
struct box {
	struct hwpmc_ring ring;
	u64 before;
	u64 data[SIZE / 8];
	u64 after;
};

static struct box box[9];
static struct hwpmc_ring *const ring = &box[0].ring;

#define GUARD	0x6755617264477561ULL

static void reset(void)
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

static bool guards_ok(void)
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

static enum ring_result put(struct hwpmc_ring *r, u32 len, u64 tsc)
{
	return put_keep(r, len, tsc, 0);
}

/* Takes one record; returns its stamp, 0 if there is none. */
static u64 take(struct hwpmc_ring *r)
{
	struct ring_rec *rec = ring_peek(r, ring_read(&r->head));
	u64 tsc;

	if (!rec)
		return 0;
	tsc = ring_payload(rec)->tsc;
	ring_consume(r, rec);
	return tsc;
}

/* -- the ring -- */

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

/* -- looks -- */

static struct merge_src src[9];
static struct merge_src *heap[9];
static struct merge m;

static void sources(unsigned int n)
{
	unsigned int i;

	memset(src, 0, sizeof(src));
	m = (struct merge){ .src = src, .heap = heap, .n = n };
	for (i = 0; i < n; i++)
		src[i].ring = &box[i].ring;
}

static void test_look_quiet(void)
{
	u64 state;

	sources(1);
	state = merge_look_begin(&src[0]);
	EXPECT(merge_look_end(&src[0], state, 500));
	EXPECT(src[0].snap.quiet && src[0].snap.bound == 0 &&
	       src[0].snap.horizon == 500);
	EXPECT(put(ring, 16, 600) == RING_OK);
	state = merge_look_begin(&src[0]);
	EXPECT(merge_look_end(&src[0], state, 700));
	EXPECT(src[0].snap.bound == 24 && src[0].snap.horizon == 700);
}

static void test_look_disturbed(void)
{
	u64 entered;
	u64 state;

	sources(1);
	src[0].snap.horizon = 9;
	state = merge_look_begin(&src[0]);
	EXPECT(put(ring, 16, 1) == RING_OK);		/* came and went */
	EXPECT(!merge_look_end(&src[0], state, 500));
	state = merge_look_begin(&src[0]);
	entered = ring_enter(ring);			/* came */
	EXPECT(!merge_look_end(&src[0], state, 500));
	state = merge_look_begin(&src[0]);		/* was there */
	EXPECT(!merge_look_end(&src[0], state, 500));
	state = merge_look_begin(&src[0]);
	ring_exit(ring, entered);				/* went */
	EXPECT(!merge_look_end(&src[0], state, 500));
	EXPECT(src[0].snap.horizon == 9);
	state = merge_look_begin(&src[0]);
	EXPECT(merge_look_end(&src[0], state, 500));
}

/* The last positions before 2^64; looks and counters do not care. */
static void test_far_positions(void)
{
	u64 at = ~0ULL - (1ULL << 20) + 1, state;
	int i;

	ring->head = ring->tail = ring->commit = at;
	sources(1);
	for (i = 0; i < 1000; i++) {
		EXPECT(put(ring, BODY(40 + i % 10 * 8), 100 + i) == RING_OK);
		state = merge_look_begin(&src[0]);
		EXPECT(merge_look_end(&src[0], state, 200 + i));
		EXPECT(src[0].snap.bound == ring_read(&ring->head));
		EXPECT(take(ring) == 100u + i && take(ring) == 0);
	}
	EXPECT(ring_read(&ring->tail) > at);
	EXPECT(guards_ok());
}

static void test_busy_empty(void)
{
	sources(1);
	ring_enter(ring);
	src[0].snap.quiet = true;
	merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == 0 && src[0].snap.horizon == 0 &&
	       !src[0].snap.quiet);
}

static void test_busy_committed(void)
{
	enum ring_result res;
	u64 entered;
	u64 now;

	sources(1);
	put(ring, BODY(32), 11);
	put(ring, BODY(32), 12);
	entered = ring_enter(ring);
	test_now = 13;
	EXPECT(ring_reserve(ring, 16, KIND, 0, &now, &res) != NULL);
	put(ring, BODY(32), 14);			/* nested */
	merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == 64 && src[0].snap.horizon == 12);
	/* All of that is consumed: still the same. */
	ring_consume(ring, ring_peek(ring, 64));
	ring_consume(ring, ring_peek(ring, 64));
	merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == 64 && src[0].snap.horizon == 12);
	ring_exit(ring, entered);
	merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == 120 && src[0].snap.horizon == 14);
}

/* Between B and C: a nested record is complete but not published. */
static void test_busy_behind_tail(void)
{
	u64 state, entered;

	sources(1);
	entered = ring_enter(ring);
	ring_store_release(&ring->commit, ring_read(&ring->head));
	put(ring, 16, 21);
	ring_store_release(&ring->state, entered - 1 + RING_EXIT);
	EXPECT(ring_read(&ring->commit) == 0);
	state = merge_look_begin(&src[0]);
	EXPECT(merge_look_end(&src[0], state, 30));
	EXPECT(src[0].snap.bound == 24);
	EXPECT(take(ring) == 21);
	ring_enter(ring);
	merge_look_busy(&src[0]);
	/* what the quiet look has promised still holds */
	EXPECT(src[0].snap.bound == 24 && src[0].snap.horizon == 30);
	EXPECT(ring_peek(ring, src[0].snap.bound) == NULL);
	EXPECT(merge_empty(&m));
}

static void test_busy_pad(void)
{
	sources(1);
	put(ring, BODY(SIZE - 40), 1);
	EXPECT(take(ring) == 1);
	put(ring, BODY(48), 2);
	/* what was in the place of the pad's stamp must not count */
	ring_payload((struct ring_rec *)(ring->data + SIZE - 40))->tsc = ~0ULL;
	ring_enter(ring);
	merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == SIZE + 48 && src[0].snap.horizon == 2);
}

static void test_horizon(void)
{
	sources(4);
	src[2].ring = NULL;
	src[2].snap.horizon = 1;			/* nobody's */
	src[0].snap.horizon = 50;
	src[1].snap.horizon = 40;
	src[3].snap.horizon = 60;
	EXPECT(merge_horizon(&m, 100) == 40);
	EXPECT(merge_horizon(&m, 30) == 30);		/* records after now */
	src[0].ring = src[1].ring = src[3].ring = NULL;
	EXPECT(merge_horizon(&m, 100) == 100);
	m.n = 0;
	EXPECT(merge_horizon(&m, 100) == 100);
}

/* -- the merge -- */

static struct { unsigned int src; u64 tsc; u32 len; } out[512];
static unsigned int nout;

static void collect(void *arg, unsigned int from, u32 kind,
		    struct ring_stamp *s, u32 len)
{
	EXPECT(arg == &m && kind == KIND);
	EXPECT(nout < 512);
	out[nout].src = from;
	out[nout].len = len;
	out[nout++].tsc = s->tsc;
}

static void look_all(void)
{
	unsigned int i;

	for (i = 0; i < m.n; i++)
		if (src[i].ring)
			EXPECT(merge_look_end(&src[i],
					      merge_look_begin(&src[i]), 1000));
}

static u64 run(u64 upto)
{
	nout = 0;
	look_all();
	return merge_run(&m, upto, collect, &m);
}

static void test_merge_none(void)
{
	sources(0);
	EXPECT(run(1000) == 0 && merge_empty(&m));
	sources(3);
	EXPECT(run(1000) == 0 && merge_empty(&m));
	src[0].ring = src[1].ring = src[2].ring = NULL;
	EXPECT(run(1000) == 0 && merge_empty(&m));
}

static void test_merge_null(void)
{
	sources(5);
	src[0].ring = src[3].ring = NULL;
	put(&box[1].ring, 16, 5);
	put(&box[4].ring, 24, 3);
	EXPECT(run(1000) == 2);
	EXPECT(out[0].src == 4 && out[0].tsc == 3 && out[0].len == 24);
	EXPECT(out[1].src == 1 && out[1].tsc == 5 && out[1].len == 16);
	EXPECT(merge_empty(&m));
}

static void test_merge_upto(void)
{
	sources(2);
	put(&box[0].ring, 16, 10);
	put(&box[0].ring, 16, 20);
	put(&box[1].ring, 16, 15);
	put(&box[1].ring, 16, 20);
	put(&box[1].ring, 16, 21);
	EXPECT(run(9) == 0);
	EXPECT(!merge_empty(&m));
	EXPECT(run(15) == 2);
	EXPECT(out[0].tsc == 10 && out[1].tsc == 15);
	EXPECT(run(20) == 2);				/* inclusive */
	EXPECT(out[0].tsc == 20 && out[1].tsc == 20);
	EXPECT(!merge_empty(&m));
	EXPECT(run(1000) == 1 && out[0].tsc == 21);
	EXPECT(merge_empty(&m));
	EXPECT(box[0].ring.last == 20 && box[1].ring.last == 21);
}

/* What came after the look stays, even if old enough. */
static void test_merge_bound(void)
{
	sources(1);
	put(ring, 16, 10);
	look_all();
	put(ring, 16, 11);
	nout = 0;
	EXPECT(merge_run(&m, 1000, collect, &m) == 1 && out[0].tsc == 10);
	EXPECT(merge_empty(&m));
	look_all();
	EXPECT(!merge_empty(&m));
}

static void test_merge_equal(void)
{
	unsigned int i, seen_src[4] = { 0 };

	sources(4);
	for (i = 0; i < 12; i++)
		put(&box[i % 4].ring, 16 + 8 * (i / 4), 10);
	EXPECT(run(10) == 12);
	for (i = 0; i < nout; i++)	/* in order within each ring */
		EXPECT(out[i].len == 16 + 8 * seen_src[out[i].src]++);
	EXPECT(merge_empty(&m));
}

/* Each second record needs a pad. */
static void test_merge_wrap(void)
{
	u64 t = 1;
	int i;

	sources(2);
	for (i = 0; i < 40; i++) {
		EXPECT(put(&box[0].ring, BODY(120), t++) == RING_OK);
		EXPECT(put(&box[1].ring, BODY(104), t++) == RING_OK);
		EXPECT(run(1000) == 2);
		EXPECT(out[0].tsc == t - 2 && out[1].tsc == t - 1);
		EXPECT(merge_empty(&m));
	}
	EXPECT(guards_ok());
}

static void test_merge_random(void)
{
	unsigned int n, round, i, sum;

	srand(1);
	for (round = 0; round < 2000; round++) {
		u64 upto = 1 + rand() % 40, late = 0;

		reset();
		n = 1 + round % 9;
		sources(n);
		for (i = sum = 0; i < n; i++) {
			u64 t = rand() % 4;

			while ((t += rand() % 4) < 40 &&
			       put(&box[i].ring, 16, t) == RING_OK) {
				sum++;
				late += t > upto;
			}
		}
		EXPECT(run(upto) == sum - late && nout == sum - late);
		for (i = 0; i < nout; i++)
			EXPECT(out[i].tsc <= upto &&
			       (!i || out[i].tsc >= out[i - 1].tsc));
		EXPECT(merge_empty(&m) == !late);
		EXPECT(run(1000) == late);
		for (i = 0; i < nout; i++)
			EXPECT(out[i].tsc > upto &&
			       (!i || out[i].tsc >= out[i - 1].tsc));
	}
}

#define TEST(f)	{ f, #f }
static const struct { void (*f)(void); const char *name; } all[] = {
	TEST(test_exact_fit), TEST(test_whole_ring), TEST(test_pad),
	TEST(test_smallest_pad), TEST(test_pad_exact), TEST(test_rounding),
	TEST(test_keep), TEST(test_full_clock), TEST(test_retry),
	TEST(test_contended), TEST(test_state), TEST(test_commit_outermost),
	TEST(test_positions),
	TEST(test_fits_anywhere), TEST(test_tail_copy), TEST(test_nested_exits),
	TEST(test_far_positions), TEST(test_look_quiet), TEST(test_look_disturbed),
	TEST(test_busy_empty), TEST(test_busy_committed),
	TEST(test_busy_behind_tail), TEST(test_busy_pad), TEST(test_horizon),
	TEST(test_merge_none), TEST(test_merge_null), TEST(test_merge_upto),
	TEST(test_merge_bound), TEST(test_merge_equal), TEST(test_merge_wrap),
	TEST(test_merge_random),
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		reset();
		this_ok = true;
		all[i].f();
		printf("%sok %d - %s\n", this_ok ? "" : "not ", ++tests,
		       all[i].name + sizeof("test_") - 1);
		fflush(stdout);
		failed += !this_ok;
	}
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
