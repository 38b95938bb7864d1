// SPDX-License-Identifier: GPL-2.0-only
/*
 * proclog_check(): who is whose target, as the log tells it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proclog.h"
#include "space.h"

/* A process that is a PMC's target; @ended: its PROCEXIT has been seen. */
struct pair {
	uint32_t	pmcid;
	uint32_t	pid;
	bool		ended;
};

/**
 * struct check
 * @inherits: ids of PMCs with DESCENDANTS
 * @system: some PMC samples the whole system
 * @last_attach: offset of the last PMCATTACH
 */
struct check {
	struct log	*log;
	struct space	*space;
	struct pair	*pairs;
	size_t		npairs;
	uint32_t	inherits[LOG_MAX_PMC];
	unsigned int	ninherits;
	bool		system;
	uint64_t	last_attach;
	const char	*fault;
};

__attribute__((format(printf, 3, 4)))
static void fault(struct check *c, const struct pmclog_rec *rec,
		  const char *fmt, ...)
{
	char *text = c->log->fault;
	size_t size = sizeof(c->log->fault);
	va_list ap;
	int n;

	if (c->fault)
		return;
	n = snprintf(text, size, "offset %llu, type %u: ",
		     (unsigned long long)rec->offset, rec->type);
	va_start(ap, fmt);
	vsnprintf(text + n, size - n, fmt, ap);
	va_end(ap);
	c->fault = text;
}

static struct pair *find(struct check *c, uint32_t pmcid, uint32_t pid)
{
	size_t i;

	for (i = 0; i < c->npairs; i++)
		if ((pmcid == ANY || c->pairs[i].pmcid == pmcid) &&
		    c->pairs[i].pid == pid)
			return &c->pairs[i];
	return NULL;
}

static void add(struct check *c, uint32_t pmcid, uint32_t pid)
{
	struct pair *p = find(c, pmcid, pid);

	/* who is forked while others are attached may be told twice */
	if (p && !p->ended)
		return;
	if (!p) {
		if (!(c->npairs & (c->npairs + 1)))
			c->pairs = realloc(c->pairs, (2 * c->npairs + 2) *
					   sizeof(*c->pairs));
		p = &c->pairs[c->npairs++];
	}
	*p = (struct pair){ .pmcid = pmcid, .pid = pid };
}

static bool inherits(const struct check *c, uint32_t pmcid)
{
	unsigned int i;

	for (i = 0; i < c->ninherits; i++)
		if (c->inherits[i] == pmcid)
			return true;
	return false;
}

/* A number that is used again: nobody's target any more. */
static void forget(struct check *c, uint32_t pid)
{
	size_t i;

	for (i = c->npairs; i-- > 0; )
		if (c->pairs[i].pid == pid)
			c->pairs[i] = c->pairs[--c->npairs];
}

/*
 * Hooks are there before all targets have been told: what one of these does
 * meanwhile may come before its PMCATTACH, and its SYSEXIT instead of it.
 */
static bool all_told(const struct check *c, const struct pmclog_rec *rec)
{
	return !c->system && rec->offset > c->last_attach;
}

static void forked(struct check *c, const struct pmclog_rec *rec,
		   const struct proc_record *p)
{
	size_t i, n;
	bool any = false;

	forget(c, p->pid);
	n = c->npairs;
	for (i = 0; i < n; i++) {
		if (c->pairs[i].pid != p->parent ||
		    !inherits(c, c->pairs[i].pmcid))
			continue;
		any = true;
		add(c, c->pairs[i].pmcid, p->pid);
	}
	if (!any && all_told(c, rec))
		fault(c, rec, "fork of pid %u, no target with descendants",
		      p->parent);
}

static void must_be(struct check *c, const struct pmclog_rec *rec,
		    uint32_t pmcid, uint32_t pid)
{
	struct pair *p = find(c, pmcid, pid);

	if (!p)
		fault(c, rec, "pid %u is no target of %x", pid, pmcid);
	else if (p->ended)
		fault(c, rec, "pid %u of %x has had its PROCEXIT", pid, pmcid);
}

static bool process_mode(uint32_t pmcid)
{
	return HWPMC_ID_MODE(pmcid) == HWPMC_MODE_TS ||
	       HWPMC_ID_MODE(pmcid) == HWPMC_MODE_TC;
}

static void sampled(struct check *c, const struct pmclog_rec *rec)
{
	struct sample s;

	log_sample(rec, &s);
	/* a thread's last moments: it has no number any more */
	if (!process_mode(s.pmcid) || s.pid == PMCLOG_PID_KERNEL)
		return;
	must_be(c, rec, s.pmcid, s.pid);
	if (s.user && !space_find(c->space, s.pid, s.pc[0]))
		fault(c, rec, "pid %u at %llx: not mapped", s.pid,
		      (unsigned long long)s.pc[0]);
}

static void allocated(struct check *c, const struct pmclog_rec *rec)
{
	uint32_t id = REC32(rec, pmcallocatedyn, pmcid);
	uint32_t flags = REC32(rec, pmcallocatedyn, flags);

	if (HWPMC_ID_MODE(id) == HWPMC_MODE_SS)
		c->system = true;
	if (flags & HWPMC_F_DESCENDANTS && !inherits(c, id) &&
	    c->ninherits < LOG_MAX_PMC)
		c->inherits[c->ninherits++] = id;
}

static void apply(struct check *c, const struct pmclog_rec *rec)
{
	struct proc_record p;
	struct pair *pair;

	space_apply(c->space, rec);
	if (rec->type == PMCLOG_T_CALLCHAIN)
		sampled(c, rec);
	if (rec->type == PMCLOG_T_PMCALLOCATEDYN)
		allocated(c, rec);
	if (!proc_record(rec, &p))
		return;
	switch (rec->type) {
	case PMCLOG_T_PMCATTACH:
		add(c, p.pmcid, p.pid);
		return;
	case PMCLOG_T_PMCDETACH:
		must_be(c, rec, p.pmcid, p.pid);
		pair = find(c, p.pmcid, p.pid);
		if (pair)
			*pair = c->pairs[--c->npairs];
		return;
	case PMCLOG_T_PROCFORK:
		forked(c, rec, &p);
		return;
	case PMCLOG_T_PROCEXIT:
		must_be(c, rec, p.pmcid, p.pid);
		pair = find(c, p.pmcid, p.pid);
		if (pair)
			pair->ended = true;
		return;
	case PMCLOG_T_PROCCSW:
		must_be(c, rec, p.pmcid, p.pid);
		return;
	case PMCLOG_T_PROCEXEC:
		if (p.pmcid != PMCLOG_PMCID_NONE) {
			if (c->system || all_told(c, rec))
				must_be(c, rec, p.pmcid, p.pid);
		} else if (!c->system) {
			fault(c, rec, "PROCEXEC of the whole system");
		}
		return;
	case PMCLOG_T_PROC_CREATE:
	case PMCLOG_T_THR_CREATE:
		if (all_told(c, rec) && p.pid && !find(c, ANY, p.pid))
			fault(c, rec, "pid %u is nobody's target", p.pid);
	}
}

const char *proclog_check(struct log *log)
{
	struct check c = { .log = log, .space = space_new() };
	struct pmclog_rec rec;

	LOG_FOR_EACH(log, rec)
		if (rec.type == PMCLOG_T_PMCATTACH)
			c.last_attach = rec.offset;
	LOG_FOR_EACH(log, rec)
		if (!c.fault)
			apply(&c, &rec);
	space_free(c.space);
	free(c.pairs);
	return c.fault;
}
