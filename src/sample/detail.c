// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PMU's hardware has recorded of a sample: the branches before it, and the
 * access to memory.
 *
 * Runs in the overflow handler (see sample.c).  The data is perf's, for this CPU: it
 * does not change until the handler returns.
 */
#include <linux/perf_event.h>

#include "compat.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "record.h"
#include "sample.h"

/* Number of branches that perf has, without those that are too many. */
static u32 branches_taken(const struct perf_branch_stack *br)
{
	return min_t(u64, READ_ONCE(br->nr), PMCLOG_BRANCH_MAX);
}

/* Bytes that hwpmc_detail_fill() needs in the ring, at most; 0: the PMU knows nothing. */
u32 hwpmc_detail_room(const struct hwpmc_pmc *pmc,
		      const struct perf_sample_data *data)
{
	const struct perf_branch_stack *br =
		pmc->flags & HWPMC_F_BRANCH ? compat_branches(data) : NULL;

	if (!br && !((pmc->flags & HWPMC_F_DATA) && compat_access_fields(data)))
		return 0;
	return sizeof(struct ring_detail) +
	       (br ? branches_taken(br) : 0) * sizeof(struct pmclog_branch);
}

static bool is_kernel_address(u64 addr)
{
	return addr >= TASK_SIZE_MAX;
}

/*
 * May the log not have this branch?  Hardware that selects branches by mode may select
 * by one of the two addresses, and not all hardware does.
 */
static bool branch_is_hidden(const struct hwpmc_pmc *pmc,
			     const struct perf_branch_entry *b)
{
	return !(pmc->attr.branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL) &&
	       (is_kernel_address(b->from) || is_kernel_address(b->to));
}

/* The third word of an entry consists of bit fields. */
static u64 flags_of(const struct perf_branch_entry *b)
{
	u64 flags;

	BUILD_BUG_ON(sizeof(*b) != sizeof(struct pmclog_branch));
	memcpy(&flags, (const u8 *)b + offsetof(struct pmclog_branch, flags),
	       sizeof(flags));
	return flags & PMCLOG_BRANCH_KNOWN;
}

/* @max: number of entries that fit */
static void fill_branches(struct ring_detail *d, const struct hwpmc_pmc *pmc,
			  const struct perf_branch_stack *br, u32 max)
{
	u64 nr = READ_ONCE(br->nr);
	u32 i;

	d->has |= PMCLOG_DETAIL_BRANCHES;
	for (i = 0; i < nr && i < max; i++) {
		const struct perf_branch_entry *b = &br->entries[i];

		if (branch_is_hidden(pmc, b))
			continue;
		d->branch[d->n++] = (struct pmclog_branch){
			.from = b->from,
			.to = b->to,
			.flags = flags_of(b),
		};
	}
	d->hidden = nr - d->n;
}

/* perf has the address of each fault and of each access that it samples */
static void fill_access(struct ring_detail *d, const struct hwpmc_pmc *pmc,
			const struct perf_sample_data *data)
{
	const u64 fields = compat_access_fields(data);

	if (fields & PERF_SAMPLE_DATA_SRC) {
		d->has |= PMCLOG_DETAIL_SOURCE;
		d->source = data->data_src.val;
	}
	if (fields & PERF_SAMPLE_WEIGHT_TYPE) {
		d->has |= PMCLOG_DETAIL_WEIGHT;
		d->weight = data->weight.full;
	}
	if ((fields & PERF_SAMPLE_ADDR) &&
	    !(pmc->attr.exclude_kernel && is_kernel_address(data->addr))) {
		d->has |= PMCLOG_DETAIL_ADDR;
		d->addr = data->addr;
	}
}

/* @room: as hwpmc_detail_room() has returned it */
void hwpmc_detail_fill(struct ring_detail *d, const struct hwpmc_pmc *pmc,
		       const struct perf_sample_data *data, u32 room)
{
	const struct perf_branch_stack *br = compat_branches(data);

	*d = (struct ring_detail){};
	if ((pmc->flags & HWPMC_F_BRANCH) && br)
		fill_branches(d, pmc, br, (room - sizeof(*d)) / sizeof(d->branch[0]));
	if (pmc->flags & HWPMC_F_DATA)
		fill_access(d, pmc, data);
}
