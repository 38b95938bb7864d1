// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log on a file system that hangs: the thread that writes to it is left
 * behind, and ends when it is let go; nobody else notices.
 */
#include <linux/fs.h>
#include <sys/mount.h>

#include "module.h"
#include "recorder.h"
#include "test.h"

#define MOUNT_POINT	"/tmp/frozen"

/* A small ext2, which can be frozen, on a loop device. */
static bool mount_it(void)
{
	return !system("modprobe -q loop; modprobe -q ext4;"
		       "mkdir -p " MOUNT_POINT " &&"
		       "truncate -s 16M /tmp/image &&"
		       "mke2fs -F /tmp/image >/dev/null 2>&1 &&"
		       "mount -t ext4 -o loop /tmp/image " MOUNT_POINT
		       " 2>/dev/null");
}

static void record_elsewhere(META)
{
	int dev = dev_open(), file = temp_file();
	struct log log;

	ASSERT_LE(0, dev);
	BEGIN_LOG(dev, file, pmc_clock(1000), NULL);
	EXPECT_TRUE(wait_committed(dev, 60));
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	LOAD_LOG(&log, file, 0);
	EXPECT_LT(50, log.samples);
	log_free(&log);
}

TEST(frozen_file_system)
{
	uint64_t start, took;
	struct log log;
	int dev, file, dir;

	if (!mount_it())
		SKIP(return, "no file system to freeze here");
	dev = dev_open();
	dir = open(MOUNT_POINT, O_RDONLY | O_DIRECTORY);
	file = open(MOUNT_POINT "/log", O_RDWR | O_CREAT, 0600);
	ASSERT_LE(0, file);
	BEGIN_LOG(dev, file, pmc_clock(1000), NULL);
	EXPECT_TRUE(wait_committed(dev, 30));
	EXPECT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, ioctl(dir, FIFREEZE, 0));
	sleep_ms(500);
	start = now_ns();
	close(dev);
	took = now_ns() - start;
	TH_LOG("close took %u ms", (unsigned int)(took / MSEC));
	/* it would wait for ever, if it did */
	EXPECT_GT(CLOSE_MS * MSEC, took);
	EXPECT_LT(0, recorder_pid());
	EXPECT_LT(0, module_users());
	EXPECT_NE(0, module_unload());

	record_elsewhere(_metadata);
	EXPECT_LT(0, module_users());

	ASSERT_EQ(0, ioctl(dir, FITHAW, 0));
	EXPECT_TRUE(recorders_are(0));
	EXPECT_EQ(0, recorder_pid());
	LOAD_LOG(&log, file, LOG_CUT | LOG_DROPS);
	EXPECT_FALSE(log.closed);
	EXPECT_LT(20, log.samples);
	close(file);
	close(dir);
	umount(MOUNT_POINT);
	unlink("/tmp/image");
}

TEST_HARNESS_MAIN
