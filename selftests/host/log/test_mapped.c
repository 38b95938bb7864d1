// SPDX-License-Identifier: BSD-2-Clause
/* Logs that are mapped: what happens to the file while they are read. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/input.h"
#include "loggen.h"
#include "tap.h"

#define SAMPLES		60000U	/* several windows */
#define NPC		3U

/* of a file in memory: disks take their time */
static char path[64];

/* What a sample of the log looks like says which it is. */
static void make(struct loggen *g)
{
	unsigned int i;

	lg_begin(g);
	lg_allocatedyn(g, 7, "cpu-clock", 1000, -1);
	for (i = 0; i < SAMPLES; i++) {
		if (!(i % 1000))
			lg_map_in(g, 100, 0x400000, "/bin/true");
		lg_chain(g, 100, 7, 0, PMCLOG_CC_USERSPACE, NPC + i % 5,
			 0x400000 + i * 16);
	}
	lg_close(g);
}

static void rewrite(const struct loggen *g)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	abort_if(fd < 0 || write(fd, g->buf, g->len) != (ssize_t)g->len);
	close(fd);
}

/**
 * struct seen - of a reading
 * @good: so many records were those of the log, one after the other
 * @end:  offset behind the last of these
 * @bad:  so many after that were not
 */
struct seen {
	size_t good, bad;
	uint64_t end;
	uint64_t gaps;
	enum pmclog_iter_status status;
	char why[100];
};

static void see(struct seen *s, const struct loggen *g,
		const struct pmclog_rec *rec)
{
	if (s->bad || rec->offset != s->end || rec->len > g->len - s->end ||
	    memcmp(g->buf + rec->offset, rec->data, rec->len)) {
		s->bad++;
		return;
	}
	s->good++;
	s->end += rec->len;
}

/* Reads @first bytes of records or a bit more, has @change done, goes on. */
static struct seen read_while(const struct loggen *g, uint64_t first,
			      void (*change)(const void *arg), const void *arg)
{
	struct seen s = { 0 };
	struct pmclog_rec rec;
	struct input in;
	uint64_t at;

	abort_if(input_open(&in, path));
	abort_if(!in.map);
	while (s.end < first && input_read(&in, &rec) == PMCLOG_ITER_RECORD)
		see(&s, g, &rec);
	change(arg);
	while ((s.status = input_read(&in, &rec)) == PMCLOG_ITER_RECORD)
		see(&s, g, &rec);
	snprintf(s.why, sizeof(s.why), "%s", s.status == PMCLOG_ITER_ERROR ?
		 input_error(&in, &at) : "");
	s.gaps = pmclog_iter_gaps(in.it, &at, &at);
	input_close(&in);
	return s;
}

static void nothing(const void *arg)
{
}

static void cut(const void *arg)
{
	abort_if(truncate(path, *(const off_t *)arg));
}

/*
 * The log ends where it was cut, or where it had been read up to.  Only the
 * sample that the cut is in may look otherwise.
 */
static bool cut_is_right(const struct loggen *g, uint64_t first, off_t at)
{
	struct seen s;
	uint64_t least;

	rewrite(g);
	s = read_while(g, first, cut, &at);
	least = (uint64_t)at > first ? (uint64_t)at - 200 : first;
	if (s.end >= least && s.bad <= 1 && !s.gaps && s.end <= least + 400 &&
	    (s.status == PMCLOG_ITER_EOF ||
	     !strcmp(s.why, "truncated record")))
		return true;
	printf("# at %llu cut at %llu: %zu good to %llu, %zu bad, %d %s\n",
	       (unsigned long long)first, (unsigned long long)at, s.good,
	       (unsigned long long)s.end, s.bad, s.status, s.why);
	return false;
}

static void test_cuts(const struct loggen *g)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), wrong = 0;
	uint64_t first;
	off_t at;
	int i;

	/* around pages, in the window that is read and in others */
	for (first = 1; first < g->len; first += g->len / 5)
		for (i = 0; i < 12; i++) {
			at = (off_t)((first + (size_t)i * 40 * page) & -page);
			if ((size_t)at < g->len)
				wrong += !cut_is_right(g, first, at + i % 3 * 4);
		}
	ok(!wrong, "cut ahead of where it is read");
	wrong = 0;
	for (first = 50000; first < g->len; first += g->len / 4) {
		wrong += !cut_is_right(g, first, 0);
		wrong += !cut_is_right(g, first, (off_t)first - 10000);
	}
	ok(!wrong, "cut behind where it is read");
	for (i = 0, wrong = 0; i < 200; i++)
		wrong += !cut_is_right(g, 1, 100000 + i);
	ok(!wrong, "cut at any byte");
}

static void append(const void *arg)
{
	const struct loggen *g = arg;
	size_t half = g->len / 2;
	int fd = open(path, O_WRONLY | O_APPEND);

	abort_if(fd < 0 ||
		 write(fd, g->buf + half, g->len - half) != (ssize_t)(g->len - half));
	close(fd);
}

static void test_growing(const struct loggen *g)
{
	struct seen s;
	uint64_t at[] = { 1, g->len / 2 - 300 };
	size_t i;

	for (i = 0; i < 2; i++) {
		rewrite(g);
		abort_if(truncate(path, (off_t)(g->len / 2)));
		s = read_while(g, at[i], append, g);
		ok(s.end == g->len && !s.bad && s.status == PMCLOG_ITER_EOF,
		   "grows while it is read, after %llu bytes",
		   (unsigned long long)at[i]);
	}
}

/* Zeros in the place of a page, as if another program had written there. */
static void spoil(const void *arg)
{
	static const char zeros[8192];
	int fd = open(path, O_WRONLY);

	abort_if(fd < 0 || pwrite(fd, zeros, sizeof(zeros), *(const off_t *)arg) < 0);
	close(fd);
}

static void test_spoilt(const struct loggen *g)
{
	off_t at = 500000;
	struct seen s;

	rewrite(g);
	s = read_while(g, 1000, spoil, &at);
	ok(s.end <= (uint64_t)at && s.end > (uint64_t)at - 200 && s.gaps == 1 &&
	   strstr(s.why, "damaged: skipped"), "written to: %s", s.why);
}

/* KiB of files that are mapped */
static size_t resident(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t sum = 0, n;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssFile: %zu", &n) == 1 ||
		    sscanf(line, "RssShmem: %zu", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

static void test_memory(const struct loggen *g)
{
	size_t before, most = 0, now, i = 0;
	int fd = open(path, O_WRONLY | O_TRUNC);
	struct pmclog_rec rec;
	struct input in;

	for (now = 0; now < (64U << 20); now += g->len)
		abort_if(fd < 0 || write(fd, g->buf, g->len) != (ssize_t)g->len);
	close(fd);
	before = resident();
	abort_if(input_open(&in, path));
	while (input_read(&in, &rec) == PMCLOG_ITER_RECORD)
		if (!(i++ % 10000) && (now = resident()) > most)
			most = now;
	input_close(&in);
	ok(i > 64U * 10000 && most < before + 16384,
	   "64 MB, %zu records: %zu KiB at most", i,
	   most > before ? most - before : 0);
}

int main(void)
{
	struct loggen g = { 0 };
	struct seen s;
	int fd = memfd_create("log", 0);

	if (fd < 0)
		return 1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	make(&g);
	rewrite(&g);
	s = read_while(&g, 0, nothing, NULL);
	ok(s.end == g.len && !s.bad && s.status == PMCLOG_ITER_EOF,
	   "%zu records of %zu bytes", s.good, g.len);
	test_cuts(&g);
	test_growing(&g);
	test_spoilt(&g);
	test_memory(&g);
	lg_free(&g);
	return done();
}
