/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files for actors to log to, of all kinds, with who reads them.
 */
#ifndef TEST_ACTORLOG_H
#define TEST_ACTORLOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "logfile.h"
#include "rng.h"

struct actor;

/* What a reader does.  All end with the storm. */
enum manner {
	READS,
	READS_ON_AND_OFF,
	READS_LATE,
	READS_A_LITTLE,			/* and closes its end */
	READS_NOT,
	MANNERS
};

struct log_reader;

/**
 * struct actor_log
 * @fd: to be given to the device, then closed; may be no descriptor at all
 * @file: to be read afterwards, or -1
 * @reader: reads meanwhile, or NULL
 * @may_wait: writing to it may take for ever
 */
struct actor_log {
	int		fd;
	int		file;
	struct log_reader *reader;
	bool		may_wait;
};

/* Any kind; @device is a descriptor of the device. */
void actorlog_any(struct actor *a, struct rng *r, struct actor_log *l,
		  int device);
/* Something that takes all that is written. */
void actorlog_good(struct actor *a, struct rng *r, struct actor_log *l);

/* What is read from @device, which is duplicated; false: nobody would. */
bool actorlog_stream(struct actor *a, struct rng *r, struct actor_log *l,
		     int device);

/* Waits for the reader's end; whether all that was written is in @log. */
bool actorlog_load(struct actor_log *l, struct log *log);
/* All readers have ended. */
void actorlog_wait(void);

/* A log that may end anywhere, so far as @fd has it. */
void actorlog_check_cut(const struct actor *a, int fd);
void actorlog_check(const struct actor *a, struct log *log, bool whole);

#endif /* TEST_ACTORLOG_H */
