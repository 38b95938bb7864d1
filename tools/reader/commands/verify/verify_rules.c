// SPDX-License-Identifier: BSD-2-Clause
/* The rules of pmclog verify. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/hwpmc.h>

#include <pmclog_wire.h>

#include "base/mem.h"
#include "commands/verify/verify.h"
#include "log/record.h"

#define NSEC_PER_SEC	1000000000ULL

/* flags for how a chain ends: causes of a cut; bits that are not defined */
#define CUTS	(PMCLOG_CC_CUT(PMCLOG_CUT_NCAUSE) - PMCLOG_CC_CUT(0))
#define UNDEFINED_ENDS	\
	(0xff00U & ~(PMCLOG_CC_WHOLE | PMCLOG_CC_TABLES | CUTS))

const char *verify_fault(struct verify *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->fault, sizeof(v->fault), fmt, ap);
	va_end(ap);
	return v->fault;
}

/* ------------------------------------------------------------------------
 * PMC ids
 */
uint32_t verify_find_pmc(struct verify *v, uint32_t pmcid)
{
	uint32_t id = v->last_pmc;

	if (id < v->npmcs && v->pmcids[id].pmcid == pmcid)
		return id;
	id = IDTAB_FIND(&v->pmctab, hash_mix(pmcid, 0), v->pmcids, e, e->pmcid == pmcid);
	if (id != IDTAB_NONE)
		v->last_pmc = id;
	return id;
}

static void announce(struct verify *v, uint32_t pmcid, uint32_t flags)
{
	struct announced new = { pmcid, flags };
	uint32_t n = v->npmcs;
	uint32_t id = IDTAB_ID(&v->pmctab, hash_mix(pmcid, 0), v->pmcids, v->npmcs, v->pmccap,
			       &new, e, e->pmcid == pmcid);

	v->asked_tables |= !!(flags & HWPMC_F_UNWIND);
	/* ids are reused after a release */
	v->pmcids[id].flags = flags;
	v->npmcs_total += id == n;
}

static void forget_pmcs(struct verify *v)
{
	idtab_free(&v->pmctab);
	v->npmcs = 0;
}

static const char *unannounced(struct verify *v, uint32_t pmcid)
{
	return verify_fault(v, "PMC 0x%x was not announced before", pmcid);
}

static const char *check_pmc(struct verify *v, uint32_t pmcid)
{
	return verify_find_pmc(v, pmcid) == IDTAB_NONE ? unannounced(v, pmcid) : NULL;
}

/* ------------------------------------------------------------------------
 * Every record
 */
static const char *check_place(struct verify *v, const struct pmclog_rec *rec)
{
	if (rec->type == PMCLOG_T_INITIALIZE) {
		if (v->open)
			return "INITIALIZE without a CLOSELOG before it";
		return NULL;
	}
	if (!v->open)
		return "record after CLOSELOG";
	/* the format may become known only after the first records */
	if (v->format->ours && v->freq != NSEC_PER_SEC)
		return "the clock does not count nanoseconds";
	if (v->format->ours && rec->tsc < v->last_tsc)
		return verify_fault(v, "time goes back from %" PRIu64 " to %" PRIu64,
				    v->last_tsc, rec->tsc);
	return NULL;
}

static bool all_zero(const unsigned char *p, const unsigned char *end)
{
	for (; p < end; p++)
		if (*p)
			return false;
	return true;
}

/* Finds the padding of field @f; *@from equals *@to if it has none. */
static void padding(const struct field *f, const struct pmclog_rec *rec,
		    const unsigned char **from, const unsigned char **to)
{
	size_t n;

	*to = rec->data + f->offset + field_size(f);
	switch (f->kind) {
	case FIELD_PAD:
		*from = rec->data + f->offset;
		break;
	case FIELD_NAME:
		*from = (const unsigned char *)field_string(f, rec, &n);
		*from += n;
		break;
	case FIELD_TAIL:
	case FIELD_TAIL2:
		*from = (const unsigned char *)field_string(f, rec, &n);
		*from += n;
		*to = rec->data + rec->len;
		break;
	case FIELD_DATA:
		*to = rec->data + rec->len;
		/* fall through */
	case FIELD_BYTES:
		*from = field_bytes(f, rec, &n);
		*from += n;
		break;
	default:
		*from = *to;
	}
}

static const char *check_padding(struct verify *v,
				 const struct pmclog_rec *rec)
{
	const struct layout *l = record_layout(rec);
	const unsigned char *from, *to;
	const struct field *f;

	if (!l)
		return verify_fault(v, "unknown record type %u", rec->type);
	if (!v->format->ours)
		return NULL;	/* FreeBSD does not clear padding */
	if (REC32(rec, hdr, spare))
		return "spare word of the header is not 0";
	for (f = l->fields; f < l->fields + l->nfields; f++) {
		if (!field_present(f, rec))
			continue;
		/* the second string follows the first one: there is no padding */
		if (f->kind == FIELD_TAIL && f + 1 < l->fields + l->nfields &&
		    f[1].kind == FIELD_TAIL2)
			continue;
		padding(f, rec, &from, &to);
		if (!all_zero(from, to))
			return verify_fault(v, "padding of %s's %s is not 0", l->word,
					    f->name);
	}
	return NULL;
}

/* ------------------------------------------------------------------------
 * One kind of record
 */
static const char *check_init(struct verify *v, const struct pmclog_rec *rec)
{
	v->freq = REC64(rec, initialize, tsc_freq);
	if (REC64(rec, initialize, ts_nsec) >= NSEC_PER_SEC)
		return "wall clock with more than a second of nanoseconds";
	v->open = true;
	v->map_in = false;
	v->snapshot = false;
	v->first_tsc = rec->tsc;
	v->samples = 0;
	v->late = 0;
	memset(v->cut_by, 0, sizeof(v->cut_by));
	v->answers = 0;
	memset(v->dropped, 0, sizeof(v->dropped));
	v->proc_dropped = 0;
	v->nsessions++;
	v->nforeign += !v->format->ours;
	v->nlast_of = 0;
	v->ncpu = 0;
	periods_forget(&v->periods);
	forget_pmcs(v);
	return NULL;
}

static const char *check_allocatedyn(struct verify *v,
				     const struct pmclog_rec *rec)
{
	if (v->format->ours && rec->len < sizeof(struct pmclog_pmcallocatedyn))
		return "PMCALLOCATEDYN without rate and config";
	if (v->format->ours && !rec->data[offsetof(struct pmclog_pmcallocatedyn, name)])
		return "PMC without a name";
	announce(v, REC32(rec, pmcallocatedyn, pmcid), record_pmc_flags(rec));
	return NULL;
}

/*
 * In FreeBSD's logs each CPU has two rings, for user and kernel samples.  If
 * the nanoseconds are cut off, only seconds are compared.
 */
static const char *check_order(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t flags = REC32(rec, callchain, cpuflags);
	uint32_t i = PMCLOG_CC_CPU(flags) * 2 + (flags & PMCLOG_CC_USERSPACE);
	uint64_t now = rec->tsc, last;

	if (v->format->era == PMCLOG_ERA_A)
		now /= NSEC_PER_SEC;
	while (v->nlast_of <= i) {
		APPEND(v->last_of, v->nlast_of, v->caplast_of) = 0;
	}
	last = v->last_of[i];
	v->last_of[i] = now;
	if (now >= last)
		return NULL;
	return verify_fault(v, "time of CPU %u goes back from %" PRIu64 " to %" PRIu64,
			    PMCLOG_CC_CPU(flags), last, now);
}

/* The flags of a user chain must not contradict each other. */
static const char *check_ends(struct verify *v, const char *of, uint8_t ends)
{
	int i;

	if (!(ends & END_WHOLE) || !(ends & END_CUT_USER_PART))
		return NULL;
	for (i = 0; !(ends & END_CUT_USER_PART & END_CUT(i)); i++)
		;
	return verify_fault(v, "%s is whole, and cut for %s", of, cut_name(i));
}

static void note_cuts(struct verify *v, uint8_t ends)
{
	int i;

	for (i = 0; i < PMCLOG_CUT_NCAUSE; i++)
		v->cut_by[i] += !!(ends & END_CUT(i));
}

/* Checks for undefined flags, and for user flags of a chain without a user part. */
static const char *check_chain_ends(struct verify *v,
				    const struct pmclog_rec *rec)
{
	uint32_t flags = REC32(rec, callchain, cpuflags);
	bool user = ends_rec_has_user(rec, flags);
	uint8_t ends = ends_of(flags);

	if (!(flags & (UNDEFINED_ENDS | CUTS)) && (user || !ends))
		return NULL;
	if (flags & UNDEFINED_ENDS)
		return verify_fault(v, "call chain with undefined flags 0x%x",
				    flags & UNDEFINED_ENDS);
	if (flags & PMCLOG_CC_USERLATE && ends & END_CUT(PMCLOG_CUT_USER))
		return "call chain that is cut for user, and comes later";
	if (ends > (END_WHOLE | END_TABLES))
		note_cuts(v, ends);
	if (ends & END_WHOLE && !user)
		return "call chain that is whole without a user part";
	return check_ends(v, "call chain", ends);
}

/*
 * Checks the PMC of a sample.  Samples of PMCs with chains are counted by how
 * the chain ends.
 */
static const char *check_sampled(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, callchain, pmcid);
	uint32_t id = verify_find_pmc(v, pmcid);

	if (id == IDTAB_NONE)
		return unannounced(v, pmcid);
	if (v->pmcids[id].flags & HWPMC_F_CALLCHAIN)
		ends_log_sample(&v->ends, rec, 0);
	return verify_weight(v, rec, v->pmcids[id].flags);
}

static const char *check_chain(struct verify *v, const struct pmclog_rec *rec)
{
	size_t npc = (rec->len - sizeof(struct pmclog_callchain)) / 8;

	if (!npc)
		return "call chain without a pc";
	if (npc > PMCLOG_CHAIN_MAX)
		return verify_fault(v, "call chain of %zu pcs, more than %u", npc,
				    PMCLOG_CHAIN_MAX);
	v->samples++;
	v->nsamples++;
	v->late += !!(REC32(rec, callchain, cpuflags) & PMCLOG_CC_USERLATE);
	return (v->format->ours ? check_chain_ends(v, rec) : check_order(v, rec)) ?:
	       check_sampled(v, rec);
}

static const char *check_drop(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t pmcid, cause;
	uint64_t count;

	if (rec->len < sizeof(struct pmclog_dropnotify))
		return v->format->ours ? "DROPNOTIFY without a count" : NULL;
	pmcid = REC32(rec, dropnotify, pmcid);
	cause = REC32(rec, dropnotify, cause);
	count = REC64(rec, dropnotify, count);
	if (cause >= PMCLOG_DROP_NCAUSE)
		return verify_fault(v, "DROPNOTIFY with unknown cause %u", cause);
	if (!count)
		return "DROPNOTIFY of nothing";
	if (REC64(rec, dropnotify, first) > REC64(rec, dropnotify, last))
		return "DROPNOTIFY whose last is before its first";
	if (pmcid == PMCLOG_PMCID_NONE) {
		v->proc_dropped = verify_sum(v->proc_dropped, count);
		v->nproc_dropped = verify_sum(v->nproc_dropped, count);
		return NULL;
	}
	v->dropped[cause] = verify_sum(v->dropped[cause], count);
	v->ndropped = verify_sum(v->ndropped, count);
	return check_pmc(v, pmcid);
}

static const char *check_path(struct verify *v, const struct pmclog_rec *rec,
			      size_t offset)
{
	if (rec->len - offset > PMCLOG_PATH_MAX)
		return verify_fault(v, "room for a path of %zu bytes, more than %u",
				    rec->len - offset, PMCLOG_PATH_MAX);
	return NULL;
}

static const char *check_map_in(struct verify *v, const struct pmclog_rec *rec)
{
	v->map_in = true;
	v->map_pid = REC32(rec, map_in, pid);
	v->map_start = REC64(rec, map_in, start);
	return check_path(v, rec, offsetof(struct pmclog_map_in, path));
}

static const char *check_map_out(struct verify *v,
				 const struct pmclog_rec *rec)
{
	uint64_t start = REC64(rec, map_out, start);
	uint64_t end = REC64(rec, map_out, end);

	if (start < end)
		return NULL;
	return verify_fault(v, "MAP_OUT from 0x%" PRIx64 " to 0x%" PRIx64, start, end);
}

static const char *check_exec(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, procexec, pmcid);

	return check_path(v, rec, offsetof(struct pmclog_procexec, path)) ?:
	       (pmcid == PMCLOG_PMCID_NONE ? NULL : check_pmc(v, pmcid));
}

static const char *check_attach(struct verify *v, const struct pmclog_rec *rec)
{
	return check_path(v, rec, offsetof(struct pmclog_pmcattach, path)) ?:
	       check_pmc(v, REC32(rec, pmcattach, pmcid));
}

/* ------------------------------------------------------------------------
 * Extension records
 */
static const char *check_mapping(struct verify *v,
				 const struct pmclog_rec *rec)
{
	uint64_t start = REC64(rec, ext_mapping, start);
	uint64_t len = REC64(rec, ext_mapping, len);

	/* the last byte's address, so that the top of memory fits */
	if (!len || start + (len - 1) < start)
		return verify_fault(v, "mapping of 0x%" PRIx64 " bytes at 0x%" PRIx64,
				    len, start);
	if (!v->map_in || v->map_start != start ||
	    v->map_pid != REC32(rec, ext_mapping, pid))
		return "MAPPING without its MAP_IN before it";
	return NULL;
}

static const char *check_buildid(struct verify *v,
				 const struct pmclog_rec *rec)
{
	uint32_t len = REC32(rec, ext_buildid, len);

	if (len <= sizeof(((struct pmclog_ext_buildid *)0)->id))
		return NULL;
	return verify_fault(v, "build-id of %u bytes", len);
}

static const char *check_userchain_ends(struct verify *v,
					const struct pmclog_rec *rec)
{
	uint8_t flags = rec->data[offsetof(struct pmclog_ext, flags)];
	uint8_t ends = record_ends(rec);

	if (flags & UNDEFINED_ENDS >> 8)
		return verify_fault(v, "user chain with undefined flags 0x%x",
				    flags & UNDEFINED_ENDS >> 8);
	if (ends & END_CUT(PMCLOG_CUT_KERNEL))
		return "user chain that is cut for kernel";
	return check_ends(v, "user chain", ends);
}

static const char *check_userchain(struct verify *v,
				   const struct pmclog_rec *rec)
{
	uint64_t first = REC64(rec, ext_userchain, first), pc;
	uint32_t n, i;
	size_t at;

	n = record_pcs(rec, &at);
	if (!n)
		return "user chain without a pc";
	if (n > PMCLOG_CHAIN_MAX)
		return verify_fault(v, "user chain of %u pcs, more than %u", n,
				    PMCLOG_CHAIN_MAX);
	/* the first pc may be in the vsyscall page, in the upper half */
	for (i = 1; i < n; i++) {
		pc = pmclog_get64(rec->data + at + 8 * (size_t)i);
		if (pc >> 63)
			return verify_fault(v, "user chain through 0x%" PRIx64, pc);
	}
	if (first > rec->tsc)
		return verify_fault(v, "user chain for samples from %" PRIu64
				    ", but it is %" PRIu64, first, rec->tsc);
	v->answers++;
	return check_userchain_ends(v, rec);
}

/* A RAW record must directly follow its sample. */
static const char *check_raw(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t len = REC32(rec, ext_raw, len);
	uint32_t size = REC32(rec, ext_raw, size);

	if (!v->chain || v->chain_pmc != REC32(rec, ext_raw, pmcid) ||
	    v->chain_tid != REC32(rec, ext_raw, tid) ||
	    v->last_tsc != rec->tsc)
		return "RAW that is not right behind its sample";
	if (len > PMCLOG_RAW_MAX)
		return verify_fault(v, "RAW of %u bytes, more than %u", len,
				    PMCLOG_RAW_MAX);
	if (len > size)
		return verify_fault(v, "RAW with %u bytes of %u", len, size);
	return NULL;
}

static const char *check_snapshot(struct verify *v,
				  const struct pmclog_rec *rec)
{
	uint32_t cause = REC32(rec, ext_snapshot, cause);

	if (v->snapshot)
		return "a second SNAPSHOT";
	v->snapshot = true;
	if (!snapshot_name(cause))
		return verify_fault(v, "SNAPSHOT with unknown cause %u", cause);
	return NULL;
}

/* By a rule that depends on the flags of the record's PMC */
static const char *by_flags(struct verify *v, const struct pmclog_rec *rec, uint32_t pmcid,
			    const char *(*rule)(struct verify *v, const struct pmclog_rec *rec,
						uint32_t flags))
{
	uint32_t id = verify_find_pmc(v, pmcid);

	return id == IDTAB_NONE ? unannounced(v, pmcid) : rule(v, rec, v->pmcids[id].flags);
}

static const char *check_ext(struct verify *v, const struct pmclog_rec *rec)
{
	switch (pmclog_iter_ext_subtype(rec)) {
	case PMCLOG_EXT_HOST:
		v->ncpu = REC32(rec, ext_host, ncpu);
		return NULL;
	case PMCLOG_EXT_PERIOD:
		return by_flags(v, rec, REC32(rec, ext_period, pmcid), verify_period);
	case PMCLOG_EXT_MAPPING:
		return check_mapping(v, rec);
	case PMCLOG_EXT_BUILDID:
		return check_buildid(v, rec);
	case PMCLOG_EXT_RATE:
		return check_pmc(v, REC32(rec, ext_rate, pmcid));
	case PMCLOG_EXT_USERCHAIN:
		return check_userchain(v, rec);
	case PMCLOG_EXT_RAW:
		return check_raw(v, rec);
	case PMCLOG_EXT_DETAIL:
		return by_flags(v, rec, REC32(rec, ext_detail, pmcid), verify_detail);
	case PMCLOG_EXT_RECORD:
		if (REC32(rec, ext_record, on) <= 1)
			return NULL;
		return "RECORD that is neither on nor off";
	case PMCLOG_EXT_SNAPSHOT:
		return check_snapshot(v, rec);
	default:
		return NULL;
	}
}

/* ------------------------------------------------------------------------
 * All records
 */
static const char *check_close(struct verify *v, const struct pmclog_rec *rec)
{
	v->open = false;
	if (v->freq)
		v->nsec += (uint64_t)((double)(rec->tsc - v->first_tsc) /
				      (double)v->freq * NSEC_PER_SEC);
	return v->format->ours ? verify_account(v, rec) : NULL;
}

static const char *check_type(struct verify *v, const struct pmclog_rec *rec)
{
	switch (rec->type) {
	case PMCLOG_T_INITIALIZE:
		return check_init(v, rec);
	case PMCLOG_T_CALLCHAIN:
		return check_chain(v, rec);
	case PMCLOG_T_DROPNOTIFY:
		return check_drop(v, rec);
	case PMCLOG_T_PMCALLOCATE:
		announce(v, REC32(rec, wire_allocate, pmcid), record_pmc_flags(rec));
		return NULL;
	case PMCLOG_T_PMCALLOCATEDYN:
		return check_allocatedyn(v, rec);
	case PMCLOG_T_MAP_IN:
		return check_map_in(v, rec);
	case PMCLOG_T_MAP_OUT:
		return check_map_out(v, rec);
	case PMCLOG_T_PROCEXEC:
		return check_exec(v, rec);
	case PMCLOG_T_PMCATTACH:
		return check_attach(v, rec);
	case PMCLOG_T_PMCDETACH:
		return check_pmc(v, REC32(rec, pmcdetach, pmcid));
	case PMCLOG_T_PROCCSW:
		return check_pmc(v, REC32(rec, proccsw, pmcid));
	case PMCLOG_T_PROCEXIT:
		return check_pmc(v, REC32(rec, procexit, pmcid));
	case PMCLOG_T_USERDATA:
		return check_ext(v, rec);
	case PMCLOG_T_CLOSELOG:
		return check_close(v, rec);
	default:
		return NULL;
	}
}

/* Remembers the sample for a RAW or DETAIL record that may follow. */
static void note_chain(struct verify *v, const struct pmclog_rec *rec)
{
	v->chain = rec->type == PMCLOG_T_CALLCHAIN;
	if (!v->chain)
		return;
	v->chain_pmc = REC32(rec, callchain, pmcid);
	v->chain_tid = REC32(rec, callchain, tid);
}

void verify_init(struct verify *v)
{
	memset(v, 0, sizeof(*v));
	ends_log_init(&v->ends);
}

const char *verify_record(struct verify *v, const struct pmclog_rec *rec)
{
	const char *what = check_place(v, rec) ?: check_padding(v, rec) ?: check_type(v, rec);

	if (!what && v->format->ours)
		what = verify_procs(v, rec);
	if (!what && rec->len > PMCLOG_RECORD_MAX)
		what = verify_fault(v, "record of %u bytes, more than %u", rec->len,
				    PMCLOG_RECORD_MAX);
	if (!what && rec->pack && rec->stored > PMCLOG_PACK_MAX)
		what = verify_fault(v, "pack of %u bytes, more than %u", rec->stored,
				    PMCLOG_PACK_MAX);
	if (rec->type != PMCLOG_T_CALLCHAIN)
		ends_log_record(&v->ends, rec);
	note_chain(v, rec);
	v->last_tsc = rec->tsc;
	v->end += rec->stored;
	v->nrecords++;
	return what;
}

const char *verify_end(const struct verify *v, uint64_t *offset)
{
	*offset = v->end;
	if (!v->nsessions)
		return "empty, no INITIALIZE";
	return v->open ? "no CLOSELOG: the log was cut" : NULL;
}

void verify_free(struct verify *v)
{
	idtab_free(&v->pmctab);
	free(v->pmcids);
	free(v->last_of);
	periods_free(&v->periods);
	verify_procs_free(&v->procs);
	ends_log_free(&v->ends);
}
