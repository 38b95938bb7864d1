// SPDX-License-Identifier: GPL-2.0-only
/*
 * UNWINDNEXT and UNWINDTABLE: what they refuse.  What tables do: unwind.c,
 * unwindobject.c.
 */
#include "limit.h"
#include "recorder.h"
#include "table.h"
#include "test.h"
#include "user.h"

FIXTURE(unwindtable)
{
	int dev;
};

FIXTURE_SETUP(unwindtable)
{
	OPEN_DEVICE(self->dev);
	ASSERT_EQ(0, dev_configure(self->dev, temp_file()));
}

FIXTURE_TEARDOWN(unwindtable)
{
	close(self->dev);
}

#define GIVE(...)	DEV_ASK(self->dev, UNWINDTABLE, unwindtable, __VA_ARGS__)

TEST_F(unwindtable, errors)
{
	struct small good = small_table(usual);
	struct hwpmc_unwindnext n = {};
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int fd;

	EXPECT_EQ(-ENXIO, table_next(self->dev, &n));
	EXPECT_EQ(-ENXIO, table_give(self->dev, 1, &good, sizeof(good)));
	a.flags &= ~HWPMC_F_CALLCHAIN;
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
	a.flags |= HWPMC_F_CALLCHAIN;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));

	EXPECT_EQ(-EAGAIN, table_next(self->dev, &n));
	EXPECT_EQ(-EINVAL, DEV_ASK(self->dev, UNWINDNEXT, unwindnext, .id = 1));
	EXPECT_EQ(-EINVAL, DEV_ASK(self->dev, UNWINDNEXT, unwindnext, .reserved = 1));

	/* none of the three names the object, or two do */
	EXPECT_EQ(-EINVAL, GIVE(.fd = -1));
	EXPECT_EQ(-EINVAL, GIVE(.id = 1, .fd = -1, .flags = HWPMC_UNWIND_VDSO));
	EXPECT_EQ(-EINVAL, GIVE(.fd = -1, .flags = HWPMC_UNWIND_VDSO | 2));
	EXPECT_EQ(-EBADF, GIVE(.fd = 999));
	fd = open("/proc/self/exe", O_PATH);
	EXPECT_EQ(-EBADF, GIVE(.fd = fd));
	close(fd);
	EXPECT_EQ(-EINVAL, GIVE(.fd = self->dev));
	EXPECT_EQ(-EINVAL, GIVE(.fd = -2));
	EXPECT_EQ(-EINVAL, GIVE(.id = 1, .fd = -1, .reserved = 1));

	EXPECT_EQ(-ENOENT, table_give(self->dev, 77, &good, sizeof(good)));
	EXPECT_EQ(-E2BIG, table_give(self->dev, 77, &good, (128UL << 20) + 1));
	EXPECT_EQ(-EFAULT, table_give(self->dev, 77, (void *)1, sizeof(good)));
}

/* A table says what of a stack is looked at: of anybody's for the privileged only. */
TEST_F(unwindtable, privilege)
{
	struct hwpmc_allocate system = pmc_clock(100);
	struct hwpmc_allocate process = pmc_process_faults(HWPMC_F_UNWIND);
	int dev, plain, tables, own;

	system.caps = HWPMC_CAP_USER;
	system.flags &= ~HWPMC_F_USERCALLCHAIN;
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	ASSERT_TRUE(device_for_group() && user_become(1000));
	dev = dev_open();
	plain = dev_allocate(dev, &system);
	system.flags |= HWPMC_F_UNWIND;
	tables = dev_allocate(dev, &system);
	own = dev_allocate(dev, &process);
	close(dev);
	ASSERT_TRUE(user_root());
	device_for_root();
	limit("unprivileged_syspmcs", 0);
	EXPECT_LE(0, dev);
	EXPECT_EQ(0, plain);
	EXPECT_EQ(-EPERM, tables);
	EXPECT_EQ(0, own);
}

/* What the user may not have is neither allocated nor read; a refused table is not kept. */
TEST_F(unwindtable, too_much)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	struct small bad = small_table(usual);
	int dev, start, large, small, i;

	bad.head.magic++;
	ASSERT_TRUE(limit("max_ringmem", 1));
	ASSERT_TRUE(device_for_group() && user_become(1000));
	dev = dev_open();
	start = dev_allocate(dev, &a);
	large = table_give(dev, 1, (void *)1, (1U << 20) + 1);
	for (i = 0, small = -EINVAL; i < 20000 && small == -EINVAL; i++)
		small = table_give(dev, 1, &bad, sizeof(bad));
	close(dev);
	ASSERT_TRUE(user_root());
	device_for_root();
	limit("max_ringmem", 256);
	EXPECT_LE(0, dev);
	EXPECT_EQ(0, start);
	EXPECT_EQ(-EDQUOT, large);
	EXPECT_EQ(-EINVAL, small);
}

TEST_F(unwindtable, bad_tables)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	const struct small good = small_table(usual);
	struct small bad;

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
#define BAD(how) do {							\
	bad = good;							\
	bad.how;							\
	EXPECT_EQ(-EINVAL, table_give(self->dev, 1, &bad, sizeof(bad)));	\
} while (0)
	BAD(head.magic++);
	BAD(head.version++);
	BAD(head.machine++);
	BAD(head.nrows = 0);
	BAD(head.nrows = 3);
	BAD(head.nrows = UINT32_MAX);
	BAD(head.nrules = 0);
	BAD(head.nrules = 1);
	BAD(head.nrules = UINT32_MAX);
	BAD(head.reserved[3] = 1);
	BAD(rule[1].cfa = HWPMC_CFA_UNTOLD + 1);
	BAD(rule[1].cfa = HWPMC_CFA_REGS);
	BAD(rule[1].ra = HWPMC_AT_KINDS);
	BAD(rule[1].fp = HWPMC_AT_KINDS);
	BAD(rule[1].lr = 255);
	BAD(rule[1].flags = 0x80);
	BAD(rule[1].reserved[2] = 1);
	BAD(pc[1] = 0);
	BAD(number[0] = 2);
	BAD(number[1] = 1);
#undef BAD
	EXPECT_EQ(-EINVAL, table_give(self->dev, 1, &good, sizeof(good) - 1));
	EXPECT_EQ(-EINVAL, table_give(self->dev, 1, &good, 1));
	/* the same, as it was, is one */
	EXPECT_EQ(-ENOENT, table_give(self->dev, 1, &good, sizeof(good)));
}

TEST_HARNESS_MAIN
