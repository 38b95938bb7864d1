// SPDX-License-Identifier: BSD-2-Clause
/*
 * The layouts of records of all eras.
 */
#include <stddef.h>

#include "pmclog_era_parts.h"

#define M(kind, type, field)	{ kind, 0, offsetof(struct type, field) }
#define S(type, field, size)	{ NAME, size, offsetof(struct type, field) }
#define MOVES(name)		static const struct move name[]

/* for all eras */
MOVES(nothing) = { { END, 0, 0 } };
MOVES(attach) = {
	M(WORD, pmclog_pmcattach, pmcid), M(WORD, pmclog_pmcattach, pid),
	M(PATH, pmclog_pmcattach, path), { END, 0, 0 } };
MOVES(detach) = {
	M(WORD, pmclog_pmcdetach, pmcid), M(WORD, pmclog_pmcdetach, pid),
	{ END, 0, 0 } };
MOVES(procfork) = {
	M(WORD, pmclog_procfork, oldpid), M(WORD, pmclog_procfork, newpid),
	{ END, 0, 0 } };
MOVES(sysexit) = { M(WORD, pmclog_sysexit, pid), { END, 0, 0 } };
MOVES(userdata) = { M(WORD, pmclog_userdata, userdata), { END, 0, 0 } };

/* for headers of 12 bytes */
MOVES(a_initialize) = {
	M(WORD, pmclog_initialize, version),
	M(WORD, pmclog_initialize, cputype), { END, 0, 0 } };
MOVES(a_pcsample) = {
	M(WORD, pmclog_callchain, pid), M(ADDR, pmclog_callchain, pc),
	M(WORD, pmclog_callchain, pmcid), M(WORD, pmclog_callchain, cpuflags),
	{ END, 0, 0 } };
MOVES(a_allocate) = {
	M(WORD, pmclog_wire_allocate, pmcid),
	M(WORD, pmclog_wire_allocate, event),
	M(WORD, pmclog_wire_allocate, flags), { END, 0, 0 } };
MOVES(a_proccsw) = {
	M(WORD, pmclog_proccsw, pmcid), M(DOUBLE, pmclog_proccsw, value),
	M(WORD, pmclog_proccsw, pid), { END, 0, 0 } };
MOVES(a_procexec) = {
	M(WORD, pmclog_procexec, pid), M(ADDR, pmclog_procexec, base),
	M(WORD, pmclog_procexec, pmcid), M(PATH, pmclog_procexec, path),
	{ END, 0, 0 } };
MOVES(a_procexit) = {
	M(WORD, pmclog_procexit, pmcid), M(DOUBLE, pmclog_procexit, value),
	M(WORD, pmclog_procexit, pid), { END, 0, 0 } };
MOVES(a_map_in) = {
	M(WORD, pmclog_map_in, pid), M(ADDR, pmclog_map_in, start),
	M(PATH, pmclog_map_in, path), { END, 0, 0 } };
MOVES(a_map_out) = {
	M(WORD, pmclog_map_out, pid), M(ADDR, pmclog_map_out, start),
	M(ADDR, pmclog_map_out, end), { END, 0, 0 } };
MOVES(a_callchain) = {
	M(WORD, pmclog_callchain, pid), M(WORD, pmclog_callchain, pmcid),
	M(WORD, pmclog_callchain, cpuflags), M(PCS, pmclog_callchain, pc),
	{ END, 0, 0 } };
MOVES(a_allocatedyn) = {
	M(WORD, pmclog_pmcallocatedyn, pmcid),
	M(WORD, pmclog_pmcallocatedyn, event),
	M(WORD, pmclog_pmcallocatedyn, flags),
	S(pmclog_pmcallocatedyn, name, PMCLOG_NAME_MAX), { END, 0, 0 } };

/* for headers of 16 bytes */
MOVES(initialize) = {
	M(WORD, pmclog_initialize, version),
	M(WORD, pmclog_initialize, cputype),
	M(DOUBLE, pmclog_initialize, tsc_freq),
	M(DOUBLE, pmclog_initialize, ts_sec),
	M(DOUBLE, pmclog_initialize, ts_nsec),
	S(pmclog_initialize, cpuid, PMCLOG_CPUID_LEN), { END, 0, 0 } };
MOVES(i386_initialize) = {
	M(WORD, pmclog_initialize, version),
	M(WORD, pmclog_initialize, cputype),
	M(DOUBLE, pmclog_initialize, tsc_freq),
	M(LONG, pmclog_initialize, ts_sec),
	M(LONG, pmclog_initialize, ts_nsec),
	S(pmclog_initialize, cpuid, PMCLOG_CPUID_LEN), { END, 0, 0 } };
MOVES(allocate) = {
	M(WORD, pmclog_wire_allocate, pmcid),
	M(WORD, pmclog_wire_allocate, event),
	M(WORD, pmclog_wire_allocate, flags), { SKIP, 0, 0 },
	M(DOUBLE, pmclog_wire_allocate, rate), { END, 0, 0 } };
MOVES(proccsw) = {
	M(DOUBLE, pmclog_proccsw, value), M(WORD, pmclog_proccsw, pmcid),
	M(WORD, pmclog_proccsw, pid), M(WORD, pmclog_proccsw, tid),
	{ SKIP, 0, 0 }, { END, 0, 0 } };
MOVES(procexec_entry) = {
	M(WORD, pmclog_procexec, pid), M(WORD, pmclog_procexec, pmcid),
	M(ADDR, pmclog_procexec, base), M(PATH, pmclog_procexec, path),
	{ END, 0, 0 } };
MOVES(procexec_bases) = {
	M(WORD, pmclog_procexec, pid), M(WORD, pmclog_procexec, pmcid),
	M(ADDR, pmclog_procexec, base), M(ADDR, pmclog_procexec, dyn),
	M(PATH, pmclog_procexec, path), { END, 0, 0 } };
MOVES(procexit) = {
	M(WORD, pmclog_procexit, pmcid), M(WORD, pmclog_procexit, pid),
	M(DOUBLE, pmclog_procexit, value), { END, 0, 0 } };
MOVES(map_in) = {
	M(WORD, pmclog_map_in, pid), { SKIP, 0, 0 },
	M(ADDR, pmclog_map_in, start), M(PATH, pmclog_map_in, path),
	{ END, 0, 0 } };
MOVES(map_out) = {
	M(WORD, pmclog_map_out, pid), { SKIP, 0, 0 },
	M(ADDR, pmclog_map_out, start), M(ADDR, pmclog_map_out, end),
	{ END, 0, 0 } };
MOVES(callchain) = {
	M(WORD, pmclog_callchain, pid), M(WORD, pmclog_callchain, tid),
	M(WORD, pmclog_callchain, pmcid), M(WORD, pmclog_callchain, cpuflags),
	M(PCS, pmclog_callchain, pc), { END, 0, 0 } };
MOVES(allocatedyn) = {
	M(WORD, pmclog_pmcallocatedyn, pmcid),
	M(WORD, pmclog_pmcallocatedyn, event),
	M(WORD, pmclog_pmcallocatedyn, flags), { SKIP, 0, 0 },
	S(pmclog_pmcallocatedyn, name, PMCLOG_NAME_MAX), { END, 0, 0 } };
/* as FreeBSD's kernel writes it: the part of the name not overwritten */
MOVES(allocatedyn_rate) = {
	M(WORD, pmclog_pmcallocatedyn, pmcid),
	M(WORD, pmclog_pmcallocatedyn, event),
	M(WORD, pmclog_pmcallocatedyn, flags), { SKIP, 0, 0 },
	M(DOUBLE, pmclog_pmcallocatedyn, rate),
	S(pmclog_pmcallocatedyn, name, PMCLOG_NAME_MAX - 8), { END, 0, 0 } };
MOVES(thr_create) = {
	M(WORD, pmclog_thr_create, tid), M(WORD, pmclog_thr_create, pid),
	M(WORD, pmclog_thr_create, flags), { SKIP, 0, 0 },
	S(pmclog_thr_create, name, PMCLOG_COMM_MAX), { END, 0, 0 } };
MOVES(thr_exit) = { M(WORD, pmclog_thr_exit, tid), { END, 0, 0 } };
MOVES(proc_create) = {
	M(WORD, pmclog_proc_create, pid), M(WORD, pmclog_proc_create, flags),
	S(pmclog_proc_create, comm, PMCLOG_COMM_MAX), { END, 0, 0 } };

#define L(type, name, moves)	{ PMCLOG_T_##type, sizeof(struct name), moves }

const struct layout pmclog_era_headers16[NTYPES] = {
	[PMCLOG_T_CLOSELOG] = L(CLOSELOG, pmclog_hdr, nothing),
	[PMCLOG_T_DROPNOTIFY] = L(DROPNOTIFY, pmclog_hdr, nothing),
	[PMCLOG_T_INITIALIZE] = L(INITIALIZE, pmclog_initialize, initialize),
	[PMCLOG_T_PMCALLOCATE] =
		L(PMCALLOCATE, pmclog_wire_allocate, allocate),
	[PMCLOG_T_PMCATTACH] = L(PMCATTACH, pmclog_pmcattach, attach),
	[PMCLOG_T_PMCDETACH] = L(PMCDETACH, pmclog_pmcdetach, detach),
	[PMCLOG_T_PROCCSW] = L(PROCCSW, pmclog_proccsw, proccsw),
	[PMCLOG_T_PROCEXEC] = L(PROCEXEC, pmclog_procexec, procexec_bases),
	[PMCLOG_T_PROCEXIT] = {
		PMCLOG_T_PROCEXIT, PMCLOG_PROCEXIT_BASE, procexit },
	[PMCLOG_T_PROCFORK] = L(PROCFORK, pmclog_procfork, procfork),
	[PMCLOG_T_SYSEXIT] = L(SYSEXIT, pmclog_sysexit, sysexit),
	[PMCLOG_T_USERDATA] = L(USERDATA, pmclog_userdata, userdata),
	[PMCLOG_T_MAP_IN] = L(MAP_IN, pmclog_map_in, map_in),
	[PMCLOG_T_MAP_OUT] = L(MAP_OUT, pmclog_map_out, map_out),
	[PMCLOG_T_CALLCHAIN] = L(CALLCHAIN, pmclog_callchain, callchain),
	[PMCLOG_T_PMCALLOCATEDYN] = {
		PMCLOG_T_PMCALLOCATEDYN, PMCLOG_PMCALLOCATEDYN_BASE,
		allocatedyn },
	[PMCLOG_T_THR_CREATE] = {
		PMCLOG_T_THR_CREATE, PMCLOG_THR_CREATE_LEN, thr_create },
	[PMCLOG_T_THR_EXIT] = L(THR_EXIT, pmclog_thr_exit, thr_exit),
	[PMCLOG_T_PROC_CREATE] = {
		PMCLOG_T_PROC_CREATE, PMCLOG_PROC_CREATE_LEN, proc_create },
};

const struct layout pmclog_era_no_fields = {
	0, sizeof(struct pmclog_hdr), nothing };
const struct layout pmclog_era_exec_entry =
	L(PROCEXEC, pmclog_procexec, procexec_entry);
const struct layout pmclog_era_init_i386 =
	L(INITIALIZE, pmclog_initialize, i386_initialize);
const struct layout pmclog_era_name_rate = {
	PMCLOG_T_PMCALLOCATEDYN, PMCLOG_PMCALLOCATEDYN_RATE, allocatedyn_rate };

/* The first types have different numbers; the layout of type 3 is unknown. */
const struct layout pmclog_era_headers12[NTYPES] = {
	[A_CLOSELOG] = L(CLOSELOG, pmclog_hdr, nothing),
	[A_DROPNOTIFY] = L(DROPNOTIFY, pmclog_hdr, nothing),
	[A_INITIALIZE] = L(INITIALIZE, pmclog_initialize, a_initialize),
	[A_PCSAMPLE] = { PMCLOG_T_CALLCHAIN,
			 sizeof(struct pmclog_callchain) + 8, a_pcsample },
	[PMCLOG_T_PMCALLOCATE] =
		L(PMCALLOCATE, pmclog_wire_allocate, a_allocate),
	[PMCLOG_T_PMCATTACH] = L(PMCATTACH, pmclog_pmcattach, attach),
	[PMCLOG_T_PMCDETACH] = L(PMCDETACH, pmclog_pmcdetach, detach),
	[PMCLOG_T_PROCCSW] = L(PROCCSW, pmclog_proccsw, a_proccsw),
	[PMCLOG_T_PROCEXEC] = L(PROCEXEC, pmclog_procexec, a_procexec),
	[PMCLOG_T_PROCEXIT] = {
		PMCLOG_T_PROCEXIT, PMCLOG_PROCEXIT_BASE, a_procexit },
	[PMCLOG_T_PROCFORK] = L(PROCFORK, pmclog_procfork, procfork),
	[PMCLOG_T_SYSEXIT] = L(SYSEXIT, pmclog_sysexit, sysexit),
	[PMCLOG_T_USERDATA] = L(USERDATA, pmclog_userdata, userdata),
	[PMCLOG_T_MAP_IN] = L(MAP_IN, pmclog_map_in, a_map_in),
	[PMCLOG_T_MAP_OUT] = L(MAP_OUT, pmclog_map_out, a_map_out),
	[PMCLOG_T_CALLCHAIN] = L(CALLCHAIN, pmclog_callchain, a_callchain),
	[PMCLOG_T_PMCALLOCATEDYN] = {
		PMCLOG_T_PMCALLOCATEDYN, PMCLOG_PMCALLOCATEDYN_BASE,
		a_allocatedyn },
};
