// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel is locked down while it is sampled.  There is no way back before
 * the next boot, and no module can be loaded any more: the name makes this the
 * last program.
 */
#include <sys/mount.h>

#include "recorder.h"
#include "source.h"
#include "test.h"

#define SECURITYFS	"/sys/kernel/security"
#define LOCKDOWN	SECURITYFS "/lockdown"

static bool lock_down(void)
{
	char line[80];

	write_text(LOCKDOWN, "confidentiality");
	return read_line(LOCKDOWN, line, sizeof(line)) &&
	       strstr(line, "[confidentiality]");
}

static int allocate(int dev, uint32_t mode, uint32_t caps)
{
	struct hwpmc_allocate a = pmc_clock_of(mode, caps);

	return dev_allocate(dev, &a);
}

/* What it says of the kernel is refused, but not what it says of programs. */
static void check_allocate(META, int dev, int kernel)
{
	static const uint32_t modes[] = { HWPMC_MODE_SC, HWPMC_MODE_SS,
					  HWPMC_MODE_TC, HWPMC_MODE_TS };
	struct hwpmc_allocate a = pmc_clock(100), b;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		EXPECT_EQ(kernel, allocate(dev, modes[i], 0));
		EXPECT_EQ(kernel, allocate(dev, modes[i], HWPMC_CAP_SYSTEM));
		EXPECT_EQ(kernel, allocate(dev, modes[i], HWPMC_CAP_SYSTEM |
							  HWPMC_CAP_USER));
		EXPECT_EQ(0, allocate(dev, modes[i], HWPMC_CAP_USER));
	}
	b = pmc_tracepoint(HWPMC_MODE_TC, tracefs_id("sched/sched_switch"));
	b.caps = HWPMC_CAP_USER;
	EXPECT_EQ(kernel, dev_allocate(dev, &b));
	b = pmc_breakpoint(HWPMC_MODE_TC, BP_W, &b, 8);
	EXPECT_EQ(0, dev_allocate(dev, &b));
	b.mode = HWPMC_MODE_SC;
	b.cpu = HWPMC_CPU_ALL;
	EXPECT_EQ(kernel, dev_allocate(dev, &b));
	/* the rules before that one speak first, those behind it do not */
	EXPECT_EQ(-EINVAL, allocate(dev, 9, 0));
	EXPECT_EQ(-EOPNOTSUPP, allocate(dev, HWPMC_MODE_SC, HWPMC_CAP_EDGE));
	a.config = 999;
	EXPECT_EQ(kernel ?: -ENOENT, dev_allocate(dev, &a));
}

/* A log, and PMCs that do not run, of before. */
struct prepared {
	int		dev;
	int		file;
	uint32_t	kernel;
	uint32_t	user;
};

static int prepare(struct prepared *p)
{
	struct hwpmc_allocate a = pmc_clock(1000), b = a;
	int err;

	b.caps = HWPMC_CAP_USER;
	p->dev = dev_open();
	p->file = temp_file();
	/* flushed: the log has begun before the kernel is locked down */
	err = dev_configure(p->dev, p->file) ?: dev_flush(p->dev) ?:
	      dev_allocate(p->dev, &a) ?: dev_allocate(p->dev, &b);
	p->kernel = a.id;
	p->user = b.id;
	return err;
}

/* What starts now is asked again, and so is a log that begins now. */
static void check_prepared(META, const struct prepared *p)
{
	struct hwpmc_record r = { .on = 1 };
	int file = temp_file();
	struct log log;

	EXPECT_EQ(-EPERM, dev_start(p->dev, p->kernel));
	EXPECT_EQ(-EPERM, dev_ioctl(p->dev, HWPMC_IOC_RECORD, &r));
	EXPECT_EQ(0, dev_start(p->dev, p->user));
	EXPECT_TRUE(wait_committed(p->dev, 50));
	ASSERT_EQ(0, dev_rotate(p->dev, file));
	EXPECT_TRUE(wait_committed(p->dev, 50));
	END_LOG(p->dev, p->file, &log, 0);
	EXPECT_LT(0, log_kernel_addresses(&log));
	log_free(&log);
	LOAD_LOG(&log, file, 0);
	EXPECT_EQ(0, log_kernel_addresses(&log));
	close(p->dev);
}

TEST(lockdown)
{
	struct bystander sampler;
	struct prepared prepared = {};
	int dev = dev_open(), file = temp_file();
	struct hwpmc_allocate a = pmc_clock(1000);
	const char *fault;
	struct log log;
	pid_t load;

	if (access(LOCKDOWN, F_OK) &&
	    mount("securityfs", SECURITYFS, "securityfs", 0, NULL))
		SKIP(return, "this kernel has no securityfs");
	if (access(LOCKDOWN, W_OK))
		SKIP(return, "this kernel cannot be locked down");
	load = load_user(-1);
	ASSERT_LE(0, dev);
	/* a second run of the program finds it done */
	if (!allocate(dev, HWPMC_MODE_SC, 0)) {
		check_allocate(_metadata, dev, 0);
		ASSERT_EQ(0, bystander_begin(&sampler));
		ASSERT_EQ(0, prepare(&prepared));
	} else {
		sampler.dev = -1;
	}
	ASSERT_TRUE(lock_down());
	check_allocate(_metadata, dev, -EPERM);

	/* who was allowed to goes on */
	if (sampler.dev >= 0) {
		EXPECT_TRUE(bystander_goes_on(&sampler));
		fault = bystander_end(&sampler, &log);
		EXPECT_EQ(NULL, fault) TH_LOG("%s", fault);
		EXPECT_LT(0, log.kernel);
		check_prepared(_metadata, &prepared);
	}
	/* programs can be sampled still, and processes followed */
	a.caps = HWPMC_CAP_USER;
	BEGIN_LOG(dev, file, a, NULL);
	EXPECT_TRUE(wait_committed(dev, 50));
	load_end(load);
	END_LOG(dev, file, &log, 0);
	EXPECT_LE(50, log.user);
	EXPECT_EQ(0, log_kernel_addresses(&log));
	close(dev);
}

TEST_HARNESS_MAIN
