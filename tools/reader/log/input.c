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
#include "base/numbers.h"
#include "base/samefile.h"
#include "base/say.h"
#include "log/input.h"
#include "log/mapped.h"
#include "log/merge.h"

/* Longest wait for the next record, when a program waits for the output. */
#define PATIENCE_MS	200

static int fail(struct input *in, const char *what)
{
	warn_line("%s: %s", in->path, what);
	input_close(in);
	return -1;
}

static bool is_directory(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode);
}

static int begin_directory(struct input *in)
{
	const char *why;

	in->it = NULL;
	in->merge = merge_open(in->fd, in->path, &why);
	return in->merge ? 0 : fail(in, why);
}

static int begin(struct input *in, const char *path, int fd,
		 struct mapped *map)
{
	in->path = path;
	in->fd = fd;
	in->map = map;
	in->merge = NULL;
	in->gaps = false;
	in->repairs = false;
	in->steady = (struct steady){ .known = false };
	in->kept = NULL;
	*in->skipped = '\0';
	in->idle = NULL;
	if (!map && is_directory(fd))
		return begin_directory(in);
	in->it = map ? pmclog_iter_window(mapped_window, map) :
		       pmclog_iter_fd(fd);
	return in->it ? 0 : fail(in, strerror(errno));
}

/* Damage is skipped from now on, or also repaired. */
static int heal(struct input *in, bool repairs)
{
	if (!in->merge) {
		pmclog_iter_resync(in->it);
		in->repairs = repairs;
	} else if (repairs) {
		merge_repairs(in->merge);
	}
	return 0;
}

int input_fd(struct input *in, const char *path, int fd)
{
	return begin(in, path, fd, NULL) ? -1 : heal(in, false);
}

int input_fd_strict(struct input *in, const char *path, int fd)
{
	return begin(in, path, fd, mapped_open(fd));
}

int input_fd_repairing(struct input *in, const char *path, int fd)
{
	return input_fd_strict(in, path, fd) ? -1 : heal(in, true);
}

bool input_is_archive(const char *path)
{
	int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = dir < 0 ? -1 : regular_open(dir, ARCHIVE_LOG);

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return fd >= 0;
}

/* If the directory is that of an unpacked archive, opens the log in it. */
static void enter_archive(struct input *in)
{
	int fd = regular_open(in->fd, ARCHIVE_LOG);

	if (fd < 0)
		return;
	close(in->fd);
	in->fd = fd;
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

/* Opens @path, for begin(). */
static int open_path(struct input *in, const char *path)
{
	in->path = path;
	in->it = NULL;
	in->merge = NULL;
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
	if (is_directory(in->fd))
		enter_archive(in);
	return 0;
}

int input_open_strict(struct input *in, const char *path)
{
	return open_path(in, path) ? -1 :
	       input_fd_strict(in, in->path, in->fd);
}

int input_open(struct input *in, const char *path)
{
	return open_path(in, path) ? -1 :
	       input_fd_repairing(in, in->path, in->fd);
}

int input_open_live(struct input *in, const char *path,
		    void (*idle)(void *arg), void *arg)
{
	if (open_path(in, path) ||
	    input_fd(in, in->path, input_not_waiting(in->fd)))
		return -1;
	in->idle = idle;
	in->idle_arg = arg;
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
	return heal(in, true);
}

void input_close(struct input *in)
{
	pmclog_iter_close(in->it);
	in->it = NULL;
	merge_close(in->merge);
	in->merge = NULL;
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

static enum pmclog_iter_status poll_merge(struct input *in,
					  struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = merge_next(in->merge, rec);

	in->steady.wrong = merge_wrong(in->merge);
	return status;
}

/* The end, or an error; what was skipped on the way is an error, too. */
static enum pmclog_iter_status ended(struct input *in, enum pmclog_iter_status status)
{
	in->gaps = tell_gaps(in) && status == PMCLOG_ITER_EOF;
	return in->gaps ? PMCLOG_ITER_ERROR : status;
}

enum pmclog_iter_status input_poll(struct input *in, struct pmclog_rec *rec)
{
	enum pmclog_iter_status status;

	if (in->merge)
		return poll_merge(in, rec);
	status = pmclog_iter_next(in->it, rec);
	if (status == PMCLOG_ITER_RECORD && in->repairs &&
	    !steady_goes_on(&in->steady, rec))
		repair(in, rec);
	return status > 0 ? status : ended(in, status);
}

/* Another user of the descriptor made it non-blocking. */
static enum pmclog_iter_status wait_for_more(struct input *in, struct pmclog_rec *rec)
{
	struct pollfd pfd = { .fd = in->fd, .events = POLLIN };
	enum pmclog_iter_status status;

	do {
		if (in->idle)
			in->idle(in->idle_arg);
		poll(&pfd, 1, -1);
		status = input_poll(in, rec);
	} while (status == PMCLOG_ITER_MORE);
	return status;
}

enum pmclog_iter_status input_read(struct input *in, struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = input_poll(in, rec);

	return status == PMCLOG_ITER_MORE ? wait_for_more(in, rec) : status;
}

void input_raw(struct input *in)
{
	if (in->merge)
		merge_raw(in->merge);
	else
		pmclog_iter_raw(in->it);
}

bool input_pass(struct input *in, uint64_t from, uint64_t to,
		struct pmclog_passed *passed)
{
	return !in->merge && pmclog_iter_pass(in->it, from, to, passed);
}

const struct pmclog_format *input_format(const struct input *in)
{
	return in->merge ? merge_format(in->merge) :
			   pmclog_iter_format(in->it);
}

const char *input_log_name(const struct input *in)
{
	return in->merge ? merge_log_name(in->merge) : NULL;
}

uint64_t input_repeated(const struct input *in)
{
	return in->merge ? merge_repeated(in->merge) : 0;
}

uint64_t input_bytes(const struct input *in, const struct pmclog_rec *rec)
{
	return in->merge ? merge_bytes(in->merge, rec) : rec->offset;
}

const char *input_error(const struct input *in, uint64_t *offset)
{
	const char *what;
	uint64_t bytes;

	*offset = 0;
	if (in->merge)
		return merge_error(in->merge);
	what = pmclog_iter_error(in->it, offset);
	if (!in->gaps)
		return what;
	pmclog_iter_gaps(in->it, offset, &bytes);
	return in->skipped;
}

char *input_error_text(const struct input *in)
{
	uint64_t offset;
	const char *what = input_error(in, &offset);
	bool more = !in->gaps && *in->skipped;

	/* a hint of what to do is of the whole file */
	if (in->merge || !strncmp(what, "compressed by ", 14))
		return xstrdup(what);
	return xasprintf("%s at byte %" PRIu64 "%s%s", what, offset,
			 more ? "; " : "", more ? in->skipped : "");
}

bool input_stopped(const struct input *in)
{
	return in->merge ? merge_stopped(in->merge) : !in->gaps;
}

void input_complain(const struct input *in)
{
	uint64_t offset, bytes;
	const char *what = input_error(in, &offset);

	if (in->merge) {
		warn_line("%s: %s", in->path, what);
		return;
	}
	warn_line("%s: offset %" PRIu64 ": %s", in->path, offset, what);
	if (in->gaps || !*in->skipped)
		return;
	pmclog_iter_gaps(in->it, &offset, &bytes);
	warn_line("%s: offset %" PRIu64 ": %s", in->path, offset, in->skipped);
}

enum pmclog_iter_status input_next(struct input *in, struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = input_read(in, rec);

	if (status == PMCLOG_ITER_ERROR)
		input_complain(in);
	return status;
}
