/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actors: threads that do anything to /dev/hwpmc, in processes that can be
 * killed at any moment.  What an actor tries depends on the seed and its number
 * only; what comes of it on all the others.
 */
#ifndef TEST_ACTOR_H
#define TEST_ACTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actorlog.h"
#include "dev.h"
#include "rng.h"
#include "watch.h"

#define STORM_DIR	"/tmp/storm"
#define STORM_SMALL	"/tmp/storm-small"

#define ACTOR_THREADS	3	/* in a process */
#define ACTOR_DEVS	4	/* devices that a process' threads share */
#define ACTOR_IDS	8	/* PMCs they remember */
#define STORM_NOWNER	4096

/**
 * struct storm - shared by all processes
 * @seed, @round: what all numbers are made from
 * @sparse: few devices, and often none at all, so that the module can go
 * @mail: descriptors on their way from anybody to anybody
 * @owners: opened so far; the last STORM_NOWNER have a @may_wait: somebody has
 *	given it a log that may not take what it is given
 */
struct storm {
	struct watch	watch;
	uint64_t	seed;
	uint32_t	round;
	bool		sparse;
	int		mail[2];
	_Atomic bool	stop;
	_Atomic uint32_t owners;
	_Atomic bool	may_wait[STORM_NOWNER];

	_Atomic uint64_t steps, calls, good;
	_Atomic uint64_t whole_logs, cut_logs, samples;
	_Atomic uint64_t unloads;
	_Atomic unsigned int faults;
};

/* A device's descriptor; @owner tells the open file descriptions apart. */
struct dev {
	int		fd;		/* -1: none */
	uint32_t	owner;
};

/**
 * struct actor - one thread
 * @slot: of the watchdog
 * @step: how many it has taken
 */
struct actor {
	struct storm	*storm;
	unsigned int	slot;
	uint32_t	process, life, thread;
	uint64_t	step;
};

/* Body of a process, its @life-th; returns when the storm stops. */
void actor_process(struct storm *st, uint32_t process, uint32_t life);

/* actor.c: for its neighbours */
int actor_call(struct actor *a, struct dev d, const char *name,
	       enum patience patience, unsigned long cmd, void *arg);
#define CALL(a, d, name, patience, arg) \
	actor_call(a, d, #name, patience, HWPMC_IOC_##name, arg)
struct dev actor_open(struct actor *a);
/* One that is open, mostly. */
struct dev actor_pick(struct rng *r);
void actor_close(struct actor *a, int fd);
/* Says what is wrong, and keeps the log if there is one. */
void actor_fault(const struct actor *a, const char *what, struct log *log);

/* actorargs.c: arguments, from right to hostile */
int args_pid(struct rng *r);
struct hwpmc_allocate args_pmc(struct rng *r);
uint32_t args_records(struct rng *r, void *buf, uint32_t size);
struct hwpmc_condition args_condition(struct rng *r, int cgroup);
void args_spoil(struct rng *r, void *arg, uint32_t size);
void *args_bad_address(struct rng *r);

/* actorpmc.c: steps, and an id that mostly exists */
void actor_allocate(struct actor *a, struct rng *r);
void actor_attach(struct actor *a, struct rng *r);
void actor_start(struct actor *a, struct rng *r);
void actor_stop(struct actor *a, struct rng *r);
void actor_release(struct actor *a, struct rng *r);
void actor_setcount(struct actor *a, struct rng *r);
void actor_rw(struct actor *a, struct rng *r);
void actor_filter(struct actor *a, struct rng *r);
void actor_record(struct actor *a, struct rng *r);
uint32_t actor_pick_id(struct rng *r);

/* actorstream.c: steps */
void actor_stream(struct actor *a, struct rng *r);
void actor_read(struct actor *a, struct rng *r);

/* actorflight.c: steps */
void actor_flight(struct actor *a, struct rng *r);
void actor_snapshot(struct actor *a, struct rng *r);
void actor_exit_trigger(struct actor *a, struct rng *r);

/* actorsession.c: an owner that nobody else touches: its logs must be whole */
void session(struct actor *a, struct rng *r);

#endif /* TEST_ACTOR_H */
