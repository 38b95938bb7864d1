// SPDX-License-Identifier: BSD-2-Clause
/*
 * Removes the least recently used tables when a cache of unwind tables is full.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpmc_unwind_cache.h"

#define LIST_EACH	32		/* tables */

struct entry {
	char		name[NAME_MAX + 1];
	struct timespec	used;
	uint64_t	size;
};

struct entries {
	struct entry	*entry;
	size_t		n, room;
	uint64_t	size;
};

static int add(struct entries *all, int dir, const char *name)
{
	struct stat st;
	struct entry *more;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	if (all->n == all->room) {
		more = reallocarray(all->entry, all->room * 2 + 64,
				    sizeof(*more));
		if (!more)
			return -1;
		all->entry = more;
		all->room = all->room * 2 + 64;
	}
	more = &all->entry[all->n++];
	strcpy(more->name, name);
	more->used = st.st_mtim;
	more->size = (uint64_t)st.st_size;
	all->size += more->size;
	return 0;
}

static int list(struct entries *all, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	int status = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (!status && (de = readdir(d)))
		status = add(all, dir, de->d_name);
	closedir(d);
	return status;
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used;
	const struct timespec *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec > y->tv_sec ? 1 : -1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* If the files exceed @max bytes, removes files until they have @spare less than @max. */
static int evict(int dir, uint64_t max, uint64_t spare, uint64_t *size)
{
	struct entries all = { 0 };
	int status = list(&all, dir);
	size_t i;

	if (!status && all.size > max) {
		max -= spare < max ? spare : max;
		qsort(all.entry, all.n, sizeof(*all.entry), by_use);
		for (i = 0; i < all.n && all.size > max; i++) {
			if (!unlinkat(dir, all.entry[i].name, 0))
				all.size -= all.entry[i].size;
		}
		status = all.size > max ? -1 : 0;
	}
	*size = all.size;
	free(all.entry);
	return status;
}

/*
 * State of the last cache that a table was put into: it has @room for more bytes, and
 * is listed again after @puts more tables.
 */
static struct {
	pthread_mutex_t	lock;
	dev_t		dev;
	ino_t		ino;
	uint64_t	max;
	uint64_t	room;
	unsigned int	puts;
} last = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Removes more than needed; else a full cache would be listed for each table. */
static int look(const struct stat *st, int dir, uint64_t len, uint64_t max)
{
	uint64_t size;

	last.puts = 0;
	if (len > max || evict(dir, max - len, max / 16, &size))
		return -1;
	last.dev = st->st_dev;
	last.ino = st->st_ino;
	last.max = max;
	last.room = max - size;
	last.puts = LIST_EACH;
	return 0;
}

int pmc_unwind_cache_room(int dir, uint64_t len, uint64_t max)
{
	struct stat st;
	int status = 0;

	if (fstat(dir, &st))
		return -1;
	pthread_mutex_lock(&last.lock);
	if (!last.puts || last.dev != st.st_dev || last.ino != st.st_ino ||
	    last.max != max || last.room < len)
		status = look(&st, dir, len, max);
	if (!status) {
		last.room -= len;
		last.puts--;
	}
	pthread_mutex_unlock(&last.lock);
	return status;
}
