// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tempfile.h"

#define NTEMPS	8

/* Files that go if a signal ends the program; more than these stay then. */
static char *volatile temps[NTEMPS];
static pid_t maker;	/* not its children */

static void end_by(int signal_number)
{
	unsigned int i;

	for (i = 0; i < NTEMPS && getpid() == maker; i++)
		if (temps[i])
			unlink(temps[i]);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void expect_the_end(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction act = { .sa_handler = end_by }, old;
	unsigned int i;

	sigaddset(&act.sa_mask, SIGVTALRM);	/* demangle.c would leave this handler, too */
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ends[i], &act, NULL);
	/* a limit of the file's size is an error of the write, which says so */
	signal(SIGXFSZ, SIG_IGN);
}

static void swap_temp(char *from, char *to)
{
	unsigned int i;

	for (i = 0; i < NTEMPS; i++)
		if (temps[i] == from) {
			temps[i] = to;
			return;
		}
}

unsigned int tempfile_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/*
 * A rename would replace a device by a file, would break hard and symbolic
 * links, and would fail for a mount point.
 */
static bool replaceable(const struct statx *st)
{
	return S_ISREG(st->stx_mode) && st->stx_nlink == 1 &&
	       !(st->stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/*
 * Did somebody else put the file into a directory like /tmp, to have what is written
 * there?  The kernel decides then: it refuses to open the file, with
 * fs.protected_regular.
 */
static bool is_planted(const char *path, const struct statx *st)
{
	char *dir = xstrdup(path), *slash = strrchr(dir, '/');
	struct stat above;
	bool planted;

	if (slash)
		slash[slash == dir] = '\0';
	planted = st->stx_uid != geteuid() && !stat(slash ? dir : ".", &above) &&
		  above.st_mode & S_ISVTX && above.st_mode & (S_IWOTH | S_IWGRP) &&
		  above.st_uid != st->stx_uid;
	free(dir);
	return planted;
}

/* Gives the new file the owner and permissions of the old one. */
static int like(int fd, const struct statx *st)
{
	struct stat ours;

	if (fstat(fd, &ours))
		return -1;
	if ((ours.st_uid != st->stx_uid || ours.st_gid != st->stx_gid) &&
	    fchown(fd, st->stx_uid, st->stx_gid))
		return -1;
	return fchmod(fd, st->stx_mode & 0777);
}

int tempfile_open(const char *path, unsigned int mode, char **temp)
{
	struct statx st;
	bool exists = !statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
			     STATX_BASIC_STATS, &st);
	int fd;

	*temp = NULL;
	if (exists && (!replaceable(&st) || is_planted(path, &st)))
		return -1;
	*temp = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(*temp, O_CLOEXEC);
	if (fd >= 0 && (exists ? like(fd, &st) : fchmod(fd, mode))) {
		unlink(*temp);
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		free(*temp);
		*temp = NULL;
	}
	return fd;
}

void tempfile_guard(char *temp)
{
	if (!temp)
		return;
	maker = getpid();
	swap_temp(NULL, temp);
	expect_the_end();
}

void tempfile_forget(char *temp)
{
	if (temp)
		swap_temp(temp, NULL);
	free(temp);
}

/* Checks close(): some file systems only report ENOSPC there. */
int tempfile_settle(int fd, const char *path, char *temp, bool keep)
{
	int err = fd > STDERR_FILENO && close(fd) ? errno : 0;

	if (temp && keep && !err && rename(temp, path))
		err = errno;
	if (temp && (err || !keep))
		unlink(temp);
	tempfile_forget(temp);
	return err;
}
