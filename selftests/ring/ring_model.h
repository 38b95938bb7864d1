/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Producers that describe themselves and a consumer that checks everything,
 * shared by ring_stress.c (threads, signals) and ring_step.c (one instruction
 * at a time).
 *
 * A record's payload, 24 bytes or more:
 *	stamp.header	cpu << 28 | level << 24 | bytes of payload
 *	stamp.spare	checksum, written last; 0 while it is being filled
 *	stamp.tsc
 *	seq		number of the attempt, per CPU and level
 *	pattern		from all of these
 */
#ifndef RING_MODEL_H
#define RING_MODEL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "merge.h"

#define MAX_CPUS	8
#define LEVELS		3		/* process, "IRQ", "NMI" */
#define MIN_LEN		24
#define MAX_LEN		4128
#define POISON		0xA5A5A5A5U
#define LOOKS		3		/* then the ring is busy */
#define ANNOUNCED	512

/* Properties */
enum {
	P_TORN, P_STAMP, P_SORTED, P_HORIZON, P_LOST, P_DROPS, P_UNCOMMITTED,
	P_WRAP, P_KEEP, P_END, P_MAX
};

static const char *const prop_name[P_MAX] = {
	[P_TORN]	= "no torn record",
	[P_STAMP]	= "stamps never decrease on a CPU",
	[P_SORTED]	= "merged output is sorted",
	[P_HORIZON]	= "nothing below an announced horizon",
	[P_LOST]	= "committed == consumed (+ in ring), at quiet looks too",
	[P_DROPS]	= "attempts == committed + full + contended == sequence",
	[P_UNCOMMITTED]	= "no record before its commit",
	[P_WRAP]	= "pads only at the end of the buffer",
	[P_KEEP]	= "kept part is for process records",
	[P_END]		= "depth 0, bound == head == tail at the end",
};

static ring_atomic prop_checks[P_MAX], prop_fails[P_MAX];
static bool fail_fast;

__attribute__((format(printf, 2, 3), unused))
static void prop_fail(int p, const char *fmt, ...)
{
	u64 n = atomic_fetch_add_explicit(&prop_fails[p], 1,
					  memory_order_relaxed);
	char line[256];
	va_list ap;

	if (n < 4) {
		va_start(ap, fmt);
		vsnprintf(line, sizeof(line), fmt, ap);
		va_end(ap);
		printf("# %s: %s\n", prop_name[p], line);
		fflush(stdout);
	}
	if (fail_fast) {
		printf("not ok - %s\n", prop_name[p]);
		fflush(stdout);
		_exit(1);
	}
}

#define CHECK(p, cond, ...)						\
	do {								\
		atomic_fetch_add_explicit(&prop_checks[p], 1,		\
					  memory_order_relaxed);	\
		if (!(cond))						\
			prop_fail((p), __VA_ARGS__);			\
	} while (0)

/* Written by one context, read by the consumer: as the module's statistics. */
static inline u64 peek(ring_atomic *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static inline void bump(ring_atomic *p)
{
	atomic_store_explicit(p, peek(p) + 1, memory_order_relaxed);
}

struct level {
	ring_atomic	attempts, ok, full, contended;
	ring_atomic	nested;		/* entered at depth > 1 */
	ring_atomic	in_keep;	/* records that reach into the kept part */
	u64		rng;
	bool		storm;
};

struct cpu {
	struct hwpmc_ring ring;
	unsigned int	id;
	u32		keep;		/* for levels above process */
	volatile int	level;		/* what runs now */
	struct level	lv[LEVELS];
};

/* What the consumer knows of a CPU. */
struct seen {
	u64	next[LEVELS], gaps[LEVELS], got[LEVELS];
	u64	consumed, last, end, pads;
	u64	floor;			/* horizon for what is consumed now */
	struct { u64 bound, horizon; } ann[ANNOUNCED];
	u64	ann_head, ann_tail;
};

static struct cpu *cpus[MAX_CPUS];
static unsigned int ncpus;
static struct seen seen[MAX_CPUS];
static struct merge_src srcs[MAX_CPUS];
static struct merge_head heap[MAX_CPUS];
static struct merge merge = { .src = srcs, .heap = heap };
static u64 last_emitted, max_horizon, pass_floor;
static u64 looks_quiet, looks_busy, counted_later, passes, records;

/* Tests' hook: a place where something may nest. */
static void (*nest_hook)(struct cpu *c);

static inline u64 rnd(u64 *s)
{
	u64 x = *s;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*s = x;
	return x * 0x2545F4914F6CDD1DULL;
}

static inline u32 mix(u64 a, u64 b)
{
	u64 x = (a ^ (b * 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL;

	return (u32)(x >> 29) | 1;
}

static inline u64 *payload_seq(struct ring_stamp *s)
{
	return (u64 *)(s + 1);
}

static inline u32 payload_sum(u32 header, u64 tsc, u64 seq)
{
	u32 sum = mix(tsc ^ ((u64)header << 32), seq);

	return sum == POISON ? 1 : sum;
}

static inline u8 pattern_byte(u32 sum, u32 i)
{
	return (u8)(sum >> (i & 3) * 8) ^ (u8)(i >> 2);
}

static void fill(struct cpu *c, int lvl, struct ring_stamp *s, u32 len, u64 seq)
{
	u8 *p = (u8 *)s;
	u32 sum, i;

	*(volatile u32 *)&s->spare = 0;
	barrier();
	s->header = c->id << 28 | (u32)lvl << 24 | len;
	sum = payload_sum(s->header, s->tsc, seq);
	for (i = MIN_LEN; i < len / 2; i++)
		p[i] = pattern_byte(sum, i);
	if (nest_hook)
		nest_hook(c);
	for (; i < len; i++)
		p[i] = pattern_byte(sum, i);
	*payload_seq(s) = seq;
	barrier();
	s->spare = sum;
}

/* What of the ring this record may have used, seen from a later tail. */
static void check_keep(struct cpu *c, int lvl, struct ring_stamp *s, u32 len)
{
	struct hwpmc_ring *r = &c->ring;
	u32 need = ALIGN(len + (u32)sizeof(struct ring_rec), RING_ALIGN);
	u64 head = atomic_load_explicit(&r->head, memory_order_relaxed);
	u64 off = (u64)((u8 *)s - r->data) - sizeof(struct ring_rec) + need;
	u64 end = head - ((head - off) & (r->size - 1));
	u64 tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	u64 used = end > tail ? end - tail : 0;

	CHECK(P_KEEP, used <= r->size - (lvl ? c->keep : 0),
	      "cpu %u level %d: %llu bytes used of %u", c->id, lvl,
	      (unsigned long long)used, r->size);
	if (used > r->size - c->keep)
		bump(&c->lv[lvl].in_keep);
}

/* One attempt in parts, so that ring_step.c can take it apart. */
struct attempt {
	u64 entered;
	u32 len;
	u64 seq, now;
	struct ring_stamp *s;
};

static inline void attempt_enter(struct cpu *c, int lvl, struct attempt *a)
{
	struct level *l = &c->lv[lvl];
	unsigned int depth;

	a->entered = ring_enter(&c->ring);
	depth = a->entered & RING_DEPTH_MASK;
	a->seq = peek(&l->attempts);
	bump(&l->attempts);
	if (depth > 1)
		bump(&l->nested);
	if (depth < 1 || depth > (unsigned int)lvl + 1)
		prop_fail(P_END, "depth %u at level %d", depth, lvl);
}

static inline void attempt_reserve(struct cpu *c, int lvl, struct attempt *a)
{
	enum ring_result res;

	a->s = ring_reserve(&c->ring, a->len, 1 + lvl, lvl ? c->keep : 0,
			    &a->now, &res);
	bump(res == RING_OK ? &c->lv[lvl].ok :
	     res == RING_FULL ? &c->lv[lvl].full : &c->lv[lvl].contended);
	if (!a->s != (res != RING_OK) || (a->s && a->s->tsc != a->now))
		prop_fail(P_DROPS, "result %d does not fit", res);
}

static inline void attempt_fill(struct cpu *c, int lvl, struct attempt *a)
{
	if (!a->s)
		return;
	check_keep(c, lvl, a->s, a->len);
	fill(c, lvl, a->s, a->len, a->seq);
}

/* Returns true if the record is as its producer wrote it. */
static bool verify(unsigned int cpu, u32 kind, struct ring_stamp *s, u32 len)
{
	u32 spare = *(volatile u32 *)&s->spare;
	u32 own = s->header & 0xFFFFFF, lvl = s->header >> 24 & 0xF, sum, i;
	u8 *p = (u8 *)s;

	CHECK(P_UNCOMMITTED, spare != 0 && spare != POISON,
	      "cpu %u spare %#x header %#x", cpu, spare, s->header);
	if (spare == 0 || spare == POISON)
		return false;
	sum = payload_sum(s->header, s->tsc, *payload_seq(s));
	if (spare != sum || s->header >> 28 != cpu || lvl >= LEVELS ||
	    kind != lvl + 1 || own < MIN_LEN || len != ALIGN(own, 8U)) {
		CHECK(P_TORN, false, "cpu %u kind %u header %#x len %u", cpu,
		      kind, s->header, len);
		return false;
	}
	for (i = MIN_LEN; i < own; i++)
		if (p[i] != pattern_byte(sum, i))
			break;
	CHECK(P_TORN, i == own, "cpu %u level %u len %u: byte %u", cpu, lvl,
	      own, i);
	return i == own;
}

/* Announcements that cover what begins at @pos become its floor. */
static void raise_floor(struct seen *n, u64 pos)
{
	while (n->ann_tail != n->ann_head &&
	       n->ann[n->ann_tail % ANNOUNCED].bound <= pos) {
		if (n->ann[n->ann_tail % ANNOUNCED].horizon > n->floor)
			n->floor = n->ann[n->ann_tail % ANNOUNCED].horizon;
		n->ann_tail++;
	}
}

static void announce(struct seen *n, const struct ring_snap *snap)
{
	u64 i = n->ann_head - 1;

	if (n->ann_head != n->ann_tail &&
	    n->ann[i % ANNOUNCED].bound >= snap->bound) {
		if (n->ann[i % ANNOUNCED].bound == snap->bound &&
		    snap->horizon > n->ann[i % ANNOUNCED].horizon)
			n->ann[i % ANNOUNCED].horizon = snap->horizon;
		return;
	}
	if (n->ann_head - n->ann_tail == ANNOUNCED)
		return;
	n->ann[n->ann_head % ANNOUNCED].bound = snap->bound;
	n->ann[n->ann_head++ % ANNOUNCED].horizon = snap->horizon;
}

static void check_place(struct seen *n, struct hwpmc_ring *r, u64 pos, u32 len)
{
	u64 pad = pos - n->end;

	if (pad) {
		n->pads++;
		CHECK(P_WRAP, !(pos & (r->size - 1)) && pad < r->size &&
		      pad < len + sizeof(struct ring_rec),
		      "pad %llu at %llu before %u",
		      (unsigned long long)pad, (unsigned long long)n->end, len);
	}
	n->end = pos + len + sizeof(struct ring_rec);
}

static void emit(void *arg, unsigned int src, u32 kind, struct ring_stamp *s,
		 u32 len)
{
	struct seen *n = &seen[src];
	struct hwpmc_ring *r = srcs[src].ring;
	u64 pos = atomic_load_explicit(&r->tail, memory_order_relaxed);
	u64 tsc = s->tsc;
	u32 lvl;

	(void)arg;
	records++;
	n->consumed++;
	check_place(n, r, pos, len);
	raise_floor(n, pos);
	CHECK(P_STAMP, tsc >= n->last, "cpu %u: %llu after %llu", src,
	      (unsigned long long)tsc, (unsigned long long)n->last);
	CHECK(P_SORTED, tsc >= last_emitted, "cpu %u: %llu after %llu", src,
	      (unsigned long long)tsc, (unsigned long long)last_emitted);
	CHECK(P_HORIZON, tsc >= n->floor, "cpu %u: %llu < its %llu", src,
	      (unsigned long long)tsc, (unsigned long long)n->floor);
	CHECK(P_HORIZON, tsc >= pass_floor, "cpu %u: %llu < %llu", src,
	      (unsigned long long)tsc, (unsigned long long)pass_floor);
	n->last = tsc;
	last_emitted = tsc;
	if (!verify(src, kind, s, len))
		return;
	lvl = s->header >> 24 & 0xF;
	CHECK(P_DROPS, *payload_seq(s) >= n->next[lvl], "cpu %u level %u: "
	      "attempt %llu after %llu", src, lvl,
	      (unsigned long long)*payload_seq(s),
	      (unsigned long long)n->next[lvl] - 1);
	n->gaps[lvl] += *payload_seq(s) - n->next[lvl];
	n->next[lvl] = *payload_seq(s) + 1;
	n->got[lvl]++;
	/* All but what the merge reads again. */
	s->header = POISON;
	s->spare = POISON;
	memset(s + 1, POISON & 0xFF, len - sizeof(*s));
}

/*
 * Walks what the look showed: must be as much as the counters said, or not more if
 * they were read later.
 */
static void check_counted(unsigned int i, u64 ok, bool later)
{
	struct hwpmc_ring *r = srcs[i].ring;
	u64 pos = atomic_load_explicit(&r->tail, memory_order_relaxed);
	u64 count = seen[i].consumed;

	while (pos < srcs[i].snap.bound) {
		struct ring_rec *rec = (void *)(r->data + (pos & (r->size - 1)));

		if (rec->len < sizeof(*rec) || rec->len > r->size) {
			prop_fail(P_TORN, "cpu %u: header of %u bytes", i,
				  rec->len);
			_exit(1);	/* no way on from here */
		}
		count += rec->kind != RING_PAD;
		pos += rec->len;
	}
	CHECK(P_LOST, later ? count <= ok : count == ok,
	      "cpu %u: %llu counted, %llu in ring", i,
	      (unsigned long long)ok, (unsigned long long)count);
}

static u64 ok_now(unsigned int i)
{
	struct cpu *c = cpus[i];

	return peek(&c->lv[0].ok) + peek(&c->lv[1].ok) + peek(&c->lv[2].ok);
}

/* The parts of a pass.  max_horizon becomes the floor of the next pass. */
static bool look_once(unsigned int i, u64 now, void (*between)(void))
{
	u64 state = hwpmc_merge_look_begin(&srcs[i]);
	u64 ok = ok_now(i);

	if (between)
		between();
	if (!hwpmc_merge_look_end(&srcs[i], state, now))
		return false;
	looks_quiet++;
	check_counted(i, ok, false);
	announce(&seen[i], &srcs[i].snap);
	return true;
}

/* Then the counters may still be those of one moment. */
static void look_busy(unsigned int i)
{
	u64 state, ok;

	hwpmc_merge_look_busy(&srcs[i]);
	looks_busy++;
	announce(&seen[i], &srcs[i].snap);
	state = hwpmc_merge_look_begin(&srcs[i]);
	ok = ok_now(i);
	if (hwpmc_merge_look_holds(&srcs[i], state)) {
		counted_later++;
		check_counted(i, ok, true);
	}
}

static void pass_run(u64 now)
{
	u64 horizon = hwpmc_merge_horizon(&merge, now);

	pass_floor = max_horizon;
	if (horizon > max_horizon)
		max_horizon = horizon;
	hwpmc_merge_run(&merge, horizon, emit, NULL);
	passes++;
}

static inline void model_pass(void (*between)(void))
{
	u64 now = ring_clock();
	unsigned int i, try;

	ring_mb();
	for (i = 0; i < ncpus; i++) {
		for (try = 0; try < LOOKS; try++)
			if (look_once(i, now, between))
				break;
		if (try == LOOKS)
			look_busy(i);
	}
#ifdef MUTANT_CLOCK_LATE	/* ./mutate: how not to do it */
	now = ring_clock();
	for (i = 0; i < ncpus; i++)
		if (srcs[i].snap.quiet)
			srcs[i].snap.horizon = now;
#endif
	pass_run(now);
}

/* The buffer ends at a page nobody may touch. */
static void *ring_buffer(u32 size)
{
	size_t page = sysconf(_SC_PAGESIZE), room = ALIGN((size_t)size, page);
	u8 *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE)) {
		perror("mmap");
		exit(1);
	}
	return p + room - size;
}

static void free_ring_buffer(struct hwpmc_ring *r)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t room = ALIGN((size_t)r->size, page);

	munmap(r->data + r->size - room, room + page);
}

/* Positions begin a little below 2^32, to cross it. */
#define FIRST_POS	((1ULL << 32) - 4096)
/* The head of a ring of @size that has been filled once is beyond this. */
#define WRAPPED(size)	((1ULL << 32) + (size))

static void model_setup(unsigned int n, u32 size, u32 keep, u64 seed)
{
	unsigned int i, l;

	ncpus = merge.n = n;
	memset(seen, 0, sizeof(seen));
	memset(srcs, 0, sizeof(srcs));
	last_emitted = max_horizon = pass_floor = 0;
	for (i = 0; i < n; i++) {
		cpus[i] = aligned_alloc(64, ALIGN(sizeof(*cpus[i]), 64UL));
		memset(cpus[i], 0, sizeof(*cpus[i]));
		ring_init(&cpus[i]->ring, ring_buffer(size), size);
		cpus[i]->ring.head = cpus[i]->ring.tail =
			cpus[i]->ring.commit = seen[i].end = FIRST_POS;
		cpus[i]->id = i;
		cpus[i]->keep = keep;
		for (l = 0; l < LEVELS; l++)
			cpus[i]->lv[l].rng = (seed * 31 + i * 7 + l + 1) *
					     0x9E3779B97F4A7C15ULL | 1;
		srcs[i].ring = &cpus[i]->ring;
	}
}

static void check_level(unsigned int i, int l)
{
	struct level *v = &cpus[i]->lv[l];
	struct seen *n = &seen[i];
	u64 drops = peek(&v->full) + peek(&v->contended);

	CHECK(P_DROPS, peek(&v->attempts) == peek(&v->ok) + drops,
	      "cpu %u level %d", i, l);
	CHECK(P_DROPS, n->gaps[l] + peek(&v->attempts) - n->next[l] == drops,
	      "cpu %u level %d: gaps %llu, last %llu of %llu, drops %llu", i, l,
	      (unsigned long long)n->gaps[l], (unsigned long long)n->next[l],
	      (unsigned long long)peek(&v->attempts), (unsigned long long)drops);
	CHECK(P_LOST, n->got[l] == peek(&v->ok),
	      "cpu %u level %d: %llu of %llu", i, l,
	      (unsigned long long)n->got[l], (unsigned long long)peek(&v->ok));
}

/* Producers are gone: one quiet pass takes all. */
static void model_finish(void)
{
	u64 now = ring_clock(), outermost;
	unsigned int i;
	int l;

	ring_mb();
	for (i = 0; i < ncpus; i++) {
		bool quiet = look_once(i, now, NULL);

		CHECK(P_END, quiet, "cpu %u is not quiet", i);
		if (!quiet)
			look_busy(i);
	}
	pass_run(now);
	CHECK(P_END, hwpmc_merge_empty(&merge), "records left");
	for (i = 0; i < ncpus; i++) {
		struct hwpmc_ring *r = &cpus[i]->ring;
		u64 head = peek(&r->head), state = peek(&r->state);

		outermost = 0;
		for (l = 0; l < LEVELS; l++) {
			check_level(i, l);
			outermost += peek(&cpus[i]->lv[l].attempts) -
				     peek(&cpus[i]->lv[l].nested);
		}
		CHECK(P_END, state == outermost << 8, "cpu %u: state %#llx", i,
		      (unsigned long long)state);
		CHECK(P_WRAP, head > WRAPPED(r->size),
		      "cpu %u: stuck at %llu", i, (unsigned long long)head);
		CHECK(P_END, srcs[i].snap.bound == head &&
		      peek(&r->tail) == head && peek(&r->commit) <= head,
		      "cpu %u: head %llu bound %llu tail %llu", i,
		      (unsigned long long)head,
		      (unsigned long long)srcs[i].snap.bound,
		      (unsigned long long)peek(&r->tail));
	}
}

static void model_free(void)
{
	unsigned int i;

	for (i = 0; i < ncpus; i++) {
		free_ring_buffer(&cpus[i]->ring);
		free(cpus[i]);
		cpus[i] = NULL;
	}
}

static unsigned int tap_tests, tap_failed;

static void tap(bool ok, const char *where, const char *what, u64 count)
{
	printf("%sok %u - %s: %s (%llu)\n", ok ? "" : "not ", ++tap_tests,
	       where, what, (unsigned long long)count);
	fflush(stdout);
	tap_failed += !ok;
}

/* One line per property for what ran since the last call. */
static void tap_properties(const char *where)
{
	int p;

	for (p = 0; p < P_MAX; p++) {
		u64 checks = atomic_exchange(&prop_checks[p], 0);
		u64 fails = atomic_exchange(&prop_fails[p], 0);

		tap(!fails, where, prop_name[p], checks);
	}
}

static int tap_end(void)
{
	printf("1..%u\n", tap_tests);
	return tap_failed ? 1 : 0;
}

static u64 env_u64(const char *name, u64 dflt)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : dflt;
}

#endif /* RING_MODEL_H */
