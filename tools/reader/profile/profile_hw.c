// SPDX-License-Identifier: BSD-2-Clause
/* Keys to group samples by, of what the hardware knows of them. */
#include "profile/profile.h"

static uint32_t mem_key(struct profile *p, const struct detail *d)
{
	char text[DETAIL_SOURCE_MAX];

	if (!(d->has & PMCLOG_DETAIL_SOURCE))
		return 0;
	detail_source(d->source, text);
	return strtab_id(&p->str, text);
}

static uint32_t latency_key(const struct detail *d)
{
	uint32_t latency = DETAIL_LATENCY(d->weight);

	if (!(d->has & PMCLOG_DETAIL_WEIGHT))
		return 0;
	return latency < UINT32_MAX ? latency + 1 : latency;
}

static uint32_t frame_key(struct profile *p, const struct aspace *as, uint64_t pc)
{
	uint64_t addr;
	uint32_t obj;

	profile_look_up(p, as, pc, &obj, &addr);
	return frames_id(&p->frames, obj, addr) + 1;
}

static void branch_keys(struct profile *p, const struct aspace *as,
			const struct detail *d, struct hw_keys *k)
{
	struct pmclog_branch b;

	if (!d->n)
		return;
	b = detail_branch(d, 0);
	if (p->groups.by & BY_PREDICTION)
		k->prediction = b.flags & (PMCLOG_BRANCH_MISPRED |
					   PMCLOG_BRANCH_PREDICTED);
	if (p->groups.by & BY_FROM)
		k->from = frame_key(p, as, b.from);
	if (p->groups.by & BY_TO)
		k->to = frame_key(p, as, b.to);
}

struct hw_keys profile_hw_keys(struct profile *p, const struct aspace *as,
			       const struct detail *d)
{
	struct hw_keys keys = { 0 };

	if (p->groups.by & BY_MEM)
		keys.mem = mem_key(p, d);
	if (p->groups.by & BY_LATENCY)
		keys.latency = latency_key(d);
	if (p->groups.by & BY_BRANCH)
		branch_keys(p, as, d, &keys);
	return keys;
}
