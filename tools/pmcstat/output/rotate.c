/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs in a directory: their names, and when the next one is due.
 *
 * Names sort by time: the second in which the file began, and a number.  The
 * number distinguishes files of one second, and files after the clock was set back.  The
 * logs of groups of CPUs (--writers) differ in the group only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "output/rotate.h"

#define NAMES_MAX	10000		/* attempts to find a free name */
#define LOOK_NS		100000000ULL	/* between two checks of the size */
#define NS_PER_S	1000000000.0

void rotation_init(struct rotation *r, const struct options *o)
{
	memset(r, 0, sizeof(*r));
	r->o = o;
	r->number = o->number ? o->number - 1 : 0;
	r->fd = open(o->log_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd >= 0)
		return;
	if (errno == ENOENT)
		die(EX_CANTCREAT, "-O %s: there is no such directory",
		    o->log_path);
	die(EX_CANTCREAT, "-O %s: %s", o->log_path, strerror(errno));
}

static void make_name(struct rotation *r)
{
	time_t now = r->o->named ? r->o->named : time(NULL);
	const char *dir = r->o->log_path;
	size_t len = strlen(dir);
	char when[32], group[16] = "";
	struct tm tm;

	if (r->o->cpus)
		snprintf(group, sizeof(group), ".g%u", r->o->writer);
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(r->name, sizeof(r->name), "pmclog.%s.%04u%s%s", when, r->number,
		 group, r->o->compress ? ".zst" : "");
	snprintf(r->path, sizeof(r->path), "%s%s%s", dir,
		 dir[len - 1] == '/' ? "" : "/", r->name);
}

int rotation_open(struct rotation *r)
{
	int fd, i;

	for (i = 0; i < NAMES_MAX; i++) {
		r->number++;
		make_name(r);
		/* the log has kernel addresses: only the user may read it */
		fd = openat(r->fd, r->name,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* Some file systems (NFS) cannot rename without replacing. */
static int move(int dir, const char *from, const char *to)
{
	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	return linkat(dir, from, dir, to, 0) || unlinkat(dir, from, 0) ? -1 : 0;
}

int rotation_adopt(struct rotation *r, const char *name)
{
	int i;

	for (i = 0; i < NAMES_MAX; i++) {
		r->number++;
		make_name(r);
		if (!move(r->fd, name, r->name))
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
}

void rotation_begun(struct rotation *r, int fd)
{
	r->begin = size_of(fd);
	r->since = now_ns();
}

static uint64_t end_of_time(const struct rotation *r)
{
	return r->since + (uint64_t)(r->o->rotate_seconds * NS_PER_S);
}

/*
 * The initial records of a file may exceed the requested size.  A file holds at
 * least twice their size, so that it has samples, too.
 */
int rotation_due(const struct rotation *r, int fd)
{
	uint64_t size;

	if (r->o->rotate_seconds > 0 && now_ns() >= end_of_time(r))
		return 1;
	if (!r->o->rotate_size)
		return 0;
	size = size_of(fd);
	return size >= r->o->rotate_size && size >= 2 * r->begin;
}

uint64_t rotation_next(const struct rotation *r)
{
	uint64_t next = 0, look = now_ns() + LOOK_NS;

	if (r->o->rotate_seconds > 0)
		next = end_of_time(r);
	if (r->o->rotate_size && (!next || look < next))
		next = look;
	return next;
}

/* Removes the oldest file; it may be gone already. */
static void drop_oldest(struct rotation *r)
{
	char *name = r->files[0];

	if (unlinkat(r->fd, name, 0) && errno != ENOENT && !r->o->quiet)
		warn_line("cannot remove %s: %s", name, strerror(errno));
	free(name);
	memmove(r->files, r->files + 1, --r->nfiles * sizeof(*r->files));
}

void rotation_keep(struct rotation *r)
{
	char *name = strdup(r->name);
	char **files = realloc(r->files, (r->nfiles + 1) * sizeof(*files));

	if (!name || !files)
		die(EX_OSERR, "out of memory");
	r->files = files;
	files[r->nfiles++] = name;
	r->written++;
	while (r->o->keep && r->nfiles > r->o->keep)
		drop_oldest(r);
}

void rotation_undo(struct rotation *r)
{
	unlinkat(r->fd, r->name, 0);
}

void rotation_free(struct rotation *r)
{
	size_t i;

	for (i = 0; i < r->nfiles; i++)
		free(r->files[i]);
	free(r->files);
	if (r->o)
		close(r->fd);
	memset(r, 0, sizeof(*r));
}
