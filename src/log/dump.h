/* SPDX-License-Identifier: GPL-2.0-only */
/* Dumps of processes and targets, by the writer thread: see dump.c. */
#ifndef HWPMC_DUMP_H
#define HWPMC_DUMP_H

#include <linux/sched.h>
#include <linux/types.h>

#include "hwpmc.h"

struct file;
struct ring_map;

struct dump_thread {
	u32	tid;
	char	comm[TASK_COMM_LEN];
};

/* One process at one moment.  For each array: entries kept, room for, and found. */
struct dump {
	u32		pid;
	u64		tsc;
	unsigned int	nmaps, maps_size, maps_there;
	unsigned int	nthreads, threads_size, threads_there;
	struct ring_map	*maps;
	struct dump_thread *threads;
	bool		no_memory;
	bool		no_lock;	/* could not get the mmap lock in time */
	u64		waited;		/* for mmap locks, in ns */
	bool		in_exec;	/* an exec did not come to its end in time */
	bool		hidden;		/* the owner may not see its mappings any more */
	bool		no_maps;	/* of a target: mappings are not wanted */
	bool		no_names;	/* names are in the log already */
	bool		again;		/* it is in the log: SYSEXIT comes first */
	const struct dump_target *target;
};

/* The time that one dump waits for mmap locks, in ns */
#define DUMP_PATIENCE	NSEC_PER_SEC

/* The last close ends dumps: no sample needs them, and the log's end has little time. */
static inline bool dump_is_over(const struct hwpmc_owner *o)
{
	return READ_ONCE(o->log.abort) || READ_ONCE(o->log.end.closed);
}

/* A target to be logged, with the PMCs whose PMCATTACH is not in the log. */
struct dump_target {
	struct list_head node;
	struct pid	*pid;		/* referenced */
	u32		nr;
	bool		names, maps;	/* to be logged as well */
	bool		news;		/* some of it is not in the current log */
	unsigned int	nids;
	u32		ids[];
};

/* dump_process.c; all may sleep */
void hwpmc_dump_free(struct dump *d);
void hwpmc_dump_drop(struct dump *d);
bool hwpmc_dump_has_ended(const struct hwpmc_owner *o, struct task_struct *leader);
bool hwpmc_dump_is_ending(const struct hwpmc_owner *o, struct task_struct *leader);
bool hwpmc_dump_look(struct dump *d, struct hwpmc_owner *o,
		     struct task_struct *leader);
bool hwpmc_dump_look_at_names(struct dump *d, struct hwpmc_owner *o,
			      struct task_struct *leader);
void hwpmc_dump_tell(struct dump *d, struct hwpmc_owner *o);
void hwpmc_dump_count_loss(struct hwpmc_owner *o);
void hwpmc_dump_process_failed(struct hwpmc_owner *o, const struct dump *d);
bool hwpmc_dump_is_for_log(const struct hwpmc_owner *o,
			   const struct dump_target *dt);
struct file *hwpmc_dump_look_at_exe(struct hwpmc_owner *o,
				    struct task_struct *leader, u64 *waited);

/* dump_batch.c; all may sleep */
struct dump_batch;
struct dump_batch *hwpmc_dump_batch_new(struct hwpmc_owner *o, bool brief);
void hwpmc_dump_batch_free(struct dump_batch *b);
void hwpmc_dump_batch_add(struct dump_batch *b, struct task_struct *leader,
			  const struct dump_target *dt);
int hwpmc_dump_batch_again(struct dump_batch *b, struct task_struct *leader, u32 nr,
			   bool no_maps, bool last, bool *told);
void hwpmc_dump_batch_ended(struct dump_batch *b, u32 nr, u64 tsc);
void hwpmc_dump_batch_tell(struct dump_batch *b);
struct file *hwpmc_dump_batch_exe(struct dump_batch *b, struct task_struct *leader);

/* dump_lost.c */
bool hwpmc_dump_later(struct hwpmc_owner *o, u32 nr, u64 delay, bool owed);
void hwpmc_dump_end_later(struct hwpmc_owner *o, u32 nr);

/* dump_target.c */
void hwpmc_dump_targets(struct hwpmc_owner *o, u64 since);

#endif /* HWPMC_DUMP_H */
