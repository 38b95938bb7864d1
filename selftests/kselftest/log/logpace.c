// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often the writer thread looks at the rings: seldom while there is little to
 * write, at once when a process begins, and often for a log that is read.
 */
#include "test.h"

#define HZ_FEW		20
#define WINDOWS		3
#define TRIES		10
/* in two seconds: a pass a second has 2, one every 200 ms 10, one every 50 ms 40 */
#define WINDOW_MS	2000
#define BETWEEN		6
#define BETWEEN_PIPE	18

FIXTURE(logpace)
{
	int dev;
	int file;
};

FIXTURE_SETUP(logpace)
{
	self->file = temp_file();
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(logpace)
{
	close(self->dev);
	close(self->file);
}

static uint64_t passes(int dev)
{
	return OWNER_STAT(dev, log_sweeps);
}

/* The fewest and the most passes of a window */
struct pace {
	uint64_t	least;
	uint64_t	most;
};

static struct pace pace(int dev)
{
	struct pace p = { .least = ~0ULL };
	uint64_t from, n;
	unsigned int i;

	for (i = 0; i < WINDOWS; i++) {
		from = passes(dev);
		sleep_ms(WINDOW_MS);
		n = passes(dev) - from;
		p.least = n < p.least ? n : p.least;
		p.most = n > p.most ? n : p.most;
	}
	return p;
}

static struct pace pace_of(META, int dev, int file)
{
	struct pace p = {};

	EXPECT_EQ(0, dev_configure(dev, file));
	EXPECT_EQ(0, dev_run(dev, pmc_clock(HZ_FEW), NULL));
	sleep(1);
	p = pace(dev);
	TH_LOG("%" PRIu64 " to %" PRIu64 " passes in %u ms", p.least, p.most,
	       WINDOW_MS);
	return p;
}

TEST_F(logpace, few_samples)
{
	struct pace p = pace_of(_metadata, self->dev, self->file);

	EXPECT_GT(BETWEEN, p.least);
	EXPECT_LT(0, p.least);
}

/* The reader of a pipe sees them sooner. */
TEST_F(logpace, pipe)
{
	struct pace p;
	int fd[2];

	ASSERT_EQ(0, pipe(fd));
	p = pace_of(_metadata, self->dev, fd[1]);
	EXPECT_LT(BETWEEN, p.most);
	EXPECT_GT(BETWEEN_PIPE, p.least);
	close(fd[0]);
	close(fd[1]);
}

/* A reader of the device does not wait longer for a few records. */
TEST_F(logpace, read)
{
	struct pace p;

	ASSERT_EQ(0, dev_stream(self->dev, 0, 0));
	ASSERT_EQ(0, dev_run(self->dev, pmc_clock(HZ_FEW), NULL));
	sleep(1);
	p = pace(self->dev);
	TH_LOG("%" PRIu64 " to %" PRIu64 " passes in %u ms", p.least, p.most,
	       WINDOW_MS);
	EXPECT_LT(BETWEEN_PIPE, p.most);
}

/* Returns in how many ms the next pass comes. */
static unsigned int next_pass(int dev)
{
	uint64_t n = passes(dev), from = raw_ns();

	while (passes(dev) == n && raw_ns() - from < NSEC)
		sleep_ms(1);
	return (raw_ns() - from) / MSEC;
}

/* A process begins and ends soon after a pass, and does not wait for the next one. */
TEST_F(logpace, process)
{
	unsigned int i, ms, least = ~0U;
	pid_t pid;

	BEGIN_LOG(self->dev, self->file, pmc_clock(HZ_FEW), NULL);
	for (i = 0; i < TRIES; i++) {
		sleep(1);
		next_pass(self->dev);
		sleep_ms(20);
		pid = fork();
		if (!pid)
			_exit(0);
		ms = next_pass(self->dev);
		least = ms < least ? ms : least;
		waitpid(pid, NULL, 0);
	}
	TH_LOG("%u ms", least);
	EXPECT_GT(120, least);
}

TEST_HARNESS_MAIN
