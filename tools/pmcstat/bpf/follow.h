/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a recording: which of them are followed, what their threads are
 * called, and the records of the log that perf's records about them become.
 */
#ifndef PMCSTAT_FOLLOW_H
#define PMCSTAT_FOLLOW_H

#include "bpf/sampler.h"
#include "bpf/writer.h"

#define EXEC_MAPS	8	/* code of a new image: program, loader, vdso */

/**
 * struct exec - an exec that is not in the log yet
 *
 * perf reports the new image's mappings before the image is complete.  They are
 * written behind PROCEXEC, which needs the first of them.
 */
struct exec {
	unsigned int	n;
	struct mapping	map[EXEC_MAPS];
};

/**
 * struct proc - a process
 * @followed: it belongs into the log
 * @threads: number of threads that are alive
 * @since: clock when it was there for the first time: with a fork that is later, the
 *	   number is that of another process
 */
struct proc {
	uint32_t	pid;
	int		followed;
	unsigned int	threads;
	uint64_t	since;
	struct exec	*exec;
};

/**
 * struct followed - the processes
 * @pmcid: of PROCEXEC: a PMC of processes, or PMCLOG_PMCID_NONE
 * @all:  all processes are followed
 * @descend: so are children of processes that are
 * @quiet: no warnings
 * @named: a process that hangs (1) or cannot be read (2) has been named
 * @unread: processes whose mappings could not be read
 */
struct followed {
	struct writer	*w;
	uint32_t	pmcid;
	int		all;
	int		descend;
	int		quiet;
	unsigned int	named;
	uint64_t	unread;
	void		*by_pid;	/* of tsearch(3) */
	void		*by_tid;
};

void follow_free(struct followed *t);
/*
 * Writes what /proc has of a process: names of its threads, executable mappings.
 * @pid 0: of all processes.  0, or ESRCH.
 */
int follow_dump(struct followed *t, uint32_t pid);
/* A record of perf, or of the BPF program, with its stamp in the log's clock */
void follow_perf(struct followed *t, const unsigned char *record, uint64_t tsc);
void follow_exec(struct followed *t, const struct sampler_exec *e, uint64_t tsc);
/* Writes execs of which the BPF program's record is missing. */
void follow_flush(struct followed *t);

/* follow_table.c */
struct proc *follow_find(const struct followed *t, uint32_t pid);
/* Adds a process that is there at @tsc, or finds it. */
struct proc *follow_add(struct followed *t, uint32_t pid, uint64_t tsc);
void follow_remove(struct followed *t, struct proc *p);
/* Name of a thread, 16 bytes; NULL: it is not known */
char *follow_name(const struct followed *t, uint32_t tid);
/* A new thread of @p, or another name of an old one */
void follow_set_name(struct followed *t, struct proc *p, uint32_t tid,
		    const char *name);
void follow_remove_thread(struct followed *t, struct proc *p, uint32_t tid);
/* An exec has ended the other threads of @p, whatever their numbers were. */
void follow_only_first(struct followed *t, struct proc *p);
void follow_each(struct followed *t, void (*f)(struct followed *t, struct proc *p));

#endif /* PMCSTAT_FOLLOW_H */
