// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes unwind tables for files that processes have mapped as code, before they are
 * sampled, the most-mapped files first; or for files that a command will map.  A thread
 * does it, because files may be slow, and many.
 */
#include <errno.h>
#include <linux/hwpmc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libpmc_command.h"
#include "libpmc_mapped.h"
#include "libpmc_thread.h"
#include "libpmc_unwind.h"
#include "pmc.h"

/* Further tables are made when the module asks for them. */
#define BYTES_MAX	(64U << 20)
/* For a user with a limit: leaves room for the tables of sampled files. */
#define BYTES_MAX_USER	(16U << 20)
/* A small table may fit where a large one does not; try a few. */
#define MISFITS_MAX	4

/**
 * struct pmc_preload - a thread at work
 * @device: the owner's descriptor
 * @path: of a command, with its environment; else NULL
 * @misfits: number of tables that did not fit
 * @did: the thread's until it is done
 */
struct pmc_preload {
	struct pmc_thread t;
	int		device;
	int		*pids;
	size_t		npids;
	char		*path;
	char		**env;
	uint64_t	max;
	unsigned int	misfits;
	struct pmc_preloaded did;
};

static int give(struct pmc_preload *p, int fd, uint32_t flags,
		const struct pmc_unwind *t)
{
	struct hwpmc_unwindtable a = {
		.fd = fd, .flags = flags, .data = (uintptr_t)t->table,
		.len = t->len,
	};
	int err = ECANCELED;

	pthread_mutex_lock(&p->t.using);
	if (!p->t.stop)
		err = ioctl(p->device, HWPMC_IOC_UNWINDTABLE, &a) ? errno : 0;
	pthread_mutex_unlock(&p->t.using);
	return err;
}

/* Supplies the vdso's table, to see if the device takes tables; it may have this one. */
static int give_vdso(struct pmc_preload *p)
{
	struct pmc_unwind t;
	int err;

	if (pmc_unwind_vdso(&t)) {
		if (errno != ENOEXEC)
			return -1;
		t = (struct pmc_unwind){ 0 };
	}
	err = give(p, -1, HWPMC_UNWIND_VDSO, &t);
	pmc_unwind_free(&t);
	return !err || err == EEXIST ? 0 : -1;
}

/* Returns 0 or an errno, ENOSPC if the budget is used up */
static int give_table(struct pmc_preload *p, int fd, const struct pmc_unwind *t)
{
	int err;

	if (p->did.bytes + t->len > p->max)
		return ++p->misfits < MISFITS_MAX ? 0 : ENOSPC;
	err = give(p, fd, 0, t);
	if (!err && t->len) {
		p->did.bytes += t->len;
		p->did.objects++;
	}
	return err;
}

/* -1: there is no room for more */
static int give_file(struct pmc_preload *p, int fd)
{
	struct pmc_unwind t = { 0 };
	int err;

	if (pmc_unwind_of(fd, &t) && errno != ENOEXEC)
		return 0;
	err = give_table(p, fd, &t);
	pmc_unwind_free(&t);
	/* with any other error, the next object may succeed */
	return err == EDQUOT || err == ENOSPC || err == ENOMEM ? -1 : 0;
}

static void give_all(struct pmc_preload *p)
{
	struct mapped all = { 0 };
	int fd, status = 0;
	size_t i;

	p->did.processes = pmc_mapped_find(&all, p->pids, p->npids, &p->t.stop);
	for (i = 0; i < all.n && !status && !p->t.stop; i++) {
		fd = pmc_mapped_open(&all.file[i]);
		if (fd < 0)
			continue;
		status = give_file(p, fd);
		close(fd);
	}
	pmc_mapped_free(&all);
}

static int give_one(void *arg, int fd, const char *path)
{
	(void)path;
	return give_file(arg, fd);
}

static void give_command(struct pmc_preload *p)
{
	const struct command c = {
		.path = p->path, .env = p->env, .stop = &p->t.stop,
		.file = give_one, .arg = p,
	};

	pmc_command_files(&c);
}

static void run(struct pmc_thread *t)
{
	struct pmc_preload *p = (struct pmc_preload *)t;

	if (give_vdso(p))
		return;
	if (p->path)
		give_command(p);
	else
		give_all(p);
}

static void free_preload(struct pmc_thread *t)
{
	struct pmc_preload *p = (struct pmc_preload *)t;

	pmc_thread_destroy(t);
	free(p->pids);
	free(p->path);
	free(p->env);
	free(p);
}

static struct pmc_preload *new_preload(const struct pmc_owner *owner)
{
	struct pmc_preload *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->device = pmc_owner_fd(owner);
	p->max = geteuid() ? BYTES_MAX_USER : BYTES_MAX;
	pmc_thread_init(&p->t, run, free_preload);
	return p;
}

/* @p, or NULL with errno */
static struct pmc_preload *begin(struct pmc_preload *p)
{
	int err = pmc_thread_begin(&p->t);

	if (!err)
		return p;
	free_preload(&p->t);
	errno = err;
	return NULL;
}

struct pmc_preload *pmc_preload_begin_max(struct pmc_owner *owner,
					  const int *pids, size_t n,
					  uint64_t max)
{
	struct pmc_preload *p = new_preload(owner);

	if (!p)
		return NULL;
	if (max)
		p->max = max;
	p->pids = malloc(n * sizeof(*pids) + 1);
	if (!p->pids) {
		free_preload(&p->t);
		return NULL;
	}
	if (n)
		memcpy(p->pids, pids, n * sizeof(*pids));
	p->npids = n;
	return begin(p);
}

struct pmc_preload *pmc_preload_begin(struct pmc_owner *owner, const int *pids,
				      size_t n)
{
	return pmc_preload_begin_max(owner, pids, n, 0);
}

struct pmc_preload *pmc_preload_command(struct pmc_owner *owner,
					const char *path)
{
	struct pmc_preload *p = new_preload(owner);

	if (!p)
		return NULL;
	p->path = strdup(path);
	p->env = pmc_loader_env();
	if (p->path && p->env)
		return begin(p);
	free_preload(&p->t);
	return NULL;
}

int pmc_preload_wait(struct pmc_preload *p, unsigned int ms,
		     struct pmc_preloaded *did)
{
	int done = pmc_thread_wait(&p->t, ms);

	if (done && did)
		*did = p->did;
	return done;
}

void pmc_preload_end(struct pmc_preload *p)
{
	if (p)
		pmc_thread_end(&p->t);
}
