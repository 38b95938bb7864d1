/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes and threads that are made while somebody watches, and who they were:
 * a table in shared memory that each of them enters itself in.
 */
#ifndef TEST_FAMILY_H
#define TEST_FAMILY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FAMILY_MAX	2048

/**
 * struct member
 * @parent: who made it
 * @tid: of a thread; a process: its pid
 * @exec: it runs another program
 */
struct member {
	uint32_t	pid;
	uint32_t	parent;
	uint32_t	tid;
	bool		exec;
};

/**
 * struct family
 * @n: places that are taken; one whose process was killed may be empty
 * @complete: how many are filled: to wait for
 */
struct family {
	_Atomic unsigned int n;
	_Atomic unsigned int complete;
	struct member	m[FAMILY_MAX];
};

struct family *family_new(void);
void family_kill(const struct family *f);
/* The caller, made by process @parent. */
void family_enter(struct family *f, uint32_t parent, bool exec);

/* Ways to make a child. */
enum birth {
	BIRTH_FORK,
	BIRTH_VFORK,
	BIRTH_SAME_MEMORY,	/* CLONE_VM, a process of its own */
	BIRTH_SIBLING,		/* CLONE_PARENT: not the caller's to wait for */
	BIRTHS
};

/* The child enters itself, faults @pages pages and exits with 0. */
pid_t family_child(struct family *f, enum birth how, unsigned int pages);
/* @depth generations, each made by the one before; all fault @pages. */
void family_line(struct family *f, unsigned int depth, unsigned int pages);
/* A thread that enters itself and faults @pages; joined. */
void family_thread(struct family *f, unsigned int pages);
/* A child that runs @program, without arguments; waited for. */
void family_exec(struct family *f, const char *program);

#endif /* TEST_FAMILY_H */
