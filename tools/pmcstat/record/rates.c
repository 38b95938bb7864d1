/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares requested and achieved rates.  The last records of the log have the
 * rates, so this reads the end of the log again if it is a file.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/base/numbers.h"
#include "pmclog_iter.h"
#include "pmcstat.h"

#define TAIL_MAX	(1U << 20)
#define LINES_MAX	8		/* maximum number of warnings */

/* Reads the end of the file from a 4-aligned offset; NULL if it is no file. */
static unsigned char *read_tail(int log_fd, size_t *len)
{
	unsigned char *buf = NULL;
	char path[32];
	struct stat st;
	off_t from;
	ssize_t n;
	int fd;

	if (fstat(log_fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", log_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	from = st.st_size > TAIL_MAX ? (st.st_size - TAIL_MAX) & ~(off_t)3 : 0;
	*len = (size_t)(st.st_size - from);
	buf = malloc(*len + 1);
	n = buf ? pread(fd, buf, *len, from) : -1;
	close(fd);
	if (n != (ssize_t)*len) {
		free(buf);
		return NULL;
	}
	return buf;
}

/* Length of the record at @p if it looks like one, else 0. */
static uint32_t record_len(const unsigned char *p, size_t left)
{
	uint32_t h = pmclog_get32(p), len = PMCLOG_HEADER_LEN(h);

	if (PMCLOG_HEADER_MAGIC(h) != PMCLOG_MAGIC || len % 4 || len > left ||
	    len < sizeof(struct pmclog_hdr))
		return 0;
	return len;
}

/* True if the bytes up to the end are a sequence of records. */
static int in_step(const unsigned char *p, size_t left)
{
	uint32_t len;

	while (left >= sizeof(struct pmclog_hdr)) {
		len = record_len(p, left);
		if (!len)
			return 0;
		p += len;
		left -= len;
	}
	return left == 0;
}

static const struct counter *find(const struct options *o, uint32_t id)
{
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].id == id)
			return &o->counters[i];
	return NULL;
}

/* 1 if there is a warning about this rate; prints it if @print */
static int report(const struct options *o, const struct pmclog_ext_rate *r,
		  int print)
{
	const struct counter *c = find(o, r->pmcid);
	double seconds = (double)r->enabled / 1e9;
	char throttled[64] = "", where[32] = "";

	if (!c || seconds <= 0 || r->expected < 20 ||
	    r->achieved >= r->expected - r->expected / 20)
		return 0;
	if (r->throttled)
		snprintf(throttled, sizeof(throttled),
			 ", throttled %" PRIu64 " %s", (uint64_t)r->throttled,
			 plural(r->throttled, "time", "times"));
	if (r->cpu != PMCLOG_CPU_NONE)
		snprintf(where, sizeof(where), " on CPU %u", r->cpu);
	if (print)
		warn_line("%s: asked %.0f/s, achieved %.0f/s%s%s",
			  c->event.name, (double)r->expected / seconds,
			  (double)r->achieved / seconds, where, throttled);
	return 1;
}

static int is_rate(const unsigned char *p, uint32_t len,
		   struct pmclog_ext_rate *r)
{
	if (PMCLOG_HEADER_TYPE(pmclog_get32(p)) != PMCLOG_T_USERDATA ||
	    len < sizeof(*r))
		return 0;
	memcpy(r, p, sizeof(*r));
	return r->e.cookie == PMCLOG_EXT_COOKIE &&
	       r->e.subtype == PMCLOG_EXT_RATE;
}

static int later_rate(const unsigned char *p, size_t left,
		      const struct pmclog_ext_rate *r)
{
	struct pmclog_ext_rate other;
	uint32_t len;

	for (; left; p += len, left -= len) {
		len = record_len(p, left);
		if (is_rate(p, len, &other) && other.pmcid == r->pmcid &&
		    other.cpu == r->cpu)
			return 1;
	}
	return 0;
}

void rates_report(const struct options *o, const unsigned char *p, size_t left)
{
	struct pmclog_ext_rate r;
	size_t n = 0;
	uint32_t len;

	while (left && !in_step(p, left)) {
		p += 4;
		left -= left < 4 ? left : 4;
	}
	for (; left; p += len, left -= len) {
		len = record_len(p, left);
		if (is_rate(p, len, &r) &&
		    !later_rate(p + len, left - len, &r))
			n += (size_t)report(o, &r, n < LINES_MAX);
	}
	if (n > LINES_MAX)
		warn_line("... and on %zu more", n - LINES_MAX);
}

void rates_report_file(const struct options *o, int log_fd)
{
	size_t len;
	unsigned char *tail = read_tail(log_fd, &len);

	if (tail)
		rates_report(o, tail, len);
	free(tail);
}
