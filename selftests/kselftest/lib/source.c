// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "source.h"

struct hwpmc_allocate pmc_tracepoint(uint32_t mode, uint64_t id)
{
	struct hwpmc_allocate a = pmc_counter(PERF_TYPE_TRACEPOINT, id);

	a.mode = mode;
	if (mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS)
		a.flags = HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
	if (mode == HWPMC_MODE_TS || mode == HWPMC_MODE_TC)
		a.cpu = HWPMC_CPU_ANY;
	return a;
}

struct hwpmc_allocate pmc_breakpoint(uint32_t mode, uint32_t type,
				     volatile const void *addr, uint64_t len)
{
	struct hwpmc_allocate a = pmc_tracepoint(mode, 0);

	a.type = PERF_TYPE_BREAKPOINT;
	a.bp_type = type;
	a.config1 = (uintptr_t)addr;
	a.config2 = len;
	a.caps = HWPMC_CAP_USER;
	return a;
}

/* A sample, and the raw data behind it. */
struct hit {
	struct sample	s;
	bool		is_raw;
	uint32_t	len;
	uint32_t	size;
	const void	*data;
};

static void tally_hit(struct tally *t, const struct hit *h)
{
	const char *name;

	if (h->s.pmcid != t->pmcid || h->s.pid != t->pid)
		return;
	t->n++;
	t->raws += h->is_raw;
	t->cut += h->len < h->size;
	if (h->is_raw &&
	    (!t->nth.size || tracefs_value(&t->nth, h->data, h->len) ==
			     t->next + t->plus) &&
	    (!t->arg.size || (uint32_t)tracefs_value(&t->arg, h->data,
						     h->len) == t->want))
		t->right++;
	t->next++;
	if (!t->fn)
		return;
	name = symbols_name(t->symbols, h->s.pc[0]);
	if (!strncmp(name, t->fn, strlen(t->fn)))
		t->there++;
	else
		snprintf(t->elsewhere, sizeof(t->elsewhere), "%s", name);
}

static void add_raw(struct hit *h, const struct pmclog_rec *rec, bool behind,
		    struct tally *t)
{
	if (!behind || rec->tsc != h->s.tsc || REC32(rec, ext_raw, tid) != h->s.tid ||
	    REC32(rec, ext_raw, pmcid) != h->s.pmcid) {
		t->loose++;
		return;
	}
	h->is_raw = true;
	h->len = REC32(rec, ext_raw, len);
	h->size = REC32(rec, ext_raw, size);
	h->data = RAW_DATA(rec);
	if (h->len > PMCLOG_RAW_MAX || h->len > h->size ||
	    h->len + sizeof(struct pmclog_ext_raw) > rec->len)
		t->loose++;
}

void tally(struct tally *t, struct log *log)
{
	struct pmclog_rec rec;
	bool behind = false;
	struct hit h;

	LOG_FOR_EACH(log, rec) {
		if (IS_EXT(&rec, RAW)) {
			add_raw(&h, &rec, behind, t);
			if (behind)
				tally_hit(t, &h);
			behind = false;
			continue;
		}
		if (behind)
			tally_hit(t, &h);
		memset(&h, 0, offsetof(struct hit, s.pc));
		h.is_raw = false;
		h.len = 0;
		h.size = 0;
		behind = log_sample(&rec, &h.s);
	}
}

void log_fields(struct log *log, unsigned int *fields, unsigned int *raws)
{
	struct pmclog_rec rec;

	*fields = 0;
	*raws = 0;
	LOG_FOR_EACH(log, rec) {
		if (IS_EXT(&rec, RAW))
			++*raws;
		else if (IS_EXT(&rec, FIELDS))
			*fields += !*raws;
	}
}
