/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine that the tests run on: its speed, its CPUs, its /proc, and loads
 * for it.
 */
#ifndef TEST_GUEST_H
#define TEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Checkers make a kernel several times slower: HWPMC_SLOW, kmemleak or KCSAN. */
bool guest_is_slow(void);
/* @fast, or @slow there */
unsigned int scaled(unsigned int fast, unsigned int slow);
/* A number from the environment. */
unsigned long env_number(const char *name, unsigned long otherwise);

uint64_t now_ns(void);			/* CLOCK_MONOTONIC */
uint64_t raw_ns(void);			/* CLOCK_MONOTONIC_RAW, a log's clock */
uint64_t thread_ns(void);		/* CPU time of this thread */
void sleep_ms(unsigned int ms);
/* Looks for @cond, and again every 10 ms, for @ms at most; whether it is true. */
#define WAIT_UNTIL(cond, ms) ({						\
	unsigned int left_ = (ms) / 10;					\
	bool is_;							\
	while (!(is_ = (cond)) && left_--)				\
		sleep_ms(10);						\
	is_;								\
})

/* Online CPUs; numbers into @cpus. */
unsigned int online_cpus(int *cpus, unsigned int max);
void pin_to(int cpu);
/*
 * Switches @cpu on or off; a negative errno, or 0.  HWPMC_KEEP_CPUS: none is to be
 * switched.
 */
int cpu_set_online(int cpu, bool online);
/* CPUs that there can be, from 0 on. */
unsigned int cpus_possible(void);
unsigned int cpus_present(void);

/* First line of a file, without the newline; false when there is none. */
bool read_line(const char *path, char *buf, size_t size);
bool write_text(const char *path, const char *text);
/* The number behind @key (to its end) in a file of lines "key number". */
bool read_key(const char *path, const char *key, uint64_t *value);
uint64_t module_param(const char *name);
/* Symbol's address in /proc/kallsyms, 0: unknown. */
uint64_t kallsyms_addr(const char *symbol);
/* pid of a thread with this name, 0: none */
pid_t find_comm(const char *comm);
/* How many there are. */
unsigned int count_comm(const char *comm);
/* Directory with the test programs and the workloads. */
const char *program_dir(void);

/*
 * Loads, each a process that dies with its parent: @cpu < 0: not pinned.  They
 * run when the functions return.
 */
pid_t load_user(int cpu);		/* computes */
pid_t load_kernel(int cpu);		/* in system calls */
pid_t load_sleeper(int cpu);		/* mostly asleep: context switches */
void load_end(pid_t pid);
/* Drops all capabilities but these bits. */
int keep_caps(uint64_t caps);
/* Forks; the child dies with the parent. */
pid_t fork_bound(void);
/* A child that runs @fn on @cpu; it must not return. */
pid_t fork_pinned(int cpu, void (*fn)(void));
/* ... which goes on when it has begun: it has when this returns; -1: it could not. */
pid_t fork_begun(bool (*begin)(void *arg), void (*go_on)(void *arg), void *arg);
/* A mapping shared with children to come, zeroed; NULL: there is no memory. */
void *shared_memory(size_t size);

/* Waits; the exit status, 128 + signal, or -1. */
int wait_for(pid_t pid);
/* ... of a child that does no more than @expr, which is its status. */
#define IN_CHILD(expr) ({						\
	pid_t child_ = fork_bound();					\
	if (!child_)							\
		_exit(expr);						\
	wait_for(child_);						\
})

/* A temporary file, unlinked; a path on a tmpfs of @bytes, mounted for it. */
int temp_file(void);
bool small_tmpfs(const char *dir, size_t bytes);

#endif /* TEST_GUEST_H */
