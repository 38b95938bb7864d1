/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contents of a CPU's ring: samples and process records on their way to the
 * writer thread.
 */
#ifndef HWPMC_RECORD_H
#define HWPMC_RECORD_H

#include <linux/irq_work.h>

#include "hwpmc.h"
#include "ring/ring.h"

/* the last part of a ring is reserved for process records */
#define HWPMC_RING_KEEP_SHIFT	3	/* an eighth */

/* kinds of ring records */
enum hwpmc_kind {
	KIND_SAMPLE	= 1,	/* struct pmclog_callchain */
	KIND_RECORD	= 2,	/* any other record, ready-made */
	KIND_MAP	= 3,	/* struct ring_map */
	KIND_EXEC	= 4,	/* struct ring_exec */
	KIND_SAMPLE_RAW	= 5,	/* as KIND_SAMPLE, then struct ring_raw */
	KIND_SAMPLE_DETAIL = 6,	/* as KIND_SAMPLE, then struct ring_detail */
};

/* A mapping; the writer thread builds the path and drops the file. */
struct ring_map {
	struct ring_stamp stamp;
	struct file	*file;		/* referenced; NULL: anonymous */
	u64		start;
	u64		len;
	u64		offset;
	u32		pid;
	u32		prot;
	u32		vdso;
	u32		pad;
};

/* The fields of a tracepoint; follows its sample. */
struct ring_raw {
	u32		len;		/* bytes of @data */
	u32		size;		/* of all fields */
	u8		data[];
};

/* What the PMU knows of a sample; follows it.  See struct pmclog_ext_detail. */
struct ring_detail {
	u32		has;
	u32		hidden;
	u64		source;
	u64		weight;
	u64		addr;
	u32		n;		/* entries of @branch */
	u32		pad;
	struct pmclog_branch branch[];
};

struct ring_exec {
	struct ring_stamp stamp;
	struct file	*file;		/* referenced, may be NULL */
	u64		base;
	u64		dyn;
	u32		pid;
	u32		pmcid;
};

/* lost process records of a CPU, as read by the thread */
struct proc_losses {
	u64	dropped;
	u64	first;
	u64	last;
};

/**
 * struct cpu_cost - what sampling costs a CPU, for an owner with a budget
 * @handlers: nanoseconds in overflow handlers; that of a nested one counts twice
 * @samples:  overflows
 * @writer:   nanoseconds of the writer thread there; written by the thread
 * @seen_ns, @seen_samples: owner->mutex: when the last window began
 */
struct cpu_cost {
	local64_t	handlers;
	local64_t	samples;
	u64		writer;
	u64		seen_ns;
	u64		seen_samples;
};

#define RING_NLOST	16

/**
 * struct owner_ring - an owner's ring of a CPU
 * @cpu:  constant; of RING_OF_IOCTLS 0: its losses are told as those of CPU 0
 * @wake: hard irq_work: wakes the writer thread at the watermark
 * @proc_*: process records; written on this CPU in process context with
 *	    preemption off, read by the writer thread
 * @late_answered: deferred user chains among them; read anywhere
 * @lost: pids whose records were lost: written on this CPU, read by the thread
 * @proc_counted, @proc_seen, @proc_told, @proc_told_last: as in struct pmc_cpu, but
 *	@proc_seen may be of several moments: the times are those of its number, or later
 * @cost: see struct cpu_cost
 */
struct owner_ring {
	struct hwpmc_ring ring;
	struct irq_work	wake;
	struct hwpmc_owner *owner;
	unsigned int	cpu;

	u64		proc_committed;
	u64		proc_dropped;
	u64		proc_first;
	u64		proc_last;
	u64		late_answered;
	u32		lost_head;
	u32		lost[RING_NLOST];

	u64		proc_counted;
	u32		lost_tail;
	struct proc_losses proc_seen;
	u64		proc_told, proc_told_last;

	struct cpu_cost	cost;
};

/*
 * Copies a few dozen words, often fewer: a string instruction of the processor
 * would take longer to start.
 */
static inline void copy_words(u64 *to, const u64 *from, unsigned int n)
{
	for (; n >= 4; n -= 4, to += 4, from += 4) {
		WRITE_ONCE(to[0], from[0]);	/* prevents memcpy() */
		WRITE_ONCE(to[1], from[1]);
		WRITE_ONCE(to[2], from[2]);
		WRITE_ONCE(to[3], from[3]);
	}
	for (; n; n--)
		WRITE_ONCE(*to++, *from++);
}

/*
 * The index of one more ring, of an owner for some CPUs: of records that ioctls and the
 * budget's work make, because these run on any CPU.  Its producers hold owner->mutex, with
 * preemption off; no handler and no hook uses it.
 */
#define RING_OF_IOCTLS	nr_cpu_ids

/* all rings of @o; any context */
#define for_each_owner_ring(o, i, or)				\
	for ((i) = 0; (i) <= RING_OF_IOCTLS; (i)++)		\
		if (!((or) = smp_load_acquire(&(o)->rings[i]))) {} else

/* preemption off */
static inline struct owner_ring *owner_this_ring(const struct hwpmc_owner *o)
{
	return smp_load_acquire(&o->rings[smp_processor_id()]);
}

/* owner->mutex, preemption off */
static inline struct owner_ring *owner_ioctl_ring(const struct hwpmc_owner *o)
{
	return o->hp.only ? smp_load_acquire(&o->rings[RING_OF_IOCTLS]) :
			    owner_this_ring(o);
}

static inline void stamp_header(struct ring_stamp *s, u32 type, u32 len)
{
	s->header = PMCLOG_HEADER(type, len);
	s->spare = 0;
}

/* record.c: process records into rings; preemption off */
void *hwpmc_record_begin(struct hwpmc_owner *o, u32 len, u32 kind, u32 pid,
			 struct owner_ring **ring, u64 *entered);
void hwpmc_record_end(struct owner_ring *or, u64 entered);
bool hwpmc_record_commit(struct hwpmc_owner *o, const void *rec, u32 len,
			 u32 pid);
void hwpmc_record_commit_deferred(struct hwpmc_owner *o, const void *rec,
				  u32 len);
bool hwpmc_record_commit_slice(struct hwpmc_owner *o, const void *rec, u32 len);
void hwpmc_record_lost(struct hwpmc_owner *o, u32 pid);
bool hwpmc_record_tell(struct hwpmc_owner *o, const void *rec, u32 len);
void hwpmc_record_untold(struct hwpmc_owner *o);
void hwpmc_record_wake_writer(struct owner_ring *or);

#endif /* HWPMC_RECORD_H */
