// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose threads map and unmap all the time, so that some of them always wait
 * for the mmap lock: they are dumped into the log like others.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"
#include "guest.h"
#include "recorder.h"
#include "space.h"
#include "test.h"

#define NTHREADS	12
#define NLOGS		10

FIXTURE(busymaps)
{
	int dev;
	pid_t busy;
};

FIXTURE_SETUP(busymaps)
{
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
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

/* Returns when all its threads run. */
static pid_t begin_busy(void)
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
		for (i = 1; i < NTHREADS; i++)
			if (pthread_create(&thread, NULL, map_and_unmap,
					   NULL))
				_exit(1);
		if (write(ready[1], &c, 1) == 1)
			map_and_unmap(NULL);
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

/* A dump must not wait for a moment at which nobody waits for the lock. */
TEST_F(busymaps, contended)
{
	unsigned int i, mapped;
	struct log log;
	uint32_t id;
	int file;

	self->busy = begin_busy();
	ASSERT_LT(0, self->busy);
	for (i = 0; i < NLOGS; i++) {
		file = temp_file();
		ASSERT_EQ(0, dev_configure(self->dev, file));
		ASSERT_EQ(0, dev_run(self->dev, pmc_clock(scaled(500, 100)), &id));
		ASSERT_TRUE(wait_committed(self->dev, 50));
		ASSERT_EQ(0, dev_release(self->dev, id));
		ASSERT_EQ(0, dev_closelog(self->dev));
		ASSERT_TRUE(log_load(&log, file));
		ASSERT_LOG(&log, 0);
		EXPECT_EQ(0, unmapped_samples(&log, &mapped));
		close(file);
		log_free(&log);
	}
}

TEST_HARNESS_MAIN
