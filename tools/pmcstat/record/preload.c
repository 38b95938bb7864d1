/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables of the command, and of programs that run when the recording
 * begins: until the tables are made, chains are cut.  The recording waits for
 * them for a limited time.  Tables of what is mapped later are made when the
 * module asks for them.
 *
 * Threads of libpmc do all this.  The main loop does not: if the server of a
 * file does not answer, it could not end the recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/base/numbers.h"
#include "pmcstat.h"
#include "record/targets.h"

#define PATIENCE_MS	2000
#define COMMAND_MS	1000	/* the user waits for the command */

static struct pmc_preload *of_processes, *of_command;
static struct pmc_unwinder *of_later;
static int told;

/* True if a PMC of this mode takes user chains by unwind tables. */
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

/* 1 if all tables were made; @did has the counts */
static int wait_for(const struct options *o, struct pmc_preload *p,
		    unsigned int ms, struct pmc_preloaded *did)
{
	if (!p)
		return 0;
	if (pmc_preload_wait(p, ms, did))
		return 1;
	if (o->verbose)
		warn_line("unwind tables: more are made meanwhile");
	return 0;
}

/* A name that is not in PATH is left for exec to report. */
static void begin_command(const struct options *o, struct pmc_owner *owner,
			  const char *path)
{
	struct pmc_preloaded did;

	if (!path || !strchr(path, '/') ||
	    !(unwinds(o, PMC_MODE_TS) || unwinds(o, PMC_MODE_SS)))
		return;
	of_command = pmc_preload_command(owner, path);
	if (wait_for(o, of_command, COMMAND_MS, &did) && o->verbose &&
	    did.objects)
		warn_line("unwind tables of %u %s of the command: %.1f MB",
			  did.objects, plural(did.objects, "file", "files"),
			  (double)did.bytes / 1e6);
}

static void begin_processes(const struct options *o, struct pmc_owner *owner,
			    const struct targets *t)
{
	struct pmc_preloaded did;

	if (unwinds(o, PMC_MODE_SS))
		of_processes = pmc_preload_begin(owner, NULL, 0);
	else if (t->n && unwinds(o, PMC_MODE_TS))
		of_processes = of_targets(owner, t);
	if (wait_for(o, of_processes, PATIENCE_MS, &did) && o->verbose &&
	    did.objects)
		warn_line("unwind tables of %u %s in %u %s: %.1f MB",
			  did.objects, plural(did.objects, "file", "files"),
			  did.processes,
			  plural(did.processes, "process", "processes"),
			  (double)did.bytes / 1e6);
}

static void begin_later(const struct options *o, struct pmc_owner *owner)
{
	if (!unwinds(o, PMC_MODE_TS) && !unwinds(o, PMC_MODE_SS))
		return;
	of_later = pmc_unwinder_begin(owner);
	probes_unwinder(of_later);
	if (!of_later && !o->quiet)
		warn_line("no thread for unwind tables: %s; user chains are "
			  "cut in programs that begin later",
			  strerror(errno));
}

/*
 * The command comes first, even in a system-wide recording: the user asked for
 * it.
 */
void preload_begin(const struct options *o, struct pmc_owner *owner,
		   const struct targets *t, const char *command)
{
	begin_command(o, owner, command);
	begin_processes(o, owner, t);
	begin_later(o, owner);
}

/* A user has no other sign of it than chains that are cut. */
void preload_look(const struct options *o)
{
	if (told || o->quiet || !of_later ||
	    pmc_unwinder_refused(of_later) != EDQUOT)
		return;
	told = 1;
	warn_line("no room for more unwind tables (max_ringmem): user chains "
		  "without one are by frame pointers, or cut");
}

void preload_end(const struct options *o)
{
	preload_look(o);
	probes_unwinder(NULL);
	pmc_unwinder_end(of_later);
	of_later = NULL;
	pmc_preload_end(of_command);
	pmc_preload_end(of_processes);
	of_command = of_processes = NULL;
}
