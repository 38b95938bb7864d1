// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flight recorders, their snapshots, and what takes them.
 */
#include <unistd.h>

#include "actor.h"
#include "actorlog.h"

void actor_flight(struct actor *a, struct rng *r)
{
	static const uint64_t sizes[] = {
		256 << 10, 1 << 20, 8 << 20, (256 << 10) - 1, 0,
		(4ULL << 30) + 1, ~0ULL,
	};
	struct hwpmc_configurelog c = {
		.fd = -1,
		.flags = HWPMC_LOG_FLIGHT | rng_below(r, 2),
		.size = sizes[rng_below(r, rng_once(r, 4) ? 7 : 3)],
	};

	if (rng_once(r, 8))
		args_spoil(r, &c, sizeof(c));
	actor_call(a, actor_pick(r), "CONFIGURELOG", WAITS_KILL,
		   HWPMC_IOC_CONFIGURELOG, &c);
}

void actor_snapshot(struct actor *a, struct rng *r)
{
	struct hwpmc_snapshot s = {
		.flags = rng_once(r, 2) ? HWPMC_SNAPSHOT_ARM : 0,
	};
	struct actor_log l = { .fd = -1, .file = -1 };
	struct dev d = actor_pick(r);

	if (!rng_once(r, 6))
		actorlog_any(a, r, &l, actor_pick(r).fd);
	if (l.may_wait)
		a->storm->may_wait[d.owner % STORM_NOWNER] = true;
	s.fd = l.fd;
	if (rng_once(r, 16))
		args_spoil(r, &s, sizeof(s));
	actor_call(a, d, "SNAPSHOT", WAITS_KILL, HWPMC_IOC_SNAPSHOT, &s);
	if (l.fd >= 0)
		close(l.fd);
	if (l.file < 0)
		return;
	/* an armed one may be written to still */
	actorlog_check_cut(a, l.file);
	close(l.file);
}

void actor_exit_trigger(struct actor *a, struct rng *r)
{
	struct hwpmc_exittrigger e = {
		.what = rng_below(r, 3),
	};

	if (e.what == HWPMC_EXIT_STATUS)
		e.status = rng_below(r, 3) << 8;
	if (e.what != HWPMC_EXIT_NEVER && rng_once(r, 4))
		e.pid = args_pid(r);
	if (rng_once(r, 8))
		args_spoil(r, &e, sizeof(e));
	actor_call(a, actor_pick(r), "EXITTRIGGER", WAITS_SIGNAL,
		   HWPMC_IOC_EXITTRIGGER, &e);
}
