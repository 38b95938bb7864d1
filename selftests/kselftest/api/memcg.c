// SPDX-License-Identifier: GPL-2.0-only
/*
 * A memory cgroup that is nearly full: a request that does not fit gets ENOMEM, and its
 * process lives.
 */
#include <sys/mount.h>

#include "table.h"
#include "test.h"

#define TOP		"/tmp/memcg"
#define GROUP		TOP "/group"
#define STEP		scaled(48 << 10, 512 << 10)
#define MOST		(8 << 20)
#define TABLE		(16 << 20)

enum { DID, NO_MEMORY, OTHERWISE, NO_GROUP };

FIXTURE(memcg)
{
	char *table;		/* charged to the parent's group */
};

FIXTURE_SETUP(memcg)
{
	mkdir(TOP, 0700);
	umount2(TOP, MNT_DETACH);	/* left by a test that was killed */
	if (mount("none", TOP, "cgroup2", 0, NULL) ||
	    !write_text(TOP "/cgroup.subtree_control", "+memory"))
		SKIP(return, "no memory cgroups");
	ASSERT_TRUE(!mkdir(GROUP, 0700) || errno == EEXIST);	/* killed, too */
	self->table = shared_memory(TABLE);
	ASSERT_NE(NULL, self->table);
	memset(self->table, 1, TABLE);
}

FIXTURE_TEARDOWN(memcg)
{
	WAIT_UNTIL(!rmdir(GROUP) || errno == ENOENT, 30000);
	umount2(TOP, MNT_DETACH);
}

static int result(int err)
{
	return !err ? DID : err == -ENOMEM ? NO_MEMORY : OTHERWISE;
}

/* Lets the group have @more than it has now. */
static bool limit_group(size_t more)
{
	char text[24];

	if (!read_line(GROUP "/memory.current", text, sizeof(text)))
		return false;
	snprintf(text, sizeof(text), "%lu", strtoul(text, NULL, 10) + more);
	return write_text(GROUP "/memory.max", text);
}

/* In a child, which enters the group with an open device. */
static bool enter_group(int *dev)
{
	if (!write_text(GROUP "/memory.max", "max") ||
	    !write_text(GROUP "/cgroup.procs", "0"))
		return false;
	*dev = dev_open();
	return *dev >= 0;
}

static int configure_within(uint32_t flags, size_t room)
{
	struct hwpmc_configurelog c = { .fd = -1, .flags = flags };
	int dev;

	if (flags != HWPMC_LOG_STREAM)
		c.fd = temp_file();
	if (!enter_group(&dev) || !limit_group(room))
		return NO_GROUP;
	return result(DEV_ASK(dev, CONFIGURELOG, configurelog, .fd = c.fd, .flags = flags));
}

static uint64_t killed(void)
{
	uint64_t n = 0;

	return read_key(GROUP "/memory.events", "oom_kill", &n) ? n : UINT64_MAX;
}

/* Wherever in CONFIGURELOG the room ends */
static void configure_everywhere(META, uint32_t flags)
{
	unsigned int did = 0, no_memory = 0;
	size_t room;

	for (room = STEP; room < MOST && did < 3; room += STEP) {
		int status = IN_CHILD(configure_within(flags, room));

		if (status == DID)
			did++;
		else if (status == NO_MEMORY)
			no_memory++;
		else
			TH_LOG("flags %#x, %zu KiB: %d", flags, room >> 10, status);
		EXPECT_GE(NO_MEMORY, status);
	}
	TH_LOG("flags %#x: %u without memory, %u with", flags, no_memory, did);
	EXPECT_LT(0, no_memory);
	EXPECT_EQ(3, did);
	EXPECT_EQ(0, killed());
}

TEST_F(memcg, log)
{
	configure_everywhere(_metadata, 0);
	configure_everywhere(_metadata, HWPMC_LOG_PACKED);
	configure_everywhere(_metadata, HWPMC_LOG_STREAM);
}

static int give_within(const char *table)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_UNWIND);
	int dev, fd = open("/proc/self/exe", O_RDONLY);

	if (!enter_group(&dev))
		return NO_GROUP;
	if (dev_configure(dev, temp_file()) || dev_allocate(dev, &a) ||
	    !limit_group(1 << 20))
		return NO_GROUP;
	return result(DEV_ASK(dev, UNWINDTABLE, unwindtable, .fd = fd,
			      .data = (uintptr_t)table, .len = TABLE));
}

TEST_F(memcg, table)
{
	EXPECT_EQ(NO_MEMORY, IN_CHILD(give_within(self->table)));
	EXPECT_EQ(0, killed());
}

static int write_within(const char *records)
{
	int dev;

	if (!enter_group(&dev))
		return NO_GROUP;
	if (dev_configure(dev, temp_file()) || !limit_group(256 << 10))
		return NO_GROUP;
	return result(DEV_ASK(dev, WRITELOG, writelog, .records = (uintptr_t)records,
			      .len = HWPMC_WRITELOG_MAX));
}

TEST_F(memcg, records)
{
	EXPECT_EQ(NO_MEMORY, IN_CHILD(write_within(self->table)));
	EXPECT_EQ(0, killed());
}

TEST_HARNESS_MAIN
