// SPDX-License-Identifier: BSD-2-Clause
/* The iterator: every source, every cut, every structural fault. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moving.h"
#include "reading.h"
#include "tap.h"

/* The log of the test that runs */
static struct loggen g;

static ssize_t next_window(void *ctx, uint64_t offset, const unsigned char **p)
{
	struct moving *m = ctx;

	return moving_on(m, offset, 1 + random() % 1000, p);
}

static struct seen read_window(const unsigned char *buf, size_t len)
{
	struct moving m = { .buf = buf, .len = len };
	struct seen s = read_all(pmclog_iter_window(next_window, &m), false);

	free(m.copy);
	return s;
}

static bool same(const struct seen *a, const struct seen *b)
{
	return a->n == b->n && a->sum == b->sum && a->end == b->end;
}

static size_t one(void)
{
	return 1;
}

static size_t some(void)
{
	return 1 + random() % 97;
}

static size_t lots(void)
{
	return 10000;
}

static void test_sources(const char *name)
{
	struct seen mem, other;

	lg_make(&g, name);
	mem = read_mem(g.buf, g.len, false);
	ok(mem.status == PMCLOG_ITER_EOF && mem.end == g.len && mem.n,
	   "%s: %zu records in memory", name, mem.n);
	other = read_file(g.buf, g.len, false);
	ok(other.status == PMCLOG_ITER_EOF && same(&mem, &other),
	   "%s: a file gives the same", name);
	other = read_window(g.buf, g.len);
	ok(other.status == PMCLOG_ITER_EOF && same(&mem, &other),
	   "%s: memory that moves gives the same", name);
	other = read_feed(g.buf, g.len, one, false);
	ok(other.status == PMCLOG_ITER_MORE && same(&mem, &other),
	   "%s: byte by byte gives the same", name);
	other = read_feed(g.buf, g.len, some, false);
	ok(same(&mem, &other), "%s: pieces of any size give the same", name);
	other = read_feed(g.buf, g.len, lots, false);
	ok(same(&mem, &other), "%s: large pieces give the same", name);
}

/* Start of the record that byte @cut belongs to. */
static size_t boundary(size_t cut)
{
	size_t at = 0, len;

	for (;;) {
		len = PMCLOG_HEADER_LEN(pmclog_get32(g.buf + at));
		if (at + len > cut)
			return at;
		at += len;
		if (at == cut)
			return at;
	}
}

static bool cut_is_right(const struct seen *s, size_t start, size_t cut)
{
	if (s->end != start)
		return false;
	if (start == cut)
		return s->status == PMCLOG_ITER_EOF;
	return s->status == PMCLOG_ITER_ERROR && s->error_offset == start &&
	       !strcmp(s->error, "truncated record");
}

static void test_cuts(void)
{
	size_t cut, start, bad_mem = 0, bad_file = 0, bad_feed = 0;
	size_t bad_window = 0;
	struct seen s;

	lg_make(&g, "full");
	for (cut = 0; cut < g.len; cut++) {
		start = boundary(cut);
		s = read_mem(g.buf, cut, false);
		bad_mem += !cut_is_right(&s, start, cut);
		s = read_file(g.buf, cut, false);
		bad_file += !cut_is_right(&s, start, cut);
		s = read_window(g.buf, cut);
		bad_window += !cut_is_right(&s, start, cut);
		s = read_feed(g.buf, cut, some, false);
		bad_feed += s.status != PMCLOG_ITER_MORE || s.end != start;
	}
	ok(!bad_mem, "memory cut at each of %zu bytes", g.len);
	ok(!bad_file, "file cut at each byte");
	ok(!bad_window, "memory that moves, cut at each byte");
	ok(!bad_feed, "feed cut at each byte waits for more");
}

/* @upto: the log ends there at the first look; @len: at all later ones */
static ssize_t cut_window(void *ctx, uint64_t offset, const unsigned char **p)
{
	struct moving *m = ctx;
	ssize_t n = moving_on(m, offset, 0, p);

	m->upto = m->step;
	return n;
}

/* A long record's end is that of the window, and the log is cut within the record. */
static void test_cut_in_record(void)
{
	size_t start, end, at, wrong = 0;
	struct pmclog_iter *it;
	struct seen s;

	lg_begin(&g);
	start = g.len;
	lg_chain(&g, 1, 7, 0, PMCLOG_CC_USERSPACE, 64, 0x400000);
	end = g.len;
	lg_close(&g);
	for (at = 0; at < end; at++) {
		struct moving m = { g.buf, g.len, end, at, NULL };

		it = pmclog_iter_window(cut_window, &m);
		s = read_all(it, true);
		wrong += s.end != start || s.gaps ||
			 s.status != (at > start ? PMCLOG_ITER_ERROR :
				      PMCLOG_ITER_EOF) ||
			 (at > start && strcmp(s.error, "truncated record"));
		free(m.copy);
	}
	ok(!wrong, "cut at each byte while the last record is examined");
}

/* A file that grows, first by whole records, then by half ones. */
static void test_growing(void)
{
	struct pmclog_iter *it;
	struct seen s = { 0 };
	struct pmclog_rec rec;
	int fd;

	lg_make(&g, "full");
	fd = lg_file(g.buf, 112);
	it = pmclog_iter_fd(fd);
	drain(it, &s);
	ok(s.n == 1 && s.status == PMCLOG_ITER_EOF, "end of a growing file");
	abort_if(pwrite(fd, g.buf + 112, 100, 112) != 100);
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_ERROR && s.end == s.error_offset,
	   "grown by less than a record: truncated");
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_ERROR, "still truncated");
	abort_if(pwrite(fd, g.buf + 212, g.len - 212, 212) != (ssize_t)g.len - 212);
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   !strcmp(pmclog_iter_error(it, NULL), "no error"),
	   "with the next record the fault is over");
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_EOF && s.end == g.len &&
	   !strcmp(pmclog_iter_error(it, NULL), "no error"),
	   "the rest came and was read");
	pmclog_iter_close(it);
	close(fd);
}

static void test_nonblocking(void)
{
	struct pmclog_iter *it;
	struct seen s = { 0 };
	int fds[2];

	lg_make(&g, "full");
	abort_if(pipe2(fds, O_NONBLOCK));
	it = pmclog_iter_fd(fds[0]);
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_MORE && !s.n, "empty pipe: more later");
	abort_if(write(fds[1], g.buf, 130) != 130);
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_MORE && s.n == 1, "half a record: more");
	abort_if(write(fds[1], g.buf + 130, g.len - 130) != (ssize_t)g.len - 130);
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_MORE && s.end == g.len, "all of it");
	close(fds[1]);
	drain(it, &s);
	ok(s.status == PMCLOG_ITER_EOF, "the writer has gone: end");
	pmclog_iter_close(it);
	close(fds[0]);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
}

/* The writer waits until the reader was interrupted a few times. */
static void test_interrupted(void)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = on_alarm };
	struct pmclog_iter *it;
	struct seen s = { 0 };
	int fds[2];
	pid_t pid;

	lg_make(&g, "small");
	abort_if(pipe(fds));
	pid = fork();
	if (!pid) {
		usleep(30000);
		_exit(write(fds[1], g.buf, g.len) != (ssize_t)g.len);
	}
	close(fds[1]);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	it = pmclog_iter_fd(fds[0]);
	drain(it, &s);
	setitimer(ITIMER_REAL, &never, NULL);
	ok(alarms && s.status == PMCLOG_ITER_EOF && s.end == g.len,
	   "signals during read(2) do no harm");
	pmclog_iter_close(it);
	close(fds[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void expect_error(size_t offset, const char *error, const char *name)
{
	struct seen s = read_mem(g.buf, g.len, false);

	if (!ok(s.status == PMCLOG_ITER_ERROR && s.error_offset == offset &&
		!strcmp(s.error, error), "%s: %s", name, error))
		printf("# got status %d, offset %llu, %s\n", s.status,
		       (unsigned long long)s.error_offset,
		       s.error);
}

static void test_first_word(uint32_t word, const char *error)
{
	lg_begin(&g);
	memcpy(g.buf, &word, sizeof(word));
	expect_error(0, error, "first record");
}

static void test_header_fault(uint32_t word, const char *error)
{
	size_t at;

	lg_begin(&g);
	at = g.len;
	lg_exit(&g, 1);
	memcpy(g.buf + at, &word, sizeof(word));
	expect_error(at, error, "header");
}

static void test_version(uint32_t version)
{
	lg_begin(&g);
	memcpy(g.buf + offsetof(struct pmclog_initialize, version), &version,
	       sizeof(version));
	expect_error(0, "log of an unknown version", "version");
}

static void test_too_short(unsigned int type, size_t min)
{
	size_t at;
	char name[32];

	lg_begin(&g);
	at = g.len;
	lg_record(&g, type, min - 4);
	snprintf(name, sizeof(name), "type %u", type);
	expect_error(at, "record too short for its type", name);
	if (type == PMCLOG_T_INITIALIZE)
		return;
	lg_begin(&g);
	lg_record(&g, type, min);
	ok(read_mem(g.buf, g.len, false).status == PMCLOG_ITER_EOF,
	   "type %u of %zu bytes", type, min);
}

static void test_lengths(void)
{
	static const struct {
		unsigned int type;
		size_t min;
	} t[] = {
		{ PMCLOG_T_INITIALIZE, 112 }, { PMCLOG_T_PMCALLOCATE, 40 },
		{ PMCLOG_T_PMCDETACH, 24 }, { PMCLOG_T_PROCCSW, 40 },
		{ PMCLOG_T_PROCEXIT, 32 }, { PMCLOG_T_PROCFORK, 24 },
		{ PMCLOG_T_SYSEXIT, 24 }, { PMCLOG_T_USERDATA, 24 },
		{ PMCLOG_T_MAP_OUT, 40 }, { PMCLOG_T_CALLCHAIN, 32 },
		{ PMCLOG_T_PMCALLOCATEDYN, 96 }, { PMCLOG_T_THR_CREATE, 52 },
		{ PMCLOG_T_THR_EXIT, 24 }, { PMCLOG_T_PROC_CREATE, 44 },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		test_too_short(t[i].type, t[i].min);
}

/* A record whose string, @size bytes from @offset on, has no end. */
static void test_endless(unsigned int type, unsigned int ext, size_t offset,
			 size_t size, size_t len, const char *error)
{
	const uint32_t version = PMCLOG_VERSION;
	unsigned char *p;
	char name[40];
	size_t at;

	lg_begin(&g);
	at = g.len;
	p = ext ? lg_ext(&g, ext, len) : lg_record(&g, type, len);
	if (type == PMCLOG_T_INITIALIZE)
		memcpy(p + 16, &version, sizeof(version));
	memset(p + offset, 'x', size);
	snprintf(name, sizeof(name), "type %u extension %u", type, ext);
	expect_error(at, error, name);
}

static void test_strings(void)
{
	static const char error[] = "string not terminated";
	static const char ext_error[] =
		"string not terminated in an extension record";
	const unsigned int u = PMCLOG_T_USERDATA;

	test_endless(PMCLOG_T_MAP_IN, 0, 32, 8, 40, error);
	test_endless(PMCLOG_T_PROCEXEC, 0, 40, 8, 48, error);
	test_endless(PMCLOG_T_PMCATTACH, 0, 24, 8, 32, error);
	test_endless(PMCLOG_T_MAP_IN, 0, 0, 0, 32, error);
	test_endless(PMCLOG_T_PMCALLOCATEDYN, 0, 32, 64, 120, error);
	test_endless(PMCLOG_T_THR_CREATE, 0, 32, 20, 52, error);
	test_endless(PMCLOG_T_PROC_CREATE, 0, 24, 20, 44, error);
	test_endless(PMCLOG_T_INITIALIZE, 0, 48, 64, 112, error);
	test_endless(u, PMCLOG_EXT_KERNEL, 32, 4, 36, ext_error);
	test_endless(u, PMCLOG_EXT_MODULE, 40, 4, 44, ext_error);
	test_endless(u, PMCLOG_EXT_SECTION, 32, 4, 36, ext_error);
	test_endless(u, PMCLOG_EXT_BUILDID, 64, 4, 68, ext_error);
	test_endless(u, PMCLOG_EXT_HOST, 40, 4, 44, ext_error);
	test_endless(u, PMCLOG_EXT_FIELDS, 40, 4, 44, ext_error);
	/* the second string of two */
	test_endless(u, PMCLOG_EXT_HOST, 41, 3, 44, ext_error);
	test_endless(u, PMCLOG_EXT_SECTION, 33, 3, 36, ext_error);
	test_endless(u, PMCLOG_EXT_CLOCK, 0, 0, 44,
		     "extension record too short");
	test_endless(u, PMCLOG_EXT_MAPPING, 0, 0, 68,
		     "extension record too short");
	test_endless(u, PMCLOG_EXT_RATE, 0, 0, 76,
		     "extension record too short");
	test_endless(u, PMCLOG_EXT_RAW, 0, 0, 36, "extension record too short");
	test_endless(u, PMCLOG_EXT_DETAIL, 0, 0, 60, "extension record too short");
	test_endless(u, PMCLOG_EXT_DETAIL, 0, 0, 84,
		     "detail with a part of a branch");
	test_endless(u, PMCLOG_EXT_RECORD, 0, 0, 36,
		     "extension record too short");
	test_endless(u, PMCLOG_EXT_SNAPSHOT, 0, 0, 52,
		     "extension record too short");
	/* its length */
	test_endless(u, PMCLOG_EXT_RAW,
		     offsetof(struct pmclog_ext_raw, len), 1, 44,
		     "raw data longer than its record");
	test_endless(PMCLOG_T_CALLCHAIN, 0, 0, 0, 44,
		     "call chain with a part of a pc");
}

static void test_unknown(void)
{
	struct pmclog_iter *it;
	struct pmclog_rec rec;
	unsigned char *p;

	lg_begin(&g);
	lg_record(&g, 77, 16);
	lg_record(&g, 4, 32);
	lg_ext(&g, 999, 24);
	p = lg_ext(&g, PMCLOG_EXT_MODULE, 24);
	p[offsetof(struct pmclog_ext, version)] = 1;
	p = lg_ext(&g, PMCLOG_EXT_MODULE, 24);
	p[offsetof(struct pmclog_ext, flags)] = 1;
	p = lg_ext(&g, PMCLOG_EXT_USERCHAIN, 48);
	p[offsetof(struct pmclog_ext, flags)] = 1;
	lg_userdata(&g, PMCLOG_EXT_COOKIE);
	lg_module(&g, 1, 2, "m");
	lg_record(&g, 200, 65532);
	it = pmclog_iter_mem(g.buf, g.len);
	pmclog_iter_next(it, &rec);
	ok(!pmclog_iter_ext_subtype(&rec), "INITIALIZE is no extension");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   rec.type == 77 && !pmclog_iter_type_name(77), "unknown type 77");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD && rec.type == 4,
	   "unused type 4");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   !pmclog_iter_ext_subtype(&rec), "unknown extension");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   !pmclog_iter_ext_subtype(&rec), "extension of a later version");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   !pmclog_iter_ext_subtype(&rec), "extension with unknown flags");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   pmclog_iter_ext_subtype(&rec) == PMCLOG_EXT_USERCHAIN,
	   "user chain with flags");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   !pmclog_iter_ext_subtype(&rec), "a user's value like the cookie");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   pmclog_iter_ext_subtype(&rec) == PMCLOG_EXT_MODULE, "extension");
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD &&
	   rec.len == 65532, "the longest record there can be");
	ok(rec.serial == 10 && pmclog_iter_next(it, &rec) == PMCLOG_ITER_EOF,
	   "serial numbers count from 1");
	pmclog_iter_close(it);
	ok(read_file(g.buf, g.len, false).status == PMCLOG_ITER_EOF,
	   "the same from a file");
}

static void test_misuse(void)
{
	struct pmclog_iter *it = pmclog_iter_mem(NULL, 0);
	struct pmclog_rec rec;
	uint64_t offset = 1;
	int fd;

	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_EOF, "no memory, no log");
	ok(pmclog_iter_feed(it, "x", 1) == -1 && errno == EINVAL,
	   "memory can't be fed");
	ok(!strcmp(pmclog_iter_error(it, &offset), "no error") && !offset,
	   "no error yet");
	pmclog_iter_close(it);
	pmclog_iter_close(NULL);
	fd = open("/", O_RDONLY);
	it = pmclog_iter_fd(fd);
	offset = 1;
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_ERROR &&
	   !strcmp(pmclog_iter_error(it, &offset),
		   "read error: Is a directory") && !offset,
	   "a failing read(2) says why");
	pmclog_iter_close(it);
	close(fd);
	ok(!strcmp(pmclog_iter_type_name(PMCLOG_T_MAP_IN), "map-in") &&
	   !pmclog_iter_type_name(0) && !pmclog_iter_type_name(UINT32_MAX),
	   "names of types");
}

static void test_sticky(void)
{
	struct pmclog_iter *it = pmclog_iter_new();
	struct pmclog_rec rec;

	lg_make(&g, "small");
	pmclog_iter_feed(it, "junk", 4);
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_ERROR, "junk");
	pmclog_iter_feed(it, g.buf, g.len);
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_ERROR,
	   "there is no way back from junk");
	pmclog_iter_close(it);
}

int main(void)
{
	static const char window[] = "log of FreeBSD 12 while it was made "
				     "(2018), whose records nobody knows";

	srandom(1);
	test_sources("small");
	test_sources("full");
	test_sources("strings");
	test_sources("twice");
	test_sources("long");
	test_cuts();
	test_cut_in_record();
	test_growing();
	test_nonblocking();
	test_interrupted();
	test_first_word(0x7F454C46, "not a pmclog");
	/* other eras, as which the version makes no sense */
	test_first_word(0x700003EE, "log of an unknown version");
	test_first_word(0xEE020014, "log of an unknown version");
	test_first_word(0xEE020054, window);
	test_first_word(0x540002EE, window);
	test_first_word(0xEE030054, window);
	test_first_word(0xEE03006C, window);
	test_first_word(0xEE0C0018, "no INITIALIZE at the start");
	test_first_word(0xEE030071, "record length not a multiple of 4");
	test_header_fault(0xED0C0018, "bad magic");
	test_header_fault(0xEE0C000C, "record shorter than its header");
	test_header_fault(0xEE0C0000, "record shorter than its header");
	test_header_fault(0xEE0C0016, "record length not a multiple of 4");
	test_header_fault(0xEE0CFFFC, "truncated record");
	test_version(0x00FFFFFF);
	test_version(0x0C000000);
	test_lengths();
	test_strings();
	test_unknown();
	test_misuse();
	test_sticky();
	return done();
}
