// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that is executed cannot be opened any more: its server does not answer. A
 * recording without its unwind table and its build-id ends as any other, when it ought
 * to.
 */
#include "fusefile.h"
#include "session.h"
#include "target.h"
#include "test.h"

#define PLACE		"/tmp/pmchang"
#define CLOCK		"-n 1000000 -S cpu-clock "
/* pmcstat waits for tables at the start and at the end, for some seconds. */
#define PATIENCE_MS	scaled(20000, 300000)
#define LIMIT		900	/* of a test, in seconds: the debug kernel takes minutes */

#ifdef __aarch64__
static const unsigned char spin[] = { 0x00, 0x00, 0x00, 0x14 };	/* b . */
#else
static const unsigned char spin[] = { 0xeb, 0xfe };		/* jmp . */
#endif

/* What the test, the target and the server share. */
struct shared {
	struct fusefile	file;
	volatile bool	runs;
};

FIXTURE(pmchang)
{
	struct session s;
	struct log log;
	struct shared *shared;
	pid_t server, target;
};

/* Executes the file, which has been read when this is told. */
static void be_target(struct shared *shared)
{
	int fd = open(PLACE "/file", O_RDONLY | O_CLOEXEC);
	const volatile char *code = mmap(NULL, FUSEFILE_SIZE,
					 PROT_READ | PROT_EXEC, MAP_PRIVATE,
					 fd, 0);

	if (code == MAP_FAILED)
		_exit(1);
	shared->runs = code[0] == (char)spin[0];
	((void (*)(void))(uintptr_t)code)();
	_exit(2);
}

FIXTURE_SETUP(pmchang)
{
	self->shared = shared_memory(sizeof(*self->shared));
	memcpy(self->shared->file.content, spin, sizeof(spin));
	self->server = fusefile_begin(PLACE, &self->shared->file);
	if (!self->server)
		SKIP(return, "no FUSE");
	self->target = fork_bound();
	if (!self->target)
		be_target(self->shared);
	ASSERT_TRUE(wait_true(&self->shared->runs, PATIENCE_MS));
	self->shared->file.hold_open = true;
}

FIXTURE_TEARDOWN(pmchang)
{
	session_free(&self->s);
	load_end(self->target);
	fusefile_end(PLACE, self->server);
}

/*
 * Two threads have it to open: what makes tables before the start, and what is asked
 * later, or reads build-ids.
 */
static bool hangs(FIXTURE_DATA(pmchang) *self)
{
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS && self->shared->file.opens < 2; ms++)
		sleep_ms(1);
	return self->shared->file.opens >= 2;
}

static bool has_files(FIXTURE_DATA(pmchang) *self, unsigned int n)
{
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS && session_files(&self->s) < n; ms++)
		sleep_ms(1);
	return self->s.nfiles >= n;
}

/* -1: it does not end, until it is killed */
static int end_of(FIXTURE_DATA(pmchang) *self, int sig)
{
	if (sig)
		kill(self->s.pid, sig);
	if (wait_ended(self->s.pid, PATIENCE_MS))
		return session_end(&self->s, 0);
	session_end(&self->s, SIGKILL);
	return -1;
}

/* Once, however many logs there are. */
static bool says_so(const FIXTURE_DATA(pmchang) *self)
{
	static const char words[] = "lacks build-ids of some files";
	const char *first = strstr(self->s.said, words);

	return first && !strstr(first + 1, words);
}

static void check_log(META, FIXTURE_DATA(pmchang) *self, unsigned int n)
{
	ASSERT_TRUE(session_log(&self->s, n, &self->log)) TH_LOG("log %u", n);
	ASSERT_LOG(&self->log, 0);
	EXPECT_LT(0, self->log.samples) TH_LOG("log %u", n);
	/* the others are looked at all the same */
	EXPECT_LT(0, log_build_ids(&self->log, "/pmchang")) TH_LOG("log %u", n);
	EXPECT_TRUE(says_so(self)) TH_LOG("%s", self->s.said);
	log_free(&self->log);
}

TEST_F_TIMEOUT(pmchang, limit, LIMIT)
{
	ASSERT_TRUE(session_begin(&self->s, CLOCK "-l 2 -O %s/log"));
	EXPECT_TRUE(hangs(self));
	ASSERT_EQ(0, end_of(self, 0)) TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
}

TEST_F_TIMEOUT(pmchang, quiet, LIMIT)
{
	ASSERT_TRUE(session_begin(&self->s, CLOCK "-q -l 2 -O %s/log"));
	EXPECT_TRUE(hangs(self));
	ASSERT_EQ(0, end_of(self, 0)) TH_LOG("%s", self->s.said);
	EXPECT_STREQ("", self->s.said);
}

TEST_F_TIMEOUT(pmchang, interrupt, LIMIT)
{
	ASSERT_TRUE(session_begin(&self->s, CLOCK "-O %s/log"));
	EXPECT_TRUE(hangs(self));
	ASSERT_EQ(0, end_of(self, SIGINT)) TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
}

TEST_F_TIMEOUT(pmchang, command, LIMIT)
{
	ASSERT_TRUE(session_begin(&self->s, CLOCK "-O %s/log "
				  "sh -c 'sleep 2; exit 7'"));
	EXPECT_TRUE(hangs(self));
	ASSERT_EQ(7, end_of(self, 0)) TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
}

TEST_F_TIMEOUT(pmchang, rotate, LIMIT)
{
	unsigned int n;

	ASSERT_TRUE(session_begin(&self->s, CLOCK "-O %s/"));
	EXPECT_TRUE(hangs(self));
	kill(self->s.pid, SIGHUP);
	EXPECT_TRUE(has_files(self, 2));
	/* the second one has samples */
	sleep_ms(500);
	ASSERT_EQ(0, end_of(self, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_EQ(2, self->s.nfiles) TH_LOG("%s", self->s.said);
	for (n = 1; n <= 2; n++)
		check_log(_metadata, self, n);
}

TEST_F_TIMEOUT(pmchang, snapshot, LIMIT)
{
	ASSERT_TRUE(session_begin(&self->s, CLOCK "--flight 2M -O %s/"));
	EXPECT_TRUE(hangs(self));
	kill(self->s.pid, SIGUSR2);
	EXPECT_TRUE(has_files(self, 1));
	ASSERT_EQ(0, end_of(self, SIGTERM)) TH_LOG("%s", self->s.said);
	ASSERT_EQ(2, self->s.nfiles) TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
}

/* Counts are printed at each interval meanwhile. */
TEST_F_TIMEOUT(pmchang, interval, LIMIT)
{
	const char *line;
	unsigned int n = 0;

	ASSERT_TRUE(session_begin(&self->s, CLOCK "-s context-switches -w 0.5 "
				  "-l 3 -O %s/log"));
	EXPECT_TRUE(hangs(self));
	ASSERT_EQ(0, end_of(self, 0)) TH_LOG("%s", self->s.said);
	for (line = self->s.said; (line = strchr(line, '\n')); line++)
		n++;
	EXPECT_LE(5, n) TH_LOG("%s", self->s.said);
	check_log(_metadata, self, 1);
}

TEST_HARNESS_MAIN
