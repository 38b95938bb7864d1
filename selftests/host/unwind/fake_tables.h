/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that takes unwind tables, as the module does: copies, checks and keeps
 * them.  For programs that link with libpmc.a: these go before the library's.
 */
#ifndef FAKE_TABLES_H
#define FAKE_TABLES_H

#include <errno.h>
#include <linux/hwpmc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/unwind/unwind_table.h"
#include "abort.h"
#include "pmc.h"

#define FAKE_DEVICE	987
#define FAKE_MAX	4096

struct pmc_owner {
	int	fd;
};

struct fake_table {
	dev_t	dev;
	ino_t	ino;
	size_t	len;
	void	*data;
};

/**
 * struct fake - what has been given
 * @vdso, @asked: how often that, and all
 * @err:  of all but the vdso; of all if @deaf
 * @nap:  microseconds that each takes
 */
static struct fake {
	struct fake_table table[FAKE_MAX];
	unsigned int	n, vdso, asked, twice, bad;
	int		err, deaf;
	unsigned int	nap;
} fake;

int pmc_owner_fd(const struct pmc_owner *o)
{
	return o->fd;
}

static int fake_keep(const struct hwpmc_unwindtable *a)
{
	struct fake_table *t = &fake.table[fake.n];
	struct unwind_table view;
	struct stat st;
	unsigned int i;

	if (fstat((int)a->fd, &st) || !S_ISREG(st.st_mode))
		return EINVAL;
	for (i = 0; i < fake.n; i++)
		fake.twice += fake.table[i].ino == st.st_ino &&
			      fake.table[i].dev == st.st_dev;
	*t = (struct fake_table){ st.st_dev, st.st_ino, a->len, NULL };
	if (a->len) {
		t->data = malloc(a->len);
		memcpy(t->data, (void *)(uintptr_t)a->data, a->len);
		fake.bad += hwpmc_unwind_table_check(&view, t->data, a->len,
						     EM_X86_64) &&
			    hwpmc_unwind_table_check(&view, t->data, a->len,
						     EM_AARCH64);
	}
	fake.n += fake.n + 1 < FAKE_MAX;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct hwpmc_unwindtable *a;
	va_list ap;
	int err;

	va_start(ap, request);
	a = va_arg(ap, void *);
	va_end(ap);
	abort_if(fd != FAKE_DEVICE || request != HWPMC_IOC_UNWINDTABLE);
	fake.asked++;
	if (fake.nap)
		usleep(fake.nap);
	if (a->flags & HWPMC_UNWIND_VDSO) {
		fake.vdso++;
		err = fake.deaf ? fake.err : 0;
	} else {
		err = fake.err ? fake.err : fake_keep(a);
	}
	errno = err;
	return err ? -1 : 0;
}

__attribute__((unused))
static const struct fake_table *fake_find(const struct stat *st)
{
	unsigned int i;

	for (i = 0; i < fake.n; i++)
		if (fake.table[i].ino == st->st_ino &&
		    fake.table[i].dev == st->st_dev)
			return &fake.table[i];
	return NULL;
}

static void fake_reset(void)
{
	unsigned int i;

	for (i = 0; i < fake.n; i++)
		free(fake.table[i].data);
	memset(&fake, 0, sizeof(fake));
}

#endif /* FAKE_TABLES_H */
