// SPDX-License-Identifier: BSD-2-Clause
/* The counts of pmclog info for one log of a stream. */
#include <stdlib.h>
#include <string.h>

#include <linux/hwpmc.h>

#include <pmclog_wire.h>

#include "base/mem.h"
#include "base/order.h"
#include "commands/summary.h"
#include "log/pmcid.h"
#include "log/record.h"

void summary_init(struct summary *s)
{
	memset(s, 0, sizeof(*s));
	ends_log_init(&s->ends);
}

void summary_free(struct summary *s)
{
	idtab_free(&s->pmctab);
	idtab_free(&s->cputab);
	idtab_free(&s->proctab);
	free(s->pmcs);
	free(s->cpus);
	free(s->procs);
	free(s->release);
	free(s->node);
	ends_log_free(&s->ends);
	periods_free(&s->periods);
}

static struct sum_pmc *new_pmc(struct summary *s, uint32_t id)
{
	struct sum_pmc *pmc;

	GROW(s->pmcs, s->npmcs, s->pmccap);
	idtab_add(&s->pmctab, hash_mix(id, 0), s->npmcs);
	pmc = &s->pmcs[s->npmcs++];
	memset(pmc, 0, sizeof(*pmc));
	pmc->id = id;
	pmc->cpu = -1;
	pmc->current = true;
	return pmc;
}

static struct sum_pmc *get_pmc(struct summary *s, uint32_t id)
{
	struct sum_pmc *last = s->pmcs ? &s->pmcs[s->last_pmc] : NULL;
	uint32_t i;

	if (last && last->id == id && last->current)
		return last;
	i = IDTAB_FIND(&s->pmctab, hash_mix(id, 0), s->pmcs, e, e->current && e->id == id);
	if (i == IDTAB_NONE)
		return new_pmc(s, id);
	return &s->pmcs[s->last_pmc = i];
}

static struct sum_cpu *get_cpu(struct summary *s, struct sum_pmc *pmc,
			       uint32_t cpu)
{
	struct sum_cpu key = { .pmc = pmc - s->pmcs, .cpu = cpu };
	uint32_t i = IDTAB_ID(&s->cputab, hash_mix(key.pmc, cpu), s->cpus, s->ncpus, s->cpucap,
			      &key, e, e->pmc == key.pmc && e->cpu == cpu);

	return &s->cpus[i];
}

static void note_proc(struct summary *s, struct sum_pmc *pmc, uint32_t pid)
{
	struct sum_proc key = { .pmc = pmc - s->pmcs, .pid = pid };
	uint32_t n = s->nprocs;

	pmc->nprocs += IDTAB_ID(&s->proctab, hash_mix(key.pmc, pid), s->procs, s->nprocs,
				s->proccap, &key, e, !memcmp(e, &key, sizeof(key))) == n;
}

static void add_init(struct summary *s, const struct pmclog_rec *rec)
{
	s->offset = rec->offset;
	s->first_tsc = rec->tsc;
	s->version = REC32(rec, initialize, version);
	s->tsc_freq = REC64(rec, initialize, tsc_freq);
	s->ts_sec = REC64(rec, initialize, ts_sec);
	s->ts_nsec = REC64(rec, initialize, ts_nsec);
	memcpy(s->cpuid, REC_STR(rec, initialize, cpuid), sizeof(s->cpuid));
}

/* A period is the last one.  A rate may change often, as with a budget. */
static void read_rate(struct sum_pmc *pmc, uint64_t rate)
{
	bool freq = pmc->flags & HWPMC_F_FREQ;

	if (!pmc->rate_least || rate < pmc->rate_least)
		pmc->rate_least = rate;
	if (!freq || rate > pmc->rate)
		pmc->rate = rate;
}

static void read_allocatedyn(struct sum_pmc *pmc, const struct pmclog_rec *rec)
{
	memcpy(pmc->name, REC_STR(rec, pmcallocatedyn, name), sizeof(pmc->name));
	pmc->announced = true;
	pmc->flags = record_pmc_flags(rec);
	pmc->event = REC32(rec, pmcallocatedyn, event);
	pmc->foreign = rec->len < sizeof(struct pmclog_pmcallocatedyn);
	if (rec->len >= PMCLOG_PMCALLOCATEDYN_RATE)
		read_rate(pmc, REC64(rec, pmcallocatedyn, rate));
	if (pmc->foreign)
		return;
	pmc->config = REC64(rec, pmcallocatedyn, config);
	pmc->type = REC32(rec, pmcallocatedyn, type);
	pmc->cpu = REC32(rec, pmcallocatedyn, cpu);
}

static void add_allocatedyn(struct summary *s, const struct pmclog_rec *rec)
{
	uint32_t id = REC32(rec, pmcallocatedyn, pmcid);
	struct sum_pmc *pmc = get_pmc(s, id);
	struct sum_pmc fresh = { .id = id, .cpu = -1 };

	read_allocatedyn(&fresh, rec);
	/* another event under an old id: a PMC of its own */
	if (pmc->announced && (strcmp(pmc->name, fresh.name) ||
			       pmc->config != fresh.config ||
			       pmc->type != fresh.type ||
			       pmc->cpu != fresh.cpu)) {
		pmc->current = false;
		pmc = new_pmc(s, id);
	}
	read_allocatedyn(pmc, rec);
}

static void add_allocate(struct summary *s, const struct pmclog_rec *rec)
{
	struct sum_pmc *pmc = get_pmc(s, REC32(rec, wire_allocate, pmcid));

	pmc->announced = true;
	pmc->flags = record_pmc_flags(rec);
	pmc->rate = REC64(rec, wire_allocate, rate);
	pmc->config = pmc->event = REC32(rec, wire_allocate, event);
	pmc->foreign = true;
	pmcid_event(pmc->name, s->version, pmc->id, pmc->event, pmc->flags);
}

/* Adds the period of a sample, if its PMC samples at a rate. */
static void add_weight(struct summary *s, struct sum_pmc *pmc,
		       struct sum_cpu *cpu, bool user)
{
	uint64_t period = periods_of(&s->periods, pmc->id, cpu->cpu);

	if (!period) {
		period = periods_guess(&s->periods, pmc->id);
		pmc->guessed++;
	}
	pmc->weight += period;
	cpu->weight += period;
	if (user)
		pmc->user_weight += period;
	if (!pmc->least || period < pmc->least)
		pmc->least = period;
	if (period > pmc->most)
		pmc->most = period;
}

static void add_chain(struct summary *s, const struct pmclog_rec *rec)
{
	struct sum_pmc *pmc = get_pmc(s, REC32(rec, callchain, pmcid));
	uint32_t cpuflags = REC32(rec, callchain, cpuflags);
	struct sum_cpu *cpu = get_cpu(s, pmc, PMCLOG_CC_CPU(cpuflags));

	pmc->samples++;
	pmc->user += !!(cpuflags & PMCLOG_CC_USERSPACE);
	pmc->frames += (rec->len - sizeof(struct pmclog_callchain)) / 8;
	cpu->samples++;
	if (pmc->flags & HWPMC_F_FREQ)
		add_weight(s, pmc, cpu, cpuflags & PMCLOG_CC_USERSPACE);
	note_proc(s, pmc, REC32(rec, callchain, pid));
	if (pmc->flags & HWPMC_F_CALLCHAIN)
		ends_log_sample(&s->ends, rec, (uint32_t)(pmc - s->pmcs));
}

static void add_drop(struct summary *s, const struct pmclog_rec *rec)
{
	uint32_t pmcid, cause;
	struct sum_pmc *pmc;
	uint64_t count;

	if (rec->len < sizeof(struct pmclog_dropnotify))
		return;
	pmcid = REC32(rec, dropnotify, pmcid);
	cause = REC32(rec, dropnotify, cause);
	count = REC64(rec, dropnotify, count);
	if (pmcid == PMCLOG_PMCID_NONE) {
		s->proc_lost += count;
		if (cause < PMCLOG_DROP_NCAUSE)
			s->proc_lost_by[cause] += count;
		return;
	}
	pmc = get_pmc(s, pmcid);
	if (cause < PMCLOG_DROP_NCAUSE)
		pmc->lost[cause] += count;
	get_cpu(s, pmc, REC32(rec, dropnotify, cpu))->lost += count;
}

static void add_rate(struct summary *s, const struct pmclog_rec *rec)
{
	struct sum_pmc *pmc = get_pmc(s, REC32(rec, ext_rate, pmcid));
	struct sum_cpu *cpu = get_cpu(s, pmc, REC32(rec, ext_rate, cpu));

	cpu->rated = true;
	cpu->asked = REC64(rec, ext_rate, expected);
	cpu->achieved = REC64(rec, ext_rate, achieved);
	cpu->throttled = REC64(rec, ext_rate, throttled);
}

static void add_host(struct summary *s, const struct pmclog_rec *rec)
{
	const char *release = REC_STR(rec, ext_host, release);

	s->ncpu = REC32(rec, ext_host, ncpu);
	s->page_size = REC32(rec, ext_host, page_size);
	s->machine = REC32(rec, ext_host, machine);
	s->owner_pid = REC32(rec, ext_host, owner_pid);
	free(s->release);
	free(s->node);
	s->release = xstrdup(release);
	s->node = xstrdup(release + strlen(release) + 1);
}

static void add_close(struct summary *s, const struct pmclog_rec *rec)
{
	s->closed = true;
	s->accounted = record_account(rec, &s->account);
	s->cuts = s->accounted && record_account_has_cuts(rec);
}

static void add_procexit(struct summary *s, const struct pmclog_rec *rec)
{
	struct sum_pmc *pmc = get_pmc(s, REC32(rec, procexit, pmcid));

	pmc->exits++;
	pmc->exit_value += REC64(rec, procexit, value);
	if (rec->len < sizeof(struct pmclog_procexit))
		return;
	pmc->enabled += REC64(rec, procexit, enabled);
	pmc->running += REC64(rec, procexit, running);
}

static void add_csw(struct summary *s, const struct pmclog_rec *rec)
{
	struct sum_pmc *pmc = get_pmc(s, REC32(rec, proccsw, pmcid));

	pmc->switches++;
	pmc->switch_value += REC64(rec, proccsw, value);
}

static void add_recording(struct summary *s, const struct pmclog_rec *rec)
{
	uint32_t npmc = REC32(rec, ext_record, npmc);
	uint64_t skew = REC64(rec, ext_record, skew);

	s->recorded[REC32(rec, ext_record, on) != 0]++;
	if (npmc > s->npmc)
		s->npmc = npmc;
	if (skew > s->skew)
		s->skew = skew;
}

static void add_snapshot(struct summary *s, const struct pmclog_rec *rec)
{
	s->is_snapshot = true;
	memcpy(&s->snapshot, rec->data, sizeof(s->snapshot));
}

static void add_ext(struct summary *s, const struct pmclog_rec *rec)
{
	switch (pmclog_iter_ext_subtype(rec)) {
	case PMCLOG_EXT_HOST:
		add_host(s, rec);
		break;
	case PMCLOG_EXT_RATE:
		add_rate(s, rec);
		break;
	case PMCLOG_EXT_RECORD:
		add_recording(s, rec);
		break;
	case PMCLOG_EXT_SNAPSHOT:
		add_snapshot(s, rec);
		break;
	case PMCLOG_EXT_PERIOD:
		periods_record(&s->periods, rec);
		break;
	}
}

static void add_packed(struct summary *s, const struct pmclog_rec *rec)
{
	s->packs += rec->pack == 1;
	s->packed++;
	s->pack_bytes += rec->stored;
	s->plain_bytes += rec->len;
}

static void add_attach(struct summary *s, const struct pmclog_rec *rec)
{
	get_pmc(s, REC32(rec, pmcattach, pmcid))->attached++;
}

static void (*const add[])(struct summary *s, const struct pmclog_rec *rec) = {
	[PMCLOG_T_INITIALIZE]		= add_init,
	[PMCLOG_T_PMCALLOCATE]		= add_allocate,
	[PMCLOG_T_PMCALLOCATEDYN]	= add_allocatedyn,
	[PMCLOG_T_DROPNOTIFY]		= add_drop,
	[PMCLOG_T_PMCATTACH]		= add_attach,
	[PMCLOG_T_PROCEXIT]		= add_procexit,
	[PMCLOG_T_PROCCSW]		= add_csw,
	[PMCLOG_T_CLOSELOG]		= add_close,
};

void summary_add(struct summary *s, const struct pmclog_rec *rec)
{
	s->nrecords++;
	s->types[rec->type & 0xFF]++;
	s->bytes += rec->stored;
	if (rec->pack)
		add_packed(s, rec);
	if (rec->tsc > s->last_tsc)
		s->last_tsc = rec->tsc;
	if (rec->type == PMCLOG_T_CALLCHAIN) {
		add_chain(s, rec);
		return;
	}
	s->unknown += record_is_unknown(rec);
	ends_log_record(&s->ends, rec);
	if (rec->type == PMCLOG_T_USERDATA)
		add_ext(s, rec);
	else if (rec->type < nitems(add) && add[rec->type])
		add[rec->type](s, rec);
}

DEFINE_ORDER(by_pmc_and_cpu, struct sum_cpu, ORDER(a->pmc, b->pmc) ?: ORDER(a->cpu, b->cpu))

void summary_sort(struct summary *s)
{
	if (s->ncpus)
		qsort(s->cpus, s->ncpus, sizeof(*s->cpus), by_pmc_and_cpu);
}
