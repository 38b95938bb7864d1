// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>

#include "machine/buildids.h"

/* The path after three numbers, or NULL. */
static const char *qualified_path(const char *name)
{
	int i;

	for (i = 0; i < 3; i++) {
		size_t digits = strspn(name, "0123456789");

		if (!digits || name[digits] != ':')
			return NULL;
		name += digits + 1;
	}
	return *name == '/' ? name : NULL;
}

static struct buildid *find(const struct buildids *t, uint32_t name)
{
	uint32_t i = IDTAB_FIND(&t->tab, hash_mix(name, 0), t->id, e, e->name == name);

	return i == IDTAB_NONE ? NULL : &t->id[i];
}

const struct buildid *buildids_find(const struct buildids *t, uint32_t name)
{
	return find(t, name);
}

void buildids_add(struct buildids *t, struct strtab *str, const char *name,
		  const void *id, uint32_t len)
{
	struct buildid new = { .name = strtab_id(str, name), .len = len };
	const char *path = qualified_path(name);
	struct buildid *old = find(t, new.name);

	if (!len || len > BUILDID_MAX)
		return;
	memcpy(new.id, id, len);
	if (path)
		new.path = strtab_id(str, path);
	if (old) {
		if (!t->final)
			*old = new;
		return;
	}
	GROW(t->id, t->n, t->cap);
	t->id[t->n] = new;
	idtab_add(&t->tab, hash_mix(new.name, 0), t->n++);
}

static char *qualified_name(const struct strtab *str, const struct object *o)
{
	return xasprintf("%" PRIu32 ":%" PRIu32 ":%" PRIu64 ":%s",
			 o->dev_major, o->dev_minor, o->ino,
			 strtab_str(str, o->path));
}

const struct buildid *buildids_of(const struct buildids *t, struct strtab *str,
				  const struct object *o)
{
	const struct buildid *b = NULL;
	char *name;

	if (o->ino) {
		name = qualified_name(str, o);
		b = find(t, strtab_id(str, name));
		free(name);
	}
	return b ? b : find(t, o->path);
}

void buildids_keep(struct buildids *t, struct strtab *str,
		   const struct objects *objs)
{
	const struct object *o;
	struct buildid *b, id;
	char *name;

	for (o = objs->obj; o < objs->obj + objs->n; o++) {
		b = o->kind == OBJ_FILE && o->ino ? find(t, o->path) : NULL;
		if (!b)
			continue;
		id = *b;
		name = qualified_name(str, o);
		if (!find(t, strtab_id(str, name)))
			buildids_add(t, str, name, id.id, id.len);
		free(name);
	}
}

bool buildids_of_other(const struct buildids *t, const struct object *o,
		       const void *id, size_t len)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->id[i].path && t->id[i].path == o->path &&
		    buildid_is(&t->id[i], id, len))
			return true;
	return false;
}

void buildids_free(struct buildids *t)
{
	free(t->id);
	idtab_free(&t->tab);
}
