/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events (hwpmc:*): actions of the module.
 *
 * All in process context; none in an overflow handler or a hook.  A disabled
 * event costs a branch that is patched out.  An owner is shown as the pid of
 * its opener in the initial namespace, and a number that tells the owners of an
 * opener apart.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hwpmc

#if !defined(HWPMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HWPMC_TRACE_H

#include <linux/tracepoint.h>

#include "hwpmc.h"

#define HWPMC_TRACE_WHAT	48	/* copied: the buffer outlives the module */

/* An action of one owner: @what is a constant string. */
DECLARE_EVENT_CLASS(hwpmc_owner_class,
	TP_PROTO(const struct hwpmc_owner *o, const char *what, int err),
	TP_ARGS(o, what, err),
	TP_STRUCT__entry(
		__field(u32, opener)
		__field(u32, owner)
		__array(char, what, HWPMC_TRACE_WHAT)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->opener = pid_nr(o->opener);
		__entry->owner = o->serial;
		strscpy(__entry->what, what, HWPMC_TRACE_WHAT);
		__entry->err = err;
	),
	TP_printk("opener=%u owner=%u %s err=%d", __entry->opener,
		  __entry->owner, __entry->what, __entry->err)
);

/* open, close, free */
DEFINE_EVENT(hwpmc_owner_class, hwpmc_owner,
	TP_PROTO(const struct hwpmc_owner *o, const char *what, int err),
	TP_ARGS(o, what, err));

/* begin, end, rotate; error: @err is the file's error */
DEFINE_EVENT(hwpmc_owner_class, hwpmc_log,
	TP_PROTO(const struct hwpmc_owner *o, const char *what, int err),
	TP_ARGS(o, what, err));

/* Why an operation is about to fail with @err, if that has several reasons. */
DEFINE_EVENT(hwpmc_owner_class, hwpmc_refusal,
	TP_PROTO(const struct hwpmc_owner *o, const char *what, int err),
	TP_ARGS(o, what, err));

/* An ioctl returns. */
TRACE_EVENT(hwpmc_ioctl,
	TP_PROTO(const struct hwpmc_owner *o, unsigned int nr, int err),
	TP_ARGS(o, nr, err),
	TP_STRUCT__entry(
		__field(u32, opener)
		__field(u32, owner)
		__field(u32, nr)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->opener = pid_nr(o->opener);
		__entry->owner = o->serial;
		__entry->nr = nr;
		__entry->err = err;
	),
	TP_printk("opener=%u owner=%u nr=%u err=%d", __entry->opener,
		  __entry->owner, __entry->nr, __entry->err)
);

/* A pass of the writer thread that found something in the rings. */
TRACE_EVENT(hwpmc_pass,
	TP_PROTO(const struct hwpmc_owner *o, u64 samples, u64 records,
		 bool quiet),
	TP_ARGS(o, samples, records, quiet),
	TP_STRUCT__entry(
		__field(u32, opener)
		__field(u32, owner)
		__field(u64, samples)
		__field(u64, records)
		__field(bool, quiet)
	),
	TP_fast_assign(
		__entry->opener = pid_nr(o->opener);
		__entry->owner = o->serial;
		__entry->samples = samples;
		__entry->records = records;
		__entry->quiet = quiet;
	),
	TP_printk("opener=%u owner=%u samples=%llu records=%llu quiet=%d",
		  __entry->opener, __entry->owner, __entry->samples,
		  __entry->records, __entry->quiet)
);

/* A DROPNOTIFY: @count of @cause (PMCLOG_DROP_*) on @cpu. */
TRACE_EVENT(hwpmc_loss,
	TP_PROTO(const struct hwpmc_owner *o, u32 pmcid, u32 cpu, u32 cause,
		 u64 count),
	TP_ARGS(o, pmcid, cpu, cause, count),
	TP_STRUCT__entry(
		__field(u32, opener)
		__field(u32, owner)
		__field(u32, pmcid)
		__field(u32, cpu)
		__field(u32, cause)
		__field(u64, count)
	),
	TP_fast_assign(
		__entry->opener = pid_nr(o->opener);
		__entry->owner = o->serial;
		__entry->pmcid = pmcid;
		__entry->cpu = cpu;
		__entry->cause = cause;
		__entry->count = count;
	),
	TP_printk("opener=%u owner=%u pmcid=%#x cpu=%d cause=%u count=%llu",
		  __entry->opener, __entry->owner, __entry->pmcid,
		  (int)__entry->cpu, __entry->cause, __entry->count)
);

/* A PMC and a process: attach, detach.  @pid is as the owner sees it. */
TRACE_EVENT(hwpmc_target,
	TP_PROTO(const struct hwpmc_owner *o, const char *what, u32 pmcid,
		 u32 pid),
	TP_ARGS(o, what, pmcid, pid),
	TP_STRUCT__entry(
		__field(u32, opener)
		__field(u32, owner)
		__array(char, what, HWPMC_TRACE_WHAT)
		__field(u32, pmcid)
		__field(u32, pid)
	),
	TP_fast_assign(
		__entry->opener = pid_nr(o->opener);
		__entry->owner = o->serial;
		strscpy(__entry->what, what, HWPMC_TRACE_WHAT);
		__entry->pmcid = pmcid;
		__entry->pid = pid;
	),
	TP_printk("opener=%u owner=%u %s pmcid=%#x pid=%u", __entry->opener,
		  __entry->owner, __entry->what, __entry->pmcid, __entry->pid)
);

#endif /* HWPMC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
