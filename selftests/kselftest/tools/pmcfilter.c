// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmcstat's --only and --not: what is in the log, and what is left out.
 */
#include "session.h"
#include "test.h"

#define CLOCK	" -n 10000000 -S cpu-clock "
#define SOME	20		/* samples: none of them is there by chance */

FIXTURE(pmcfilter)
{
	struct session s;
	struct log log;
	pid_t one, two, third;
	unsigned int of_one, of_two, others, user, kernel;
};

FIXTURE_SETUP(pmcfilter)
{
	self->one = load_user(-1);
	self->two = load_user(-1);
	self->third = load_user(-1);
	ASSERT_LT(0, self->one);
	ASSERT_LT(0, self->two);
	ASSERT_LT(0, self->third);
}

FIXTURE_TEARDOWN(pmcfilter)
{
	load_end(self->one);
	load_end(self->two);
	load_end(self->third);
	session_free(&self->s);
}

static void count(FIXTURE_DATA(pmcfilter) *self)
{
	struct sample s;

	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		self->of_one += (pid_t)s.pid == self->one;
		self->of_two += (pid_t)s.pid == self->two;
		self->others += (pid_t)s.pid != self->one &&
				(pid_t)s.pid != self->two;
		self->user += s.user;
		self->kernel += !s.user;
	}
}

/* @format: with both pids; samples of @one and @two (or 0) are to be there */
static void record(META, FIXTURE_DATA(pmcfilter) *self, const char *format,
		   pid_t one, pid_t two)
{
	char args[256];

	snprintf(args, sizeof(args), format, self->one, self->two);
	strcat(args, CLOCK "-O %s/log");
	ASSERT_TRUE(session_begin(&self->s, args));
	ASSERT_TRUE(!one || session_wait_samples(&self->s, 1, one, SOME));
	ASSERT_TRUE(!two || session_wait_samples(&self->s, 1, two, SOME));
	ASSERT_TRUE(session_wait_taken(&self->s, SOME, SOME));
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_TRUE(session_log(&self->s, 1, &self->log));
	ASSERT_LOG(&self->log, 0);
	EXPECT_LT(0, self->log.account.filtered);
	count(self);
	log_free(&self->log);
}

TEST_F(pmcfilter, one_process)
{
	record(_metadata, self, "--only pid=%d", self->one, 0);
	EXPECT_LT(0, self->of_one);
	EXPECT_EQ(0, self->of_two + self->others);
}

TEST_F(pmcfilter, two_threads_in_user_mode)
{
	record(_metadata, self, "--only tid=%d,user --only tid=%d", self->one,
	       self->two);
	EXPECT_LT(0, self->of_one);
	EXPECT_LT(0, self->of_two);
	EXPECT_EQ(0, self->others + self->kernel);
}

TEST_F(pmcfilter, all_but_one)
{
	record(_metadata, self, "--not pid=%d --only comm=pmcfilter,comm=nobody",
	       0, self->two);
	EXPECT_EQ(0, self->of_one);
	EXPECT_LT(0, self->of_two);
}

/* A PMC that is named before has all. */
TEST_F(pmcfilter, those_named_after_it)
{
	record(_metadata, self, CLOCK "--only pid=%d,pid=%d", self->one,
	       self->two);
	EXPECT_LT(0, self->of_one);
	EXPECT_LT(0, self->of_two);
}

/* Who records is left out, unless he asks. */
TEST_F(pmcfilter, recorder)
{
	unsigned int n = 0;
	struct sample s;
	pid_t pid;

	ASSERT_TRUE(session_begin(&self->s, "--include-self --only comm=pmcstat "
				  "-n 1000000 -S cpu-clock --only all "
				  "-w .001 -s cs -O %s/log"));
	pid = self->s.pid;
	ASSERT_TRUE(session_wait_samples(&self->s, 1, pid, SOME));
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_TRUE(session_log(&self->s, 1, &self->log));
	ASSERT_LOG(&self->log, 0);
	LOG_FOR_EACH_SAMPLE(&self->log, s) {
		EXPECT_EQ(pid, (pid_t)s.pid);
		n++;
	}
	EXPECT_LT(0, n);
}

TEST_F(pmcfilter, control_groups_that_are_none)
{
	ASSERT_TRUE(session_begin(&self->s, "--only cgroup=/nonesuch" CLOCK
				  "-O %s/log"));
	EXPECT_EQ(66, session_end(&self->s, 0)) TH_LOG("%s", self->s.said);
	session_free(&self->s);
	ASSERT_TRUE(session_begin(&self->s, "--only cgroup=/tmp" CLOCK
				  "-O %s/log"));
	EXPECT_EQ(69, session_end(&self->s, 0)) TH_LOG("%s", self->s.said);
	EXPECT_NE(NULL, strstr(self->s.said, "no control group of cgroup2"))
		TH_LOG("%s", self->s.said);
}

TEST_HARNESS_MAIN
