/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of the machine that pmccontrol doctor looks at. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

#define LINES_MAX	(256U << 10)	/* of a file; of long ones, the parts */

static int __attribute__((format(printf, 3, 0)))
path_of(const struct doctor *d, char path[PATH_ROOM], const char *fmt,
	va_list ap)
{
	size_t n = (size_t)snprintf(path, PATH_ROOM, "%s", d->root);
	int more;

	if (n < PATH_ROOM) {
		more = vsnprintf(path + n, PATH_ROOM - n, fmt, ap);
		if (more >= 0 && (size_t)more < PATH_ROOM - n)
			return 0;
	}
	errno = ENAMETOOLONG;
	return -1;
}

/* A pipe or a device in its place could block. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

static int __attribute__((format(printf, 2, 0)))
vopen(const struct doctor *d, const char *fmt, va_list ap)
{
	char path[PATH_ROOM];

	return path_of(d, path, fmt, ap) ? -1 : open_regular(path);
}

int file_open(const struct doctor *d, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = vopen(d, fmt, ap);
	va_end(ap);
	return fd;
}

bool file_there(const struct doctor *d, const char *fmt, ...)
{
	char path[PATH_ROOM];
	struct stat st;
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = path_of(d, path, fmt, ap);
	va_end(ap);
	return !err && !stat(path, &st);
}

/* Closes @fd. */
static ssize_t read_start(int fd, char *buf, size_t size)
{
	size_t at = 0;
	ssize_t n = 1;
	int saved;

	if (fd < 0)
		return -1;
	while (n > 0 && at < size - 1) {
		n = read(fd, buf + at, size - 1 - at);
		if (n > 0)
			at += (size_t)n;
	}
	saved = errno;
	close(fd);
	errno = saved;
	buf[at] = '\0';
	return n < 0 ? -1 : (ssize_t)at;
}

ssize_t file_read(const struct doctor *d, void *buf, size_t size,
		  const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = vopen(d, fmt, ap);
	va_end(ap);
	return read_start(fd, buf, size);
}

/* What a file says goes to a terminal. */
static void make_printable(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	for (; *line; line++)
		if (!isprint((unsigned char)*line))
			*line = *line == '\t' ? ' ' : '?';
}

int file_line(const struct doctor *d, char *line, size_t size,
	      const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = vopen(d, fmt, ap);
	va_end(ap);
	if (read_start(fd, line, size) < 0)
		return -1;
	make_printable(line);
	return 0;
}

int file_lines(const struct doctor *d, const char *path,
	       int (*f)(void *arg, char *line), void *arg)
{
	bool begins = true, ends;
	int fd = file_open(d, "%s", path), r = 0;
	char line[LINE_ROOM];
	size_t n = 0;
	FILE *in;

	if (fd < 0)
		return -1;
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return -1;
	}
	while (!r && n++ < LINES_MAX && fgets(line, sizeof(line), in)) {
		ends = strchr(line, '\n');
		make_printable(line);
		if (begins)
			r = f(arg, line);
		begins = ends;
	}
	fclose(in);
	return r;
}

bool is_word(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".+~_-", *c))
			return false;
	return *name && *name != '-';
}
