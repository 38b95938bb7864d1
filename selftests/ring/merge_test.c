// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The edges of the merge, one by one, without threads; and those of the ring. */
#include <stdlib.h>

#include "edges.h"

/* -- looks -- */

static struct merge_src src[9];
static struct merge_head heap[9];
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
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(hwpmc_merge_look_end(&src[0], state, 500));
	EXPECT(src[0].snap.quiet && src[0].snap.bound == 0 &&
	       src[0].snap.horizon == 500);
	EXPECT(put(ring, 16, 600) == RING_OK);
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(hwpmc_merge_look_end(&src[0], state, 700));
	EXPECT(src[0].snap.bound == 24 && src[0].snap.horizon == 700);
}

static void test_look_disturbed(void)
{
	u64 entered;
	u64 state;

	sources(1);
	src[0].snap.horizon = 9;
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(put(ring, 16, 1) == RING_OK);		/* came and went */
	EXPECT(!hwpmc_merge_look_end(&src[0], state, 500));
	state = hwpmc_merge_look_begin(&src[0]);
	entered = ring_enter(ring);			/* came */
	EXPECT(!hwpmc_merge_look_end(&src[0], state, 500));
	state = hwpmc_merge_look_begin(&src[0]);		/* was there */
	EXPECT(!hwpmc_merge_look_end(&src[0], state, 500));
	state = hwpmc_merge_look_begin(&src[0]);
	ring_exit(ring, entered);				/* went */
	EXPECT(!hwpmc_merge_look_end(&src[0], state, 500));
	EXPECT(src[0].snap.horizon == 9);
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(hwpmc_merge_look_end(&src[0], state, 500));
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
		state = hwpmc_merge_look_begin(&src[0]);
		EXPECT(hwpmc_merge_look_end(&src[0], state, 200 + i));
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
	hwpmc_merge_look_busy(&src[0]);
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
	hwpmc_merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == 64 && src[0].snap.horizon == 12);
	/* All of that is consumed: still the same. */
	ring_consume(ring, ring_peek(ring, 64));
	ring_consume(ring, ring_peek(ring, 64));
	hwpmc_merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == 64 && src[0].snap.horizon == 12);
	ring_exit(ring, entered);
	hwpmc_merge_look_busy(&src[0]);
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
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(hwpmc_merge_look_end(&src[0], state, 30));
	EXPECT(src[0].snap.bound == 24);
	EXPECT(take(ring) == 21);
	ring_enter(ring);
	hwpmc_merge_look_busy(&src[0]);
	/* what the quiet look has promised still holds */
	EXPECT(src[0].snap.bound == 24 && src[0].snap.horizon == 30);
	EXPECT(ring_peek(ring, src[0].snap.bound) == NULL);
	EXPECT(hwpmc_merge_empty(&m));
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
	hwpmc_merge_look_busy(&src[0]);
	EXPECT(src[0].snap.bound == SIZE + 48 && src[0].snap.horizon == 2);
}

/* What is read between the halves of a look holds if no producer has run there. */
static void test_holds(void)
{
	u64 entered, state;

	sources(1);
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(hwpmc_merge_look_holds(&src[0], state));
	put(ring, BODY(32), 11);			/* came and went */
	EXPECT(!hwpmc_merge_look_holds(&src[0], state));
	entered = ring_enter(ring);
	EXPECT(!hwpmc_merge_look_holds(&src[0], state));
	state = hwpmc_merge_look_begin(&src[0]);	/* is there */
	EXPECT(!hwpmc_merge_look_holds(&src[0], state));
	ring_exit(ring, entered);
	EXPECT(!hwpmc_merge_look_holds(&src[0], state));
	state = hwpmc_merge_look_begin(&src[0]);
	EXPECT(hwpmc_merge_look_holds(&src[0], state));
	/* the snapshot is for records only: it is as it was */
	EXPECT(src[0].snap.bound == 0 && !src[0].snap.quiet);
}

static void test_horizon(void)
{
	sources(4);
	src[2].ring = NULL;
	src[2].snap.horizon = 1;			/* nobody's */
	src[0].snap.horizon = 50;
	src[1].snap.horizon = 40;
	src[3].snap.horizon = 60;
	EXPECT(hwpmc_merge_horizon(&m, 100) == 40);
	EXPECT(hwpmc_merge_horizon(&m, 30) == 30);		/* records after now */
	src[0].ring = src[1].ring = src[3].ring = NULL;
	EXPECT(hwpmc_merge_horizon(&m, 100) == 100);
	m.n = 0;
	EXPECT(hwpmc_merge_horizon(&m, 100) == 100);
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
			EXPECT(hwpmc_merge_look_end(
				&src[i], hwpmc_merge_look_begin(&src[i]),
				1000));
}

static u64 run(u64 upto)
{
	nout = 0;
	look_all();
	return hwpmc_merge_run(&m, upto, collect, &m);
}

static void test_merge_none(void)
{
	sources(0);
	EXPECT(run(1000) == 0 && hwpmc_merge_empty(&m));
	sources(3);
	EXPECT(run(1000) == 0 && hwpmc_merge_empty(&m));
	src[0].ring = src[1].ring = src[2].ring = NULL;
	EXPECT(run(1000) == 0 && hwpmc_merge_empty(&m));
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
	EXPECT(hwpmc_merge_empty(&m));
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
	EXPECT(!hwpmc_merge_empty(&m));
	EXPECT(run(15) == 2);
	EXPECT(out[0].tsc == 10 && out[1].tsc == 15);
	EXPECT(run(20) == 2);				/* inclusive */
	EXPECT(out[0].tsc == 20 && out[1].tsc == 20);
	EXPECT(!hwpmc_merge_empty(&m));
	EXPECT(run(1000) == 1 && out[0].tsc == 21);
	EXPECT(hwpmc_merge_empty(&m));
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
	EXPECT(hwpmc_merge_run(&m, 1000, collect, &m) == 1 && out[0].tsc == 10);
	EXPECT(hwpmc_merge_empty(&m));
	look_all();
	EXPECT(!hwpmc_merge_empty(&m));
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
	EXPECT(hwpmc_merge_empty(&m));
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
		EXPECT(hwpmc_merge_empty(&m));
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
		EXPECT(hwpmc_merge_empty(&m) == !late);
		EXPECT(run(1000) == late);
		for (i = 0; i < nout; i++)
			EXPECT(out[i].tsc > upto &&
			       (!i || out[i].tsc >= out[i - 1].tsc));
	}
}

static const struct edge merge_edges[] = {
	EDGE(test_far_positions), EDGE(test_look_quiet),
	EDGE(test_look_disturbed), EDGE(test_busy_empty),
	EDGE(test_busy_committed), EDGE(test_busy_behind_tail),
	EDGE(test_busy_pad), EDGE(test_holds), EDGE(test_horizon), EDGE(test_merge_none),
	EDGE(test_merge_null), EDGE(test_merge_upto), EDGE(test_merge_bound),
	EDGE(test_merge_equal), EDGE(test_merge_wrap), EDGE(test_merge_random),
	{ NULL, NULL },
};

static int tests, failed;

static void run_edges(const struct edge *e)
{
	for (; e->run; e++) {
		reset();
		this_ok = true;
		e->run();
		printf("%sok %d - %s\n", this_ok ? "" : "not ", ++tests,
		       e->name + sizeof("test_") - 1);
		fflush(stdout);
		failed += !this_ok;
	}
}

int main(void)
{
	run_edges(ring_edges);
	run_edges(merge_edges);
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
