/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight recorder that samples, and a snapshot that is asked for.  Included by
 * each program of such tests.
 */
#ifndef FLIGHT_FLIGHT_H
#define FLIGHT_FLIGHT_H

#include "recorder.h"
#include "snapshot.h"
#include "test.h"

#define SIZE	(512U << 10)
#define SMALL	(256U << 10)	/* the smallest there is */
#define HZ	scaled(2000, 500)
#define OFTEN	scaled(8000, 500)	/* fills windows; samples may be lost */

static void fly_at(META, int dev, uint64_t size, uint32_t flags,
		   unsigned int hz, uint32_t *id)
{
	ASSERT_EQ(0, dev_flight(dev, size, flags));
	ASSERT_EQ(0, dev_run(dev, pmc_clock(hz), id));
}

static void fly(META, int dev, uint64_t size, uint32_t flags, uint32_t *id)
{
	fly_at(_metadata, dev, size, flags, HZ, id);
}

/* A snapshot of now, which is sound, and asked for. */
static void shoot(META, int dev, struct log *log, struct snapshot *s,
		  unsigned int flags)
{
	int file = temp_file();

	ASSERT_EQ(0, dev_snapshot(dev, file, 0));
	LOAD_LOG(log, file, flags);
	snapshot_look(log, s);
	EXPECT_EQ(1, s->count);
	EXPECT_EQ(PMCLOG_SNAPSHOT_ASKED, s->cause);
	EXPECT_EQ(PMCLOG_PMCID_NONE, s->pmcid);
	EXPECT_LE(s->since, s->when);
	EXPECT_EQ(log->first_tsc, s->since);
	close(file);
}

/*
 * The statistics of the owner hold, whatever has fallen out of the window.  Stops its PMC
 * @id: a sample that is being taken is counted before it is committed.
 */
static void expect_law(META, int dev, uint32_t id)
{
	struct hwpmc_driverstats st;
	const struct pmclog_account *a = &st.account;
	uint64_t dropped = 0;
	int i;

	ASSERT_EQ(0, dev_stop(dev, id));
	ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		dropped += a->dropped[i];
	EXPECT_EQ(a->overflows, a->committed + dropped + a->filtered);
	EXPECT_EQ(a->committed, a->written + a->discarded + a->in_rings);
	EXPECT_EQ(0, a->discarded);
	EXPECT_EQ(0, st.log_errno);
}

#endif /* FLIGHT_FLIGHT_H */
