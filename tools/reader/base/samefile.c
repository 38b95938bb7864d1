// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/samefile.h"

/* O_NONBLOCK: a file replaced by a FIFO meanwhile must not block us. */
#define REGULAR_FLAGS	(O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

static bool is_regular(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* Closes what is no regular file. */
static int regular_or_none(int fd)
{
	if (fd < 0 || is_regular(fd))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/*
 * Opening a file can have side effects: it starts a watchdog, winds a tape, or
 * wakes up a FIFO's writer.  So the type is checked first by O_PATH, and that
 * same file is then opened.
 */
int regular_open_below(open_below_fn *open_below, const void *at, const char *path,
		       bool follow)
{
	int link = follow ? 0 : O_NOFOLLOW, fd;
	int place = regular_or_none(open_below(at, path, O_PATH | O_CLOEXEC | link));
	char name[64];

	if (place < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	fd = open(name, REGULAR_FLAGS);
	close(place);
	/* without /proc */
	if (fd < 0 && errno == ENOENT)
		fd = open_below(at, path, REGULAR_FLAGS | link);
	return regular_or_none(fd);
}

static int open_in_dir(const void *at, const char *name, int flags)
{
	return openat(*(const int *)at, name, flags);
}

int regular_open(int dir, const char *name)
{
	return regular_open_below(open_in_dir, &dir, name, false);
}

/* Do the first bytes allow a log, of either byte order, or a compressed one? */
static bool may_be_log(int dir, const char *name)
{
	static const unsigned char zstd[] = { 0x28, 0xB5, 0x2F, 0xFD };
	int fd = regular_open(dir, name);
	unsigned char b[4] = { 0 };
	bool is = fd >= 0 && read(fd, b, sizeof(b)) == sizeof(b) &&
		  (b[0] == 0xEE || b[3] == 0xEE || !memcmp(b, zstd, 4));

	if (fd >= 0)
		close(fd);
	return is;
}

/* Is @st a log in the directory? */
static bool is_in(int fd, const struct stat *st)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;
	bool found = false;
	struct stat x;

	if (!dir && again >= 0)
		close(again);
	while (dir && !found && (e = readdir(dir)))
		found = e->d_ino == st->st_ino &&
			!fstatat(fd, e->d_name, &x, AT_SYMLINK_NOFOLLOW) &&
			S_ISREG(x.st_mode) && x.st_dev == st->st_dev &&
			x.st_ino == st->st_ino && may_be_log(fd, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_one(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

bool same_file(int fd, const char *path)
{
	struct stat x, y;

	if (path && strcmp(path, "-") ? stat(path, &x) :
					fstat(STDOUT_FILENO, &x))
		return false;
	if (fstat(fd, &y) || !S_ISREG(x.st_mode))
		return false;
	if (S_ISDIR(y.st_mode))
		return is_in(fd, &x);
	return is_one(&x, &y);
}

/* The directory in which @path is */
static bool stat_parent(const char *path, struct stat *st)
{
	size_t len = (size_t)(basename(path) - path);
	char dir[PATH_MAX];

	if (len >= sizeof(dir))
		return false;
	memcpy(dir, path, len);
	dir[len] = '\0';
	return !stat(len ? dir : ".", st);
}

bool same_path(const char *a, const char *b)
{
	struct stat x, y;
	bool there = !stat(a, &x);

	if (there != !stat(b, &y))
		return false;
	if (there)
		return !S_ISCHR(x.st_mode) && is_one(&x, &y);
	return !strcmp(basename(a), basename(b)) && stat_parent(a, &x) &&
	       stat_parent(b, &y) && is_one(&x, &y);
}

bool path_is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}
