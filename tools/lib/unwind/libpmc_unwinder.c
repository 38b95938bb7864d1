// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who answers the module: the caller, or a thread, for programs that must not hang in a
 * file of others.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libpmc_answer.h"
#include "libpmc_thread.h"
#include "libpmc_unwinder.h"
#include "pmc.h"

#define RETRY_MS	50	/* a failed request stays pending */
#define PAUSE_MS	250	/* poll(2) does not wait, or nothing can be asked */

int pmc_owner_unwind(struct pmc_owner *owner)
{
	struct pmc_answers *answers = pmc_owner_answers(owner);
	int device = pmc_owner_fd(owner), n = 0, err;
	struct hwpmc_unwindnext next = { 0 };
	struct pmc_unwind t;

	while (!ioctl(device, HWPMC_IOC_UNWINDNEXT, &next)) {
		err = pmc_answer_make(&next, &t);
		pmc_answer_give(answers, device, next.id, &t, err);
		if (next.fd >= 0)
			close(next.fd);
		next = (struct hwpmc_unwindnext){ 0 };
		n++;
	}
	return errno == EAGAIN ? n : -1;
}

/**
 * struct pmc_unwinder - a thread at work
 * @device: the owner's descriptor; used under t.using
 * @wake: eventfd: @t.stop has been set
 */
struct pmc_unwinder {
	struct pmc_thread t;
	int		device;
	int		wake;
	struct pmc_answers answers;
};

/*
 * If the user's rings have taken all that there is, the module cannot even note what it
 * wants, and never asks: the table that every process wants tells, or that there is
 * none: arm64's vdso may have no unwind information.
 */
static void try_vdso(struct pmc_unwinder *u)
{
	struct hwpmc_unwindtable a = { .fd = -1, .flags = HWPMC_UNWIND_VDSO };
	struct pmc_unwind t;
	int err = pmc_unwind_vdso(&t);

	if (!err) {
		a.data = (uintptr_t)t.table;
		a.len = t.len;
	}
	pthread_mutex_lock(&u->t.using);
	if (!u->t.stop && ioctl(u->device, HWPMC_IOC_UNWINDTABLE, &a) &&
	    errno == EDQUOT)
		u->answers.refused = EDQUOT;
	pthread_mutex_unlock(&u->t.using);
	if (!err)
		pmc_unwind_free(&t);
}

static void pause_for(struct pmc_unwinder *u, int ms)
{
	struct pollfd wake = { .fd = u->wake, .events = POLLIN };

	poll(&wake, 1, ms);
}

/*
 * t.using is held, also in poll(2), which keeps the file open: whoever wants it wakes
 * this thread first.
 */
static void wait_for_more(struct pmc_unwinder *u, int err)
{
	struct pollfd fds[] = {
		{ .fd = u->device, .events = POLLRDBAND },
		{ .fd = u->wake, .events = POLLIN },
	};

	if (err != EAGAIN) {
		pause_for(u, err == ENXIO ? PAUSE_MS : RETRY_MS);
		return;
	}
	poll(fds, 2, -1);
	/* POLLERR and POLLHUP stay: a target may yet be attached, with more objects */
	if (fds[0].revents && !(fds[0].revents & POLLRDBAND))
		pause_for(u, PAUSE_MS);
}

/* t.using is held, but not while the table is made. */
static void answer_one(struct pmc_unwinder *u,
		       const struct hwpmc_unwindnext *next)
{
	struct pmc_unwind t;
	int err;

	pthread_mutex_unlock(&u->t.using);
	err = pmc_answer_make(next, &t);
	if (next->fd >= 0)
		close(next->fd);
	pthread_mutex_lock(&u->t.using);
	if (u->t.stop)
		pmc_unwind_free(&t);
	else
		pmc_answer_give(&u->answers, u->device, next->id, &t, err);
}

static void run(struct pmc_thread *t)
{
	struct pmc_unwinder *u = (struct pmc_unwinder *)t;
	struct hwpmc_unwindnext next;
	int err = 0;

	try_vdso(u);
	pthread_mutex_lock(&t->using);
	while (!t->stop && err != ENOTTY) {
		next = (struct hwpmc_unwindnext){ 0 };
		err = ioctl(u->device, HWPMC_IOC_UNWINDNEXT, &next) ? errno : 0;
		if (err)
			wait_for_more(u, err);
		else
			answer_one(u, &next);
	}
	pthread_mutex_unlock(&t->using);
}

static void free_unwinder(struct pmc_thread *t)
{
	struct pmc_unwinder *u = (struct pmc_unwinder *)t;

	pmc_thread_destroy(t);
	if (u->wake >= 0)
		close(u->wake);
	free(u->answers.failed);
	free(u);
}

struct pmc_unwinder *pmc_unwinder_begin(struct pmc_owner *owner)
{
	struct pmc_unwinder *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return NULL;
	u->device = pmc_owner_fd(owner);
	u->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = u->wake < 0 ? errno : 0;
	pmc_thread_init(&u->t, run, free_unwinder);
	if (!err)
		err = pmc_thread_begin(&u->t);
	if (!err)
		return u;
	free_unwinder(&u->t);
	errno = err;
	return NULL;
}

int pmc_unwinder_refused(const struct pmc_unwinder *u)
{
	return u->answers.refused;
}

void pmc_unwinder_stop(struct pmc_unwinder *u)
{
	u->t.stop = 1;
	eventfd_write(u->wake, 1);
}

void pmc_unwinder_end(struct pmc_unwinder *u)
{
	/* a child of fork(2) shares the eventfd, but does not have the thread */
	if (!u || u->t.pid != getpid())
		return;
	pmc_unwinder_stop(u);
	pmc_thread_end(&u->t);
}
