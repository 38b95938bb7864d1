// SPDX-License-Identifier: BSD-2-Clause
/* How the iterator continues after a damaged record. */
#include <string.h>

#include "pmclog_iter_parts.h"
#include "pmclog_resync.h"

/* The first records are searched up to this far from the start of a log. */
#define START_SIZE	(64U << 10)

void pmclog_iter_count_gap(struct pmclog_iter *it, uint64_t offset, size_t n)
{
	uint64_t twice = it->gap_end > offset ? it->gap_end - offset : 0;

	/* skipped samples, then the rest of their pack */
	if (twice && twice >= n)
		return;
	offset += twice;
	n -= twice;
	if (!it->gaps)
		it->gap_first = offset;
	if (!it->gaps || offset != it->gap_end)
		it->gaps++;
	it->skipped += n;
	it->gap_end = offset + n;
}

void pmclog_iter_resync(struct pmclog_iter *it)
{
	it->resync = true;
}

uint64_t pmclog_iter_gaps(const struct pmclog_iter *it, uint64_t *first,
			  uint64_t *bytes)
{
	struct pmclog_iter now = *it;

	if (it->held && it->p != it->end)
		pmclog_iter_count_gap(&now, it->offset, it->end - it->p);
	*first = now.gap_first;
	*bytes = now.skipped;
	return now.gaps;
}

/*
 * A record longer than the bytes left looks like one that the end of the file has
 * cut.  It is one unless records follow; then the file may still grow.
 */
static enum pmclog_iter_status go_on_at_end(struct pmclog_iter *it)
{
	bool found;
	size_t n = pmclog_resync(&it->session, it->p, it->end - it->p, true,
				 true, &found);

	it->lost = false;
	if (!found)
		return PMCLOG_ITER_ERROR;
	pmclog_iter_count_gap(it, it->offset, n);
	pmclog_iter_step(it, n);
	return PMCLOG_ITER_RECORD;
}

/*
 * At the end of what may grow a record may be cut that is not damaged: it is skipped
 * only if nothing follows.
 */
enum pmclog_iter_status pmclog_iter_go_on(struct pmclog_iter *it)
{
	enum pmclog_iter_status status;
	bool found, last = it->source == SOURCE_MEM;
	size_t n;

	it->held = false;
	for (;;) {
		n = pmclog_resync(&it->session, it->p, it->end - it->p,
				  it->bad, last, &found);
		it->held = last && !found && it->source != SOURCE_MEM;
		if (n && !it->held) {
			it->bad = false;
			pmclog_iter_count_gap(it, it->offset, n);
			pmclog_iter_step(it, n);
		}
		it->lost = !found;
		if (found)
			return PMCLOG_ITER_RECORD;
		if (last)
			return pmclog_iter_at_end(it);
		status = pmclog_iter_more(it);
		last = status == PMCLOG_ITER_EOF;
		if (!last && status != PMCLOG_ITER_RECORD)
			return status;
	}
}

/*
 * A log whose first record is missing or damaged.  Not for files that are known
 * not to be readable as a log.
 */
static enum pmclog_iter_status start_anyway(struct pmclog_iter *it)
{
	enum pmclog_iter_status status;
	bool swap;
	size_t n;

	if (it->guessed || it->source == SOURCE_FEED ||
	    pmclog_era_first(it->p, &swap) || pmclog_era_window(it->p) ||
	    pmclog_era_archive(it->p))
		return PMCLOG_ITER_ERROR;
	while (it->end - it->p < START_SIZE) {
		status = pmclog_iter_more(it);
		if (status == PMCLOG_ITER_EOF)
			break;
		if (status != PMCLOG_ITER_RECORD)
			return status;
	}
	it->guessed = true;
	n = it->end - it->p;
	if (!pmclog_resync_start(&it->session, it->p,
				 n < START_SIZE ? n : START_SIZE, &n))
		return PMCLOG_ITER_ERROR;
	pmclog_iter_count_gap(it, it->offset, n);
	pmclog_iter_step(it, n);
	return PMCLOG_ITER_RECORD;
}

enum pmclog_iter_status pmclog_iter_recover(struct pmclog_iter *it)
{
	bool cut = !strcmp(it->error, "truncated record");

	if (it->session.format.era == PMCLOG_ERA_NONE)
		return cut ? PMCLOG_ITER_ERROR : start_anyway(it);
	it->inside = 0;
	it->lost = true;
	it->bad = true;
	return cut ? go_on_at_end(it) : pmclog_iter_go_on(it);
}

enum pmclog_iter_status pmclog_iter_cut_here(struct pmclog_iter *it)
{
	size_t left = it->end - it->p;

	if (it->source != SOURCE_WINDOW || !it->damaged || it->inside)
		return PMCLOG_ITER_ERROR;
	if (pmclog_iter_move(it) == PMCLOG_ITER_ERROR)
		return PMCLOG_ITER_ERROR;
	return (size_t)(it->end - it->p) < left ? PMCLOG_ITER_RECORD :
						  PMCLOG_ITER_ERROR;
}
