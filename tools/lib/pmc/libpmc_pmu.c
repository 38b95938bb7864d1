/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of any PMU, from their description in sysfs:
 *	PMU/type	its number for perf
 *	PMU/format/TERM	where in struct perf_event_attr the term's value goes
 *	PMU/events/NAME	an alias: terms with values
 *	PMU/cpumask	the CPUs on which to count events of a whole package
 *	PMU/cpus	the CPUs of a core PMU
 */
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libpmc_event.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define TEXT_MAX	512
#define OPEN_MAX	8	/* values that an alias leaves open */

/**
 * struct pmu - the PMU of an event that is being parsed
 * @generic: the event that is perf's generic one of this PMU
 * @has_terms: terms have given numbers of the event
 * @open: terms of an alias whose values the user has to give
 */
struct pmu {
	struct pmc_parse *p;
	const char	*name;
	const char	*generic;
	int		has_terms;
	size_t		nopen;
	char		open[OPEN_MAX][32];
};

/* Events of these PMUs contain addresses of a process' memory. */
static const char *const instead[][2] = {
	{ "kprobe", "kprobe:FUNCTION" }, { "uprobe", "uprobe:FILE:FUNCTION" },
	{ "breakpoint", "mem:ADDRESS" },
};

/* ------------------------------------------------------------------------
 * Looking for names
 */

/* The directory also has files that describe an alias. */
static int is_alias(const char *name)
{
	static const char *const about[] = {
		".scale", ".unit", ".snapshot", ".per-pkg",
	};
	size_t len = strlen(name), n, i;

	for (i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
		n = strlen(about[i]);
		if (len > n && !strcmp(name + len - n, about[i]))
			return 0;
	}
	return 1;
}

struct each {
	int	(*f)(void *arg, const char *name);
	void	*arg;
};

static int each_alias(void *arg, const char *name)
{
	struct each *e = arg;

	return is_alias(name) ? e->f(e->arg, name) : 0;
}

int pmc_pmu_each(const char *root, int (*f)(void *arg, const char *pmu),
		 void *arg)
{
	return pmc_file_each(f, arg, "%s" DEVICES, root);
}

int pmc_pmu_each_event(const char *root, const char *pmu,
		       int (*f)(void *arg, const char *event), void *arg)
{
	struct each e = { f, arg };

	return pmc_file_each(each_alias, &e, "%s" DEVICES "/%s/events", root,
			     pmu);
}

int pmc_pmu_each_term(const char *root, const char *pmu,
		      int (*f)(void *arg, const char *term), void *arg)
{
	return pmc_file_each(f, arg, "%s" DEVICES "/%s/format", root, pmu);
}

static long pmu_text(const struct pmu *u, const char *dir, const char *name,
		     char *text)
{
	return pmc_file_text(text, TEXT_MAX, "%s" DEVICES "/%s/%s/%s",
			     u->p->root, u->name, dir, name);
}

void pmc_pmu_text(const char *root, const char *pmu, const char *dir,
		  const char *name, char *buf, size_t len)
{
	/* a term is listed as "TERM=N" */
	if (pmc_file_text(buf, len, "%s" DEVICES "/%s/%s/%.*s", root, pmu, dir,
			  (int)strcspn(name, "="), name) < 0)
		buf[0] = '\0';
}

struct same_word {
	const char	*word;
	const struct pmu *u;
	char		*text;
};

static int same_alias(void *arg, const char *name)
{
	struct same_word *s = arg;

	return !strcasecmp(name, s->word) &&
	       pmu_text(s->u, "events", name, s->text) > 0;
}

/* The terms of an alias: an exact match, or else one without regard to case. */
static int alias_text(const struct pmu *u, const char *word, char *text)
{
	struct same_word s = { word, u, text };

	if (!pmc_file_is_name(word) || !is_alias(word))
		return 0;
	return pmu_text(u, "events", word, text) > 0 ||
	       pmc_pmu_each_event(u->p->root, u->name, same_alias, &s);
}

/* ------------------------------------------------------------------------
 * Terms
 */
static uint64_t *config_word(struct pmc_event_desc *d, const char *name)
{
	if (!strcmp(name, "config"))
		return &d->config;
	if (!strcmp(name, "config1"))
		return &d->config1;
	if (!strcmp(name, "config2"))
		return &d->config2;
	return strcmp(name, "config3") ? NULL : &d->config3;
}

/* "0-7,32-35": a bit for each number; 0 if it is not such a list */
static uint64_t bits_of(const char *list)
{
	unsigned long first, last;
	uint64_t bits = 0;
	char *end;

	for (;; list = end + 1) {
		if (!isdigit((unsigned char)*list))
			return 0;
		first = last = strtoul(list, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (first > last || last > 63)
			return 0;
		bits |= (~0ULL >> (63 - (last - first))) << first;
		if (!*end)
			return bits;
		if (*end != ',')
			return 0;
	}
}

/* Moves the lowest bit of @value to the lowest of @bits, and so on */
static uint64_t spread(uint64_t bits, uint64_t value)
{
	uint64_t out = 0, bit;

	for (; bits; bits &= bits - 1, value >>= 1) {
		bit = bits & -bits;
		if (value & 1)
			out |= bit;
	}
	return out;
}

static int set_term(struct pmu *u, const char *term, char *format,
		    uint64_t value)
{
	char *colon = strchr(format, ':');
	uint64_t *word, bits;
	int n;

	if (colon)
		*colon = '\0';
	word = config_word(u->p->desc, format);
	bits = colon ? bits_of(colon + 1) : ~0ULL;
	if (!word || !bits)
		return pmc_parse_fail(u->p, "%s/%s: its format is not "
				      "understood", u->name, term);
	n = __builtin_popcountll(bits);
	if (n < 64 && value >> n)
		return pmc_parse_fail(u->p, "\"%s=%#llx\": more than the %d "
				      "bits that it has", term,
				      (unsigned long long)value, n);
	*word = (*word & ~bits) | spread(bits, value);
	u->has_terms = 1;
	return 0;
}

int pmc_pmu_core_cpus(const char *root, const char *pmu, char *list, size_t len)
{
	return pmc_file_text(list, len, "%s" DEVICES "/%s/cpus", root, pmu) < 0 ? -1 : 0;
}

static int is_core(const char *root, const char *pmu)
{
	char text[TEXT_MAX];

	return !strcmp(pmu, "cpu") || !pmc_pmu_core_cpus(root, pmu, text, sizeof(text));
}

/* "NAME=?" in an alias: the user has to give the value. */
static int leave_open(struct pmu *u, const char *term)
{
	if (u->nopen == OPEN_MAX || strlen(term) >= sizeof(u->open[0]))
		return pmc_parse_fail(u->p, "%s: its alias is not understood",
				      u->name);
	strcpy(u->open[u->nopen++], term);
	return 0;
}

static void fill_open(struct pmu *u, const char *term)
{
	size_t i;

	for (i = 0; i < u->nopen; i++)
		if (!strcmp(u->open[i], term))
			u->open[i][0] = '\0';
}

static int unknown_term(struct pmu *u, const char *term, const char *value)
{
	struct pmc_near near = { .word = term };

	pmc_parse_fail(u->p, "PMU \"%s\" has no %s \"%s\"", u->name,
		       value ? "term" : "event or term", term);
	if (!value)
		pmc_pmu_each_event(u->p->root, u->name, pmc_near_offer, &near);
	pmc_pmu_each_term(u->p->root, u->name, pmc_near_offer, &near);
	return pmc_near_say(&near, u->p);
}

static int apply_terms(struct pmu *u, char *terms, int alias);

/* perf's generic event on this core PMU, which has none of this name of its own */
static int generic_event(struct pmu *u, const char *word)
{
	const struct pmc_evtab_entry *e = pmc_evtab_find(word);
	struct pmc_core core[PMC_CORES_MAX];
	struct pmc_event_desc *d = u->p->desc;
	uint64_t type = d->type;

	if (u->generic || !e || e->type == PERF_TYPE_SOFTWARE ||
	    !is_core(u->p->root, u->name))
		return 0;
	u->generic = word;
	d->type = e->type;
	d->config = e->config;
	/* some kernels know no numbers of PMUs there, and need none with one core PMU */
	if (pmc_cores_at(u->p->root, core) > 1)
		d->config |= type << 32;
	return 1;
}

/* A word without a value: an alias, rHEX, or a term with the value 1 */
static int apply_word(struct pmu *u, char *term, int alias)
{
	char text[TEXT_MAX];

	if (pmc_file_is_name(term) && pmu_text(u, "format", term, text) > 0)
		return set_term(u, term, text, 1);
	if (!alias && alias_text(u, term, text))
		return apply_terms(u, text, 1);
	if (pmc_parse_is_raw(term) &&
	    !pmc_parse_number(term + 1, 16, &u->p->desc->config)) {
		u->has_terms = 1;
		return 0;
	}
	return !alias && generic_event(u, term) ? 0 : unknown_term(u, term, NULL);
}

static int apply_value(struct pmu *u, char *term, const char *value, int alias)
{
	struct pmc_event_desc *d = u->p->desc;
	char text[TEXT_MAX];
	uint64_t number;

	if (alias && !strcmp(value, "?"))
		return leave_open(u, term);
	if (!strcmp(term, "name"))
		return pmc_parse_label(u->p, value);
	if (pmc_parse_number(value, 0, &number))
		return pmc_parse_fail(u->p, "\"%s=%s\": not a number", term,
				      value);
	fill_open(u, term);
	if (config_word(d, term)) {
		*config_word(d, term) = number;
		u->has_terms = 1;
		return 0;
	}
	if (pmc_file_is_name(term) && pmu_text(u, "format", term, text) > 0)
		return set_term(u, term, text, number);
	if (strcmp(term, "period") && strcmp(term, "freq"))
		return unknown_term(u, term, value);
	d->period = number;
	d->flags &= ~PMC_EVENT_FREQ;
	d->flags |= PMC_EVENT_PERIOD | (*term == 'f' ? PMC_EVENT_FREQ : 0);
	return 0;
}

static int apply_terms(struct pmu *u, char *terms, int alias)
{
	char *term, *next, *eq;
	int err;

	for (term = terms; term; term = next) {
		next = strchr(term, ',');
		if (next)
			*next++ = '\0';
		eq = strchr(term, '=');
		if (eq)
			*eq++ = '\0';
		if (!*term)
			return pmc_parse_fail(u->p, "%s: empty term", u->name);
		err = eq ? apply_value(u, term, eq, alias) :
			   apply_word(u, term, alias);
		if (err)
			return -1;
	}
	return 0;
}

static int check_terms(struct pmu *u)
{
	size_t i;

	if (u->generic && u->has_terms)
		return pmc_parse_fail(u->p, "\"%s\": perf's own event has no terms "
				      "but name, period and freq", u->generic);
	for (i = 0; i < u->nopen; i++)
		if (u->open[i][0])
			return pmc_parse_fail(u->p, "this event of %s needs "
					      "\"%s=\"", u->name, u->open[i]);
	return 0;
}

/* ------------------------------------------------------------------------
 * A specification
 */
int pmc_pmu_type(const char *root, const char *pmu, uint32_t *type)
{
	char text[32];
	uint64_t n;

	if (!pmc_file_is_name(pmu) ||
	    pmc_file_text(text, sizeof(text), "%s" DEVICES "/%s/type", root,
			  pmu) < 0 ||
	    pmc_parse_number(text, 10, &n) || n > UINT32_MAX)
		return -1;
	*type = (uint32_t)n;
	return 0;
}

static const char *other_way(const char *pmu)
{
	size_t i;

	for (i = 0; i < sizeof(instead) / sizeof(instead[0]); i++)
		if (!strcmp(pmu, instead[i][0]))
			return instead[i][1];
	return NULL;
}

int pmc_pmu_is_special(const char *pmu)
{
	return other_way(pmu) != NULL;
}

static int find_pmu(struct pmu *u)
{
	struct pmc_near near = { .word = u->name };
	const char *way = other_way(u->name);

	if (way)
		return pmc_parse_fail(u->p, "write events of PMU \"%s\" as %s",
				      u->name, way);
	if (!pmc_pmu_type(u->p->root, u->name, &u->p->desc->type))
		return 0;
	pmc_parse_fail(u->p, "this machine has no PMU \"%s\"", u->name);
	pmc_pmu_each(u->p->root, pmc_near_offer, &near);
	return pmc_near_say(&near, u->p);
}

int pmc_pmu_parse(struct pmc_parse *p, char *spec)
{
	struct pmu u = { .p = p, .name = spec };
	char *terms = strchr(spec, '/') + 1, *tail = strchr(terms, '/');
	char letters[SPEC_MAX + 1];

	if (!tail)
		return pmc_parse_fail(p, "\"%s\": a slash is missing at the "
				      "end", spec);
	snprintf(p->desc->name, sizeof(p->desc->name), "%.*s", LABEL_MAX < tail + 1 - spec ?
		 LABEL_MAX : (int)(tail + 1 - spec), spec);
	*tail++ = '\0';
	terms[-1] = '\0';
	if (find_pmu(&u) || (*terms && apply_terms(&u, terms, 0)) ||
	    check_terms(&u))
		return -1;
	/* perf's modifiers follow without a colon */
	snprintf(letters, sizeof(letters), "%s%s",
		 *tail && *tail != ':' && *tail != ',' ? ":" : "", tail);
	return pmc_parse_tail(p, letters);
}

struct core_alias {
	struct pmc_parse *p;
	const char	*word;
};

static int try_core(void *arg, const char *pmu)
{
	struct core_alias *c = arg;
	struct pmu u = { .p = c->p, .name = pmu };
	char text[TEXT_MAX];

	if (c->p->core && strcmp(c->p->core->name, pmu))
		return 0;
	if (!is_core(c->p->root, pmu) || !alias_text(&u, c->word, text) ||
	    pmc_pmu_type(c->p->root, pmu, &c->p->desc->type))
		return 0;
	return apply_terms(&u, text, 1) || check_terms(&u) ? -1 : 1;
}

int pmc_pmu_core_alias(struct pmc_parse *p, const char *word)
{
	struct core_alias c = { p, word };

	return pmc_pmu_each(p->root, try_core, &c);
}

struct core_offer {
	struct pmc_near	*near;
	const char	*root;
};

static int offer_core(void *arg, const char *pmu)
{
	struct core_offer *c = arg;

	if (is_core(c->root, pmu))
		pmc_pmu_each_event(c->root, pmu, pmc_near_offer, c->near);
	return 0;
}

void pmc_pmu_offer_aliases(struct pmc_parse *p, struct pmc_near *near)
{
	struct core_offer c = { near, p->root };

	pmc_pmu_each(p->root, offer_core, &c);
}

/* ------------------------------------------------------------------------
 * CPUs
 */
struct cpus {
	const char	*root;
	uint32_t	type;
	char		*list;
	size_t		len;
};

static int cpus_of(void *arg, const char *pmu)
{
	struct cpus *c = arg;
	char online[LIST_MAX];
	uint32_t type;

	if (pmc_pmu_type(c->root, pmu, &type) || type != c->type)
		return 0;
	if (pmc_file_text(c->list, c->len, "%s" DEVICES "/%s/cpumask", c->root,
			  pmu) > 0)
		return 1;
	/* a core PMU that has all online CPUs needs no list */
	return !pmc_pmu_core_cpus(c->root, pmu, c->list, c->len) &&
	       pmc_file_text(online, sizeof(online), "%s/sys/devices/system/"
			     "cpu/online", c->root) > 0 &&
	       !pmc_cpus_have(c->list, online) ? 1 : -1;
}

int pmc_pmu_cpus(const char *root, uint32_t type, char *list, size_t len)
{
	struct cpus c = { root, type, list, len };

	return pmc_pmu_each(root, cpus_of, &c) == 1 ? 0 : -1;
}

unsigned int pmc_first_cpu(const char *root)
{
	char online[TEXT_MAX];

	if (pmc_file_text(online, sizeof(online), "%s/sys/devices/system/cpu/"
			  "online", root) <= 0)
		return 0;
	return (unsigned int)strtoul(online, NULL, 10);
}
