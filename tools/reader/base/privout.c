// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/privout.h"
#include "base/say.h"
#include "base/tempfile.h"

static int cannot(const char *path, int err)
{
	warn_line("cannot write %s: %s", path, strerror(err));
	return -1;
}

static int start_zstd(struct privout *o)
{
	o->z = zwrite_new(o->out.fd);
	if (o->z)
		return 0;
	if (errno != ENOSYS)
		return cannot(o->path, errno);
	fputs("pmclog: built without zstd: it cannot compress\n", stderr);
	return -1;
}

static int prepare(struct privout *o, bool compress, int source)
{
	if (outfile_is(o->path, source))
		return -1;
	if (compress && start_zstd(o))
		return -1;
	/* devices and pipes cannot be truncated */
	if (o->out.fd != STDOUT_FILENO && !o->temp &&
	    ftruncate(o->out.fd, 0) && errno != EINVAL)
		return cannot(o->path, errno);
	return 0;
}

int privout_open(struct privout *o, const char *path, int compress,
		 int source)
{
	size_t n = strlen(path);

	memset(o, 0, sizeof(*o));
	o->path = path;
	o->out.fd = STDOUT_FILENO;
	/* mode 0600: a log shows process names and kernel addresses */
	if (strcmp(path, "-"))
		o->out.fd = tempfile_open(path, 0600, &o->temp);
	tempfile_guard(o->temp);
	if (o->out.fd < 0)
		o->out.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (o->out.fd < 0)
		return cannot(path, errno);
	if (!prepare(o, compress || (n > 4 && !strcmp(path + n - 4, ".zst")),
		     source))
		return 0;
	zwrite_free(o->z);
	tempfile_settle(o->out.fd, path, o->temp, false);
	return -1;
}

void privout_bytes(struct privout *o, const void *p, size_t n)
{
	if (o->z && !o->error)
		o->error = zwrite_bytes(o->z, p, n);
	else if (!o->z)
		out_bytes(&o->out, p, n);
	if (!o->error)
		o->error = o->out.error;
}

void privout_flush(struct privout *o)
{
	/* a temporary file has no reader yet */
	if (!o->path || o->temp || o->error)
		return;
	if (o->z)
		o->error = zwrite_flush(o->z);
	else
		out_flush(&o->out);
	if (!o->error)
		o->error = o->out.error;
}

int privout_close(struct privout *o, bool keep)
{
	int err;

	if (o->z && !o->error)
		o->error = zwrite_end(o->z);
	zwrite_free(o->z);
	out_flush(&o->out);
	if (!o->error)
		o->error = o->out.error;
	err = tempfile_settle(o->out.fd, o->path, o->temp, keep && !o->error);
	if (!o->error)
		o->error = err;
	return o->error ? cannot(o->path, o->error) : 0;
}
