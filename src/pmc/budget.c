// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sampling may cost: the rates of an owner's PMCs are lowered as far as its
 * budget requires, and raised again.
 *
 * Overflow handlers and the writer thread measure their time, by CPU.  A work looks at
 * it several times a second, and judges it once a second, or at once if it is far too
 * much.  All PMCs with HWPMC_F_FREQ have the same part of the rate
 * that they were asked for, on all CPUs: the CPU that pays most decides.
 *
 * A CPU that is idle now may be busy in the next window, so the cost that counts is the
 * one at the full rate: a CPU that had half of its samples would have paid twice as
 * much.
 *
 * Under owner->mutex, except hwpmc_budget_end().
 */
#include <linux/math64.h>
#include <linux/rcupdate.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc.h"
#include "sample/record.h"

#define BUDGET_ONE	(1U << 20)
#define BUDGET_MAX	1000000U
#define LOOK		(HZ / 5)
#define WINDOW_NS	NSEC_PER_SEC
/* a window ends early if it has cost so many times the budget */
#define FAR_TOO_MUCH	2
/* what a sample is taken to cost before the first ones were measured, in ns */
#define GUESS_NS	10000
/* the part of the budget that is aimed at: a window may turn out worse than the last */
#define AIM(n)		((n) - (n) / 8)
/* with less than this part, the rates rise */
#define LEAST(n)	((n) - (n) / 4)
/* what a change of the rates is taken to cost at most: a target may make it wait */
#define CHANGE_NS_MAX	(60ULL * NSEC_PER_SEC)
/* the least rate: a recording with fewer samples a second is of little use */
#define RATE_LEAST	10U
/* with fewer of the full rate's samples, in 1024ths, a window says little of its cost */
#define TELLING		64

/* hwpmc_budget_rate - the rate in force for @rate, which is not 0 */
u64 hwpmc_budget_rate(const struct hwpmc_pmc *pmc, u64 rate)
{
	const struct owner_budget *b = &pmc->owner->budget;

	return b->ppm ? max_t(u64, rate * b->scale / BUDGET_ONE,
			      min_t(u64, rate, RATE_LEAST)) : rate;
}

static bool is_governed(const struct hwpmc_pmc *pmc)
{
	return pmc_is_sampling(pmc) && (pmc->flags & HWPMC_F_FREQ);
}

/*
 * If the record finds no room, it counts as lost.  The log then says the old rate;
 * what the samples stand for is right all the same, as each has its period.
 */
static void announce(struct hwpmc_owner *o, struct hwpmc_pmc *pmc)
{
	struct pmclog_pmcallocatedyn a = {
		.h.header = PMCLOG_HEADER(PMCLOG_T_PMCALLOCATEDYN, sizeof(a)),
	};

	hwpmc_pmc_describe(pmc, &a);
	if (!hwpmc_log_active(o) || !hwpmc_record_tell(o, &a, sizeof(a)))
		WRITE_ONCE(pmc->period_logged, pmc->period);
}

/* Below this no rate is lowered any more. */
static u32 least_scale(struct hwpmc_owner *o)
{
	u64 most = RATE_LEAST;
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_live_pmc(o, row, pmc)
		if (is_governed(pmc))
			most = max(most, pmc->asked);
	return max(div64_u64(RATE_LEAST * (u64)BUDGET_ONE, most), 1ULL);
}

/*
 * Brings @pmc to the scale in force.  perf refuses rates above its own limit, which it
 * lowers when handlers are slow: then @pmc keeps its rate instead of a higher one, and gets
 * a still lower one instead of a lower one.  False: it has another rate than that of the
 * scale.
 */
static bool set_rate(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool lower)
{
	const u64 wanted = hwpmc_budget_rate(pmc, pmc->asked);
	const u64 had = pmc->period;
	u64 rate = lower ? min(wanted, had) : wanted;

	while (rate != had && hwpmc_pmc_set_period(pmc, rate))
		rate = lower && rate / 2 >= RATE_LEAST ? rate / 2 : had;
	if (rate != had)
		announce(o, pmc);
	return rate == wanted;
}

/*
 * The part of the rates asked for that the PMC with the largest part has.  One with the
 * least rate has that at any scale.
 */
static u32 scale_in_force(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;
	u64 scale = 0;

	for_each_live_pmc(o, row, pmc)
		if (is_governed(pmc) && pmc->period > RATE_LEAST)
			scale = max(scale, div64_u64(pmc->period * BUDGET_ONE,
						     pmc->asked));
	return scale ? min_t(u64, scale, BUDGET_ONE) : o->budget.scale;
}

/*
 * A change costs too, with thousands of threads: rates do not rise before this has become
 * as small a part.
 */
static void set_scale(struct hwpmc_owner *o, u32 scale)
{
	struct owner_budget *b = &o->budget;
	const bool lower = scale < b->scale;
	const u64 began = ktime_get_ns();
	struct hwpmc_pmc *pmc;
	unsigned int row;
	bool good = true;
	u64 now;

	b->scale = scale;
	for_each_live_pmc(o, row, pmc)
		if (is_governed(pmc))
			good &= set_rate(o, pmc, lower);
	if (!good)
		b->scale = scale_in_force(o);
	now = ktime_get_ns();
	b->rests = now + div_u64(min(now - began, CHANGE_NS_MAX) * 1000000, b->ppm);
}

static bool is_for(const struct hwpmc_pmc *pmc, unsigned int cpu)
{
	return pmc->cpu < 0 ? owner_has_cpu(pmc->owner, cpu) :
			      pmc->cpu == (int)cpu;
}

/* A kind of CPU may not have the event. */
static bool runs_on(const struct hwpmc_pmc *pmc, unsigned int cpu)
{
	if (!pmc_is_system(pmc))
		return is_for(pmc, cpu);
	return pmc->cpus[cpu] && pmc->cpus[cpu]->event;
}

/* Samples a second that @cpu takes if all PMCs run there at the rate in force */
static u64 rate_in_force(struct hwpmc_owner *o, unsigned int cpu)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;
	u64 rate = 0;

	for_each_live_pmc(o, row, pmc)
		if (is_governed(pmc) && pmc->state == PMC_RUNNING &&
		    runs_on(pmc, cpu))
			rate += pmc->period;
	return rate;
}

/* Samples a second that are asked for on @cpu, without those of @but */
static u64 rate_asked(const struct hwpmc_pmc *but, unsigned int cpu)
{
	struct hwpmc_owner *o = but->owner;
	struct hwpmc_pmc *pmc;
	unsigned int row;
	u64 rate = 0;

	for_each_live_pmc(o, row, pmc)
		if (pmc != but && is_governed(pmc) && runs_on(pmc, cpu))
			rate += pmc->asked;
	return rate;
}

/*
 * hwpmc_budget_expect - @pmc will have the rate @rate, without a budget
 *
 * Nothing has been measured of it: its samples are taken to be expensive.
 */
void hwpmc_budget_expect(const struct hwpmc_pmc *pmc, u64 rate)
{
	struct owner_budget *b = &pmc->owner->budget;
	u64 scale, most = 0, within = (u64)b->ppm * 1000 / GUESS_NS;
	unsigned int cpu;

	if (!b->ppm)
		return;
	b->before = b->scale;
	for_each_possible_cpu(cpu)
		if (is_for(pmc, cpu))
			most = max(most, rate_asked(pmc, cpu));
	scale = div64_u64(within * BUDGET_ONE, most + rate);
	if (scale < b->scale)
		set_scale(pmc->owner, max_t(u64, scale, 1));
}

/*
 * hwpmc_budget_unexpect - @pmc will not have the rate
 *
 * It is the last that was expected, and owner->mutex has been held since.
 */
void hwpmc_budget_unexpect(const struct hwpmc_pmc *pmc)
{
	const struct owner_budget *b = &pmc->owner->budget;

	if (b->ppm && is_governed(pmc) && b->scale != b->before)
		set_scale(pmc->owner, b->before);
}

/**
 * struct window - the cost since the last look
 * @ns:    of the window
 * @rate:  in force on the CPU that has the highest
 * @worst: nanoseconds on the CPU that has paid most
 * @full:  the same at the full rate, of the CPU that would pay most
 */
struct window {
	u64	ns;
	u64	rate;
	u64	worst;
	u64	full;
};

static u64 cost_of(const struct cpu_cost *c)
{
	return (u64)local64_read(&c->handlers) + READ_ONCE(c->writer);
}

/* @rate: as rate_in_force() has it */
static void look_at_cpu(const struct cpu_cost *c, struct window *w, u64 rate)
{
	u64 expected = mul_u64_u64_div_u64(rate, w->ns, NSEC_PER_SEC);
	u64 samples = (u64)local64_read(&c->samples) - c->seen_samples;
	u64 cost = cost_of(c) - c->seen_ns;
	u64 part = div64_u64(samples * 1024, max(expected, 1ULL));

	w->rate = max(w->rate, rate);
	w->worst = max(w->worst, cost);
	if (rate && part >= TELLING)
		w->full = max(w->full, div64_u64(cost * 1024,
						 min(part, 1024ULL)));
}

static void look(struct hwpmc_owner *o, struct window *w)
{
	struct owner_ring *or;
	unsigned int cpu;

	w->ns = max(ktime_get_ns() - o->budget.looked, 1ULL);
	for_each_possible_cpu(cpu) {
		or = smp_load_acquire(&o->rings[cpu]);
		if (or)
			look_at_cpu(&or->cost, w, rate_in_force(o, cpu));
	}
}

static void begin_window(struct hwpmc_owner *o)
{
	struct owner_ring *or;
	unsigned int cpu;

	o->budget.looked = ktime_get_ns();
	for_each_possible_cpu(cpu) {
		or = smp_load_acquire(&o->rings[cpu]);
		if (!or)
			continue;
		or->cost.seen_ns = cost_of(&or->cost);
		or->cost.seen_samples = (u64)local64_read(&or->cost.samples);
	}
}

/*
 * The scale that suits a window which has cost @cost, with @within as its budget.  A
 * scale that is not far from it stays.
 */
static u32 suitable_scale(u32 scale, u64 cost, u64 within)
{
	u64 suitable;

	if (cost <= within && cost >= LEAST(within))
		return scale;
	suitable = mul_u64_u64_div_u64(scale, AIM(within), max(cost, 1ULL));
	return clamp_t(u64, suitable, 1, BUDGET_ONE);
}

static void adapt(struct hwpmc_owner *o)
{
	struct owner_budget *b = &o->budget;
	struct window w = {};
	u64 within;
	u32 scale;

	look(o, &w);
	within = mul_u64_u64_div_u64(b->ppm, w.ns, 1000000);
	if (w.ns < WINDOW_NS && w.worst <= FAR_TOO_MUCH * within)
		return;
	b->worst = mul_u64_u64_div_u64(w.worst, 1000000, w.ns);
	/* few samples do not tell how many more there may be */
	if (w.rate && (w.full || w.worst > within)) {
		scale = suitable_scale(b->scale, max(w.full, w.worst), within);
		scale = max(scale, least_scale(o));
		if (scale < b->scale ||
		    (scale > b->scale && ktime_get_ns() >= b->rests))
			set_scale(o, scale);
	}
	begin_window(o);
}

/* Returns whether the owner still has a budget, as far as can be told. */
static bool keep_to_budget(struct hwpmc_owner *o)
{
	bool budget;

	if (!mutex_trylock(&o->mutex))
		return true;
	budget = o->budget.ppm;
	if (budget && mutex_trylock(&o->cpus_mutex)) {
		adapt(o);
		mutex_unlock(&o->cpus_mutex);
	}
	mutex_unlock(&o->mutex);
	return budget;
}

/* An ioctl may wait long with the mutexes held: then the rates stay for so long. */
static void budget_work(struct work_struct *work)
{
	struct hwpmc_owner *o = container_of(to_delayed_work(work),
					     struct hwpmc_owner, budget.work);

	if (keep_to_budget(o))
		queue_delayed_work(compat_unbound_wq(), &o->budget.work, LOOK);
}

/* No handler and no writer thread runs. */
static void forget_costs(struct hwpmc_owner *o)
{
	struct owner_ring *or;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		or = smp_load_acquire(&o->rings[cpu]);
		if (or)
			memset(&or->cost, 0, sizeof(or->cost));
	}
}

/* SETBUDGET */
int hwpmc_budget_set(struct hwpmc_owner *o, const struct hwpmc_setbudget *a)
{
	struct owner_budget *b = &o->budget;

	if (a->reserved || a->ppm > BUDGET_MAX)
		return -EINVAL;
	if (!bitmap_empty(o->pmcs.live, HWPMC_NROW) || hwpmc_log_has_writer(o))
		return -EBUSY;
	forget_costs(o);
	b->scale = BUDGET_ONE;
	b->worst = 0;
	b->rests = 0;
	b->since = ktime_get_ns();
	b->looked = b->since;
	WRITE_ONCE(b->ppm, a->ppm);
	if (a->ppm && !b->added) {
		INIT_DELAYED_WORK(&b->work, budget_work);
		b->added = true;
	}
	if (a->ppm)
		queue_delayed_work(compat_unbound_wq(), &b->work, LOOK);
	return 0;
}

/* GETBUDGET */
void hwpmc_budget_get(struct hwpmc_owner *o, struct hwpmc_getbudget *a)
{
	const struct owner_budget *b = &o->budget;
	struct owner_ring *or;
	unsigned int cpu;

	if (!b->ppm)
		return;
	a->ppm = b->ppm;
	a->scale = div64_u64((u64)b->scale * 1000000, BUDGET_ONE);
	a->worst = min_t(u64, b->worst, U32_MAX);
	a->elapsed = ktime_get_ns() - b->since;
	for_each_possible_cpu(cpu) {
		or = smp_load_acquire(&o->rings[cpu]);
		if (or && cost_of(&or->cost) > a->spent) {
			a->spent = cost_of(&or->cost);
			a->cpu = cpu;
		}
	}
}

/* The last close; the work is waited for.  The caller holds no mutex. */
void hwpmc_budget_end(struct hwpmc_owner *o)
{
	if (o->budget.added)
		cancel_delayed_work_sync(&o->budget.work);
}
