/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event specifications: from the user's words to perf's numbers.  This file has the
 * common parts, and events by name and by number.  Other files have the other kinds.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"

int pmc_parse_fail(struct pmc_parse *p, const char *fmt, ...)
{
	va_list ap;

	if (p->msg && p->msglen) {
		va_start(ap, fmt);
		vsnprintf(p->msg, p->msglen, fmt, ap);
		va_end(ap);
	}
	return fail_with(EINVAL);
}

static int unknown(struct pmc_parse *p, const char *word)
{
	struct pmc_near near = { .word = word };
	size_t i;

	if (!strcasecmp(word, "interrupts"))
		return pmc_parse_fail(p, "perf has no generic event \"%s\": "
				      "use your CPU's raw event (rHEX)", word);
	pmc_parse_fail(p, "unknown event \"%s\"", word);
	for (i = 0; i < pmc_evtab_len; i++)
		pmc_near_offer(&near, pmc_evtab[i].name);
	pmc_pmu_offer_aliases(p, &near);
	return pmc_near_say(&near, p);
}

int pmc_parse_number(const char *word, int base, uint64_t *value)
{
	unsigned char first = (unsigned char)word[0];
	char *end;

	if (!(base == 16 ? isxdigit(first) : isdigit(first)))
		return -1;
	/* as in perf, a zero in front does not make a number octal */
	if (!base)
		base = first == '0' && tolower((unsigned char)word[1]) == 'x' ? 16 : 10;
	errno = 0;
	*value = strtoull(word, &end, base);
	return errno || *end ? -1 : 0;
}

int pmc_parse_is_raw(const char *word)
{
	return tolower((unsigned char)word[0]) == 'r' && word[1] &&
	       strspn(word + 1, "0123456789abcdefABCDEF") == strlen(word + 1);
}

const struct pmc_evtab_entry *pmc_evtab_find(const char *word)
{
	size_t i;

	for (i = 0; i < pmc_evtab_len; i++)
		if (!strcasecmp(word, pmc_evtab[i].name))
			return &pmc_evtab[i];
	return NULL;
}

static int parse_name(struct pmc_parse *p, const char *word)
{
	const struct pmc_evtab_entry *e = pmc_evtab_find(word);
	struct pmc_event_desc *d = p->desc;

	pmc_core_name(p, word);
	if (e) {
		d->type = e->type;
		d->config = e->config;
		p->generic = e->type != PERF_TYPE_SOFTWARE;
		return 0;
	}
	if (!pmc_parse_is_raw(word)) {
		int alias = pmc_pmu_core_alias(p, word);

		p->generic = alias > 0;
		return alias ? alias < 0 ? -1 : 0 : unknown(p, word);
	}
	d->type = PERF_TYPE_RAW;
	if (pmc_parse_number(word + 1, 16, &d->config))
		return pmc_parse_fail(p, "\"%s\": more than 64 bits", word);
	return 0;
}

int pmc_parse_label(struct pmc_parse *p, const char *word)
{
	const char *c;

	for (c = word; *c; c++)
		if (!isgraph((unsigned char)*c))
			return pmc_parse_fail(p, "\"name=\": only printable "
					      "letters");
	if (c == word || c - word > LABEL_MAX)
		return pmc_parse_fail(p, "\"name=\": 1 to %d letters",
				      LABEL_MAX);
	pmc_core_name(p, word);
	return 0;
}

static int parse_value(struct pmc_parse *p, const char *key, const char *word)
{
	struct pmc_event_desc *d = p->desc;
	uint64_t value;

	if (!strcasecmp(key, "name"))
		return pmc_parse_label(p, word);
	if (pmc_parse_number(word, 0, &value))
		return pmc_parse_fail(p, "\"%s=%s\": not a number", key, word);
	if (!strcasecmp(key, "type")) {
		if (value > UINT32_MAX)
			return pmc_parse_fail(p, "\"type=%s\": too large",
					      word);
		d->type = (uint32_t)value;
		p->have_type = 1;
	} else if (!strcasecmp(key, "config")) {
		d->config = value;
		p->have_config = 1;
	} else if (!strcasecmp(key, "config1")) {
		d->config1 = value;
	} else if (!strcasecmp(key, "config2")) {
		d->config2 = value;
	} else if (!strcasecmp(key, "config3")) {
		d->config3 = value;
	} else {
		return pmc_parse_fail(p, "unknown qualifier \"%s=\"; known are "
				      "type, config, config1, config2, "
				      "config3, name, usr, os and precise", key);
	}
	return 0;
}

static int parse_qualifier(struct pmc_parse *p, char *word)
{
	char *eq = strchr(word, '=');

	if (!*word)
		return pmc_parse_fail(p, "empty word in the event");
	if (eq) {
		*eq = '\0';
		return parse_value(p, word, eq + 1);
	}
	if (!strcasecmp(word, "usr") || !strcasecmp(word, "user")) {
		p->desc->caps |= PMC_CAP_USER;
	} else if (!strcasecmp(word, "os") || !strcasecmp(word, "kernel")) {
		p->desc->caps |= PMC_CAP_SYSTEM;
	} else if (!strcasecmp(word, "precise")) {
		p->desc->caps |= PMC_CAP_PRECISE;
	} else {
		return pmc_parse_fail(p, "unknown qualifier \"%s\"; known are "
				      "usr, os, precise, config1=, config2= and "
				      "name=", word);
	}
	return 0;
}

/*
 * perf's modifiers: "u", "k", "uk", and "p", of which perf has several steps; @spec is
 * for the message.
 */
static int parse_letters(struct pmc_parse *p, const char *spec,
			 const char *letters, size_t n)
{
	const char *c;

	if (!n)
		return pmc_parse_fail(p, "\"%s\": nothing after the colon",
				      spec);
	for (c = letters; c < letters + n; c++) {
		if (*c == 'u')
			p->desc->caps |= PMC_CAP_USER;
		else if (*c == 'k')
			p->desc->caps |= PMC_CAP_SYSTEM;
		else if (*c == 'p' || *c == 'P')
			p->desc->caps |= PMC_CAP_PRECISE;
		else
			return pmc_parse_fail(p, "\"%s\": unknown modifier "
					      "\"%c\"; known are u, k and p",
					      spec, *c);
	}
	return 0;
}

/* Cuts perf's modifiers out, at the end of a word: ":u", ":k", ":ukp". */
static int parse_modifiers(struct pmc_parse *p, char *spec)
{
	char *colon = strrchr(spec, ':'), *rest;

	if (!colon)
		return 0;
	rest = colon + strcspn(colon, ",");
	if (parse_letters(p, spec, colon + 1, (size_t)(rest - colon - 1)))
		return -1;
	memmove(colon, rest, strlen(rest) + 1);
	return 0;
}

int pmc_parse_tail(struct pmc_parse *p, char *tail)
{
	char *comma = strchr(tail, ','), *word, *next;

	if (comma)
		*comma++ = '\0';
	if (*tail == ':' && parse_letters(p, tail, tail + 1, strlen(tail + 1)))
		return -1;
	if (*tail && *tail != ':')
		return pmc_parse_fail(p, "\"%s\": nothing belongs there", tail);
	for (word = comma; word; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		if (parse_qualifier(p, word))
			return -1;
	}
	if (p->have_type || p->have_config)
		return pmc_parse_fail(p, "\"type=\" and \"config=\" go without "
				      "a name");
	return 0;
}

static void finish_name(struct pmc_parse *p)
{
	const uint32_t both = PMC_CAP_USER | PMC_CAP_SYSTEM;
	struct pmc_event_desc *d = p->desc;
	char numbers[64];

	if (!d->name[0]) {
		snprintf(numbers, sizeof(numbers), "type=%u,config=0x%llx", d->type,
			 (unsigned long long)d->config);
		pmc_core_name(p, numbers);
	}
	if ((d->caps & both) == PMC_CAP_USER)
		strcat(d->name, ":u");
	else if ((d->caps & both) == PMC_CAP_SYSTEM)
		strcat(d->name, ":k");
}

/* Parses an event given by name or number. */
static int parse_words(struct pmc_parse *p, char *spec)
{
	char *word = spec, *next;
	int first = 1, numeric = 0;

	for (; word; word = next, first = 0) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		if (!*word)
			return pmc_parse_fail(p, "empty word in the event");
		if (first)
			numeric = strchr(word, '=') != NULL;
		if (first && !numeric ? parse_name(p, word) :
					parse_qualifier(p, word))
			return -1;
	}
	if (!numeric && (p->have_type || p->have_config))
		return pmc_parse_fail(p, "\"type=\" and \"config=\" go without "
				      "a name");
	if (numeric && !(p->have_type && p->have_config))
		return pmc_parse_fail(p, "\"type=\" and \"config=\" are both "
				      "needed");
	if (numeric)
		p->generic = (p->desc->type == PERF_TYPE_HARDWARE ||
			      p->desc->type == PERF_TYPE_HW_CACHE) &&
			     !(p->desc->config >> 32);
	return 0;
}

/*
 * perf writes a tracepoint as SYSTEM:EVENT.  The word after the colon is longer than
 * modifiers, and the word before it is not an event.
 */
static int is_tracepoint(const char *spec)
{
	size_t len = strcspn(spec, ":,=/");
	const char *name = spec + len + (spec[len] == ':');
	size_t letters = strcspn(name, ":,");
	char system[64];

	if (spec[len] != ':' || letters < 3 || len >= sizeof(system) ||
	    strspn(name, "ukpP") >= letters)	/* modifiers */
		return 0;
	memcpy(system, spec, len);
	system[len] = '\0';
	return !pmc_evtab_find(system) && !pmc_parse_is_raw(system);
}

static int parse_tracepoint(struct pmc_parse *p, char *spec)
{
	char *colon = strchr(spec, ':'), *tail, kept;

	*colon = '\0';
	tail = colon + 1 + strcspn(colon + 1, ":,");
	kept = *tail;
	*tail = '\0';
	if (pmc_trace_event(p, spec, colon + 1))
		return -1;
	*tail = kept;
	return pmc_parse_tail(p, tail);
}

static int is_pmu(const char *spec)
{
	return spec[strcspn(spec, ":,=/")] == '/';
}

int pmc_parse_spec(struct pmc_parse *p, const char *spec)
{
	char words[SPEC_MAX];
	int err;

	if (p->msg && p->msglen)
		p->msg[0] = '\0';
	memset(p->desc, 0, sizeof(*p->desc));
	if (!spec || !*spec)
		return pmc_parse_fail(p, "no event given");
	if (strlen(spec) >= sizeof(words))
		return pmc_parse_fail(p, "event longer than %d letters",
				      SPEC_MAX - 1);
	strcpy(words, spec);
	err = pmc_provider_parse(p, words);
	if (err < 0)
		return -1;
	if (!err)
		;
	else if (is_pmu(words))
		err = pmc_pmu_parse(p, words);
	else if (is_tracepoint(words))
		err = parse_tracepoint(p, words);
	else
		err = parse_modifiers(p, words) || parse_words(p, words);
	if (err)
		return -1;
	finish_name(p);
	pmc_core_give(p);
	if (pmc_core_is_of_some(p->root, p->desc))
		p->desc->flags |= PMC_EVENT_SOME_CPUS;
	return 0;
}

int pmc_event_parse(const char *spec, struct pmc_event_desc *desc,
		    char *msg, size_t msglen)
{
	struct pmc_parse p = {
		.root = "", .desc = desc, .msg = msg, .msglen = msglen,
	};

	return pmc_parse_spec(&p, spec);
}

int pmc_event_cpus_at(const char *root, const struct pmc_event_desc *desc,
		      char *list, size_t len)
{
	char all[LIST_MAX];
	int n = 0;

	if (desc->flags & PMC_EVENT_ONE_CPU)
		n = snprintf(all, sizeof(all), "%u", pmc_first_cpu(root));
	else if (!pmc_pmu_cpus(root, pmc_core_type(desc), all, sizeof(all)))
		n = (int)strlen(all);
	/* a list that fills the array was cut */
	if ((size_t)n >= len || (size_t)n == sizeof(all) - 1)
		return fail_with(ENOSPC);
	memcpy(list, all, (size_t)n);
	list[n] = '\0';
	return n;
}

int pmc_event_cpus(const struct pmc_event_desc *desc, char *list, size_t len)
{
	return pmc_event_cpus_at("", desc, list, len);
}

int pmc_event_names_of_class(enum pmc_class cl, const char ***eventnames,
			     int *nevents)
{
	const char **names;
	size_t i;

	if (cl != PMC_CLASS_SOFT)
		return fail_with(EINVAL);
	names = malloc(pmc_evtab_len * sizeof(*names));
	if (!names)
		return -1;
	for (i = 0; i < pmc_evtab_len; i++)
		names[i] = pmc_evtab[i].name;
	*eventnames = names;
	*nevents = (int)pmc_evtab_len;
	return 0;
}

const char *pmc_event_description(int index)
{
	static _Thread_local char alias[PMC_NAME_MAX + 16];

	if (index < 0 || (size_t)index >= pmc_evtab_len)
		return NULL;
	if (!pmc_evtab[index].alias)
		return pmc_evtab[index].descr;
	snprintf(alias, sizeof(alias), "same as %s", pmc_evtab[index].descr);
	return alias;
}

const char *pmc_event_spelling(int index, const char **description)
{
	int i;

	/* an index beyond the end gets the NULLs of the last entry */
	for (i = 0; i < index && pmc_provider_help[i].spec; i++)
		;
	*description = pmc_provider_help[i].descr;
	return pmc_provider_help[i].spec;
}

void pmc_event_list(FILE *out)
{
	const char *spec, *descr;
	int i;

	for (i = 0; (size_t)i < pmc_evtab_len; i++)
		fprintf(out, "%-26s %s\n", pmc_evtab[i].name,
			pmc_event_description(i));
	for (i = 0; (spec = pmc_event_spelling(i, &descr)); i++)
		fprintf(out, "%-26s %s\n", spec, descr);
}
