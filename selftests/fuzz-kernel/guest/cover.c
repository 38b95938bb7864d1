// SPDX-License-Identifier: GPL-2.0-only
/*
 * What code of the module has been reached: by an operation, from KCOV (see the
 * kernel's Documentation/dev-tools/kcov.rst), and by a program at all, from the
 * module (see its coverage.c).
 *
 * A cover is noted for one task at a time, and so each executor has its own.  All
 * are opened by the supervisor, which may, and inherited.  A kernel may have no
 * KCOV: then only the module tells.
 */
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

#define WORDS	(1U << 15)
/* KCOV takes off what the kernel was moved by, which is a multiple of this */
#define KASLR	(2UL << 20)

static struct cover {
	int	fd;
	_Atomic unsigned long *area;	/* [0]: how many follow */
} all[USERS * COVERS], *covers = all;

static unsigned long text;
static bool works;		/* KCOV */

/* what the module tells: a byte for each so many of its text */
static struct {
	int	fd;
	unsigned long from;	/* the section .text, in bytes of it */
	unsigned char *bytes;
} whole = { .fd = -1 };

#if defined(__aarch64__)
#define STEP	4
#else
#define STEP	1
#endif
#define WHOLE_BYTES	(1U << 20)

static unsigned long text_address(void)
{
	FILE *f = fopen("/sys/module/hwpmc/sections/.text", "re");
	unsigned long addr = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lx", &addr) != 1)
		addr = 0;
	fclose(f);
	return addr;
}

static bool cover_open(struct cover *c)
{
	c->fd = own(open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC));
	if (c->fd < 0 || ioctl(c->fd, KCOV_INIT_TRACE, (unsigned long)WORDS))
		return false;
	c->area = mmap(NULL, WORDS * sizeof(long), PROT_READ | PROT_WRITE,
		       MAP_SHARED, c->fd, 0);
	return c->area != MAP_FAILED;
}

static bool whole_open(void)
{
	uint64_t begin;

	whole.fd = own(open("/sys/kernel/debug/hwpmc-coverage", O_RDWR));
	if (whole.fd < 0 || pread(whole.fd, &begin, 8, 0) != 8)
		return false;
	whole.from = text - begin;
	whole.bytes = calloc(1, WHOLE_BYTES + 8);
	return whole.bytes;
}

bool cover_init(void)
{
	unsigned int i;

	text = text_address();
	works = text;
	for (i = 0; i < USERS * COVERS && works; i++)
		works = cover_open(&all[i]);
	return (text && whole_open()) || works;
}

void cover_select(unsigned int user)
{
	covers = &all[user * COVERS];
}

void cover_self(unsigned int i)
{
	/* that of a child may still be used by one before it */
	if (works && ioctl(covers[i].fd, KCOV_ENABLE, KCOV_TRACE_PC) &&
	    i < COVER_CHILD)
		perror("KCOV_ENABLE");
}

static void add(uint32_t key)
{
	uint32_t h = key * 2654435761U >> 17, seen, n;

	for (n = 0; n < KEYS; n++, h = (h + 1) % KEYS) {
		seen = 0;
		if (atomic_compare_exchange_strong(&sh->set[h], &seen, key))
			break;
		if (seen == key)
			return;
	}
	n = atomic_fetch_add(&sh->nkeys, 1);
	if (n < KEYS)
		sh->keys[n] = key;
}

/* What came of an ioctl is as good as a place in the code. */
void cover_result(unsigned int code, int err)
{
	add(KEY(code, KEY_RESULT | (err & 0xFFF)));
}

/* Takes what cover @i has, for the operation that it was of. */
void cover_take(unsigned int i)
{
	struct cover *c = &covers[i];
	unsigned long n, at, last = 0;

	if (!works)
		return;
	n = c->area[0];
	for (at = 1; at <= n && at < WORDS; at++) {
		if (c->area[at] == last)
			continue;
		last = c->area[at];
		/* only the module is instrumented */
		add(KEY(sh->at[i], (last - text) % KASLR));
	}
	c->area[0] = 0;
}

void cover_op(unsigned int i, unsigned int code)
{
	cover_take(i);
	sh->at[i] = code;
}

/*
 * Takes what was reached by whatever there is.  That may be a work that an earlier
 * program has left.
 */
void cover_take_whole(void)
{
	uint64_t *word = (uint64_t *)whole.bytes;
	long n, i, at;

	if (!whole.bytes)
		return;
	n = pread(whole.fd, whole.bytes, WHOLE_BYTES, 8);
	(void)!pwrite(whole.fd, "", 1, 0);
	for (i = 0; i * 8 < n; i++)
		for (at = i * 8; word[i] && at < i * 8 + 8 && at < n; at++)
			if (whole.bytes[at])
				add(KEY(KEY_WHOLE, at * STEP - whole.from));
}

/* No program runs. */
void cover_reset(void)
{
	unsigned int i;

	memset(sh->set, 0, sizeof(sh->set));
	sh->nkeys = 0;
	for (i = 0; works && i < COVERS; i++)
		covers[i].area[0] = 0;
}
