// SPDX-License-Identifier: BSD-2-Clause
/* A log named on the command line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"

static int fail(struct input *in, const char *what)
{
	fprintf(stderr, "pmclog: %s: %s\n", in->path, what);
	input_close(in);
	return -1;
}

int input_open(struct input *in, const char *path)
{
	struct stat st;

	in->path = path;
	in->it = NULL;
	if (strcmp(path, "-")) {
		in->fd = open(path, O_RDONLY | O_CLOEXEC);
	} else {
		in->fd = STDIN_FILENO;
		in->path = "standard input";
	}
	if (in->fd < 0)
		return fail(in, strerror(errno));
	if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode))
		return fail(in, "is a directory");
	in->it = pmclog_iter_fd(in->fd);
	if (!in->it)
		return fail(in, strerror(errno));
	return 0;
}

void input_close(struct input *in)
{
	pmclog_iter_close(in->it);
	in->it = NULL;
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = -1;
}

enum pmclog_iter_status input_read(struct input *in, struct pmclog_rec *rec)
{
	struct pollfd pfd = { .fd = in->fd, .events = POLLIN };
	enum pmclog_iter_status status;

	while ((status = pmclog_iter_next(in->it, rec)) == PMCLOG_ITER_MORE)
		poll(&pfd, 1, -1);	/* somebody made it non-blocking */
	return status;
}

void input_complain(const struct input *in)
{
	uint64_t offset;
	const char *what = pmclog_iter_error(in->it, &offset);

	fprintf(stderr, "pmclog: %s: offset %" PRIu64 ": %s\n", in->path,
		offset, what);
}

enum pmclog_iter_status input_next(struct input *in, struct pmclog_rec *rec)
{
	enum pmclog_iter_status status = input_read(in, rec);

	if (status == PMCLOG_ITER_ERROR)
		input_complain(in);
	return status;
}
