// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <string.h>

#include "dev.h"
#include "guest.h"
#include "snapshot.h"

#define MINUTE_MS	60000

#define FIELD(rec, bits, name) \
	PMCLOG_FIELD##bits(rec, struct pmclog_ext_snapshot, name)

static bool is_snapshot(const struct pmclog_rec *rec)
{
	return rec->type == PMCLOG_T_USERDATA &&
	       rec->len >= sizeof(struct pmclog_ext_snapshot) &&
	       PMCLOG_FIELD32(rec, struct pmclog_ext, cookie) ==
	       PMCLOG_EXT_COOKIE &&
	       /* with the version, which is 0 */
	       PMCLOG_FIELD32(rec, struct pmclog_ext, subtype) ==
	       PMCLOG_EXT_SNAPSHOT;
}

void snapshot_look(struct log *log, struct snapshot *s)
{
	struct pmclog_rec rec;

	memset(s, 0, sizeof(*s));
	LOG_FOR_EACH(log, rec) {
		if (!is_snapshot(&rec))
			continue;
		s->count++;
		s->before = rec.offset;
		s->cause = FIELD(&rec, 32, cause);
		s->pmcid = FIELD(&rec, 32, pmcid);
		s->pid = FIELD(&rec, 32, pid);
		s->status = FIELD(&rec, 32, status);
		s->when = FIELD(&rec, 64, when);
		s->since = FIELD(&rec, 64, since);
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
