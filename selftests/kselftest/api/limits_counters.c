// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many counters the processes of a user can have (max_counters): each PMC that a
 * thread is attached to takes one of them.
 */
#include "crowd.h"
#include "limit.h"
#include "proclog.h"
#include "test.h"
#include "user.h"

#define USER	1000
#define ROUNDS	5

FIXTURE(limits_counters)
{
	int dev;		/* root's */
};

FIXTURE_SETUP(limits_counters)
{
	self->dev = limit_open();
	ASSERT_LE(0, self->dev);
}

FIXTURE_TEARDOWN(limits_counters)
{
	limit_restore();
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
		/* counters of threads that have ended are free */
		load_end(two);
		CHECK(0, dev_attach(dev, id[0], 0));
		CHECK(0, dev_detach(dev, id[0], 0));
		/* and those of a PMC that was released, or whose device was closed */
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
	uint32_t id, others[4];
	int dev, i, j, waited, told[2];
	pid_t child;
	char c;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	CHECK(0, user_process_pmc(dev, HWPMC_F_DESCENDANTS, &id));
	for (i = 0; i < 4; i++)
		CHECK(0, user_process_pmc(dev, 0, &others[i]));
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
			_exit(dev_attach(dev, others[0], 0) != -EDQUOT);
		}
		CHECK(0, wait_for(child));
		/* the dead go to their end by themselves, one after the other */
		for (j = waited = 0; j < 4; j++)
			while (dev_attach(dev, others[j], 0)) {
				CHECK(1, waited++ < 3000);
				sleep_ms(10);
			}
		for (j = 0; j < 4; j++)
			CHECK(0, dev_detach(dev, others[j], 0));
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

TEST_F(limits_counters, still_lost)
{
	ASSERT_TRUE(limit("max_counters", 2));
	EXPECT_EQ(0, IN_CHILD(stay_lost()));
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

TEST_F(limits_counters, taken_back)
{
	ASSERT_TRUE(limit("max_counters", 1));
	EXPECT_EQ(0, IN_CHILD(told_and_taken_back()));
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

TEST_F(limits_counters, lost_before_the_log)
{
	ASSERT_TRUE(limit("max_counters", 1));
	EXPECT_EQ(0, IN_CHILD(lose_before_the_log()));
}

/*
 * Children that are not followed have nothing that a dump could tell: the log has the
 * mappings of the target once.
 */
static int fork_beyond(void)
{
	struct hwpmc_allocate a = pmc_process_faults(HWPMC_F_DESCENDANTS);
	int dev, file = temp_file(), i;
	struct log log;

	CHECK(1, user_stay(USER));
	dev = dev_open();
	CHECK(0, dev_allocate(dev, &a));
	CHECK(0, dev_configure(dev, file));
	CHECK(0, dev_attach(dev, a.id, 0));
	CHECK(0, dev_start(dev, a.id));
	for (i = 0; i < 20; i++) {
		CHECK(0, IN_CHILD(0));
		CHECK(0, dev_flush(dev));
	}
	CHECK(0, dev_closelog(dev));
	CHECK(1, log_load(&log, file));
	log_check(&log, LOG_PROC_DROPS);
	CHECK(20, log.proc_dropped);
	i = proc_count(&log, PMCLOG_T_PROC_CREATE, getpid());
	CHECK(1, i);
	return 0;
}

TEST_F(limits_counters, forks_beyond_them)
{
	/* what samples takes one of each CPU as well */
	ASSERT_TRUE(limit("max_counters", 1 + sysconf(_SC_NPROCESSORS_CONF)));
	EXPECT_EQ(0, IN_CHILD(fork_beyond()));
}

TEST_F(limits_counters, taken)
{
	ASSERT_TRUE(limit("max_counters", 5));
	EXPECT_EQ(0, IN_CHILD(take_counters()));
	EXPECT_EQ(0, IN_CHILD(take_by_forks()));
}

TEST_HARNESS_MAIN
