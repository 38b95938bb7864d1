/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operations, for the table in calls.c, and what they have in common.
 *
 * Arguments are mostly good ones, made from tables by the operation's bytes;
 * op->how spoils them.  Slots are shared with threads and children, which race
 * for them: any value in a slot is a fit one.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "guest.h"

#define SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* A structure with what HOW_SIZE may show of it. */
#define ARG(type, name, ...)						\
	union {								\
		struct type a;						\
		char room[sizeof(struct type) + 64];			\
	} name = { .a = { __VA_ARGS__ } }

/*
 * The operations: do_open() and so on, where the word of the text form is "open".
 * In device.c those on the device as a file, in logs.c on what a log can go to and the
 * ioctls with a descriptor of it, in records.c WRITELOG, in unwind.c of unwind tables,
 * in hostile.c code without a stack, in process.c and machine.c what these are named
 * after, and in calls.c all other ioctls.
 */
#define X(code, name) void do_##name(const struct op *op);
PROGRAM_CODES(X)
#undef X

/* calls.c */
int dev_of(const struct op *op);
/* What fails is to be disarmed with what this returns.  True: something has failed. */
int fail_arm(const struct op *op);
bool fail_disarm(int fd);
/* All allocations, one after the other: an ioctl may succeed more than once. */
bool fails_all(const struct op *op);
void *bad_address(const struct op *op);
/* HOW_WORD's offset in an argument: the last numbers count from its end */
uint32_t word_at(const struct op *op, uint32_t size);
/* @arg has room for 64 bytes more than it says. */
int io(const struct op *op, unsigned long cmd, void *arg);

/* unwind.c */
void unwind_setup(void);		/* supervisor */
uint32_t code_offset(void);		/* of hostile_code, in this program's file */
void give_rule(const struct op *op, int fd, uint32_t seed);

/* hostile.c */
void hostile_code(void);

/* machine.c: what is the machine's; put back by machine_restore() */
void machine_init(void);		/* supervisor, as root */
void machine_thaw(void);		/* executor: before the devices are closed */
void machine_restore(void);		/* executor */
/* supervisor: @fn for each writer thread */
void machine_for_writers(void (*fn)(const char *pid));
/* a directory of cgroup2; odd numbers are of one that is removed; from 64 on the one
 * that CGROUP has made */
int machine_cgroup_fd(unsigned int n);

#endif /* FUZZ_CALLS_H */
