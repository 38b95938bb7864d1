/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --only and --not: which samples are recorded.  Like other modifiers they hold
 * for the PMCs named after them; a repeated option adds a condition.
 */
#include <ctype.h>
#include <string.h>

#include "options/options.h"

/**
 * struct kind - a kind of condition
 * @negate: the word is true where the kernel's condition is false
 */
static const struct kind {
	const char	*word;
	uint32_t	what;
	int		negate;
} kinds[] = {
	{ "pid=",	HWPMC_COND_PID, 0 },
	{ "tid=",	HWPMC_COND_TID, 0 },
	{ "comm=",	HWPMC_COND_COMM, 0 },
	{ "cgroup=",	HWPMC_COND_CGROUP, 0 },
	{ "user",	HWPMC_COND_USER, 0 },
	{ "kernel",	HWPMC_COND_USER, 1 },
};

static const char *option_of(uint32_t op)
{
	return op == HWPMC_COND_EQ ? "--only" : "--not";
}

/* @text is printed up to the next comma, or to its end */
static int fail(struct parser *p, uint32_t op, const char *text,
		const char *why)
{
	return options_fail(p, "%s %.*s: %s", option_of(op),
			    (int)strcspn(text, ","), text, why);
}

static const struct kind *find_kind(const char *text, size_t len)
{
	size_t i, n;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = strlen(kinds[i].word);
		if (len >= n && !strncmp(text, kinds[i].word, n) &&
		    (len == n || kinds[i].word[n - 1] == '='))
			return &kinds[i];
	}
	return NULL;
}

static int parse_id(const char *text, size_t len, int64_t *id)
{
	size_t i;

	*id = 0;
	for (i = 0; i < len && isdigit((unsigned char)text[i]); i++) {
		*id = *id * 10 + text[i] - '0';
		if (*id > INT32_MAX)
			return -1;
	}
	return len && i == len && *id ? 0 : -1;
}

/* Parses the text after the word; NULL, or the reason for a failure */
static const char *parse_value(struct hwpmc_condition *c, const char **path,
			       const char *text, size_t len)
{
	switch (c->what) {
	case HWPMC_COND_PID: case HWPMC_COND_TID:
		return parse_id(text, len, (int64_t *)&c->value) ?
		       "not a number" : NULL;
	case HWPMC_COND_COMM:
		if (!len || len >= sizeof(c->comm))
			return "names of threads have 1 to 15 letters";
		memcpy(c->comm, text, len);
		return NULL;
	case HWPMC_COND_CGROUP:
		*path = text;
		return len ? NULL : "which control group?";
	default:
		return NULL;
	}
}

static int add_condition(struct parser *p, uint32_t op, const char *text)
{
	size_t len = strcspn(text, ","), n;
	const struct kind *kind = find_kind(text, len);
	struct wanted *f = &p->filter;
	struct hwpmc_condition *c = &f->condition[f->n];
	const char *why;

	if (!kind)
		return fail(p, op, text, "not pid=N, tid=N, comm=NAME, "
			    "cgroup=DIR, user or kernel");
	if (f->n == HWPMC_NCONDITION)
		return options_fail(p, "more than %d conditions",
				    HWPMC_NCONDITION);
	n = strlen(kind->word);
	memset(c, 0, sizeof(*c));
	c->what = kind->what;
	c->op = kind->negate ? HWPMC_COND_EQ + HWPMC_COND_NE - op : op;
	f->cgroup[f->n] = NULL;
	f->only[f->n] = op == HWPMC_COND_EQ;
	why = parse_value(c, &f->cgroup[f->n], text + n, len - n);
	if (why)
		return fail(p, op, text, why);
	f->n++;
	return 0;
}

int parse_filter(struct parser *p, int only, const char *text)
{
	uint32_t op = only ? HWPMC_COND_EQ : HWPMC_COND_NE;

	if (only && !strcmp(text, "all")) {
		memset(&p->filter, 0, sizeof(p->filter));
		return 0;
	}
	for (;;) {
		if (add_condition(p, op, text))
			return -1;
		text += strcspn(text, ",");
		if (!*text++)
			return 0;
	}
}

/* --only user,kernel: the kernel's two conditions exclude each other, and all is asked for. */
static void drop_both_spaces(struct wanted *f)
{
	const struct hwpmc_condition *c = f->condition;
	unsigned int met = 0;
	uint32_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (f->only[i] && c[i].what == HWPMC_COND_USER)
			met |= 1U << c[i].op;
	if (met != (1U << HWPMC_COND_EQ | 1U << HWPMC_COND_NE))
		return;
	for (i = 0; i < f->n; i++) {
		if (f->only[i] && c[i].what == HWPMC_COND_USER)
			continue;
		f->condition[n] = f->condition[i];
		f->cgroup[n] = f->cgroup[i];
		f->only[n++] = f->only[i];
	}
	f->n = n;
}

int filter_for(struct parser *p, struct counter *c)
{
	c->filter = p->filter;
	drop_both_spaces(&c->filter);
	if (!p->filter.n || PMC_IS_SAMPLING_MODE(c->mode))
		return 0;
	return options_fail(p, "-%c %s: --only and --not are for samples, not "
			    "for counts: put it before them, or \"--only all\" "
			    "between", c->mode == PMC_MODE_SC ? 's' : 'p',
			    c->spec);
}
