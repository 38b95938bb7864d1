// SPDX-License-Identifier: GPL-2.0-only
/*
 * logstat FILE
 *
 * What is in a perf.data (as "perf record" writes it to a file) or a pmclog:
 *	size=	bytes of all records (no file header, no features)
 *	samples= sample_bytes= frames=
 *	lost=	samples that the recorder says it has lost
 *	lost_side= the same of process records
 *	throttled= times an event was throttled
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <linux/pmclog.h>
#include <pmclog_iter.h>

struct figures {
	uint64_t size, samples, sample_bytes, frames;
	uint64_t lost, lost_side, throttled;
};

/* the head of a perf.data in file mode; all but data is of no use here */
struct perf_file {
	char	magic[8];
	uint64_t size, attr_size;
	uint64_t attrs_offset, attrs_size;
	uint64_t data_offset, data_size;
};

#define PERF_MAGIC	"PERFILE2"

/* perf_event_attr comes first in the attrs section. */
static const struct perf_event_attr *perf_attr(const uint8_t *file)
{
	const struct perf_file *head = (const void *)file;

	return (const void *)(file + head->attrs_offset);
}

/* Counts the addresses of a sample's chain; context marks are not frames. */
static uint64_t perf_frames(const struct perf_event_attr *a, const uint64_t *p)
{
	uint64_t frames = 0, n, i;

	p++;	/* header */
	p += !!(a->sample_type & PERF_SAMPLE_IDENTIFIER);
	p += !!(a->sample_type & PERF_SAMPLE_IP);
	p += !!(a->sample_type & PERF_SAMPLE_TID);
	p += !!(a->sample_type & PERF_SAMPLE_TIME);
	p += !!(a->sample_type & PERF_SAMPLE_ADDR);
	p += !!(a->sample_type & PERF_SAMPLE_ID);
	p += !!(a->sample_type & PERF_SAMPLE_STREAM_ID);
	p += !!(a->sample_type & PERF_SAMPLE_CPU);
	p += !!(a->sample_type & PERF_SAMPLE_PERIOD);
	if (!(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return 1;
	n = *p++;
	for (i = 0; i < n; i++)
		frames += p[i] < PERF_CONTEXT_MAX;
	return frames;
}

static void perf_data(const uint8_t *file, uint64_t size, struct figures *f)
{
	const struct perf_file *head = (const void *)file;
	const struct perf_event_attr *attr = perf_attr(file);
	uint64_t at = head->data_offset, end = at + head->data_size;

	if (!head->data_size || end > size)
		errx(1, "perf.data was not finished");
	f->size = head->data_size;
	while (at < end) {
		const struct perf_event_header *h = (const void *)(file + at);
		const uint64_t *words = (const void *)(h + 1);

		if (h->size < sizeof(*h) || at + h->size > end)
			errx(1, "perf.data: broken at %" PRIu64, at);
		switch (h->type) {
		case PERF_RECORD_SAMPLE:
			f->samples++;
			f->sample_bytes += h->size;
			f->frames += perf_frames(attr, words - 1);
			break;
		case PERF_RECORD_LOST:		/* id, lost: of any kind */
			f->lost += words[1];
			break;
		case PERF_RECORD_LOST_SAMPLES:
			f->lost += words[0];
			break;
		case PERF_RECORD_THROTTLE:
			f->throttled++;
			break;
		}
		at += h->size;
	}
}

static void closelog(const struct pmclog_rec *r, struct figures *f)
{
	struct pmclog_closelog c;

	memcpy(&c, r->data, sizeof(c));
	for (int i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		f->lost += c.account.dropped[i];
	f->lost += c.account.discarded;
	f->lost_side = c.account.proc_dropped;
	f->throttled = c.account.throttled;
}

/*
 * Counts samples. A pack's samples come one by one; the first has the size of
 * all.
 */
static void pmclog(const uint8_t *file, uint64_t size, struct figures *f)
{
	struct pmclog_iter *it = pmclog_iter_mem(file, size);
	enum pmclog_iter_status status;
	struct pmclog_rec r = { 0 };

	if (!it)
		err(1, "iterator");
	f->size = size;
	while ((status = pmclog_iter_next(it, &r)) == PMCLOG_ITER_RECORD) {
		if (r.type == PMCLOG_T_CALLCHAIN) {
			f->samples++;
			f->sample_bytes += r.stored;
			f->frames += (r.len - sizeof(struct pmclog_callchain)) / 8;
		}
		if (r.type == PMCLOG_T_CLOSELOG)
			closelog(&r, f);
	}
	if (status != PMCLOG_ITER_EOF)
		errx(1, "log: %s", pmclog_iter_error(it, NULL));
	if (r.type != PMCLOG_T_CLOSELOG)
		errx(1, "the log was not finished");
	pmclog_iter_close(it);
}

int main(int argc, char **argv)
{
	struct figures f = { 0 };
	const uint8_t *file;
	struct stat st;
	int fd;

	if (argc != 2)
		errx(2, "usage: logstat FILE");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", argv[1]);
	if (st.st_size < (off_t)sizeof(struct perf_file))
		errx(1, "%s: too short", argv[1]);
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		err(1, "%s", argv[1]);
	if (!memcmp(file, PERF_MAGIC, 8))
		perf_data(file, st.st_size, &f);
	else
		pmclog(file, st.st_size, &f);
	printf("size=%" PRIu64 " samples=%" PRIu64 " sample_bytes=%" PRIu64
	       " frames=%" PRIu64 " lost=%" PRIu64 " lost_side=%" PRIu64
	       " throttled=%" PRIu64 "\n", f.size, f.samples, f.sample_bytes,
	       f.frames, f.lost, f.lost_side, f.throttled);
	return 0;
}
