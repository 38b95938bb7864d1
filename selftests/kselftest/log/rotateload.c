// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation of a log whose reader is slower than what is recorded: the old log ends
 * after a few times what the rings hold, however many processes there are to dump.
 */
#include "crowd.h"
#include "module.h"
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

#define PATIENCE_MS	5000

/*
 * A log of all processes, whose reader is too slow for what this machine records; returns
 * when samples are lost.
 */
static void record_slowly(META, int dev, struct reader *r, size_t chunk,
			  pid_t load[2])
{
	struct hwpmc_driverstats st;
	unsigned int ms = 0;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	close(ends[1]);
	load[0] = load_kernel(0);
	load[1] = load_kernel(1);
	reader_begin(r, ends[0], chunk, 8);
	ASSERT_EQ(0, dev_run(dev, pmc_clock(20000), NULL));
	do {
		sleep_ms(50);
		ms += 50;
		if (ms % PATIENCE_MS == 0)
			reader_slower(r);
		ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
	} while (!st.intr_bufferfull);
}

TEST_F(rotateload, slow_reader)
{
	uint64_t rings = module_param("ringsize") * 1024 * cpus_possible();
	int file = temp_file();
	pid_t load[2];
	struct reader r;
	size_t before;

	record_slowly(_metadata, self->dev, &r, 8192, load);
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

/* Maps code, and unmaps it, all the time. */
static void map_code(void)
{
	int file = temp_file();
	void *page;

	if (ftruncate(file, 4096))
		_exit(1);
	for (;;) {
		page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			    file, 0);
		munmap(page, 4096);
	}
}

/* Does the log say that process records were lost, before it has any sample? */
static bool says_first(struct log *log)
{
	struct pmclog_rec rec;
	struct sample s;

	LOG_FOR_EACH(log, rec) {
		if (rec.type == PMCLOG_T_DROPNOTIFY &&
		    REC32(&rec, dropnotify, pmcid) == PMCLOG_PMCID_NONE)
			return true;
		if (log_sample(&rec, &s))
			return false;
	}
	return false;
}

/* Records of processes are lost while the next log is made: it says so itself. */
TEST_F(rotateload, lost_meanwhile)
{
	int file = temp_file();
	pid_t load[2], mapper[2];
	unsigned int i;
	uint64_t lost;
	struct log log;
	struct reader r;

	/* small rings are soon written */
	close(self->dev);
	ASSERT_EQ(0, module_unload_soon());
	ASSERT_EQ(0, module_load("ringsize=64"));
	ASSERT_TRUE(module_wait_for_device());
	OPEN_DEVICE(self->dev);
	record_slowly(_metadata, self->dev, &r, scaled(8192, 1024), load);
	for (i = 0; i < 2; i++) {
		mapper[i] = fork_bound();
		if (!mapper[i])
			map_code();
	}
	ASSERT_EQ(0, dev_rotate(self->dev, file));
	load_end(mapper[0]);
	load_end(mapper[1]);
	load_end(load[0]);
	load_end(load[1]);
	ASSERT_EQ(0, dev_closelog(self->dev));
	reader_end(&r);
	ASSERT_LOG(&r.log, LOG_DROPS | LOG_PROC_DROPS);
	lost = r.log.proc_dropped;
	LOAD_LOG(&log, file, LOG_DROPS | LOG_PROC_DROPS);
	TH_LOG("process records lost: %llu, and %llu by the next log",
	       (unsigned long long)lost, (unsigned long long)log.proc_dropped);
	EXPECT_LT(0, lost);
	EXPECT_TRUE(says_first(&log));
	close(self->dev);
	EXPECT_EQ(0, module_unload_soon());
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(module_wait_for_device());
	OPEN_DEVICE(self->dev);
}

TEST_HARNESS_MAIN
