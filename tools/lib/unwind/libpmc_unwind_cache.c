// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables on disk: $XDG_CACHE_HOME/hwpmc/unwind/BUILDID-HASH, a head and the
 * table for the module.  Files are written under another name and renamed.  Their
 * contents are not trusted: an invalid file is treated as missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../src/unwind/unwind_table.h"
#include "libpmc_unwind_cache.h"

#define MAGIC		0x43555048U	/* "HPUC" */
#define NAME_SIZE	(2 * ELFID_MAX + 1 + 16 + 1)
#define TABLE_MAX	(128ULL << 20)	/* the module's limit */
#define DAY		(24 * 60 * 60)

/*
 * @compiler: version of the table compiler, see tools/Makefile: tables may differ
 * @sum: of the table
 */
struct head {
	uint32_t	magic;
	uint32_t	compiler;
	struct unwind_key key;
	uint64_t	len;
	uint64_t	sum;
};

_Static_assert(sizeof(struct unwind_key) == 8 + ELFID_MAX + 8 * 8, "no gaps");
_Static_assert(sizeof(struct head) == 24 + sizeof(struct unwind_key), "no gaps");

/* ------------------------------------------------------------------------
 * Keys
 */
static uint64_t mix(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * 0x9e3779b97f4a7c15ULL;
	return lane ^ lane >> 29;
}

/* Four lanes, because processors multiply several numbers in parallel */
static uint64_t sum_of(const void *data, size_t len)
{
	uint64_t lane[4] = { len, 1, 2, 3 }, words[4];
	const unsigned char *p = data;
	size_t i;

	for (; len >= sizeof(words); p += sizeof(words), len -= sizeof(words)) {
		memcpy(words, p, sizeof(words));
		for (i = 0; i < 4; i++)
			lane[i] = mix(lane[i], words[i]);
	}
	memset(words, 0, sizeof(words));
	if (len)
		memcpy(words, p, len);
	for (i = 0; i < 4; i++)
		lane[i] = mix(lane[i], words[i]);
	return mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
}

int pmc_unwind_key(const struct elf *e, struct unwind_key *key)
{
	struct stat st;

	*key = (struct unwind_key){ .machine = e->machine };
	if (e->fd < 0 || fstat(e->fd, &st))
		return -1;
	key->idlen = pmc_elfid_of_file(e->fd, key->id);
	key->dev = st.st_dev;
	key->ino = st.st_ino;
	key->seconds = (uint64_t)st.st_ctim.tv_sec;
	key->nanoseconds = (uint64_t)st.st_ctim.tv_nsec;
	key->uid = st.st_uid;
	key->size = (uint64_t)st.st_size;
	key->segments = sum_of(e->phdr, e->nphdr * SIZE(e, Phdr));
	if (e->shdr)
		key->sections = sum_of(e->shdr, e->nshdr * SIZE(e, Shdr));
	return key->idlen ? 0 : -1;
}

/* The coarse clock is the one that files get their times from. */
int pmc_unwind_key_is_settled(const struct unwind_key *key)
{
	struct timespec now;
	uint64_t s;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now))
		return 0;
	s = (uint64_t)now.tv_sec;
	if (!key->nanoseconds)		/* some file systems have whole seconds */
		return s > key->seconds + 2;
	return s > key->seconds || (s == key->seconds &&
				    (uint64_t)now.tv_nsec > key->nanoseconds);
}

static void name_of(const struct unwind_key *key, char name[NAME_SIZE])
{
	uint32_t i;

	for (i = 0; i < key->idlen; i++, name += 2)
		sprintf(name, "%02x", key->id[i]);
	sprintf(name, "-%016llx",
		(unsigned long long)sum_of(key, sizeof(*key)));
}

/* ------------------------------------------------------------------------
 * The directory
 */
/* A file that others own or may write to is not trusted. */
static int ours(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type &&
	       st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int checked(int fd)
{
	if (fd < 0 || ours(fd, S_IFDIR))
		return fd;
	close(fd);
	return -1;
}

/* Closes @parent. */
static int open_in(int parent, const char *name, int follow)
{
	int fd = -1;

	if (parent < 0)
		return -1;
	if (!mkdirat(parent, name, 0700) || errno == EEXIST)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
			    (follow ? 0 : O_NOFOLLOW));
	close(parent);
	return checked(fd);
}

/*
 * A user's own ~/.cache may be a symbolic link.  Under sudo(8) $HOME may be another
 * user's home, where links are not followed.
 */
static int open_base(void)
{
	const char *base = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	int fd;

	if (base && *base == '/') {
		mkdir(base, 0700);
		return checked(open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	}
	if (!home || *home != '/')
		return -1;
	fd = checked(open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return open_in(fd, ".cache", 1);
}

int pmc_unwind_cache_open(void)
{
	return open_in(open_in(open_base(), "hwpmc", 0), "unwind", 0);
}

/* ------------------------------------------------------------------------
 * Reading
 */
static int read_all(int fd, void *to, size_t len)
{
	unsigned char *p = to;
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = read(fd, p, len);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int head_ok(const struct head *h, const struct unwind_key *key, int fd)
{
	struct stat st;

	return h->magic == MAGIC && h->compiler == UNWIND_COMPILER &&
	       !memcmp(&h->key, key, sizeof(*key)) && h->len &&
	       h->len <= TABLE_MAX && !fstat(fd, &st) &&
	       (uint64_t)st.st_size == sizeof(*h) + h->len;
}

static int read_table(int fd, const struct unwind_key *key,
		      struct pmc_unwind *t)
{
	struct unwind_table view;
	struct head h;
	void *table;

	if (read_all(fd, &h, sizeof(h)) || !head_ok(&h, key, fd))
		return -1;
	table = malloc(h.len);
	if (!table)
		return -1;
	if (read_all(fd, table, h.len) || sum_of(table, h.len) != h.sum ||
	    hwpmc_unwind_table_check(&view, table, h.len, (u16)key->machine)) {
		free(table);
		return -1;
	}
	*t = (struct pmc_unwind){ table, h.len };
	return 0;
}

/* Updating the time once a day is enough to know which files are used. */
static void set_used(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_mtime + DAY < time(NULL))
		futimens(fd, NULL);
}

int pmc_unwind_cache_get(int dir, const struct unwind_key *key,
			 struct pmc_unwind *t)
{
	char name[NAME_SIZE];
	int fd, status = -1;

	*t = (struct pmc_unwind){ 0 };
	name_of(key, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (ours(fd, S_IFREG))
		status = read_table(fd, key, t);
	if (!status)
		set_used(fd);
	close(fd);
	return status;
}

/* ------------------------------------------------------------------------
 * Writing
 */
static int write_all(int fd, const void *from, size_t len)
{
	const unsigned char *p = from;
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = write(fd, p, len);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int write_table(int fd, const struct unwind_key *key,
		       const struct pmc_unwind *t)
{
	struct head h = {
		.magic = MAGIC, .compiler = UNWIND_COMPILER, .key = *key,
		.len = t->len, .sum = sum_of(t->table, t->len),
	};

	return write_all(fd, &h, sizeof(h)) || write_all(fd, t->table, t->len);
}

/* A longer file would end the process: SIGXFSZ. */
static int may_write(uint64_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && size <= limit.rlim_cur;
}

void pmc_unwind_cache_put(int dir, const struct unwind_key *key,
			  const struct pmc_unwind *t, uint64_t max)
{
	char name[NAME_SIZE], new[32];
	uint64_t random;
	int fd, failed;

	if (t->len > max / 4 ||		/* one table must not evict all others */
	    !may_write(sizeof(struct head) + t->len) ||
	    pmc_unwind_cache_room(dir, t->len + sizeof(struct head), max) ||
	    getrandom(&random, sizeof(random), GRND_NONBLOCK) !=
	    sizeof(random))
		return;
	sprintf(new, "new.%016llx", (unsigned long long)random);
	fd = openat(dir, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	name_of(key, name);
	failed = write_table(fd, key, t);
	failed |= close(fd);
	if (failed || renameat(dir, new, dir, name))
		unlinkat(dir, new, 0);
}
