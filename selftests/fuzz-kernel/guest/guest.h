/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's half of the fuzzer.
 *
 * A supervisor (main.c) talks to the host.  For each user there is an executor
 * (executor.c), a process that runs one program after the other: its main thread
 * waits and clears up, worker 0 runs the program, workers 1 and 2 what it leaves
 * to them.  All that they know of the program under way is in struct shared,
 * which children see too.
 */
#ifndef FUZZ_GUEST_H
#define FUZZ_GUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "../program.h"

#define WORKERS		3
#define CHILDREN	6		/* whose coverage is noted */
#define COVERS		(WORKERS + CHILDREN)
#define COVER_WORKER	0
#define COVER_CHILD	WORKERS

#define KEYS		(1U << 15)

#define DEVS		4
#define PMCS		8
#define LOGS		4
#define PIDS		8
#define NEXTS		4

/* where the time of a program goes: its end tells (main.c) */
#define PHASES(X) X(RUN, running) X(KILL, ending) X(CLOSE, closing)	\
	X(IDLE, idle) X(LOGS, logs) X(REST, rest)

enum phase {
#define X(phase, name) PHASE_##phase,
	PHASES(X)
#undef X
	PHASES_
};

/* descriptors from here on are ours, not the program's */
#define FD_OWN		100
#define FD_DEEP		(FD_OWN + 90)	/* a program with a long path */

/**
 * struct log_slot
 * @fd:    that the program logs to
 * @peer:  the other end of a pipe or socket, or -1
 * @uses:  how often it was given to the device
 * @sound: what is written to it stays there, and nobody else writes
 * @dev, @ino: of the file at @fd, while it is sound
 */
struct log_slot {
	int	fd;
	int	peer;
	dev_t	dev;
	ino_t	ino;
	atomic_uint uses;
	bool	sound;
};

/* The objects that UNWINDNEXT has returned */
struct next_slot {
	uint32_t id;
	int	fd;
};

/**
 * struct shared - of a supervisor, its executors and their children
 * @set, @keys, @nkeys: coverage: a hash set, and its members in order
 * @at:     the operation that each cover is of
 * @child:  that many children so far
 * @outside, @outside_ended: that many children of outside.c's
 * @hotplugs, @machine: what machine_restore() has to put back
 * @cpu_group: an owner is for some CPUs: its log may have tasks without a name
 * @stop:   the program's time is over
 * @spent:  nanoseconds, of all programs
 */
struct shared {
	struct program	program;
	unsigned int	nops;

	_Atomic uint32_t set[KEYS];
	uint32_t	keys[KEYS];
	atomic_uint	nkeys;
	uint8_t		at[COVERS];

	int		dev[DEVS];
	uint32_t	pmc[PMCS];
	struct log_slot	log[LOGS];
	struct next_slot next[NEXTS];
	pid_t		pid[PIDS];
	atomic_uint	npids;
	atomic_uint	child;
	atomic_uint	hotplugs;
	atomic_uint	outside;
	atomic_uint	outside_ended;
	atomic_bool	machine;
	atomic_bool	cpu_group;
	atomic_bool	stop;
	char		trouble[400];
	uint64_t	spent[PHASES_];
};

extern struct shared *sh;

/* files.c */
int own(int fd);			/* the same from FD_OWN on; closes @fd */
bool write_file(const char *path, const char *text);
bool append_file(const char *path, const char *text);
int number_in(const char *path);	/* -1: there is none */

/* cover.c */
bool cover_init(void);			/* supervisor; false: the kernel cannot */
void cover_select(unsigned int user);	/* those of its executor */
void cover_self(unsigned int i);	/* the caller's is cover i from now on */
void cover_op(unsigned int i, unsigned int code);
void cover_result(unsigned int code, int err);
void cover_take(unsigned int i);
void cover_take_whole(void);		/* supervisor */
void cover_reset(void);

/* calls.c: the operations; @w: the worker, or COVER_CHILD and up in a child */
void calls_init(void);			/* supervisor, as root */
void calls_reset(void);
void call(const struct op *op);
void check_logs(void);
bool log_is_sound(const struct log_slot *l);

/* executor.c */
uint64_t now(void);			/* ns */
void executor(unsigned int user, int commands, int answers);
void run_range(unsigned int from, unsigned int to, unsigned int cover);
void run_child(const struct op *op, unsigned int from, unsigned int n);
void become(unsigned int user);
bool in_child(void);
int fail_nth_fd(void);

/* outside.c: processes of the first pid namespace; true: this one is one of them */
void outside_init(void);		/* supervisor */
void outside_begin(unsigned int at, unsigned int n);
void outside_end(void);
bool outside(void);

/* small.c: what is exec'd */
int small_main(int argc, char **argv);

#endif /* FUZZ_GUEST_H */
