/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of what runs already when a recording begins: chains would be cut
 * until they are made.  The recording waits for them, but not for long.
 */
#include <stdlib.h>

#include "../reader/base/plural.h"
#include "pmcstat.h"
#include "targets.h"

#define PATIENCE_MS	2000

static struct pmc_preload *preload;

/* Is there a PMC of this mode that takes chains by tables? */
static int unwinds(const struct options *o, enum pmc_mode mode)
{
	const uint32_t flags = PMC_F_CALLCHAIN | PMC_F_UNWIND;
	size_t i;

	for (i = 0; i < o->ncounters; i++)
		if (o->counters[i].mode == mode &&
		    (o->counters[i].flags & flags) == flags)
			return 1;
	return 0;
}

static struct pmc_preload *of_targets(struct pmc_owner *owner,
				      const struct targets *t)
{
	struct pmc_preload *p;
	int *pids;
	size_t i;

	pids = calloc(t->n, sizeof(*pids));
	if (!pids)
		return NULL;
	for (i = 0; i < t->n; i++)
		pids[i] = t->target[i].pid;
	p = pmc_preload_begin(owner, pids, t->n);
	free(pids);
	return p;
}

/* A command that has not begun has nothing to be looked at. */
void preload_begin(const struct options *o, struct pmc_owner *owner,
		   const struct targets *t)
{
	struct pmc_preloaded did;

	if (unwinds(o, PMC_MODE_SS))
		preload = pmc_preload_begin(owner, NULL, 0);
	else if (t->n && unwinds(o, PMC_MODE_TS))
		preload = of_targets(owner, t);
	if (!preload)
		return;
	if (!pmc_preload_wait(preload, PATIENCE_MS, &did)) {
		if (o->verbose)
			warn_line("unwind tables: more are made meanwhile");
		return;
	}
	if (o->verbose && did.objects)
		warn_line("unwind tables of %u %s in %u %s: %.1f MB",
			  did.objects, plural(did.objects, "file", "files"),
			  did.processes,
			  plural(did.processes, "process", "processes"),
			  (double)did.bytes / 1e6);
}

void preload_end(void)
{
	pmc_preload_end(preload);
	preload = NULL;
}
