/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every test program includes: the harness, and this directory.
 */
#ifndef TEST_H
#define TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "dev.h"
#include "guest.h"
#include "logfile.h"
#include "space.h"
#include "symbols.h"

/* A guard against hangs only: emulated debug kernels are slow. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	300

#define NSEC	1000000000ULL
#define MSEC	1000000ULL

/* A function of a test that asserts: its first parameter */
#define META	struct __test_metadata *_metadata

/* Says which fault a log has, and ends the test. */
#define ASSERT_LOG(log, flags) do {					\
	const char *fault_ = log_check(log, flags);			\
	if (fault_)							\
		TH_LOG("log of %zu bytes: %s", (log)->len, fault_);	\
	ASSERT_EQ(NULL, fault_);					\
} while (0)

#define OPEN_DEVICE(dev) do {						\
	dev = dev_open();						\
	ASSERT_LE(0, dev);						\
} while (0)

/* A log of @dev into @file, of @pmc, which runs and gets *@id. */
#define BEGIN_LOG(dev, file, pmc, id) do {				\
	ASSERT_EQ(0, dev_configure(dev, file));				\
	ASSERT_EQ(0, dev_run(dev, pmc, id));				\
} while (0)

/* Takes the log that is in @file into @log. */
#define LOAD_LOG(log, file, flags) do {					\
	ASSERT_TRUE(log_load(log, file));				\
	ASSERT_LOG(log, flags);						\
} while (0)

/* ... after its end, which is @dev's. */
#define END_LOG(dev, file, log, flags) do {				\
	ASSERT_EQ(0, dev_closelog(dev));				\
	LOAD_LOG(log, file, flags);					\
} while (0)

/* A log in @dir, where there is room for @bytes. */
#define OPEN_SMALL(file, dir, bytes) do {				\
	if (!small_tmpfs(dir, bytes))					\
		SKIP(return, "no tmpfs can be mounted");		\
	file = open(dir "/log", O_RDWR | O_CREAT, 0600);		\
	ASSERT_LE(0, file);						\
} while (0)

/* In a child: says which line has another result, and returns 1. */
#define CHECK(want, got) do {						\
	long got_ = (got);						\
	if (got_ != (want)) {						\
		fprintf(stderr, "# line %d: %ld\n", __LINE__, got_);	\
		return 1;						\
	}								\
} while (0)

#endif /* TEST_H */
