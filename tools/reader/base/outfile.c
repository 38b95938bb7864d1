// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/outfile.h"
#include "base/samefile.h"
#include "base/tempfile.h"

static bool ends_in_gz(const char *path)
{
	size_t n = strlen(path);

	return n > 3 && !strcmp(path + n - 3, ".gz");
}

bool outfile_is(const char *path, int log)
{
	if (!same_file(log, path))
		return false;
	warn_line("%s is the log itself: it would be lost", path ? path : "-");
	return true;
}

bool outfile_is_log(const char *path, const char *log)
{
	int fd = STDIN_FILENO;
	bool is;

	/* O_PATH: opening a FIFO to read would wake up its writer */
	if (strcmp(log, "-"))
		fd = open(log, O_PATH | O_CLOEXEC);
	is = fd >= 0 && outfile_is(path, fd);
	if (fd > STDIN_FILENO)
		close(fd);
	return is;
}

static int open_path(struct outfile *f)
{
	int fd = tempfile_open(f->path, tempfile_mode(), &f->temp);

	tempfile_guard(f->temp);
	if (fd < 0)
		fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			  0666);
	if (fd < 0)
		warn_line("%s: %s", f->path, strerror(errno));
	return fd;
}

int outfile_open(struct outfile *f, const char *path, unsigned int flags)
{
	int fd = STDOUT_FILENO;

	memset(f, 0, sizeof(*f));
	if (path && strcmp(path, "-"))
		f->path = path;
	f->gzip = flags & OUTFILE_GZIP || (f->path && ends_in_gz(f->path));
	if (f->path)
		fd = open_path(f);
	if (fd < 0)
		return READER_FAIL;
	if ((f->gzip || flags & OUTFILE_BINARY) && isatty(fd)) {
		warn_line("this is nothing for a terminal: name a file with -o");
		tempfile_settle(f->path ? fd : -1, f->path, f->temp, false);
		return READER_USAGE;
	}
	f->fd = fd;
	f->out = f->gzip ? gzip_open(fd) : out_stdout();
	if (!f->gzip)
		f->out->fd = fd;
	return READER_OK;
}

int outfile_close(struct outfile *f, bool keep)
{
	int ret, err;

	if (!f->out)
		return READER_OK;
	ret = f->gzip ? gzip_finish(f->out, f->path) : out_finish_file(f->out, f->path);
	out_stdout()->fd = STDOUT_FILENO;
	err = tempfile_settle(f->path ? f->fd : -1, f->path, f->temp,
			     keep && !ret);
	if (err)
		ret = reader_fail("%s: %s", f->path, strerror(err));
	memset(f, 0, sizeof(*f));
	return ret;
}
