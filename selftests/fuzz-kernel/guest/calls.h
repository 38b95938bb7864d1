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

/* device.c: the device as a file */
void do_open(const struct op *op);
void do_close(const struct op *op);
void do_dup(const struct op *op);
void do_read(const struct op *op);
void do_poll(const struct op *op);
void do_fcntl(const struct op *op);
void do_odd(const struct op *op);

/* logs.c: what a log can go to, and the ioctls with a descriptor of it */
void do_configurelog(const struct op *op);
void do_rotatelog(const struct op *op);
void do_snapshot(const struct op *op);
void do_logopen(const struct op *op);
void do_logread(const struct op *op);
void do_logclose(const struct op *op);
void do_logspoil(const struct op *op);

/* unwind.c: unwind tables */
void unwind_setup(void);		/* supervisor */
uint32_t code_offset(void);		/* of hostile_code, in this program's file */
void do_unwindtable(const struct op *op);
void do_unwindnext(const struct op *op);
void give_rule(const struct op *op, int fd, uint32_t seed);

/* hostile.c: code without a stack */
void hostile_code(void);
void process_hostile(const struct op *op);

/* records.c: WRITELOG */
void do_userdata(const struct op *op);
void do_records(const struct op *op);

/* process.c */
void process_kill(const struct op *op);
void process_wait(const struct op *op);
void process_thread(const struct op *op);
void process_send(const struct op *op);
void process_receive(const struct op *op);
void process_map(const struct op *op);
void process_prctl(const struct op *op);
void process_exec(const struct op *op);
void process_setuid(const struct op *op);
void process_unshare(const struct op *op);
void process_load(const struct op *op);
void process_stack(const struct op *op);
void process_sleep(const struct op *op);

/* machine.c: what is the machine's; put back by machine_restore() */
void machine_init(void);		/* supervisor, as root */
void machine_param(const struct op *op);
void machine_hotplug(const struct op *op);
void machine_cgroup(const struct op *op);
void machine_module(const struct op *op);
void machine_trace(const struct op *op);
void machine_faults(const struct op *op);
void machine_thaw(void);		/* executor: before the devices are closed */
void machine_restore(void);		/* executor */
/* supervisor: @fn for each writer thread */
void machine_for_writers(void (*fn)(const char *pid));
/* a directory of cgroup2; odd numbers are of one that is removed; from 64 on the one
 * that CGROUP has made */
int machine_cgroup_fd(unsigned int n);

#endif /* FUZZ_CALLS_H */
