// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmclog_iter.h>

#include "log/mapped.h"

/* Bytes mapped in at once; several times the longest record. */
#define WINDOW	((size_t)1 << 20)

/* maximum number of mapped logs; further ones are read */
#define MAPS	4

/* start of a compressed stream */
#define ZSTD_MAGIC	0xFD2FB528U
#define ZSTD_SKIP	0x184D2A50U	/* and 15 more */

/**
 * struct mapped
 * @base, @len: the mapping
 * @filled:     end of the bytes populated so far
 * @freed:      end of the bytes released so far
 * @torn:       from this byte on zeros replace bytes that could not be read;
 *		UINT64_MAX: none do.  Set by the signal handler
 */
struct mapped {
	int fd;
	unsigned char *base;
	size_t len;
	size_t filled, freed;
	volatile uint64_t torn;
};

static struct mapped maps[MAPS];
static struct sigaction before;
static size_t page;

static struct mapped *map_of(const unsigned char *at)
{
	int i;

	for (i = 0; i < MAPS; i++)
		if (maps[i].base && at >= maps[i].base &&
		    (size_t)(at - maps[i].base) < maps[i].len)
			return &maps[i];
	return NULL;
}

/*
 * SIGBUS of a thread that touched a page beyond the end of the file, or one
 * that can't be read.  Maps zeros from there on, so one signal is enough.
 */
static void on_bus(int sig, siginfo_t *info, void *context)
{
	struct mapped *m = map_of(info->si_addr);
	int saved = errno;
	size_t at;

	(void)sig;
	(void)context;
	if (!m) {
		/* not ours: restore the old handler, which gets it next */
		sigaction(SIGBUS, &before, NULL);
		return;
	}
	at = (size_t)((unsigned char *)info->si_addr - m->base) & -page;
	if (mmap(m->base + at, m->len - at, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(EXIT_FAILURE);
	if (at < m->torn)
		m->torn = at;
	errno = saved;
}

static bool be_ready(void)
{
	struct sigaction act = { .sa_flags = SA_SIGINFO };

	if (page)
		return true;
	act.sa_sigaction = on_bus;
	sigemptyset(&act.sa_mask);
	if (sigaction(SIGBUS, &act, &before))
		return false;
	page = (size_t)sysconf(_SC_PAGESIZE);
	return true;
}

/* Only a file that is at its start and not compressed. */
static bool can_be_mapped(int fd, size_t *size)
{
	unsigned char magic[4];
	struct stat st;
	uint32_t word;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uintmax_t)st.st_size > SIZE_MAX / 2 || lseek(fd, 0, SEEK_CUR) ||
	    pread(fd, magic, sizeof(magic), 0) != sizeof(magic))
		return false;
	*size = (size_t)st.st_size;
	word = pmclog_get32(magic);
	return word != ZSTD_MAGIC && (word & ~15U) != ZSTD_SKIP;
}

struct mapped *mapped_open(int fd)
{
	struct mapped *m = maps;
	size_t size;
	void *base;

	while (m < maps + MAPS && m->base)
		m++;
	if (m == maps + MAPS || !can_be_mapped(fd, &size) || !be_ready())
		return NULL;
	base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return NULL;
	*m = (struct mapped){
		.fd = fd, .base = base, .len = size, .torn = UINT64_MAX,
	};
	return m;
}

/* The file has become longer. */
static int extend(struct mapped *m, size_t size)
{
	void *base = mremap(m->base, m->len, size, MREMAP_MAYMOVE);

	if (base == MAP_FAILED)
		return -1;
	m->base = base;
	m->len = size;
	return 0;
}

/* Populates the pages of [filled, @to), and releases those before @from. */
static void move(struct mapped *m, size_t from, size_t to)
{
	size_t end = (to + page - 1) & -page;

	from &= -page;
#ifdef MADV_POPULATE_READ
	if (end > m->filled)
		madvise(m->base + m->filled, end - m->filled,
			MADV_POPULATE_READ);
#endif
	if (from > m->freed)
		madvise(m->base + m->freed, from - m->freed, MADV_DONTNEED);
	m->filled = end;
	m->freed = from;
}

/* The error that read(2) reports for the unreadable part. */
static ssize_t unreadable(const struct mapped *m)
{
	char byte;

	if (pread(m->fd, &byte, 1, (off_t)m->torn) >= 0)
		errno = EIO;
	return -1;
}

ssize_t mapped_window(void *ctx, uint64_t offset, const unsigned char **p)
{
	struct mapped *m = ctx;
	struct stat st;
	size_t size, n;

	if (fstat(m->fd, &st))
		return -1;
	if ((uintmax_t)st.st_size > SIZE_MAX / 2) {
		errno = EFBIG;
		return -1;
	}
	size = (size_t)st.st_size;
	if (size <= offset)
		return 0;
	if (size > m->torn)
		return unreadable(m);
	if (size > m->len && extend(m, size))
		return -1;
	n = size - offset;
	if (n > WINDOW)
		n = WINDOW;
	move(m, (size_t)offset, (size_t)offset + n);
	*p = m->base + offset;
	return (ssize_t)n;
}

void mapped_close(struct mapped *m)
{
	if (!m)
		return;
	munmap(m->base, m->len);
	m->base = NULL;
}
