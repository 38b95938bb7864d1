// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmcstat as a flight recorder: what it writes when it is asked, when an event or
 * a process' end says so, and at its end.
 */
#include "session.h"
#include "snapshot.h"
#include "test.h"

#define CLOCK	"-v -n 1000000 -U -S cpu-clock "
#define STARTED	"samples through from one moment on"

FIXTURE(pmcflight)
{
	struct session s;
	struct log log;
	struct snapshot snap;
	pid_t load;
};

FIXTURE_SETUP(pmcflight)
{
	self->load = load_user(-1);
	ASSERT_LT(0, self->load);
}

FIXTURE_TEARDOWN(pmcflight)
{
	load_end(self->load);
	session_free(&self->s);
}

/* A log like others; what is in it is mapped and has its build-ids. */
static void check_log(META, FIXTURE_DATA(pmcflight) *self, unsigned int n)
{
	unsigned int mapped;

	ASSERT_TRUE(session_log(&self->s, n, &self->log)) TH_LOG("log %u", n);
	ASSERT_LOG(&self->log, 0);
	EXPECT_LT(0, self->log.samples) TH_LOG("log %u", n);
	EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
	snapshot_look(&self->log, &self->snap);
	EXPECT_EQ(1, self->snap.count);
	EXPECT_LT(0, log_build_ids(&self->log, "[kernel]"));
	log_free(&self->log);
}

TEST_F(pmcflight, asked)
{
	unsigned int n;

	ASSERT_TRUE(session_begin(&self->s, CLOCK "--flight 2M -O %s/"));
	ASSERT_TRUE(session_says(&self->s, STARTED));
	for (n = 1; n < 3; n++) {
		ASSERT_TRUE(session_wait_taken(&self->s, 100, 0));
		kill(self->s.pid, SIGUSR2);
		ASSERT_TRUE(session_wait(&self->s, n, 0));
	}
	ASSERT_TRUE(session_wait_taken(&self->s, 100, 0));
	ASSERT_EQ(0, session_end(&self->s, SIGINT)) TH_LOG("%s", self->s.said);
	ASSERT_EQ(3, self->s.nfiles) TH_LOG("%s", self->s.said);
	for (n = 1; n <= 3; n++) {
		check_log(_metadata, self, n);
		EXPECT_EQ(PMCLOG_SNAPSHOT_ASKED, self->snap.cause);
		ASSERT_TRUE(session_log(&self->s, n, &self->log));
		EXPECT_EQ(1, log_build_ids(&self->log, "/pmcflight"));
		log_free(&self->log);
	}
}

/* Faults until the first is there. */
TEST_F(pmcflight, event)
{
	const size_t len = 256 * 4096;
	char *p;

	ASSERT_TRUE(session_begin(&self->s, CLOCK "--flight 2M --trigger "
				  "page-faults,count=5000 -O %s/"));
	ASSERT_TRUE(session_says(&self->s, STARTED));
	while (!session_files(&self->s)) {
		p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(p, 1, len);
		munmap(p, len);
	}
	ASSERT_TRUE(session_says(&self->s, "page-faults has triggered it"));
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	EXPECT_EQ(NULL, strstr(self->s.said, "cannot"))
		TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
	EXPECT_EQ(PMCLOG_SNAPSHOT_PMC, self->snap.cause);
	EXPECT_LE(2, self->s.nfiles);
}

TEST_F(pmcflight, exit)
{
	ASSERT_TRUE(session_begin(&self->s, "-v -n 1000000 -d -U -P cpu-clock "
				  "--flight 1M --trigger exit=3 -O %s/one "
				  "sh -c 'truth 1; sh -c \"truth 1; exit 3\"; "
				  "truth 1; exit 7'"));
	ASSERT_EQ(7, session_end(&self->s, 0)) TH_LOG("%s", self->s.said);
	EXPECT_NE(NULL, strstr(self->s.said, "has ended with status 3"))
		TH_LOG("%s", self->s.said);
	ASSERT_EQ(1, self->s.nfiles);
	check_log(_metadata, self, 1);
	EXPECT_EQ(PMCLOG_SNAPSHOT_EXIT, self->snap.cause);
	EXPECT_EQ(3 << 8, self->snap.status);
}

/* Without a command the first one is the end. */
TEST_F(pmcflight, any_failure)
{
	char args[128];
	pid_t pid = load_user(-1);

	snprintf(args, sizeof(args), CLOCK "--flight 1M --trigger exit -O %%s/one");
	ASSERT_TRUE(session_begin(&self->s, args));
	ASSERT_TRUE(session_says(&self->s, STARTED));
	ASSERT_TRUE(session_wait_taken(&self->s, 100, 0));
	kill(pid, SIGSEGV);
	wait_for(pid);
	EXPECT_EQ(0, session_end(&self->s, 0)) TH_LOG("%s", self->s.said);
	EXPECT_NE(NULL, strstr(self->s.said, "was ended by signal 11"))
		TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
	EXPECT_EQ(PMCLOG_SNAPSHOT_EXIT, self->snap.cause);
}

TEST_HARNESS_MAIN
