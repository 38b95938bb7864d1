// SPDX-License-Identifier: GPL-2.0-only
/*
 * System-wide counting: what is counted agrees with /proc, and the semantics
 * of setting, reading and writing counts.
 */
#include <sched.h>
#include <sys/resource.h>

#include "test.h"

FIXTURE(count)
{
	int dev;
};

FIXTURE_SETUP(count)
{
	OPEN_DEVICE(self->dev);
}

FIXTURE_TEARDOWN(count)
{
	close(self->dev);
}

static uint64_t stat_key(const char *path, const char *key)
{
	uint64_t value = 0;

	read_key(path, key, &value);
	return value;
}

/* The kernel's own count, read outside and inside of ours, brackets it. */
TEST_F(count, context_switches)
{
	struct hwpmc_allocate a = pmc_counter(SWITCHES);
	pid_t sleepers[2] = { load_sleeper(0), load_sleeper(1) };
	uint64_t before, inside, inside_end, after, n;
	int i;

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	before = stat_key("/proc/stat", "ctxt");
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	inside = stat_key("/proc/stat", "ctxt");
	for (i = 0; i < 600 && dev_value(self->dev, a.id) <= 200; i++)
		sleep_ms(100);
	inside_end = stat_key("/proc/stat", "ctxt");
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	after = stat_key("/proc/stat", "ctxt");
	n = dev_value(self->dev, a.id);
	for (i = 0; i < 2; i++)
		load_end(sleepers[i]);
	EXPECT_LT(200, n);
	/* a switch is under way on each CPU while /proc is read */
	EXPECT_LE(inside_end - inside, n + 8);
	EXPECT_GE(after - before + 8, n);
	sleep_ms(100);
	EXPECT_EQ(n, dev_value(self->dev, a.id));
}

TEST_F(count, page_faults)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	long page = sysconf(_SC_PAGESIZE), pages = 2000, i;
	char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage r0, r1;
	uint64_t before, n;

	ASSERT_NE(MAP_FAILED, p);
	madvise(p, pages * page, MADV_NOHUGEPAGE);
	before = stat_key("/proc/vmstat", "pgfault");
	ASSERT_EQ(0, dev_run(self->dev, a, &a.id));
	getrusage(RUSAGE_SELF, &r0);
	for (i = 0; i < pages; i++)
		p[i * page] = 1;
	getrusage(RUSAGE_SELF, &r1);
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	n = dev_value(self->dev, a.id);
	EXPECT_LE(pages, r1.ru_minflt - r0.ru_minflt);
	EXPECT_LE(r1.ru_minflt - r0.ru_minflt, n);
	if (before) {		/* not every kernel counts them itself */
		EXPECT_GE(2 * (stat_key("/proc/vmstat", "pgfault") - before) +
			  100, n);
	}
}

TEST_F(count, migrations)
{
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_SOFTWARE,
					      PERF_COUNT_SW_CPU_MIGRATIONS);
	uint64_t n;
	int i;

	pin_to(0);
	ASSERT_EQ(0, dev_run(self->dev, a, &a.id));
	for (i = 0; i < 50; i++) {
		pin_to(1);
		pin_to(0);
	}
	n = dev_value(self->dev, a.id);
	EXPECT_LE(100, n);
	EXPECT_GE(1000, n);
}

/* Time on each CPU, read while it runs and afterwards; the parts are the sum. */
TEST_F(count, clock_and_parts)
{
	struct hwpmc_allocate a = pmc_counter(CPU_CLOCK);
	struct hwpmc_rw rw = {
		.flags = HWPMC_F_OLDVALUE,
		.cpu = HWPMC_CPU_ALL,
	};
	uint64_t inner, outer, live, sum = 0, value, enabled = 0;
	int cpus[LOG_MAX_CPU];
	unsigned int n = online_cpus(cpus, LOG_MAX_CPU), i;

	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	outer = now_ns();
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	inner = now_ns();
	sleep_ms(500);
	live = dev_value(self->dev, a.id);
	EXPECT_LT(n * 400 * MSEC, live);
	sleep_ms(500);
	inner = now_ns() - inner;
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	outer = now_ns() - outer;
	rw.id = a.id;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_LT(live, rw.value);
	EXPECT_LE(n * inner / 100 * 95, rw.value);
	EXPECT_GE(n * outer / 100 * 105, rw.value);
	EXPECT_LE(rw.running, rw.enabled);
	EXPECT_LE(n * inner / 100 * 95, rw.running);
	for (i = 0; i < n; i++) {
		struct hwpmc_rw one = rw;

		one.cpu = cpus[i];
		ASSERT_EQ(0, dev_rw(self->dev, &one));
		EXPECT_LT(0, one.value);
		sum += one.value;
		enabled += one.enabled;
	}
	EXPECT_EQ(rw.value, sum);
	EXPECT_EQ(rw.enabled, enabled);
	EXPECT_EQ(0, dev_read(self->dev, a.id, HWPMC_CPU_ALL, &value));
	EXPECT_EQ(rw.value, value);
}

/* How often @cpu has been interrupted to call a function. */
static uint64_t calls_of(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	uint64_t calls = 0;
	char line[4096], *at;
	int i;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "Function call interrupts"))
			continue;
		at = strchr(line, ':') + 1;
		for (i = 0; i <= cpu; i++)
			calls = strtoull(at, &at, 10);
	}
	if (f)
		fclose(f);
	return calls;
}

#define NREADS	500

/* On a large machine a monitor reads them one by one. */
TEST_F(count, one_cpu_read_alone)
{
	struct hwpmc_allocate a = pmc_counter(CPU_CLOCK);
	uint64_t calls, value, last = 0;
	unsigned int i;

	if (online_cpus((int [16]){}, 16) < 2)
		SKIP(return, "needs two CPUs");
	pin_to(0);
	ASSERT_EQ(0, dev_run(self->dev, a, &a.id));
	calls = calls_of(1);
	for (i = 0; i < NREADS; i++) {
		ASSERT_EQ(0, dev_read(self->dev, a.id, 0, &value));
		EXPECT_LT(last, value);
		last = value;
	}
	EXPECT_GT(NREADS / 2, calls_of(1) - calls);
}

/* Allocated with a value; set, swapped; goes on from there when started. */
TEST_F(count, values)
{
	struct hwpmc_allocate a = pmc_counter(CPU_CLOCK);
	uint64_t set = 5, first, second;
	struct hwpmc_rw rw = { .cpu = HWPMC_CPU_ALL };

	a.count = 1000;
	ASSERT_EQ(0, dev_allocate(self->dev, &a));
	EXPECT_EQ(1000, a.count);
	EXPECT_EQ(1000, dev_value(self->dev, a.id));
	ASSERT_EQ(0, dev_setcount(self->dev, a.id, &set));
	EXPECT_EQ(5, set);
	EXPECT_EQ(5, dev_value(self->dev, a.id));
	rw.id = a.id;
	rw.flags = HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE;
	rw.value = 1ULL << 40;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_EQ(5, rw.value);
	EXPECT_EQ(1ULL << 40, dev_value(self->dev, a.id));

	ASSERT_EQ(0, dev_start(self->dev, a.id));
	sleep_ms(100);
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	first = dev_value(self->dev, a.id);
	EXPECT_LT((1ULL << 40) + 100 * MSEC, first);
	/* stopped is stopped, and start resumes */
	sleep_ms(100);
	EXPECT_EQ(first, dev_value(self->dev, a.id));
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	sleep_ms(100);
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	second = dev_value(self->dev, a.id);
	EXPECT_LT(first + 100 * MSEC, second);

	rw.flags = HWPMC_F_NEWVALUE;
	rw.value = 0;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_EQ(0, dev_value(self->dev, a.id));
	set = UINT64_MAX;
	ASSERT_EQ(0, dev_setcount(self->dev, a.id, &set));
	EXPECT_EQ(UINT64_MAX, dev_value(self->dev, a.id));
}

/* The times are those of the value: they begin when it is set.  So does a CPU's. */
TEST_F(count, times_of_the_value)
{
	struct hwpmc_allocate a = pmc_counter(CPU_CLOCK);
	struct hwpmc_rw rw = { .cpu = HWPMC_CPU_ALL };
	uint64_t before, value;

	a.cpu = 0;
	ASSERT_EQ(0, dev_run(self->dev, a, &a.id));
	sleep_ms(100);
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	rw.id = a.id;
	rw.flags = HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	before = rw.enabled;
	EXPECT_LE(100 * MSEC, before);
	rw.flags = HWPMC_F_OLDVALUE;
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_EQ(0, rw.value);
	EXPECT_EQ(0, rw.enabled);
	EXPECT_EQ(0, rw.running);
	ASSERT_EQ(0, dev_read(self->dev, a.id, 0, &value));
	EXPECT_EQ(0, value);
	ASSERT_EQ(0, dev_start(self->dev, a.id));
	sleep_ms(20);
	ASSERT_EQ(0, dev_stop(self->dev, a.id));
	ASSERT_EQ(0, dev_rw(self->dev, &rw));
	EXPECT_LE(20 * MSEC, rw.enabled);
	ASSERT_EQ(0, dev_read(self->dev, a.id, 0, &value));
	EXPECT_EQ(rw.value, value);
}

/* What can only be 0 is refused. */
TEST_F(count, never_in_user_mode)
{
	const uint64_t config[] = {
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
	};
	struct hwpmc_allocate a;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		a = pmc_counter(PERF_TYPE_SOFTWARE, config[i]);
		a.caps = HWPMC_CAP_USER;
		EXPECT_EQ(-EOPNOTSUPP, dev_allocate(self->dev, &a));
		a.caps = HWPMC_CAP_SYSTEM;
		EXPECT_EQ(0, dev_allocate(self->dev, &a));
	}
	a = pmc_counter(CPU_CLOCK);
	a.flags |= HWPMC_F_EXCLUDE_IDLE;
	EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
}

/* A user-mode count leaves the kernel's page faults out. */
TEST_F(count, modes)
{
	struct hwpmc_allocate user = pmc_counter(FAULTS);
	struct hwpmc_allocate system = user;
	long page = sysconf(_SC_PAGESIZE), i;
	uint64_t in_user, in_system;
	int fd = open("/dev/zero", O_RDONLY);
	char *p;

	user.caps = HWPMC_CAP_USER;
	system.caps = HWPMC_CAP_SYSTEM;
	ASSERT_EQ(0, dev_allocate(self->dev, &user));
	ASSERT_EQ(0, dev_allocate(self->dev, &system));
	p = mmap(NULL, 2000 * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, p);
	madvise(p, 2000 * page, MADV_NOHUGEPAGE);
	ASSERT_EQ(0, dev_start(self->dev, user.id));
	ASSERT_EQ(0, dev_start(self->dev, system.id));
	for (i = 0; i < 500; i++)
		p[i * page] = 1;
	for (; i < 1500; i++)	/* the kernel writes there first */
		ASSERT_EQ(1, read(fd, p + i * page, 1));
	ASSERT_EQ(0, dev_stop(self->dev, user.id));
	ASSERT_EQ(0, dev_stop(self->dev, system.id));
	in_user = dev_value(self->dev, user.id);
	in_system = dev_value(self->dev, system.id);
	EXPECT_LE(500, in_user);
	EXPECT_GT(1000, in_user);
	EXPECT_LE(1000, in_system);
	EXPECT_GT(1500, in_system);
}

/* All rows, used again after their release. */
TEST_F(count, rows)
{
	struct hwpmc_allocate a = pmc_counter(FAULTS);
	uint32_t ids[HWPMC_NROW];
	bool seen[HWPMC_NROW] = {};
	int i, rounds = 3;

	while (rounds--) {
		for (i = 0; i < HWPMC_NROW; i++) {
			ASSERT_EQ(0, dev_allocate(self->dev, &a));
			ids[i] = a.id;
			EXPECT_FALSE(seen[HWPMC_ID_ROW(a.id)]);
			seen[HWPMC_ID_ROW(a.id)] = true;
			EXPECT_EQ(HWPMC_MODE_SC, HWPMC_ID_MODE(a.id));
			EXPECT_EQ(HWPMC_CLASS_SOFT, HWPMC_ID_CLASS(a.id));
			EXPECT_EQ(HWPMC_ID_CPU_NONE, HWPMC_ID_CPU(a.id));
		}
		EXPECT_EQ(-EINVAL, dev_allocate(self->dev, &a));
		if (!rounds)
			break;		/* the close takes the rest */
		/* one by one is slow: a grace period each */
		for (i = 0; i < HWPMC_NROW; i += 32) {
			ASSERT_EQ(0, dev_release(self->dev, ids[i]));
			EXPECT_EQ(-EINVAL, dev_start(self->dev, ids[i]));
			ASSERT_EQ(0, dev_allocate(self->dev, &a));
			EXPECT_EQ(ids[i], a.id);
			EXPECT_EQ(0, dev_start(self->dev, a.id));
		}
		close(self->dev);
		OPEN_DEVICE(self->dev);
		memset(seen, 0, sizeof(seen));
	}
}

TEST_HARNESS_MAIN
