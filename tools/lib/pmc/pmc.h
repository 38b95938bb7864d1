/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libpmc: control of performance counters through /dev/hwpmc.
 *
 * The first half has FreeBSD's names and signatures and works on one owner per
 * process, which pmc_init() opens.  The second half does the same for owners
 * named by a handle.  Unless said otherwise a function returns 0, or -1 with
 * errno; hwpmc(4) lists the errors of each operation.
 *
 * An owner is an open file: a forked child shares it with its parent.  The
 * functions of the first half are not for several threads at a time; those
 * of the second half are when each thread has an owner of its own.
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
 * Samples in packs: a tenth of the bytes, and only our own library reads them.
 */
#define PMC_LOG_PACKED		(1U << 0)

/* Since the module was loaded; these stay at UINT_MAX once they are there. */
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
 * @pm_enabled:  0: the administrator has disabled it
 * @pm_ownerpid: who opened the device; -1: nobody, or not to be known: then
 *		 what follows is zero
 * @pm_event:    0 if it is none that pmc_name_of_event() knows
 * @pm_reloadcount: sampling only
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
struct hwpmc_dynevent;
struct hwpmc_pmcinfo_row;

/* --------------------------------------------------------------------
 * FreeBSD's functions
 */

/*
 * May be called again.  Without it the others fail with ENXIO.  The process then
 * gets SIGIO when the log fails, or a PMC has lost its last target; until it has a
 * handler for SIGIO, that is ignored.
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
/* Ours; @flags: PMC_LOG_* */
int	pmc_configure_logfile_flags(int fd, uint32_t flags);
int	pmc_flush_logfile(void);
int	pmc_close_logfile(void);
int	pmc_writelog(uint32_t udata);

/* These two return a number, or -1 with errno. */
int	pmc_ncpu(void);
int	pmc_npmc(int cpu);
int	pmc_cpuinfo(const struct pmc_cpuinfo **cpu_info);
int	pmc_get_driver_stats(struct pmc_driverstats *gms);
/* Ours: in 64 bits, and all there are; @size as in pmc_owner_stats() */
int	pmc_get_driver_stats64(struct hwpmc_driverstats *stats, size_t size);
/*
 * The caller frees *pmc_info.  Owners have rows of their own: of a row that
 * several use one is told; pmc_owner_pmcinfo() has them all.
 */
int	pmc_pmcinfo(int cpu, struct pmc_pmcinfo **pmc_info);

/* For the administrator: whether row @pmc of a CPU may be used, by anybody */
int	pmc_enable(int cpu, int pmc);
int	pmc_disable(int cpu, int pmc);
/* Fails with ENOSYS: counters are read by pmc_read() only. */
int	pmc_get_msr(pmc_id_t pmc, uint32_t *msr);

/* NULL with errno EINVAL when there is no name */
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
#define PMC_EVENT_TRACEPOINT	(1U << 0)	/* fields: PMC_F_RAW has them */
#define PMC_EVENT_PROBE		(1U << 1)	/* pmc_probe_make() goes before */
#define PMC_EVENT_ONE_CPU	(1U << 2)	/* on pmc_event_cpus() only */
#define PMC_EVENT_RATE		(1U << 3)	/* samples only; @period is its rate */

/**
 * struct pmc_event_desc - what an event specification says
 * @type, @config, @config1, @config2, @config3, @bp_type: as in struct
 *	perf_event_attr
 * @caps: PMC_CAP_USER and PMC_CAP_SYSTEM as asked for, or 0
 * @period: that suits sampling, or 0: none in particular
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
 * pmc_event_parse() - understand an event specification
 * @spec: name[,usr][,os], rHEX, type=N,config=N[,config1=N][,config2=N]
 *	[,config3=N][,name=WORD][,usr][,os], PMU/TERM[=VALUE],.../, SYSTEM:EVENT
 *	(a tracepoint) or PROVIDER:...; each may end in :u, :k or :uk.
 *	pmcstat(8) describes them.
 * @desc: filled in
 * @msg:  on failure one line that says what is wrong, or NULL
 *
 * Fails with EINVAL; EACCES: what describes the event may not be read.
 */
int	pmc_event_parse(const char *spec, struct pmc_event_desc *desc,
			char *msg, size_t msglen);

/*
 * The CPUs on which the event is to be counted to have each thing that happens
 * once, such as "0" or "0,28": the length of that list, 0 when these are all of
 * them, or -1 with errno (ENOSPC: @len is too short).
 */
int	pmc_event_cpus(const struct pmc_event_desc *desc, char *list,
		       size_t len);

/**
 * struct pmc_source - an event that there is
 * @number:   of the event
 * @nargs:    fields that it has; pmc_source_list() only
 * @provider: hardware, software, cache, pmu, tracepoint, syscall, ...
 * @function: what of it: a PMU, a tracepoint's system, a system call, or nothing
 * @name:     of the event
 */
struct pmc_source {
	uint32_t	number;
	uint32_t	nargs;
	char		provider[16];
	char		function[96];
	char		name[96];
};

/**
 * struct pmc_source_field - what is known when an event happens
 * @type:   as C has it
 * @offset, @size: bytes, in the data that PMC_F_RAW logs
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
 * All events that this machine has by name; tracepoints if the caller may read
 * them.  *size is that of @list in bytes, and becomes that of what there is.  If
 * that is more, this fails with ENOSPC; but a *size of 0 only asks for it.
 */
int	pmc_source_list(struct pmc_source *list, size_t *size);
/* The fields of one, in the same way; EINVAL: there is no such number */
int	pmc_source_fields(uint32_t number, struct pmc_source_field *fields,
			  size_t *size);
/* One after another; when @f returns not 0 it is the last, and this is returned. */
int	pmc_source_each(int (*f)(void *arg, const struct pmc_source *source),
			void *arg);
/* As pmc_event_parse() takes it */
void	pmc_source_spec(const struct pmc_source *source, char *buf, size_t len);
/* One line about it, or nothing */
void	pmc_source_describe(const struct pmc_source *source, char *buf,
			    size_t len);
/*
 * The fields of an event that was parsed, or whose probe was made: as
 * pmc_source_fields(), or as the kernel tells of them, a line for each, also of
 * those that all events have: the caller frees it; NULL with errno.
 */
int	pmc_event_fields(const struct pmc_event_desc *desc,
			 struct pmc_source_field *fields, size_t *size);
char	*pmc_event_format(const struct pmc_event_desc *desc);

struct pmc_probe;

/**
 * pmc_probe_make() - make the probe of an event that has PMC_EVENT_PROBE
 * @desc: filled in, as by pmc_event_parse(); its @config is that of the probe
 * @msg:  on failure one line that says what is wrong, or NULL
 *
 * Needs root.  NULL with errno when it fails.  Whoever ends before it has removed
 * the probe leaves it there until somebody makes one again.
 */
struct pmc_probe *pmc_probe_make(const char *spec, struct pmc_event_desc *desc,
				 char *msg, size_t msglen);
/*
 * To be called when the event is no longer used: the PMC is released, or its owner
 * closed.  Waits some seconds for that; then fails with EBUSY.  For signal
 * handlers, too; pmc_probe_free() then frees the memory.
 */
int	pmc_probe_remove(const struct pmc_probe *probe);
void	pmc_probe_free(struct pmc_probe *probe);
/* GROUP/EVENT, as tracefs has it */
const char *pmc_probe_name(const struct pmc_probe *probe);

/* What the event of this index in pmc_event_names_of_class() counts; or NULL */
const char *pmc_event_description(int index);

/* How events without a name are spelled; NULL with NULL behind the last */
const char *pmc_event_spelling(int index, const char **description);

/* Writes what events have names, a line for each; *out is not flushed. */
void	pmc_event_list(FILE *out);

/* --------------------------------------------------------------------
 * Owners named by a handle
 */

struct pmc_owner;

#define PMC_OWNER_INHERIT	(1U << 0)	/* keep it open across exec */

/* NULL with errno when it fails.  Closing releases all that is owned. */
struct pmc_owner *pmc_owner_open(unsigned int flags);
void	pmc_owner_close(struct pmc_owner *owner);
/*
 * For poll(2): POLLERR means a write error of the log, POLLIN that there is
 * something to be read: see pmc_owner_stream().
 */
int	pmc_owner_fd(const struct pmc_owner *owner);

/*
 * PMCs with PMC_F_UNWIND take user chains by unwind tables, of programs without
 * frame pointers as well.  This makes the tables that are missing for what has been
 * sampled, and hands them to the module: to be called when poll(2) says POLLRDBAND.
 * Returns how many objects there were, or -1: the rest has to wait (EMFILE, ...).
 */
int	pmc_owner_unwind(struct pmc_owner *owner);

/**
 * struct pmc_preloaded - what a preload has done
 * @processes: that were looked at; 0 of a command
 * @objects:   that got a table, of @bytes together
 */
struct pmc_preloaded {
	unsigned int	processes;
	unsigned int	objects;
	uint64_t	bytes;
};

/*
 * The tables of all that processes have mapped as code now, before it is sampled:
 * of @n processes, or of all that the caller may look at if @n is 0.  A PMC with
 * PMC_F_UNWIND has to be there.  A thread does it, until it is done or ended.  What
 * is most mapped comes first; of tables there will be 64 MiB, 16 without privilege.
 * NULL with errno: ENOMEM, EAGAIN.
 */
struct pmc_preload;

struct pmc_preload *pmc_preload_begin(struct pmc_owner *owner, const int *pids,
				      size_t n);
/*
 * The tables of what a command will have mapped as code, before it runs: of the file at
 * @path, as execve(2) takes it, or of what executes it if it is a script (#!), of its ELF
 * interpreter, and of the libraries that "INTERPRETER --list PROGRAM" names.  That runs
 * as a child, in the caller's environment at this moment, for a second at most; of the
 * program nothing runs.  A caller that waits for any child may get its number.  What
 * cannot be read, or changes credentials, has none, and a file that is no program is no
 * error.  The rest is as above.
 */
struct pmc_preload *pmc_preload_command(struct pmc_owner *owner,
					const char *path);
/* Waits for @ms at most.  Returns 1 if all is done; @did may be NULL. */
int	pmc_preload_wait(struct pmc_preload *p, unsigned int ms,
			 struct pmc_preloaded *did);
/* Before the owner is closed.  @p may be NULL. */
void	pmc_preload_end(struct pmc_preload *p);

/**
 * struct pmc_allocate_opts - the choices of an allocation
 * @size:  sizeof(struct pmc_allocate_opts)
 * @mode:  a system or process mode
 * @flags: PMC_F_*
 * @cpu:   a CPU, PMC_CPU_ALL or PMC_CPU_ANY
 * @count: period or initial count, 0 for the default; afterwards what is in
 *	force
 */
struct pmc_allocate_opts {
	size_t		size;
	enum pmc_mode	mode;
	uint32_t	flags;
	int32_t		cpu;
	uint32_t	reserved;
	uint64_t	count;
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
/* Period or initial count; *count becomes what is in force. */
int	pmc_owner_set(struct pmc_owner *owner, pmc_id_t id, uint64_t *count);

/**
 * struct pmc_reading - a counter
 * @value: events
 * @enabled, @running: nanoseconds
 */
struct pmc_reading {
	uint64_t	value;
	uint64_t	enabled;
	uint64_t	running;
};

/* @cpu: one of the PMC's CPUs, or PMC_CPU_ALL for the sum */
int	pmc_owner_read(struct pmc_owner *owner, pmc_id_t id, int cpu,
		       struct pmc_reading *reading);
/* @old may be NULL */
int	pmc_owner_write(struct pmc_owner *owner, pmc_id_t id,
			pmc_value_t value, pmc_value_t *old);

/*
 * Which samples are wanted; replaces what was set before, @n 0: all.  EBUSY
 * while the PMC runs.
 */
int	pmc_owner_filter(struct pmc_owner *owner, pmc_id_t id,
			 const struct hwpmc_condition *conditions, size_t n);
/*
 * Starts all PMCs that do not run, or stops these again.  @npmc: how many; @skew:
 * nanoseconds from the first counter's start to the last one's; may be NULL.
 * Without a log and with a PMC that needs one, one begins that is read from
 * pmc_owner_fd().
 */
int	pmc_owner_record(struct pmc_owner *owner, int on, uint32_t *npmc,
			 uint64_t *skew);
/* Where the run-time loader of a process sits, 0 without one; pid 0: the caller */
int	pmc_owner_atbase(struct pmc_owner *owner, pid_t pid, uint64_t *base);

/* @fd: -1 ends the log */
int	pmc_owner_configure_logfile(struct pmc_owner *owner, int fd);
int	pmc_owner_rotate_logfile(struct pmc_owner *owner, int fd);
/* @flags: PMC_LOG_*; 0 when @fd is negative */
int	pmc_owner_configure_logfile_flags(struct pmc_owner *owner, int fd,
					  uint32_t flags);
int	pmc_owner_rotate_logfile_flags(struct pmc_owner *owner, int fd,
				       uint32_t flags);
/*
 * A log that is read with read(2), or pmclog_open(3), from pmc_owner_fd(): whole
 * records, none without room for one (PMCLOG_RECORD_MAX).  @size: bytes to keep
 * ready, 0 for the usual; @flags: PMC_LOG_PACKED or 0.
 */
int	pmc_owner_stream(struct pmc_owner *owner, uint64_t size,
			 uint32_t flags);
/*
 * A flight recorder: the last @size bytes of the log are kept in memory.  @flags:
 * PMC_LOG_PACKED or 0.  What is kept is written to @fd; with HWPMC_SNAPSHOT_ARM in
 * @flags at the first overflow of a PMC with HWPMC_F_TRIGGER, or the first end of
 * a process as pmc_owner_exit_trigger() says: HWPMC_EXIT_*, status as wait(2) tells
 * it, @pid 0: any.  poll(2) then says POLLPRI.  See hwpmc(4).
 */
int	pmc_owner_flight(struct pmc_owner *owner, uint64_t size,
			 uint32_t flags);
int	pmc_owner_snapshot(struct pmc_owner *owner, int fd, uint32_t flags);
int	pmc_owner_exit_trigger(struct pmc_owner *owner, uint32_t what,
			       int status, pid_t pid);
int	pmc_owner_flush_logfile(struct pmc_owner *owner);
int	pmc_owner_close_logfile(struct pmc_owner *owner);
int	pmc_owner_writelog(struct pmc_owner *owner, uint32_t udata);
/* Records ready for the log; see struct hwpmc_writelog for which. */
int	pmc_owner_write_records(struct pmc_owner *owner, const void *records,
				size_t len);

int	pmc_owner_cpuinfo(struct pmc_owner *owner,
			  const struct hwpmc_cpuinfo **info);
/*
 * @scope: HWPMC_STATS_*.  @size: of *stats as the caller knows it; what the
 * library or the module does not know is zero.
 */
int	pmc_owner_stats(struct pmc_owner *owner, uint32_t scope,
			struct hwpmc_driverstats *stats, size_t size);
/*
 * Rows of @cpu that are used or disabled, over all owners, ordered by row.  The
 * caller frees *rows.
 */
int	pmc_owner_pmcinfo(struct pmc_owner *owner, int cpu,
			  struct hwpmc_pmcinfo_row **rows, size_t *nrows);
/* Events with a name that this machine can count; the caller frees *events. */
int	pmc_owner_events(struct pmc_owner *owner,
			 struct hwpmc_dynevent **events, size_t *nevents);

int	pmc_owner_enable(struct pmc_owner *owner, int cpu, int row);
int	pmc_owner_disable(struct pmc_owner *owner, int cpu, int row);
int	pmc_owner_get_msr(struct pmc_owner *owner, pmc_id_t id, uint32_t *msr);

#ifdef __cplusplus
}
#endif

#endif /* PMC_H */
