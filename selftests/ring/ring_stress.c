// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stress of the ring and the merge: threads as CPUs, signals as interrupts.
 *
 * Each CPU's thread is process context; SIGUSR1 is its IRQ and SIGUSR2 its
 * NMI, which may also interrupt the IRQ.  Both come from per-thread timers.
 *
 * In a plain build they hit at any instruction.  ThreadSanitizer holds
 * asynchronous signals back until the thread's next atomic operation or
 * intercepted call (seen with gcc 12: in "signals, logical clock" two thirds of
 * them still arrive inside of ring_enter() .. ring_exit(), but only there).  So
 * in the "nest" phases of all builds producers are called from hooks as well:
 * around the clock read, that is between the load of head and its cmpxchg, and
 * in the middle of filling.  ring_step.c does every single instruction.
 *
 * SEED= repeats a run's choices (not its timing), ROUNDS= multiplies its
 * length, MS= sets a phase's least length.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "ring_model.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum clock_kind { CLOCK_FINE, CLOCK_COARSE, CLOCK_LOGICAL };

struct phase {
	const char	*name;
	u32		size;
	enum clock_kind	clock;
	bool		hooks;
	u32		stall_us;	/* the consumer sleeps up to that */
};

static const struct phase phases[] = {
	{ "signals, 64K",		65536, CLOCK_FINE, false, 0 },
	{ "nest, 64K",			65536, CLOCK_FINE, true, 0 },
	{ "nest, 8K, slow consumer",	8192, CLOCK_FINE, true, 300 },
	{ "nest, 16K, coarse clock",	16384, CLOCK_COARSE, true, 50 },
	{ "signals, 8K, logical clock",	8192, CLOCK_LOGICAL, false, 20 },
};

static const struct phase *phase;
static ring_atomic logical;
static atomic_bool stop;
static _Thread_local struct cpu *self;
static u64 consumer_rng;
static ring_atomic async_signals;

static struct {
	u64 full, contended, nested, in_keep, pads, quiet, busy, later, signals;
} did;

static u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

u64 ring_clock(void)
{
	u64 t;

	if (self && nest_hook)
		nest_hook(self);
	if (phase->clock == CLOCK_LOGICAL)
		t = atomic_fetch_add_explicit(&logical, 1,
					      memory_order_relaxed) / 4;
	else
		t = clock_ns();
	if (phase->clock == CLOCK_COARSE)
		t &= ~0xFFFFULL;
	if (self && nest_hook)
		nest_hook(self);
	return t;
}

#ifdef RING_WEAK
/* Loads of the consumer that are satisfied early; see ring_shim_user.h. */
static struct { ring_atomic *p; u64 v; } early[MAX_CPUS * 3];
static unsigned int nearly;
static _Thread_local bool is_weak;

void ring_weak_barrier(void)
{
	unsigned int i;

	if (!is_weak)
		return;
	for (i = 0; i < nearly; i++)
		early[i].v = atomic_load(early[i].p);
}

u64 ring_weak_load(ring_atomic *p, memory_order order)
{
	u64 r = rnd(&consumer_rng), v;
	unsigned int i;
	volatile int spin;

	if (!is_weak)
		return atomic_load_explicit(p, memory_order_acquire);
	for (i = 0; i < nearly && early[i].p != p; i++)
		;
	if (i < nearly && (r & 3) == 0) {
		v = early[i].v;
	} else {
		if ((r & 0xFFC) == 0)
			sched_yield();
		for (spin = 0; spin < (int)(r >> 12 & 0xFF); spin++)
			;
		v = atomic_load_explicit(p, memory_order_acquire);
		if (i < nearly)
			early[i].v = v;
	}
	if (order == memory_order_acquire)
		ring_weak_barrier();
	return v;
}

static void weak_setup(void)
{
	unsigned int i;

	is_weak = true;
	nearly = 0;
	for (i = 0; i < ncpus; i++) {
		early[nearly++].p = &cpus[i]->ring.state;
		early[nearly++].p = &cpus[i]->ring.head;
		early[nearly++].p = &cpus[i]->ring.commit;
	}
	ring_weak_barrier();
}
#else
static void weak_setup(void) { }
#endif

static u32 pick_len(u64 r)
{
	u32 range = (r & 63) == 0 ? MAX_LEN + 1 - MIN_LEN :
		    (r & 7) == 0 ? 600 : 48;

	return MIN_LEN + (u32)((r >> 8) % range);
}

static void produce(struct cpu *c, int lvl)
{
	struct level *l = &c->lv[lvl];
	struct attempt a;
	u64 r = rnd(&l->rng);

	a.len = pick_len(r);
	l->storm = (r >> 32 & 0x7F) == 0;
	attempt_enter(c, lvl, &a);
	attempt_reserve(c, lvl, &a);
	l->storm = false;
	attempt_fill(c, lvl, &a);
	ring_exit(&c->ring, a.entered);
}

static void interrupt(struct cpu *c, int lvl)
{
	int was = c->level;

	if (was >= lvl)
		return;
	c->level = lvl;
	barrier();
	produce(c, lvl);
	barrier();
	c->level = was;
}

static void hook(struct cpu *c)
{
	struct level *l = &c->lv[c->level];
	u64 r;

	if (c->level == LEVELS - 1)
		return;
	r = rnd(&l->rng);
	if (l->storm || (r & 15) == 0)
		interrupt(c, r >> 8 & 1 ? LEVELS - 1 : c->level + 1);
}

static void on_signal(int sig)
{
	struct cpu *c = self;
	int err = errno;

	if (c && !atomic_load_explicit(&stop, memory_order_relaxed)) {
		atomic_fetch_add_explicit(&async_signals, 1,
					  memory_order_relaxed);
		interrupt(c, sig == SIGUSR1 ? 1 : 2);
	}
	errno = err;
}

static timer_t start_timer(int sig, long ns)
{
	struct sigevent ev = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = sig,
	};
	struct itimerspec it = {
		.it_value.tv_nsec = ns, .it_interval.tv_nsec = ns,
	};
	timer_t t;

	ev.sigev_notify_thread_id = syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, &t) ||
	    timer_settime(t, 0, &it, NULL)) {
		perror("timer");
		exit(1);
	}
	return t;
}

/* Keeps a ring quiet for a while, or not at all. */
static void rest(u64 r)
{
	struct timespec ts = { .tv_nsec = (r >> 8) % 30000 };
	volatile int i;

	if ((r & 63) == 0)
		nanosleep(&ts, NULL);
	else if (r & 1)
		for (i = 0; i < (int)(r >> 8 & 0x3FF); i++)
			;
}

static void *cpu_thread(void *arg)
{
	struct cpu *c = arg;
	u64 rng = c->lv[0].rng * 3 | 1;
	timer_t irq, nmi;

	self = c;
	irq = start_timer(SIGUSR1, 37001);
	nmi = start_timer(SIGUSR2, 61007);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		produce(c, 0);
		rest(rnd(&rng));
	}
	timer_delete(irq);
	timer_delete(nmi);
	return NULL;
}

/* The kernel reads counters here; it may be interrupted for long. */
static void between_looks(void)
{
	u64 r = rnd(&consumer_rng);
	volatile int i;

	if ((r & 63) == 0)
		sched_yield();
	else if ((r & 3) == 0)
		for (i = 0; i < (int)(r >> 8 & 0x1FF); i++)
			;
}

static void consume_until(u64 end)
{
	while (clock_ns() < end) {
		u64 r = rnd(&consumer_rng);
		struct timespec ts = { 0 };

		model_pass(between_looks);
		if (phase->stall_us && (r & 7) == 0) {
			ts.tv_nsec = (r >> 8) % (phase->stall_us * 1000);
			nanosleep(&ts, NULL);
		}
	}
}

static bool all_wrapped(void)
{
	unsigned int i;

	for (i = 0; i < ncpus; i++)
		if (peek(&cpus[i]->ring.head) <= WRAPPED(phase->size))
			return false;
	return true;
}

/* At least @ms; on a slow machine, until each ring has been filled once. */
static void consume_for(u64 ms)
{
	u64 end = clock_ns() + ms * 1000000, late = end + 60000000000ULL;

	consume_until(end);
	while (!all_wrapped() && clock_ns() < late)
		consume_until(clock_ns() + 100000000);
}

static void account(void)
{
	unsigned int i, l;

	for (i = 0; i < ncpus; i++) {
		did.pads += seen[i].pads;
		for (l = 0; l < LEVELS; l++) {
			struct level *v = &cpus[i]->lv[l];

			did.full += peek(&v->full);
			did.contended += peek(&v->contended);
			did.nested += peek(&v->nested);
			if (!l)
				did.in_keep += peek(&v->in_keep);
		}
	}
	did.quiet += looks_quiet;
	did.busy += looks_busy;
	did.later += counted_later;
	did.signals += peek(&async_signals);
}

static void run_phase(const struct phase *ph, unsigned int n, u64 ms, u64 seed)
{
	pthread_t thread[MAX_CPUS];
	unsigned int i, l;
	u64 nested = 0;

	phase = ph;
	nest_hook = ph->hooks ? hook : NULL;
	model_setup(n, ph->size, ph->size / 4, seed);
	consumer_rng = seed * 77 | 1;
	looks_quiet = looks_busy = counted_later = passes = records = 0;
	atomic_store(&async_signals, 0);
	atomic_store(&stop, false);
	weak_setup();
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, cpu_thread, cpus[i]))
			exit(1);
	consume_for(ms);
	atomic_store(&stop, true);
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	model_finish();
	account();
	for (i = 0; i < n; i++)
		for (l = 0; l < LEVELS; l++)
			nested += peek(&cpus[i]->lv[l].nested);
	printf("# %s: %llu records in %llu passes, looks %llu quiet %llu busy, %llu signals, %llu nested\n",
	       ph->name, (unsigned long long)records,
	       (unsigned long long)passes, (unsigned long long)looks_quiet,
	       (unsigned long long)looks_busy,
	       (unsigned long long)peek(&async_signals),
	       (unsigned long long)nested);
	model_free();
	tap_properties(ph->name);
}

static void tap_exercised(void)
{
	tap(did.full, "exercised", "ring full", did.full);
	tap(did.contended, "exercised", "contended", did.contended);
	tap(did.nested, "exercised", "nested producers", did.nested);
	tap(did.in_keep, "exercised", "process records in the kept part",
	    did.in_keep);
	tap(did.pads, "exercised", "pads", did.pads);
	tap(did.quiet, "exercised", "quiet looks", did.quiet);
	tap(did.busy, "exercised", "busy looks", did.busy);
	tap(did.later, "exercised", "counters after busy looks", did.later);
	tap(did.signals, "exercised", "signals", did.signals);
}

int main(void)
{
	u64 seed = env_u64("SEED", clock_ns() % 1000000007);
	u64 ms = env_u64("MS", 900) * env_u64("ROUNDS", 1);
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_RESTART };
	unsigned int i;

	fail_fast = env_u64("FAIL_FAST", 0);
	printf("# SEED=%llu\n", (unsigned long long)seed);
	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaction(SIGUSR2, &sa, NULL);		/* IRQs wait for an NMI */
	sigemptyset(&sa.sa_mask);
	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		run_phase(&phases[i], (unsigned int)env_u64("CPUS", 3), ms,
			  seed + i);
	tap_exercised();
	return tap_end();
}
