// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ring and the merge one instruction at a time (x86 only).
 *
 * One thread plays everything: the trap flag raises SIGTRAP after each
 * instruction of the code under test, and the handler does there what another
 * context would have done.  Two directions:
 *
 * producer	enter, reserve and exit are stepped, at all three levels.  At
 *		chosen instructions an IRQ, an NMI and the parts of a consumer's
 *		pass happen (clock; first and second half of the look; merge).
 * consumer	a whole pass is stepped.  At chosen instructions the parts of
 *		nested producers happen.
 *
 * The place of the IRQ (or of the first producer's part) goes through all
 * instructions, the rest is random: SEED=, ROUNDS=.  Sequentially consistent
 * by nature: ring_stress.c is for the rest.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "ring_model.h"

#if !defined(__x86_64__)
int main(void)
{
	printf("ok 1 - # SKIP single steps need x86_64\n1..1\n");
	return 0;
}
#else

#define RING_BYTES	1024
#define KEEP		256
#define NEVER		(~0U)

static ring_atomic ticks;
static u64 rng, tick_shift;
static unsigned int step;		/* instructions of this scenario */
static void (*on_step)(void);

u64 ring_clock(void)
{
	/* One instruction: a nested reader must not be overwritten. */
	return atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed) >>
	       tick_shift;
}

static inline __attribute__((always_inline)) void step_on(void)
{
	asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
		     "orq $0x100, (%%rsp)\n\tpopfq\n\t"
		     "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

static inline __attribute__((always_inline)) void step_off(void)
{
	asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
		     "andq $~0x100, (%%rsp)\n\tpopfq\n\t"
		     "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

static void on_trap(int sig)
{
	(void)sig;
	step++;
	on_step();
}

/* -- producers stepped -- */

static unsigned int nest_at[LEVELS];	/* step at which the level comes */

/* A pass in four parts, each at its step. */
enum { CLOCK, LOOK, LOOKED, RUN, PARTS };
static unsigned int part_at[PARTS];
static unsigned int part;
static u64 now, look_state, look_ok;

static void consumer_part(void)
{
	switch (part++) {
	case CLOCK:
		now = ring_clock();
		break;
	case LOOK:
		look_state = hwpmc_merge_look_begin(&srcs[0]);
		look_ok = ok_now(0);
		break;
	case LOOKED:
		if (hwpmc_merge_look_end(&srcs[0], look_state, now)) {
			looks_quiet++;
			check_counted(0, look_ok, false);
			announce(&seen[0], &srcs[0].snap);
		} else {
			look_busy(0);
		}
		break;
	case RUN:
		pass_run(now);
		break;
	}
}

static void consumer_parts(void)
{
	while (part < PARTS && part_at[part] <= step)
		consumer_part();
}

static void produce_stepped(struct cpu *c, int lvl)
{
	struct attempt a = { .len = MIN_LEN + rnd(&c->lv[lvl].rng) % 40 };

	step_on();
	attempt_enter(c, lvl, &a);
	step_off();
	consumer_parts();
	step_on();
	attempt_reserve(c, lvl, &a);
	step_off();
	consumer_parts();
	attempt_fill(c, lvl, &a);
	consumer_parts();
	step_on();
	ring_exit(&c->ring, a.entered);
	step_off();
}

static void producer_step(void)
{
	struct cpu *c = cpus[0];
	int lvl, was = c->level;

	consumer_parts();
	for (lvl = LEVELS - 1; lvl > was; lvl--) {
		if (step < nest_at[lvl])
			continue;
		nest_at[lvl] = NEVER;
		c->level = lvl;
		produce_stepped(c, lvl);
		c->level = was;
	}
}

static unsigned int sorted_pick(unsigned int from, unsigned int range)
{
	return from + (unsigned int)(rnd(&rng) % range);
}

/* Returns the number of instructions it took. */
static unsigned int producer_scenario(unsigned int irq, unsigned int range)
{
	unsigned int i, at = rnd(&rng) & 3 ? 0 : NEVER / 2;	/* or after */

	step = 0;
	nest_at[1] = irq;
	nest_at[2] = range && rnd(&rng) & 3 ? sorted_pick(1, range) : NEVER;
	part = 0;
	for (i = 0; i < PARTS; i++) {
		/* often close together, where the windows are */
		at = sorted_pick(at, rnd(&rng) & 1 ? 8 : range / 2 + 1);
		part_at[i] = at;
	}
	on_step = producer_step;
	produce_stepped(cpus[0], 0);
	while (part < PARTS)
		consumer_part();
	return step;
}

/* -- consumer stepped -- */

#define OPS	12

static unsigned int op_at[OPS], ops_done;
static struct attempt open_attempt[LEVELS];
static int open_level, open_part;	/* what runs, and what it does next */

static void producer_op(void)
{
	struct cpu *c = cpus[0];
	struct attempt *a = &open_attempt[open_level < 0 ? 0 : open_level];

	/* Somebody nests, or the innermost goes on. */
	if (open_level < 0 || (open_level < LEVELS - 1 && !(rnd(&rng) & 3))) {
		if (open_level >= 0)
			a->len |= (u32)open_part << 16;	/* remember */
		a = &open_attempt[++open_level];
		a->len = MIN_LEN + rnd(&rng) % 40;
		attempt_enter(c, open_level, a);
		open_part = 1;
		return;
	}
	switch (open_part++) {
	case 1:
		attempt_reserve(c, open_level, a);
		break;
	case 2:
		attempt_fill(c, open_level, a);
		break;
	case 3:
		ring_exit(&c->ring, a->entered);
		if (--open_level >= 0) {
			a = &open_attempt[open_level];
			open_part = a->len >> 16;
			a->len &= 0xFFFF;
		}
		break;
	}
}

static void consumer_step(void)
{
	while (ops_done < OPS && op_at[ops_done] <= step) {
		ops_done++;
		producer_op();
	}
}

static void look_stepped(void)
{
	u64 state, ok;
	bool quiet;
	int try;

	for (try = 0; try < LOOKS; try++) {
		step_on();
		state = hwpmc_merge_look_begin(&srcs[0]);
		ok = ok_now(0);
		quiet = hwpmc_merge_look_end(&srcs[0], state, now);
		step_off();
		if (quiet) {
			looks_quiet++;
			check_counted(0, ok, false);
			announce(&seen[0], &srcs[0].snap);
			return;
		}
	}
	step_on();
	hwpmc_merge_look_busy(&srcs[0]);
	step_off();
	looks_busy++;
	announce(&seen[0], &srcs[0].snap);
}

/* Merging is not stepped: at each record producers go on. */
static void emit_stepped(void *arg, unsigned int src, u32 kind,
			 struct ring_stamp *s, u32 len)
{
	emit(arg, src, kind, s, len);
	step++;
	consumer_step();
}

static unsigned int consumer_scenario(unsigned int first, unsigned int range)
{
	unsigned int i, at = first;
	u64 horizon;

	step = ops_done = 0;
	for (i = 0; i < OPS; i++) {
		op_at[i] = at;
		at = sorted_pick(at, rnd(&rng) & 1 ? 4 : range / 4 + 1);
	}
	on_step = consumer_step;
	now = ring_clock();
	look_stepped();
	horizon = hwpmc_merge_horizon(&merge, now);
	pass_floor = max_horizon;
	if (horizon > max_horizon)
		max_horizon = horizon;
	hwpmc_merge_run(&merge, horizon, emit_stepped, NULL);
	return step;
}

static void producer_direction(unsigned int rounds)
{
	unsigned int range = producer_scenario(NEVER, 0), irq;

	printf("# %u instructions to nest at\n", range);
	while (rounds--)
		for (irq = 1; irq <= range; irq++)
			producer_scenario(irq, range * 2);
}

static void consumer_direction(unsigned int rounds)
{
	unsigned int first;

	while (rounds--)
		for (first = 1; first < 80; first++)
			consumer_scenario(first, 80);
	while (open_level >= 0)
		producer_op();
}

static void direction(const char *name, void (*run)(unsigned int),
		      unsigned int rounds, u64 seed)
{
	rng = seed * 0x9E3779B97F4A7C15ULL | 1;
	atomic_store(&ticks, 1000);
	open_level = -1;
	looks_quiet = looks_busy = records = 0;
	model_setup(1, RING_BYTES, KEEP, seed);
	run(rounds);
	model_finish();
	printf("# %s: %llu records, looks %llu quiet %llu busy, %llu pads\n",
	       name, (unsigned long long)records,
	       (unsigned long long)looks_quiet,
	       (unsigned long long)looks_busy,
	       (unsigned long long)seen[0].pads);
	tap(looks_quiet && looks_busy && seen[0].pads, name, "exercised",
	    records);
	tap_properties(name);
	model_free();
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_trap, .sa_flags = SA_NODEFER };
	u64 seed = env_u64("SEED", (u64)time(NULL) % 1000000007);
	unsigned int rounds = env_u64("ROUNDS", 1);

	fail_fast = env_u64("FAIL_FAST", 0);
	printf("# SEED=%llu\n", (unsigned long long)seed);
	sigaction(SIGTRAP, &sa, NULL);
	for (tick_shift = 0; tick_shift <= 3; tick_shift += 3) {
		direction(tick_shift ? "producer steps, coarse clock" :
			  "producer steps", producer_direction, rounds, seed);
		direction(tick_shift ? "consumer steps, coarse clock" :
			  "consumer steps", consumer_direction, rounds * 3,
			  seed + 1);
	}
	return tap_end();
}
#endif
