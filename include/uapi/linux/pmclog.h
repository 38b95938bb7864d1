/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * The pmclog wire format, version 10.0.0, as hwpmc for Linux writes it.
 *
 * Every record begins with struct pmclog_hdr.  Numbers are little-endian.
 * Addresses are 8 bytes on every machine.  A record's length is a multiple of
 * 4, so records (and the 64-bit fields in them) are 4-aligned in a file.
 * Readers must use accesses that allow this alignment.
 *
 * Data that FreeBSD's format has no field for follows the known fields of a
 * record ("trailing"), or is a USERDATA record whose first word is
 * PMCLOG_EXT_COOKIE.  FreeBSD's parser accepts both.
 * Documentation/design/pmclog-extensions.rst says when each is written.
 */
#ifndef _UAPI_LINUX_PMCLOG_H
#define _UAPI_LINUX_PMCLOG_H

#include <linux/types.h>

#define PMCLOG_MAGIC		0xEEU
#define PMCLOG_VERSION		0x0A000000U	/* 10.0.0 */
#define PMCLOG_RECORD_MAX	4128		/* longest record that hwpmc writes */
#define PMCLOG_PATH_MAX		1024		/* with the NUL */
#define PMCLOG_NAME_MAX		64		/* with the NUL */
#define PMCLOG_COMM_MAX		20		/* with the NUL */
#define PMCLOG_CPUID_LEN	64
#define PMCLOG_CHAIN_MAX	512
#define PMCLOG_PMCID_NONE	0xFFFFFFFFU
#define PMCLOG_CPU_NONE		0xFFFFFFFFU
#define PMCLOG_PID_KERNEL	0xFFFFFFFFU	/* MAP_IN/MAP_OUT: kernel, modules */

#define PMCLOG_CPUTYPE_GENERIC	0x400U

/* record types */
#define PMCLOG_T_CLOSELOG	1
#define PMCLOG_T_DROPNOTIFY	2
#define PMCLOG_T_INITIALIZE	3
#define PMCLOG_T_PMCALLOCATE	5
#define PMCLOG_T_PMCATTACH	6
#define PMCLOG_T_PMCDETACH	7
#define PMCLOG_T_PROCCSW	8
#define PMCLOG_T_PROCEXEC	9
#define PMCLOG_T_PROCEXIT	10
#define PMCLOG_T_PROCFORK	11
#define PMCLOG_T_SYSEXIT	12
#define PMCLOG_T_USERDATA	13
#define PMCLOG_T_MAP_IN		14
#define PMCLOG_T_MAP_OUT	15
#define PMCLOG_T_CALLCHAIN	16
#define PMCLOG_T_PMCALLOCATEDYN	17
#define PMCLOG_T_THR_CREATE	18
#define PMCLOG_T_THR_EXIT	19
#define PMCLOG_T_PROC_CREATE	20

#define PMCLOG_HEADER(type, len) \
	((PMCLOG_MAGIC << 24) | ((__u32)(type) << 16) | ((__u32)(len) & 0xFFFFU))
#define PMCLOG_HEADER_MAGIC(h)	((__u32)(h) >> 24)
#define PMCLOG_HEADER_TYPE(h)	(((__u32)(h) >> 16) & 0xFFU)
#define PMCLOG_HEADER_LEN(h)	((__u32)(h) & 0xFFFFU)

/**
 * struct pmclog_hdr - first 16 bytes of every record
 * @header: magic, type, length in bytes of the whole record
 * @spare:  0
 * @tsc:    nanoseconds of CLOCK_MONOTONIC_RAW; never decreases within a log
 */
struct pmclog_hdr {
	__u32	header;
	__u32	spare;
	__u64	tsc;
};

/* cpuflags of a CALLCHAIN: CPU number << 16 | flags */
#define PMCLOG_CC_USERSPACE	0x0001U	/* the sample was taken in user mode */
#define PMCLOG_CC_MULTIPART	0x0002U
#define PMCLOG_CC_USERLATE	0x0004U	/* see struct pmclog_ext_userchain */
/* how the chain ends; with USERLATE, how the part in this record ends */
#define PMCLOG_CC_WHOLE		0x0100U	/* user part ends at its thread's first frame */
#define PMCLOG_CC_TABLES	0x0200U	/* all callers in it are by unwind tables */
#define PMCLOG_CC_CUT(cause)	(0x1000U << (cause))	/* enum pmclog_cut_cause */
#define PMCLOG_CC_CUT_ANY	0xF000U
#define PMCLOG_CC_CPUFLAGS(cpu, flags)	(((__u32)(cpu) << 16) | (flags))
#define PMCLOG_CC_CPU(f)	((__u32)(f) >> 16)
#define PMCLOG_CC_FLAGS(f)	((__u32)(f) & 0xFFFFU)

/**
 * struct pmclog_callchain - one sample
 * @pc: innermost first; kernel frames, then user frames; (length - 32) / 8
 *      entries.  Return addresses are logged unchanged, so look up pc - 1 for
 *      every frame except the first of each of the two parts.  A caller that was
 *      interrupted has its address plus 1, where the unwinder tells it apart.
 */
struct pmclog_callchain {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	tid;
	__u32	pmcid;
	__u32	cpuflags;
	__u64	pc[];
};

struct pmclog_initialize {
	struct pmclog_hdr h;
	__u32	version;
	__u32	cputype;
	__u64	tsc_freq;	/* 1000000000: tsc counts nanoseconds */
	__s64	ts_sec;		/* wall clock at h.tsc */
	__s64	ts_nsec;
	char	cpuid[PMCLOG_CPUID_LEN];
};

/**
 * struct pmclog_pmcallocatedyn - announces a PMC id before its first sample
 * @event:  0x20000 + n
 * @flags:  PMC_F_*
 * @name:   the event's name
 * The fields from @rate on are trailing (ours):
 * @rate:   period of a sampling PMC, or its rate with HWPMC_F_FREQ; else 0
 * @config: perf_event_attr.config
 * @type:   perf_event_attr.type
 * @cpu:    the CPU, or HWPMC_CPU_ALL
 */
struct pmclog_pmcallocatedyn {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	event;
	__u32	flags;
	__u32	pad;
	char	name[PMCLOG_NAME_MAX];
	__u64	rate;
	__u64	config;
	__u32	type;
	__s32	cpu;
};

#define PMCLOG_PMCALLOCATEDYN_BASE	96	/* without the trailing part */

/* lengths in the log where sizeof() would add padding */
#define PMCLOG_THR_CREATE_LEN	52
#define PMCLOG_PROC_CREATE_LEN	44

/**
 * struct pmclog_pmcattach - a PMC counts in a process from its next start on
 * @path: path of the process' executable; "" for a kernel thread.
 *	NUL-terminated, record padded with NULs to a multiple of 4
 *
 * If a child gets a PMC by DESCENDANTS, only PROCFORK is logged.
 */
struct pmclog_pmcattach {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
	char	path[];
};

/*
 * end of an attachment: PMCDETACH, or an exec that changed the credentials; where a
 * log begins while recording goes on, also: the process has ended before its start
 */
struct pmclog_pmcdetach {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
};

/**
 * struct pmclog_proccsw - count of a thread when it leaves the CPU
 * @value: count since the thread was scheduled in
 */
struct pmclog_proccsw {
	struct pmclog_hdr h;
	__u64	value;
	__u32	pmcid;
	__u32	pid;
	__u32	tid;
	__u32	pad;
};

/**
 * struct pmclog_procexit - count of a process when it ends
 * @value: sum over its threads
 * The other fields are trailing (ours):
 * @enabled, @running: nanoseconds, summed over its threads
 */
struct pmclog_procexit {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
	__u64	value;
	__u64	enabled;
	__u64	running;
};

#define PMCLOG_PROCEXIT_BASE	32	/* without the trailing part */

/* path NUL-terminated, record padded with NULs to a multiple of 4 */
struct pmclog_map_in {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	pad;
	__u64	start;
	char	path[];
};

struct pmclog_map_out {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	pad;
	__u64	start;
	__u64	end;
};

/**
 * struct pmclog_procexec - the process runs a new image; forget its mappings
 * @base: load address of the run-time loader (AT_BASE), 0 if there is none
 * @dyn:  load base of a position-independent executable, 0 otherwise
 * @pmcid: a PMC attached to the process, or PMCLOG_PMCID_NONE: the log is of
 *	the whole system.  There is one record for each owner.
 */
struct pmclog_procexec {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	pmcid;
	__u64	base;
	__u64	dyn;
	char	path[];
};

struct pmclog_procfork {
	struct pmclog_hdr h;
	__u32	oldpid;
	__u32	newpid;
};

struct pmclog_sysexit {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	pad;
};

struct pmclog_userdata {
	struct pmclog_hdr h;
	__u32	userdata;
	__u32	pad;
};

/* repeated when a thread is renamed: the latest name is valid */
struct pmclog_thr_create {
	struct pmclog_hdr h;
	__u32	tid;
	__u32	pid;
	__u32	flags;
	__u32	pad;
	char	name[PMCLOG_COMM_MAX];
};

struct pmclog_thr_exit {
	struct pmclog_hdr h;
	__u32	tid;
	__u32	pad;
};

/* repeated when a process is renamed */
struct pmclog_proc_create {
	struct pmclog_hdr h;
	__u32	pid;
	__u32	flags;
	char	comm[PMCLOG_COMM_MAX];
};

/* why a sample or a process record was dropped */
enum pmclog_drop_cause {
	PMCLOG_DROP_FULL	= 0,	/* no room in the ring */
	PMCLOG_DROP_NESTED	= 1,	/* handlers nested deeper than the scratch */
	PMCLOG_DROP_CONTENDED	= 2,	/* interrupted too often while reserving */
	PMCLOG_DROP_NORING	= 3,	/* no ring for this CPU: pmclog(1) */
	PMCLOG_DROP_NCAUSE	= 4,
};

/**
 * struct pmclog_dropnotify - samples were dropped on one CPU; all trailing (ours)
 * @pmcid: the PMC, or PMCLOG_PMCID_NONE: process records were dropped
 * @cause: enum pmclog_drop_cause
 * @count: number of drops
 * @first, @last: clock of the first and the last drop
 */
struct pmclog_dropnotify {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	cpu;
	__u32	cause;
	__u32	pad;
	__u64	count;
	__u64	first;
	__u64	last;
};

/* why a chain ends before the outermost frame */
enum pmclog_cut_cause {
	PMCLOG_CUT_DEPTH	= 0,	/* deeper than callchaindepth */
	PMCLOG_CUT_USER		= 1,	/* user stack not resident, nothing to follow */
	PMCLOG_CUT_KERNEL	= 2,	/* the kernel's unwinder lost its way */
	PMCLOG_CUT_TABLE	= 3,	/* no unwind table, or it fits no stack */
	PMCLOG_CUT_NCAUSE	= 4,
};

/**
 * struct pmclog_account - outcome of every overflow since the log began
 * @overflows:  calls of the overflow handler
 * @committed:  samples put into a ring
 * @dropped:    samples dropped, by cause
 * @filtered:   samples left out: by PMCFILTER; before or after RECORD; of the
 *		recording process and of the writer thread; of an idle CPU with
 *		EXCLUDE_IDLE; in the kernel, for a PMC of user mode
 * @written:    samples in this log
 * @discarded:  samples taken out of a ring but not written (error, deadline)
 * @in_rings:   samples still in a ring
 * @proc_committed, @proc_dropped: the same for process records
 * @made:       records made by the writer thread itself
 * @cut:        samples whose chain was cut, for any cause
 * @throttled:  times perf throttled an event: time without samples follows
 * @cut_by:     by enum pmclog_cut_cause; one sample may have several causes
 * @late:       samples with a deferred user chain (PMCLOG_CC_USERLATE); these
 *		are not in @cut
 * @late_answered: deferred user chains logged; one may belong to several samples
 *
 * overflows == committed + sum(dropped) + filtered
 * committed == written + discarded + in_rings
 */
struct pmclog_account {
	__u64	overflows;
	__u64	committed;
	__u64	dropped[PMCLOG_DROP_NCAUSE];
	__u64	filtered;
	__u64	written;
	__u64	discarded;
	__u64	in_rings;
	__u64	proc_committed;
	__u64	proc_dropped;
	__u64	made;
	__u64	cut;
	__u64	throttled;
	__u64	cut_by[PMCLOG_CUT_NCAUSE];
	__u64	late;
	__u64	late_answered;
};

/* CLOSELOG; the account is trailing (ours) */
struct pmclog_closelog {
	struct pmclog_hdr h;
	struct pmclog_account account;
};

/* ------------------------------------------------------------------------
 * Extension records: USERDATA with userdata == PMCLOG_EXT_COOKIE, then
 * @subtype, then @version of that subtype, then its fields.  Readers must skip
 * unknown subtypes and bytes after the known fields.  Strings are
 * NUL-terminated, the record is padded with NULs to a multiple of 4.
 */
#define PMCLOG_EXT_COOKIE	0x78506D48U	/* "HmPx" */

enum pmclog_ext_subtype {
	PMCLOG_EXT_CLOCK	= 1,
	PMCLOG_EXT_HOST		= 2,
	PMCLOG_EXT_KERNEL	= 3,
	PMCLOG_EXT_MAPPING	= 4,
	PMCLOG_EXT_MODULE	= 5,
	PMCLOG_EXT_SECTION	= 6,
	PMCLOG_EXT_BUILDID	= 7,
	PMCLOG_EXT_RATE		= 8,
	PMCLOG_EXT_SAMPLES	= 9,
	PMCLOG_EXT_USERCHAIN	= 10,
	PMCLOG_EXT_FILTERED	= 11,
	PMCLOG_EXT_RAW		= 12,
	PMCLOG_EXT_FIELDS	= 13,
	PMCLOG_EXT_RECORD	= 14,
	PMCLOG_EXT_SNAPSHOT	= 15,
	PMCLOG_EXT_PERIOD	= 16,
	PMCLOG_EXT_DETAIL	= 17,
};

struct pmclog_ext {
	struct pmclog_hdr h;
	__u32	cookie;
	__u16	subtype;
	__u8	version;	/* 0 */
	__u8	flags;		/* 0; USERCHAIN: see there */
};

/*
 * One moment on three clocks, in nanoseconds.  Written at the start, from time to
 * time, and at the end.
 */
struct pmclog_ext_clock {
	struct pmclog_ext e;
	__u64	raw;		/* CLOCK_MONOTONIC_RAW, the log's clock */
	__u64	mono;		/* CLOCK_MONOTONIC */
	__u64	real;		/* CLOCK_REALTIME */
};

/* the recording machine */
struct pmclog_ext_host {
	struct pmclog_ext e;
	__u32	ncpu;		/* CPU numbers are below this */
	__u32	page_size;
	__u32	machine;	/* ELF e_machine */
	__u32	owner_pid;	/* the process that configured the log */
	char	release[];	/* uname -r, then NUL, uname -n, NUL */
};

/**
 * struct pmclog_ext_kernel - run-time address of the kernel
 * @addr:   run-time address of the exported function @symbol.  The relocation
 *          is the difference to this symbol's address in a symbol table.
 * @symbol: name of the function
 */
struct pmclog_ext_kernel {
	struct pmclog_ext e;
	__u64	addr;
	char	symbol[];
};

/**
 * struct pmclog_ext_mapping - follows the MAP_IN of the same pid and start
 * @len:    length in bytes
 * @offset: offset of @start in the file, in bytes
 * @dev_major, @dev_minor, @ino: the file, 0 for anonymous memory
 * @prot:   PROT_* bits of <sys/mman.h>
 */
struct pmclog_ext_mapping {
	struct pmclog_ext e;
	__u32	pid;
	__u32	prot;
	__u64	start;
	__u64	len;
	__u64	offset;
	__u32	dev_major;
	__u32	dev_minor;
	__u64	ino;
};

/* follows the MAP_IN (pid -1) of a kernel module, with the same @start */
struct pmclog_ext_module {
	struct pmclog_ext e;
	__u64	start;
	__u64	len;		/* of the module's text; 0: unknown */
	char	name[];		/* as in /proc/modules */
};

/* one section of a kernel module */
struct pmclog_ext_section {
	struct pmclog_ext e;
	__u64	addr;
	char	names[];	/* module's name, NUL, section's name, NUL */
};

/* build-id of the kernel, of a kernel module, or of a file */
struct pmclog_ext_buildid {
	struct pmclog_ext e;
	__u32	len;		/* bytes used of id, at most 32 */
	__u32	pad;
	__u8	id[32];
	char	name[];		/* "[kernel]", a module's name, or a path */
};

/**
 * struct pmclog_ext_rate - expected and achieved samples, per PMC and CPU
 * @cpu:       PMCLOG_CPU_NONE for a PMC of a process mode: summed over threads
 * @period:    in force; 0 with HWPMC_F_FREQ
 * @expected:  samples that the period gives for the time run (or the count), or each
 *	of the periods that there were; 0: not known (a clock with user or kernel mode
 *	excluded, HWPMC_F_FREQ, or in a process mode an event of the kernel's own)
 * @achieved:  overflows that happened
 * @throttled: times perf throttled this event
 * @enabled, @running: nanoseconds, since the PMC was allocated
 */
struct pmclog_ext_rate {
	struct pmclog_ext e;
	__u32	pmcid;
	__u32	cpu;
	__u64	period;
	__u64	expected;
	__u64	achieved;
	__u64	throttled;
	__u64	enabled;
	__u64	running;
};

/**
 * struct pmclog_ext_period - events that each following sample stands for
 * @pmcid:  a PMC with HWPMC_F_FREQ
 * @cpu:    the CPU of these samples
 * @period: events
 *
 * Perf chooses the period of such a PMC.  The record precedes the first sample of
 * the PMC and CPU in a log, and the first of those for which the period differs
 * by more than an eighth.  Smaller differences are carried into the next
 * record: the sum of @period over the samples is the number of events that perf
 * has counted off in them, to within three of the longest periods in the log, for
 * each PMC and CPU.
 */
struct pmclog_ext_period {
	struct pmclog_ext e;
	__u32	pmcid;
	__u32	cpu;
	__u64	period;
};

/**
 * struct pmclog_ext_userchain - the deferred user chain of earlier samples
 * @first: clock of the oldest sample that the chain may belong to
 * @e.flags: PMCLOG_CC_WHOLE, _TABLES and _CUT of this chain, shifted right by 8
 * @pc:    innermost first, as in a CALLCHAIN; (length - 40) / 8 entries
 *
 * If the overflow handler finds the user stack paged out, the sample has the flag
 * PMCLOG_CC_USERLATE and the frames that could be read (at least the user pc).
 * This record follows when the thread returns to user mode, with the whole user
 * chain.  It belongs to the earlier samples of @tid that have the flag, a clock of
 * @first or later, and @pc[0] as their first user pc.  It replaces their user
 * part.  A sample for which no such record follows before the end of the thread
 * or of the log is cut.
 */
struct pmclog_ext_userchain {
	struct pmclog_ext e;
	__u32	pid;
	__u32	tid;
	__u64	first;
	__u64	pc[];
};
#define PMCLOG_USERCHAIN_FLAGS(f)	((__u32)(f) << 8)	/* PMCLOG_CC_* of e.flags */

/**
 * struct pmclog_ext_filtered - the log is a part of another; written by pmclog(1)
 * @samples:    number of samples in the other log
 * @conditions: the conditions that selected samples, as options of pmclog(1)
 *
 * Precedes CLOSELOG.  pmclog(1) rewrites the account there: it adds the samples
 * left out to @filtered.
 */
struct pmclog_ext_filtered {
	struct pmclog_ext e;
	__u64	samples;
	char	conditions[];
};

/**
 * struct pmclog_ext_raw - the fields of a tracepoint; directly follows its sample
 * @pmcid, @tid: as in the preceding CALLCHAIN, which has the same clock
 * @len:  valid bytes of @data; the record is padded with zeros
 * @size: bytes of the tracepoint's data; if more than @len, the rest is missing
 * @data: laid out as in the tracepoint's format, see struct pmclog_ext_fields
 */
struct pmclog_ext_raw {
	struct pmclog_ext e;
	__u32	pmcid;
	__u32	tid;
	__u32	len;
	__u32	size;
	__u8	data[];
};

#define PMCLOG_RAW_MAX		1024	/* bytes of data that are logged */

/* most branches of a sample */
#define PMCLOG_BRANCH_MAX	64

/* flags of a branch */
#define PMCLOG_BRANCH_MISPRED	0x1U	/* the processor had predicted another target */
#define PMCLOG_BRANCH_PREDICTED	0x2U	/* ... this one; neither: it does not say */
#define PMCLOG_BRANCH_IN_TX	0x4U	/* in a transaction */
#define PMCLOG_BRANCH_ABORT	0x8U	/* a transaction was aborted */
#define PMCLOG_BRANCH_CYCLES(f)	((__u32)((f) >> 4) & 0xFFFFU)	/* since the one before */
#define PMCLOG_BRANCH_TYPE(f)	((__u32)((f) >> 20) & 0xFU)	/* PERF_BR_* */
#define PMCLOG_BRANCH_KNOWN	0x1FFFFFFFFULL	/* and from bit 24 on as perf has them */

/**
 * struct pmclog_branch - a branch that was taken
 * @from:  address of the branch instruction
 * @to:    address of the instruction that came next
 * @flags: PMCLOG_BRANCH_*; the bits are those of struct perf_branch_entry
 */
struct pmclog_branch {
	__u64	from;
	__u64	to;
	__u64	flags;
};

/* the fields of a DETAIL that the PMU has supplied */
#define PMCLOG_DETAIL_BRANCHES	0x1U
#define PMCLOG_DETAIL_SOURCE	0x2U
#define PMCLOG_DETAIL_WEIGHT	0x4U
#define PMCLOG_DETAIL_ADDR	0x8U

/**
 * struct pmclog_ext_detail - what the PMU's hardware knows of a sample; directly
 * follows its sample
 * @pmcid, @tid: as in the preceding CALLCHAIN, which has the same clock
 * @has:    PMCLOG_DETAIL_*; the fields of the other ones are 0
 * @hidden: branches that are not in @branch: those with an address in the kernel, of a
 *	PMC that does not record branches there, and those beyond PMCLOG_BRANCH_MAX
 * @source: of the data that the instruction has accessed, and how: union
 *	perf_mem_data_src
 * @weight: cost of the instruction: low 32 bits: mostly the latency of its access, in
 *	cycles; above, 16 bits each: other latencies, see union perf_sample_weight
 * @addr:   address of that data; not of kernel data, of a PMC that excludes the kernel
 * @branch: the last branches before the sample, newest first; (length - 64) / 24
 *	entries
 *
 * A sample of which the PMU knows nothing has no DETAIL.
 */
struct pmclog_ext_detail {
	struct pmclog_ext e;
	__u32	pmcid;
	__u32	tid;
	__u32	has;
	__u32	hidden;
	__u64	source;
	__u64	weight;
	__u64	addr;
	struct pmclog_branch branch[];
};

/**
 * struct pmclog_ext_fields - layout of a tracepoint's fields; from user space
 * @type, @config: the tracepoint, as in the PMCALLOCATEDYN of its PMCs
 * @text: the "field:" lines of the tracepoint's format file, NUL-terminated
 */
struct pmclog_ext_fields {
	struct pmclog_ext e;
	__u32	type;
	__u32	pad;
	__u64	config;
	char	text[];
};

/**
 * struct pmclog_ext_record - RECORD: all PMCs were started or stopped at once
 * @on:   1: samples are recorded from this moment on; 0: up to this moment
 * @npmc: number of these PMCs
 * @skew: nanoseconds from the first counter's start to the last one's
 */
struct pmclog_ext_record {
	struct pmclog_ext e;
	__u32	on;
	__u32	npmc;
	__u64	skew;
};

/* why a snapshot was taken */
enum pmclog_snapshot_cause {
	PMCLOG_SNAPSHOT_ASKED	= 0,
	PMCLOG_SNAPSHOT_PMC	= 1,	/* an overflow */
	PMCLOG_SNAPSHOT_EXIT	= 2,	/* a process has ended */
};

/**
 * struct pmclog_ext_snapshot - the log is a snapshot of a flight recorder
 * @cause: enum pmclog_snapshot_cause
 * @pmcid: the PMC that overflowed, or PMCLOG_PMCID_NONE
 * @pid, @status: the process that ended, and its status as wait(2) returns it;
 *	else 0
 * @when:  clock of the cause
 * @since: clock since which the log is complete
 */
struct pmclog_ext_snapshot {
	struct pmclog_ext e;
	__u32	cause;
	__u32	pmcid;
	__u32	pid;
	__s32	status;
	__u64	when;
	__u64	since;
};

#include <linux/pmclog_pack.h>

#endif /* _UAPI_LINUX_PMCLOG_H */
