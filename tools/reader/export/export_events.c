// SPDX-License-Identifier: BSD-2-Clause
/* Names of events, for formats whose readers take two of one name for one. */
#include "base/mem.h"
#include "export/export.h"

/**
 * struct taken - names by string number
 * @number: how often it was numbered
 * @used:   an event has it
 */
struct taken {
	struct taken_name {
		uint32_t number;
		bool used;
	} *of;
	uint32_t n;
};

static struct taken_name *taken_name(struct taken *t, uint32_t name)
{
	t->of = xgrow_zero(t->of, &t->n, name, 64, sizeof(*t->of));
	return &t->of[name];
}

/* "name_2", or another number with which it is no other's name */
static uint32_t numbered(struct strtab *str, struct taken *t, uint32_t name)
{
	uint32_t id;
	char *s;

	do {
		s = xasprintf("%s_%u", strtab_str(str, name), ++taken_name(t, name)->number + 1);
		id = strtab_id(str, s);
		free(s);
	} while (taken_name(t, id)->used);
	taken_name(t, id)->used = true;
	return id;
}

void export_number_names(struct export *e, uint32_t *names)
{
	struct taken t = { 0 };
	uint32_t i, n = e->a.p.events.n;
	bool *kept = xcalloc((size_t)n + 1, sizeof(*kept));

	/* the first of each name has it */
	for (i = 0; i < n; i++) {
		kept[i] = !names[i] || !taken_name(&t, names[i])->used;
		if (names[i])
			taken_name(&t, names[i])->used = true;
	}
	for (i = 0; i < n; i++)
		if (!kept[i])
			names[i] = numbered(&e->a.p.str, &t, names[i]);
	free(kept);
	free(t.of);
}

bool export_has_event(const struct export *e, uint32_t event)
{
	return e->a.use[event] && e->a.p.events.event[event].samples;
}

uint32_t *export_event_names(struct export *e)
{
	const struct events *t = &e->a.p.events;
	uint32_t *names = xcalloc((size_t)t->n + 1, sizeof(*names)), i;

	for (i = 0; i < t->n; i++)
		names[i] = export_has_event(e, i) ? t->event[i].name : 0;
	export_number_names(e, names);
	return names;
}
