// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_preload_cost PROCESSES FILE...: how long it takes until what so many
 * processes have mapped, all these files, has its tables: without a cache, and with.
 * The module's part is a copy and its check.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fake_tables.h"
#include "scratch.h"
#include "seconds.h"

static void map(const char *name)
{
	int fd = open(name, O_RDONLY);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			   0) == MAP_FAILED)
		perror(name);
	close(fd);
}

static void preload(const char *what, const int *pids, size_t n)
{
	static struct pmc_owner owner = { FAKE_DEVICE };
	struct pmc_preloaded did = { 0 };
	double begun = now();
	struct pmc_preload *p = pmc_preload_begin(&owner, pids, n);

	while (!pmc_preload_wait(p, 1000, &did))
		;
	printf("%s: %u processes, %u files, %.1f MB of tables, %.3f s\n", what,
	       did.processes, did.objects, (double)did.bytes / 1e6,
	       now() - begun);
	pmc_preload_end(p);
	fake_reset();
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, i;
	int *pids = calloc((size_t)n + 1, sizeof(*pids));

	if (n <= 0 || !pids)
		return 2;
	scratch_make();
	for (i = 2; i < argc; i++)
		map(argv[i]);
	for (i = 0; i < n; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	preload("without a cache", pids, (size_t)n);
	preload("with a cache", pids, (size_t)n);
	preload("all processes", NULL, 0);
	for (i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	free(pids);
	scratch_end();
	return 0;
}
