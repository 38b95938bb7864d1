// SPDX-License-Identifier: BSD-2-Clause
/* Texts that the formats write often: each is made once, then copied. */
#include <stdlib.h>

#include "base/digits.h"
#include "export/export.h"

/**
 * struct scratch - buffer in which a text is made
 * @o:    the stream to write it to
 * @full: the first @n bytes of a text that does not fit into @o's buffer
 */
struct scratch {
	struct out o;
	char *full;
	size_t n, cap;
};

static void keep(struct out *o, const char *p, size_t n)
{
	struct scratch *s = (struct scratch *)o;

	if (s->cap - s->n < n) {
		s->cap = 2 * (s->n + n);
		s->full = xreallocarray(s->full, s->cap, 1);
	}
	memcpy(s->full + s->n, p, n);
	s->n += n;
}

void export_start(struct export *e)
{
	struct scratch *s = xcalloc(1, sizeof(*s));

	s->o.sink = keep;
	e->scratch = &s->o;
}

static void texts_free(struct texts *t)
{
	free(t->text);
	arena_free(&t->mem);
}

void export_free(struct export *e)
{
	export_levels_free(e);
	texts_free(&e->funcs);
	texts_free(&e->frames);
	texts_free(&e->strings);
	texts_free(&e->objects);
	texts_free(&e->events);
	free(((struct scratch *)e->scratch)->full);
	free(e->scratch);
}

static struct text *text_of(struct texts *t, uint32_t id)
{
	t->text = xgrow_zero(t->text, &t->n, id, 1024, sizeof(*t->text));
	return &t->text[id];
}

const struct text *texts_share(struct texts *t, uint32_t id,
			       const struct text *text)
{
	struct text *own = text_of(t, id);

	*own = *text;
	return own;
}

struct text text_made(struct out *scratch)
{
	struct scratch *from = (struct scratch *)scratch;
	struct text text;

	if (from->n)
		out_flush(scratch);
	text.s = from->n ? from->full : scratch->buf;
	text.n = (uint32_t)(from->n + scratch->n);
	scratch->n = from->n = 0;
	return text;
}

const struct text *texts_put(struct texts *t, uint32_t id, struct out *scratch)
{
	struct text *text = text_of(t, id);
	struct scratch *from = (struct scratch *)scratch;
	size_t n = from->n + scratch->n;
	char *s = arena_alloc(&t->mem, (n + TEXT_ALIGN) &
				       ~(size_t)(TEXT_ALIGN - 1));

	if (from->n)
		memcpy(s, from->full, from->n);
	memcpy(s + from->n, scratch->buf, scratch->n);
	text->s = s;
	text->n = (uint32_t)n;
	scratch->n = from->n = 0;
	return text;
}

/* Prefetches two cache lines of each text; most are not longer. */
void texts_prepare(struct export *e, const struct sample *s)
{
	const struct text *t;
	uint32_t i;

	for (i = 0; i < s->nframes; i++) {
		t = texts_get(&e->frames, s->frames[i]);
		if (!t)
			t = e->format->frame(e, s->frames[i]);
		__builtin_prefetch(t->s);
		__builtin_prefetch(t->s + 64);
	}
}

int64_t export_ns(const struct export *e, uint64_t tsc)
{
	const struct log_facts *log = &e->a.p.log;

	return ticks_ns((int64_t)(tsc - log->begin), log->freq);
}

int64_t export_unix_ns(const struct export *e, uint64_t tsc)
{
	return wallclock_at(&e->a.p.log.wall, tsc);
}

void out_decimal(struct out *o, int64_t v, unsigned int digits)
{
	char buf[2 * DIGITS_MAX + 2];
	uint64_t scale = 1;
	unsigned int i;

	for (i = 0; i < digits; i++)
		scale *= 10;
	out_bytes(o, buf, (size_t)(put_parts(buf, v, scale, digits) - buf));
}

uint64_t export_weight(const struct export *e, const struct chain *c)
{
	return analysis_count(&e->a.p, c, e->unit);
}

uint64_t export_period(const struct export *e, const struct sample *s)
{
	return export_varies(e, s->event) ? s->weight :
	       e->a.p.events.event[s->event].rate;
}

uint32_t export_object(const struct export *e, uint32_t func)
{
	const struct profile *p = &e->a.p;
	const struct object *o = &p->objs.obj[p->funcs.func[func].obj];

	return o->kind == OBJ_MODULE ? o->brief : o->path;
}

void export_shown(const struct export *e, char buf[SHOWN_MAX], uint32_t str)
{
	shown_str(buf, &e->a.p.str, str);
}
