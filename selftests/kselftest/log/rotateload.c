// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation of a log whose reader is slower than what is recorded: the old log ends
 * after a few times what the rings hold, however many processes there are to dump.
 */
#include <signal.h>
#include <unistd.h>

#include "crowd.h"
#include "dev.h"
#include "guest.h"
#include "recorder.h"
#include "test.h"

#define NPROCESSES	60
#define BATCH		32	/* processes for which the rings are looked at once */
#define KTHREADS	200

FIXTURE(rotateload)
{
	int dev;
	pid_t pid[NPROCESSES];
};

FIXTURE_SETUP(rotateload)
{
	unsigned int i;

	for (i = 0; i < NPROCESSES; i++) {
		self->pid[i] = crowd(1);
		ASSERT_LT(0, self->pid[i]);
	}
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(rotateload)
{
	unsigned int i;

	close(self->dev);
	for (i = 0; i < NPROCESSES; i++)
		load_end(self->pid[i]);
}

TEST_F(rotateload, slow_reader)
{
	uint64_t rings = module_param("ringsize") * 1024 * cpus_possible();
	struct hwpmc_driverstats st;
	int ends[2], file = temp_file();
	pid_t load[2];
	struct reader r;
	uint32_t id;
	size_t before;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dev_configure(self->dev, ends[1]));
	close(ends[1]);
	load[0] = load_kernel(0);
	load[1] = load_kernel(1);
	reader_begin(&r, ends[0], 8192, 8);
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(20000), &id));
	do {
		sleep_ms(50);
		ASSERT_EQ(0, dev_stats(self->dev, HWPMC_STATS_OWNER, &st));
	} while (!st.intr_bufferfull);
	before = __atomic_load_n(&r.log.len, __ATOMIC_RELAXED);
	ASSERT_EQ(0, dev_rotate(self->dev, file));
	load_end(load[0]);
	load_end(load[1]);
	ASSERT_EQ(0, dev_closelog(self->dev));
	reader_end(&r);
	TH_LOG("%zu KiB of %zu after the call", (r.log.len - before) >> 10,
	       r.log.len >> 10);
	ASSERT_LOG(&r.log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_GT(rings * ((NPROCESSES + KTHREADS) / BATCH + 4),
		  r.log.len - before);
}

TEST_HARNESS_MAIN
