/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of CPUs: "*", "0,2-3". */
#include <ctype.h>
#include <string.h>

#include "base/cpulist.h"

static int parse_cpu(const char **text, int *cpu)
{
	const char *p = *text;

	if (!isdigit((unsigned char)*p))
		return -1;
	for (*cpu = 0; isdigit((unsigned char)*p); p++) {
		*cpu = *cpu * 10 + (*p - '0');
		if (*cpu >= CPU_LIMIT)
			return -1;
	}
	*text = p;
	return 0;
}

static int parse_range(const char **text, int *first, int *last)
{
	if (parse_cpu(text, first))
		return -1;
	*last = *first;
	if (**text != '-')
		return 0;
	++*text;
	return parse_cpu(text, last) || *last < *first ? -1 : 0;
}

int cpulist_parse(struct cpulist *list, const char *text)
{
	int first, last;

	memset(list, 0, sizeof(*list));
	if (!strcmp(text, "*")) {
		list->all = 1;
		return 0;
	}
	for (;; text++) {
		if (parse_range(&text, &first, &last))
			return -1;
		memset(list->set + first, 1, (size_t)(last - first + 1));
		if (*text != ',')
			return *text ? -1 : 0;
	}
}
