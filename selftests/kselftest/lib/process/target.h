/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that do what is to be measured, step by step: between the steps
 * they sleep, off their CPU, so that what is done to them meanwhile comes
 * exactly between.
 */
#ifndef TEST_TARGET_H
#define TEST_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct target
 * @go: a byte for each step, to the process; @back: from it, when it pauses
 */
struct target {
	pid_t		pid;
	int		go[2];
	int		back[2];
};

/*
 * A child that runs @body, and exits with what that returns.  It begins with a
 * pause; these functions return when it sleeps in it.
 */
bool target_begin(struct target *t, int (*body)(struct target *t, void *arg),
		  void *arg);
/* It goes on, and pauses again; false: it has not. */
bool target_step(struct target *t);
/* It goes on. */
void target_go(struct target *t);
/* Waits until it pauses again; false: it does not. */
bool target_paused(struct target *t);
/* It goes on to its end; the exit status as wait_for() has it. */
int target_end(struct target *t);
/* Killed wherever it is, and waited for, if it has begun. */
void target_kill(struct target *t);

/* Only the means, for a process that a target makes: target_pause() in it. */
bool target_prepare(struct target *t);
/* Waits until it sleeps there; its number is known then. */
bool target_arrived(struct target *t, const uint32_t *pid);

/* In the process: sleeps until it is to go on.  Returns 0, for a body that ends then. */
int target_pause(struct target *t);

/* Waits until a thread sleeps and is off its CPU; false: it is gone. */
bool wait_asleep(pid_t pid, pid_t tid);
/* ... in system call @nr */
bool wait_in_call(pid_t pid, pid_t tid, long nr);
/* Waits until a process is dead and not yet waited for. */
void wait_zombie(pid_t pid);
/* ... @ms at most */
bool wait_ended(pid_t pid, unsigned int ms);
/* Waits until another process has set @what in shared memory, @ms at most. */
bool wait_true(volatile bool *what, unsigned int ms);
/* The number of a process that was there a moment ago. */
pid_t gone_pid(void);

/*
 * @pages page faults: in a mapping made for it, one for each page.  The second
 * form takes memory of pages_new() from page @from on.
 */
void fault_pages(unsigned int pages);
char *pages_new(unsigned int pages);
void pages_touch(char *p, unsigned int from, unsigned int pages);

/* Computes for @ms of this thread's own time. */
void compute_ms(unsigned int ms);

/*
 * A process of that many executable mappings, whose path is long, which sleeps;
 * and its end, and the file's.
 */
pid_t mapper_begin(unsigned int maps);
void mapper_end(pid_t pid);

/*
 * A program of ours that reads its standard input to the end, then exits: runs
 * in the place of this process, with @input; does not return.
 */
void exec_waiter(const char *path, int input);

#endif /* TEST_TARGET_H */
