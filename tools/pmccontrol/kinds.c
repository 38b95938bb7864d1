/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of cores of a hybrid processor, each with a PMU that lists its CPUs. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "kinds.h"

#define SOURCES	"/sys/bus/event_source/devices"

/* Appends "PMU on CPUs LIST"; 1 if the PMU is one of a kind of core */
static unsigned int add_kind(const struct doctor *d, const char *pmu, char *text, size_t size)
{
	size_t used = strlen(text);
	char cpus[128];

	if (!is_word(pmu) || file_line(d, cpus, sizeof(cpus), SOURCES "/%s/cpus", pmu) ||
	    !cpus[0])
		return 0;
	snprintf(text + used, size - used, "%s%s on CPUs %s", used ? ", " : "", pmu, cpus);
	return 1;
}

unsigned int kinds_text(const struct doctor *d, char *text, size_t size)
{
	struct dirent **entry = NULL;
	unsigned int kinds = 0;
	char path[PATH_ROOM];
	int i, n;

	text[0] = '\0';
	snprintf(path, sizeof(path), "%s" SOURCES, d->root);
	n = scandir(path, &entry, NULL, alphasort);
	for (i = 0; i < n; i++) {
		kinds += add_kind(d, entry[i]->d_name, text, size);
		free(entry[i]);
	}
	free(entry);
	return kinds;
}
