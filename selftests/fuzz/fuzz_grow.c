// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: a log that changes while it is read.  The first bytes say how it is
 * opened, how much of it is there at first, after how many records it changes, and
 * how much of it is there then.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmclog.h>

#include "fuzz.h"
#include "log/input.h"

#define PAGES	(8 << 20)	/* a hole behind the log, longer than a window */

static void nothing(void *arg)
{
	(void)arg;
}

/* Paths without a log */
static int open_other(struct input *in, unsigned int how)
{
	static const char *dir, *none;

	if (!dir) {
		dir = fuzz_path("nothing");
		none = fuzz_path("nothing/none");
	}
	abort_if(input_open_passing(in, dir, nothing, NULL) != -1 ||
		 input_open_live(in, none, nothing, NULL) != -1);
	return how ? input_open_strict(in, none) : input_open(in, dir);
}

static int open_it(struct input *in, const char *path, unsigned int how)
{
	switch (how) {
	case 0:
		return input_open(in, path);
	case 1:
		return input_open_strict(in, path);
	case 2:
		return input_open_passing(in, path, nothing, NULL);
	case 3:
		/* as an unpacked archive */
		return input_open(in, path);
	default:
		return open_other(in, how % 2);
	}
}

/* Reads at most *left records; after the end of a log there may be more later. */
static void read_on(struct input *in, unsigned int *left)
{
	struct pmclog_rec rec;

	while (*left && input_poll(in, &rec) == PMCLOG_ITER_RECORD)
		--*left;
}

/* The file has @to bytes from now on; behind the log they are zeros. */
static void change(int fd, const uint8_t *data, size_t size, size_t to)
{
	struct stat st;

	abort_if(fstat(fd, &st) ||
		 (to > (size_t)st.st_size && pwrite(fd, data, size, 0) < 0) ||
		 ftruncate(fd, (off_t)to));
}

/* A directory with the log; the file is at the end of its path. */
static const char *archive(const uint8_t *data, size_t size)
{
	static const char *dir, *log;
	int fd;

	if (!dir) {
		dir = fuzz_path("grown.log");
		log = fuzz_path("grown.log/" ARCHIVE_LOG);
		mkdir(dir, 0700);
	}
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	abort_if(fd < 0 || write(fd, data, size) != (ssize_t)size);
	close(fd);
	return dir;
}

/* The library's other interface, on the same bytes */
static void read_events(const char *path)
{
	static struct pmclog_ev ev;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *ps = fd < 0 ? NULL : pmclog_open(fd);
	char byte = 0;

	if (!ps)
		return;
	abort_if(!pmclog_feed(ps, &byte, 1));	/* it reads a file */
	while (!pmclog_read(ps, &ev))
		;
	/* an error is the end; a CLOSELOG need not be */
	abort_if(ev.pl_state == PMCLOG_ERROR &&
		 (!pmclog_read(ps, &ev) || ev.pl_state != PMCLOG_ERROR));
	pmclog_close(ps);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in;
	const char *path;
	unsigned int left, all = 1 << 20;
	size_t first, then;
	int fd;

	if (size < 4)
		return 0;
	first = (size - 4) * data[1] / 255;
	then = data[3] == 255 ? PAGES : (size - 4) * data[3] / 254;
	left = data[2];
	path = data[0] % 8 == 3 ? archive(data + 4, first) :
				  fuzz_file(0, data + 4, first);
	read_events(path);
	if (!open_it(&in, path, data[0] % 8)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		read_on(&in, &left);
		if (fd >= 0)
			change(fd, data + 4, size - 4, then);
		read_on(&in, &all);
		if (fd >= 0)
			change(fd, data + 4, size - 4, size - 4);
		read_on(&in, &all);
		input_complain(&in);
		input_close(&in);
		close(fd);
	}
	return 0;
}
