// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much a user can have: as much as the parameters say, whatever he does to
 * have more, and all of it again when he has given it back.
 */
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>

#include "crowd.h"
#include "module.h"
#include "proclog.h"
#include "recorder.h"
#include "test.h"
#include "user.h"
#include "userns.h"

#define USER	1000
#define OTHER	1001
#define ROUNDS	5
#define MAX	16
#define PARAM	"/sys/module/hwpmc/parameters/"

FIXTURE(limits)
{
	int dev;		/* root's */
};

static bool limit(const char *name, unsigned int value)
{
	char path[80], text[16];

	snprintf(path, sizeof(path), PARAM "%s", name);
	snprintf(text, sizeof(text), "%u", value);
	return write_text(path, text);
}

FIXTURE_SETUP(limits)
{
	ASSERT_TRUE(device_for_group());
	ASSERT_TRUE(write_text(PARAM "unprivileged_syspmcs", "1"));
	self->dev = dev_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(limits)
{
	user_root();
	device_for_root();
	cpu_set_online(1, true);
	write_text(PARAM "unprivileged_syspmcs", "0");
	limit("max_owners", 64);
	limit("max_pmcs", 1024);
	limit("max_ringmem", 256);
	limit("max_counters", 65536);
}

TEST_F(limits, defaults)
{
	EXPECT_EQ(64, module_param("max_owners"));
	EXPECT_EQ(1024, module_param("max_pmcs"));
	EXPECT_EQ(256, module_param("max_ringmem"));
	EXPECT_EQ(65536, module_param("max_counters"));
	EXPECT_EQ(100, module_param("max_cpu"));
}

TEST_F(limits, devices)
{
	int dev[MAX], i, copy;

	ASSERT_TRUE(limit("max_owners", 3));
	ASSERT_TRUE(user_become(USER));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(3, dev_open_all(dev, MAX));
		/* a failure costs nothing, nor does another descriptor */
		EXPECT_EQ(-EMFILE, dev_open());
		close(dev[1]);
		copy = dup(dev[2]);
		dev[1] = dev_open();
		EXPECT_LE(0, dev[1]);
		EXPECT_EQ(-EMFILE, dev_open());
		close(copy);
		EXPECT_EQ(-EMFILE, dev_open());
		dev_close_all(dev, 3);
	}
}

TEST_F(limits, devices_of_each_user)
{
	int dev[MAX], theirs[MAX], own[MAX];

	ASSERT_TRUE(limit("max_owners", 3));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(3, dev_open_all(dev, MAX));
	ASSERT_TRUE(user_root() && user_become(OTHER));
	ASSERT_EQ(3, dev_open_all(theirs, MAX));
	ASSERT_TRUE(user_root());
	EXPECT_EQ(MAX, dev_open_all(own, MAX));
	/* who has them now does not matter: all these are root's descriptors */
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EMFILE, dev_open());
	dev_close_all(theirs, 3);
	EXPECT_EQ(-EMFILE, dev_open());
	dev_close_all(dev, 1);
	EXPECT_EQ(1, dev_open_all(dev, MAX));
}

/* Killed in the middle of it. */
TEST_F(limits, devices_of_the_dead)
{
	int dev[MAX], i, told[2];
	pid_t child;
	char n;

	ASSERT_TRUE(limit("max_owners", 4));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(0, pipe(told));
	for (i = 0; i < ROUNDS; i++) {
		child = fork_bound();
		if (!child) {
			n = dev_open_all(dev, MAX);
			if (write(told[1], &n, 1) == 1)
				pause();
			_exit(1);
		}
		ASSERT_EQ(1, read(told[0], &n, 1));
		EXPECT_EQ(4, n);
		EXPECT_EQ(-EMFILE, dev_open());
		kill(child, SIGKILL);
		EXPECT_EQ(128 + SIGKILL, wait_for(child));
	}
	EXPECT_EQ(4, dev_open_all(dev, MAX));
}

TEST_F(limits, none)
{
	int dev[1];

	ASSERT_TRUE(limit("max_owners", 0));
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EMFILE, dev_open());
	ASSERT_TRUE(user_root());
	EXPECT_EQ(1, dev_open_all(dev, 1));
}

/* What @fn returns, in a process that does not come back to be root. */
static int elsewhere(int (*fn)(void))
{
	pid_t child = fork_bound();

	if (!child)
		_exit(fn());
	return wait_for(child);
}

/* Devices with the capability, and without: those were on nobody's account. */
static int open_capable(void)
{
	int dev[MAX], n;

	if (prctl(PR_SET_KEEPCAPS, 1) || !user_stay(USER) ||
	    keep_caps(1ULL << CAP_PERFMON))
		return 255;
	n = dev_open_all(dev, MAX / 2);
	return keep_caps(0) ? 255 : n * MAX + dev_open_all(dev, MAX - 1);
}

static int open_incapable_root(void)
{
	int dev[MAX];

	return keep_caps(1ULL << CAP_DAC_OVERRIDE) ? 255 : dev_open_all(dev, MAX);
}

/* The limit is lifted by the capability, not by a user's number. */
TEST_F(limits, capability)
{
	ASSERT_TRUE(limit("max_owners", 2));
	EXPECT_EQ(MAX / 2 * MAX + 2, elsewhere(open_capable));
	EXPECT_EQ(2, elsewhere(open_incapable_root));
}

static int user_pmc(int dev, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_SOFTWARE,
					      PERF_COUNT_SW_CPU_CLOCK);
	int err;

	a.caps = HWPMC_CAP_USER;
	err = dev_allocate(dev, &a);
	*id = a.id;
	return err;
}

/* As many as can be had of @dev, @n at most. */
static int allocate_all(int dev, uint32_t *id, int n)
{
	int i, err;

	for (i = 0; i < n; i++) {
		err = user_pmc(dev, &id[i]);
		if (err)
			return err == -EDQUOT ? i : err;
	}
	return i;
}

static int allocate_bad(int dev)
{
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_SOFTWARE, 999);

	a.caps = HWPMC_CAP_USER;
	return dev_allocate(dev, &a);
}

TEST_F(limits, pmcs)
{
	uint32_t first[MAX], second[MAX];
	int dev[2], i;

	ASSERT_TRUE(limit("max_pmcs", 5));
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(2, dev_open_all(dev, 2));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(3, allocate_all(dev[0], first, 3));
		/* not charged: there is no such event */
		EXPECT_EQ(-ENOENT, allocate_bad(dev[1]));
		ASSERT_EQ(2, allocate_all(dev[1], second, MAX));
		EXPECT_EQ(-EDQUOT, user_pmc(dev[0], &first[3]));
		/* that there is no such event is not looked at any more */
		EXPECT_EQ(-EDQUOT, allocate_bad(dev[1]));
		EXPECT_EQ(0, dev_release(dev[0], first[1]));
		EXPECT_EQ(1, allocate_all(dev[1], &second[2], MAX));
		EXPECT_EQ(0, dev_release(dev[0], first[0]));
		EXPECT_EQ(0, dev_release(dev[0], first[2]));
		EXPECT_EQ(2, allocate_all(dev[0], first, MAX));
		EXPECT_EQ(0, dev_release(dev[0], first[0]));
		EXPECT_EQ(0, dev_release(dev[0], first[1]));
		/* and those that the close releases */
		close(dev[1]);
		dev[1] = dev_open();
		ASSERT_LE(0, dev[1]);
	}
}

TEST_F(limits, pmcs_of_the_opener)
{
	uint32_t id[MAX];
	int dev;

	ASSERT_TRUE(limit("max_pmcs", 5));
	EXPECT_EQ(MAX, allocate_all(self->dev, id, MAX));
	ASSERT_TRUE(user_become(USER));
	dev = dev_open();
	ASSERT_LE(0, dev);
	ASSERT_TRUE(user_root());
	/* in root's hands it is the user's still */
	EXPECT_EQ(5, allocate_all(dev, id, MAX));
}

/* Released PMCs belong to the writing thread until their end is in the log. */
TEST_F(limits, pmcs_in_a_log)
{
	int dev, i, j, n, file = temp_file();
	uint32_t id[MAX];
	struct log log;

	ASSERT_TRUE(limit("max_pmcs", 6));
	ASSERT_TRUE(user_become(USER));
	dev = dev_open();
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	for (i = 0; i < ROUNDS; i++) {
		for (n = 0, j = 0; n < 6 && j < 3000; j++) {
			if (!user_pmc(dev, &id[n]))
				n++;
			else
				sleep_ms(20);
		}
		ASSERT_EQ(6, n);
		ASSERT_EQ(-EDQUOT, user_pmc(dev, &id[6]));
		while (n--)
			ASSERT_EQ(0, dev_release(dev, id[n]));
	}
	ASSERT_EQ(0, dev_closelog(dev));
	/* nobody is left who could hold one back */
	EXPECT_EQ(6, allocate_all(dev, id, MAX));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, 0);
}

/* MiB that the rings of an owner take. */
static unsigned int owner_mib(void)
{
	int cpus[LOG_MAX_CPU];

	return online_cpus(cpus, LOG_MAX_CPU) * module_param("ringsize") >> 10;
}

/* Closed with everything in use; the thread may take a moment to end. */
TEST_F(limits, closed_with_a_log)
{
	int dev, i, users = module_users();
	uint32_t id[MAX];

	ASSERT_TRUE(limit("max_pmcs", 3));
	ASSERT_TRUE(limit("max_ringmem", owner_mib()));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(user_become(USER));
		dev = dev_open();
		ASSERT_LE(0, dev);
		ASSERT_EQ(0, dev_configure(dev, temp_file()));
		ASSERT_EQ(3, allocate_all(dev, id, MAX));
		ASSERT_EQ(0, dev_start(dev, id[0]));
		close(dev);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(users));
	}
}

TEST_F(limits, rings)
{
	int dev[3], i, users = module_users();
	struct hwpmc_driverstats st;

	/* for one owner, and a part of another's */
	ASSERT_TRUE(limit("max_ringmem", owner_mib() * 2 - 1));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(user_become(USER));
		ASSERT_EQ(3, dev_open_all(dev, 3));
		EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
		EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
		EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
		ASSERT_EQ(0, dev_stats(dev[1], HWPMC_STATS_OWNER, &st));
		EXPECT_LE(2, st.buffer_requests_failed);
		/* rings last as long as their owner */
		EXPECT_EQ(0, dev_closelog(dev[0]));
		EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
		EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
		close(dev[1]);
		EXPECT_EQ(-EDQUOT, dev_configure(dev[2], temp_file()));
		close(dev[0]);
		ASSERT_TRUE(user_root());
		ASSERT_TRUE(recorders_are(users + 1));
		/* what it has, and the rest */
		EXPECT_EQ(0, dev_configure(dev[2], temp_file()));
		close(dev[2]);
		ASSERT_TRUE(recorders_are(users));
	}
}

/* What there is stays when less is allowed, and counts. */
TEST_F(limits, lowered)
{
	unsigned int mib = owner_mib();
	int dev[MAX];
	uint32_t id[MAX];

	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(4, dev_open_all(dev, 4));
	ASSERT_EQ(0, dev_configure(dev[0], temp_file()));
	ASSERT_EQ(4, allocate_all(dev[0], id, 4));
	ASSERT_TRUE(user_root());
	ASSERT_TRUE(limit("max_owners", 2) && limit("max_pmcs", 2) &&
		    limit("max_ringmem", mib - 1));
	ASSERT_TRUE(user_become(USER));
	EXPECT_EQ(-EMFILE, dev_open());
	EXPECT_EQ(-EDQUOT, user_pmc(dev[0], &id[4]));
	EXPECT_EQ(-EDQUOT, dev_configure(dev[1], temp_file()));
	EXPECT_EQ(0, dev_flush(dev[0]));
	EXPECT_EQ(0, dev_closelog(dev[0]));
	EXPECT_EQ(0, dev_configure(dev[0], temp_file()));
	EXPECT_EQ(0, dev_start(dev[0], id[0]));
	dev_close_all(&dev[2], 2);
	EXPECT_EQ(-EMFILE, dev_open());
	close(dev[1]);
	EXPECT_EQ(1, dev_open_all(&dev[1], 3));
}

/* A CPU that comes when there is nothing left for it. */
TEST_F(limits, cpu_without_ring)
{
	int dev, file = temp_file();
	struct hwpmc_allocate a = pmc_clock(1000);
	struct hwpmc_driverstats st;
	struct log log;
	unsigned int i;
	uint32_t id;
	pid_t load;

	if (cpu_set_online(1, false))
		SKIP(return, "CPU 1 cannot be switched off");
	ASSERT_TRUE(limit("max_ringmem", owner_mib()));
	ASSERT_TRUE(user_become(USER));
	dev = dev_open();
	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	a.caps = HWPMC_CAP_USER;
	ASSERT_EQ(0, dev_run(dev, a, &id));
	ASSERT_TRUE(user_root());
	ASSERT_EQ(0, cpu_set_online(1, true));
	load = load_user(1);
	for (i = 0; i < 3000; i++) {
		ASSERT_EQ(0, dev_stats(dev, HWPMC_STATS_OWNER, &st));
		if (st.intr_bufferfull > 20)
			break;
		sleep_ms(20);
	}
	EXPECT_GT(3000, i);
	EXPECT_LE(1, st.buffer_requests_failed);
	load_end(load);
	ASSERT_EQ(0, dev_closelog(dev));
	ASSERT_TRUE(log_load(&log, file));
	ASSERT_LOG(&log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_EQ(0, log.cpu_samples[1]);
	EXPECT_LT(20, log_dropped(&log));
}

static int user_process_pmc(int dev, uint32_t flags, uint32_t *id)
{
	struct hwpmc_allocate a = pmc_process_counter(PERF_TYPE_SOFTWARE,
						      PERF_COUNT_SW_TASK_CLOCK,
						      flags);
	int err;

	a.caps = HWPMC_CAP_USER;
	err = dev_allocate(dev, &a);
	*id = a.id;
	return err;
}

/* Of five counters; each PMC takes one of each thread. */
static int take_counters(void)
{
	pid_t three, two, six;
	uint32_t id[3];
	int dev, i;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	three = crowd(3);
	six = crowd(6);
	for (i = 0; i < 3; i++)
		CHECK(0, user_process_pmc(dev, 0, &id[i]));
	for (i = 0; i < ROUNDS; i++) {
		two = crowd(2);
		/* all of its threads, or none */
		CHECK(-EDQUOT, dev_attach(dev, id[0], six));
		CHECK(0, dev_attach(dev, id[0], three));
		CHECK(-EDQUOT, dev_attach(dev, id[1], three));
		CHECK(0, dev_attach(dev, id[1], two));
		CHECK(-EDQUOT, dev_attach(dev, id[2], 0));
		CHECK(-EEXIST, dev_attach(dev, id[1], two));
		CHECK(0, dev_detach(dev, id[0], three));
		CHECK(0, dev_attach(dev, id[2], three));
		CHECK(-EDQUOT, dev_attach(dev, id[0], 0));
		/* those of who has ended */
		load_end(two);
		CHECK(0, dev_attach(dev, id[0], 0));
		CHECK(0, dev_detach(dev, id[0], 0));
		/* and those of who is released, or closed */
		CHECK(0, dev_release(dev, id[2]));
		CHECK(0, user_process_pmc(dev, 0, &id[2]));
		two = crowd(2);
		CHECK(0, dev_attach(dev, id[0], three));
		CHECK(0, dev_attach(dev, id[0], two));
		load_end(two);
		CHECK(0, close(dev));
		dev = dev_open();
		for (int j = 0; j < 3; j++)
			CHECK(0, user_process_pmc(dev, 0, &id[j]));
	}
	load_end(three);
	load_end(six);
	return 0;
}

/* Who comes when there is nothing left is not followed; who goes makes room. */
static int take_by_forks(void)
{
	uint32_t id, other;
	int dev, i, j, told[2];
	pid_t child;
	char c;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	CHECK(0, user_process_pmc(dev, HWPMC_F_DESCENDANTS, &id));
	CHECK(0, user_process_pmc(dev, 0, &other));
	CHECK(0, dev_attach(dev, id, 0));
	CHECK(0, pipe(told));
	for (i = 0; i < ROUNDS; i++) {
		child = fork_bound();
		if (!child) {
			/* each has its counter before it can tell */
			for (j = 0; j < 10; j++)
				if (!fork_bound() && write(told[1], "", 1) == 1)
					wait_for_ever(NULL);
			while (j-- && read(told[0], &c, 1) == 1)
				;
			/* four are gone to those who came first */
			_exit(dev_attach(dev, other, 0) != -EDQUOT);
		}
		CHECK(0, wait_for(child));
		/* the dead go to their end by themselves */
		for (j = 0; j < 3000 && dev_attach(dev, other, 0); j++)
			sleep_ms(10);
		CHECK(0, j == 3000);
		CHECK(0, dev_detach(dev, other, 0));
	}
	return 0;
}

/* Once all targets are lost, what fails does not bring any back. */
static int stay_lost(void)
{
	struct hwpmc_record r = { .on = 1 };
	uint32_t id[3], taken[2];
	pid_t two, three;
	int dev, other, i;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	for (i = 0; i < 3; i++)
		CHECK(0, user_process_pmc(dev, 0, &id[i]));
	two = crowd(2);
	CHECK(0, dev_attach(dev, id[0], two));
	CHECK(0, dev_hung_up(dev));
	load_end(two);
	CHECK(1, dev_hung_up(dev));
	three = crowd(3);
	CHECK(-EDQUOT, dev_attach(dev, id[0], three));
	CHECK(1, dev_hung_up(dev));
	load_end(three);
	/* the second of two, at the start of them all */
	CHECK(0, dev_release(dev, id[0]));
	other = dev_open();
	for (i = 0; i < 2; i++) {
		CHECK(0, user_process_pmc(other, 0, &taken[i]));
		CHECK(0, dev_attach(other, taken[i], 0));
		CHECK(-EDQUOT, dev_ioctl(dev, HWPMC_IOC_RECORD, &r));
		CHECK(1, dev_hung_up(dev));
	}
	CHECK(-EDQUOT, dev_start(dev, id[1]));
	CHECK(1, dev_hung_up(dev));
	CHECK(0, dev_detach(other, taken[0], 0));
	CHECK(0, dev_start(dev, id[1]));
	CHECK(0, dev_hung_up(dev));
	return 0;
}

TEST_F(limits, still_lost)
{
	ASSERT_TRUE(limit("max_counters", 2));
	EXPECT_EQ(0, elsewhere(stay_lost));
}

/* The log, too, says that who was attached for a start that failed is not. */
static int told_and_taken_back(void)
{
	struct hwpmc_record r = { .on = 1 };
	int dev, file = temp_file();
	uint32_t id[2];
	struct log log;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	CHECK(0, dev_configure(dev, file));
	CHECK(0, user_process_pmc(dev, 0, &id[0]));
	CHECK(0, user_process_pmc(dev, 0, &id[1]));
	CHECK(-EDQUOT, dev_ioctl(dev, HWPMC_IOC_RECORD, &r));
	CHECK(0, dev_closelog(dev));
	CHECK(1, log_load(&log, file));
	CHECK(1, proc_count(&log, PMCLOG_T_PMCATTACH, getpid()));
	CHECK(1, proc_count(&log, PMCLOG_T_PMCDETACH, getpid()));
	return 0;
}

TEST_F(limits, taken_back)
{
	ASSERT_TRUE(limit("max_counters", 1));
	EXPECT_EQ(0, elsewhere(told_and_taken_back));
}

/*
 * A fork that was not followed for want of a counter, before there was a log.  The log
 * has a notice of the loss, with the time at which the log began.
 */
static int lose_before_the_log(void)
{
	int dev, file = temp_file();
	struct log log;
	pid_t child;
	uint32_t id;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	CHECK(0, user_process_pmc(dev, HWPMC_F_DESCENDANTS, &id));
	CHECK(0, dev_attach(dev, id, 0));
	child = crowd(1);
	CHECK(0, dev_configure(dev, file));
	CHECK(0, dev_closelog(dev));
	load_end(child);
	CHECK(1, log_load(&log, file));
	if (log_check(&log, LOG_PROC_DROPS))
		fprintf(stderr, "# %s\n", log.fault);
	CHECK(0, log.fault[0]);
	CHECK(1, log.proc_dropped);
	return 0;
}

TEST_F(limits, lost_before_the_log)
{
	ASSERT_TRUE(limit("max_counters", 1));
	EXPECT_EQ(0, elsewhere(lose_before_the_log));
}

TEST_F(limits, counters)
{
	ASSERT_TRUE(limit("max_counters", 5));
	EXPECT_EQ(0, elsewhere(take_counters));
	EXPECT_EQ(0, elsewhere(take_by_forks));
}

/* An event on each CPU takes memory, too. */
TEST_F(limits, counters_of_cpus)
{
	struct hwpmc_allocate one = pmc_clock(1000), ts;
	uint32_t id[MAX], more;
	int dev, i;

	one.caps = HWPMC_CAP_USER;
	one.cpu = 0;
	ts = one;
	ts.mode = HWPMC_MODE_TS;
	ts.cpu = HWPMC_CPU_ANY;
	ts.flags &= ~HWPMC_F_INCLUDE_OWNER;
	ASSERT_TRUE(limit("max_counters", cpus_possible() * 2 + 1));
	ASSERT_TRUE(user_become(USER));
	dev = dev_open();
	ASSERT_LE(0, dev);
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(2, allocate_all(dev, id, MAX));
		EXPECT_EQ(-EDQUOT, dev_allocate(dev, &ts));
		EXPECT_EQ(0, dev_allocate(dev, &one));
		EXPECT_EQ(-EDQUOT, dev_allocate(dev, &one));
		/* where it counts is not known before it is attached */
		EXPECT_EQ(0, user_process_pmc(dev, 0, &more));
		EXPECT_EQ(0, dev_release(dev, id[0]));
		EXPECT_EQ(0, dev_allocate(dev, &ts));
		EXPECT_EQ(-EDQUOT, user_pmc(dev, &more));
		close(dev);
		dev = dev_open();
	}
}

static char take_devices(void)
{
	int dev[MAX];

	return dev_open_all(dev, MAX);
}

static int all_devices(void)
{
	return userns_take(take_devices);
}

static char take_pmcs(void)
{
	int dev = dev_open(), n;
	uint32_t id;

	for (n = 0; n < MAX && !user_process_pmc(dev, 0, &id); n++)
		;
	return n;
}

static int all_pmcs(void)
{
	return userns_take(take_pmcs);
}

/* Who makes a namespace has no more for the users in it than for himself. */
TEST_F(limits, namespaces)
{
	int dev[MAX], i;

	if (access("/proc/self/ns/user", F_OK))
		SKIP(return, "no user namespaces here");
	ASSERT_TRUE(limit("max_owners", 7));
	ASSERT_TRUE(limit("max_pmcs", 6));
	for (i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(7, userns_run(USER, all_devices));
		EXPECT_EQ(6, userns_run(USER, all_pmcs));
	}
	/* it counts together with what he has outside */
	ASSERT_TRUE(user_become(USER));
	ASSERT_EQ(2, dev_open_all(dev, 2));
	ASSERT_TRUE(user_root());
	EXPECT_EQ(5, userns_run(USER, all_devices));
	/* others have theirs */
	ASSERT_TRUE(user_become(OTHER));
	EXPECT_EQ(7, dev_open_all(&dev[2], MAX - 2));
}

TEST_HARNESS_MAIN
