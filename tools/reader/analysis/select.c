// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/select.h"
#include "analysis/shown.h"
#include "base/say.h"

/* ------------------------------------------------------------------------
 * Options
 */
static int bad(const char *option, const char *arg, const char *want)
{
	warn_line("--%s \"%s\": %s", option, arg, want);
	return -1;
}

static int on_frames(struct select *t, bool negated, uint64_t *kind,
		     const char *option, const char *arg)
{
	uint64_t bit;

	if (!*arg)
		return bad(option, arg, "a name or a pattern is wanted");
	if (t->n == SELECT_MAX)
		return bad(option, arg, "too many of these");
	bit = 1ULL << t->n;
	t->pattern[t->n++] = arg;
	*kind |= bit;
	t->negated |= negated ? bit : 0;
	return 1;
}

static int on_field(struct select *t, bool negated, const char *arg)
{
	const char *eq = strchr(arg, '=');

	if (!eq || eq == arg)
		return bad("field", arg, "NAME=VALUE is wanted");
	APPEND(t->field, t->nfield, t->capfield) = (struct field_choice){
		.name = xasprintf("%.*s", (int)(eq - arg), arg),
		.value = eq + 1, .negated = negated,
	};
	return 1;
}

int select_option(struct select *t, struct filter *f, int opt,
		  const char *arg)
{
	switch (opt) {
	case SELECT_SYM:
		return on_frames(t, filter_negated(f), &t->sym, "sym", arg);
	case SELECT_DSO:
		return on_frames(t, filter_negated(f), &t->dso, "dso", arg);
	case SELECT_FIELD:
		return on_field(t, filter_negated(f), arg);
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------------
 * Functions and objects
 */

/* A name may itself contain special characters of patterns. */
static bool is_like(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

/* Matches the raw name, or the shown one with or without parameters. */
static bool is_named(const char *pattern, const char *raw, const char *shown)
{
	char name[SHOWN_MAX];
	size_t n, i;

	if ((*raw && is_like(pattern, raw)) || is_like(pattern, shown))
		return true;
	n = strlen(shown);
	for (i = 1; *raw && i < n && i < sizeof(name); i++) {
		if (shown[i] != '(' && shown[i] != '[')
			continue;
		memcpy(name, shown, i);
		name[i] = '\0';
		if (is_like(pattern, name))
			return true;
	}
	return false;
}

static bool meets(const struct select *t, struct profile *p, uint32_t i,
		  uint32_t func)
{
	const struct func *f = &p->funcs.func[func];
	const struct object *o = &p->objs.obj[f->obj];

	if (t->dso >> i & 1)
		return is_like(t->pattern[i], strtab_str(&p->str, o->brief)) ||
		       is_like(t->pattern[i], strtab_str(&p->str, o->path));
	return is_named(t->pattern[i], strtab_str(&p->str, f->name),
			strtab_str(&p->str, func_shown(p, func, true)));
}

/* Checks new functions; they are numbered in the order of appearance. */
static void look_at_new(struct select *t, struct profile *p)
{
	uint64_t met;
	uint32_t i;

	while (t->nmet < p->funcs.n) {
		for (met = 0, i = 0; i < t->n; i++)
			met |= (uint64_t)meets(t, p, i, t->nmet) << i;
		APPEND(t->met, t->nmet, t->capmet) = met;
	}
}

static void see_frames(struct select *t, struct profile *p,
		       const struct sample *s)
{
	uint32_t i;

	if (!resolver_update(&t->r, p)) {
		t->failed = true;
		return;
	}
	look_at_new(t, p);
	for (i = 0; i < s->nframes; i++)
		t->frames |= t->met[p->frames.frame[s->frames[i]].func];
}

struct seen {
	struct select *t;
	struct profile *p;
};

static void on_samples(void *ctx, const struct sample *s, uint32_t n)
{
	const struct seen *seen = ctx;

	while (n--)
		see_frames(seen->t, seen->p, s++);
}

uint64_t select_frames(struct select *t, struct profile *p,
		       const struct aspace *as, bool kernel,
		       const unsigned char *pc, uint32_t n)
{
	struct sample s = { .kernel = kernel };
	struct seen seen = { t, p };

	if (!t->n || !n || t->failed)
		return 0;
	t->frames = 0;
	p->on_samples = on_samples;
	p->on_sample_ctx = &seen;
	roll_wait(p, as, &s, pc, n);
	roll_flush(p);
	return t->frames;
}

bool select_wanted(const struct select *t, uint64_t met)
{
	uint64_t sym = t->sym & ~t->negated, dso = t->dso & ~t->negated;

	return !(met & t->negated) && (!sym || met & sym) &&
	       (!dso || met & dso);
}

bool select_is_known(const struct select *t, uint64_t met)
{
	if (met & t->negated)
		return true;
	return !t->negated && select_wanted(t, met);
}

/* ------------------------------------------------------------------------
 * Fields
 */
static bool whole_number(const char *s, uint64_t *v)
{
	bool minus = *s == '-';
	char *end;

	s += minus;
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*v = strtoull(s, &end, 0);
	if (minus)
		*v = -*v;
	return !errno && !*end;
}

/* Compares values, since addresses are shown in hexadecimal, others not. */
static bool same_number(const char *a, const char *b)
{
	uint64_t x, y;

	return whole_number(a, &x) && whole_number(b, &y) && x == y &&
	       (*a == '-') == (*b == '-');
}

static bool has_value(const struct field_choice *c, const struct tp_format *f,
		      const struct tp_raw *raw)
{
	const struct tp_field *field = f ? tp_field(f, c->name) : NULL;
	const char *text;
	size_t n;
	char value[8 * BYFIELD_MAX];

	if (!field || !raw->data)
		return false;
	text = byfield_text(field, raw, &n);
	n = n < sizeof(value) ? n : sizeof(value) - 1;
	memcpy(value, text, n);
	value[n] = '\0';
	return is_like(c->value, value) ||
	       (field->kind == TP_NUMBER && !field->array &&
		same_number(c->value, value));
}

/* With several values for one field, one of them has to match. */
static bool some_value(const struct select *t, uint32_t first,
		       const struct tp_format *f, const struct tp_raw *raw)
{
	uint32_t i;

	for (i = first; i < t->nfield; i++)
		if (!t->field[i].negated &&
		    !strcmp(t->field[i].name, t->field[first].name) &&
		    has_value(&t->field[i], f, raw))
			return true;
	return false;
}

static bool is_first(const struct select *t, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < i; j++)
		if (!t->field[j].negated &&
		    !strcmp(t->field[i].name, t->field[j].name))
			return false;
	return true;
}

bool select_fields(const struct select *t, const struct tp_format *f,
		   const struct tp_raw *raw)
{
	uint32_t i;

	for (i = 0; i < t->nfield; i++) {
		if (t->field[i].negated && has_value(&t->field[i], f, raw))
			return false;
		if (!t->field[i].negated && is_first(t, i) &&
		    !some_value(t, i, f, raw))
			return false;
	}
	return true;
}

static bool some_tracepoint(const struct tracepoints *tps, const char *name)
{
	uint32_t i;

	for (i = 0; i < tps->n; i++)
		if (tps->tp[i].format && tp_field(tps->tp[i].format, name))
			return true;
	return false;
}

void select_see_fields(struct select *t, const struct tracepoints *tps)
{
	uint32_t i;

	for (i = 0; i < t->nfield; i++)
		t->field[i].known |= some_tracepoint(tps, t->field[i].name);
}

const char *select_no_field(const struct select *t)
{
	uint32_t i;

	for (i = 0; i < t->nfield; i++)
		if (!t->field[i].known)
			return t->field[i].name;
	return NULL;
}

void select_free(struct select *t)
{
	uint32_t i;

	for (i = 0; i < t->nfield; i++)
		free(t->field[i].name);
	free(t->field);
	free(t->met);
	resolver_close(&t->r);
}
