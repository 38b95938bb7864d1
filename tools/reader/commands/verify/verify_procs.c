// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules of pmclog verify for PMCs of process modes: their records are about
 * attached processes only.
 *
 * The record that attached a process may have been lost.  Only the account at the
 * end of the log says so: until then the first such fault is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/hwpmc.h>
#include <pmclog_wire.h>

#include "base/mem.h"
#include "commands/verify/verify.h"

static bool of_processes(uint32_t pmcid)
{
	uint32_t mode = HWPMC_ID_MODE(pmcid);

	return mode == HWPMC_MODE_TS || mode == HWPMC_MODE_TC;
}

/* ------------------------------------------------------------------------
 * PMCs and what they are attached to
 */
/* The number of a PMC of a process mode, or IDTAB_NONE. */
static uint32_t number_of(struct verify *v, uint32_t pmcid)
{
	return of_processes(pmcid) ? verify_find_pmc(v, pmcid) : IDTAB_NONE;
}

static void put_bit(uint64_t **word, uint32_t *n, uint32_t i, bool on)
{
	uint64_t bit = 1ULL << i % 64;

	if (on) {
		*word = xgrow_zero(*word, n, i / 64, 2, sizeof(**word));
		(*word)[i / 64] |= bit;
	} else if (i / 64 < *n) {
		(*word)[i / 64] &= ~bit;
	}
}

static void announce(struct verify *v, uint32_t pmcid)
{
	uint32_t i = number_of(v, pmcid);

	if (i != IDTAB_NONE)
		put_bit(&v->procs.inherited, &v->procs.nword, i,
			v->pmcids[i].flags & HWPMC_F_DESCENDANTS);
}

static struct verify_target *find_target(struct verify_procs *t, uint32_t pid)
{
	uint32_t id = IDTAB_FIND(&t->tab, hash_number(pid), t->target, e, e->pid == pid);

	return id == IDTAB_NONE ? NULL : &t->target[id];
}

static struct verify_target *get_target(struct verify_procs *t, uint32_t pid)
{
	struct verify_target key = { .pid = pid };
	uint32_t id = IDTAB_ID(&t->tab, hash_number(pid), t->target, t->n, t->cap, &key, e,
			       e->pid == pid);

	return &t->target[id];
}

static bool is_attached(struct verify *v, uint32_t pmcid, uint32_t pid)
{
	const struct verify_target *target = find_target(&v->procs, pid);
	uint32_t i = number_of(v, pmcid);

	return target && i / 64 < target->nword &&
	       target->pmc[i / 64] >> i % 64 & 1;
}

static void attach(struct verify *v, uint32_t pmcid, uint32_t pid)
{
	uint32_t i = number_of(v, pmcid);
	struct verify_target *target;

	if (i == IDTAB_NONE)
		return;
	target = get_target(&v->procs, pid);
	put_bit(&target->pmc, &target->nword, i, true);
}

static void detach(struct verify *v, uint32_t pmcid, uint32_t pid)
{
	struct verify_target *target = find_target(&v->procs, pid);
	uint32_t i = number_of(v, pmcid);

	if (target && i != IDTAB_NONE)
		put_bit(&target->pmc, &target->nword, i, false);
}

/* The PMCs that a child inherits, by 64. */
static uint64_t inherited(const struct verify_procs *t,
			  const struct verify_target *from, uint32_t word)
{
	return word < t->nword ? from->pmc[word] & t->inherited[word] : 0;
}

static void inherit(struct verify_procs *t, uint32_t from, uint32_t to)
{
	const struct verify_target *parent = find_target(t, from);
	struct verify_target *child;
	uint64_t bits;
	uint32_t i;

	for (i = 0; parent && i < parent->nword; i++) {
		bits = inherited(t, parent, i);
		if (!bits)
			continue;
		child = get_target(t, to);
		child->pmc = xgrow_zero(child->pmc, &child->nword, i, 2,
					sizeof(*child->pmc));
		child->pmc[i] |= bits;
		/* the array may have moved */
		parent = find_target(t, from);
	}
}

/* ------------------------------------------------------------------------
 * Records
 */
static const char *must_be_attached(struct verify *v,
				    const struct pmclog_rec *rec,
				    const char *what, uint32_t pmcid,
				    uint32_t pid)
{
	struct verify_procs *t = &v->procs;

	/* a task that is about to be freed has no pid */
	if (pid == PMCLOG_PID_KERNEL || is_attached(v, pmcid, pid) ||
	    t->later[0])
		return NULL;
	snprintf(t->later, sizeof(t->later), "%s at offset %" PRIu64
		 " of pid %" PRIu32 ", which PMC 0x%" PRIx32
		 " is not attached to", what, rec->offset, pid, pmcid);
	return NULL;
}

static const char *check_value(struct verify *v, const struct pmclog_rec *rec,
			       const char *what, uint32_t pmcid, uint32_t pid,
			       uint32_t flag)
{
	uint32_t i = number_of(v, pmcid);

	if (i == IDTAB_NONE)
		return "value of a process by a PMC of the system";
	if (!(v->pmcids[i].flags & flag))
		return verify_fault(v, "%s of PMC 0x%" PRIx32
				    ", which does not log it", what, pmcid);
	return must_be_attached(v, rec, what, pmcid, pid);
}

static const char *check_csw(struct verify *v, const struct pmclog_rec *rec)
{
	return check_value(v, rec, "PROCCSW", REC32(rec, proccsw, pmcid),
			   REC32(rec, proccsw, pid), HWPMC_F_LOG_PROCCSW);
}

/* PROCEXIT is a PMC's last record of a process. */
static const char *check_exit(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, procexit, pmcid);
	uint32_t pid = REC32(rec, procexit, pid);
	const char *what = check_value(v, rec, "PROCEXIT", pmcid, pid,
				       HWPMC_F_LOG_PROCEXIT);

	if (!what && rec->len >= sizeof(struct pmclog_procexit) &&
	    REC64(rec, procexit, running) > REC64(rec, procexit, enabled))
		what = "PROCEXIT of a PMC that ran longer than it was enabled";
	detach(v, pmcid, pid);
	return what;
}

static const char *check_attach(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, pmcattach, pmcid);

	if (!of_processes(pmcid))
		return "PMCATTACH of a PMC of the system";
	attach(v, pmcid, REC32(rec, pmcattach, pid));
	return NULL;
}

static const char *check_detach(struct verify *v, const struct pmclog_rec *rec)
{
	uint32_t pmcid = REC32(rec, pmcdetach, pmcid);
	uint32_t pid = REC32(rec, pmcdetach, pid);
	const char *what = must_be_attached(v, rec, "PMCDETACH", pmcid, pid);

	detach(v, pmcid, pid);
	return what;
}

static const char *check_named(struct verify *v, const struct pmclog_rec *rec,
			       const char *what, uint32_t pmcid, uint32_t pid)
{
	return of_processes(pmcid) ?
	       must_be_attached(v, rec, what, pmcid, pid) : NULL;
}

static const char *check_later(struct verify *v, const struct pmclog_rec *rec)
{
	const unsigned char *account = rec->data +
				       offsetof(struct pmclog_closelog, account);

	if (rec->len < sizeof(struct pmclog_closelog) ||
	    pmclog_get64(account + offsetof(struct pmclog_account,
					    proc_dropped)))
		return NULL;
	return v->procs.later[0] ? v->procs.later : NULL;
}

void verify_procs_free(struct verify_procs *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		free(t->target[i].pmc);
	idtab_free(&t->tab);
	free(t->inherited);
	free(t->target);
	memset(t, 0, sizeof(*t));
}

const char *verify_procs(struct verify *v, const struct pmclog_rec *rec)
{
	switch (rec->type) {
	case PMCLOG_T_INITIALIZE:
		verify_procs_free(&v->procs);
		return NULL;
	case PMCLOG_T_PMCALLOCATE:
		announce(v, REC32(rec, wire_allocate, pmcid));
		return NULL;
	case PMCLOG_T_PMCALLOCATEDYN:
		announce(v, REC32(rec, pmcallocatedyn, pmcid));
		return NULL;
	case PMCLOG_T_PMCATTACH:
		return check_attach(v, rec);
	case PMCLOG_T_PMCDETACH:
		return check_detach(v, rec);
	case PMCLOG_T_PROCFORK:
		inherit(&v->procs, REC32(rec, procfork, oldpid),
			REC32(rec, procfork, newpid));
		return NULL;
	case PMCLOG_T_PROCEXEC:
		return check_named(v, rec, "PROCEXEC",
				   REC32(rec, procexec, pmcid),
				   REC32(rec, procexec, pid));
	case PMCLOG_T_CALLCHAIN:
		return check_named(v, rec, "sample",
				   REC32(rec, callchain, pmcid),
				   REC32(rec, callchain, pid));
	case PMCLOG_T_PROCCSW:
		return check_csw(v, rec);
	case PMCLOG_T_PROCEXIT:
		return check_exit(v, rec);
	case PMCLOG_T_CLOSELOG:
		return check_later(v, rec);
	default:
		return NULL;
	}
}
