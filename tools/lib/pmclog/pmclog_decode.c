// SPDX-License-Identifier: BSD-2-Clause
/* Converts a record to an event of pmclog(3). */
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
 * Strings are terminated within the record, as the iterator has checked.  A string
 * longer than the event's field is cut.
 */
static void copy_string(char *to, size_t size, const struct pmclog_rec *rec,
			size_t offset)
{
	const char *from = (const char *)rec->data + offset;
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

#define STRING(to, type, field) \
	copy_string(to, sizeof(to), rec, offsetof(struct type, field))

static int decode_chain(struct pmclog_ev_callchain *cc,
			const struct pmclog_rec *rec)
{
	size_t len = rec->len - sizeof(struct pmclog_callchain);

	if (len > sizeof(cc->pl_pc))
		return -1;
	cc->pl_pid = U32(pmclog_callchain, pid);
	cc->pl_tid = U32(pmclog_callchain, tid);
	cc->pl_pmcid = U32(pmclog_callchain, pmcid);
	cc->pl_cpuflags = U32(pmclog_callchain, cpuflags);
	cc->pl_cpuflags2 = 0;
	cc->pl_npc = len / sizeof(cc->pl_pc[0]);
	memcpy(cc->pl_pc, rec->data + sizeof(struct pmclog_callchain), len);
	return 0;
}

static void decode_init(struct pmclog_ev_initialize *i,
			const struct pmclog_rec *rec)
{
	i->pl_version = U32(pmclog_initialize, version);
	i->pl_arch = U32(pmclog_initialize, cputype);
	i->pl_tsc_freq = U64(pmclog_initialize, tsc_freq);
	i->pl_ts.tv_sec = U64(pmclog_initialize, ts_sec);
	i->pl_ts.tv_nsec = U64(pmclog_initialize, ts_nsec);
	STRING(i->pl_cpuid, pmclog_initialize, cpuid);
}

static void decode_drop(struct pmclog_ev_dropnotify *dn,
			const struct pmclog_rec *rec)
{
	memset(dn, 0, sizeof(*dn));
	if (rec->len < sizeof(struct pmclog_dropnotify))
		return;
	dn->pl_pmcid = U32(pmclog_dropnotify, pmcid);
	dn->pl_cpu = U32(pmclog_dropnotify, cpu);
	dn->pl_cause = U32(pmclog_dropnotify, cause);
	dn->pl_ndropped = U64(pmclog_dropnotify, count);
}

static void decode_map_in(struct pmclog_ev_map_in *mi,
			  const struct pmclog_rec *rec)
{
	mi->pl_pid = U32(pmclog_map_in, pid);
	mi->pl_start = U64(pmclog_map_in, start);
	STRING(mi->pl_pathname, pmclog_map_in, path);
}

static void decode_exec(struct pmclog_ev_procexec *x,
			const struct pmclog_rec *rec)
{
	x->pl_pid = U32(pmclog_procexec, pid);
	x->pl_pmcid = U32(pmclog_procexec, pmcid);
	x->pl_baseaddr = U64(pmclog_procexec, base);
	x->pl_dynaddr = U64(pmclog_procexec, dyn);
	STRING(x->pl_pathname, pmclog_procexec, path);
}

static void decode_allocate(struct pmclog_ev_pmcallocate *a,
			    const struct pmclog_rec *rec)
{
	a->pl_evname = NULL;
	a->pl_rate = U64(pmclog_wire_allocate, rate);
	a->pl_event = U32(pmclog_wire_allocate, event);
	a->pl_flags = U32(pmclog_wire_allocate, flags);
	a->pl_pmcid = U32(pmclog_wire_allocate, pmcid);
}

static void decode_allocatedyn(struct pmclog_ev_pmcallocatedyn *ad,
			       const struct pmclog_rec *rec)
{
	STRING(ad->pl_evname, pmclog_pmcallocatedyn, name);
	ad->pl_event = U32(pmclog_pmcallocatedyn, event);
	ad->pl_flags = U32(pmclog_pmcallocatedyn, flags);
	ad->pl_pmcid = U32(pmclog_pmcallocatedyn, pmcid);
}

static void decode_thread(struct pmclog_ev_threadcreate *tc,
			  const struct pmclog_rec *rec)
{
	tc->pl_tid = U32(pmclog_thr_create, tid);
	tc->pl_pid = U32(pmclog_thr_create, pid);
	tc->pl_flags = U32(pmclog_thr_create, flags);
	STRING(tc->pl_tdname, pmclog_thr_create, name);
}

static void decode_process(struct pmclog_ev_proccreate *pc,
			   const struct pmclog_rec *rec)
{
	pc->pl_pid = U32(pmclog_proc_create, pid);
	pc->pl_flags = U32(pmclog_proc_create, flags);
	STRING(pc->pl_pcomm, pmclog_proc_create, comm);
}

/* the records of processes that have PMCs attached */
static void decode_attached(struct pmclog_ev *ev, const struct pmclog_rec *rec)
{
	switch (rec->type) {
	case PMCLOG_T_PMCATTACH:
		ev->pl_u.pl_t.pl_pmcid = U32(pmclog_pmcattach, pmcid);
		ev->pl_u.pl_t.pl_pid = U32(pmclog_pmcattach, pid);
		STRING(ev->pl_u.pl_t.pl_pathname, pmclog_pmcattach, path);
		break;
	case PMCLOG_T_PMCDETACH:
		ev->pl_u.pl_d.pl_pmcid = U32(pmclog_pmcdetach, pmcid);
		ev->pl_u.pl_d.pl_pid = U32(pmclog_pmcdetach, pid);
		break;
	case PMCLOG_T_PROCCSW:
		ev->pl_u.pl_c.pl_pid = U32(pmclog_proccsw, pid);
		ev->pl_u.pl_c.pl_tid = U32(pmclog_proccsw, tid);
		ev->pl_u.pl_c.pl_pmcid = U32(pmclog_proccsw, pmcid);
		ev->pl_u.pl_c.pl_value = U64(pmclog_proccsw, value);
		break;
	case PMCLOG_T_PROCEXIT:
		ev->pl_u.pl_e.pl_pid = U32(pmclog_procexit, pid);
		ev->pl_u.pl_e.pl_pmcid = U32(pmclog_procexit, pmcid);
		ev->pl_u.pl_e.pl_value = U64(pmclog_procexit, value);
		break;
	}
}

/* For an unknown type pl_u is left unchanged: pl_data has the record. */
int pmclog_decode(struct pmclog_ev *ev, const struct pmclog_rec *rec)
{
	switch (rec->type) {
	case PMCLOG_T_CALLCHAIN:
		return decode_chain(&ev->pl_u.pl_cc, rec);
	case PMCLOG_T_INITIALIZE:
		decode_init(&ev->pl_u.pl_i, rec);
		break;
	case PMCLOG_T_DROPNOTIFY:
		decode_drop(&ev->pl_u.pl_dn, rec);
		break;
	case PMCLOG_T_MAP_IN:
		decode_map_in(&ev->pl_u.pl_mi, rec);
		break;
	case PMCLOG_T_MAP_OUT:
		ev->pl_u.pl_mo.pl_pid = U32(pmclog_map_out, pid);
		ev->pl_u.pl_mo.pl_start = U64(pmclog_map_out, start);
		ev->pl_u.pl_mo.pl_end = U64(pmclog_map_out, end);
		break;
	case PMCLOG_T_PROCEXEC:
		decode_exec(&ev->pl_u.pl_x, rec);
		break;
	case PMCLOG_T_PROCFORK:
		ev->pl_u.pl_f.pl_oldpid = U32(pmclog_procfork, oldpid);
		ev->pl_u.pl_f.pl_newpid = U32(pmclog_procfork, newpid);
		break;
	case PMCLOG_T_SYSEXIT:
		ev->pl_u.pl_se.pl_pid = U32(pmclog_sysexit, pid);
		break;
	case PMCLOG_T_USERDATA:
		ev->pl_u.pl_u.pl_userdata = U32(pmclog_userdata, userdata);
		break;
	case PMCLOG_T_PMCALLOCATE:
		decode_allocate(&ev->pl_u.pl_a, rec);
		break;
	case PMCLOG_T_PMCALLOCATEDYN:
		decode_allocatedyn(&ev->pl_u.pl_ad, rec);
		break;
	case PMCLOG_T_THR_CREATE:
		decode_thread(&ev->pl_u.pl_tc, rec);
		break;
	case PMCLOG_T_THR_EXIT:
		ev->pl_u.pl_te.pl_tid = U32(pmclog_thr_exit, tid);
		break;
	case PMCLOG_T_PROC_CREATE:
		decode_process(&ev->pl_u.pl_pc, rec);
		break;
	default:
		decode_attached(ev, rec);
	}
	return 0;
}
