// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A small model checker: runs the module's own ring and merge in every order
 * that a weakly ordered machine may choose, within the bounds of a scenario.
 *
 * The code under test (mc_code.c, merge.c) is built with -fsanitize=thread, but
 * linked with the functions below instead of TSan's.  So each atomic operation
 * arrives here with its memory order, and each other access to a ring's buffer
 * too.  At each operation the machine chooses
 *
 *	- whether an IRQ or an NMI comes first (a call on the same stack);
 *	- whether another thread goes on first (coroutines);
 *	- for a load: which of the values that this thread may still see.
 *
 * Memory: a word is the list of the values it ever had, each with what is
 * known to who acquires it.  A thread has a view: for each word the oldest
 * value it may still read, and a vector clock for races on plain memory.  A
 * relaxed load may return any value not older than the view; acquire, release
 * and fences move views as C11 (without cycles of speculated stores) and the
 * kernel's model have it.  So stores are seen out of order, loads are satisfied
 * early, and only what the code asks for is ordered.  Plain accesses that are
 * not ordered are a failure, as is whatever mc_code.c complains about.
 *
 * All choices are tried depth first, each from the start (the choices so far
 * are replayed).  What is beyond that is tried at random, RANDOM=n times.
 */
#undef _FORTIFY_SOURCE		/* it knows of one stack only */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "mc.h"

typedef uint64_t u64;

#define MAX_WORDS	16
#define MAX_VALUES	96
#define MAX_CHOICES	4096
#define MAX_OPS		4096
#define THREADS		(MC_CPUS + 1)	/* 0: the consumer */
#define STACK		(128 << 10)

/* -- choices -- */

static struct { unsigned short taken, of; } choice[MAX_CHOICES];
static unsigned int nchoices, known;
static u64 rng;				/* 0: all of them */
static u64 runs;

static u64 random_number(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545F4914F6CDD1DULL >> 20;
}

/* 0 .. @n - 1; at random, other than 0 once in @rare. */
static unsigned int choose(unsigned int n, unsigned int rare)
{
	if (n < 2)
		return 0;
	if (rng)
		return random_number() % rare ? 0 : random_number() % n;
	if (nchoices == MAX_CHOICES)
		mc_fail("too many choices");
	if (nchoices == known) {
		choice[known].taken = 0;
		choice[known++].of = n;
	}
	if (choice[nchoices].of != n)
		mc_fail("machine: a replay differs");
	return choice[nchoices++].taken;
}

/* The next run's choices; false: there is none. */
static bool next_choices(void)
{
	known = nchoices;
	while (known && choice[known - 1].taken + 1 == choice[known - 1].of)
		known--;
	if (!known)
		return false;
	choice[known - 1].taken++;
	return true;
}

/* -- threads -- */

static const struct mc_scenario *scenario;

static struct thread {
	jmp_buf		at;
	bool		started, done;
	unsigned int	level, budget[MC_LEVELS];
	char		*stack;
} thread[THREADS];

static unsigned int self, nthreads, switches_left;
static jmp_buf all_done;
static struct {
	unsigned char	thread, level;
	char		op;
	u64		word, value;
} trace[MAX_OPS];			/* of this run; TRACE=1 shows it */
static unsigned int nops;
static u64 ticks, seen[MC_NSEEN];

static void note(char op, u64 word, u64 value)
{
	if (nops == MAX_OPS)
		mc_fail("endless");
	trace[nops].thread = self;
	trace[nops].level = thread[self].level;
	trace[nops].op = op;
	trace[nops].word = word;
	trace[nops++].value = value;
}

static void thread_body(void);

static void go(unsigned int to)
{
	static ucontext_t first[THREADS];

	self = to;
	if (thread[to].started)
		_longjmp(thread[to].at, 1);
	thread[to].started = true;
	getcontext(&first[to]);
	first[to].uc_stack.ss_sp = thread[to].stack;
	first[to].uc_stack.ss_size = STACK;
	makecontext(&first[to], thread_body, 0);
	setcontext(&first[to]);
}

static unsigned int others(unsigned int *list)
{
	unsigned int i, n = 0;

	for (i = 0; i < nthreads; i++)
		if (i != self && !thread[i].done)
			list[n++] = i;
	return n;
}

static void thread_body(void)
{
	unsigned int list[THREADS], n;

	if (self)
		mc_process(self - 1);
	else
		mc_consumer();
	thread[self].done = true;
	n = others(list);
	if (!n)
		_longjmp(all_done, 1);
	go(list[choose(n, 1)]);
}

/* Somebody else may be next. */
static void mc_switchable(void)
{
	unsigned int list[THREADS], n, c;

	if (!switches_left || self >= nthreads)
		return;
	n = others(list);
	c = choose(n + 1, 8);
	if (!c)
		return;
	switches_left--;
	if (!_setjmp(thread[self].at))
		go(list[c - 1]);
}

/* An interrupt of a higher level may be next. */
static void mc_interruptible(void)
{
	struct thread *t = &thread[self];
	unsigned int level[MC_LEVELS], n = 1, was = t->level, l, c;

	if (!self || self >= nthreads)
		return;
	for (l = was + 1; l < MC_LEVELS; l++)
		if (t->budget[l])
			level[n++] = l;
	c = choose(n, 10);
	if (!c)
		return;
	t->level = level[c];
	t->budget[t->level]--;
	mc_interrupt(self - 1, t->level);
	t->level = was;
	mc_interruptible();
}

void mc_point(void)
{
	mc_interruptible();
}

unsigned int mc_level(void)
{
	return thread[self].level;
}

/* Time goes on only here, and stands still now and then. */
u64 mc_clock(void)
{
	mc_interruptible();
	mc_switchable();
	note('t', 0, 100 + ticks / 2);
	return 100 + ticks++ / 2;
}

void mc_seen(unsigned int what)
{
	seen[what]++;
}

void mc_fail(const char *what)
{
	unsigned int i;

	printf("# %s: run %llu: %s\n", scenario->name,
	       (unsigned long long)runs, what);
	for (i = 0; i < nops && getenv("TRACE"); i++)
		printf("#   %u.%u %c %llu: %llx\n", trace[i].thread,
		       trace[i].level, trace[i].op,
		       (unsigned long long)trace[i].word,
		       (unsigned long long)trace[i].value);
	printf("not ok 1 - %s: %s\n1..1\n", scenario->name, what);
	fflush(stdout);
	_Exit(1);
}

/* -- memory -- */

struct view {
	unsigned short	at[MAX_WORDS];
	unsigned short	clock[THREADS + 1];
};

static struct word {
	void		*where;
	unsigned int	n, writer;
	u64		value[MAX_VALUES];
	struct view	view[MAX_VALUES];
} word[MAX_WORDS];
static unsigned int nwords;

/* What a thread knows; what its next acquire fence will; its release fence. */
static struct view cur[THREADS + 1], acquired[THREADS + 1],
		   released[THREADS + 1], fenced;

static void join(struct view *to, const struct view *from)
{
	unsigned int i;

	for (i = 0; i < nwords; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
	for (i = 0; i <= nthreads; i++)
		if (from->clock[i] > to->clock[i])
			to->clock[i] = from->clock[i];
}

static bool acquires(int order)
{
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order)
{
	return order >= __ATOMIC_RELEASE;
}

static unsigned int word_at(void *where)
{
	unsigned int i;

	for (i = 0; i < nwords; i++)
		if (word[i].where == where)
			return i;
	if (nwords == MAX_WORDS)
		mc_fail("machine: too many words");
	memset(&word[i].view[0], 0, sizeof(word[i].view[0]));
	word[i].where = where;
	word[i].n = 1;
	word[i].writer = ~0U;
	word[i].value[0] = *(u64 *)where;
	return nwords++;
}

static void read_value(unsigned int w, unsigned int i, int order)
{
	cur[self].at[w] = i;
	join(&acquired[self], &word[w].view[i]);
	if (acquires(order))
		join(&cur[self], &word[w].view[i]);
}

static void write_value(unsigned int w, u64 value, int order, bool rmw)
{
	struct word *x = &word[w];
	struct view *v = &x->view[x->n];

	if (x->writer != self && x->writer != ~0U && self < nthreads)
		mc_fail("a word with two writers");
	x->writer = self;
	if (x->n == MAX_VALUES)
		mc_fail("machine: too many values");
	cur[self].at[w] = acquired[self].at[w] = x->n;
	cur[self].clock[self]++;
	*v = releases(order) ? cur[self] : released[self];
	v->at[w] = x->n;
	if (rmw)		/* goes on with what it has replaced */
		join(v, &x->view[x->n - 1]);
	x->value[x->n++] = value;
	*(u64 *)x->where = value;
}

/* Its only writer sees what it wrote last: nothing to choose. */
static bool is_own(const struct word *x)
{
	return x->writer == self;
}

u64 __tsan_atomic64_load(void *where, int order)
{
	unsigned int w = word_at(where), oldest, i;

	mc_interruptible();
	if (!is_own(&word[w]) && word[w].writer != ~0U)
		mc_switchable();
	oldest = cur[self].at[w];
	i = word[w].n - 1 - choose(word[w].n - oldest, 3);
	read_value(w, i, order);
	note('r', w, word[w].value[i]);
	return word[w].value[i];
}

void __tsan_atomic64_store(void *where, u64 value, int order)
{
	unsigned int w = word_at(where);

	mc_interruptible();
	mc_switchable();
	write_value(w, value, order, false);
	note('w', w, value);
}

u64 __tsan_atomic64_fetch_add(void *where, u64 value, int order)
{
	unsigned int w = word_at(where), last;
	u64 old;

	mc_interruptible();
	mc_switchable();
	last = word[w].n - 1;
	old = word[w].value[last];
	read_value(w, last, order);
	write_value(w, old + value, order, true);
	note('+', w, old + value);
	return old;
}

int __tsan_atomic64_compare_exchange_strong(void *where, u64 *expected,
					    u64 value, int order, int failure)
{
	unsigned int w = word_at(where), last;

	mc_interruptible();
	mc_switchable();
	last = word[w].n - 1;
	if (word[w].value[last] != *expected) {
		read_value(w, last, failure);
		*expected = word[w].value[last];
		note('x', w, *expected);
		return 0;
	}
	read_value(w, last, order);
	write_value(w, value, order, true);
	note('c', w, value);
	return 1;
}

void __tsan_atomic_thread_fence(int order)
{
	mc_interruptible();
	mc_switchable();
	if (acquires(order))
		join(&cur[self], &acquired[self]);
	if (order == __ATOMIC_SEQ_CST) {
		join(&fenced, &cur[self]);
		join(&cur[self], &fenced);
	}
	if (releases(order))
		released[self] = cur[self];
	note('f', 0, order);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}

/* -- plain memory: who has read and written each 4 bytes, and when -- */

#define MAX_RANGES	MC_CPUS
#define CELLS		64

static struct range {
	char *start;
	unsigned long len;
	struct cell {
		unsigned short writer, wrote, read[THREADS + 1];
	} cell[CELLS];
} range[MAX_RANGES];
static unsigned int nranges;

void mc_plain(void *at, unsigned long len)
{
	memset(&range[nranges], 0, sizeof(range[0]));
	range[nranges].start = at;
	range[nranges++].len = len;
}

static void plain(char *at, unsigned int len, bool write)
{
	struct range *r = range;
	unsigned int i, t;

	while (r < range + nranges &&
	       (at < r->start || at >= r->start + r->len))
		r++;
	if (r == range + nranges)
		return;
	if (at + len > r->start + r->len)
		mc_fail("access beyond the buffer");
	for (i = (at - r->start) / 4; i <= (at - r->start + len - 1) / 4; i++) {
		struct cell *c = &r->cell[i];

		if (c->writer != self && c->wrote > cur[self].clock[c->writer])
			mc_fail(write ? "race of two writes" :
					"race: read of what is being written");
		for (t = 0; t <= nthreads && write; t++)
			if (t != self && c->read[t] > cur[self].clock[t])
				mc_fail("race: overwritten while being read");
		/* the clock moves with each store that others can see */
		if (write) {
			c->writer = self;
			c->wrote = cur[self].clock[self] + 1;
		} else {
			c->read[self] = cur[self].clock[self] + 1;
		}
	}
}

#define PLAIN(n)							\
	void __tsan_read##n(void *at) { plain(at, n, false); }		\
	void __tsan_write##n(void *at) { plain(at, n, true); }		\
	void __tsan_unaligned_read##n(void *at) { plain(at, n, false); } \
	void __tsan_unaligned_write##n(void *at) { plain(at, n, true); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
void __tsan_read_range(void *at, long len) { plain(at, len, false); }
void __tsan_write_range(void *at, long len) { plain(at, len, true); }
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) { }
void __tsan_init(void) { }

/* -- runs -- */

static void run(void)
{
	unsigned int i;

	nchoices = nops = nwords = nranges = 0;
	ticks = 0;
	nthreads = scenario->cpus + 1;
	switches_left = scenario->switches;
	memset(cur, 0, sizeof(cur));
	memset(acquired, 0, sizeof(acquired));
	memset(released, 0, sizeof(released));
	memset(&fenced, 0, sizeof(fenced));
	self = nthreads;		/* nobody: nothing is chosen */
	mc_reset(scenario);
	nwords = 0;
	for (i = 0; i < nthreads; i++) {
		thread[i].started = thread[i].done = false;
		thread[i].level = 0;
		thread[i].budget[1] = scenario->irqs;
		thread[i].budget[2] = scenario->nmis;
	}
	if (!_setjmp(all_done))
		go(choose(nthreads, 1));
	for (i = 0; i < nthreads; i++)
		join(&cur[nthreads], &cur[i]);
	self = nthreads;		/* sees all there is */
	for (i = 0; i < nwords; i++)
		cur[self].at[i] = word[i].n - 1;
	mc_finish();
	runs++;
}

static unsigned int tests;

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* All runs, or @random of them. */
static void try(const struct mc_scenario *s, u64 random, u64 seed)
{
	static const char *const seen_name[MC_NSEEN] = {
		[MC_QUIET] = "quiet", [MC_BUSY] = "busy", [MC_LATER] = "counted later",
		[MC_FULL] = "full", [MC_PAD] = "pads", [MC_NESTED] = "nested",
		[MC_EMITTED] = "records",
	};
	double start = seconds();
	unsigned int i;
	bool sound;

	scenario = s;
	runs = known = 0;
	rng = random ? seed * 0x9E3779B97F4A7C15ULL | 1 : 0;
	memset(seen, 0, sizeof(seen));
	do
		run();
	while (random ? runs < random : next_choices());
	printf("# %s: %llu runs in %.1f s", s->name, (unsigned long long)runs,
	       seconds() - start);
	for (i = 0; i < MC_NSEEN; i++)
		printf(", %s %llu", seen_name[i], (unsigned long long)seen[i]);
	printf("\n");
	sound = seen[MC_QUIET] && seen[MC_BUSY] && seen[MC_LATER] && seen[MC_EMITTED] &&
		(seen[MC_NESTED] || !(s->irqs + s->nmis));
	printf("%sok %u - %s: %s (%llu)\n", sound ? "" : "not ", ++tests,
	       s->name, random ? "at random" : "all orders",
	       (unsigned long long)runs);
	fflush(stdout);
	if (!sound)
		exit(1);
}

static u64 env_u64(const char *name, u64 otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

static const struct mc_scenario all[] = {
	/* name		 cpus process irqs nmis passes switches */
	{ "one record",		1, 1, 0, 0, 2, 4 },
	{ "a record, an IRQ",	1, 1, 1, 0, 1, 2 },
	{ "three levels",	1, 1, 1, 1, 1, 1 },
	{ "two CPUs",		2, 1, 0, 0, 1, 2 },
};

static const struct mc_scenario some[] = {
	{ "three levels, random",	1, 2, 2, 2, 3, 6 },
	{ "two CPUs, random",		2, 2, 1, 1, 3, 8 },
	{ "full ring, random",		1, 4, 3, 2, 2, 4 },
};

int main(void)
{
	u64 seed = env_u64("SEED", (u64)time(NULL) % 1000000007);
	u64 random = env_u64("RANDOM_RUNS", 200000) * env_u64("ROUNDS", 1);
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		thread[i].stack = malloc(STACK);
	printf("# SEED=%llu\n", (unsigned long long)seed);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		try(&all[i], 0, 0);
	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		try(&some[i], random, seed + i);
	printf("1..%u\n", tests);
	return 0;
}
