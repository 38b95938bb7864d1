// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps of actors with PMCs.
 */
#include <fcntl.h>
#include <unistd.h>

#include "actor.h"

/* PMCs that the threads of a process know */
static _Atomic uint32_t ids[ACTOR_IDS];

uint32_t actor_pick_id(struct rng *r)
{
	unsigned int first = rng_below(r, ACTOR_IDS), i = 0;

	if (rng_once(r, 20))
		return rng_next(r);
	while (i < ACTOR_IDS - 1 && !ids[(first + i) % ACTOR_IDS])
		i++;
	return ids[(first + i) % ACTOR_IDS];
}

/*
 * A spoilt period could be more than the machine can bear.  perf's number 1 of
 * tracepoints is ftrace:function: an emulated machine needs half a minute to patch
 * all functions of its kernel.
 */
static void bearable(struct hwpmc_allocate *pmc)
{
	if (pmc->type == PERF_TYPE_TRACEPOINT && pmc->config == 1)
		pmc->config = 0;
	if (pmc->count < 500000 &&
	    (pmc->type != PERF_TYPE_SOFTWARE ||
	     pmc->config <= PERF_COUNT_SW_TASK_CLOCK))
		pmc->count = 500000;
}

void actor_allocate(struct actor *a, struct rng *r)
{
	struct hwpmc_allocate pmc = args_pmc(r);

	if (rng_once(r, 4)) {
		args_spoil(r, &pmc, sizeof(pmc));
		bearable(&pmc);
	}
	if (!CALL(a, actor_pick(r), PMCALLOCATE, WAITS_SIGNAL, &pmc))
		ids[rng_below(r, ACTOR_IDS)] = pmc.id;
}

void actor_attach(struct actor *a, struct rng *r)
{
	struct hwpmc_attach at = { .id = actor_pick_id(r), .pid = args_pid(r) };

	if (rng_once(r, 3))
		CALL(a, actor_pick(r), PMCDETACH, WAITS_KILL, &at);
	else
		CALL(a, actor_pick(r), PMCATTACH, WAITS_KILL, &at);
}

void actor_start(struct actor *a, struct rng *r)
{
	struct hwpmc_simple s = { .id = actor_pick_id(r) };

	CALL(a, actor_pick(r), PMCSTART, WAITS_KILL, &s);
}

void actor_stop(struct actor *a, struct rng *r)
{
	struct hwpmc_simple s = { .id = actor_pick_id(r) };

	CALL(a, actor_pick(r), PMCSTOP, WAITS_SIGNAL, &s);
}

void actor_release(struct actor *a, struct rng *r)
{
	struct hwpmc_simple s = { .id = actor_pick_id(r) };

	CALL(a, actor_pick(r), PMCRELEASE, WAITS_SIGNAL, &s);
}

void actor_setcount(struct actor *a, struct rng *r)
{
	struct hwpmc_setcount s = {
		.id = actor_pick_id(r),
		.count = 500000 + rng_below(r, 20000000),
	};

	CALL(a, actor_pick(r), PMCSETCOUNT, WAITS_KILL, &s);
}

void actor_rw(struct actor *a, struct rng *r)
{
	struct hwpmc_rw rw = {
		.id = actor_pick_id(r),
		.flags = rng_below(r, 4) << 4,	/* NEWVALUE, OLDVALUE */
		.cpu = (int)rng_below(r, 5) - 2,
		.value = rng_next(r),
	};

	CALL(a, actor_pick(r), PMCRW, WAITS_SIGNAL, &rw);
}

/* Of cgroup2 if it is mounted, else of anything. */
void actor_filter(struct actor *a, struct rng *r)
{
	int cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct hwpmc_condition c[HWPMC_NCONDITION];
	struct hwpmc_filter f = {
		.id = actor_pick_id(r),
		.n = rng_below(r, 5) ? rng_below(r, 4) :
				       rng_below(r, HWPMC_NCONDITION + 2),
		.conditions = (uintptr_t)c,
	};
	unsigned int i;

	for (i = 0; i < HWPMC_NCONDITION; i++)
		c[i] = args_condition(r, cgroup);
	if (rng_once(r, 6))
		args_spoil(r, c, sizeof(c));
	if (rng_once(r, 10))
		f.conditions = (uintptr_t)args_bad_address(r);
	CALL(a, actor_pick(r), PMCFILTER, WAITS_SIGNAL, &f);
	if (cgroup >= 0)
		close(cgroup);
}

void actor_record(struct actor *a, struct rng *r)
{
	struct hwpmc_record rec = { .on = !rng_once(r, 3) };
	struct dev d = actor_pick(r);

	/* it may begin a log that nobody reads */
	if (rec.on && d.fd >= 0)
		a->storm->may_wait[d.owner % STORM_NOWNER] = true;
	CALL(a, d, RECORD, WAITS_KILL, &rec);
}
