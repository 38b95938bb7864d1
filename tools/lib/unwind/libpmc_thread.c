// SPDX-License-Identifier: BSD-2-Clause
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "libpmc_thread.h"

/* For a file that is slow only: the caller's process may be about to end. */
#define END_MS		1000

/* pmc_thread_patient() */
#define PATIENCE	2000
#define PATIENCE_MIN	100
#define PATIENCE_ALL	10000
#define PATIENCE_LEFT	10

static void *run(void *arg)
{
	struct pmc_thread *t = arg;
	int left;

	t->run(t);
	pthread_mutex_lock(&t->lock);
	t->done = 1;
	left = t->left;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	/* otherwise all belongs to the one who joins it */
	if (left)
		t->free(t);
	return NULL;
}

void pmc_thread_init(struct pmc_thread *t,
		     void (*what)(struct pmc_thread *t),
		     void (*done)(struct pmc_thread *t))
{
	pthread_condattr_t attr;

	t->run = what;
	t->free = done;
	t->pid = getpid();
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->using, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void pmc_thread_destroy(struct pmc_thread *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->using);
}

/* The thread blocks signals: they are for the caller's threads. */
int pmc_thread_begin(struct pmc_thread *t)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&t->thread, NULL, run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* t->lock */
static int wait_locked(struct pmc_thread *t, unsigned int ms)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (!t->done && !err)
		err = pthread_cond_timedwait(&t->changed, &t->lock, &until);
	return t->done;
}

int pmc_thread_wait(struct pmc_thread *t, unsigned int ms)
{
	int done;

	pthread_mutex_lock(&t->lock);
	done = wait_locked(t, ms);
	pthread_mutex_unlock(&t->lock);
	return done;
}

static unsigned int now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned int)now.tv_sec * 1000 + (unsigned int)(now.tv_nsec / 1000000);
}

static unsigned int patience(unsigned int waited)
{
	if (waited < PATIENCE)
		return PATIENCE_MIN + PATIENCE - waited;
	return waited < PATIENCE_ALL ? PATIENCE_MIN : PATIENCE_LEFT;
}

int pmc_thread_patient(struct pmc_thread *t, unsigned int *waited)
{
	unsigned int began = now_ms();
	int done = pmc_thread_wait(t, patience(*waited));

	if (!done)
		*waited += now_ms() - began;
	return done;
}

static void end(struct pmc_thread *t, unsigned int ms)
{
	int done;

	/* a child of fork(2): locks may be held by a thread that it does not have */
	if (getpid() != t->pid)
		return;
	t->stop = 1;
	/* wait for a use that has begun */
	pthread_mutex_lock(&t->using);
	pthread_mutex_unlock(&t->using);
	pthread_mutex_lock(&t->lock);
	done = wait_locked(t, ms);
	if (!done) {
		/* it hangs in a file, or has a large one */
		t->left = 1;
		pthread_detach(t->thread);
	}
	pthread_mutex_unlock(&t->lock);
	if (!done)
		return;
	pthread_join(t->thread, NULL);
	t->free(t);
}

void pmc_thread_end(struct pmc_thread *t)
{
	end(t, END_MS);
}

void pmc_thread_leave(struct pmc_thread *t)
{
	end(t, 0);
}
