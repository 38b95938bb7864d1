/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * ioctls of /dev/hwpmc.  An open file description is an "owner": it owns the
 * PMCs it allocates and at most one log.  Closing it releases all.
 *
 * All structures are naturally aligned and of fixed width: 32-bit programs
 * need no translation.  The size is taken from the request number: shorter
 * (older) structures are filled up with zeros, longer ones are accepted when
 * what the module does not know is zero (else E2BIG).  Unknown flag bits and
 * reserved fields that are not zero are refused with EINVAL.
 *
 * Documentation/hwpmc.4 lists the errors of each operation.
 */
#ifndef _UAPI_LINUX_HWPMC_H
#define _UAPI_LINUX_HWPMC_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/pmclog.h>

/* the ABI's version: major.minor.patch as in the log's version word */
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
#define HWPMC_NROW		256	/* PMCs an owner can have */

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

/**
 * struct hwpmc_configurelog - CONFIGURELOG and ROTATELOG
 * @fd: a file opened for writing; negative (CONFIGURELOG only): end the log
 */
struct hwpmc_configurelog {
	__s32	fd;
	__u32	flags;		/* 0 */
};

/**
 * struct hwpmc_writelog - WRITELOG
 * @userdata: value of a USERDATA record, when @len is 0
 * @len:      bytes at @records; the bulk form
 * @records:  user address of ready-made records: USERDATA extension records of
 *            the subtypes KERNEL, MODULE, SECTION and BUILDID and MAP_IN with
 *            pid PMCLOG_PID_KERNEL.  Their time stamps are set by the module.
 *            They are kept and repeated at the start of a rotated log.
 */
struct hwpmc_writelog {
	__u32	userdata;
	__u32	len;
	__u64	records;
};

#define HWPMC_WRITELOG_MAX	(1U << 20)	/* bulk bytes per call and owner */

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
 *	sample, were filtered, found no room (or another cause to drop)
 * @syscalls, @syscall_errors: ioctls
 * @buffer_requests, @buffer_requests_failed: rings asked for
 * @log_sweeps: passes of the writing thread
 * @bytes_written, @records_written: to the log's file
 * @log_errno: pending write error, positive, 0 none (owner)
 * @account: since the owner was opened, or the module loaded.  in_rings
 *	is exact when nothing is sampling.
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
 * @version: in: the client's HWPMC_ABI_VERSION, or 0; out: the module's.
 *	EPROTONOSUPPORT when the client's major is newer than the module's.
 */
struct hwpmc_moduleversion {
	__u32	version;
	__u32	reserved;
};

/**
 * struct hwpmc_allocate - PMCALLOCATE
 * @mode:  HWPMC_MODE_*
 * @cpu:   a CPU or HWPMC_CPU_ALL for system modes, HWPMC_CPU_ANY otherwise
 * @flags: HWPMC_F_*
 * @pmc_class: HWPMC_CLASS_SOFT
 * @caps:  HWPMC_CAP_*; USER and SYSTEM select the modes counted in (neither:
 *	both); sampling implies INTERRUPT
 * @type, @config, @config1, @config2: as in struct perf_event_attr
 * @count: in: period or initial count; 0: 65536 for sampling, 0 for counting.
 *	out: the period in force (raised to the minimum)
 * @id:    out
 * @name:  the event's name for the log, NUL-terminated
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
};

/* PMCRELEASE, PMCSTART, PMCSTOP */
struct hwpmc_simple {
	__u32	id;
	__u32	reserved;
};

/* PMCSETCOUNT; @count out: what is in force */
struct hwpmc_setcount {
	__u32	id;
	__u32	reserved;
	__u64	count;
};

/**
 * struct hwpmc_rw - PMCRW
 * @flags:   HWPMC_F_OLDVALUE and/or HWPMC_F_NEWVALUE
 * @cpu:     HWPMC_CPU_ALL: the sum; or one CPU of the PMC (read only)
 * @value:   in: new value; out: old value
 * @enabled, @running: out: nanoseconds, summed over CPUs as @value is
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

/* numbers are FreeBSD's operation numbers; from 64 on ours */
#define HWPMC_IOC_MAGIC		0xB6
#define HWPMC_IOC_CONFIGURELOG	_IOW(HWPMC_IOC_MAGIC, 0, struct hwpmc_configurelog)
#define HWPMC_IOC_FLUSHLOG	_IO(HWPMC_IOC_MAGIC, 1)
#define HWPMC_IOC_GETCPUINFO	_IOR(HWPMC_IOC_MAGIC, 2, struct hwpmc_cpuinfo)
#define HWPMC_IOC_GETDRIVERSTATS _IOWR(HWPMC_IOC_MAGIC, 3, struct hwpmc_driverstats)
#define HWPMC_IOC_GETMODULEVERSION _IOWR(HWPMC_IOC_MAGIC, 4, struct hwpmc_moduleversion)
#define HWPMC_IOC_PMCALLOCATE	_IOWR(HWPMC_IOC_MAGIC, 7, struct hwpmc_allocate)
#define HWPMC_IOC_PMCRELEASE	_IOW(HWPMC_IOC_MAGIC, 11, struct hwpmc_simple)
#define HWPMC_IOC_PMCRW		_IOWR(HWPMC_IOC_MAGIC, 12, struct hwpmc_rw)
#define HWPMC_IOC_PMCSETCOUNT	_IOWR(HWPMC_IOC_MAGIC, 13, struct hwpmc_setcount)
#define HWPMC_IOC_PMCSTART	_IOW(HWPMC_IOC_MAGIC, 14, struct hwpmc_simple)
#define HWPMC_IOC_PMCSTOP	_IOW(HWPMC_IOC_MAGIC, 15, struct hwpmc_simple)
#define HWPMC_IOC_WRITELOG	_IOW(HWPMC_IOC_MAGIC, 16, struct hwpmc_writelog)
#define HWPMC_IOC_CLOSELOG	_IO(HWPMC_IOC_MAGIC, 17)
#define HWPMC_IOC_ROTATELOG	_IOW(HWPMC_IOC_MAGIC, 64, struct hwpmc_configurelog)

#endif /* _UAPI_LINUX_HWPMC_H */
