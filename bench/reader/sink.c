// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <fcntl.h>
#include <unistd.h>

#include "sink.h"

void sinkfile_open(struct sinkfile *f, const char *path)
{
	f->fd = strcmp(path, "-") ?
		open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : STDOUT_FILENO;
	if (f->fd < 0)
		err(1, "%s", path);
}

void sinkfile_flush(struct sinkfile *f)
{
	size_t done = 0;
	ssize_t n;

	while (done < f->n) {
		n = write(f->fd, f->buf + done, f->n - done);
		if (n < 0)
			err(1, "write");
		done += (size_t)n;
	}
	f->n = 0;
}

void sinkfile_write_at(struct sinkfile *f, const void *p, size_t len,
		       uint64_t at)
{
	if (pwrite(f->fd, p, len, (off_t)at) != (ssize_t)len)
		err(1, "write");
}

void sinkfile_close(struct sinkfile *f)
{
	sinkfile_flush(f);
	if (close(f->fd))
		err(1, "close");
}
