/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libpmc: control of performance counters through /dev/hwpmc.
 *
 * The functions of the first half have FreeBSD's names and signatures.  They use
 * one owner per process, which pmc_init() opens.  The second half does the same
 * for owners named by a handle.  Unless documented otherwise, a function returns
 * 0, or -1 with errno set; hwpmc(4) lists the errors of each operation.
 *
 * An owner is an open file: a forked child shares it with its parent.  Threads
 * must not use the functions of the first half at the same time.  They may use
 * those of the second half if each thread has its own owner.
 */
#ifndef PMC_H
#define PMC_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pmc_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PMC_CLASS_MAX		8

enum pmc_event {
	PMC_EV_SOFT_FIRST	= 0x20000,
	PMC_EV_SOFT_LAST	= 0x20FFF,
};

enum pmc_state {
	PMC_STATE_DISABLED	= 0,
	PMC_STATE_FREE		= 1,
	PMC_STATE_ALLOCATED	= 2,
	PMC_STATE_STOPPED	= 3,
	PMC_STATE_RUNNING	= 4,
	PMC_STATE_DELETED	= 5,
};

enum pmc_disp {
	PMC_DISP_STANDALONE	= 0,
	PMC_DISP_FREE		= 1,
	PMC_DISP_THREAD		= 2,
	PMC_DISP_UNKNOWN	= 3,
};

enum pmc_caps {
	PMC_CAP_INTERRUPT	= 1 << 0,
	PMC_CAP_USER		= 1 << 1,
	PMC_CAP_SYSTEM		= 1 << 2,
	PMC_CAP_EDGE		= 1 << 3,
	PMC_CAP_THRESHOLD	= 1 << 4,
	PMC_CAP_READ		= 1 << 5,
	PMC_CAP_WRITE		= 1 << 6,
	PMC_CAP_INVERT		= 1 << 7,
	PMC_CAP_QUALIFIER	= 1 << 8,
	PMC_CAP_PRECISE		= 1 << 9,
	PMC_CAP_TAGGING		= 1 << 10,
	PMC_CAP_CASCADE		= 1 << 11,
	PMC_CAP_SYSWIDE		= 1 << 12,
	PMC_CAP_DOMWIDE		= 1 << 13,
};

/*
 * Samples in packs: a tenth of the bytes, but only libpmclog reads such a log.
 */
#define PMC_LOG_PACKED		(1U << 0)

/* Counts since the module was loaded; a count that reaches UINT_MAX stays there. */
struct pmc_driverstats {
	unsigned int	pm_intr_ignored;
	unsigned int	pm_intr_processed;
	unsigned int	pm_intr_bufferfull;
	unsigned int	pm_syscalls;
	unsigned int	pm_syscall_errors;
	unsigned int	pm_buffer_requests;
	unsigned int	pm_buffer_requests_failed;
	unsigned int	pm_log_sweeps;
};

struct pmc_classinfo {
	enum pmc_class	pm_class;
	uint32_t	pm_caps;
	uint32_t	pm_width;	/* bits */
	uint32_t	pm_num;		/* rows */
};

struct pmc_cpuinfo {
	enum pmc_cputype pm_cputype;
	uint32_t	pm_ncpu;	/* CPU numbers are below this */
	uint32_t	pm_npmc;
	uint32_t	pm_nclass;
	struct pmc_classinfo pm_classes[PMC_CLASS_MAX];
};

/**
 * struct pmc_info - a row of a CPU
 * @pm_name:     SOFT-0 and so on
 * @pm_enabled:  0: the administrator has disabled the row
 * @pm_ownerpid: the process that opened the device; -1: the row is free, or the
 *		 caller may not see its user; the fields below are then zero
 * @pm_event:    0 if pmc_name_of_event() does not know the event
 * @pm_reloadcount: period of a sampling PMC
 */
struct pmc_info {
	char		pm_name[PMC_NAME_MAX];
	enum pmc_class	pm_class;
	int		pm_enabled;
	enum pmc_disp	pm_rowdisp;
	pid_t		pm_ownerpid;
	enum pmc_mode	pm_mode;
	enum pmc_event	pm_event;
	uint32_t	pm_flags;
	pmc_value_t	pm_reloadcount;
};

struct pmc_pmcinfo {
	int32_t		pm_cpu;
	struct pmc_info	pm_pmcs[];	/* pmc_npmc() of them */
};

struct hwpmc_condition;		/* <linux/hwpmc.h> */
struct hwpmc_cpuinfo;
struct hwpmc_driverstats;
struct hwpmc_getbudget;
struct hwpmc_dynevent;
struct hwpmc_pmcinfo_row;

/* --------------------------------------------------------------------
 * FreeBSD's functions
 */

/*
 * Opens the owner of the process; may be called again.  Without it the other
 * functions fail with ENXIO.  Afterwards the process gets SIGIO when the log fails,
 * or when a PMC has lost its last target.  If SIGIO has its default action,
 * pmc_init() sets it to SIG_IGN.
 */
int	pmc_init(void);

int	pmc_allocate(const char *ctrspec, enum pmc_mode mode, uint32_t flags,
		     int cpu, pmc_id_t *pmcid, uint64_t count);
int	pmc_release(pmc_id_t pmc);
int	pmc_start(pmc_id_t pmc);
int	pmc_stop(pmc_id_t pmc);
/* PMCs of the process modes only; pid 0 is the caller */
int	pmc_attach(pmc_id_t pmc, pid_t pid);
int	pmc_detach(pmc_id_t pmc, pid_t pid);
int	pmc_read(pmc_id_t pmc, pmc_value_t *value);
int	pmc_write(pmc_id_t pmc, pmc_value_t value);
int	pmc_rw(pmc_id_t pmc, pmc_value_t newvalue, pmc_value_t *oldvalue);
int	pmc_set(pmc_id_t pmc, pmc_value_t value);
int	pmc_capabilities(pmc_id_t pmc, uint32_t *caps);
int	pmc_width(pmc_id_t pmc, uint32_t *width);

int	pmc_configure_logfile(int fd);
/* Not in FreeBSD; @flags: PMC_LOG_* */
int	pmc_configure_logfile_flags(int fd, uint32_t flags);
int	pmc_flush_logfile(void);
int	pmc_close_logfile(void);
int	pmc_writelog(uint32_t udata);

/* These two return a number, or -1 with errno. */
int	pmc_ncpu(void);
int	pmc_npmc(int cpu);
int	pmc_cpuinfo(const struct pmc_cpuinfo **cpu_info);
int	pmc_get_driver_stats(struct pmc_driverstats *gms);
/* Not in FreeBSD: all counters, in 64 bits; @size as for pmc_owner_stats() */
int	pmc_get_driver_stats64(struct hwpmc_driverstats *stats, size_t size);
/*
 * The caller frees *pmc_info.  Each owner has its own rows.  If several owners use
 * a row, *pmc_info has one of them; pmc_owner_pmcinfo() stores all.
 */
int	pmc_pmcinfo(int cpu, struct pmc_pmcinfo **pmc_info);

/* Enable or disable row @pmc of a CPU for all owners; need CAP_SYS_ADMIN */
int	pmc_enable(int cpu, int pmc);
int	pmc_disable(int cpu, int pmc);
/* Always fails with ENOSYS: only pmc_read() reads counters. */
int	pmc_get_msr(pmc_id_t pmc, uint32_t *msr);

/* These return NULL with errno EINVAL if the number has no name. */
const char *pmc_name_of_capability(enum pmc_caps cap);
const char *pmc_name_of_class(enum pmc_class pc);
const char *pmc_name_of_cputype(enum pmc_cputype cp);
const char *pmc_name_of_disposition(enum pmc_disp pd);
const char *pmc_name_of_event(enum pmc_event pe);
const char *pmc_name_of_mode(enum pmc_mode pm);
const char *pmc_name_of_state(enum pmc_state ps);

/* The caller frees the list, not the names. */
int	pmc_event_names_of_class(enum pmc_class cl, const char ***eventnames,
				 int *nevents);

/* --------------------------------------------------------------------
 * Events
 */

/* what else an event needs or has */
#define PMC_EVENT_TRACEPOINT	(1U << 0)	/* has fields, PMC_F_RAW logs them */
#define PMC_EVENT_PROBE		(1U << 1)	/* call pmc_probe_make() first */
#define PMC_EVENT_ONE_CPU	(1U << 2)	/* only on pmc_event_cpus() */
#define PMC_EVENT_RATE		(1U << 3)	/* sampling only; @period is the rate */
#define PMC_EVENT_FREQ		(1U << 4)	/* @period is samples a second: PMC_F_FREQ */
#define PMC_EVENT_SOME_CPUS	(1U << 5)	/* a hybrid's other CPUs do not have it */
#define PMC_EVENT_PERIOD	(1U << 6)	/* @period is what period= or freq= says */

/**
 * struct pmc_event_desc - a parsed event specification
 * @type, @config, @config1, @config2, @config3, @bp_type: as in struct
 *	perf_event_attr
 * @caps: PMC_CAP_USER and PMC_CAP_SYSTEM as specified, or 0
 * @period: default sampling period of this event; 0: none
 * @flags: PMC_EVENT_*
 * @name: for the log: the event's name, and ":u" or ":k"
 */
struct pmc_event_desc {
	uint32_t	type;
	uint32_t	caps;
	uint64_t	config;
	uint64_t	config1;
	uint64_t	config2;
	uint64_t	config3;
	uint64_t	period;
	uint32_t	bp_type;
	uint32_t	flags;
	uint64_t	reserved;
	char		name[PMC_NAME_MAX];
};

/**
 * pmc_event_parse() - parse an event specification
 * @spec: name[,usr][,os], rHEX, type=N,config=N[,config1=N][,config2=N]
 *	[,config3=N][,name=WORD][,usr][,os], PMU/TERM[=VALUE],.../, SYSTEM:EVENT
 *	(a tracepoint) or PROVIDER:...; each may end in :u, :k or :uk.
 *	pmcstat(8) describes them.
 * @desc: filled in
 * @msg:  gets an error message of one line on failure; or NULL
 * @msglen: bytes at @msg
 *
 * Fails with EINVAL, or with EACCES if the caller may not read the files that
 * describe the event.
 */
int	pmc_event_parse(const char *spec, struct pmc_event_desc *desc,
			char *msg, size_t msglen);
/**
 * pmc_event_parse_all() - parse an event specification, for all kinds of cores
 * @desc: filled in: the events, @room at most; PMC_EVENTS_MAX is always enough
 *
 * On a hybrid processor each kind of core has a PMU of its own.  In a process, an event
 * that names no PMU counts on one kind only.  This function makes an event of each PMU
 * that has the name and a CPU that is online, "PMU/EVENT/".  Other events, and those of
 * other processors, are as from pmc_event_parse().  Returns the number of events, or
 * -1 with errno and @msg.
 */
#define PMC_EVENTS_MAX	8
int	pmc_event_parse_all(const char *spec, struct pmc_event_desc *desc, size_t room,
			    char *msg, size_t msglen);

/*
 * Stores the list of CPUs on which the event has to be counted so that each
 * occurrence counts once, such as "0" or "0,28".  Returns the length of the list,
 * 0 for all CPUs, or -1 with errno (ENOSPC: @len is too short).  An event with
 * PMC_EVENT_SOME_CPUS may be counted on PMC_CPU_ALL as well: the module finds its CPUs.
 */
int	pmc_event_cpus(const struct pmc_event_desc *desc, char *list,
		       size_t len);

/**
 * struct pmc_source - an event of this machine
 * @number:   number of the event
 * @nargs:    number of its fields; set by pmc_source_list() only
 * @provider: hardware, software, cache, pmu, tracepoint, syscall, ...
 * @function: a PMU, a tracepoint's system, a system call, or empty
 * @name:     name of the event
 */
struct pmc_source {
	uint32_t	number;
	uint32_t	nargs;
	char		provider[16];
	char		function[96];
	char		name[96];
};

/**
 * struct pmc_source_field - a field of an event
 * @type:   the C type
 * @offset, @size: position in the data that PMC_F_RAW logs, in bytes
 */
struct pmc_source_field {
	char		name[64];
	char		type[96];
	uint32_t	offset;
	uint32_t	size;
	uint32_t	is_signed;
	uint32_t	reserved;
};

/*
 * Stores all events that have a name on this machine; tracepoints only if the
 * caller may read them.  *size is the size of @list in bytes and is set to the size
 * needed.  Fails with ENOSPC if @list is too short, but not if *size was 0.
 */
int	pmc_source_list(struct pmc_source *list, size_t *size);
/* Stores the fields of an event in the same way; EINVAL: no such number */
int	pmc_source_fields(uint32_t number, struct pmc_source_field *fields,
			  size_t *size);
/* Calls @f for each event until @f returns a value other than 0; returns that value. */
int	pmc_source_each(int (*f)(void *arg, const struct pmc_source *source),
			void *arg);
/* Writes the specification that pmc_event_parse() takes, with N for a number to be given. */
void	pmc_source_spec(const struct pmc_source *source, char *buf, size_t len);
/* Writes a line that describes the event, or an empty string. */
void	pmc_source_describe(const struct pmc_source *source, char *buf,
			    size_t len);
/*
 * The fields of an event that was parsed, or whose probe was made.
 * pmc_event_fields() stores them as pmc_source_fields() does.  pmc_event_format()
 * returns the kernel's description, a line for each field, including the common
 * fields of all events.  The caller frees it.  NULL with errno on failure.
 */
int	pmc_event_fields(const struct pmc_event_desc *desc,
			 struct pmc_source_field *fields, size_t *size);
char	*pmc_event_format(const struct pmc_event_desc *desc);

struct pmc_probe;

/**
 * pmc_probe_make() - create the probe of an event that has PMC_EVENT_PROBE
 * @spec: as for pmc_event_parse()
 * @desc: filled in as by pmc_event_parse(), with the number of the probe in @config
 * @msg:  gets an error message of one line on failure; or NULL
 * @msglen: bytes at @msg
 *
 * Needs root.  Returns NULL with errno on failure.  If the process ends without
 * removing the probe, the probe stays until a process calls this function again.
 */
struct pmc_probe *pmc_probe_make(const char *spec, struct pmc_event_desc *desc,
				 char *msg, size_t msglen);
/*
 * Removes the probe when its PMC has been released, or the owner closed.  Waits
 * some seconds for that, then fails with EBUSY.  May be called by signal handlers,
 * because pmc_probe_free() frees the memory.
 */
int	pmc_probe_remove(const struct pmc_probe *probe);
void	pmc_probe_free(struct pmc_probe *probe);
/* Returns the name of the probe in tracefs, GROUP/EVENT. */
const char *pmc_probe_name(const struct pmc_probe *probe);

/* What the event with this index in pmc_event_names_of_class() counts; or NULL */
const char *pmc_event_description(int index);

/* How events without a name are written; after the last, NULL and *description NULL */
const char *pmc_event_spelling(int index, const char **description);

/* Writes a line for each event that has a name; does not flush *out. */
void	pmc_event_list(FILE *out);

/* --------------------------------------------------------------------
 * Owners named by a handle
 */

struct pmc_owner;

#define PMC_OWNER_INHERIT	(1U << 0)	/* keep it open across exec */

/*
 * pmc_owner_open() returns NULL with errno on failure.  pmc_owner_close() releases
 * everything that the owner owns, including probes.
 */
struct pmc_owner *pmc_owner_open(unsigned int flags);
void	pmc_owner_close(struct pmc_owner *owner);
/*
 * The descriptor of the owner, for poll(2) and read(2).  POLLERR means a write error
 * of the log, POLLIN that the log can be read: see pmc_owner_stream().
 */
int	pmc_owner_fd(const struct pmc_owner *owner);

/*
 * PMCs with PMC_F_UNWIND find user chains by unwind tables, also in programs without
 * frame pointers.  This function makes the missing tables of objects that have been
 * sampled and passes them to the module.  Call it when poll(2) returns POLLRDBAND.
 * Returns the number of objects, or -1: the other objects have to wait (EMFILE, ...).
 * It opens and reads files of other users, which may take for ever.  A file that cannot
 * be read three times has no table.
 */
int	pmc_owner_unwind(struct pmc_owner *owner);

/*
 * Begins a thread of the library that does this in place of the caller, until
 * pmc_unwinder_end(): meanwhile the caller does not call pmc_owner_unwind(), and does
 * not wait for POLLRDBAND.  NULL with errno: ENOMEM, EAGAIN, EMFILE.
 */
struct pmc_unwinder;

struct pmc_unwinder *pmc_unwinder_begin(struct pmc_owner *owner);
/*
 * EDQUOT if the module has refused a table, because the user's rings and tables are as
 * large as max_ringmem allows; otherwise 0
 */
int	pmc_unwinder_refused(const struct pmc_unwinder *u);
/*
 * Ends the thread; call it before pmc_owner_close().  Waits for a second at most: a
 * thread that hangs in a file is left alone, and does not use the owner any more.
 * @u may be NULL.
 */
void	pmc_unwinder_end(struct pmc_unwinder *u);

/**
 * struct pmc_preloaded - progress of a preload
 * @processes: processes examined; 0 for pmc_preload_command()
 * @objects:   objects that got a table
 * @bytes:     size of these tables
 */
struct pmc_preloaded {
	unsigned int	processes;
	unsigned int	objects;
	uint64_t	bytes;
};

/*
 * Begins to make the tables of all files that processes have mapped as code, before
 * they are sampled.  The processes are the @n at @pids, or, if @n is 0, all that the
 * caller may examine.  The owner must have a PMC with PMC_F_UNWIND.  A thread of the
 * library does the work, the most-mapped files first.  It makes at most
 * 64 MiB of tables, 16 MiB unless root.  NULL with errno: ENOMEM, EAGAIN.
 */
struct pmc_preload;

struct pmc_preload *pmc_preload_begin(struct pmc_owner *owner, const int *pids,
				      size_t n);
/*
 * The same for the files that a command will map as code, before it runs: the file at
 * @path, as execve(2) takes it, or the interpreter if it is a script (#!); its ELF
 * interpreter; and the libraries that "INTERPRETER --list PROGRAM" names.  The latter
 * runs as a child, in the caller's present environment, for at most a second.  It does
 * not run the program itself.  A caller that waits for any child may get its pid.
 * There are no tables for files that cannot be read or that change credentials.  A
 * file that is not a program is not an error.
 */
struct pmc_preload *pmc_preload_command(struct pmc_owner *owner,
					const char *path);
/* Waits for at most @ms milliseconds.  Returns 1 if all is done; @did may be NULL. */
int	pmc_preload_wait(struct pmc_preload *p, unsigned int ms,
			 struct pmc_preloaded *did);
/* Ends the preload, done or not; call it before pmc_owner_close().  @p may be NULL. */
void	pmc_preload_end(struct pmc_preload *p);

/**
 * struct pmc_allocate_opts - arguments of an allocation
 * @size:  sizeof(struct pmc_allocate_opts)
 * @mode:  a system or process mode
 * @flags: PMC_F_*; set to those in force
 * @cpu:   a CPU, PMC_CPU_ALL or PMC_CPU_ANY
 * @reserved: 0
 * @count: period (with PMC_F_FREQ: samples a second) or initial count, 0 for the
 *	default; set to the value in force
 * @branch: with PMC_F_BRANCH: perf's PERF_SAMPLE_BRANCH_*; otherwise 0
 * @precise: set to perf's precise_ip in force; 0: the event is not precise
 * @reserved2: 0
 * A program that was compiled before the last three were added has a smaller @size.
 */
struct pmc_allocate_opts {
	size_t		size;
	enum pmc_mode	mode;
	uint32_t	flags;
	int32_t		cpu;
	uint32_t	reserved;
	uint64_t	count;
	uint64_t	branch;
	uint32_t	precise;
	uint32_t	reserved2;
};

int	pmc_owner_allocate(struct pmc_owner *owner, const char *spec,
			   struct pmc_allocate_opts *opts, pmc_id_t *id);
int	pmc_owner_allocate_event(struct pmc_owner *owner,
				 const struct pmc_event_desc *desc,
				 struct pmc_allocate_opts *opts, pmc_id_t *id);
int	pmc_owner_release(struct pmc_owner *owner, pmc_id_t id);
int	pmc_owner_start(struct pmc_owner *owner, pmc_id_t id);
int	pmc_owner_stop(struct pmc_owner *owner, pmc_id_t id);
/* PMCs of the process modes only; pid 0 is the caller */
int	pmc_owner_attach(struct pmc_owner *owner, pmc_id_t id, pid_t pid);
int	pmc_owner_detach(struct pmc_owner *owner, pmc_id_t id, pid_t pid);
/* Sets the period or initial count; *count is set to the value in force. */
int	pmc_owner_set(struct pmc_owner *owner, pmc_id_t id, uint64_t *count);

/**
 * struct pmc_reading - the state of a counter
 * @value: number of events
 * @enabled, @running: nanoseconds enabled, and running on the hardware
 */
struct pmc_reading {
	uint64_t	value;
	uint64_t	enabled;
	uint64_t	running;
};

/* @cpu: one of the PMC's CPUs, or PMC_CPU_ALL for the sum */
int	pmc_owner_read(struct pmc_owner *owner, pmc_id_t id, int cpu,
		       struct pmc_reading *reading);
/* *old is set to the previous count; @old may be NULL */
int	pmc_owner_write(struct pmc_owner *owner, pmc_id_t id,
			pmc_value_t value, pmc_value_t *old);

/*
 * Selects the samples of a PMC; replaces earlier conditions.  @n 0 selects all.
 * EBUSY while the PMC runs.
 */
int	pmc_owner_filter(struct pmc_owner *owner, pmc_id_t id,
			 const struct hwpmc_condition *conditions, size_t n);
/*
 * Limits what sampling may cost, to @ppm millionths of each CPU's time; 0: no limit.  PMCs
 * with PMC_F_FREQ that are allocated afterwards get lower rates as far as that takes.
 * EBUSY: the owner has PMCs or a log.  ENOTTY: an older module.
 */
int	pmc_owner_set_budget(struct pmc_owner *owner, uint32_t ppm);
/* What sampling has cost, see linux/hwpmc.h */
int	pmc_owner_budget(struct pmc_owner *owner, struct hwpmc_getbudget *budget);
/*
 * The owner is for the CPUs in @mask, of @len bytes as for sched_setaffinity(2); 0: for
 * all.  Its PMCs of all CPUs run on these only, its log has what happens there, and the
 * module writes it there.  EBUSY: the owner has PMCs or a log.  EINVAL: the machine has
 * none of these CPUs.  ENOTTY: an older module.
 */
int	pmc_owner_set_cpus(struct pmc_owner *owner, const void *mask, size_t len);

/*
 * Starts all PMCs that are not running, or stops these again.  *npmc is set to their
 * number, *skew to the nanoseconds from the first counter's start to the last one's;
 * both may be NULL.  If a PMC needs a log and the owner has none, a log that is read
 * from pmc_owner_fd() begins.
 */
int	pmc_owner_record(struct pmc_owner *owner, int on, uint32_t *npmc,
			 uint64_t *skew);
/* Load address of a process' run-time loader, 0 without one; pid 0: the caller */
int	pmc_owner_atbase(struct pmc_owner *owner, pid_t pid, uint64_t *base);

/* @fd: -1 ends the log */
int	pmc_owner_configure_logfile(struct pmc_owner *owner, int fd);
int	pmc_owner_rotate_logfile(struct pmc_owner *owner, int fd);
/* @flags: PMC_LOG_*; 0 if @fd is negative */
int	pmc_owner_configure_logfile_flags(struct pmc_owner *owner, int fd,
					  uint32_t flags);
int	pmc_owner_rotate_logfile_flags(struct pmc_owner *owner, int fd,
				       uint32_t flags);
/*
 * Begins a log that is read from pmc_owner_fd(), with read(2) or pmclog_open(3).  A
 * read returns whole records; PMCLOG_RECORD_MAX bytes have room for any.  @size:
 * bytes kept until they are read, 0 for the default; @flags: PMC_LOG_PACKED or 0.
 */
int	pmc_owner_stream(struct pmc_owner *owner, uint64_t size,
			 uint32_t flags);
/*
 * pmc_owner_flight() begins a flight recorder, which keeps the last @size bytes of the
 * log in memory; @flags: PMC_LOG_PACKED or 0.  pmc_owner_snapshot() writes these bytes
 * to @fd.  With HWPMC_SNAPSHOT_ARM in @flags it does so at the first trigger: an
 * overflow of a PMC with HWPMC_F_TRIGGER, or a process exit that
 * pmc_owner_exit_trigger() selects.  @what: HWPMC_EXIT_*; @status: as wait(2) returns
 * it; @pid 0: any process.  poll(2) then returns POLLPRI.  See hwpmc(4).
 */
int	pmc_owner_flight(struct pmc_owner *owner, uint64_t size,
			 uint32_t flags);
int	pmc_owner_snapshot(struct pmc_owner *owner, int fd, uint32_t flags);
int	pmc_owner_exit_trigger(struct pmc_owner *owner, uint32_t what,
			       int status, pid_t pid);
int	pmc_owner_flush_logfile(struct pmc_owner *owner);
int	pmc_owner_close_logfile(struct pmc_owner *owner);
int	pmc_owner_writelog(struct pmc_owner *owner, uint32_t udata);
/* Logs complete records; struct hwpmc_writelog says which are allowed. */
int	pmc_owner_write_records(struct pmc_owner *owner, const void *records,
				size_t len);

/* *info belongs to the owner. */
int	pmc_owner_cpuinfo(struct pmc_owner *owner,
			  const struct hwpmc_cpuinfo **info);
/*
 * @scope: HWPMC_STATS_*.  @size: the caller's size of *stats.  Fields that the
 * library or the module does not know are set to zero.
 */
int	pmc_owner_stats(struct pmc_owner *owner, uint32_t scope,
			struct hwpmc_driverstats *stats, size_t size);
/*
 * Stores the rows of @cpu that are used or disabled, of all owners, ordered by row.
 * The caller frees *rows.
 */
int	pmc_owner_pmcinfo(struct pmc_owner *owner, int cpu,
			  struct hwpmc_pmcinfo_row **rows, size_t *nrows);
/* Stores the named events that this machine can count; the caller frees *events. */
int	pmc_owner_events(struct pmc_owner *owner,
			 struct hwpmc_dynevent **events, size_t *nevents);

int	pmc_owner_enable(struct pmc_owner *owner, int cpu, int row);
int	pmc_owner_disable(struct pmc_owner *owner, int cpu, int row);
int	pmc_owner_get_msr(struct pmc_owner *owner, pmc_id_t id, uint32_t *msr);

#ifdef __cplusplus
}
#endif

#endif /* PMC_H */
