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

int file_open(const struct doctor *d, const char *fmt, ...)
{
	char path[PATH_ROOM];
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = path_of(d, path, fmt, ap);
	va_end(ap);
	return err ? -1 : open_regular(path);
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

ssize_t take_bytes(int fd, void *to, size_t size)
{
	char *buf = to;
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

/* What a file says goes to a terminal. */
static void make_printable(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	for (; *line; line++)
		if (!isprint((unsigned char)*line))
			*line = *line == '\t' ? ' ' : '?';
}

int take_line(int fd, char *line, size_t size)
{
	if (take_bytes(fd, line, size) < 0)
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

bool is_word_of(const char *name, const char *others)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".+~_-", *c) && !strchr(others, *c))
			return false;
	return *name && *name != '-';
}

bool is_word(const char *name)
{
	return is_word_of(name, "");
}
