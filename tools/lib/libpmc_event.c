/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event specifications: from the user's words to perf's numbers.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libpmc_event.h"
#include "pmc.h"

#define SPEC_MAX	256
#define NSUGGEST	4

struct parse {
	struct pmc_event_desc *desc;
	char	*msg;
	size_t	msglen;
	int	have_type;
	int	have_config;
};

static int __attribute__((format(printf, 2, 3)))
fail(struct parse *p, const char *fmt, ...)
{
	va_list ap;

	if (p->msg && p->msglen) {
		va_start(ap, fmt);
		vsnprintf(p->msg, p->msglen, fmt, ap);
		va_end(ap);
	}
	errno = EINVAL;
	return -1;
}

/* How many edits make one word of the other, at most SPEC_MAX letters each. */
static unsigned int distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned int row[SPEC_MAX + 1], diag, up, best;

	for (j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		diag = row[0];
		row[0] = (unsigned int)i;
		for (j = 1; j <= lb; j++) {
			up = row[j];
			best = diag + (tolower((unsigned char)a[i - 1]) !=
				       tolower((unsigned char)b[j - 1]));
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diag = up;
			row[j] = best;
		}
	}
	return row[lb];
}

/* Small is near; a name that contains the word is nearer than any typo. */
static unsigned int badness(const char *word, const char *name)
{
	size_t lw = strlen(word), ln = strlen(name), limit = 1 + lw / 4;
	unsigned int d;

	if (lw >= 3 && strcasestr(name, word))
		return 0;
	/* the distance is at least that of the lengths */
	if (lw > ln + limit || ln > lw + limit)
		return ~0U;
	d = distance(word, name);
	return d <= limit ? d : ~0U;
}

/* Appends ": did you mean a, b?", the nearest names first. */
static void suggest(const char *word, char *msg, size_t msglen)
{
	const char *sep = "; did you mean ";
	size_t used, i, n = 0;
	unsigned int want;

	if (!msg)
		return;
	for (want = 0; want <= 1 + strlen(word) / 4; want++) {
		for (i = 0; i < pmc_evtab_len && n < NSUGGEST; i++) {
			if (badness(word, pmc_evtab[i].name) != want)
				continue;
			used = strlen(msg);
			snprintf(msg + used, msglen - used, "%s%s", sep,
				 pmc_evtab[i].name);
			sep = ", ";
			n++;
		}
	}
	used = strlen(msg);
	if (n && used + 1 < msglen)
		strcpy(msg + used, "?");
}

static int unknown(struct parse *p, const char *word)
{
	if (!strcasecmp(word, "interrupts"))
		return fail(p, "perf has no generic event \"%s\": use your "
			    "CPU's raw event (rHEX)", word);
	fail(p, "unknown event \"%s\"", word);
	if (p->msglen)
		suggest(word, p->msg, p->msglen);
	return -1;
}

/* A number in base 10 or 16, all of the word, without a sign. */
static int number(const char *word, int base, uint64_t *value)
{
	unsigned char first = (unsigned char)word[0];
	char *end;

	if (!(base == 16 ? isxdigit(first) : isdigit(first)))
		return -1;
	errno = 0;
	*value = strtoull(word, &end, base);
	return errno || *end ? -1 : 0;
}

static int is_raw(const char *word)
{
	return tolower((unsigned char)word[0]) == 'r' && word[1] &&
	       strspn(word + 1, "0123456789abcdefABCDEF") == strlen(word + 1);
}

static int parse_name(struct parse *p, const char *word)
{
	struct pmc_event_desc *d = p->desc;
	size_t i;

	snprintf(d->name, sizeof(d->name), "%.58s", word);
	for (i = 0; i < pmc_evtab_len; i++) {
		if (strcasecmp(word, pmc_evtab[i].name))
			continue;
		d->type = pmc_evtab[i].type;
		d->config = pmc_evtab[i].config;
		return 0;
	}
	if (!is_raw(word))
		return unknown(p, word);
	d->type = PERF_TYPE_RAW;
	if (number(word + 1, 16, &d->config))
		return fail(p, "\"%s\": more than 64 bits", word);
	return 0;
}

static int parse_label(struct parse *p, const char *word)
{
	const char *c;

	for (c = word; *c; c++)
		if (!isgraph((unsigned char)*c))
			return fail(p, "\"name=\": only printable letters");
	if (c == word || c - word > 58)
		return fail(p, "\"name=\": 1 to 58 letters");
	strcpy(p->desc->name, word);
	return 0;
}

static int parse_value(struct parse *p, const char *key, const char *word)
{
	struct pmc_event_desc *d = p->desc;
	uint64_t value;

	if (!strcasecmp(key, "name"))
		return parse_label(p, word);
	if (number(word, 0, &value))
		return fail(p, "\"%s=%s\": not a number", key, word);
	if (!strcasecmp(key, "type")) {
		if (value > UINT32_MAX)
			return fail(p, "\"type=%s\": too large", word);
		d->type = (uint32_t)value;
		p->have_type = 1;
	} else if (!strcasecmp(key, "config")) {
		d->config = value;
		p->have_config = 1;
	} else if (!strcasecmp(key, "config1")) {
		d->config1 = value;
	} else if (!strcasecmp(key, "config2")) {
		d->config2 = value;
	} else {
		return fail(p, "unknown qualifier \"%s=\"; known are type, "
			    "config, config1, config2, name, usr and os", key);
	}
	return 0;
}

static int parse_qualifier(struct parse *p, char *word)
{
	char *eq = strchr(word, '=');

	if (eq) {
		*eq = '\0';
		return parse_value(p, word, eq + 1);
	}
	if (!strcasecmp(word, "usr") || !strcasecmp(word, "user")) {
		p->desc->caps |= PMC_CAP_USER;
	} else if (!strcasecmp(word, "os") || !strcasecmp(word, "kernel")) {
		p->desc->caps |= PMC_CAP_SYSTEM;
	} else {
		return fail(p, "unknown qualifier \"%s\"; known are usr, os, "
			    "config1=, config2= and name=", word);
	}
	return 0;
}

/* Cuts perf's modifiers off the end: ":u", ":k", ":uk". */
static int parse_modifiers(struct parse *p, char *spec)
{
	char *colon = strrchr(spec, ':'), *c;

	if (!colon)
		return 0;
	if (!colon[1])
		return fail(p, "\"%s\": nothing after the colon", spec);
	for (c = colon + 1; *c; c++) {
		if (*c == 'u')
			p->desc->caps |= PMC_CAP_USER;
		else if (*c == 'k')
			p->desc->caps |= PMC_CAP_SYSTEM;
		else
			return fail(p, "\"%s\": unknown modifier \"%c\"; known "
				    "are u and k", spec, *c);
	}
	*colon = '\0';
	return 0;
}

static void finish_name(struct pmc_event_desc *d)
{
	const uint32_t both = PMC_CAP_USER | PMC_CAP_SYSTEM;

	if (!d->name[0])
		snprintf(d->name, sizeof(d->name), "type=%u,config=0x%llx",
			 d->type, (unsigned long long)d->config);
	if ((d->caps & both) == PMC_CAP_USER)
		strcat(d->name, ":u");
	else if ((d->caps & both) == PMC_CAP_SYSTEM)
		strcat(d->name, ":k");
}

static int parse_words(struct parse *p, char *spec)
{
	char *word = spec, *next;
	int first = 1, numeric = 0;

	for (; word; word = next, first = 0) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		if (!*word)
			return fail(p, "empty word in the event");
		if (first)
			numeric = strchr(word, '=') != NULL;
		if (first && !numeric ? parse_name(p, word) :
					parse_qualifier(p, word))
			return -1;
	}
	if (!numeric && (p->have_type || p->have_config))
		return fail(p, "\"type=\" and \"config=\" go without a name");
	if (numeric && !(p->have_type && p->have_config))
		return fail(p, "\"type=\" and \"config=\" are both needed");
	return 0;
}

int pmc_event_parse(const char *spec, struct pmc_event_desc *desc,
		    char *msg, size_t msglen)
{
	struct parse p = { .desc = desc, .msg = msg, .msglen = msglen };
	char words[SPEC_MAX];

	if (msg && msglen)
		msg[0] = '\0';
	memset(desc, 0, sizeof(*desc));
	if (!spec || !*spec)
		return fail(&p, "no event given");
	if (strlen(spec) >= sizeof(words))
		return fail(&p, "event longer than %d letters", SPEC_MAX - 1);
	strcpy(words, spec);
	if (parse_modifiers(&p, words) || parse_words(&p, words))
		return -1;
	finish_name(desc);
	return 0;
}

int pmc_event_names_of_class(enum pmc_class cl, const char ***eventnames,
			     int *nevents)
{
	const char **names;
	size_t i;

	if (cl != PMC_CLASS_SOFT) {
		errno = EINVAL;
		return -1;
	}
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
