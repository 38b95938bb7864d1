// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <string.h>

#include "dev.h"
#include "guest.h"
#include "snapshot.h"

#define MINUTE_MS	60000

void snapshot_look(struct log *log, struct snapshot *s)
{
	struct pmclog_rec rec;

	memset(s, 0, sizeof(*s));
	LOG_FOR_EACH(log, rec) {
		if (!IS_EXT(&rec, SNAPSHOT))
			continue;
		s->count++;
		s->before = rec.offset;
		s->cause = REC32(&rec, ext_snapshot, cause);
		s->pmcid = REC32(&rec, ext_snapshot, pmcid);
		s->pid = REC32(&rec, ext_snapshot, pid);
		s->status = REC32(&rec, ext_snapshot, status);
		s->when = REC64(&rec, ext_snapshot, when);
		s->since = REC64(&rec, ext_snapshot, since);
	}
}

/* It may take as long as it likes while more comes. */
bool wait_bytes(int dev, uint64_t bytes)
{
	uint64_t end = now_ns() + MINUTE_MS * 1000000ULL, last = 0;
	struct hwpmc_driverstats st;

	do {
		if (dev_stats(dev, HWPMC_STATS_OWNER, &st))
			return false;
		if (st.bytes_written > bytes)
			return true;
		if (st.bytes_written > last)
			end = now_ns() + MINUTE_MS * 1000000ULL;
		last = st.bytes_written;
		sleep_ms(10);
	} while (now_ns() < end);
	return false;
}

/* POLLHUP may come first, when all targets are gone, and ends each poll(). */
static bool taken(int dev, unsigned int ms)
{
	struct pollfd p = { .fd = dev, .events = POLLPRI };
	uint64_t now = now_ns(), end = now + ms * 1000000ULL;

	for (;;) {
		if (poll(&p, 1, (end - now) / 1000000) == 1 &&
		    (p.revents & POLLPRI))
			return true;
		now = now_ns();
		if (now >= end)
			return false;
		sleep_ms(10);
	}
}

bool wait_snapshot(int dev)
{
	return taken(dev, MINUTE_MS);
}

bool no_snapshot(int dev, unsigned int ms)
{
	return !taken(dev, ms);
}
