// SPDX-License-Identifier: BSD-2-Clause
/*
 * The layouts of records of all eras.
 */
#include <stddef.h>

#include "pmclog_era_parts.h"

#define M(kind, type, field)	{ kind, 0, offsetof(struct type, field) }
#define S(type, field, size)	{ NAME, size, offsetof(struct type, field) }
#define UNUSED			{ SKIP, 0, 0 }

static const struct move nothing[] = { { END, 0, 0 } };

#define LAYOUT(type, len, ...) \
	{ PMCLOG_T_##type, len, (const struct move[]){ __VA_ARGS__, { END, 0, 0 } } }
#define L(type, name, ...)	LAYOUT(type, sizeof(struct name), __VA_ARGS__)
#define HEADER(type)	{ PMCLOG_T_##type, sizeof(struct pmclog_hdr), nothing }

#define OF_ALL_ERAS \
	[PMCLOG_T_PMCATTACH] = L(PMCATTACH, pmclog_pmcattach, \
		M(WORD, pmclog_pmcattach, pmcid), M(WORD, pmclog_pmcattach, pid), \
		M(PATH, pmclog_pmcattach, path)), \
	[PMCLOG_T_PMCDETACH] = L(PMCDETACH, pmclog_pmcdetach, \
		M(WORD, pmclog_pmcdetach, pmcid), M(WORD, pmclog_pmcdetach, pid)), \
	[PMCLOG_T_PROCFORK] = L(PROCFORK, pmclog_procfork, \
		M(WORD, pmclog_procfork, oldpid), M(WORD, pmclog_procfork, newpid)), \
	[PMCLOG_T_SYSEXIT] = L(SYSEXIT, pmclog_sysexit, \
		M(WORD, pmclog_sysexit, pid)), \
	[PMCLOG_T_USERDATA] = L(USERDATA, pmclog_userdata, \
		M(WORD, pmclog_userdata, userdata))

const struct layout pmclog_era_headers16[NTYPES] = {
	OF_ALL_ERAS,
	[PMCLOG_T_CLOSELOG] = HEADER(CLOSELOG),
	[PMCLOG_T_DROPNOTIFY] = HEADER(DROPNOTIFY),
	[PMCLOG_T_INITIALIZE] = L(INITIALIZE, pmclog_initialize,
		M(WORD, pmclog_initialize, version),
		M(WORD, pmclog_initialize, cputype),
		M(DOUBLE, pmclog_initialize, tsc_freq),
		M(DOUBLE, pmclog_initialize, ts_sec),
		M(DOUBLE, pmclog_initialize, ts_nsec),
		S(pmclog_initialize, cpuid, PMCLOG_CPUID_LEN)),
	[PMCLOG_T_PMCALLOCATE] = L(PMCALLOCATE, pmclog_wire_allocate,
		M(WORD, pmclog_wire_allocate, pmcid),
		M(WORD, pmclog_wire_allocate, event),
		M(WORD, pmclog_wire_allocate, flags), UNUSED,
		M(DOUBLE, pmclog_wire_allocate, rate)),
	[PMCLOG_T_PROCCSW] = L(PROCCSW, pmclog_proccsw,
		M(DOUBLE, pmclog_proccsw, value), M(WORD, pmclog_proccsw, pmcid),
		M(WORD, pmclog_proccsw, pid), M(WORD, pmclog_proccsw, tid), UNUSED),
	[PMCLOG_T_PROCEXEC] = L(PROCEXEC, pmclog_procexec,
		M(WORD, pmclog_procexec, pid), M(WORD, pmclog_procexec, pmcid),
		M(ADDR, pmclog_procexec, base), M(ADDR, pmclog_procexec, dyn),
		M(PATH, pmclog_procexec, path)),
	[PMCLOG_T_PROCEXIT] = LAYOUT(PROCEXIT, PMCLOG_PROCEXIT_BASE,
		M(WORD, pmclog_procexit, pmcid), M(WORD, pmclog_procexit, pid),
		M(DOUBLE, pmclog_procexit, value)),
	[PMCLOG_T_MAP_IN] = L(MAP_IN, pmclog_map_in,
		M(WORD, pmclog_map_in, pid), UNUSED,
		M(ADDR, pmclog_map_in, start), M(PATH, pmclog_map_in, path)),
	[PMCLOG_T_MAP_OUT] = L(MAP_OUT, pmclog_map_out,
		M(WORD, pmclog_map_out, pid), UNUSED,
		M(ADDR, pmclog_map_out, start), M(ADDR, pmclog_map_out, end)),
	[PMCLOG_T_CALLCHAIN] = L(CALLCHAIN, pmclog_callchain,
		M(WORD, pmclog_callchain, pid), M(WORD, pmclog_callchain, tid),
		M(WORD, pmclog_callchain, pmcid), M(WORD, pmclog_callchain, cpuflags),
		M(PCS, pmclog_callchain, pc)),
	[PMCLOG_T_PMCALLOCATEDYN] = LAYOUT(PMCALLOCATEDYN, PMCLOG_PMCALLOCATEDYN_BASE,
		M(WORD, pmclog_pmcallocatedyn, pmcid),
		M(WORD, pmclog_pmcallocatedyn, event),
		M(WORD, pmclog_pmcallocatedyn, flags), UNUSED,
		S(pmclog_pmcallocatedyn, name, PMCLOG_NAME_MAX)),
	[PMCLOG_T_THR_CREATE] = LAYOUT(THR_CREATE, PMCLOG_THR_CREATE_LEN,
		M(WORD, pmclog_thr_create, tid), M(WORD, pmclog_thr_create, pid),
		M(WORD, pmclog_thr_create, flags), UNUSED,
		S(pmclog_thr_create, name, PMCLOG_COMM_MAX)),
	[PMCLOG_T_THR_EXIT] = L(THR_EXIT, pmclog_thr_exit,
		M(WORD, pmclog_thr_exit, tid)),
	[PMCLOG_T_PROC_CREATE] = LAYOUT(PROC_CREATE, PMCLOG_PROC_CREATE_LEN,
		M(WORD, pmclog_proc_create, pid), M(WORD, pmclog_proc_create, flags),
		S(pmclog_proc_create, comm, PMCLOG_COMM_MAX)),
};

const struct layout pmclog_era_no_fields = {
	0, sizeof(struct pmclog_hdr), nothing };
const struct layout pmclog_era_exec_entry = L(PROCEXEC, pmclog_procexec,
	M(WORD, pmclog_procexec, pid), M(WORD, pmclog_procexec, pmcid),
	M(ADDR, pmclog_procexec, base), M(PATH, pmclog_procexec, path));
const struct layout pmclog_era_init_i386 = L(INITIALIZE, pmclog_initialize,
	M(WORD, pmclog_initialize, version),
	M(WORD, pmclog_initialize, cputype),
	M(DOUBLE, pmclog_initialize, tsc_freq),
	M(LONG, pmclog_initialize, ts_sec),
	M(LONG, pmclog_initialize, ts_nsec),
	S(pmclog_initialize, cpuid, PMCLOG_CPUID_LEN));
/* as FreeBSD's kernel writes it: the part of the name not overwritten */
const struct layout pmclog_era_name_rate = LAYOUT(PMCALLOCATEDYN, PMCLOG_PMCALLOCATEDYN_RATE,
	M(WORD, pmclog_pmcallocatedyn, pmcid),
	M(WORD, pmclog_pmcallocatedyn, event),
	M(WORD, pmclog_pmcallocatedyn, flags), UNUSED,
	M(DOUBLE, pmclog_pmcallocatedyn, rate),
	S(pmclog_pmcallocatedyn, name, PMCLOG_NAME_MAX - 8));

/* The first types have different numbers; the layout of type 3 is unknown. */
const struct layout pmclog_era_headers12[NTYPES] = {
	OF_ALL_ERAS,
	[A_CLOSELOG] = HEADER(CLOSELOG),
	[A_DROPNOTIFY] = HEADER(DROPNOTIFY),
	[A_INITIALIZE] = L(INITIALIZE, pmclog_initialize,
		M(WORD, pmclog_initialize, version),
		M(WORD, pmclog_initialize, cputype)),
	[A_PCSAMPLE] = LAYOUT(CALLCHAIN, sizeof(struct pmclog_callchain) + 8,
		M(WORD, pmclog_callchain, pid), M(ADDR, pmclog_callchain, pc),
		M(WORD, pmclog_callchain, pmcid), M(WORD, pmclog_callchain, cpuflags)),
	[PMCLOG_T_PMCALLOCATE] = L(PMCALLOCATE, pmclog_wire_allocate,
		M(WORD, pmclog_wire_allocate, pmcid),
		M(WORD, pmclog_wire_allocate, event),
		M(WORD, pmclog_wire_allocate, flags)),
	[PMCLOG_T_PROCCSW] = L(PROCCSW, pmclog_proccsw,
		M(WORD, pmclog_proccsw, pmcid), M(DOUBLE, pmclog_proccsw, value),
		M(WORD, pmclog_proccsw, pid)),
	[PMCLOG_T_PROCEXEC] = L(PROCEXEC, pmclog_procexec,
		M(WORD, pmclog_procexec, pid), M(ADDR, pmclog_procexec, base),
		M(WORD, pmclog_procexec, pmcid), M(PATH, pmclog_procexec, path)),
	[PMCLOG_T_PROCEXIT] = LAYOUT(PROCEXIT, PMCLOG_PROCEXIT_BASE,
		M(WORD, pmclog_procexit, pmcid), M(DOUBLE, pmclog_procexit, value),
		M(WORD, pmclog_procexit, pid)),
	[PMCLOG_T_MAP_IN] = L(MAP_IN, pmclog_map_in,
		M(WORD, pmclog_map_in, pid), M(ADDR, pmclog_map_in, start),
		M(PATH, pmclog_map_in, path)),
	[PMCLOG_T_MAP_OUT] = L(MAP_OUT, pmclog_map_out,
		M(WORD, pmclog_map_out, pid), M(ADDR, pmclog_map_out, start),
		M(ADDR, pmclog_map_out, end)),
	[PMCLOG_T_CALLCHAIN] = L(CALLCHAIN, pmclog_callchain,
		M(WORD, pmclog_callchain, pid), M(WORD, pmclog_callchain, pmcid),
		M(WORD, pmclog_callchain, cpuflags), M(PCS, pmclog_callchain, pc)),
	[PMCLOG_T_PMCALLOCATEDYN] = LAYOUT(PMCALLOCATEDYN, PMCLOG_PMCALLOCATEDYN_BASE,
		M(WORD, pmclog_pmcallocatedyn, pmcid),
		M(WORD, pmclog_pmcallocatedyn, event),
		M(WORD, pmclog_pmcallocatedyn, flags),
		S(pmclog_pmcallocatedyn, name, PMCLOG_NAME_MAX)),
};
