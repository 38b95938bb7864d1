// SPDX-License-Identifier: BSD-2-Clause
/* A log named on the command line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/plural.h"
#include "log/input.h"
#include "log/mapped.h"

/* Longest wait for the next record, when a program waits for the output. */
#define PATIENCE_MS	200

static int fail(struct input *in, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
		in->path, what);
	input_close(in);
	return -1;
}

static int begin(struct input *in, const char *path, int fd,
		 struct mapped *map)
{
	in->path = path;
	in->fd = fd;
	in->map = map;
	in->gaps = false;
	in->repairs = false;
	in->steady = (struct steady){ .known = false };
	in->kept = NULL;
	*in->skipped = '\0';
	in->idle = NULL;
	in->it = map ? pmclog_iter_window(mapped_window, map) :
		       pmclog_iter_fd(fd);
	return in->it ? 0 : fail(in, strerror(errno));
}

int input_fd(struct input *in, const char *path, int fd)
{
	return begin(in, path, fd, NULL);
}

/* Opens the log in the directory of an unpacked archive. */
static int enter_archive(struct input *in)
{
	int fd = openat(in->fd, ARCHIVE_LOG, O_RDONLY | O_CLOEXEC |
			O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	close(in->fd);
	in->fd = fd;
	return 0;
}

int input_not_waiting(int fd)
{
	char name[32];
	struct stat st;
	int again;

	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
		return fd;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (again < 0)
		return fd;
	if (fd > STDERR_FILENO)
		close(fd);
	return again;
}

/* Opens @path, for input_fd(). */
static int open_path(struct input *in, const char *path)
{
	struct stat st;

	in->path = path;
	in->it = NULL;
	in->map = NULL;
	in->kept = NULL;
	if (strcmp(path, "-")) {
		in->fd = open(path, O_RDONLY | O_CLOEXEC);
	} else {
		in->fd = STDIN_FILENO;
		in->path = "standard input";
	}
	if (in->fd < 0)
		return fail(in, strerror(errno));
	if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode) && enter_archive(in))
		return fail(in, "is a directory");
	return 0;
}

int input_open_strict(struct input *in, const char *path)
{
	if (open_path(in, path))
		return -1;
	return begin(in, in->path, in->fd, mapped_open(in->fd));
}

int input_open(struct input *in, const char *path)
{
	if (input_open_strict(in, path))
		return -1;
	pmclog_iter_resync(in->it);
	in->repairs = true;
	return 0;
}

int input_open_live(struct input *in, const char *path,
		    void (*idle)(void *arg), void *arg)
{
	if (open_path(in, path) ||
	    input_fd(in, in->path, input_not_waiting(in->fd)))
		return -1;
	in->idle = idle;
	in->idle_arg = arg;
	pmclog_iter_resync(in->it);
	return 0;
}

int input_open_passing(struct input *in, const char *path,
		       void (*idle)(void *arg), void *arg)
{
	struct mapped *map;
	int fd;

	if (open_path(in, path))
		return -1;
	map = mapped_open(in->fd);
	fd = map ? in->fd : input_not_waiting(in->fd);
	if (begin(in, in->path, fd, map))
		return -1;
	in->idle = idle;
	in->idle_arg = arg;
	pmclog_iter_resync(in->it);
	in->repairs = true;
	return 0;
}

void input_close(struct input *in)
{
	pmclog_iter_close(in->it);
	in->it = NULL;
	free(in->kept);
	in->kept = NULL;
	mapped_close(in->map);
	in->map = NULL;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = -1;
}

/* Describes the gaps of a log that was read to its end. */
static bool tell_gaps(struct input *in)
{
	uint64_t first, bytes, n = pmclog_iter_gaps(in->it, &first, &bytes);

	if (n && !bytes)
		snprintf(in->skipped, sizeof(in->skipped),
			 "damaged: no INITIALIZE at the start");
	else if (n)
		snprintf(in->skipped, sizeof(in->skipped),
			 "damaged: skipped %" PRIu64 " %s in %" PRIu64 " %s",
			 bytes, plural(bytes, "byte", "bytes"), n,
			 plural(n, "place", "places"));
	return n > 0;
}

/*
 * Waits for more data, which may take long to come.  False: the timeout passed,
 * and the program that waits for the output should get it now.
 */
static bool comes_more(struct input *in)
{
	struct pollfd pfd = { .fd = in->fd, .events = POLLIN };

	if (in->idle)
		in->idle(in->idle_arg);
	return poll(&pfd, 1, in->idle ? PATIENCE_MS : -1);
}

/* Reads the next record, to judge the timestamp of this one. */
static void wait_behind(struct input *in, struct pmclog_rec *rec)
{
	free(in->kept);
	in->kept = xreallocarray(NULL, rec->len, 1);
	memcpy(in->kept, rec->data, rec->len);
	rec->data = in->kept;
	while (pmclog_iter_await(in->it) == PMCLOG_ITER_MORE && comes_more(in))
		;
}

static void repair(struct input *in, struct pmclog_rec *rec)
{
	if (steady_is_alone(&in->steady, in->it, rec))
		wait_behind(in, rec);
	rec->tsc = steady_look(&in->steady, in->it, rec);
}

enum pmclog_iter_status input_poll(struct input *in, struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = pmclog_iter_next(in->it, rec);

	if (status == PMCLOG_ITER_RECORD && in->repairs &&
	    !steady_goes_on(&in->steady, rec))
		repair(in, rec);
	if (status > 0)
		return status;
	in->gaps = tell_gaps(in) && status == PMCLOG_ITER_EOF;
	return in->gaps ? PMCLOG_ITER_ERROR : status;
}

enum pmclog_iter_status input_read(struct input *in, struct pmclog_rec *rec)
{
	struct pollfd pfd = { .fd = in->fd, .events = POLLIN };
	enum pmclog_iter_status status;

	/* another user of the descriptor made it non-blocking */
	while ((status = input_poll(in, rec)) == PMCLOG_ITER_MORE) {
		if (in->idle)
			in->idle(in->idle_arg);
		poll(&pfd, 1, -1);
	}
	return status;
}

const char *input_error(const struct input *in, uint64_t *offset)
{
	const char *what = pmclog_iter_error(in->it, offset);
	uint64_t bytes;

	if (!in->gaps)
		return what;
	pmclog_iter_gaps(in->it, offset, &bytes);
	return in->skipped;
}

void input_complain(const struct input *in)
{
	uint64_t offset, bytes;
	const char *what = input_error(in, &offset);

	fprintf(stderr, "%s: %s: offset %" PRIu64 ": %s\n",
		program_invocation_short_name, in->path, offset, what);
	if (in->gaps || !*in->skipped)
		return;
	pmclog_iter_gaps(in->it, &offset, &bytes);
	fprintf(stderr, "%s: %s: offset %" PRIu64 ": %s\n",
		program_invocation_short_name, in->path, offset, in->skipped);
}

enum pmclog_iter_status input_next(struct input *in, struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = input_read(in, rec);

	if (status == PMCLOG_ITER_ERROR)
		input_complain(in);
	return status;
}
