/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * The pmclog wire format, version 10.0.0, as hwpmc for Linux writes it.
 *
 * Every record begins with struct pmclog_hdr.  Numbers are little-endian,
 * addresses are 8 bytes on every machine.  A record's length is a multiple of
 * 4, so records (and the 64-bit fields in them) are 4-aligned in a file and
 * must be read with accesses that allow that.
 *
 * What FreeBSD's format has no field for follows the known fields of a record
 * ("trailing"), or is a USERDATA record whose first word is
 * PMCLOG_EXT_COOKIE: FreeBSD's parser takes both in its stride.
 * Documentation/design/pmclog-extensions.rst says when each is written.
 */
#ifndef _UAPI_LINUX_PMCLOG_H
#define _UAPI_LINUX_PMCLOG_H

#include <linux/types.h>

#define PMCLOG_MAGIC		0xEEU
#define PMCLOG_VERSION		0x0A000000U	/* 10.0.0 */
#define PMCLOG_RECORD_MAX	4128		/* no record of ours is longer */
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
/* how the chain ends; one with USERLATE says it of what it has so far */
#define PMCLOG_CC_WHOLE		0x0100U	/* its user part: with its thread's first frame */
#define PMCLOG_CC_TABLES	0x0200U	/* its user part: by unwind tables */
#define PMCLOG_CC_CUT(cause)	(0x1000U << (cause))	/* enum pmclog_cut_cause */
#define PMCLOG_CC_CUT_ANY	0xF000U
#define PMCLOG_CC_CPUFLAGS(cpu, flags)	(((__u32)(cpu) << 16) | (flags))
#define PMCLOG_CC_CPU(f)	((__u32)(f) >> 16)
#define PMCLOG_CC_FLAGS(f)	((__u32)(f) & 0xFFFFU)

/**
 * struct pmclog_callchain - one sample
 * @pc: innermost first; kernel frames, then user frames.  A return address is
 *      logged as it is (look up pc - 1 for every frame but the first of each
 *      of the two parts).  (length - 32) / 8 entries.
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
 * The rest is trailing (ours):
 * @rate:   period of a sampling PMC, initial count otherwise
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
 * @path: of the process' executable; "" for a kernel thread.  NUL-terminated,
 *	record padded with NULs to a multiple of 4
 *
 * A child that gets a PMC by DESCENDANTS is told by PROCFORK alone.
 */
struct pmclog_pmcattach {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
	char	path[];
};

/* no more: PMCDETACH, or an exec that changed the process' credentials */
struct pmclog_pmcdetach {
	struct pmclog_hdr h;
	__u32	pmcid;
	__u32	pid;
};

/**
 * struct pmclog_proccsw - what a thread counted until it left the CPU
 * @value: since it came onto a CPU
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
 * struct pmclog_procexit - what a process counted until its end
 * @value: of all its threads
 * The rest is trailing (ours):
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
 * @base: where the run-time loader sits (AT_BASE), 0 without one
 * @dyn:  load base of a position-independent executable, 0 otherwise
 * @pmcid: a PMC attached to the process, or PMCLOG_PMCID_NONE: the log is of
 *	the whole system.  Told once for each owner.
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

/* also sent again when a thread is renamed: the latest name counts */
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

/* also sent again when a process is renamed */
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
	PMCLOG_DROP_NORING	= 3,	/* this CPU has no ring */
	PMCLOG_DROP_NCAUSE	= 4,
};

/**
 * struct pmclog_dropnotify - samples were lost on one CPU; all trailing (ours)
 * @pmcid: the PMC, or PMCLOG_PMCID_NONE: process records were lost
 * @cause: enum pmclog_drop_cause
 * @count: how many
 * @first, @last: clock of the first and the last of them
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
 * struct pmclog_account - what became of every overflow, since the log began
 * @overflows:  calls of the overflow handler
 * @committed:  samples put into a ring
 * @dropped:    by cause
 * @filtered:   not wanted: by PMCFILTER, before or after RECORD, of the recorder
 * @written:    samples in this log
 * @discarded:  samples taken out of a ring but not written (error, deadline)
 * @in_rings:   samples still in a ring
 * @proc_committed, @proc_dropped: the same for process records
 * @made:       records made by the writing thread itself
 * @cut:        samples whose chain was cut, for any of the causes
 * @throttled:  times perf throttled an event: time without samples follows
 * @cut_by:     by enum pmclog_cut_cause; one sample may have several
 * @late:       samples whose user chain was left for later
 *		(PMCLOG_CC_USERLATE); they are not in @cut
 * @late_answered: user chains that came later; one may answer several samples
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
 * @subtype, then @version of that subtype, then its fields.  Unknown subtypes
 * and bytes behind the known fields are to be skipped.  Strings are
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
};

struct pmclog_ext {
	struct pmclog_hdr h;
	__u32	cookie;
	__u16	subtype;
	__u8	version;	/* 0 */
	__u8	flags;		/* 0; of a USERCHAIN: see there */
};

/* one moment on three clocks, nanoseconds; at the start, now and then, at the end */
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
	__u32	owner_pid;	/* who configured the log */
	char	release[];	/* uname -r, then NUL, uname -n, NUL */
};

/**
 * struct pmclog_ext_kernel - where the kernel sits
 * @addr:   run-time address of the exported function @symbol; a symbol table's
 *          address of the same symbol tells the relocation
 * @symbol: its name
 */
struct pmclog_ext_kernel {
	struct pmclog_ext e;
	__u64	addr;
	char	symbol[];
};

/**
 * struct pmclog_ext_mapping - follows the MAP_IN of the same pid and start
 * @len:    bytes
 * @offset: of @start in the file, bytes
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

/* with a MAP_IN (pid -1) of a kernel module before it; @start as there */
struct pmclog_ext_module {
	struct pmclog_ext e;
	__u64	start;
	__u64	len;		/* of the module's text; 0 unknown */
	char	name[];		/* as in /proc/modules */
};

/* one section of a kernel module */
struct pmclog_ext_section {
	struct pmclog_ext e;
	__u64	addr;
	char	names[];	/* module's name, NUL, section's name, NUL */
};

/* build-id of a file: of the kernel ("[kernel]"), a module, or a path */
struct pmclog_ext_buildid {
	struct pmclog_ext e;
	__u32	len;		/* bytes used of id, at most 32 */
	__u32	pad;
	__u8	id[32];
	char	name[];		/* "[kernel]", a module's name, or a path */
};

/**
 * struct pmclog_ext_rate - asked against achieved, per PMC and CPU
 * @cpu:       PMCLOG_CPU_NONE for a PMC of a process mode: summed over threads
 * @expected:  samples the period asks for in the time (or count) that was run;
 *	0: not known (a clock with some mode excluded)
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
 * struct pmclog_ext_userchain - the user chain of earlier samples
 * @first: the oldest sample it may belong to: its clock
 * @e.flags: PMCLOG_CC_WHOLE, _TABLES and _CUT of this chain, 8 bits to the right
 * @pc:    innermost first, as in a CALLCHAIN; (length - 40) / 8 entries
 *
 * Where a handler finds the user stack paged out, the sample carries what could
 * be read (at least the user pc) and the flag PMCLOG_CC_USERLATE, and the whole
 * user chain follows here when the thread is back on its way to user mode.  It
 * belongs to the samples of @tid with that flag and a clock of @first or later
 * that stand before it and whose first user pc is @pc[0]: it replaces their
 * user part.  A sample that nothing answers before the thread's end or the log's
 * is cut.
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
 * @samples:    that the other had
 * @conditions: of which those had to be that are here, as pmclog's options
 *
 * Before CLOSELOG, whose account is rewritten: what was left out is in @filtered.
 */
struct pmclog_ext_filtered {
	struct pmclog_ext e;
	__u64	samples;
	char	conditions[];
};

/**
 * struct pmclog_ext_raw - the fields of a tracepoint; right behind its sample
 * @pmcid, @tid: as in the CALLCHAIN before it, whose clock it has
 * @len:  bytes of @data that count; the record is padded with zeros
 * @size: bytes there were; more than @len: the rest did not fit
 * @data: as the tracepoint's format says, see struct pmclog_ext_fields
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

/**
 * struct pmclog_ext_fields - what the fields of a tracepoint are; by user space
 * @type, @config: as in PMCALLOCATEDYN, of PMCs that have it
 * @text: the "field:" lines of its format file, ended by NUL
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
 * @on:   1: samples are let through from here on; 0: up to here
 * @npmc: how many
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
 * struct pmclog_ext_snapshot - the log is what a flight recorder has kept
 * @cause: enum pmclog_snapshot_cause
 * @pmcid: whose overflow, or PMCLOG_PMCID_NONE
 * @pid, @status: who has ended, and how (as wait(2) tells it); else 0
 * @when:  clock of what caused it
 * @since: clock from which on nothing has been left out
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

/* bytes of the longest pack, and the slots of the tables of a reader */
#define PMCLOG_PACK_MAX		4096
#define PMCLOG_PACK_CHAINS	2048
#define PMCLOG_PACK_CONTEXTS	1024

/**
 * struct pmclog_ext_samples - a pack: samples that follow each other
 * @samples: how many, at least 1
 * @entry:   each of them, and before it what it is the first to use
 *
 * h.tsc is the first sample's.  Chains and contexts that were seen before are
 * named by their slots in two tables that are empty where a log begins; an
 * entry that defines a slot replaces what was there.  The first word tells what
 * an entry is; all are made of 32-bit words:
 *
 * a sample (bit 31 clear)
 *	nanoseconds since the sample before it in the pack (the first: 0)
 *	low word of the innermost pc
 *	slot of the chain | slot of the context << 16
 * PMCLOG_PACK_CONTEXT | slot
 *	pid, tid, pmcid, cpuflags as in a CALLCHAIN
 * PMCLOG_PACK_CHAIN | slot of a like chain << 11 | slot
 *	number of pcs (1 to 512) | number of those shared << 16
 *	high word of the innermost pc
 *	the other pcs, two words each, but for the shared ones: these are the
 *	last (outermost) ones of the like chain, as it is before this entry
 */
struct pmclog_ext_samples {
	struct pmclog_ext e;
	__u32	samples;
	__u32	pad;
	__u32	entry[];
};

#define PMCLOG_PACK_DEFINES	0x80000000U
#define PMCLOG_PACK_CONTEXT	0x80000000U
#define PMCLOG_PACK_CHAIN	0xC0000000U

/* bytes; those of a chain without its pcs */
#define PMCLOG_PACK_SAMPLE_LEN	12
#define PMCLOG_PACK_CONTEXT_LEN	20
#define PMCLOG_PACK_CHAIN_LEN	12

#endif /* _UAPI_LINUX_PMCLOG_H */
