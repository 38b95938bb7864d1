// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device held to perf's own rules: kernel.perf_event_paranoid is asked of
 * the caller and of the opener.
 */
#include "limit.h"
#include "module.h"
#include "test.h"
#include "user.h"

#define USER		1000
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

static int rules(const char *value)
{
	int fd = open("/sys/module/hwpmc/parameters/perf_rules",
		      O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool paranoid(int level)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", level);
	return write_text(PARANOID, text);
}

FIXTURE(perfrules)
{
	int dev;		/* root's */
	int err;		/* of the attempt to switch them on */
	char before[16];
};

FIXTURE_SETUP(perfrules)
{
	ASSERT_TRUE(read_line(PARANOID, self->before, sizeof(self->before)));
	self->dev = limit_open();
	ASSERT_LE(0, self->dev);
	self->err = rules("Y");
}

FIXTURE_TEARDOWN(perfrules)
{
	limit_restore();
	rules("N");
	write_text(PARANOID, self->before);
}

#define NEEDS_RULES() do {						\
	if (self->err == -EOPNOTSUPP)					\
		SKIP(return, "this kernel does not export perf's rules"); \
	ASSERT_EQ(0, self->err);					\
} while (0)

static int allocate(int dev, uint32_t mode, uint32_t caps, uint32_t *id)
{
	return dev_pmc(dev, pmc_clock_of(mode, caps), id);
}

/* As USER, who opens the device himself. */
static int allocate_as_user(uint32_t mode)
{
	uint32_t id;
	int dev, err;

	if (!user_become(USER))
		return -ECHILD;
	dev = dev_open();
	err = dev < 0 ? dev : allocate(dev, mode, HWPMC_CAP_USER, &id);
	close(dev);
	return user_root() ? err : -ECHILD;
}

/* Whoever wants them where they cannot be is not left in the belief. */
TEST_F(perfrules, refused)
{
	if (!self->err)
		SKIP(return, "this kernel exports perf's rules");
	EXPECT_EQ(-EOPNOTSUPP, self->err);
	EXPECT_EQ(0, rules("N"));
	ASSERT_TRUE(paranoid(2));
	EXPECT_EQ(0, allocate_as_user(HWPMC_MODE_TC));
	/* nor when the module is loaded with them */
	close(self->dev);
	ASSERT_EQ(0, module_unload_soon());
	EXPECT_EQ(-EOPNOTSUPP, module_load("perf_rules=Y"));
	ASSERT_EQ(0, module_load(""));
	ASSERT_TRUE(module_wait_for_device());
}

TEST_F(perfrules, words)
{
	NEEDS_RULES();
	EXPECT_EQ(-EINVAL, rules("perhaps"));
	ASSERT_TRUE(paranoid(2));
	EXPECT_EQ(-EPERM, allocate_as_user(HWPMC_MODE_TC));
	EXPECT_EQ(0, rules("0"));
	EXPECT_EQ(0, allocate_as_user(HWPMC_MODE_TC));
}

/* What perf could refuse, for the process itself and for the system. */
TEST_F(perfrules, levels)
{
	/* where it is not exported it is not asked either */
	bool asks_cpu = kallsyms_addr("perf_allow_cpu");
	int level, own, system;
	uint32_t id, mode;

	NEEDS_RULES();
	for (level = -1; level <= 3; level++) {
		ASSERT_TRUE(paranoid(level));
		own = level > 1 ? -EPERM : 0;
		system = asks_cpu && level <= 0 ? 0 : -EPERM;
		EXPECT_EQ(own, allocate_as_user(HWPMC_MODE_TC));
		EXPECT_EQ(own, allocate_as_user(HWPMC_MODE_TS));
		EXPECT_EQ(system, allocate_as_user(HWPMC_MODE_SC));
		EXPECT_EQ(system, allocate_as_user(HWPMC_MODE_SS));
		for (mode = HWPMC_MODE_SS; mode <= HWPMC_MODE_TC; mode++)
			EXPECT_EQ(0, allocate(self->dev, mode, 0, &id));
	}
}

/* A descriptor that is passed on does not bring another's leave along. */
TEST_F(perfrules, passed_on)
{
	uint32_t id;
	int dev;

	NEEDS_RULES();
	ASSERT_TRUE(paranoid(2));
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EPERM, allocate(self->dev, HWPMC_MODE_TC, HWPMC_CAP_USER,
				   &id));
	OPEN_DEVICE(dev);
	ASSERT_TRUE(user_root());
	EXPECT_EQ(-EPERM, allocate(dev, HWPMC_MODE_TC, HWPMC_CAP_USER, &id));
	close(dev);
}

/* @done, @go: pipes to and from who changes the level meanwhile */
static int start_and_start(int done, int go)
{
	uint32_t runs, waits;
	uint64_t before;
	int dev;
	char c;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	CHECK(0, allocate(dev, HWPMC_MODE_TC, HWPMC_CAP_USER, &runs));
	CHECK(0, allocate(dev, HWPMC_MODE_TC, HWPMC_CAP_USER, &waits));
	CHECK(0, dev_start(dev, runs));
	CHECK(1, write(done, "", 1));
	CHECK(1, read(go, &c, 1));
	CHECK(-EPERM, dev_start(dev, waits));
	before = dev_value(dev, runs);
	CHECK(true, WAIT_UNTIL(dev_value(dev, runs) > before, 3000));
	CHECK(0, dev_stop(dev, runs));
	CHECK(-EPERM, dev_start(dev, runs));
	return 0;
}

/* What runs goes on, what starts is asked. */
TEST_F(perfrules, start)
{
	int done[2], go[2];
	pid_t child;
	char c;

	NEEDS_RULES();
	ASSERT_TRUE(paranoid(1));
	ASSERT_EQ(0, pipe(done));
	ASSERT_EQ(0, pipe(go));
	child = fork_bound();
	if (!child)
		_exit(start_and_start(done[1], go[0]));
	close(done[1]);
	/* 0 bytes: it has ended */
	EXPECT_EQ(1, read(done[0], &c, 1));
	EXPECT_TRUE(paranoid(2));
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, wait_for(child));
}

TEST_HARNESS_MAIN
