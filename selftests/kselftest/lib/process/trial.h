/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trials of PMCATTACH.  The caller takes on a user's identity and attaches to a target
 * that has taken on another, as a child of the caller or not.
 */
#ifndef TEST_TRIAL_H
#define TEST_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIAL_USER	1000
#define TRIAL_OTHER	1001
#define TRIAL_FAILED	255	/* to become what was asked for */

/**
 * struct trial
 * @target: becomes what is attached to; NULL: the user
 * @caller: becomes who attaches; NULL: the user
 * @dev: what he attaches with; 0: he opens it himself
 * @alone: the target is not his child
 * @pid: to attach to instead, when not 0
 */
struct trial {
	bool (*target)(void);
	bool (*caller)(void);
	int dev;
	bool alone;
	pid_t pid;
};

bool trial_as_user(void);
bool trial_as_other(void);
bool trial_as_root(void);
/* A process that has become what @fn makes it; negative: it could not. */
pid_t trial_become(bool (*fn)(void));
/* A PMC of a process mode; 0 or a negative errno. */
int trial_counter(int dev, uint32_t caps, uint32_t *id);
/* 0 or the errno of attaching. */
int trial_run(struct trial t);
#define TRY(...)	trial_run((struct trial){ __VA_ARGS__ })
/* A process that has become what @fn makes it attaches to itself. */
int trial_oneself(bool (*fn)(void), int dev);
/* The caller's user attaches to the process that @find finds. */
int trial_found(pid_t (*find)(void));
/* A device that a process opens which has become what @fn (NULL: nothing) makes it. */
int trial_open_as(bool (*fn)(void));

#endif /* TEST_TRIAL_H */
