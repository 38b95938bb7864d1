// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_command_cost PROGRAM...: how long a command waits until what it will have
 * mapped has its tables: without a cache, with, and of a device without tables; the
 * shortest time.  The module's part is a copy and its check.
 */
#include <stdbool.h>
#include <stdio.h>

#include "fake_tables.h"
#include "scratch.h"
#include "seconds.h"

#define TIMES	21

static double preload(const char *program, struct pmc_preloaded *did)
{
	static struct pmc_owner owner = { FAKE_DEVICE };
	double begun = now(), took;
	struct pmc_preload *p = pmc_preload_command(&owner, program);

	while (!pmc_preload_wait(p, 1000, did))
		;
	took = (now() - begun) * 1e3;
	pmc_preload_end(p);
	return took;
}

/* What others do on the machine comes on top of it. */
static double least(const char *program, int deaf, bool cached)
{
	double took, min = 1e9;
	int i;

	for (i = 0; i < TIMES; i++) {
		fake_reset();
		fake.deaf = deaf;
		fake.err = deaf ? ENXIO : 0;
		abort_if(!cached && shell("rm -rf %s/hwpmc", scratch));
		took = preload(program, NULL);
		if (took < min)
			min = took;
	}
	return min;
}

int main(int argc, char **argv)
{
	struct pmc_preloaded did;
	int i;

	if (argc < 2)
		return 2;
	scratch_make();
	for (i = 1; i < argc; i++) {
		fake_reset();
		preload(argv[i], &did);
		printf("%s: %u files, %.1f MB of tables, ms: %.2f without a cache, "
		       "%.2f with, %.2f without tables\n", argv[i], did.objects,
		       (double)did.bytes / 1e6, least(argv[i], 0, false),
		       least(argv[i], 0, true), least(argv[i], 1, true));
	}
	fake_reset();
	scratch_end();
	return 0;
}
