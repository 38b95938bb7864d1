// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmcstat --bpf: the logs of the recorder without the module are those of the module.
 * What a program is known to do is in them, the account adds up, also when the rings
 * are too small, and nobody may record without the capabilities that it takes.
 */
#include <grp.h>

#include "periods.h"
#include "test.h"

#define SHARE_SAMPLES	400

/* What pmcstat has said */
struct said {
	char	text[8192];
	int	status;
};

/* Runs a shell line; @as: a user without rights */
static void run(struct said *s, bool as, const char *line)
{
	int fds[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	memset(s, 0, sizeof(*s));
	s->status = -1;
	if (pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		if (as && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(126);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	close(fds[1]);
	while ((n = read(fds[0], s->text + used, sizeof(s->text) - 1 - used)) > 0)
		used += n;
	close(fds[0]);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		s->status = WEXITSTATUS(status);
}

FIXTURE(pmcbpf)
{
	char	path[64];
	struct said said;
	struct log log;
};

FIXTURE_SETUP(pmcbpf)
{
	struct said s;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		SKIP(return, "this kernel has no BTF: pmcstat --bpf needs it");
	run(&s, false, "pmcstat --bpf -p cpu-clock true");
	if (strstr(s.text, "was built without")) {
		/* virtual machines get one that has it */
		ASSERT_NE(0, access("/hwpmc/hwpmc.ko", F_OK));
		SKIP(return, "this pmcstat was built without --bpf");
	}
	snprintf(self->path, sizeof(self->path), "/tmp/pmcbpf.XXXXXX");
	close(mkstemp(self->path));
}

FIXTURE_TEARDOWN(pmcbpf)
{
	unlink(self->path);
}

/*
 * Runs @pmcstat with @arguments, in which %s is the log and %u @seconds, and loads the
 * log.
 */
static bool record_by(FIXTURE_DATA(pmcbpf) *self, const char *pmcstat,
		      const char *arguments, unsigned int seconds)
{
	char line[512];
	int fd;

	snprintf(line, sizeof(line), "%s ", pmcstat);
	snprintf(line + strlen(line), sizeof(line) - strlen(line), arguments,
		 self->path, seconds);
	run(&self->said, false, line);
	if (self->said.status)
		return false;
	log_free(&self->log);
	memset(&self->log, 0, sizeof(self->log));
	fd = open(self->path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && log_load(&self->log, fd);
}

static bool record_for(FIXTURE_DATA(pmcbpf) *self, const char *arguments,
		       unsigned int seconds)
{
	return record_by(self, "pmcstat", arguments, seconds);
}

static bool record(FIXTURE_DATA(pmcbpf) *self, const char *arguments)
{
	return record_for(self, arguments, 0);
}

struct shares {
	unsigned int leaf[3];
	unsigned int whole;
	unsigned int n;
};

static const char * const leaves[] = { "leaf_60", "leaf_30", "leaf_10" };
static const unsigned int percent[] = { 60, 30, 10 };

/* Where truth was in user mode, and whose chains are main, mid, leaf */
static void find_shares(struct log *log, struct shares *s)
{
	struct symbols *sy = symbols_elf(workload_path("truth"));
	struct sample sample;
	const char *name;
	int i;

	memset(s, 0, sizeof(*s));
	LOG_FOR_EACH_SAMPLE(log, sample) {
		if (!sample.user)
			continue;
		name = symbols_name(sy, sample.pc[0]);
		for (i = 0; i < 3; i++) {
			if (strcmp(name, leaves[i]))
				continue;
			s->leaf[i]++;
			s->n++;
			s->whole += sample.npc >= 3 &&
				!strcmp(symbols_name(sy, sample.pc[1] - 1), "mid") &&
				!strcmp(symbols_name(sy, sample.pc[2] - 1), "main");
		}
	}
	symbols_free(sy);
}

/* Again for longer while there are too few samples: the machine may be slow. */
static bool record_shares(FIXTURE_DATA(pmcbpf) *self, const char *arguments,
			  struct shares *s)
{
	unsigned int seconds;

	for (seconds = 4; seconds <= 64; seconds *= 2) {
		if (!record_for(self, arguments, seconds))
			return false;
		find_shares(&self->log, s);
		if (s->n >= SHARE_SAMPLES)
			break;
	}
	return true;
}

static void expect_shares(META, const struct shares *s, const char *by)
{
	int i;

	EXPECT_LE(SHARE_SAMPLES, s->n);
	for (i = 0; i < 3; i++) {
		TH_LOG("%s: %s: %.1f %% of %u samples", by, leaves[i],
		       100.0 * s->leaf[i] / (s->n ? s->n : 1), s->n);
		EXPECT_TRUE(is_share(s->leaf[i], s->n, percent[i]));
	}
	/* a function's first and last instructions have no frame */
	EXPECT_LE(98 * s->n, 100 * s->whole);
}

TEST_F(pmcbpf, shares_of_a_command)
{
	struct shares bpf, module;
	unsigned int mapped;

	ASSERT_TRUE(record_shares(self, "--bpf -q -n 1000003 -P cpu-clock -O %s truth %u", &bpf))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, 0);
	EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
	EXPECT_LT(0, mapped);
	expect_shares(_metadata, &bpf, "--bpf");
	if (access("/dev/hwpmc", F_OK))
		return;
	ASSERT_TRUE(record_shares(self, "--unwind fp -q -n 1000003 -P cpu-clock -O %s truth %u", &module))
		TH_LOG("%s", self->said.text);
	expect_shares(_metadata, &module, "module");
}

TEST_F(pmcbpf, shares_in_the_whole_system)
{
	struct shares s;
	unsigned int mapped;

	ASSERT_TRUE(record_shares(self, "--bpf -q -U -n 1000003 -S cpu-clock -O %s truth %u", &s))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, 0);
	EXPECT_EQ(0, unmapped_samples(&self->log, &mapped));
	EXPECT_LT(0, self->log.kernel);
	EXPECT_LT(0, log_build_ids(&self->log, "[kernel]"));
	EXPECT_LT(0, log_build_ids(&self->log, "/truth"));
	expect_shares(_metadata, &s, "--bpf -S");
}

/* With -d the processes that a command starts, and without it none of them */
TEST_F(pmcbpf, descendants)
{
	struct shares s;

	ASSERT_TRUE(record(self, "--bpf -q -d -P cpu-clock -O %s sh -c 'truth 1; true'"))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, 0);
	find_shares(&self->log, &s);
	EXPECT_LT(0, s.n);
	ASSERT_TRUE(record(self, "--bpf -q -P cpu-clock -O %s sh -c 'truth 1; true'"))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, 0);
	find_shares(&self->log, &s);
	EXPECT_EQ(0, s.n);
}

/* perf chooses the periods: the log has them, as the module's has. */
TEST_F(pmcbpf, rate)
{
	struct periods p;

	ASSERT_TRUE(record(self, "--bpf --freq 500 -S page-faults -O %s sh -c "
			   "'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'"))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, LOG_DROPS | LOG_PROC_DROPS);
	ASSERT_EQ(1, self->log.npmcs);
	periods_look(&self->log, self->log.pmcs[0], &p);
	TH_LOG("%" PRIu64 " samples, %" PRIu64 " records, sum %" PRIu64
	       ", longest %" PRIu64, p.samples, p.records, p.sum, p.longest);
	EXPECT_LT(0, p.samples);
	EXPECT_EQ(0, p.without);
	EXPECT_LT(4, p.longest);
}

/* The faults follow each other faster than any reader takes their samples. */
TEST_F(pmcbpf, losses_are_counted)
{
	ASSERT_TRUE(record(self, "--bpf -n 1 --ring 4K -P page-faults -O %s "
			       "dd if=/dev/zero of=/dev/null bs=64M count=1"))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, LOG_DROPS | LOG_PROC_DROPS);
	EXPECT_LT(0, self->log.dropped[PMCLOG_DROP_FULL]);
	EXPECT_EQ(self->log.account.dropped[PMCLOG_DROP_FULL],
		  self->log.dropped[PMCLOG_DROP_FULL]);
	EXPECT_LT(0, self->log.account.committed);
	EXPECT_NE(NULL, strstr(self->said.text, "a larger --ring"))
		TH_LOG("%s", self->said.text);
}

/* Without the device, and without being told to. */
TEST_F(pmcbpf, by_itself)
{
	struct shares s;

	ASSERT_TRUE(record_by(self, "unshare -m sh -c 'mount -t tmpfs none /dev && exec \"$@\"' sh pmcstat",
			      "-n 1000003 -P cpu-clock -O %s truth 1", 0))
		TH_LOG("%s", self->said.text);
	EXPECT_NE(NULL, strstr(self->said.text, "no module (/dev/hwpmc): recording by BPF"))
		TH_LOG("%s", self->said.text);
	ASSERT_LOG(&self->log, 0);
	find_shares(&self->log, &s);
	EXPECT_LT(0, s.n);
}

TEST_F(pmcbpf, nobody_without_rights)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "pmcstat --bpf -S cpu-clock -O %s.nobody true", self->path);
	run(&self->said, true, line);
	EXPECT_EQ(77, self->said.status);
	EXPECT_NE(NULL, strstr(self->said.text, "CAP_BPF and CAP_PERFMON"))
		TH_LOG("%s", self->said.text);
	snprintf(line, sizeof(line), "%s.nobody", self->path);
	EXPECT_NE(0, access(line, F_OK));
}

/* The command gets no descriptor of a program, a map or an event. */
TEST_F(pmcbpf, command_gets_nothing)
{
	ASSERT_TRUE(record(self, "--bpf -q -P cpu-clock -O %s "
			   "sh -c 'for f in /proc/self/fd/*; do readlink $f; done; echo listed'"));
	EXPECT_NE(NULL, strstr(self->said.text, "listed"));
	EXPECT_EQ(NULL, strstr(self->said.text, "anon_inode"))
		TH_LOG("%s", self->said.text);
}

TEST_F(pmcbpf, counts)
{
	run(&self->said, false,
	    "pmcstat --bpf -q -w 1000 -p syscall:getppid:entry probed 1234");
	EXPECT_EQ(0, self->said.status);
	EXPECT_NE(NULL, strstr(self->said.text, " 1234 "))
		TH_LOG("%s", self->said.text);
}

TEST_HARNESS_MAIN
