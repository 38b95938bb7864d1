/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs and pmcstat share: the memory that both have mapped, and the
 * records in the ring buffers.
 */
#ifndef PMCSTAT_SAMPLER_H
#define PMCSTAT_SAMPLER_H

#include <linux/pmclog.h>

#define SAMPLER_PART_MAX	127	/* frames of a kernel or a user chain */
#define SAMPLER_PART_USUAL	32	/* most parts are shorter */
#define SAMPLER_LEVELS		4	/* programs that interrupt each other */

/* struct sampler_cpu's @state, as in src/ring/ring.h */
#define SAMPLER_DEPTH_MASK	0xFFULL
#define SAMPLER_EXIT		0x100ULL

/**
 * struct sampler_cpu - a CPU
 * @state: low 8 bits: number of programs that run now; above: number of those that
 *	have ended
 * @execs: PROCEXEC records committed
 * @execs_lost: ... and not, for want of room
 * @first, @last: clock of the first and the last of these
 */
struct sampler_cpu {
	__u64	state;
	__u64	execs;
	__u64	execs_lost;
	__u64	first;
	__u64	last;
	__u64	pad[3];
};

/**
 * struct sampler_count - the fates of the overflows of one PMC on one CPU
 * @first, @last: clock of the first and the last loss, by cause
 */
struct sampler_count {
	__u64	overflows;
	__u64	committed;
	__u64	filtered;
	__u64	cut;
	__u64	dropped[PMCLOG_DROP_NCAUSE];
	__u64	first[PMCLOG_DROP_NCAUSE];
	__u64	last[PMCLOG_DROP_NCAUSE];
};

enum sampler_kind {
	SAMPLER_SAMPLE	= 1,	/* struct pmclog_callchain */
	SAMPLER_EXEC	= 2,	/* struct sampler_exec */
	SAMPLER_PERF	= 3,	/* a record of perf; never in a BPF ring buffer */
};

/* Precedes each record in a ring buffer. */
struct sampler_head {
	__u32	kind;
	__u32	pad;
};

/**
 * struct sampler_exec - a process runs a new image, which is complete
 * @base: load address of the run-time loader
 * @is_dyn: the image is position-independent
 */
struct sampler_exec {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	is_dyn;
	__u64	base;
};

#endif /* PMCSTAT_SAMPLER_H */
