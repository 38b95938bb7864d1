// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes unwind tables for files that processes have mapped as code, before they are
 * sampled, the most-mapped files first; or for files that a command will map.  A thread
 * does it, because files may be slow, and many.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hwpmc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "libpmc_command.h"
#include "libpmc_mapped.h"
#include "libpmc_unwind.h"
#include "pmc.h"

/* Further tables are made when the module asks for them. */
#define BYTES_MAX	(64U << 20)
/* For a user with a limit: leaves room for the tables of sampled files. */
#define BYTES_MAX_USER	(16U << 20)
/* A small table may fit where a large one does not; try a few. */
#define MISFITS_MAX	4
#define END_MS		1000

/**
 * struct pmc_preload - a thread at work
 * @device: the owner's descriptor; after the owner is closed, another file may have its
 *	number
 * @giving: held for each use of @device; the thread checks @stop first.  A caller that
 *	sets @stop and then takes @giving knows that @device is no longer used.
 *	The thread may hang in a file for ever, so it does not hold @giving while it
 *	opens or reads one.  It has no descriptor of its own either: a hanging thread
 *	would keep the owner open, and its recording
 * @path: of a command, with its environment; else NULL
 * @stop: tells the thread to end
 * @misfits: number of tables that did not fit
 * @done: set by the thread at its end; under @lock, with @did
 */
struct pmc_preload {
	int		device;
	int		*pids;
	size_t		npids;
	char		*path;
	char		**env;
	uint64_t	max;
	unsigned int	misfits;
	pthread_mutex_t	giving;
	atomic_int	stop;
	pthread_t	thread;
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	int		done;
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

	pthread_mutex_lock(&p->giving);
	if (!p->stop)
		err = ioctl(p->device, HWPMC_IOC_UNWINDTABLE, &a) ? errno : 0;
	pthread_mutex_unlock(&p->giving);
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

	p->did.processes = pmc_mapped_find(&all, p->pids, p->npids, &p->stop);
	for (i = 0; i < all.n && !status && !p->stop; i++) {
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
		.path = p->path, .env = p->env, .stop = &p->stop,
		.file = give_one, .arg = p,
	};

	pmc_command_files(&c);
}

static void *run(void *arg)
{
	struct pmc_preload *p = arg;

	if (!give_vdso(p)) {
		if (p->path)
			give_command(p);
		else
			give_all(p);
	}
	pthread_mutex_lock(&p->lock);
	p->done = 1;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void free_preload(struct pmc_preload *p)
{
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->giving);
	free(p->pids);
	free(p->path);
	free(p->env);
	free(p);
}

static struct pmc_preload *new_preload(const struct pmc_owner *owner)
{
	struct pmc_preload *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;

	if (!p)
		return NULL;
	p->device = pmc_owner_fd(owner);
	p->max = geteuid() ? BYTES_MAX_USER : BYTES_MAX;
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->giving, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	return p;
}

/* The thread blocks signals, for the caller's threads.  @p, or NULL with errno */
static struct pmc_preload *begin(struct pmc_preload *p)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		return p;
	free_preload(p);
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
		free_preload(p);
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
	free_preload(p);
	return NULL;
}

static int wait_ms(struct pmc_preload *p, unsigned int ms)
{
	struct timespec until;
	int err = 0, done;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&p->lock);
	while (!p->done && !err)
		err = pthread_cond_timedwait(&p->changed, &p->lock, &until);
	done = p->done;
	pthread_mutex_unlock(&p->lock);
	return done;
}

int pmc_preload_wait(struct pmc_preload *p, unsigned int ms,
		     struct pmc_preloaded *did)
{
	int done = wait_ms(p, ms);

	if (done && did)
		*did = p->did;
	return done;
}

void pmc_preload_end(struct pmc_preload *p)
{
	if (!p)
		return;
	p->stop = 1;
	/* wait for a table that is being supplied */
	pthread_mutex_lock(&p->giving);
	pthread_mutex_unlock(&p->giving);
	if (wait_ms(p, END_MS)) {
		pthread_join(p->thread, NULL);
		free_preload(p);
	} else {
		/* the thread hangs in a file system: leave it */
		pthread_detach(p->thread);
	}
}
