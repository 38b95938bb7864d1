// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose mmap lock is always taken: because their threads map and unmap all the
 * time, or because what they do with it takes long.
 */
#include <pthread.h>

#include "recorder.h"
#include "proclog.h"
#include "test.h"

#define NTHREADS	12
#define NLOGS		10
/* for longer than a dump waits for a process */
#define HELD_MS		160
#define AREA		(16 << 20)
#define NAREAS		1024

FIXTURE(busymaps)
{
	int dev;
	pid_t busy;
};

FIXTURE_SETUP(busymaps)
{
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(busymaps)
{
	if (self->busy > 0)
		load_end(self->busy);
	close(self->dev);
}

static void *map_and_unmap(void *arg)
{
	size_t len = 64 * sysconf(_SC_PAGESIZE);
	char *p;

	for (;;) {
		p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p != MAP_FAILED)
			munmap(p, len);
	}
	return arg;
}

static char *areas;
static unsigned int nareas;

static uint64_t protect_ns(int prot)
{
	uint64_t began = now_ns();

	mprotect(areas, (size_t)nareas * AREA, prot);
	return now_ns() - began;
}

static void *protect_and_unprotect(void *arg)
{
	for (;;) {
		protect_ns(PROT_NONE);
		protect_ns(PROT_READ);
	}
	return arg;
}

/* All areas have the same pages of a file, until their mprotect() takes long. */
static bool map_much(void)
{
	int file = temp_file();

	areas = mmap(NULL, (size_t)NAREAS * AREA, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (areas == MAP_FAILED || ftruncate(file, AREA))
		return false;
	while (nareas < NAREAS) {
		if (mmap(areas + (size_t)nareas++ * AREA, AREA, PROT_READ,
			 MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, file, 0) ==
		    MAP_FAILED)
			return false;
		if (nareas % 64)
			continue;
		protect_ns(PROT_NONE);
		if (protect_ns(PROT_READ) > HELD_MS * MSEC)
			return true;
	}
	return false;
}

/* Returns when all its threads run, and @before is done. */
static pid_t begin_busy(void *(*body)(void *arg), bool (*before)(void))
{
	pthread_t thread;
	int ready[2];
	pid_t pid;
	char c = 0;
	int i;

	if (pipe(ready))
		return -1;
	pid = fork_bound();
	if (!pid) {
		if (before && !before())
			_exit(1);
		for (i = 1; i < NTHREADS; i++)
			if (pthread_create(&thread, NULL, body, NULL))
				_exit(1);
		if (write(ready[1], &c, 1) == 1)
			body(NULL);
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

/* The whole system, from the dump on */
static void record(META, int dev, struct log *log)
{
	int file = temp_file();
	uint32_t id;

	BEGIN_LOG(dev, file, pmc_clock(scaled(500, 100)), &id);
	ASSERT_TRUE(wait_committed(dev, 50));
	ASSERT_EQ(0, dev_release(dev, id));
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(log_load(log, file));
	close(file);
}

/* A dump must not wait for a moment at which nobody waits for the lock. */
TEST_F(busymaps, contended)
{
	unsigned int i, mapped, unmapped, lossy = 0;
	struct log log;

	self->busy = begin_busy(map_and_unmap, NULL);
	ASSERT_LT(0, self->busy);
	for (i = 0; i < NLOGS; i++) {
		record(_metadata, self->dev, &log);
		ASSERT_LOG(&log, LOG_PROC_DROPS);
		unmapped = unmapped_samples(&log, &mapped);
		/* where the writer thread had no CPU in a tenth of a second */
		lossy += !!log.proc_dropped;
		EXPECT_LE(unmapped, 2 + mapped / 10);
		log_free(&log);
	}
	if (!guest_is_slow())
		EXPECT_GE(NLOGS / 2, lossy);
}

static unsigned int unnamed_samples(struct log *log, uint32_t pid,
				    unsigned int *named)
{
	struct space *space = space_new();
	struct pmclog_rec rec;
	unsigned int n = 0;
	struct sample s;

	*named = 0;
	LOG_FOR_EACH(log, rec) {
		space_apply(space, &rec);
		if (!log_sample(&rec, &s) || s.pid != pid)
			continue;
		if (space_knows_task(space, s.pid, s.tid))
			++*named;
		else
			n++;
	}
	space_free(space);
	return n;
}

/* Mappings may be lost then, and the log says so; names need no lock. */
TEST_F(busymaps, held)
{
	unsigned int i, n, named = 0;
	struct log log;

	self->busy = begin_busy(protect_and_unprotect, map_much);
	if (self->busy < 0)
		SKIP(return, "mprotect() is too fast here");
	for (i = 0; i < NLOGS / 2; i++) {
		record(_metadata, self->dev, &log);
		ASSERT_LOG(&log, LOG_PROC_DROPS);
		EXPECT_EQ(0, unnamed_samples(&log, self->busy, &n));
		named += n;
		if (!proc_count(&log, PMCLOG_T_MAP_IN, self->busy))
			EXPECT_LT(0, log.proc_dropped);
		log_free(&log);
	}
	EXPECT_LT(0, named);
}

TEST_HARNESS_MAIN
