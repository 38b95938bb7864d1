/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files and directories of sysfs and tracefs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_event.h"

#define FILE_MAX	(64UL << 20)	/* the list of a kernel's functions has 5 MB */

int pmc_file_is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') &&
	       strlen(name) <= NAME_MAX;
}

static int vpath(char *path, size_t len, const char *fmt, va_list ap)
{
	if ((size_t)vsnprintf(path, len, fmt, ap) < len)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* Reads up to @len bytes: a read of these files may return a part */
static ssize_t read_all(int fd, char *buf, size_t len)
{
	size_t n = 0;
	ssize_t got;

	while (n < len) {
		got = read(fd, buf + n, len - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static void close_keeping_errno(int fd)
{
	int err = errno;

	close(fd);
	errno = err;
}

long pmc_file_text(char *buf, size_t len, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	ssize_t n;
	int fd, failed;

	va_start(ap, fmt);
	failed = vpath(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (failed)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read_all(fd, buf, len - 1);
	close_keeping_errno(fd);
	if (n < 0)
		return -1;
	buf[n] = '\0';
	n = (ssize_t)strlen(buf);
	while (n && strchr(" \t\n", buf[n - 1]))
		buf[--n] = '\0';
	return n;
}

char *pmc_file_all(const char *path, size_t *len)
{
	size_t size = 0, used = 0;
	char *buf = NULL, *more;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return NULL;
	do {
		size = size ? size * 2 : 65536;
		more = size <= FILE_MAX ? realloc(buf, size) : NULL;
		if (!more) {
			errno = EFBIG;
			break;
		}
		buf = more;
		n = read_all(fd, buf + used, size - 1 - used);
		if (n < 0)
			break;
		used += (size_t)n;
		if (used < size - 1) {
			buf[used] = '\0';
			if (len)
				*len = used;
			close(fd);
			return buf;
		}
	} while (1);
	close_keeping_errno(fd);
	free(buf);
	return NULL;
}

static int no_points(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int pmc_file_each(int (*f)(void *arg, const char *name), void *arg,
		  const char *fmt, ...)
{
	struct dirent **entry = NULL;
	char path[PATH_MAX];
	int i, n, stop = 0;
	va_list ap;

	va_start(ap, fmt);
	n = vpath(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n)
		return 0;
	n = scandir(path, &entry, no_points, alphasort);
	for (i = 0; i < n; i++) {
		if (!stop)
			stop = f(arg, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	return stop;
}
