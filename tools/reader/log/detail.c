// SPDX-License-Identifier: BSD-2-Clause
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "log/detail.h"

#define U32(rec, field)	REC32(rec, ext_detail, field)
#define U64(rec, field)	REC64(rec, ext_detail, field)

struct detail detail_of(const struct pmclog_rec *rec)
{
	const size_t fixed = sizeof(struct pmclog_ext_detail);

	/* the library has made sure that the record has only whole branches */
	return (struct detail){
		.has = U32(rec, has), .hidden = U32(rec, hidden),
		.n = (uint32_t)((rec->len - fixed) / sizeof(struct pmclog_branch)),
		.source = U64(rec, source), .weight = U64(rec, weight),
		.addr = U64(rec, addr), .branch = rec->data + fixed,
	};
}

bool detail_follows(const struct pmclog_rec *sample, const struct pmclog_rec *rec)
{
	return pmclog_iter_ext_subtype(rec) == PMCLOG_EXT_DETAIL &&
	       rec->tsc == sample->tsc &&
	       U32(rec, pmcid) == REC32(sample, callchain, pmcid) &&
	       U32(rec, tid) == REC32(sample, callchain, tid);
}

struct pmclog_branch detail_branch(const struct detail *d, uint32_t i)
{
	const unsigned char *p = d->branch + i * sizeof(struct pmclog_branch);

	return (struct pmclog_branch){
		.from = pmclog_get64(p + offsetof(struct pmclog_branch, from)),
		.to = pmclog_get64(p + offsetof(struct pmclog_branch, to)),
		.flags = pmclog_get64(p + offsetof(struct pmclog_branch, flags)),
	};
}

const char *detail_prediction(uint64_t flags)
{
	if (flags & PMCLOG_BRANCH_MISPRED)
		return "mispredicted";
	return flags & PMCLOG_BRANCH_PREDICTED ? "predicted" : "";
}

const char *detail_branch_type(uint64_t flags)
{
	static const char *const types[] = {
		NULL, "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX",
	};
	uint32_t type = PMCLOG_BRANCH_TYPE(flags);

	return type < nitems(types) ? types[type] : NULL;
}

/* One of several names by a bit or a number; @at: position of the field */
#define SOURCE(source, field, bits) \
	((uint32_t)((source) >> PERF_MEM_##field##_SHIFT) & ((1U << (bits)) - 1))

/* Newer PMUs tell the level by number. */
static const char *level_by_number(uint32_t number)
{
	static const char *const levels[] = {
		[1] = "L1", [2] = "L2", [3] = "L3", [4] = "L4", [5] = "L2 MHB",
		[6] = "Memory-side Cache", [7] = "L0", [8] = "Uncached", [9] = "CXL",
		[10] = "I/O", [11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM",
		[14] = "PMEM",
	};

	return number < nitems(levels) ? levels[number] : NULL;
}

static const char *level_by_bit(uint32_t level)
{
	static const char *const levels[] = {
		[3] = "L1", [4] = "LFB/MAB", [5] = "L2", [6] = "L3",
		[7] = "Local RAM", [8] = "Remote RAM (1 hop)",
		[9] = "Remote RAM (2 hops)", [10] = "Remote Cache (1 hop)",
		[11] = "Remote Cache (2 hops)", [12] = "I/O", [13] = "Uncached",
	};
	uint32_t bit;

	for (bit = 3; bit < nitems(levels); bit++)
		if (level & 1U << bit)
			return levels[bit];
	return NULL;
}

void detail_source(uint64_t source, char text[DETAIL_SOURCE_MAX])
{
	uint32_t level = SOURCE(source, LVL, 14);
	const char *name = level_by_number(SOURCE(source, LVLNUM, 4));
	const char *hit = level & PERF_MEM_LVL_MISS ? " miss" :
			  level & PERF_MEM_LVL_HIT ? " hit" : "";
	const char *remote = "";

	if (!name)
		name = level_by_bit(level);
	else if (SOURCE(source, REMOTE, 1))
		remote = "Remote ";
	if (name)
		snprintf(text, DETAIL_SOURCE_MAX, "%s%s%s", remote, name, hit);
	else
		strcpy(text, "N/A");
}

const char *detail_access(uint64_t source)
{
	uint32_t op = SOURCE(source, OP, 5);

	switch (op & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE)) {
	case PERF_MEM_OP_LOAD:
		return "load";
	case PERF_MEM_OP_STORE:
		return "store";
	case PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE:
		return "load store";
	default:
		return "";
	}
}
