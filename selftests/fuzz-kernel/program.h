/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An input of the fuzzer is a program: a header and then operations, 16 bytes
 * each.  All bytes mean something: what is out of range is taken modulo.
 *
 * text.c: the host's text form of it; mutate.c: its changes.
 */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include <stdint.h>
#include <stddef.h>

#define PROGRAM_OPS	64		/* what is longer is cut */

/* who runs it */
enum user {
	USER_ROOT,
	USER_PLAIN,			/* uid 1000 */
	USER_NAMESPACE,			/* root of a user namespace, uid 1000 outside */
	USERS
};

/* PASTE(code, name): the name is that of the text form */
#define PROGRAM_CODES(X)						\
	X(OPEN, open) X(CLOSE, close) X(DUP, dup)			\
	X(CONFIGURELOG, configurelog) X(ROTATELOG, rotatelog)		\
	X(FLUSHLOG, flushlog) X(CLOSELOG, closelog)			\
	X(USERDATA, userdata) X(RECORDS, records)			\
	X(GETCPUINFO, getcpuinfo) X(GETDRIVERSTATS, getdriverstats)	\
	X(GETMODULEVERSION, getmoduleversion) X(GETPMCINFO, getpmcinfo)	\
	X(GETDYNEVENTINFO, getdyneventinfo) X(PMCADMIN, pmcadmin)	\
	X(ALLOCATE, allocate) X(ATTACH, attach) X(DETACH, detach)	\
	X(GETMSR, getmsr) X(RELEASE, release) X(RW, rw)			\
	X(SETCOUNT, setcount) X(START, start) X(STOP, stop)		\
	X(FILTER, filter) X(RECORD, record) X(GETATBASE, getatbase)	\
	X(SNAPSHOT, snapshot) X(EXITTRIGGER, exittrigger)		\
	X(IOCTL, ioctl)		/* any number, direction and size */	\
	X(READ, read) X(POLL, poll) X(FCNTL, fcntl) X(ODD, odd)		\
	X(LOGOPEN, logopen) X(LOGREAD, logread) X(LOGCLOSE, logclose)	\
	X(LOGSPOIL, logspoil)						\
	X(FORK, fork) X(EXEC, exec) X(KILL, kill) X(WAIT, wait)		\
	X(THREAD, thread) X(SEND, send) X(RECEIVE, receive)		\
	X(MAP, map) X(PRCTL, prctl) X(SETUID, setuid)			\
	X(UNSHARE, unshare) X(LOAD, load) X(SLEEP, sleep)		\
	X(REPEAT, repeat) X(PARAM, param) X(HOTPLUG, hotplug)		\
	X(STACK, stack) X(CGROUP, cgroup) X(MODULE, module)		\
	X(TRACE, trace)							\
	X(UNWINDTABLE, unwindtable) X(UNWINDNEXT, unwindnext)		\
	X(HOSTILE, hostile)	/* code with an odd stack */		\
	X(OUTSIDE, outside)	/* as FORK, in the first pid namespace */	\
	X(FAULTS, faults)	/* some allocations and copies fail */	\
	X(SETBUDGET, setbudget) X(GETBUDGET, getbudget) X(SETCPUS, setcpus)

enum op_code {
#define X(code, name) OP_##code,
	PROGRAM_CODES(X)
#undef X
	CODES
};

/* op.how */
#define HOW_WORKER	0x03	/* 1, 2: by that thread, and nobody waits for it */
#define HOW_FAIL	0x04	/* the @nth allocation or copy of it fails; from 192
				 * on: an ioctl again and again, the next one each time */
#define HOW_WORD	0x08	/* the argument's word @where is @word; the last ones
				 * count from its end: 255 is the last word */
#define HOW_BAD		0x10	/* the argument is at a bad address */
#define HOW_SIZE	0x20	/* the argument is shorter or longer */

/**
 * struct op - one operation
 * @how:   HOW_*
 * @dev, @pmc: slots: of open devices, of ids that were allocated
 * @arg:   see calls.c in guest/
 */
struct op {
	uint8_t	code;
	uint8_t	how;
	uint8_t	dev;
	uint8_t	pmc;
	uint8_t	arg[6];
	uint8_t	nth;
	uint8_t	where;
	uint32_t word;
};

/**
 * struct program
 * @user: enum user
 */
struct program {
	uint8_t	user;
	uint8_t	spare[15];
	struct op op[PROGRAM_OPS];
};

#define PROGRAM_HEADER	offsetof(struct program, op)
#define PROGRAM_MAX	sizeof(struct program)

/*
 * What the host and the guest say to each other, in the host's byte order (which
 * is the guest's).  The host: a length and as many bytes of a program.  The guest:
 * this, and then the keys and the text.
 */
struct answer {
	uint32_t status;		/* ANSWER_* */
	uint32_t nkeys;
	uint32_t text;			/* bytes */
};

#define ANSWER_READY	0x66757a7aU	/* the first one */
#define ANSWER_GOOD	0
#define ANSWER_DIED	1		/* what ran it has died: no fault */
#define ANSWER_TROUBLE	2		/* text says what */

/* a key: the operation, and where in the module's text it has been */
#define KEY(op, offset)		((uint32_t)(op) << 24 | ((offset) & 0xFFFFFFU))
/* no place, but the error that the operation has ended with */
#define KEY_RESULT	0xFFF000U
#define KEY_WHOLE	0xFFU	/* no operation: whatever has reached it */

#endif /* FUZZ_PROGRAM_H */
