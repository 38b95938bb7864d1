/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failures on demand: the kernel's fault injection.
 *
 * One kind of call can fail at a time, either everywhere or only on the way
 * from some code: then its address is in the call chain.
 */
#ifndef TEST_INJECT_H
#define TEST_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum inject_kind {
	INJECT_MEMORY,		/* slab objects and pages */
	INJECT_COPY,		/* from and to user space */
};

struct code {
	uint64_t	start;
	uint64_t	end;
};

/* A function of the kernel or of a module; the text of our module. */
bool code_of_function(const char *name, struct code *c);
bool code_of_module(struct code *c);

/*
 * Whether this kernel has it; then it is silent from now on.  What the checkers
 * allocate for themselves does not fail.
 */
bool inject_init(void);

/* What fails from now on; @from NULL: wherever it is called. */
void inject_select(enum inject_kind kind, const struct code *from);

/*
 * The @nth such call of thread @tid (0: the caller) fails.  inject_disarm() says
 * whether it has; no call fails after it.
 */
bool inject_arm(pid_t tid, unsigned int nth);
bool inject_disarm(pid_t tid);

/* Each such call of this process fails with this probability; 0: none. */
void inject_percent(unsigned int percent);
/* Each such call of anybody fails: select what comes from some code only. */
void inject_everywhere(bool on);

#endif /* TEST_INJECT_H */
