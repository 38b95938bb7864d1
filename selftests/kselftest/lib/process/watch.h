/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A watchdog over calls into the kernel, of many threads and processes.
 *
 * Time is counted in the ticks of the watching thread, which competes for the
 * same CPUs as those it watches: on a slow or stalled machine a tick is longer.
 */
#ifndef TEST_WATCH_H
#define TEST_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WATCH_TICK_MS	10
#define WATCH_SIGNAL	SIGUSR1

enum patience {
	WAITS_NOT,		/* returns by itself */
	WAITS_SIGNAL,		/* may wait for ever, but a signal ends that */
	WAITS_KILL,		/* ... but death ends that */
};

struct watch_slot {
	const char	*_Atomic call;	/* NULL: in none */
	_Atomic uint64_t since;		/* tick */
	_Atomic pid_t	pid, tid;
	_Atomic int	patience;
	_Atomic uint64_t step;		/* of the actor, for whoever debugs */
	_Atomic bool	killed;		/* only that was left */
};

#define WATCH_NSLOT	64

/**
 * struct watch - shared by all processes
 * @paused: somebody holds what all wait for (a CPU goes or comes)
 * @limit: ticks a call should take; one that waits for death is killed then
 */
struct watch {
	_Atomic uint64_t now;
	_Atomic int	paused;
	uint64_t	limit;
	_Atomic unsigned int signals, kills;
	struct watch_slot slot[WATCH_NSLOT];
};

void watch_begin(struct watch *w, unsigned int slot, const char *call,
		 enum patience patience);
void watch_end(struct watch *w, unsigned int slot);

/*
 * One tick, about every WATCH_TICK_MS: wakes and kills who waits too long.
 * Returns a slot whose call does not end, or NULL.
 */
const struct watch_slot *watch_tick(struct watch *w);
/* The process is gone, and what its threads did. */
void watch_forget(struct watch *w, pid_t pid);

/* Prints what every task of the machine is doing in the kernel. */
void watch_dump(void);

#endif /* TEST_WATCH_H */
