// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan FILE
 *
 * Measures libpmclog's iterator, and read() alone on the same file, in turn, in
 * processor time. Prints the best of 5 passes of each, as
 * 	records= bytes= scan_ns= read_ns=
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <linux/pmclog.h>
#include <pmclog_iter.h>

#define TURNS		5
#define READ_SIZE	(1U << 20)

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t read_all(int fd)
{
	static char buf[READ_SIZE];
	uint64_t bytes = 0;
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		bytes += (uint64_t)n;
	return bytes;
}

/* Reads what every analysis needs of a sample: clock and pid. */
static uint64_t scan_all(int fd, uint64_t *sum)
{
	struct pmclog_iter *it;
	struct pmclog_rec r;
	uint64_t records = 0, offset;
	enum pmclog_iter_status status;

	lseek(fd, 0, SEEK_SET);
	it = pmclog_iter_fd(fd);
	if (!it)
		err(1, "iterator");
	while ((status = pmclog_iter_next(it, &r)) == PMCLOG_ITER_RECORD) {
		records++;
		if (r.type == PMCLOG_T_CALLCHAIN)
			*sum += r.tsc ^ PMCLOG_FIELD32(&r,
					struct pmclog_callchain, pid);
	}
	if (status == PMCLOG_ITER_ERROR)
		errx(1, "%s", pmclog_iter_error(it, &offset));
	pmclog_iter_close(it);
	return records;
}

int main(int argc, char **argv)
{
	uint64_t scan_ns = UINT64_MAX, read_ns = UINT64_MAX, t;
	uint64_t records = 0, bytes = 0, sum = 0;
	int fd, i;

	if (argc != 2)
		errx(2, "usage: scan FILE");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	for (i = 0; i < TURNS; i++) {
		t = clock_ns();
		records = scan_all(fd, &sum);
		t = clock_ns() - t;
		scan_ns = t < scan_ns ? t : scan_ns;
		t = clock_ns();
		bytes = read_all(fd);
		t = clock_ns() - t;
		read_ns = t < read_ns ? t : read_ns;
	}
	printf("records=%" PRIu64 " bytes=%" PRIu64 " scan_ns=%" PRIu64
	       " read_ns=%" PRIu64 "\n", records, bytes, scan_ns, read_ns);
	/* the compiler must not remove the loop */
	return sum == 1;
}
