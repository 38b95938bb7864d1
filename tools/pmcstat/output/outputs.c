/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output files of a run.  They are checked before a failure could lose data, and
 * without a change to existing files.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/base/samefile.h"
#include "reader/base/tempfile.h"
#include "output/outputs.h"
#include "pmcstat.h"

/*
 * Files with a temporary name until recording has begun: the log, the symbols.
 * @maker: only this process removes them at exit
 */
static struct pending {
	const char *path;
	char *temp;
	pid_t maker;
} pending[2];

#define NPENDING	(sizeof(pending) / sizeof(pending[0]))

static void drop_pending(void)
{
	size_t i;

	for (i = 0; i < NPENDING; i++)
		if (pending[i].temp && pending[i].maker == getpid())
			unlink(pending[i].temp);
}

static void add_pending(const char *path, char *temp)
{
	size_t i = pending[0].temp ? 1 : 0;

	if (!i)
		atexit(drop_pending);
	pending[i] = (struct pending){ path, temp, getpid() };
}

int output_open(const char *path, int flags, unsigned int mode)
{
	char *temp;
	int fd = tempfile_open(path, mode, &temp);

	if (fd < 0)
		return open(path, flags | O_CREAT | O_CLOEXEC, mode);
	add_pending(path, temp);
	return fd;
}

void output_empty(int fd, const char *path)
{
	struct stat st;

	/* only a regular file can have old content */
	if (strcmp(path, "-") && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size && ftruncate(fd, 0))
		die(EX_CANTCREAT, "cannot empty %s: %s", path, strerror(errno));
}

int output_settle(int fd)
{
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return again >= 0 && close(again) ? errno : 0;
}

static int is_named(const struct output *out)
{
	return out->path && strcmp(out->path, "-");
}

int outputs_distinct(const struct output *out, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++) {
			if (!is_named(&out[i]) || !is_named(&out[j]) ||
			    !same_path(out[i].path, out[j].path))
				continue;
			warn_line("%s %s and %s %s are one file: one output would "
				  "be lost", out[i].option, out[i].path,
				  out[j].option, out[j].path);
			return EX_USAGE;
		}
	return 0;
}

int output_is_file(const char *path)
{
	struct stat st;

	return !net_is_address(path) && strcmp(path, "-") &&
	       (stat(path, &st) || S_ISREG(st.st_mode));
}

void outputs_begun(void)
{
	struct pending *p;

	for (p = pending; p < pending + NPENDING; p++) {
		if (p->temp && rename(p->temp, p->path))
			die(EX_CANTCREAT, "cannot create %s: %s", p->path,
			    strerror(errno));
		free(p->temp);
		p->temp = NULL;
	}
}

static int die_with_readers;

void output_outlive_readers(void)
{
	/* if the caller ignores SIGPIPE, a closed pipe gets a message */
	if (signal(SIGPIPE, SIG_IGN) != SIG_IGN)
		die_with_readers = 1;
}

void output_inherit_sigpipe(void)
{
	if (die_with_readers)
		signal(SIGPIPE, SIG_DFL);
}

int output_failed(const char *verb, const char *what)
{
	if (errno == EPIPE && die_with_readers)
		return OUTPUT_UNREAD;
	warn_line("cannot %s %s: %s", verb, what, strerror(errno));
	return EX_IOERR;
}
