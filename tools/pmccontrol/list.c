/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists how the rows of each CPU are used. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "kinds.h"
#include "pmccontrol.h"

static const char *or_unknown(const char *name)
{
	return name ? name : "?";
}

static void print_lower(const char *word)
{
	for (; *word; word++)
		putchar(tolower((unsigned char)*word));
}

/* A row without a name is one that we may not see. */
static void print_user(const struct hwpmc_pmcinfo_row *r)
{
	if (!r->name[0])
		return;
	if (r->owner_pid >= 0)
		printf(" (pid %d)", r->owner_pid);
	else
		printf(" (pid ?)");
	printf(" %.*s (%s, ", (int)sizeof(r->name), r->name,
	       or_unknown(pmc_name_of_mode((enum pmc_mode)r->mode)));
	print_lower(or_unknown(pmc_name_of_state((enum pmc_state)r->state)));
	if (PMC_IS_SAMPLING_MODE(r->mode))
		printf(", reload count %llu", (unsigned long long)r->reload);
	putchar(')');
}

static void print_row(const struct hwpmc_pmcinfo_row *r)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-%u", or_unknown(pmc_name_of_class(
			 (enum pmc_class)r->pmc_class)), r->row);
	printf(" %-3u %-16s %-6s %-8s %*s", r->row, name,
	       or_unknown(pmc_name_of_class((enum pmc_class)r->pmc_class)),
	       r->enabled ? "ENABLED" : "DISABLED", r->name[0] ? -10 : 0,
	       or_unknown(pmc_name_of_disposition(
				  (enum pmc_disp)r->disposition)));
	print_user(r);
	putchar('\n');
}

static void print_free(const struct hwpmc_pmcinfo_row *rows, size_t n,
		       size_t npmc)
{
	unsigned char *is_free = malloc(npmc);
	char *text;
	size_t i;

	if (!is_free)
		die(EX_OSERR, "out of memory");
	memset(is_free, 1, npmc);
	for (i = 0; i < n; i++)
		if (rows[i].row < npmc)
			is_free[rows[i].row] = 0;
	text = ranges_text(is_free, npmc);
	if (text[0])
		printf(" rows %s free\n", text);
	else
		printf(" no row is free\n");
	free(text);
	free(is_free);
}

static void list_cpu(struct pmc_owner *owner, int cpu, size_t npmc)
{
	struct hwpmc_pmcinfo_row *rows;
	size_t n, i;

	if (pmc_owner_pmcinfo(owner, cpu, &rows, &n)) {
		/* offline, or a gap in the numbers */
		if (errno == ENXIO || errno == EINVAL)
			return;
		die(EX_OSERR, "cannot list the rows of CPU %d: %s", cpu,
		    strerror(errno));
	}
	printf("#CPU %d:\n", cpu);
	if (n)
		printf("#N   NAME             CLASS  STATE    ROW-DISP\n");
	for (i = 0; i < n; i++)
		print_row(&rows[i]);
	print_free(rows, n, npmc);
	free(rows);
}

static void print_kinds(void)
{
	const struct doctor here = { .root = "" };
	char kinds[LINE_ROOM];

	if (kinds_text(&here, kinds, sizeof(kinds)) > 1)
		printf("kinds of cores: %s\n", kinds);
}

int list_rows(struct pmc_owner *owner)
{
	const struct hwpmc_cpuinfo *info = cpuinfo(owner);
	unsigned int cpu;

	puts("pmcstat records by the module (without --bpf)");
	printf("%u %s CPUs online, with %u PMCs per CPU and owner\n",
	       info->ncpu_online,
	       or_unknown(pmc_name_of_cputype((enum pmc_cputype)info->cputype)),
	       info->npmc);
	print_kinds();
	for (cpu = 0; cpu < info->ncpu; cpu++)
		list_cpu(owner, (int)cpu, info->npmc);
	return 0;
}
