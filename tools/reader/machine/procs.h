/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes by pid: their names and address spaces. */
#ifndef READER_PROCS_H
#define READER_PROCS_H

#include "base/strtab.h"
#include "machine/addrspace.h"

/**
 * struct proc - the process of a pid
 * @name:  string number, 0 while nothing is known
 * @named: the name was logged for this process and its current program; it is
 *         not a guess or its parent's
 * @jit:   number + 1 of the jitdump that it writes, 0: none
 * @born:  log clock at its fork or last exec, 0: before the log
 * @ended: it has exited; @as is its last one, for samples of the end of its address
 *         space, which from Linux 6.16 on come after the exit
 */
struct proc {
	uint32_t pid;
	uint32_t name;
	bool named;
	bool ended;
	uint32_t jit;
	uint64_t born;
	struct aspace *as;
};

#define PROCS_NEAR	256U	/* a power of 2 */
#define PROCS_ENDED	1024U	/* address spaces that are kept after the exit */

struct procs {
	struct proc *proc;
	uint32_t n, cap;
	uint32_t near[PROCS_NEAR];	/* by pid: the one looked up last */
	struct idtab tab;
	uint32_t ended[PROCS_ENDED];	/* the last ones */
	uint64_t nended;		/* how many there were */
};

/* Valid until the next call that may add a process. */
struct proc *procs_look_up(struct procs *t, struct strtab *str, uint32_t pid);
static inline struct proc *procs_get(struct procs *t, struct strtab *str, uint32_t pid)
{
	const uint32_t near = t->near[pid % PROCS_NEAR];

	if (t->n && t->proc[near].pid == pid)
		return &t->proc[near];
	return procs_look_up(t, str, pid);
}

void procs_fork(struct procs *t, struct strtab *str, uint32_t from,
		uint32_t to);
void procs_exec(struct proc *p, struct strtab *str, const char *path);
void procs_exit(struct procs *t, struct proc *p);
/* A record that only a process of now can have: @p is not one that has exited. */
void procs_lives(struct proc *p);
void procs_name(struct proc *p, struct strtab *str, const char *name);
/* String number of the name to show; made up if none was logged. */
uint32_t procs_shown_name(struct proc *p, struct strtab *str);
/* @born of a process, 0 also if there is none. */
uint64_t procs_born(const struct procs *t, uint32_t pid);
/* Address space of a process; NULL also if there is no such process. */
const struct aspace *procs_space(const struct procs *t, uint32_t pid);
/* Forgets all processes. */
void procs_forget(struct procs *t);
void procs_free(struct procs *t);

#endif /* READER_PROCS_H */
