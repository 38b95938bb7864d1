// SPDX-License-Identifier: GPL-2.0-only
/*
 * What code of the module has been reached: KCOV, see the kernel's
 * Documentation/dev-tools/kcov.rst.
 *
 * A cover is noted for one task at a time, and so each executor has its own.  All
 * are opened by the supervisor, which may, and inherited.
 */
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <stdlib.h>
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
static bool works;

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
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	c->fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_OWN);
	close(fd);
	if (c->fd < 0 || ioctl(c->fd, KCOV_INIT_TRACE, (unsigned long)WORDS))
		return false;
	c->area = mmap(NULL, WORDS * sizeof(long), PROT_READ | PROT_WRITE,
		       MAP_SHARED, c->fd, 0);
	return c->area != MAP_FAILED;
}

bool cover_init(void)
{
	unsigned int i;

	text = text_address();
	for (i = 0; i < USERS * COVERS; i++)
		if (!cover_open(&all[i]))
			return false;
	works = text;
	return works;
}

void cover_select(unsigned int user)
{
	covers = &all[user * COVERS];
}

void cover_remote(unsigned int user)
{
	struct kcov_remote_arg arg = {
		.trace_mode = KCOV_TRACE_PC,
		.area_size = WORDS,
		.common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON,
						    user + 1),
	};

	if (works && ioctl(covers[COVER_REMOTE].fd, KCOV_REMOTE_ENABLE, &arg))
		perror("KCOV_REMOTE_ENABLE");
	sh->at[COVER_REMOTE] = KEY_REMOTE;
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

/* No program runs. */
void cover_reset(void)
{
	unsigned int i;

	for (i = 0; i < KEYS; i++)
		sh->set[i] = 0;
	sh->nkeys = 0;
	for (i = 0; works && i < COVERS; i++)
		covers[i].area[0] = 0;
}
