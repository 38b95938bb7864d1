/* SPDX-License-Identifier: BSD-2-Clause */
/* The place of a probe in the kernel, or in a program or library. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>

#include "libpmc_event.h"
#include "libpmc_fail.h"

/* Only characters that the kernel takes as part of a name */
static int is_symbol(const char *word)
{
	const char *c;

	for (c = word; isalnum((unsigned char)*c) || strchr("_.$", *c); c++)
		if (!*c)
			break;
	return c != word && !*c && strlen(word) < 256;
}

/* Makes a valid name for an event in tracefs. */
static void make_label(struct pmc_probe_def *def, const char *symbol)
{
	size_t i;

	for (i = 0; symbol[i] && i < sizeof(def->label) - 1; i++)
		def->label[i] = isalnum((unsigned char)symbol[i]) ?
				symbol[i] : '_';
	def->label[i] = '\0';
}

/* Cuts "+OFFSET" off. */
static int take_offset(struct pmc_parse *p, char *word, uint64_t *offset)
{
	char *plus = strchr(word, '+');

	*offset = 0;
	if (!plus)
		return 0;
	*plus++ = '\0';
	if (pmc_parse_number(plus, 0, offset))
		return pmc_parse_fail(p, "\"+%s\": not an offset", plus);
	return 0;
}

/* Cuts ":entry" or ":return" off the front of *tail; returns 1 for ":return" */
static int take_end(char **tail)
{
	static const char *const words[] = { ":entry", ":return" };
	size_t len;
	int i;

	for (i = 0; i < 2; i++) {
		len = strlen(words[i]);
		if (strncmp(*tail, words[i], len) ||
		    ((*tail)[len] && !strchr(":,", (*tail)[len])))
			continue;
		*tail += len;
		return i;
	}
	return 0;
}

static int finish(struct pmc_parse *p, char *tail, uint64_t offset)
{
	struct pmc_event_desc *d = p->desc;

	if (offset && p->probe.ret)
		return pmc_parse_fail(p, "a function returns at no offset");
	d->type = PERF_TYPE_TRACEPOINT;
	d->period = 1;
	d->flags |= PMC_EVENT_TRACEPOINT | PMC_EVENT_PROBE;
	return pmc_parse_tail(p, tail);
}

static void make_name(struct pmc_parse *p, const char *provider,
		      const char *word)
{
	const char *end = p->probe.ret ? ":return" : "";
	int room = LABEL_MAX - (int)(strlen(provider) + strlen(end));

	snprintf(p->desc->name, sizeof(p->desc->name), "%s%.*s%s", provider,
		 room, word, end);
}

/* [MODULE:]FUNCTION[+OFFSET][:return|:entry] */
int pmc_place_kprobe(struct pmc_parse *p, char *text)
{
	size_t len = strcspn(text, ":,");
	char word[SPEC_MAX], *tail = text + len, *colon;
	uint64_t offset;

	/* a module's name: another name follows, not :entry, :return or a modifier */
	if (text[len] == ':' && tail[1 + strspn(tail + 1, "uk")] &&
	    !strchr(":,", tail[1 + strspn(tail + 1, "uk")]) &&
	    strncmp(tail, ":return", 7) && strncmp(tail, ":entry", 6))
		tail += 1 + strcspn(tail + 1, ":,");
	snprintf(word, sizeof(word), "%.*s", (int)(tail - text), text);
	p->probe.ret = take_end(&tail);
	make_name(p, "kprobe:", word);
	if (take_offset(p, word, &offset))
		return -1;
	colon = strchr(word, ':');
	if (colon)
		*colon = '\0';
	if (!is_symbol(word) || (colon && !is_symbol(colon + 1)))
		return pmc_parse_fail(p, "a kprobe is FUNCTION[+OFFSET] or "
				      "FUNCTION:return");
	make_label(&p->probe, colon ? colon + 1 : word);
	if (colon)
		*colon = ':';
	snprintf(p->probe.place, sizeof(p->probe.place),
		 offset ? "%s+%#" PRIx64 : "%s", word, offset);
	return finish(p, tail, offset);
}

/* ------------------------------------------------------------------------
 * Programs and libraries
 */
struct lookup {
	const char	*name;
	uint64_t	offset;
	int		found;		/* places */
	int		global;
	struct pmc_near	near;
};

static void look_at(void *arg, const char *name, uint64_t offset, int global)
{
	struct lookup *l = arg;
	size_t len = strcspn(name, "@");	/* a version may follow */

	if (strncmp(name, l->name, len) || l->name[len]) {
		pmc_near_offer(&l->near, name);
		return;
	}
	/* a global function has priority over static ones */
	if (l->found && (l->offset == offset || (l->global && !global)))
		return;
	l->found = l->found && l->global == global ? l->found + 1 : 1;
	l->offset = offset;
	l->global = global;
}

static int resolve(struct pmc_parse *p, const char *path, const char *symbol,
		   uint64_t *offset)
{
	struct lookup l = { .name = symbol, .near.word = symbol };
	int err;

	if (pmc_elf_functions(path, look_at, &l)) {
		err = errno;
		pmc_parse_fail(p, "%s: %s", path, err == ENOEXEC ?
			       "not a program or library" : strerror(err));
		return fail_with(err == EACCES || err == EPERM ? EACCES : EINVAL);
	}
	if (l.found > 1)
		return pmc_parse_fail(p, "%s has %d functions \"%s\": give the "
				      "offset in the file, +OFFSET", path,
				      l.found, symbol);
	if (!l.found) {
		pmc_parse_fail(p, "%s has no function \"%s\"", path, symbol);
		return pmc_near_say(&l.near, p);
	}
	*offset += l.offset;
	return 0;
}

/* The colon after the path; the path may have colons, too. */
static char *end_of_path(char *text)
{
	char *colon = NULL, *c;
	struct stat st;

	for (c = strchr(text, ':'); c; c = strchr(c + 1, ':')) {
		*c = '\0';
		if (!colon || (!stat(text, &st) && S_ISREG(st.st_mode)))
			colon = c;
		*c = ':';
	}
	return colon;
}

static int check_path(struct pmc_parse *p, const char *path)
{
	const char *c;

	if (*path != '/')
		return pmc_parse_fail(p, "a uprobe's file is written with its "
				      "whole path");
	for (c = path; *c; c++)
		if (!isgraph((unsigned char)*c) || *c == '#')
			return pmc_parse_fail(p, "the kernel takes no blanks "
					      "and no # in the path of a "
					      "uprobe's file");
	return 0;
}

/* FILE:FUNCTION[+OFFSET][:return|:entry] or FILE:+OFFSET */
int pmc_place_uprobe(struct pmc_parse *p, char *text)
{
	char *colon = end_of_path(text), *tail, *base;
	char word[SPEC_MAX], label[SPEC_MAX + 32];
	uint64_t inside, offset;

	if (!colon || strchr(":,", colon[1]))
		return pmc_parse_fail(p, "a uprobe is FILE:FUNCTION[+OFFSET], "
				      "FILE:FUNCTION:return or FILE:+OFFSET");
	*colon++ = '\0';
	if (check_path(p, text))
		return -1;
	tail = colon + strcspn(colon, ":,");
	snprintf(word, sizeof(word), "%.*s", (int)(tail - colon), colon);
	p->probe.uprobe = 1;
	p->probe.ret = take_end(&tail);
	base = strrchr(text, '/') + 1;
	snprintf(label, sizeof(label), "%.*s:%s", 24, base, word);
	make_name(p, "uprobe:", label);
	make_label(&p->probe, *word == '+' ? base : word);
	if (take_offset(p, word, &inside))
		return -1;
	offset = inside;
	if (*word && !is_symbol(word))
		return pmc_parse_fail(p, "\"%s\": not a function's name", word);
	if (*word && resolve(p, text, word, &offset))
		return -1;
	snprintf(p->probe.place, sizeof(p->probe.place), "%s:%#" PRIx64, text,
		 offset);
	/* an offset in the file may be the start of a function */
	return finish(p, tail, *word ? inside : 0);
}
