// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs in a directory, as pmcstat makes them: each has all that it needs, and no
 * sample is lost between them.
 */
#include "ends.h"
#include "session.h"
#include "test.h"

#define CLOCK	"-n 1000000 -U -S cpu-clock"

FIXTURE(pmcrotate)
{
	struct session s;
	struct log log;
	pid_t load;
};

FIXTURE_SETUP(pmcrotate)
{
	self->load = load_user(-1);
	ASSERT_LT(0, self->load);
}

FIXTURE_TEARDOWN(pmcrotate)
{
	load_end(self->load);
	session_free(&self->s);
}

/*
 * Each of them alone is sound, and together they have all samples.  The program
 * that computes is mapped in each, and its build-id known.
 */
static void check_logs(META, FIXTURE_DATA(pmcrotate) *self)
{
	uint64_t samples = 0, end = 0, all_mapped = 0;
	unsigned int i, mapped;

	for (i = 1; i <= self->s.nfiles; i++) {
		ASSERT_TRUE(session_log(&self->s, i, &self->log));
		ASSERT_LOG(&self->log, 0);
		EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
		all_mapped += mapped;
		EXPECT_LE(end, self->log.first_tsc) TH_LOG("log %u", i);
		EXPECT_EQ(0, self->log.account.discarded);
		EXPECT_EQ(1, log_build_ids(&self->log, "/pmcrotate"));
		EXPECT_EQ(1, log_build_ids(&self->log, "[kernel]"));
		EXPECT_EQ(1, log_build_ids(&self->log, "[vdso]"));
		samples += self->log.samples;
		end = self->log.last_tsc;
		log_free(&self->log);
	}
	EXPECT_LT(0, all_mapped);
	EXPECT_EQ(samples, session_said(&self->s, " samples, "))
		TH_LOG("%s", self->s.said);
	EXPECT_EQ(self->s.nfiles, session_said(&self->s, " files"))
		TH_LOG("%s", self->s.said);
}

TEST_F(pmcrotate, hangup)
{
	unsigned int n;

	ASSERT_TRUE(session_begin(&self->s, "-O %s/ " CLOCK));
	for (n = 1; n < 5; n++) {
		ASSERT_TRUE(session_wait_samples(&self->s, n, self->load, 50));
		kill(self->s.pid, SIGHUP);
	}
	ASSERT_TRUE(session_wait_samples(&self->s, n, self->load, 50));
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_EQ(5, self->s.nfiles);
	check_logs(_metadata, self);
}

/* The last one is as long as it gets. */
TEST_F(pmcrotate, size)
{
	unsigned int i;
	struct stat st;

	ASSERT_TRUE(session_begin(&self->s,
				  "-O %s --rotate 60K --rotate 1d --packed "
				  CLOCK));
	ASSERT_TRUE(session_wait_samples(&self->s, 4, self->load, 20));
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	for (i = 0; i + 1 < self->s.nfiles; i++) {
		ASSERT_EQ(0, stat(self->s.file[i], &st));
		EXPECT_LE(60 << 10, st.st_size);
	}
	check_logs(_metadata, self);
}

TEST_F(pmcrotate, time_and_command)
{
	ASSERT_TRUE(session_begin(&self->s, "-O %s --rotate 1s " CLOCK
				  " sleep 1000"));
	ASSERT_TRUE(session_wait(&self->s, 4, 0));
	ASSERT_TRUE(session_wait_taken(&self->s, 100, 0));
	ASSERT_EQ(143, session_end(&self->s, SIGTERM))
		TH_LOG("%s", self->s.said);
	check_logs(_metadata, self);
}

/* Processes that are followed stay so; those that have ended are not in the next. */
TEST_F(pmcrotate, processes)
{
	unsigned int n, other;
	uint64_t samples = 0;
	char args[128];
	pid_t pid;

	pid = load_user(-1);
	snprintf(args, sizeof(args),
		 "-O %%s/ -n 1000000 -P cpu-clock -t %d -t %d", self->load, pid);
	ASSERT_TRUE(session_begin(&self->s, args));
	for (n = 1; n <= 4; n++) {
		ASSERT_TRUE(session_wait_samples(&self->s, n, self->load, 20));
		if (n == 3)
			load_end(pid);
		if (n < 4)
			kill(self->s.pid, SIGHUP);
	}
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_EQ(4, self->s.nfiles);
	for (n = 1; n <= 4; n++) {
		ASSERT_TRUE(session_log(&self->s, n, &self->log));
		ASSERT_LOG(&self->log, 0);
		EXPECT_LT(0, self->log.samples);
		samples += self->log.samples;
		other = LOG_COUNT(&self->log, PMCATTACH, pmcattach, pid, pid);
		EXPECT_EQ(n < 4, other) TH_LOG("log %u", n);
		EXPECT_EQ(1, LOG_COUNT(&self->log, PMCATTACH, pmcattach, pid,
				       self->load)) TH_LOG("log %u", n);
		log_free(&self->log);
	}
	EXPECT_EQ(samples, session_said(&self->s, " samples, "));
}

static unsigned int last_number(const struct session *s)
{
	const char *name = s->file[s->nfiles - 1];

	return atoi(strrchr(name, '.') + 1);
}

TEST_F(pmcrotate, keep)
{
	unsigned int n;

	ASSERT_TRUE(session_begin(&self->s, "-O %s --keep 2 " CLOCK));
	ASSERT_TRUE(session_wait_samples(&self->s, 1, self->load, 20));
	for (n = 2; n < 5; n++) {
		kill(self->s.pid, SIGHUP);
		do {
			ASSERT_TRUE(session_wait(&self->s, 2, 0));
		} while (last_number(&self->s) != n);
	}
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_EQ(2, self->s.nfiles);
	EXPECT_EQ(4, last_number(&self->s));
	ASSERT_TRUE(session_log(&self->s, 1, &self->log));
	ASSERT_LOG(&self->log, 0);
	log_free(&self->log);
	ASSERT_TRUE(session_log(&self->s, 2, &self->log));
	ASSERT_LOG(&self->log, 0);
}

/* Out of a pipe, compressed: counted by what is read back. */
TEST_F(pmcrotate, compressed)
{
	enum pmclog_iter_status status;
	struct pmclog_account account;
	uint64_t samples, all = 0;
	struct pmclog_iter *it;
	struct pmclog_rec rec;
	unsigned int i;
	int fd;

	ASSERT_TRUE(session_begin(&self->s, "-O %s --rotate 1s -Z " CLOCK));
	if (!session_wait(&self->s, 3, 0)) {
		ASSERT_EQ(69, session_end(&self->s, 0))
			TH_LOG("%s", self->s.said);
		SKIP(return, "pmcstat was built without zstd");
	}
	ASSERT_TRUE(session_wait_taken(&self->s, 20, 0));
	ASSERT_EQ(0, session_end(&self->s, SIGTERM)) TH_LOG("%s", self->s.said);
	for (i = 0; i < self->s.nfiles; i++) {
		fd = open(self->s.file[i], O_RDONLY | O_CLOEXEC);
		it = pmclog_iter_fd(fd);
		samples = 0;
		while ((status = pmclog_iter_next(it, &rec)) ==
		       PMCLOG_ITER_RECORD) {
			samples += rec.type == PMCLOG_T_CALLCHAIN;
			if (rec.type == PMCLOG_T_CLOSELOG)
				memcpy(&account, rec.data +
				       offsetof(struct pmclog_closelog, account),
				       sizeof(account));
		}
		EXPECT_EQ(PMCLOG_ITER_EOF, status);
		EXPECT_EQ(samples, account.written);
		memset(&account, 0, sizeof(account));
		all += samples;
		pmclog_iter_close(it);
		close(fd);
	}
	EXPECT_LT(0, all);
	EXPECT_EQ(all, session_said(&self->s, " samples, "))
		TH_LOG("%s", self->s.said);
}

/* A full disk is told once, and what was whole by then stays so. */
TEST_F(pmcrotate, full_disk)
{
	const char *dir = "/tmp/hwpmc-small";
	const char *filler = "/tmp/hwpmc-small/.filler";
	char args[128];

	mkdir(dir, 0700);
	ASSERT_TRUE(small_tmpfs(dir, 32 << 20));
	snprintf(args, sizeof(args), "-O %s/ " CLOCK " # %%s", dir);
	ASSERT_TRUE(session_begin(&self->s, args));
	rmdir(self->s.dir);
	snprintf(self->s.dir, sizeof(self->s.dir), "%s", dir);
	ASSERT_TRUE(session_wait(&self->s, 1, 1000));
	kill(self->s.pid, SIGHUP);
	ASSERT_TRUE(session_wait(&self->s, 2, 1000));
	ASSERT_TRUE(fill_but(filler, 0));
	EXPECT_EQ(74, session_end(&self->s, 0)) TH_LOG("%s", self->s.said);
	EXPECT_NE(NULL, strstr(self->s.said, "0002: No space left on device"))
		TH_LOG("%s", self->s.said);
	unlink(filler);
	EXPECT_EQ(2, self->s.nfiles);
	ASSERT_TRUE(session_log(&self->s, 1, &self->log));
	ASSERT_LOG(&self->log, 0);
}

TEST_HARNESS_MAIN
