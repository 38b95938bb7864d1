// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of the rows of a CPU, to whom, and of the machine's events.
 */
#include <limits.h>
#include <linux/capability.h>
#include <pmc.h>
#include <sched.h>

#include "limit.h"
#include "passing.h"
#include "test.h"

#define NOBODY	65534
#define OTHER	1000
#define NROOM	16

FIXTURE(pmcinfo)
{
	int dev;
	struct hwpmc_pmcinfo_row rows[NROOM];
	uint32_t n;
};

/* Reads the list again; room behind its end must stay as it was. */
static void look(META, FIXTURE_DATA(pmcinfo) *self, int dev, int cpu)
{
	const unsigned char *p;

	memset(self->rows, 0x5A, sizeof(self->rows));
	self->n = NROOM;
	ASSERT_EQ(0, dev_pmcinfo(dev, cpu, self->rows, &self->n));
	ASSERT_GE(NROOM, self->n);
	for (p = (void *)&self->rows[self->n]; p != (void *)&self->rows[NROOM];
	     p++)
		ASSERT_EQ(0x5A, *p);
}

FIXTURE_SETUP(pmcinfo)
{
	uint32_t n = 1;

	OPEN_DEVICE(self->dev);
	ASSERT_TRUE(limit("unprivileged_syspmcs", 0));
	/* the owners of earlier tests are on their way out */
	while (n) {
		n = 0;
		ASSERT_EQ(0, dev_pmcinfo(self->dev, 0, NULL, &n));
	}
}

FIXTURE_TEARDOWN(pmcinfo)
{
	if (seteuid(0))
		perror("seteuid");
	limit("unprivileged_syspmcs", 0);
	cpu_set_online(1, true);
	dev_admin(self->dev, 0, 5, HWPMC_STATE_FREE);
}

/* What the list says of a PMC that this process has just allocated so. */
static struct hwpmc_pmcinfo_row row_of(const struct hwpmc_allocate *a)
{
	struct hwpmc_pmcinfo_row r = {
		.row = HWPMC_ID_ROW(a->id),
		.pmc_class = HWPMC_CLASS_SOFT,
		.enabled = 1,
		.disposition = a->mode == HWPMC_MODE_TS ||
			       a->mode == HWPMC_MODE_TC ?
			       HWPMC_DISP_THREAD : HWPMC_DISP_STANDALONE,
		.owner_pid = getpid(),
		.mode = a->mode,
		.state = HWPMC_STATE_ALLOCATED,
		.flags = a->flags,
		.id = a->id,
		.type = a->type,
		.config = a->config,
		.reload = a->mode == HWPMC_MODE_SS || a->mode == HWPMC_MODE_TS ?
			  a->count : 0,
	};

	strcpy(r.name, a->name);
	return r;
}

/* ... and to who may not know more. */
static struct hwpmc_pmcinfo_row hidden(struct hwpmc_pmcinfo_row r)
{
	struct hwpmc_pmcinfo_row h = {
		.row = r.row,
		.pmc_class = r.pmc_class,
		.enabled = r.enabled,
		.disposition = r.disposition,
		.owner_pid = -1,
	};

	return h;
}

#define EXPECT_ROW(want, got) do {					\
	struct hwpmc_pmcinfo_row want_ = (want), got_ = (got);		\
									\
	EXPECT_EQ(0, memcmp(&want_, &got_, sizeof(want_)))		\
		TH_LOG("row %u/%u enabled %u/%u disposition %u/%u pid %d/%d "\
		       "mode %u/%u state %u/%u id %x/%x reload %llu/%llu "\
		       "name %.63s/%.63s", want_.row, got_.row,		\
		       want_.enabled, got_.enabled, want_.disposition,	\
		       got_.disposition, want_.owner_pid, got_.owner_pid,\
		       want_.mode, got_.mode, want_.state, got_.state,	\
		       want_.id, got_.id, want_.reload, got_.reload,	\
		       want_.name, got_.name);				\
} while (0)

static struct hwpmc_allocate counter(int cpu, const char *name)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);

	a.cpu = cpu;
	strcpy(a.name, name);
	return a;
}

/* The list is exactly what was allocated, CPU by CPU. */
TEST_F(pmcinfo, exact)
{
	struct hwpmc_allocate one = counter(1, "one"), zero = counter(0, "zero");
	struct hwpmc_allocate all = pmc_clock(100), process = counter(-1, "p");
	struct hwpmc_pmcinfo_row want;
	uint64_t period;

	process.mode = HWPMC_MODE_TC;
	process.flags = HWPMC_F_DESCENDANTS;
	one.count = 123456;
	ASSERT_EQ(0, dev_allocate(self->dev, &one));
	ASSERT_EQ(0, dev_allocate(self->dev, &zero));
	ASSERT_EQ(0, dev_allocate(self->dev, &all));
	ASSERT_EQ(0, dev_allocate(self->dev, &process));
	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(3, self->n);
	EXPECT_ROW(row_of(&zero), self->rows[0]);
	EXPECT_ROW(row_of(&all), self->rows[1]);
	EXPECT_ROW(row_of(&process), self->rows[2]);
	look(_metadata, self, self->dev, 1);
	ASSERT_EQ(3, self->n);
	EXPECT_ROW(row_of(&one), self->rows[0]);
	EXPECT_ROW(row_of(&all), self->rows[1]);
	EXPECT_ROW(row_of(&process), self->rows[2]);

	period = 77777777;
	ASSERT_EQ(0, dev_setcount(self->dev, all.id, &period));
	all.count = period;
	ASSERT_EQ(0, dev_start(self->dev, zero.id));
	ASSERT_EQ(0, dev_admin(self->dev, 0, 5, HWPMC_STATE_DISABLED));
	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(4, self->n);
	want = row_of(&zero);
	want.state = HWPMC_STATE_RUNNING;
	EXPECT_ROW(want, self->rows[0]);
	EXPECT_ROW(row_of(&all), self->rows[1]);
	want = (struct hwpmc_pmcinfo_row){
		.row = 5,
		.pmc_class = HWPMC_CLASS_SOFT,
		.disposition = HWPMC_DISP_UNKNOWN,
		.owner_pid = -1,
	};
	EXPECT_ROW(want, self->rows[3]);

	ASSERT_EQ(0, dev_stop(self->dev, zero.id));
	ASSERT_EQ(0, dev_release(self->dev, all.id));
	ASSERT_EQ(0, dev_release(self->dev, process.id));
	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(2, self->n);
	want = row_of(&zero);
	want.state = HWPMC_STATE_STOPPED;
	EXPECT_ROW(want, self->rows[0]);
	EXPECT_EQ(5, self->rows[1].row);
	look(_metadata, self, self->dev, 1);
	ASSERT_EQ(1, self->n);
	EXPECT_ROW(row_of(&one), self->rows[0]);
}

/* Each owner has rows of its own: listed once for each, in order. */
TEST_F(pmcinfo, owners)
{
	struct hwpmc_allocate a[3][2];
	int dev[3] = { self->dev, dev_open(), dev_open() }, i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < 2; k++) {
			a[i][k] = counter(0, "shared");
			ASSERT_EQ(0, dev_allocate(dev[i], &a[i][k]));
		}
	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(6, self->n);
	for (i = 0; i < 6; i++)
		EXPECT_ROW(row_of(&a[i % 3][i / 3]), self->rows[i]);
	ASSERT_EQ(0, close(dev[1]));
	look(_metadata, self, self->dev, 0);
	EXPECT_EQ(4, self->n);
}

TEST_F(pmcinfo, room)
{
	struct hwpmc_allocate first = counter(0, "first"), a = first;
	struct hwpmc_pmcinfo_row rows[2];
	struct hwpmc_pmcinfo info = { .cpu = 0 };
	int i;

	ASSERT_EQ(0, dev_allocate(self->dev, &first));
	for (i = 1; i < HWPMC_NROW; i++)
		ASSERT_EQ(0, dev_allocate(self->dev, &a));
	/* no room: only how many; then the first of them */
	ASSERT_EQ(0, dev_ioctl(self->dev, HWPMC_IOC_GETPMCINFO, &info));
	EXPECT_EQ(HWPMC_NROW, info.nrows);
	EXPECT_EQ(HWPMC_NROW, info.npmc);
	memset(rows, 0x5A, sizeof(rows));
	info.nrows = 1;
	info.rows = (uintptr_t)rows;
	ASSERT_EQ(0, dev_ioctl(self->dev, HWPMC_IOC_GETPMCINFO, &info));
	EXPECT_EQ(HWPMC_NROW, info.nrows);
	EXPECT_ROW(row_of(&first), rows[0]);
	EXPECT_EQ(0x5A5A5A5A, rows[1].row);
	/* a shorter structure has no room either */
	info = (struct hwpmc_pmcinfo){ .cpu = 0, .npmc = 1, .reserved = 1 };
	ASSERT_EQ(0, dev_ioctl(self->dev, _IOC(_IOC_READ | _IOC_WRITE,
					       HWPMC_IOC_MAGIC, 5, 8), &info));
	EXPECT_EQ(HWPMC_NROW, info.nrows);
	EXPECT_EQ(1, info.npmc);
}

TEST_F(pmcinfo, errors)
{
	static const struct {
		const char	*what;
		struct hwpmc_pmcinfo arg;
		int		want;
	} calls[] = {
		{ "CPU too low", { .cpu = -1 }, -EINVAL },
		{ "all CPUs", { .cpu = HWPMC_CPU_ALL }, -EINVAL },
		{ "lowest CPU", { .cpu = INT_MIN }, -EINVAL },
		{ "CPU too high", { .cpu = 1 << 20 }, -EINVAL },
		{ "reserved", { .reserved = 1 }, -EINVAL },
		{ "offline", { .cpu = 1 }, -ENXIO },
		{ "reserved, offline", { .cpu = 1, .reserved = 1 }, -EINVAL },
		{ "offline, no memory there",
		  { .cpu = 1, .nrows = 1, .rows = 8 }, -ENXIO },
		{ "no memory there", { .nrows = 1, .rows = 8 }, -EFAULT },
		{ "kernel memory",
		  { .nrows = 1, .rows = 0xFFFFFFFF81000000ULL }, -EFAULT },
		{ "no room in memory", { .nrows = 0, .rows = 8 }, 0 },
	};
	struct hwpmc_allocate a = counter(0, "there");
	struct hwpmc_pmcinfo info;
	unsigned int i;
	int got;

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		info = calls[i].arg;
		got = dev_ioctl(self->dev, HWPMC_IOC_GETPMCINFO, &info);
		EXPECT_EQ(calls[i].want, got)
			TH_LOG("%s: %s", calls[i].what, strerror(-got));
	}
	ASSERT_EQ(0, cpu_set_online(1, true));
	look(_metadata, self, self->dev, 1);
	EXPECT_EQ(0, self->n);
}

static int open_as(uid_t uid)
{
	int fd;

	if (chmod(DEV_PATH, 0666) || seteuid(uid))
		return -1;
	fd = dev_open();
	if (seteuid(0) || chmod(DEV_PATH, 0600))
		return -1;
	return fd;
}

/* Names and pids: to the privileged, of one's own, and of one's own user's. */
TEST_F(pmcinfo, visibility)
{
	struct hwpmc_allocate roots = counter(0, "roots");
	struct hwpmc_allocate theirs = counter(0, "theirs");
	struct hwpmc_allocate others = counter(0, "others"), skip = roots;
	struct hwpmc_pmcinfo_row r[3];
	int nobody = open_as(NOBODY), other = open_as(OTHER);
	int again = open_as(NOBODY);

	ASSERT_LE(0, nobody);
	ASSERT_LE(0, other);
	ASSERT_TRUE(limit("unprivileged_syspmcs", 1));
	theirs.caps = others.caps = HWPMC_CAP_USER;
	/* one row each */
	ASSERT_EQ(0, dev_allocate(self->dev, &roots));
	ASSERT_EQ(0, dev_allocate(nobody, &skip));
	ASSERT_EQ(0, dev_allocate(nobody, &theirs));
	ASSERT_EQ(0, dev_release(nobody, skip.id));
	ASSERT_EQ(0, dev_allocate(other, &skip));
	ASSERT_EQ(0, dev_release(other, skip.id));
	ASSERT_EQ(0, dev_allocate(other, &skip));
	ASSERT_EQ(0, dev_allocate(other, &others));
	ASSERT_EQ(0, dev_release(other, skip.id));
	r[0] = row_of(&roots);
	r[1] = row_of(&theirs);
	r[2] = row_of(&others);

	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(3, self->n);
	EXPECT_ROW(r[0], self->rows[0]);
	EXPECT_ROW(r[1], self->rows[1]);
	EXPECT_ROW(r[2], self->rows[2]);
	/* root with a device that nobody opened: what nobody may know */
	look(_metadata, self, nobody, 0);
	EXPECT_ROW(hidden(r[0]), self->rows[0]);
	EXPECT_ROW(r[1], self->rows[1]);
	EXPECT_ROW(hidden(r[2]), self->rows[2]);

	ASSERT_EQ(0, seteuid(NOBODY));
	look(_metadata, self, nobody, 0);
	ASSERT_EQ(3, self->n);
	EXPECT_ROW(hidden(r[0]), self->rows[0]);
	EXPECT_ROW(r[1], self->rows[1]);
	EXPECT_ROW(hidden(r[2]), self->rows[2]);
	look(_metadata, self, again, 0);
	EXPECT_ROW(hidden(r[0]), self->rows[0]);
	EXPECT_ROW(r[1], self->rows[1]);
	EXPECT_ROW(hidden(r[2]), self->rows[2]);
	ASSERT_EQ(0, seteuid(0));
	/* to be allowed to profile is to be allowed to know */
	ASSERT_EQ(0, keep_caps(1ULL << CAP_PERFMON));
	OPEN_DEVICE(again);
	look(_metadata, self, again, 0);
	EXPECT_ROW(r[1], self->rows[1]);
	EXPECT_ROW(r[2], self->rows[2]);
}

/* A child opens, allocates and hands the device to us. */
static pid_t opened_by_child(META, int *dev)
{
	struct hwpmc_allocate a = counter(0, "child's");
	int pair[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	pid = fork_bound();
	if (!pid) {
		int mine = dev_open();

		if (dev_allocate(mine, &a) || send_fd(pair[1], mine, 0))
			_exit(1);
		close(mine);
		pause();
	}
	*dev = await_fd(pair[0]);
	EXPECT_LE(0, *dev);
	close(pair[0]);
	close(pair[1]);
	return pid;
}

/* Who opened it, as long as he lives, by the number that the caller knows. */
TEST_F(pmcinfo, owner_pid)
{
	pid_t pid;
	int dev;

	pid = opened_by_child(_metadata, &dev);
	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(1, self->n);
	EXPECT_EQ(pid, self->rows[0].owner_pid);
	load_end(pid);
	look(_metadata, self, self->dev, 0);
	ASSERT_EQ(1, self->n);
	EXPECT_EQ(-1, self->rows[0].owner_pid);
	EXPECT_STREQ("child's", self->rows[0].name);
}

TEST_F(pmcinfo, pid_namespace)
{
	struct hwpmc_allocate inside = counter(0, "inside");
	struct hwpmc_allocate outside = counter(0, "outside");
	pid_t pid;
	int dev;

	ASSERT_EQ(0, dev_allocate(self->dev, &outside));
	if (unshare(CLONE_NEWPID))
		SKIP(return, "no pid namespaces here");
	fflush(stdout);
	pid = fork();	/* fork_bound()'s would not know its parent */
	if (!pid) {
		dev = dev_open();
		if (getpid() != 1 || dev_allocate(dev, &inside) ||
		    dev_allocate(dev, &inside))
			_exit(100);
		look(_metadata, self, dev, 0);
		if (self->n != 3 || self->rows[2].owner_pid != 1)
			_exit(101);
		/* the same row twice: who is not to be seen comes first */
		_exit(self->rows[0].owner_pid != -1 ||
		      self->rows[1].owner_pid != 1 ||
		      strcmp(self->rows[0].name, "outside"));
	}
	EXPECT_EQ(0, wait_for(pid));
}

static int dynevents(int dev, struct hwpmc_dynevent *events, uint32_t *n)
{
	struct hwpmc_dyneventinfo info = {
		.pmc_class = HWPMC_CLASS_SOFT,
		.nevents = *n,
		.events = (uintptr_t)events,
	};
	int err = dev_ioctl(dev, HWPMC_IOC_GETDYNEVENTINFO, &info);

	*n = info.nevents;
	return err;
}

static const struct hwpmc_dynevent *
find_event(const struct hwpmc_dynevent *events, unsigned int n,
	   const struct pmc_event_desc *d)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (events[i].type == d->type && events[i].config == d->config)
			return &events[i];
	return NULL;
}

/* Of libpmc's events those that perf can count, by its names; caches apart. */
TEST_F(pmcinfo, events)
{
	struct hwpmc_dynevent events[64];
	const struct hwpmc_dynevent *e;
	struct pmc_event_desc d;
	struct hwpmc_allocate a;
	uint32_t n = ARRAY_SIZE(events);
	const char **names;
	int nnames, i, met = 0;

	ASSERT_EQ(0, dynevents(self->dev, events, &n));
	ASSERT_GE(ARRAY_SIZE(events), n);
	ASSERT_EQ(0, pmc_event_names_of_class(PMC_CLASS_SOFT, &names, &nnames));
	for (i = 0; i < nnames; i++) {
		ASSERT_EQ(0, pmc_event_parse(names[i], &d, NULL, 0));
		if (d.type != PERF_TYPE_HARDWARE &&
		    d.type != PERF_TYPE_SOFTWARE)
			continue;
		e = find_event(events, n, &d);
		EXPECT_EQ(perf_has(d.type, d.config), !!e)
			TH_LOG("%s", names[i]);
		met += e && !strcmp(e->name, names[i]);
	}
	EXPECT_EQ((int)n, met);
	for (i = 0; i < (int)n; i++) {
		EXPECT_EQ(0, events[i].reserved);
		a = pmc_counter(events[i].type, events[i].config);
		EXPECT_EQ(0, dev_allocate(self->dev, &a))
			TH_LOG("%s", events[i].name);
		EXPECT_EQ(0, dev_release(self->dev, a.id));
	}
	/* software events there are everywhere */
	EXPECT_LE(8, n);
}

TEST_F(pmcinfo, events_room)
{
	struct hwpmc_dyneventinfo info = { .pmc_class = 0 };
	struct hwpmc_dynevent two[2];
	uint32_t all = 0, n = 1;

	ASSERT_EQ(0, dynevents(self->dev, NULL, &all));
	memset(two, 0x5A, sizeof(two));
	ASSERT_EQ(0, dynevents(self->dev, two, &n));
	EXPECT_EQ(all, n);
	EXPECT_NE(0x5A, two[0].name[0]);
	EXPECT_EQ(0x5A, two[1].name[0]);
	n = 1;
	EXPECT_EQ(-EFAULT, dynevents(self->dev, (void *)8, &n));
	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_GETDYNEVENTINFO,
				     &info));
	info.pmc_class = HWPMC_CLASS_SOFT + 1;
	EXPECT_EQ(-EINVAL, dev_ioctl(self->dev, HWPMC_IOC_GETDYNEVENTINFO,
				     &info));
}

TEST_HARNESS_MAIN
