/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmclog(3): parse a log of hwpmc(4), with FreeBSD's names.
 *
 * The events hold paths and call chains by value; <pmclog_iter.h> hands out
 * records without copying them.
 */
#ifndef PMCLOG_H
#define PMCLOG_H

#include <limits.h>
#include <sched.h>	/* struct timespec, in C99 too */
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <pmc_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pmclog_type {
	PMCLOG_TYPE_CLOSELOG = 1,
	PMCLOG_TYPE_DROPNOTIFY = 2,
	PMCLOG_TYPE_INITIALIZE = 3,
	PMCLOG_TYPE_PMCALLOCATE = 5,
	PMCLOG_TYPE_PMCATTACH = 6,
	PMCLOG_TYPE_PMCDETACH = 7,
	PMCLOG_TYPE_PROCCSW = 8,
	PMCLOG_TYPE_PROCEXEC = 9,
	PMCLOG_TYPE_PROCEXIT = 10,
	PMCLOG_TYPE_PROCFORK = 11,
	PMCLOG_TYPE_SYSEXIT = 12,
	PMCLOG_TYPE_USERDATA = 13,
	PMCLOG_TYPE_MAP_IN = 14,
	PMCLOG_TYPE_MAP_OUT = 15,
	PMCLOG_TYPE_CALLCHAIN = 16,
	PMCLOG_TYPE_PMCALLOCATEDYN = 17,
	PMCLOG_TYPE_THR_CREATE = 18,
	PMCLOG_TYPE_THR_EXIT = 19,
	PMCLOG_TYPE_PROC_CREATE = 20,
};

#define PMCLOG_HEADER_TO_LENGTH(H)	((uint32_t)(H) & 0xFFFFU)
#define PMCLOG_HEADER_TO_TYPE(H)	(((uint32_t)(H) >> 16) & 0xFFU)
#define PMCLOG_HEADER_TO_MAGIC(H)	((uint32_t)(H) >> 24)
#define PMCLOG_HEADER_CHECK_MAGIC(H)	(PMCLOG_HEADER_TO_MAGIC(H) == 0xEEU)

#define PMC_CALLCHAIN_CPUFLAGS_TO_CPU(CF)	(((CF) >> 16) & 0xFFFFU)
#define PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(CF)	((CF) & PMC_CC_F_USERSPACE)
#define PMC_CALLCHAIN_TO_CPUFLAGS(CPU, FLAGS) \
	(((uint32_t)(CPU) << 16) | ((FLAGS) & 0xFFFFU))

#define PMCLOG_EV_PATH_MAX	4096	/* Linux's PATH_MAX, which strict C has not */

enum pmclog_state {
	PMCLOG_OK,
	PMCLOG_EOF,
	PMCLOG_REQUIRE_DATA,
	PMCLOG_ERROR,
};

struct pmclog_ev_callchain {
	uint32_t	pl_pid;
	uint32_t	pl_tid;
	uint32_t	pl_pmcid;
	uint32_t	pl_cpuflags;
	uint32_t	pl_cpuflags2;		/* 0 */
	uint32_t	pl_npc;
	uintfptr_t	pl_pc[PMC_CALLCHAIN_DEPTH_MAX];	/* pl_npc, then zeros */
};

/* FreeBSD's struct is empty; the fields are 0 if the record has none */
struct pmclog_ev_dropnotify {
	uint32_t	pl_pmcid;
	uint32_t	pl_cpu;
	uint32_t	pl_cause;
	uint64_t	pl_ndropped;
};

struct pmclog_ev_closelog {
	uint32_t	pl_unused;
};

struct pmclog_ev_initialize {
	uint32_t	pl_version;
	uint32_t	pl_arch;
	uint64_t	pl_tsc_freq;
	struct timespec	pl_ts;
	char		pl_cpuid[PMCLOG_EV_PATH_MAX];
};

struct pmclog_ev_map_in {
	pid_t		pl_pid;			/* -1: kernel and modules */
	uintfptr_t	pl_start;
	char		pl_pathname[PMCLOG_EV_PATH_MAX];
};

struct pmclog_ev_map_out {
	pid_t		pl_pid;
	uintfptr_t	pl_start;
	uintfptr_t	pl_end;
};

struct pmclog_ev_pcsample {			/* never seen */
	uintfptr_t	pl_pc;
	pid_t		pl_pid;
	pid_t		pl_tid;
	pmc_id_t	pl_pmcid;
	uint32_t	pl_flags;
	uint32_t	pl_usermode;
};

struct pmclog_ev_pmcallocate {
	const char	*pl_evname;		/* valid until the next read */
	uint64_t	pl_rate;
	uint32_t	pl_event;
	uint32_t	pl_flags;
	pmc_id_t	pl_pmcid;
};

struct pmclog_ev_pmcallocatedyn {
	char		pl_evname[PMC_NAME_MAX];
	uint32_t	pl_event;
	uint32_t	pl_flags;
	pmc_id_t	pl_pmcid;
};

struct pmclog_ev_pmcattach {
	pmc_id_t	pl_pmcid;
	pid_t		pl_pid;
	char		pl_pathname[PMCLOG_EV_PATH_MAX];
};

struct pmclog_ev_pmcdetach {
	pmc_id_t	pl_pmcid;
	pid_t		pl_pid;
};

struct pmclog_ev_proccsw {
	pid_t		pl_pid;
	pid_t		pl_tid;
	pmc_id_t	pl_pmcid;
	pmc_value_t	pl_value;
};

struct pmclog_ev_proccreate {
	pid_t		pl_pid;
	uint32_t	pl_flags;
	char		pl_pcomm[MAXCOMLEN + 1];
};

struct pmclog_ev_procexec {
	pid_t		pl_pid;
	pmc_id_t	pl_pmcid;
	uintfptr_t	pl_baseaddr;
	uintfptr_t	pl_dynaddr;
	char		pl_pathname[PMCLOG_EV_PATH_MAX];
};

struct pmclog_ev_procexit {
	uint32_t	pl_pid;
	pmc_id_t	pl_pmcid;
	pmc_value_t	pl_value;
};

struct pmclog_ev_procfork {
	pid_t		pl_oldpid;
	pid_t		pl_newpid;
};

struct pmclog_ev_sysexit {
	pid_t		pl_pid;
};

struct pmclog_ev_threadcreate {
	pid_t		pl_tid;
	pid_t		pl_pid;
	uint32_t	pl_flags;
	char		pl_tdname[MAXCOMLEN + 1];
};

struct pmclog_ev_threadexit {
	pid_t		pl_tid;
};

struct pmclog_ev_userdata {
	uint32_t	pl_userdata;
};

/* An error here: a 32-bit program is compiled with -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64. */
typedef char pmclog_needs_FILE_OFFSET_BITS_64[sizeof(off_t) == 8 ? 1 : -1];
typedef char pmclog_needs_TIME_BITS_64[sizeof(time_t) == 8 ? 1 : -1];

struct pmclog_ev {
	enum pmclog_state pl_state;	/* outcome of the read */
	off_t		pl_offset;	/* of the record in the stream */
	size_t		pl_count;	/* of records so far */
	struct timespec	pl_ts;		/* wall clock */
	enum pmclog_type pl_type;
	void		*pl_data;	/* the record, valid until the next read or feed */
	int		pl_len;
	union {
		struct pmclog_ev_callchain	pl_cc;
		struct pmclog_ev_closelog	pl_cl;
		struct pmclog_ev_dropnotify	pl_dn;
		struct pmclog_ev_initialize	pl_i;
		struct pmclog_ev_map_in		pl_mi;
		struct pmclog_ev_map_out	pl_mo;
		struct pmclog_ev_pmcallocate	pl_a;
		struct pmclog_ev_pmcallocatedyn	pl_ad;
		struct pmclog_ev_pmcattach	pl_t;
		struct pmclog_ev_pmcdetach	pl_d;
		struct pmclog_ev_proccsw	pl_c;
		struct pmclog_ev_proccreate	pl_pc;
		struct pmclog_ev_procexec	pl_x;
		struct pmclog_ev_procexit	pl_e;
		struct pmclog_ev_procfork	pl_f;
		struct pmclog_ev_sysexit	pl_se;
		struct pmclog_ev_threadcreate	pl_tc;
		struct pmclog_ev_threadexit	pl_te;
		struct pmclog_ev_userdata	pl_u;
	} pl_u;
};

#define PMCLOG_FD_NONE	(-1)

/* NULL with errno ENOMEM.  The caller still owns @fd and closes it. */
void *pmclog_open(int fd);
/*
 * Copies the bytes.  0, or -1 with errno: EINVAL: the parser reads a file; EBUSY: not
 * all bytes of the previous call have been read; ENOMEM.
 */
int pmclog_feed(void *cookie, char *data, int len);
/* 0 with an event; -1 with ev->pl_state EOF, REQUIRE_DATA or ERROR */
int pmclog_read(void *cookie, struct pmclog_ev *ev);
void pmclog_close(void *cookie);

#ifdef __cplusplus
}
#endif

#endif /* PMCLOG_H */
