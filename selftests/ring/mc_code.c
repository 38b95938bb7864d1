// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The module's ring and merge on the machine of ring_mc.c, with a consumer that
 * checks what it gets.  Built with TSan's instrumentation, run without TSan.
 */
#include "mc.h"
#include "merge.h"

#define SIZE	128U
#define KEEP	32U
#define START	((1ULL << 32) - 64)

u64 ring_clock(void)
{
	return mc_clock();
}

struct cpu {
	struct hwpmc_ring ring;
	ring_atomic	attempts, ok, full;	/* as the module's statistics */
	u64		seq;			/* of the next attempt */
	u64		data[SIZE / 8];
};

static struct cpu cpus[MC_CPUS];
static const struct mc_scenario *sc;

static struct merge_src srcs[MC_CPUS];
static struct merge_head heap[MC_CPUS];
static struct merge merge = { .src = srcs, .heap = heap };
static u64 consumed[MC_CPUS], next_seq[MC_CPUS];
static u64 emitted;		/* highest stamp */
static u64 floor_now;		/* highest horizon of the passes before */

struct payload {
	struct ring_stamp stamp;
	u64	seq;
	u64	copy;		/* in records of the second size */
};

void mc_reset(const struct mc_scenario *s)
{
	unsigned int i;

	sc = s;
	merge.n = s->cpus;
	emitted = floor_now = 0;
	for (i = 0; i < s->cpus; i++) {
		struct cpu *c = &cpus[i];

		memset(c, 0, sizeof(*c));
		memset(&srcs[i], 0, sizeof(srcs[i]));
		ring_init(&c->ring, c->data, SIZE);
		c->ring.head = c->ring.tail = c->ring.commit = START;
		srcs[i].ring = &c->ring;
		consumed[i] = next_seq[i] = 0;
		mc_plain(c->data, SIZE);
	}
}

static void bump(ring_atomic *p)
{
	atomic_fetch_add_explicit(p, 1, memory_order_relaxed);
}

/* Fills with the number that the record has on its CPU. */
static void fill(struct cpu *c, struct ring_stamp *s, u32 len)
{
	struct payload *p = (struct payload *)s;

	s->header = len;
	mc_point();
	p->seq = c->seq++;
	if (len == sizeof(*p))
		p->copy = p->seq;
	mc_point();
	s->spare = ~len;
}

static void produce(unsigned int cpu)
{
	struct cpu *c = &cpus[cpu];
	u32 len = sizeof(struct payload) - (mc_level() == 1 ? 8 : 0);
	enum ring_result res;
	struct ring_stamp *s;
	u64 now;
	__auto_type depth = ring_enter(&c->ring);

	if ((depth & RING_DEPTH_MASK) > 1)
		mc_seen(MC_NESTED);
	bump(&c->attempts);
	s = ring_reserve(&c->ring, len, 1, mc_level() ? KEEP : 0, &now, &res);
	if (s) {
		bump(&c->ok);
		fill(c, s, len);
	} else {
		if (res != RING_FULL)
			mc_fail("not full, but no room");
		mc_seen(MC_FULL);
		bump(&c->full);
	}
	ring_exit(&c->ring, depth);
}

void mc_process(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < sc->process; i++)
		produce(cpu);
	mc_point();
}

void mc_interrupt(unsigned int cpu, unsigned int level)
{
	(void)level;
	produce(cpu);
}

static void emit(void *arg, unsigned int cpu, u32 kind, struct ring_stamp *s,
		 u32 len)
{
	struct payload *p = (struct payload *)s;

	(void)arg;
	mc_seen(MC_EMITTED);
	if (kind != 1 || (len != sizeof(*p) && len != sizeof(*p) - 8) ||
	    s->header != len || s->spare != ~len ||
	    (len == sizeof(*p) && p->copy != p->seq))
		mc_fail("torn record");
	if (s->tsc < emitted)
		mc_fail("emitted out of order");
	if (s->tsc < floor_now)
		mc_fail("below a horizon of before");
	emitted = s->tsc;
	if (p->seq >= 64 || next_seq[cpu] & 1ULL << p->seq)
		mc_fail("twice, or from nowhere");
	next_seq[cpu] |= 1ULL << p->seq;
	consumed[cpu]++;
	s->header = s->spare = 0;
}

/* Counters that are read later may be of more records. */
static void check_counted(unsigned int i, u64 attempts, u64 ok, u64 full, bool later)
{
	u64 pos = srcs[i].ring->tail, n = consumed[i], last = 0;

	while (pos < srcs[i].snap.bound) {
		struct ring_rec *rec = (struct ring_rec *)
			(srcs[i].ring->data + (pos & (SIZE - 1)));

		if (!rec->len || rec->len > SIZE)
			mc_fail("torn header");
		if (rec->kind == RING_PAD) {
			mc_seen(MC_PAD);
		} else {
			if (ring_payload(rec)->tsc < last)
				mc_fail("stamps go back");
			last = ring_payload(rec)->tsc;
			n++;
		}
		pos += rec->len;
	}
	if (pos != srcs[i].snap.bound || (later ? n > ok : n != ok))
		mc_fail("no producer there, but records and counter differ");
	if (attempts != ok + full)
		mc_fail("no producer there, but the account does not add up");
}

/*
 * A look with counters.  If it meets a producer, records are taken without counters, and
 * these are read in another look.
 */
static void count(unsigned int i, u64 state, u64 now, bool later)
{
	struct cpu *c = &cpus[i];
	u64 attempts = atomic_load_explicit(&c->attempts, memory_order_relaxed);
	u64 ok = atomic_load_explicit(&c->ok, memory_order_relaxed);
	u64 full = atomic_load_explicit(&c->full, memory_order_relaxed);

	if (later ? hwpmc_merge_look_holds(&srcs[i], state) :
		    hwpmc_merge_look_end(&srcs[i], state, now)) {
		mc_seen(later ? MC_LATER : MC_QUIET);
		check_counted(i, attempts, ok, full, later);
	} else if (!later) {
		mc_seen(MC_BUSY);
		hwpmc_merge_look_busy(&srcs[i]);
		count(i, hwpmc_merge_look_begin(&srcs[i]), now, true);
	}
}

static void look(unsigned int i, u64 now)
{
	count(i, hwpmc_merge_look_begin(&srcs[i]), now, false);
}

static void pass(void)
{
	u64 now = ring_clock(), horizon;
	unsigned int i;

	ring_mb();
	for (i = 0; i < merge.n; i++)
		look(i, now);
	horizon = hwpmc_merge_horizon(&merge, now);
	hwpmc_merge_run(&merge, horizon, emit, NULL);
	if (horizon > floor_now)
		floor_now = horizon;
}

void mc_consumer(void)
{
	unsigned int i;

	for (i = 0; i < sc->passes; i++)
		pass();
}

/* All threads have ended; what is left is taken by one more pass. */
void mc_finish(void)
{
	unsigned int i;

	pass();
	for (i = 0; i < sc->cpus; i++) {
		struct cpu *c = &cpus[i];

		if (!srcs[i].snap.quiet)
			mc_fail("not quiet at the end");
		if (consumed[i] != c->ok || c->attempts != c->ok + c->full)
			mc_fail("a record was lost");
		if (c->ring.tail != c->ring.head)
			mc_fail("something is left");
	}
}
