/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --writers: the machine's CPUs in groups of neighbours, or by NUMA node.
 *
 * A CPU that is offline belongs to a group as well, because it may come online.
 */
#include <stdlib.h>
#include <string.h>

#include "libpmc_event.h"
#include "pmcstat.h"

struct machine {
	struct cpulist	possible;
	struct cpulist	online;
	unsigned int	nonline;
};

static int read_list(const char *root, const char *path, struct cpulist *list)
{
	char line[4096];

	if (pmc_file_text(line, sizeof(line), "%s/sys/devices/system/%s", root, path) < 0)
		return -1;
	memset(list, 0, sizeof(*list));
	/* a node without CPUs has an empty line */
	return line[0] ? cpulist_parse(list, line) : 0;
}

static int read_machine(const char *root, struct machine *m)
{
	int cpu;

	if (read_list(root, "cpu/possible", &m->possible) ||
	    read_list(root, "cpu/online", &m->online))
		return -1;
	m->nonline = 0;
	for (cpu = 0; cpu < CPU_LIMIT; cpu++)
		m->nonline += m->online.set[cpu];
	return m->nonline ? 0 : -1;
}

static void add(struct cpugroup *g, int cpu, int online)
{
	g->mask[cpu / 8] |= (unsigned char)(1U << cpu % 8);
	g->len = sizeof(g->mask);
	g->ncpus += (unsigned int)online;
}

/* Groups of neighbours, whose sizes differ by one at most. */
static void group_neighbours(const struct machine *m, struct cpugroup *g,
			     unsigned int n)
{
	unsigned int seen = 0;
	int cpu;

	for (cpu = 0; cpu < CPU_LIMIT; cpu++) {
		if (!m->possible.set[cpu])
			continue;
		add(&g[(seen < m->nonline ? seen : m->nonline - 1) * (uint64_t)n /
		       m->nonline], cpu, m->online.set[cpu]);
		seen += m->online.set[cpu];
	}
}

/*
 * Groups of nodes that have CPUs.  Returns their number, @max at most are filled in.  The
 * node of a CPU that is offline is not known: it is in the last group.
 */
static unsigned int group_nodes(const char *root, struct machine *m,
				struct cpugroup *g, unsigned int max)
{
	struct cpulist nodes, cpus, left = m->possible;
	unsigned int n = 0, found;
	char path[64];
	int node, cpu;

	if (read_list(root, "node/online", &nodes))
		return 0;
	for (node = 0; node < CPU_LIMIT; node++) {
		snprintf(path, sizeof(path), "node/node%d/cpulist", node);
		if (!nodes.set[node] || read_list(root, path, &cpus))
			continue;
		for (found = 0, cpu = 0; cpu < CPU_LIMIT; cpu++) {
			if (!cpus.set[cpu] || !left.set[cpu])
				continue;
			found++;
			left.set[cpu] = 0;
			if (n < max)
				add(&g[n], cpu, m->online.set[cpu]);
		}
		n += !!found;
	}
	for (cpu = 0; cpu < CPU_LIMIT && n && n <= max; cpu++)
		if (left.set[cpu])
			add(&g[n - 1], cpu, m->online.set[cpu]);
	return n;
}

int cpugroups_make(const char *root, unsigned int want, struct cpugroup **groups,
		   unsigned int *n, char *msg, size_t msglen)
{
	unsigned int max = want == WRITERS_OF_NODES ? WRITERS_MAX : want;
	struct cpugroup *g = calloc(max, sizeof(*g));
	unsigned int nodes;
	struct machine m;

	if (!g || read_machine(root, &m)) {
		snprintf(msg, msglen, "--writers: the machine's CPUs cannot be read");
		free(g);
		return -1;
	}
	if (want != WRITERS_OF_NODES && want > m.nonline) {
		snprintf(msg, msglen, "--writers %u: there are %u CPUs online", want,
			 m.nonline);
		free(g);
		return -1;
	}
	nodes = group_nodes(root, &m, g, max);
	if (want == WRITERS_OF_NODES && !nodes)		/* a kernel without nodes */
		max = 1;
	if (want == WRITERS_OF_NODES && nodes)
		max = nodes < max ? nodes : max;
	if (nodes != max) {
		memset(g, 0, max * sizeof(*g));
		group_neighbours(&m, g, max);
	}
	*groups = g;
	*n = max;
	return 0;
}
