// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "sample/filter.h"

static int bad(const char *option, const char *arg, const char *want)
{
	warn_line("--%s %s: %s", option, arg, want);
	return -1;
}

static bool number(const char **s, uint32_t *value)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	v = strtoull(*s, &end, 10);
	if (errno || v > UINT32_MAX)
		return false;
	*value = (uint32_t)v;
	*s = end;
	return true;
}

static int ids(struct id_ranges *t, const char *option, const char *arg)
{
	static const char want[] = "numbers are wanted, as in 3,8-11";
	struct id_range r;
	const char *s = arg;

	for (;; s++) {
		if (!number(&s, &r.from))
			return bad(option, arg, want);
		r.to = r.from;
		if (*s == '-') {
			s++;
			if (!number(&s, &r.to) || r.to < r.from)
				return bad(option, arg, want);
		}
		APPEND(t->range, t->n, t->cap) = r;
		if (!*s)
			return 1;
		if (*s != ',')
			return bad(option, arg, want);
	}
}

/* Parses a moment at *@s, and advances *@s. */
static bool moment(const char **s, struct moment *m)
{
	static const struct {
		const char *name;
		double factor;
		bool part;
	} units[] = {
		{ "ms", 1e-3, false }, { "us", 1e-6, false },
		{ "ns", 1e-9, false }, { "s", 1, false },
		{ "%", 0.01, true }, { "", 1, false },
	};
	size_t i, len;
	char *end;

	if (!isdigit((unsigned char)**s) && **s != '.')
		return false;
	m->value = strtod(*s, &end);
	if (end == *s || !isfinite(m->value))
		return false;
	for (i = 0;; i++) {
		len = strlen(units[i].name);
		if (!strncmp(end, units[i].name, len))
			break;
	}
	m->value *= units[i].factor;
	m->part = units[i].part;
	*s = end + len;
	return true;
}

bool filter_seconds(const char *arg, double *seconds)
{
	struct moment m;

	if (!moment(&arg, &m) || *arg || m.part)
		return false;
	*seconds = m.value;
	return true;
}

static int window(struct filter *f, const char *arg)
{
	static const char want[] = "a range is wanted, as in 1.5-2s, 3-, "
				   "40%-50% or 2s+100ms";
	const char *s = arg;
	bool length = false;

	if (f->timed)
		return bad("time", arg, "only one range can be given");
	f->from = (struct moment){ .value = 0 };
	f->to = (struct moment){ .value = INFINITY };
	if (*s != '-' && !moment(&s, &f->from))
		return bad("time", arg, want);
	if (*s != '-' && *s != '+')
		return bad("time", arg, want);
	length = *s++ == '+';
	if (*s && (!moment(&s, &f->to) || *s))
		return bad("time", arg, want);
	if (length && (f->from.part != f->to.part || isinf(f->to.value)))
		return bad("time", arg, want);
	if (length)
		f->to.value += f->from.value;
	if (f->from.part == f->to.part && f->to.value < f->from.value)
		return bad("time", arg, "it ends before it begins");
	f->timed = true;
	return 1;
}

static int negate(struct filter *f)
{
	if (!filter_complete(f))
		return -1;
	f->negate = true;
	return 1;
}

bool filter_negated(struct filter *f)
{
	bool negated = f->negate;

	f->negate = false;
	return negated;
}

bool filter_complete(const struct filter *f)
{
	if (f->negate)
		warn_line("--not: no condition follows it");
	return !f->negate;
}

static int condition(struct filter *f, int opt, const char *arg)
{
	switch (opt) {
	case FILTER_PID:
		return ids(&f->pid, "pid", arg);
	case FILTER_TID:
		return ids(&f->tid, "tid", arg);
	case FILTER_CPU:
		return ids(&f->cpu, "cpu", arg);
	case FILTER_COMM:
		APPEND(f->comm, f->ncomm, f->capcomm) = xstrdup(arg);
		return 1;
	case FILTER_TIME:
		return window(f, arg);
	case FILTER_USER:
		f->user = true;
		return 1;
	case FILTER_KERNEL:
		f->kernel = true;
		return 1;
	default:
		return 0;
	}
}

int filter_option(struct filter *f, int opt, const char *arg)
{
	if (opt == FILTER_NOT)
		return negate(f);
	if (!f->negate || opt < FILTER_PID || opt > FILTER_NOT)
		return condition(f, opt, arg);
	f->negate = false;
	GROW(f->not, f->nnot, f->capnot);
	f->not[f->nnot] = (struct filter){ .ncomm = 0 };
	return condition(&f->not[f->nnot++], opt, arg);
}

bool filter_any(const struct filter *f)
{
	return f->pid.n || f->tid.n || f->cpu.n || f->ncomm || f->user ||
	       f->kernel || f->timed || f->nnot;
}

bool filter_needs_end(const struct filter *f)
{
	uint32_t i;

	for (i = 0; i < f->nnot; i++)
		if (filter_needs_end(&f->not[i]))
			return true;
	return f->timed && (f->from.part || f->to.part);
}

static uint64_t clock_of(const struct moment *m, uint64_t freq, uint64_t begin,
			 uint64_t end)
{
	double unit = m->part ? (double)(end - begin) : (double)freq;
	double ticks = m->value * unit;

	/* the whole log includes its last record */
	if (isinf(m->value) || (m->part && m->value >= 1) ||
	    ticks >= (double)(UINT64_MAX - begin))
		return UINT64_MAX;
	return begin + (uint64_t)ticks;
}

void filter_clock(struct filter *f, uint64_t freq, uint64_t begin,
		  uint64_t end)
{
	uint32_t i;

	for (i = 0; i < f->nnot; i++)
		filter_clock(&f->not[i], freq, begin, end);
	f->begin = clock_of(&f->from, freq, begin, end);
	f->end = clock_of(&f->to, freq, begin, end);
}

static bool in_ranges(const struct id_ranges *t, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (id >= t->range[i].from && id <= t->range[i].to)
			return true;
	return !t->n;
}

static bool wanted_comm(const struct filter *f, const char *comm)
{
	uint32_t i;

	/* a name may itself contain special characters of patterns */
	for (i = 0; i < f->ncomm; i++)
		if (!strcmp(f->comm[i], comm) || !fnmatch(f->comm[i], comm, 0))
			return true;
	return !f->ncomm;
}

bool filter_sample(const struct filter *f, const struct sample *s,
		   const char *comm)
{
	uint32_t i;

	for (i = 0; i < f->nnot; i++)
		if (filter_sample(&f->not[i], s, comm))
			return false;
	if (!filter_time(f, s->tsc))
		return false;
	if ((f->user || f->kernel) && !(s->kernel ? f->kernel : f->user))
		return false;
	return in_ranges(&f->pid, s->pid) && in_ranges(&f->tid, s->tid) &&
	       in_ranges(&f->cpu, s->cpu) && wanted_comm(f, comm);
}

static bool in_window(const struct filter *f, uint64_t first, uint64_t last)
{
	return !f->timed || (last >= f->begin && first < f->end);
}

bool filter_loss(const struct filter *f, uint32_t cpu, uint64_t first,
		 uint64_t last)
{
	const struct filter *no;
	uint32_t i;

	for (i = 0; i < f->nnot; i++) {
		no = &f->not[i];
		if (no->cpu.n && in_ranges(&no->cpu, cpu))
			return false;
		if (no->timed && first >= no->begin && last < no->end)
			return false;
	}
	return in_ranges(&f->cpu, cpu) && in_window(f, first, last);
}

void filter_free(struct filter *f)
{
	uint32_t i;

	for (i = 0; i < f->ncomm; i++)
		free(f->comm[i]);
	for (i = 0; i < f->nnot; i++)
		filter_free(&f->not[i]);
	free(f->not);
	free(f->comm);
	free(f->pid.range);
	free(f->tid.range);
	free(f->cpu.range);
}
