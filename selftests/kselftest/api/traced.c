// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace events: the module says what it does, and why it refuses.
 */
#include <stdarg.h>

#include "test.h"
#include "tracefs.h"
#include "user.h"

#define TRACING		"/sys/kernel/tracing/"
#define EVENTS		TRACING "events/hwpmc/"

FIXTURE(traced)
{
	char *text;		/* all that was traced, by read_trace() */
	size_t size;
};

FIXTURE_SETUP(traced)
{
	if (!tracefs_mount() || access(EVENTS "enable", F_OK))
		SKIP(return, "this kernel has no trace events");
	self->size = 8 << 20;
	self->text = calloc(1, self->size);
	ASSERT_NE(NULL, self->text);
	ASSERT_TRUE(write_text(TRACING "trace", "\n"));
	ASSERT_TRUE(write_text(EVENTS "enable", "1"));
}

FIXTURE_TEARDOWN(traced)
{
	write_text(EVENTS "enable", "0");
	write_text(TRACING "trace", "\n");
	device_for_root();
}

static void read_trace(char *text, size_t size)
{
	int fd = open(TRACING "trace", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	close(fd);
}

/* @event of ours, with all that @format says behind "opener=PID owner=N ". */
static unsigned int traced(const char *text, const char *event,
			   const char *format, ...)
{
	char head[64], want[128];
	unsigned int n = 0;
	const char *p, *end;
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	snprintf(head, sizeof(head), " hwpmc_%s: opener=%d owner=", event,
		 getpid());
	for (p = text; (p = strstr(p, head)); p = end) {
		char line[256];

		end = p + strcspn(p, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - p), p);
		n += !!strstr(line, want);
	}
	return n;
}

/* In a process that is weaker than the opener; a negative errno. */
static int as_user(int dev)
{
	struct hwpmc_moduleversion v = {};

	return -IN_CHILD(user_stay(1000) ?
			 -dev_ioctl(dev, HWPMC_IOC_GETMODULEVERSION, &v) : 255);
}

TEST_F(traced, life)
{
	struct hwpmc_allocate a = pmc_process_counter(FAULTS, 0);
	int dev = dev_open(), file = temp_file();

	ASSERT_LE(0, dev);
	ASSERT_EQ(0, dev_configure(dev, file));
	ASSERT_EQ(0, dev_allocate(dev, &a));
	ASSERT_EQ(0, dev_attach(dev, a.id, 0));
	EXPECT_EQ(-EEXIST, dev_attach(dev, a.id, 0));
	EXPECT_EQ(-EPERM, as_user(dev));
	ASSERT_EQ(0, dev_userdata(dev, 1));
	ASSERT_EQ(0, dev_flush(dev));
	ASSERT_EQ(0, dev_rotate(dev, temp_file()));
	ASSERT_EQ(0, dev_detach(dev, a.id, 0));
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	write_text(EVENTS "enable", "0");
	read_trace(self->text, self->size);
	EXPECT_EQ(1, traced(self->text, "owner", " open err=0"));
	EXPECT_EQ(1, traced(self->text, "owner", " close err=0"));
	EXPECT_EQ(1, traced(self->text, "log", " begin err=0"));
	EXPECT_EQ(1, traced(self->text, "log", " rotate err=0"));
	EXPECT_EQ(1, traced(self->text, "log", " end err=0"));
	EXPECT_LE(1, traced(self->text, "pass", " records="));
	EXPECT_LE(1, traced(self->text, "target", " attach pmcid=%#x pid=%d",
			    a.id, getpid()));
	EXPECT_LE(1, traced(self->text, "target", " detach pmcid=%#x pid=%d",
			    a.id, getpid()));
	EXPECT_EQ(1, traced(self->text, "ioctl", " nr=%u err=%d",
			    _IOC_NR(HWPMC_IOC_PMCATTACH), -EEXIST));
	EXPECT_EQ(1, traced(self->text, "refusal",
			    " holder weaker than the opener err=%d", -EPERM));
}

/* A log that nobody reads, and then somebody does. */
TEST_F(traced, loss)
{
	size_t page = sysconf(_SC_PAGESIZE), chunk = 512;
	int dev = dev_open(), ends[2];
	unsigned int i, rounds = scaled(120, 60);
	pid_t reader;
	uint32_t id;
	size_t at;
	char *p;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dev_configure(dev, ends[1]));
	ASSERT_EQ(0, dev_run_on(dev, pmc_process_faults(0), 0, &id));
	for (i = 0; i < rounds; i++) {
		p = mmap(NULL, chunk * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, p);
		for (at = 0; at < chunk * page; at += page)
			((volatile char *)p)[at] = 1;
		munmap(p, chunk * page);
	}
	ASSERT_EQ(0, dev_stop(dev, id));
	reader = fork_bound();
	if (!reader) {
		char buf[65536];

		close(ends[1]);
		while (read(ends[0], buf, sizeof(buf)) > 0)
			;
		_exit(0);
	}
	ASSERT_EQ(0, dev_closelog(dev));
	close(dev);
	close(ends[0]);
	close(ends[1]);
	load_end(reader);
	read_trace(self->text, self->size);
	EXPECT_LE(1, traced(self->text, "loss", " pmcid=%#x ", id));
}

TEST_HARNESS_MAIN
