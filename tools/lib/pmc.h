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

/* --------------------------------------------------------------------
 * FreeBSD's functions
 */

/* May be called again.  Without it the others fail with ENXIO. */
int	pmc_init(void);

int	pmc_allocate(const char *ctrspec, enum pmc_mode mode, uint32_t flags,
		     int cpu, pmc_id_t *pmcid, uint64_t count);
int	pmc_release(pmc_id_t pmc);
int	pmc_start(pmc_id_t pmc);
int	pmc_stop(pmc_id_t pmc);
int	pmc_read(pmc_id_t pmc, pmc_value_t *value);
int	pmc_write(pmc_id_t pmc, pmc_value_t value);
int	pmc_rw(pmc_id_t pmc, pmc_value_t newvalue, pmc_value_t *oldvalue);
int	pmc_set(pmc_id_t pmc, pmc_value_t value);
int	pmc_capabilities(pmc_id_t pmc, uint32_t *caps);
int	pmc_width(pmc_id_t pmc, uint32_t *width);

int	pmc_configure_logfile(int fd);
int	pmc_flush_logfile(void);
int	pmc_close_logfile(void);
int	pmc_writelog(uint32_t udata);

/* These two return a number, or -1 with errno. */
int	pmc_ncpu(void);
int	pmc_npmc(int cpu);
int	pmc_cpuinfo(const struct pmc_cpuinfo **cpu_info);
int	pmc_get_driver_stats(struct pmc_driverstats *gms);

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

/**
 * struct pmc_event_desc - what an event specification says
 * @type, @config, @config1, @config2: as in struct perf_event_attr
 * @caps: PMC_CAP_USER and PMC_CAP_SYSTEM as asked for, or 0
 * @name: for the log: the event's name, and ":u" or ":k"
 */
struct pmc_event_desc {
	uint32_t	type;
	uint32_t	caps;
	uint64_t	config;
	uint64_t	config1;
	uint64_t	config2;
	uint64_t	reserved[4];
	char		name[PMC_NAME_MAX];
};

/**
 * pmc_event_parse() - understand an event specification
 * @spec: name[,usr][,os], rHEX, or type=N,config=N[,config1=N][,config2=N]
 *	[,name=WORD][,usr][,os]; each may end in :u, :k or :uk
 * @desc: filled in
 * @msg:  on failure one line that says what is wrong, or NULL
 *
 * Fails with EINVAL.
 */
int	pmc_event_parse(const char *spec, struct pmc_event_desc *desc,
			char *msg, size_t msglen);

/* What the event of this index in pmc_event_names_of_class() counts; or NULL */
const char *pmc_event_description(int index);

/* --------------------------------------------------------------------
 * Owners named by a handle
 */

struct pmc_owner;
struct hwpmc_cpuinfo;		/* <linux/hwpmc.h> */
struct hwpmc_driverstats;

#define PMC_OWNER_INHERIT	(1U << 0)	/* keep it open across exec */

/* NULL with errno when it fails.  Closing releases all that is owned. */
struct pmc_owner *pmc_owner_open(unsigned int flags);
void	pmc_owner_close(struct pmc_owner *owner);
/* For poll(2): POLLERR means a write error of the log. */
int	pmc_owner_fd(const struct pmc_owner *owner);

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

/* @fd: -1 ends the log */
int	pmc_owner_configure_logfile(struct pmc_owner *owner, int fd);
int	pmc_owner_rotate_logfile(struct pmc_owner *owner, int fd);
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

#ifdef __cplusplus
}
#endif

#endif /* PMC_H */
