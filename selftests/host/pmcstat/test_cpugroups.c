/* SPDX-License-Identifier: BSD-2-Clause */
/* --writers: groups of the CPUs of machines that are not this one. */

#include "faketree.h"
#include "pmcstat.h"
#include "tap.h"

static char msg[256];

/* "0,1-2" for what is in a group */
static const char *list(const struct cpugroup *g)
{
	static char text[512];
	int cpu, from = -1;
	size_t n = 0;

	text[0] = '\0';
	for (cpu = 0; cpu <= (int)g->len * 8; cpu++) {
		int in = cpu < (int)g->len * 8 && g->mask[cpu / 8] >> cpu % 8 & 1;

		if (in && from < 0)
			from = cpu;
		if (in || from < 0)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", n ? "," : "",
				      from);
		if (cpu - 1 > from)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%d", cpu - 1);
		from = -1;
	}
	return text;
}

/* The groups, with a space between two; or what is said */
static const char *groups(unsigned int want)
{
	static char text[1024];
	struct cpugroup *g;
	unsigned int n, i;

	text[0] = '\0';
	if (cpugroups_make(scratch, want, &g, &n, msg, sizeof(msg)))
		return msg;
	for (i = 0; i < n; i++) {
		if (i)
			strcat(text, " ");
		strcat(text, list(&g[i]));
	}
	free(g);
	return text;
}

#define GROUPS(want, expected, name)					\
	ok(!strcmp(groups(want), expected), name " (%s)", groups(want))

static void machine(const char *possible, const char *online)
{
	put(possible, "sys/devices/system/cpu/possible");
	put(online, "sys/devices/system/cpu/online");
}

int main(void)
{
	scratch_begin();
	GROUPS(2, "--writers: the machine's CPUs cannot be read", "no machine");
	machine("0-7\n", "0-7\n");
	GROUPS(1, "0-7", "one group has all");
	GROUPS(2, "0-3 4-7", "halves");
	GROUPS(3, "0-2 3-5 6-7", "thirds of eight");
	GROUPS(8, "0 1 2 3 4 5 6 7", "a group for each");
	GROUPS(9, "--writers 9: there are 8 CPUs online", "more than there are CPUs");
	GROUPS(WRITERS_OF_NODES, "0-7", "a kernel without nodes has one");
	machine("0-15\n", "0,2-3,9\n");
	GROUPS(2, "0-2 3-15", "CPUs that are offline belong to a group");
	GROUPS(4, "0 1-2 3 4-15", "each group has one that is online");
	machine("0-8\n", "0-7\n");
	put("0-3\n", "sys/devices/system/node/online");
	put("0-1,4-5\n", "sys/devices/system/node/node0/cpulist");
	put("\n", "sys/devices/system/node/node1/cpulist");
	put("2-3\n", "sys/devices/system/node/node2/cpulist");
	put("6-7\n", "sys/devices/system/node/node3/cpulist");
	GROUPS(WRITERS_OF_NODES, "0-1,4-5 2-3 6-8", "nodes, without one that has only memory");
	GROUPS(3, "0-1,4-5 2-3 6-8", "as many groups as nodes are nodes");
	GROUPS(2, "0-3 4-8", "fewer are not");
	GROUPS(4, "0-1 2-3 4-5 6-8", "nor are more");
	machine("0-4094\n", "0-4094\n");
	GROUPS(2, "0-2047 2048-4094", "as many CPUs as there can be");
	scratch_end();
	return done();
}
