/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hybrid processors: each kind of core has a PMU of its own, whose "cpus" in sysfs lists
 * its CPUs.  An event that names no PMU stands for one event of each.
 */
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"

#define ONLINE	"/sys/devices/system/cpu/online"

struct cores {
	const char	*root;
	struct pmc_core	*core;
	size_t		n;
};

static int add_core(void *arg, const char *pmu)
{
	struct cores *c = arg;
	struct pmc_core *core = &c->core[c->n];

	if (strlen(pmu) >= sizeof(core->name) ||
	    pmc_pmu_core_cpus(c->root, pmu, core->cpus, sizeof(core->cpus)) ||
	    pmc_pmu_type(c->root, pmu, &core->type))
		return 0;
	strcpy(core->name, pmu);
	return ++c->n == PMC_CORES_MAX;
}

/* The PMU whose events perf takes for generic ones has the lowest number. */
static int by_type(const void *a, const void *b)
{
	const struct pmc_core *c = a, *d = b;

	return c->type < d->type ? -1 : c->type > d->type;
}

size_t pmc_cores_at(const char *root, struct pmc_core core[PMC_CORES_MAX])
{
	struct cores c = { root, core, 0 };

	pmc_pmu_each(root, add_core, &c);
	qsort(core, c.n, sizeof(*core), by_type);
	return c.n;
}

/* ------------------------------------------------------------------------
 * Lists of CPUs, such as "0-3,8"
 */

/* The next range; NULL: there are no more */
static const char *next_range(const char *list, unsigned long *first,
			      unsigned long *last)
{
	char *end;

	if (!isdigit((unsigned char)*list))
		return NULL;
	*first = *last = strtoul(list, &end, 10);
	if (*end == '-')
		*last = strtoul(end + 1, &end, 10);
	return *end == ',' ? end + 1 : end;
}

/* Has @list all CPUs of a range?  Its own ranges are sorted, and do not touch. */
static int has_range(const char *list, unsigned long first, unsigned long last)
{
	unsigned long from, to;

	while ((list = next_range(list, &from, &to)))
		if (from <= first && last <= to)
			return 1;
	return 0;
}

int pmc_cpus_have(const char *list, const char *cpus)
{
	unsigned long first, last;

	while ((cpus = next_range(cpus, &first, &last)))
		if (!has_range(list, first, last))
			return 0;
	return 1;
}

/* ------------------------------------------------------------------------
 * Events
 */
static int is_generic(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;
}

uint32_t pmc_core_type(const struct pmc_event_desc *d)
{
	return is_generic(d->type) && d->config >> 32 ?
	       (uint32_t)(d->config >> 32) : d->type;
}

/*
 * In a process, perf counts an event without a PMU's number by the first core PMU, and
 * raw events, too.
 */
int pmc_core_is_of_some(const char *root, const struct pmc_event_desc *d)
{
	struct pmc_core core[PMC_CORES_MAX];
	uint32_t type = pmc_core_type(d);
	char online[LIST_MAX];
	size_t n, i;

	if (type < PERF_TYPE_MAX && !is_generic(type) && type != PERF_TYPE_RAW)
		return 0;
	n = pmc_cores_at(root, core);
	for (i = 0; i < n && core[i].type != type; i++)
		;
	if (i == n && (type >= PERF_TYPE_MAX || n < 2))
		return 0;
	return pmc_file_text(online, sizeof(online), "%s" ONLINE, root) > 0 &&
	       !pmc_cpus_have(core[i < n ? i : 0].cpus, online);
}

void pmc_core_give(struct pmc_parse *p)
{
	if (p->core && p->generic && is_generic(p->desc->type))
		p->desc->config |= (uint64_t)p->core->type << 32;
}

void pmc_core_name(struct pmc_parse *p, const char *word)
{
	struct pmc_event_desc *d = p->desc;
	int room = LABEL_MAX;

	if (!p->core) {
		snprintf(d->name, sizeof(d->name), "%.*s", room, word);
		return;
	}
	room -= 2 + (int)strlen(p->core->name);
	snprintf(d->name, sizeof(d->name), "%.*s/%.*s/", LABEL_MAX / 2, p->core->name,
		 room < LABEL_MAX / 2 - 2 ? LABEL_MAX / 2 - 2 : room, word);
}

int pmc_parse_all(const char *root, const char *spec, struct pmc_event_desc *desc,
		  size_t room, char *msg, size_t msglen)
{
	struct pmc_core core[PMC_CORES_MAX];
	struct pmc_parse p = { .root = root, .desc = desc, .msg = msg, .msglen = msglen };
	struct pmc_event_desc one;
	size_t n, i, found = 0;

	if (!room)
		return pmc_parse_fail(&p, "no room for an event");
	if (pmc_parse_spec(&p, spec))
		return -1;
	if (!p.generic)
		return 1;
	n = pmc_cores_at(root, core);
	for (i = 0; i < n && n > 1 && found < room; i++) {
		struct pmc_parse q = { .root = root, .desc = &one, .core = &core[i] };

		/* not every PMU has an event of this name, or a CPU that is online */
		if (*core[i].cpus && !pmc_parse_spec(&q, spec))
			desc[found++] = one;
	}
	return found ? (int)found : 1;
}

int pmc_event_parse_all(const char *spec, struct pmc_event_desc *desc, size_t room,
			char *msg, size_t msglen)
{
	return pmc_parse_all("", spec, desc, room, msg, msglen);
}
