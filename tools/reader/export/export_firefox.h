/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile for Firefox: collected while the log is read, written at the end. */
#ifndef READER_EXPORT_FIREFOX_H
#define READER_EXPORT_FIREFOX_H

#include "base/spool.h"
#include "export/export.h"

/* a function at a frame; @depth: 0 where nothing was inlined */
struct fx_frame {
	uint32_t frame, func, file, line, depth;
};

/* @prefix: number of the stack of its callers + 1; 0: none */
struct fx_stack {
	uint32_t prefix, frame;
};

/* samples of an event in a thread; @comm: the command that has most of them, @most */
struct fx_thread {
	uint32_t pid, tid, event, comm;
	uint64_t most;
	int64_t first, last;
};

/* number of samples of a command in a thread */
struct fx_command {
	uint32_t thread, comm;
	uint64_t n;
};

/**
 * struct firefox - the profile
 * @rows:    by frame: number of its first fx_frame + 1, and how many it has
 * @chain:   by chain: number of its stack + 1
 * @thread:  threads; their samples are in @spool, under the same number
 * @command: commands of threads
 * @weights: by thread, the weights of the samples, as numbers in @weight; none
 *	     if all are 1
 * @weight:  the weights that there are
 * @str:     strings of the file
 */
struct firefox {
	struct fx_frame *frame;
	uint32_t nframes, capframes;
	struct { uint32_t first, n; } *rows;
	uint32_t nrows;
	struct fx_stack *stack;
	uint32_t nstacks, capstacks;
	struct idtab stacktab;
	uint32_t *chain, nchains;
	struct fx_thread *thread;
	uint32_t nthreads, capthreads, last;
	struct idtab threadtab;
	struct fx_command *command;
	uint32_t ncommands, capcommands;
	struct idtab commandtab;
	struct spool spool, weights;
	uint64_t *weight;
	uint32_t nweights, capweights;
	struct idtab weighttab;
	struct strtab str;
};

void firefox_write(struct export *e, struct firefox *x);

#endif /* READER_EXPORT_FIREFOX_H */
