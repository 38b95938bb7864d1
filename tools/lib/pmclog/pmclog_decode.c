// SPDX-License-Identifier: BSD-2-Clause
/* Converts a record to an event of pmclog(3). */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pmclog_decode.h"
#include "pmclog_wire.h"

#define NSEC_PER_SEC	1000000000ULL

#define U32(type, field)	PMCLOG_FIELD32(rec, struct type, field)
#define U64(type, field)	PMCLOG_FIELD64(rec, struct type, field)

void pmclog_clock_set(struct pmclog_clock *clock, const struct pmclog_rec *rec)
{
	uint64_t nsec = U64(pmclog_initialize, ts_nsec);

	clock->tsc = rec->tsc;
	clock->freq = U64(pmclog_initialize, tsc_freq);
	clock->wall.tv_sec = U64(pmclog_initialize, ts_sec);
	clock->wall.tv_nsec = nsec < NSEC_PER_SEC ? nsec : 0;
}

static uint64_t ticks_to_nsec(uint64_t ticks, uint64_t freq)
{
	/* below freq, so shifting both keeps the quotient and fits */
	while (freq >> 34) {
		freq >>= 1;
		ticks >>= 1;
	}
	return ticks * NSEC_PER_SEC / freq;
}

/* All sums wrap: a malicious log gets a wrong time, not undefined behaviour. */
struct timespec pmclog_clock_wall(const struct pmclog_clock *clock,
				  uint64_t tsc)
{
	struct timespec ts = clock->wall;
	uint64_t ticks, sec, nsec;
	int back = tsc < clock->tsc;

	if (!clock->freq)
		return ts;
	ticks = back ? clock->tsc - tsc : tsc - clock->tsc;
	sec = ticks / clock->freq;
	nsec = ticks_to_nsec(ticks % clock->freq, clock->freq);
	if (back) {
		/* borrow, so that nsec stays positive */
		sec = -sec - (nsec > (uint64_t)ts.tv_nsec);
		nsec = (uint64_t)ts.tv_nsec + NSEC_PER_SEC - nsec;
		nsec %= NSEC_PER_SEC;
	} else {
		nsec += ts.tv_nsec;
		sec += nsec / NSEC_PER_SEC;
		nsec %= NSEC_PER_SEC;
	}
	ts.tv_sec = (uint64_t)ts.tv_sec + sec;
	ts.tv_nsec = nsec;
	return ts;
}

/*
 * struct copy - a field of a record that is one of the event
 * @size:   of the event's field; 0: there is no other field
 * @string: up to its NUL; a longer one is cut
 */
struct copy {
	uint16_t from;
	uint16_t to;
	uint16_t size;
	bool string;
};

#define EVENT(field)	offsetof(struct pmclog_ev, pl_u.field), \
			sizeof(((struct pmclog_ev *)0)->pl_u.field)
#define NUMBER(type, from, to)	{ offsetof(struct type, from), EVENT(to), false }
#define STRING(type, from, to)	{ offsetof(struct type, from), EVENT(to), true }
#define COPIES(...)	((const struct copy[]){ __VA_ARGS__, { 0, 0, 0, false } })

static const struct copy *const copies[] = {
	[PMCLOG_T_CALLCHAIN] = COPIES(
		NUMBER(pmclog_callchain, pid, pl_cc.pl_pid),
		NUMBER(pmclog_callchain, tid, pl_cc.pl_tid),
		NUMBER(pmclog_callchain, pmcid, pl_cc.pl_pmcid),
		NUMBER(pmclog_callchain, cpuflags, pl_cc.pl_cpuflags)),
	[PMCLOG_T_INITIALIZE] = COPIES(
		NUMBER(pmclog_initialize, version, pl_i.pl_version),
		NUMBER(pmclog_initialize, cputype, pl_i.pl_arch),
		NUMBER(pmclog_initialize, tsc_freq, pl_i.pl_tsc_freq),
		NUMBER(pmclog_initialize, ts_sec, pl_i.pl_ts.tv_sec),
		NUMBER(pmclog_initialize, ts_nsec, pl_i.pl_ts.tv_nsec),
		STRING(pmclog_initialize, cpuid, pl_i.pl_cpuid)),
	[PMCLOG_T_DROPNOTIFY] = COPIES(
		NUMBER(pmclog_dropnotify, pmcid, pl_dn.pl_pmcid),
		NUMBER(pmclog_dropnotify, cpu, pl_dn.pl_cpu),
		NUMBER(pmclog_dropnotify, cause, pl_dn.pl_cause),
		NUMBER(pmclog_dropnotify, count, pl_dn.pl_ndropped)),
	[PMCLOG_T_MAP_IN] = COPIES(
		NUMBER(pmclog_map_in, pid, pl_mi.pl_pid),
		NUMBER(pmclog_map_in, start, pl_mi.pl_start),
		STRING(pmclog_map_in, path, pl_mi.pl_pathname)),
	[PMCLOG_T_MAP_OUT] = COPIES(
		NUMBER(pmclog_map_out, pid, pl_mo.pl_pid),
		NUMBER(pmclog_map_out, start, pl_mo.pl_start),
		NUMBER(pmclog_map_out, end, pl_mo.pl_end)),
	[PMCLOG_T_PROCEXEC] = COPIES(
		NUMBER(pmclog_procexec, pid, pl_x.pl_pid),
		NUMBER(pmclog_procexec, pmcid, pl_x.pl_pmcid),
		NUMBER(pmclog_procexec, base, pl_x.pl_baseaddr),
		NUMBER(pmclog_procexec, dyn, pl_x.pl_dynaddr),
		STRING(pmclog_procexec, path, pl_x.pl_pathname)),
	[PMCLOG_T_PROCFORK] = COPIES(
		NUMBER(pmclog_procfork, oldpid, pl_f.pl_oldpid),
		NUMBER(pmclog_procfork, newpid, pl_f.pl_newpid)),
	[PMCLOG_T_SYSEXIT] = COPIES(NUMBER(pmclog_sysexit, pid, pl_se.pl_pid)),
	[PMCLOG_T_USERDATA] = COPIES(
		NUMBER(pmclog_userdata, userdata, pl_u.pl_userdata)),
	[PMCLOG_T_PMCALLOCATE] = COPIES(
		NUMBER(pmclog_wire_allocate, rate, pl_a.pl_rate),
		NUMBER(pmclog_wire_allocate, event, pl_a.pl_event),
		NUMBER(pmclog_wire_allocate, flags, pl_a.pl_flags),
		NUMBER(pmclog_wire_allocate, pmcid, pl_a.pl_pmcid)),
	[PMCLOG_T_PMCALLOCATEDYN] = COPIES(
		STRING(pmclog_pmcallocatedyn, name, pl_ad.pl_evname),
		NUMBER(pmclog_pmcallocatedyn, event, pl_ad.pl_event),
		NUMBER(pmclog_pmcallocatedyn, flags, pl_ad.pl_flags),
		NUMBER(pmclog_pmcallocatedyn, pmcid, pl_ad.pl_pmcid)),
	[PMCLOG_T_PMCATTACH] = COPIES(
		NUMBER(pmclog_pmcattach, pmcid, pl_t.pl_pmcid),
		NUMBER(pmclog_pmcattach, pid, pl_t.pl_pid),
		STRING(pmclog_pmcattach, path, pl_t.pl_pathname)),
	[PMCLOG_T_PMCDETACH] = COPIES(
		NUMBER(pmclog_pmcdetach, pmcid, pl_d.pl_pmcid),
		NUMBER(pmclog_pmcdetach, pid, pl_d.pl_pid)),
	[PMCLOG_T_PROCCSW] = COPIES(
		NUMBER(pmclog_proccsw, pid, pl_c.pl_pid),
		NUMBER(pmclog_proccsw, tid, pl_c.pl_tid),
		NUMBER(pmclog_proccsw, pmcid, pl_c.pl_pmcid),
		NUMBER(pmclog_proccsw, value, pl_c.pl_value)),
	[PMCLOG_T_PROCEXIT] = COPIES(
		NUMBER(pmclog_procexit, pid, pl_e.pl_pid),
		NUMBER(pmclog_procexit, pmcid, pl_e.pl_pmcid),
		NUMBER(pmclog_procexit, value, pl_e.pl_value)),
	[PMCLOG_T_THR_CREATE] = COPIES(
		NUMBER(pmclog_thr_create, tid, pl_tc.pl_tid),
		NUMBER(pmclog_thr_create, pid, pl_tc.pl_pid),
		NUMBER(pmclog_thr_create, flags, pl_tc.pl_flags),
		STRING(pmclog_thr_create, name, pl_tc.pl_tdname)),
	[PMCLOG_T_THR_EXIT] = COPIES(NUMBER(pmclog_thr_exit, tid, pl_te.pl_tid)),
	[PMCLOG_T_PROC_CREATE] = COPIES(
		NUMBER(pmclog_proc_create, pid, pl_pc.pl_pid),
		NUMBER(pmclog_proc_create, flags, pl_pc.pl_flags),
		STRING(pmclog_proc_create, comm, pl_pc.pl_pcomm)),
};

/* Strings are terminated within the record, as the iterator has checked. */
static void take(struct pmclog_ev *ev, const struct pmclog_rec *rec,
		 const struct copy *c)
{
	const char *from = (const char *)rec->data + c->from;
	char *to = (char *)ev + c->to;
	size_t len = c->string ? strnlen(from, c->size - 1U) : c->size;

	memcpy(to, from, len);
	if (c->string)
		to[len] = '\0';
}

static int decode_pcs(struct pmclog_ev_callchain *cc,
		      const struct pmclog_rec *rec)
{
	size_t len = rec->len - sizeof(struct pmclog_callchain);

	if (len > sizeof(cc->pl_pc))
		return -1;
	cc->pl_cpuflags2 = 0;
	cc->pl_npc = len / sizeof(cc->pl_pc[0]);
	memcpy(cc->pl_pc, rec->data + sizeof(struct pmclog_callchain), len);
	memset((char *)cc->pl_pc + len, 0, sizeof(cc->pl_pc) - len);
	return 0;
}

/* For an unknown type pl_u is left unchanged: pl_data has the record. */
int pmclog_decode(struct pmclog_ev *ev, const struct pmclog_rec *rec)
{
	const struct copy *c;

	if (rec->type == PMCLOG_T_CALLCHAIN && decode_pcs(&ev->pl_u.pl_cc, rec))
		return -1;
	if (rec->type == PMCLOG_T_DROPNOTIFY &&
	    rec->len < sizeof(struct pmclog_dropnotify)) {
		memset(&ev->pl_u.pl_dn, 0, sizeof(ev->pl_u.pl_dn));
		return 0;
	}
	if (rec->type >= sizeof(copies) / sizeof(copies[0]) || !copies[rec->type])
		return 0;
	for (c = copies[rec->type]; c->size; c++)
		take(ev, rec, c);
	return 0;
}
