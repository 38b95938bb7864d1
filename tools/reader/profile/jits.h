/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that processes of the log make at run time: who tells its names, and
 * what of it there is at the moment that the log has been read up to.
 *
 * A process maps the jitdump that it writes, so the log has its path.  A
 * perf-PID.map is looked for.
 */
#ifndef READER_JITS_H
#define READER_JITS_H

#include "base/idtab.h"
#include "pmclog_iter.h"
#include "profile/jitdump.h"

struct object;
struct profile;

/**
 * struct jit - the jitdump of a process
 * @path:   string number, as logged
 * @why:    why it has no names, NULL if it has
 * @turns:  how many ranges of code there are so far
 * @alive:  its process runs and may write more
 * @looked: when it was looked whether it has
 * @size:   bytes that were read; @reads: how often
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
 * struct jits - those of all processes
 * @active: numbers of those whose processes have not ended
 * @maps: by pid: 1 if there is a perf-PID.map
 * @codes, @bytes: of all that was read
 * @raw, @mono: a moment on the log's clock and on the jitdumps', whose
 *	        nanoseconds are @rate for a tick of the log's; 0: not known
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

/* Memory without a file is mapped; true: *o is the object of its code. */
bool jits_object(struct profile *p, uint32_t pid, struct object *o);
/* A file is mapped, which may be a jitdump. */
void jits_mapped(struct profile *p, uint32_t pid, const struct object *o);
/* PMCLOG_EXT_CLOCK */
void jits_clock(struct profile *p, const struct pmclog_rec *r);
/* What comes next in the log is of that time. */
void jits_pass(struct profile *p, uint64_t tsc);

/* What a frame has for an address in such an object. */
uint64_t jits_place(const struct profile *p, const struct object *o,
		    uint64_t pc);
/* The jitdump of an object; NULL: it is of a map. */
struct jit *jits_of(const struct profile *p, const struct object *o);
/* Its file: a descriptor, or -1 and why not. */
int jits_open(const struct profile *p, struct jit *j, const char **why);
void jits_free(struct jits *t);

#endif /* READER_JITS_H */
