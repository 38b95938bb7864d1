/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that processes of the log make at run time: the files with its names,
 * and the code that exists at the current position in the log.
 *
 * A process maps the jitdump that it writes, so the log has its path.  The
 * reader searches for a perf-PID.map.
 */
#ifndef READER_JITS_H
#define READER_JITS_H

#include "base/idtab.h"
#include "log/rec.h"
#include "profile/jitdump.h"

struct aspace;
struct object;
struct profile;

/**
 * struct jit - the jitdump of a process
 * @path:   string number, as logged
 * @why:    why it has no names, NULL if it has some
 * @turns:  number of code ranges so far
 * @alive:  its process runs and may write more
 * @looked: log clock of the last check for more
 * @size:   bytes that were read; @reads: how often it was read
 */
struct jit {
	struct jitdump dump;
	const char *why;
	uint32_t pid, path, turns;
	bool alive;
	uint64_t looked;
	off_t size;
	uint32_t reads;
};

/**
 * struct jits - the jitdumps of all processes
 * @active: numbers of jitdumps whose processes have not ended
 * @maps: by pid: 1 if there is a perf-PID.map
 * @codes, @bytes: totals of all jitdumps that were read
 * @raw, @mono: the same time on the log's clock and on the jitdumps', with
 *	        @rate nanoseconds of the latter per tick of the log; 0: unknown
 */
struct jits {
	struct jit *jit;
	uint32_t n, cap;
	uint32_t *active, nactive, capactive;
	struct idtab tab, maps;
	uint64_t codes, bytes;
	uint64_t raw, mono;
	double rate;
};

/* Anonymous memory is mapped; true: *@o is the object of its code. */
bool jits_object(struct profile *p, uint32_t pid, struct object *o);
/* A file is mapped; it may be a jitdump. */
void jits_mapped(struct profile *p, uint32_t pid, const struct object *o);
/* After a fork: the child has the code of now, whatever its parent makes later. */
void jits_forked(struct profile *p, uint32_t from, uint32_t to);
/* Handles PMCLOG_EXT_CLOCK. */
void jits_clock(struct profile *p, const struct pmclog_rec *r);
/* Advances to the time of the next record. */
void jits_pass(struct profile *p, uint64_t tsc);

/* Address in a frame for @pc in such an object. */
uint64_t jits_place(const struct profile *p, const struct aspace *as,
		    const struct object *o, uint64_t pc);
/* The jitdump of an object; NULL: the object has a perf-PID.map. */
struct jit *jits_of(const struct profile *p, const struct object *o);
/* Opens its file: a descriptor, or -1 and *@why. */
int jits_open(const struct profile *p, struct jit *j, const char **why);
void jits_free(struct jits *t);

#endif /* READER_JITS_H */
