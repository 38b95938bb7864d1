// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs that are read from the device, by whoever has it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "actor.h"
#include "logfile.h"

static uint64_t any_size(struct rng *r)
{
	static const uint64_t sizes[] = {
		0, 64 << 10, 1 << 20, 1 << 30, 1, (1ULL << 30) + 1, ~0ULL,
	};

	return sizes[rng_below(r, sizeof(sizes) / sizeof(*sizes))];
}

void actor_stream(struct actor *a, struct rng *r)
{
	struct hwpmc_configurelog c = {
		.fd = -1,
		.flags = HWPMC_LOG_STREAM | rng_below(r, 2),
		.size = rng_once(r, 2) ? 0 : any_size(r),
	};

	if (rng_once(r, 8))
		args_spoil(r, &c, sizeof(c));
	actor_call(a, actor_pick(r), "CONFIGURELOG", WAITS_KILL,
		   HWPMC_IOC_CONFIGURELOG, &c);
}

/* Now and then into what is no buffer, or ends too soon. */
void actor_read(struct actor *a, struct rng *r)
{
	size_t room = rng_once(r, 3) ? rng_below(r, 300) :
				       rng_below(r, 65536);
	struct dev d = actor_pick(r);
	bool bad = rng_once(r, 6);
	unsigned char *buf;
	ssize_t n;

	buf = bad ? args_bad_address(r) : malloc(65536);
	if (!buf && !bad)
		return;
	watch_begin(&a->storm->watch, a->slot, "read", WAITS_SIGNAL);
	n = read(d.fd, buf, room);
	watch_end(&a->storm->watch, a->slot);
	a->storm->calls++;
	a->storm->good += n >= 0;
	if (n > (ssize_t)room)
		actor_fault(a, "read(2) returned more than was asked for", NULL);
	else if (n > 0 && !records_are_whole(buf, n))
		actor_fault(a, "read(2) returned a part of a record", NULL);
	if (!bad)
		free(buf);
}
