/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * ioctls of /dev/hwpmc.  An open file description is an "owner": it owns the
 * PMCs it allocates and at most one log.  The last close releases all of them.
 *
 * All structures are naturally aligned and of fixed width: 32-bit programs
 * need no translation.  The request number gives the size of the structure.
 * The module extends a shorter (older) structure with zeros.  It accepts a
 * longer one if the fields it does not know are zero (else E2BIG).  It refuses
 * unknown flag bits and non-zero reserved fields with EINVAL.
 *
 * Documentation/man/hwpmc.4 lists the errors of each operation.
 */
#ifndef _UAPI_LINUX_HWPMC_H
#define _UAPI_LINUX_HWPMC_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/pmclog.h>

/* version of the ABI: major.minor.patch as in the log's version word */
#define HWPMC_ABI_VERSION	0x0A000000U

#define HWPMC_NAME_MAX		PMCLOG_NAME_MAX

/* modes */
#define HWPMC_MODE_SS		0	/* system-wide sampling */
#define HWPMC_MODE_SC		1	/* system-wide counting */
#define HWPMC_MODE_TS		2	/* process sampling */
#define HWPMC_MODE_TC		3	/* process counting */

#define HWPMC_CLASS_SOFT	0x0F	/* every event source of perf */

/* PMC ids: cpu 31..20, mode 19..16, class 15..8, row 7..0 */
#define HWPMC_ID(cpu, mode, class, row) \
	((((__u32)(cpu) & 0xFFFU) << 20) | (((__u32)(mode) & 0xFU) << 16) | \
	 (((__u32)(class) & 0xFFU) << 8) | ((__u32)(row) & 0xFFU))
#define HWPMC_ID_CPU(id)	(((__u32)(id) >> 20) & 0xFFFU)
#define HWPMC_ID_MODE(id)	(((__u32)(id) >> 16) & 0xFU)
#define HWPMC_ID_CLASS(id)	(((__u32)(id) >> 8) & 0xFFU)
#define HWPMC_ID_ROW(id)	((__u32)(id) & 0xFFU)
#define HWPMC_ID_CPU_NONE	0xFFFU	/* process modes, and all CPUs */
#define HWPMC_NROW		256	/* most PMCs of an owner */

#define HWPMC_CPU_ANY		(-1)	/* process modes */
#define HWPMC_CPU_ALL		(-2)	/* system modes: all online CPUs, one id */

/* capabilities */
#define HWPMC_CAP_INTERRUPT	(1U << 0)
#define HWPMC_CAP_USER		(1U << 1)	/* count in user mode */
#define HWPMC_CAP_SYSTEM	(1U << 2)	/* count in kernel mode */
#define HWPMC_CAP_EDGE		(1U << 3)
#define HWPMC_CAP_THRESHOLD	(1U << 4)
#define HWPMC_CAP_READ		(1U << 5)
#define HWPMC_CAP_WRITE		(1U << 6)
#define HWPMC_CAP_INVERT	(1U << 7)
#define HWPMC_CAP_QUALIFIER	(1U << 8)
#define HWPMC_CAP_PRECISE	(1U << 9)
#define HWPMC_CAP_TAGGING	(1U << 10)
#define HWPMC_CAP_CASCADE	(1U << 11)
#define HWPMC_CAP_SYSWIDE	(1U << 12)
#define HWPMC_CAP_DOMWIDE	(1U << 13)

/* flags of a PMC; the low ones are FreeBSD's */
#define HWPMC_F_DESCENDANTS	0x00000002U
#define HWPMC_F_LOG_PROCCSW	0x00000004U
#define HWPMC_F_LOG_PROCEXIT	0x00000008U
#define HWPMC_F_NEWVALUE	0x00000010U	/* PMCRW */
#define HWPMC_F_OLDVALUE	0x00000020U	/* PMCRW */
#define HWPMC_F_CALLCHAIN	0x00000080U
#define HWPMC_F_USERCALLCHAIN	0x00000100U	/* with CALLCHAIN */
#define HWPMC_F_EXCLUDE_IDLE	0x01000000U	/* not in the idle task */
#define HWPMC_F_RAW		0x02000000U	/* log the tracepoint's fields */
#define HWPMC_F_INCLUDE_OWNER	0x04000000U	/* SS: sample the opener, too */
#define HWPMC_F_TRIGGER		0x08000000U	/* an overflow takes a snapshot */
#define HWPMC_F_UNWIND		0x10000000U	/* with CALLCHAIN: user frames by tables */
#define HWPMC_F_FREQ		0x20000000U	/* @count: samples a second; perf chooses periods */
#define HWPMC_F_BRANCH		0x40000000U	/* log the branches before each sample */
#define HWPMC_F_DATA		0x80000000U	/* log each sample's access to memory */

/**
 * struct hwpmc_configurelog - CONFIGURELOG and ROTATELOG
 * @fd: a file opened for writing; negative (CONFIGURELOG only): end the log, or,
 *	with HWPMC_LOG_STREAM or HWPMC_LOG_FLIGHT, begin a log without a file
 * @flags: HWPMC_LOG_*; STREAM and FLIGHT need a negative @fd
 * @size: HWPMC_LOG_FLIGHT: bytes of log to keep; HWPMC_LOG_STREAM: bytes of the
 *	buffer for read(2), 0: the module's default; otherwise 0
 */
struct hwpmc_configurelog {
	__s32	fd;
	__u32	flags;
	__u64	size;
};

/* write samples in packs: see struct pmclog_ext_samples */
#define HWPMC_LOG_PACKED	0x00000001U
/* the log is read with read(2) from the device */
#define HWPMC_LOG_STREAM	0x00000002U
/* the last part of the log is kept in memory, for SNAPSHOT */
#define HWPMC_LOG_FLIGHT	0x00000004U

/**
 * struct hwpmc_writelog - WRITELOG
 * @userdata: value of a USERDATA record, when @len is 0
 * @len:      bytes at @records; 0: write one USERDATA record
 * @records:  user address of complete records: USERDATA extension records of
 *            the subtypes KERNEL, MODULE, SECTION, BUILDID and FIELDS, and
 *            MAP_IN with pid PMCLOG_PID_KERNEL.  The module sets their
 *            timestamps.  It keeps the records and repeats them at the start
 *            of a rotated log.
 */
struct hwpmc_writelog {
	__u32	userdata;
	__u32	len;
	__u64	records;
};

#define HWPMC_WRITELOG_MAX	(1U << 20)	/* @len per call, and per log */

struct hwpmc_classinfo {
	__u32	pmc_class;
	__u32	caps;
	__u32	width;		/* bits */
	__u32	num;		/* rows */
};

#define HWPMC_NCLASS_MAX	4

struct hwpmc_cpuinfo {
	__u32	cputype;
	__u32	ncpu;		/* CPU numbers are below this */
	__u32	ncpu_online;
	__u32	npmc;		/* rows of an owner */
	__u32	nclass;
	__u32	reserved;
	struct hwpmc_classinfo classes[HWPMC_NCLASS_MAX];
	char	cpuid[PMCLOG_CPUID_LEN];
};

#define HWPMC_STATS_MODULE	0
#define HWPMC_STATS_OWNER	1

/**
 * struct hwpmc_driverstats - GETDRIVERSTATS
 * @scope: in: HWPMC_STATS_MODULE (since load) or HWPMC_STATS_OWNER
 * @intr_processed, @intr_ignored, @intr_bufferfull: overflows that became a
 *	sample, that were filtered, and that were dropped (for any cause)
 * @syscalls, @syscall_errors: ioctls, and those that failed
 * @buffer_requests, @buffer_requests_failed: allocations of rings
 * @log_sweeps: passes of the writer thread
 * @bytes_written, @records_written: to the log's file
 * @log_errno: pending write error of the owner's log, positive; 0: none
 * @account: since the owner was opened, or the module loaded.  in_rings
 *	is exact only while no PMC is sampling.
 */
struct hwpmc_driverstats {
	__u32	scope;
	__u32	reserved;
	__u64	intr_processed;
	__u64	intr_ignored;
	__u64	intr_bufferfull;
	__u64	syscalls;
	__u64	syscall_errors;
	__u64	buffer_requests;
	__u64	buffer_requests_failed;
	__u64	log_sweeps;
	__u64	bytes_written;
	__u64	records_written;
	__u32	log_errno;
	__u32	reserved2;
	struct pmclog_account account;
};

/**
 * struct hwpmc_moduleversion - GETMODULEVERSION
 * @version: in: the caller's HWPMC_ABI_VERSION, or 0; out: the module's.
 *	EPROTONOSUPPORT if the caller's major is newer than the module's.
 */
struct hwpmc_moduleversion {
	__u32	version;
	__u32	reserved;
};

/**
 * struct hwpmc_allocate - PMCALLOCATE
 * @mode:  HWPMC_MODE_*
 * @cpu:   a CPU or HWPMC_CPU_ALL for system modes, HWPMC_CPU_ANY otherwise
 * @flags: in: HWPMC_F_*; out: those in force
 * @pmc_class: HWPMC_CLASS_SOFT
 * @caps:  HWPMC_CAP_*; USER and SYSTEM select the CPU modes to count in
 *	(neither: both); sampling implies INTERRUPT.  PRECISE (sampling only): each
 *	sample has the address of the instruction that caused it, as exactly as the
 *	PMU can have it; EOPNOTSUPP: it cannot
 * @type, @config, @config1, @config2: as in struct perf_event_attr
 * @count: in: period or initial count; 0: 65536 for sampling (1 for tracepoints
 *	and breakpoints), 0 for counting.
 *	out: the value in force (a short period is raised to the minimum).
 *	With HWPMC_F_FREQ: samples a second; 0: 4000.  A clock then gets the period
 *	of that rate, and loses the flag (but see SETBUDGET)
 * @id:    out: the id of the PMC
 * @name:  name of the event for the log, NUL-terminated
 * @config3, @bp_type: as in struct perf_event_attr
 * @branch: with HWPMC_F_BRANCH: which branches, as in perf_event_attr's
 *	branch_sample_type; else 0.  Without a mode (USER, KERNEL, HV): in the modes
 *	that the PMC counts in.  KERNEL and HV need the right to profile the kernel.
 *	CALL_STACK, HW_INDEX, COUNTERS, unknown bits: EOPNOTSUPP
 * @precise: out: of PRECISE, perf_event_attr's precise_ip in force; else 0
 *
 * HWPMC_F_BRANCH and HWPMC_F_DATA are for sampling only (EINVAL), and for events of
 * PMUs: EOPNOTSUPP if the event's PMU has no branches, and for HWPMC_F_DATA of events
 * that no PMU counts.  Not every event of a PMU that can record accesses does.
 */
struct hwpmc_allocate {
	__u32	mode;
	__s32	cpu;
	__u32	flags;
	__u32	pmc_class;
	__u32	caps;
	__u32	type;
	__u64	config;
	__u64	config1;
	__u64	config2;
	__u64	count;
	__u32	id;
	__u32	reserved;
	char	name[HWPMC_NAME_MAX];
	__u64	config3;
	__u32	bp_type;
	__u32	reserved2;
	__u64	branch;
	__u32	precise;
	__u32	reserved3;
};

/**
 * struct hwpmc_attach - PMCATTACH and PMCDETACH
 * @id:  a PMC of a process mode
 * @pid: a process, by its number in the caller's pid namespace; 0: the caller
 */
struct hwpmc_attach {
	__u32	id;
	__s32	pid;
};

#define HWPMC_DISP_STANDALONE	0	/* used by a PMC of a system mode */
#define HWPMC_DISP_FREE		1
#define HWPMC_DISP_THREAD	2	/* used by a PMC of a process mode */
#define HWPMC_DISP_UNKNOWN	3	/* disabled */

/**
 * struct hwpmc_pmcinfo_row - one owner's use of one row of one CPU
 * @row:       0 to HWPMC_NROW - 1
 * @enabled:   0: the administrator has disabled the row, no owner can use it
 * @disposition: HWPMC_DISP_*
 * @owner_pid: the process that opened the device, as the caller sees it; -1:
 *             the row is free, or the process has ended or is in another pid
 *             namespace
 * @state:     HWPMC_STATE_*; DELETED: released, but the row is in use until
 *             the PMC's samples are in the log
 * @reload:    period of a sampling PMC, else 0
 * @type, @config: as in struct perf_event_attr
 * For a free row, and for a PMC that the caller may not see, @owner_pid is -1
 * and the fields after it are zero.  A caller without the privilege for system
 * modes sees its own PMCs, and those of openers with its effective uid.
 */
struct hwpmc_pmcinfo_row {
	__u32	row;
	__u32	pmc_class;
	__u32	enabled;
	__u32	disposition;
	__s32	owner_pid;
	__u32	mode;
	__u32	state;
	__u32	flags;
	__u32	id;
	__u32	type;
	__u64	config;
	__u64	reload;
	char	name[HWPMC_NAME_MAX];
};

/**
 * struct hwpmc_pmcinfo - GETPMCINFO: the rows of a CPU that are used or disabled
 * @cpu:   in: EINVAL if out of range, ENXIO if offline
 * @nrows: in: entries that fit at @rows; out: entries that exist.  If these
 *         are more, call again with a larger @rows.
 * @npmc:  out: rows of an owner; rows that are not listed are free
 * @rows:  user address of struct hwpmc_pmcinfo_row[], ordered by row.  Each
 *         owner has its own rows: a row is listed once for each owner using it.
 */
struct hwpmc_pmcinfo {
	__s32	cpu;
	__u32	nrows;
	__u32	npmc;
	__u32	reserved;
	__u64	rows;
};

/* states of a PMC, as in <pmc.h> */
#define HWPMC_STATE_DISABLED	0
#define HWPMC_STATE_FREE	1
#define HWPMC_STATE_ALLOCATED	2
#define HWPMC_STATE_STOPPED	3
#define HWPMC_STATE_RUNNING	4
#define HWPMC_STATE_DELETED	5

/**
 * struct hwpmc_admin - PMCADMIN: enable or disable a row of a CPU for all owners
 * @cpu:   EINVAL if out of range, ENXIO if offline
 * @row:   0 to HWPMC_NROW - 1
 * @state: HWPMC_STATE_DISABLED or HWPMC_STATE_FREE
 *
 * A PMC of all CPUs or of a process mode uses its row on every CPU.
 */
struct hwpmc_admin {
	__s32	cpu;
	__u32	row;
	__u32	state;
	__u32	reserved;
};

/* an event with a name; @type and @config are for PMCALLOCATE */
struct hwpmc_dynevent {
	char	name[HWPMC_NAME_MAX];
	__u64	config;
	__u32	type;
	__u32	reserved;
};

/**
 * struct hwpmc_dyneventinfo - GETDYNEVENTINFO: events of a class by name
 * @pmc_class: HWPMC_CLASS_SOFT, else EINVAL
 * @nevents:   in: entries that fit at @events; out: entries that exist
 * @events:    user address of struct hwpmc_dynevent[]; lists only events that
 *             this machine can count
 */
struct hwpmc_dyneventinfo {
	__u32	pmc_class;
	__u32	nevents;
	__u64	events;
};

/* PMCGETMSR: always ENOSYS on Linux, see hwpmc(4) */
struct hwpmc_getmsr {
	__u32	id;
	__u32	msr;
};

/* PMCRELEASE, PMCSTART, PMCSTOP */
struct hwpmc_simple {
	__u32	id;
	__u32	reserved;
};

/* PMCSETCOUNT; @count in: period or initial count; out: the value in force */
struct hwpmc_setcount {
	__u32	id;
	__u32	reserved;
	__u64	count;
};

/**
 * struct hwpmc_rw - PMCRW
 * @flags:   HWPMC_F_OLDVALUE and/or HWPMC_F_NEWVALUE
 * @cpu:     HWPMC_CPU_ALL: the sum (process modes: over all targets that are
 *           or were attached); or one CPU of a system-mode PMC (read only)
 * @value:   in: new value; out: old value
 * @enabled, @running: out: nanoseconds, summed over CPUs or threads like
 *           @value.  @running is less than @enabled if the event shared a
 *           counter with others.
 */
struct hwpmc_rw {
	__u32	id;
	__u32	flags;
	__s32	cpu;
	__u32	reserved;
	__u64	value;
	__u64	enabled;
	__u64	running;
};

/* the property that a condition tests */
#define HWPMC_COND_PID		1
#define HWPMC_COND_TID		2
#define HWPMC_COND_COMM		3	/* name of the thread */
#define HWPMC_COND_CGROUP	4	/* this cgroup, or one below it */
#define HWPMC_COND_USER		5	/* user mode; not equal: kernel mode */
#define HWPMC_COND_EQ		0
#define HWPMC_COND_NE		1

/**
 * struct hwpmc_condition - a condition on samples
 * @what:  HWPMC_COND_*
 * @op:    HWPMC_COND_EQ or HWPMC_COND_NE
 * @value: PID, TID: the number in the owner's pid namespace; CGROUP: descriptor
 *	of an open directory of cgroup2; else 0
 * @comm:  COMM: NUL-terminated; else zeros
 */
struct hwpmc_condition {
	__u32	what;
	__u32	op;
	__s64	value;
	char	comm[16];
};

#define HWPMC_NCONDITION	16	/* of one PMC */

/**
 * struct hwpmc_filter - PMCFILTER: select the samples of a PMC
 * @id: a sampling PMC that is not running (else EBUSY)
 * @n:  number of @conditions, at most HWPMC_NCONDITION (E2BIG); 0: select all
 * @conditions: user address of struct hwpmc_condition[]
 *
 * The conditions replace those set before.  A sample is selected if no
 * HWPMC_COND_NE condition excludes it and if, for each @what that has
 * HWPMC_COND_EQ conditions, at least one of them holds.  Other samples are
 * counted as filtered.
 */
struct hwpmc_filter {
	__u32	id;
	__u32	n;
	__u64	conditions;
};

/**
 * struct hwpmc_record - RECORD: all PMCs of the owner at once
 * @on:   1: start all PMCs that are not running.  EBUSY if a PMC started by
 *	RECORD is running, ENOENT if the owner has no PMCs.  If a PMC needs a
 *	log and the owner has none, a log that is read from the device
 *	(HWPMC_LOG_STREAM) begins.
 *	0: stop the PMCs that RECORD started.  EINVAL if none is running.
 * @npmc: out: number of PMCs started or stopped
 * @skew: out: nanoseconds from the start of the first counter to that of the
 *	last; 0 for a stop.  Samples are recorded only between two moments at
 *	which all counters run.
 */
struct hwpmc_record {
	__u32	on;
	__u32	npmc;
	__u64	skew;
};

/**
 * struct hwpmc_atbase - GETATBASE: load address of a process' run-time loader
 * @pid:  as for PMCATTACH, with the same permission checks
 * @base: out: AT_BASE; 0 if the process has no run-time loader
 */
struct hwpmc_atbase {
	__s32	pid;
	__u32	reserved;
	__u64	base;
};

/* Write at the first trigger, not now.  A negative @fd disarms. */
#define HWPMC_SNAPSHOT_ARM	0x00000001U

/**
 * struct hwpmc_snapshot - SNAPSHOT: write the kept part of a HWPMC_LOG_FLIGHT log
 * @fd:    a file opened for writing
 * @flags: HWPMC_SNAPSHOT_ARM or 0
 *
 * EINVAL if the owner has no such log.  Without HWPMC_SNAPSHOT_ARM the call
 * returns when the snapshot is written.  With it the module writes to the file
 * at the first trigger.  poll(2) then returns POLLPRI until SNAPSHOT is called
 * with HWPMC_SNAPSHOT_ARM again.
 */
struct hwpmc_snapshot {
	__s32	fd;
	__u32	flags;
};

#define HWPMC_EXIT_NEVER	0
#define HWPMC_EXIT_FAILED	1	/* any status but 0 */
#define HWPMC_EXIT_STATUS	2	/* the given status */

/**
 * struct hwpmc_exittrigger - EXITTRIGGER: process exits that take a snapshot
 * @what:   HWPMC_EXIT_*
 * @status: HWPMC_EXIT_STATUS: as wait(2) returns it; else 0
 * @pid:    the process; 0: any process in the log
 */
struct hwpmc_exittrigger {
	__u32	what;
	__s32	status;
	__s32	pid;
	__u32	reserved;
};

/**
 * struct hwpmc_unwindtable - UNWINDTABLE: supply the unwind table of an object
 * @id:   the object, by its id from UNWINDNEXT; 0: @fd or @flags names it
 * @fd:   the object's file; -1: @id or @flags names the object
 * @data, @len: user address and bytes of a table, see linux/hwpmc_unwind.h;
 *	@len 0: the object has no table, follow frame pointers in it
 * @flags: HWPMC_UNWIND_VDSO: the object is the vdso
 *
 * EEXIST: the object has a table already, or is known to have none.
 */
struct hwpmc_unwindtable {
	__u32	id;
	__s32	fd;
	__u64	data;
	__u64	len;
	__u32	flags;
	__u32	reserved;
};

/**
 * struct hwpmc_unwindnext - UNWINDNEXT: get an object sampled without a table
 * @id: out: names the object for UNWINDTABLE
 * @fd: out: the object's file, opened with O_PATH and O_CLOEXEC; -1: the vdso
 *
 * EAGAIN: no object is waiting.  poll(2) returns POLLRDBAND when one is.
 */
struct hwpmc_unwindnext {
	__u32	id;
	__s32	fd;
	__u64	reserved;
};

#define HWPMC_UNWIND_VDSO	0x00000001U

/**
 * struct hwpmc_setbudget - SETBUDGET: what sampling may cost
 * @ppm: most time, in millionths of that of each CPU, that the owner's overflow
 *	handlers and writer thread may take; 0: any
 *
 * The module lowers the rates of the owner's PMCs with HWPMC_F_FREQ as far as that
 * takes, and raises them again up to those asked for.  A clock keeps that flag then.
 * Each change is in the log, as the PMC's description with its new rate.  What the
 * interrupts cost outside of the module, and deferred chains, are not measured.
 * EBUSY: the owner has PMCs or a log.
 */
struct hwpmc_setbudget {
	__u32	ppm;
	__u32	reserved;
};

/**
 * struct hwpmc_getbudget - GETBUDGET
 * @ppm:   the budget
 * @scale: part in force of the rates asked for, in millionths
 * @worst: cost on the CPU where it was highest, lately, in millionths of its time
 * @cpu:   the CPU that has paid most since the budget was set
 * @spent: what it has paid, in nanoseconds
 * @elapsed: nanoseconds since the budget was set; 0: there is none
 */
struct hwpmc_getbudget {
	__u32	ppm;
	__u32	scale;
	__u32	worst;
	__u32	cpu;
	__u64	spent;
	__u64	elapsed;
};

/**
 * struct hwpmc_setcpus - SETCPUS: the CPUs that the owner is for
 * @mask: address of a mask of CPUs, as for sched_setaffinity(2); 0 if @len is 0
 * @len:  bytes of it; 0: all CPUs, as at first.  CPUs that the machine cannot have are
 *	ignored, also those beyond the mask
 *
 * A PMC of all CPUs then runs on these CPUs only, and the log has only what happens
 * there, also of processes.  The writer thread runs there.  Process modes are refused.
 * EBUSY: the owner has PMCs or a log.  EINVAL: none of the machine's CPUs is in the mask.
 */
struct hwpmc_setcpus {
	__u64	mask;
	__u32	len;
	__u32	reserved;
};

/* The numbers are those of FreeBSD's operations; from 64 on they are ours. */
#define HWPMC_IOC_MAGIC		0xB6
#define HWPMC_IOC_CONFIGURELOG	_IOW(HWPMC_IOC_MAGIC, 0, struct hwpmc_configurelog)
#define HWPMC_IOC_FLUSHLOG	_IO(HWPMC_IOC_MAGIC, 1)
#define HWPMC_IOC_GETCPUINFO	_IOR(HWPMC_IOC_MAGIC, 2, struct hwpmc_cpuinfo)
#define HWPMC_IOC_GETDRIVERSTATS _IOWR(HWPMC_IOC_MAGIC, 3, struct hwpmc_driverstats)
#define HWPMC_IOC_GETMODULEVERSION _IOWR(HWPMC_IOC_MAGIC, 4, struct hwpmc_moduleversion)
#define HWPMC_IOC_GETPMCINFO	_IOWR(HWPMC_IOC_MAGIC, 5, struct hwpmc_pmcinfo)
#define HWPMC_IOC_PMCADMIN	_IOW(HWPMC_IOC_MAGIC, 6, struct hwpmc_admin)
#define HWPMC_IOC_PMCALLOCATE	_IOWR(HWPMC_IOC_MAGIC, 7, struct hwpmc_allocate)
#define HWPMC_IOC_PMCATTACH	_IOW(HWPMC_IOC_MAGIC, 8, struct hwpmc_attach)
#define HWPMC_IOC_PMCDETACH	_IOW(HWPMC_IOC_MAGIC, 9, struct hwpmc_attach)
#define HWPMC_IOC_PMCGETMSR	_IOWR(HWPMC_IOC_MAGIC, 10, struct hwpmc_getmsr)
#define HWPMC_IOC_PMCRELEASE	_IOW(HWPMC_IOC_MAGIC, 11, struct hwpmc_simple)
#define HWPMC_IOC_PMCRW		_IOWR(HWPMC_IOC_MAGIC, 12, struct hwpmc_rw)
#define HWPMC_IOC_PMCSETCOUNT	_IOWR(HWPMC_IOC_MAGIC, 13, struct hwpmc_setcount)
#define HWPMC_IOC_PMCSTART	_IOW(HWPMC_IOC_MAGIC, 14, struct hwpmc_simple)
#define HWPMC_IOC_PMCSTOP	_IOW(HWPMC_IOC_MAGIC, 15, struct hwpmc_simple)
#define HWPMC_IOC_WRITELOG	_IOW(HWPMC_IOC_MAGIC, 16, struct hwpmc_writelog)
#define HWPMC_IOC_CLOSELOG	_IO(HWPMC_IOC_MAGIC, 17)
#define HWPMC_IOC_GETDYNEVENTINFO _IOWR(HWPMC_IOC_MAGIC, 18, struct hwpmc_dyneventinfo)
#define HWPMC_IOC_ROTATELOG	_IOW(HWPMC_IOC_MAGIC, 64, struct hwpmc_configurelog)
#define HWPMC_IOC_PMCFILTER	_IOW(HWPMC_IOC_MAGIC, 65, struct hwpmc_filter)
#define HWPMC_IOC_RECORD	_IOWR(HWPMC_IOC_MAGIC, 66, struct hwpmc_record)
#define HWPMC_IOC_GETATBASE	_IOWR(HWPMC_IOC_MAGIC, 67, struct hwpmc_atbase)
#define HWPMC_IOC_SNAPSHOT	_IOW(HWPMC_IOC_MAGIC, 68, struct hwpmc_snapshot)
#define HWPMC_IOC_EXITTRIGGER	_IOW(HWPMC_IOC_MAGIC, 69, struct hwpmc_exittrigger)
#define HWPMC_IOC_UNWINDTABLE	_IOW(HWPMC_IOC_MAGIC, 70, struct hwpmc_unwindtable)
#define HWPMC_IOC_UNWINDNEXT	_IOWR(HWPMC_IOC_MAGIC, 71, struct hwpmc_unwindnext)
#define HWPMC_IOC_SETBUDGET	_IOW(HWPMC_IOC_MAGIC, 72, struct hwpmc_setbudget)
#define HWPMC_IOC_GETBUDGET	_IOR(HWPMC_IOC_MAGIC, 73, struct hwpmc_getbudget)
#define HWPMC_IOC_SETCPUS	_IOW(HWPMC_IOC_MAGIC, 74, struct hwpmc_setcpus)

#endif /* _UAPI_LINUX_HWPMC_H */
