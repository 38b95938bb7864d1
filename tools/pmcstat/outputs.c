/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where what is made of a run goes: looked at before there is something to lose
 * by it, and without a change to what is there.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../reader/tempfile.h"
#include "outputs.h"
#include "pmcstat.h"

/* 0, or the errno of why nothing can be written there */
static int unwritable(const char *path)
{
	struct stat st;
	int fd;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return EISDIR;
		/* who reads a pipe would take an open and close for its end */
		return euidaccess(path, W_OK) ? errno : 0;
	}
	if (errno != ENOENT)
		return errno;
	/* only the file system knows if it can be made */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)	/* a link to what is not there yet */
		return errno == EEXIST ? 0 : errno;
	close(fd);
	unlink(path);
	return 0;
}

int output_check(const char *path)
{
	int err = path && strcmp(path, "-") ? unwritable(path) : 0;

	if (!err)
		return 0;
	warn_line("cannot open %s: %s", path, strerror(err));
	return EX_CANTCREAT;
}

int directory_check(const char *option, const char *path, int status)
{
	struct stat st;
	int err = stat(path, &st) ? errno : 0;

	if (!err && S_ISDIR(st.st_mode))
		return 0;
	warn_line("%s %s: %s", option, path, strerror(err ? err : ENOTDIR));
	return status;
}

/*
 * Files with another name until recording has begun: the log, the symbols.
 * @maker: others that exit leave them alone
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

	/* devices and pipes cannot be emptied, others' files are not ours to */
	if (strcmp(path, "-") && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size && ftruncate(fd, 0))
		die(EX_CANTCREAT, "cannot empty %s: %s", path, strerror(errno));
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
	/* whoever had it ignored is told of them */
	if (signal(SIGPIPE, SIG_IGN) != SIG_IGN)
		die_with_readers = 1;
}

int output_failed(const char *verb, const char *what)
{
	if (errno == EPIPE && die_with_readers)
		return OUTPUT_UNREAD;
	warn_line("cannot %s %s: %s", verb, what, strerror(errno));
	return EX_IOERR;
}
