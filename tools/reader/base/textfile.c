// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/say.h"
#include "base/textfile.h"

FILE *text_open(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (!f)
		warn_line("cannot open %s: %s", path, strerror(errno));
	return f;
}

static int cannot_write(const char *path)
{
	warn_line("cannot write %s%s%s", strcmp(path, "-") ? path :
		  "to standard output", errno ? ": " : "",
		  errno ? strerror(errno) : "");
	return EX_IOERR;
}

int text_flush(FILE *f, const char *path)
{
	return fflush(f) ? cannot_write(path) : 0;
}

int text_close(FILE *f, const char *path)
{
	int bad = ferror(f);

	errno = 0;
	if (f == stdout ? fflush(f) : fclose(f))
		bad = 1;
	return bad ? cannot_write(path) : 0;
}

/* 0 if @path can be written, or an errno */
static int unwritable(const char *path)
{
	struct stat st;
	int fd;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return EISDIR;
		/* the reader of a pipe would take open and close for its end */
		return euidaccess(path, W_OK) ? errno : 0;
	}
	if (errno != ENOENT)
		return errno;
	/* only an attempt shows if the file can be created */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)	/* EEXIST: a dangling symbolic link */
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
