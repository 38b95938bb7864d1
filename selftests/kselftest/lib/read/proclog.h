/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a log tells of processes: finding and adding up, and whether a log of the
 * process modes is sound.
 */
#ifndef TEST_PROCLOG_H
#define TEST_PROCLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "logfile.h"

#define ANY	0xFFFFFFFEU		/* any process, any PMC */

/**
 * struct proc_record - a record about a process or a thread, decoded
 * @pid: PROCFORK: the child
 * @parent: PROCFORK's
 * @tid: of THR_CREATE, THR_EXIT and PROCCSW
 * @pmcid: ANY: the type has none
 * @text: path or name
 */
struct proc_record {
	uint32_t	type;
	uint64_t	tsc;
	uint32_t	pid;
	uint32_t	parent;
	uint32_t	tid;
	uint32_t	pmcid;
	uint64_t	value;
	uint64_t	enabled;
	uint64_t	running;
	const char	*text;
};

/* False: it is of another type. */
bool proc_record(const struct pmclog_rec *rec, struct proc_record *p);

/* The @nth (from 0) of @type and @pid (ANY). */
bool proc_find(struct log *log, uint32_t type, uint32_t pid, unsigned int nth,
	       struct proc_record *p);
unsigned int proc_count(struct log *log, uint32_t type, uint32_t pid);
/* PROCFORKs of @child by @parent. */
unsigned int proc_forks(struct log *log, uint32_t parent, uint32_t child);
/* Sum of the values of PROCEXITs or PROCCSWs. */
uint64_t proc_sum(struct log *log, uint32_t type, uint32_t pmcid, uint32_t pid);
/* THR_CREATEs or THR_EXITs of a thread. */
unsigned int proc_thread(struct log *log, uint32_t type, uint32_t tid);
/* Samples of @pmcid, of @pid, of @tid (ANY). */
unsigned int proc_samples(struct log *log, uint32_t pmcid, uint32_t pid,
			  uint32_t tid);
/* Whether each executable mapping that /proc/@pid/maps lists now is logged. */
bool proc_maps_logged(struct log *log, uint32_t pid);

/* MAP_INs of the kernel's with that path, and the last one's address. */
unsigned int proc_kernel_maps(struct log *log, const char *path,
			      uint64_t *start);

/*
 * proclog_check - is all that it tells about targets?
 *
 * A process is a PMC's target from its PMCATTACH, or from the PROCFORK of a
 * target if the PMC has DESCENDANTS, until PMCDETACH or PROCEXIT.  Samples,
 * PROCCSW, PROCEXIT and PROCEXEC of a process mode are of targets only, nobody
 * becomes one twice or ceases to be what he is not, and where no PMC samples the
 * whole system, nobody else is in the log at all.  User-mode samples lie in
 * mappings that were logged before.  Returns NULL, or the first fault.
 */
const char *proclog_check(struct log *log);

/* log_check() and proclog_check(); ends the test. */
#define ASSERT_PROCLOG(log, flags) do {					\
	const char *what_;						\
									\
	ASSERT_LOG(log, flags);						\
	what_ = proclog_check(log);					\
	if (what_)							\
		TH_LOG("log of %zu bytes: %s", (log)->len, what_);	\
	ASSERT_EQ(NULL, what_);						\
} while (0)

/* Ends @dev's log, which is in @file, and takes it into @log. */
#define END_PROCLOG(dev, file, log, flags) do {				\
	ASSERT_EQ(0, dev_closelog(dev));				\
	ASSERT_TRUE(log_load(log, file));				\
	ASSERT_PROCLOG(log, flags);					\
} while (0)

#endif /* TEST_PROCLOG_H */
