// SPDX-License-Identifier: GPL-2.0-only
/*
 * 32-bit programs: their call chains, and their ioctls.
 */
#include "recorder.h"
#include "test.h"

/* -1: this kernel or this machine runs none */
static int run32(const char *name)
{
	pid_t pid = workload_start(name, -1);
	int status = pid < 0 ? 127 : wait_for(pid);

	return status == 127 ? -1 : status;
}

/* Chains have all frames, with addresses below 4 GiB. */
TEST(chains)
{
	static const char * const whole[] = { "inner", "middle", "outer" };
	unsigned int n = 0, high = 0, complete = 0, i, same;
	int dev, file = temp_file();
	struct symbols *sy;
	struct sample s;
	struct log log;
	pid_t pid;

	if (!workload_path("ioctl32") || run32("ioctl32") < 0)
		SKIP(return, "no 32-bit programs here");
	sy = symbols_elf(workload_path("spin32"));
	ASSERT_NE(NULL, sy);
	pid = workload_start("spin32", 0);
	dev = dev_open();
	BEGIN_LOG(dev, file, pmc_clock(1000), NULL);
	EXPECT_TRUE(wait_samples(dev, file, 300, .pid = pid, .user = true));
	ASSERT_EQ(0, dev_closelog(dev));
	load_end(pid);
	LOAD_LOG(&log, file, 0);
	LOG_FOR_EACH_SAMPLE(&log, s) {
		if (s.pid != pid || !s.user)
			continue;
		n++;
		same = 0;
		for (i = 0; i < s.npc; i++) {
			high += s.pc[i] >> 32 != 0;
			same += i < 3 && !strcmp(whole[i],
					symbols_name(sy, s.pc[i] - !!i));
		}
		complete += same == 3;
	}
	EXPECT_LT(200, n);
	EXPECT_EQ(0, high);
	EXPECT_LE(98 * n, 100 * complete);
}

/* The structures are the same: no translation. */
TEST(ioctls)
{
	int status;

	if (!workload_path("ioctl32"))
		SKIP(return, "no 32-bit programs here");
	status = run32("ioctl32");
	if (status < 0)
		SKIP(return, "this kernel runs no 32-bit programs");
	EXPECT_EQ(0, status) TH_LOG("step %d has failed", status);
}

TEST_HARNESS_MAIN
