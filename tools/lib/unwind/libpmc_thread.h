/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that opens and reads files of strangers.  It may hang in one for ever: its
 * server is gone, or answers nobody.  Who ends it does not wait for that.
 */
#ifndef LIBPMC_THREAD_H
#define LIBPMC_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/**
 * struct pmc_thread - first in what the thread works on
 * @using: held for each use of the owner's descriptor; the thread checks @stop first.
 *	A caller that sets @stop and then takes @using knows that the descriptor is not
 *	used any more: after the owner is closed, another file may have its number.
 *	The thread does not hold it while it opens or reads a file.  It has no
 *	descriptor of its own either: while it hangs, that would keep the owner open,
 *	and its recording
 * @stop: tells the thread to end
 * @free: frees all, with what @stop and @using are in
 * @pid: a process that is forked does not have the thread
 * @done: set by the thread at its end; under @lock, as @left
 * @left: nobody waits for it any more: it frees all at its end
 */
struct pmc_thread {
	pthread_mutex_t	using;
	atomic_int	stop;
	pid_t		pid;
	pthread_t	thread;
	void		(*run)(struct pmc_thread *t);
	void		(*free)(struct pmc_thread *t);
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	int		done;
	int		left;
};

void pmc_thread_init(struct pmc_thread *t,
		     void (*run)(struct pmc_thread *t),
		     void (*free)(struct pmc_thread *t));
/* 0, or an errno: then the caller frees @t */
int pmc_thread_begin(struct pmc_thread *t);
/* 1 if it has come to its end, within @ms milliseconds */
int pmc_thread_wait(struct pmc_thread *t, unsigned int ms);
/*
 * For threads that read files of many processes, one after another, some of which may
 * hang: two seconds for all that do together, at least 0.1 s for each one, and 10 ms for
 * each when ten seconds have been waited.  @waited: in milliseconds, by all calls; the
 * caller begins with 0.
 */
int pmc_thread_patient(struct pmc_thread *t, unsigned int *waited);
/* It uses the owner no more when this returns, and all is freed now or at its end. */
void pmc_thread_end(struct pmc_thread *t);
/* Likewise, for a caller that has waited for it already. */
void pmc_thread_leave(struct pmc_thread *t);
/* What @free has to call. */
void pmc_thread_destroy(struct pmc_thread *t);

#endif
