// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "machine/objects.h"

static uint32_t brief(struct strtab *str, const struct object *o)
{
	const char *path = strtab_str(str, o->path), *base;
	uint32_t id;
	char *s;

	if (o->kind == OBJ_MODULE) {
		s = xasprintf("[%s]", path);
		id = strtab_id(str, s);
		free(s);
		return id;
	}
	/* so that the code of two runs, or of two workers, has one name */
	if (o->kind == OBJ_JIT)
		return strtab_id(str, "[JIT]");
	base = strrchr(path, '/');
	return strtab_id(str, o->kind == OBJ_FILE && base && base[1] ?
			      base + 1 : path);
}

/*
 * One file can have two devices in a log, on an overlay: what was mapped before the
 * recording has that of the file below.
 */
static void file_of_path(struct objects *t, uint32_t id)
{
	struct object *o = &t->obj[id];
	uint64_t hash = hash_mix(hash_mix(o->path, o->dev_major), o->dev_minor);
	uint32_t first = IDTAB_FIND(&t->of_path, hash, t->obj, e,
				    e->path == o->path && e->dev_major == o->dev_major &&
				    e->dev_minor == o->dev_minor);

	if (first == IDTAB_NONE)
		idtab_add(&t->of_path, hash, id);
	else
		o->shares_path = t->obj[first].shares_path = true;
}

uint32_t objects_id(struct objects *t, struct strtab *str,
		    const struct object *want)
{
	uint64_t hash = hash_mix(hash_mix(want->path, want->kind), want->ino);
	uint32_t id;

	hash = hash_mix(hash, (uint64_t)want->dev_major << 32 |
			      want->dev_minor);
	id = IDTAB_FIND(&t->tab, hash, t->obj, e,
			e->kind == want->kind && e->path == want->path && e->ino == want->ino &&
			e->dev_major == want->dev_major && e->dev_minor == want->dev_minor);
	if (id != IDTAB_NONE)
		return id;
	GROW(t->obj, t->n, t->cap);
	t->obj[t->n] = *want;
	t->obj[t->n].brief = brief(str, want);
	idtab_add(&t->tab, hash, t->n);
	if (want->kind == OBJ_FILE)
		file_of_path(t, t->n);
	return t->n++;
}

void objects_mapped(struct objects *t, uint32_t id, uint64_t tsc)
{
	struct object *o = &t->obj[id];

	if (!o->first || (tsc < o->first && !o->first_wall))
		o->first = tsc;
}

void objects_init(struct objects *t, struct strtab *str)
{
	struct object unknown = {
		.kind = OBJ_UNKNOWN, .path = strtab_id(str, "[unknown]"),
	};
	struct object kernel = {
		.kind = OBJ_KERNEL, .path = strtab_id(str, "[kernel]"),
	};

	memset(t, 0, sizeof(*t));
	objects_id(t, str, &unknown);
	objects_id(t, str, &kernel);
}

void objects_free(struct objects *t)
{
	free(t->obj);
	idtab_free(&t->tab);
	idtab_free(&t->of_path);
}

enum obj_kind objects_kind(const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return OBJ_VDSO;
	/* "//anon", "[heap]", "anon_inode:...": memory, not files */
	if (path[0] != '/' || path[1] == '/')
		return OBJ_ANON;
	return OBJ_FILE;
}

/* Different addresses of one object have different hashes. */
static uint64_t hash_frame(uint32_t obj, uint64_t addr)
{
	return hash_number(addr + obj * 0x9E3779B97F4A7C15ULL);
}

void frames_prefetch(const struct frames *t, uint32_t obj, uint64_t addr)
{
	idtab_prefetch(&t->tab, hash_frame(obj, addr));
}

uint32_t frames_id(struct frames *t, uint32_t obj, uint64_t addr)
{
	uint64_t hash = hash_frame(obj, addr);
	uint32_t id = idtab_find_exact(&t->tab, hash, obj);

	if (id != IDTAB_NONE)
		return id;
	GROW(t->frame, t->n, t->cap);
	t->frame[t->n] = (struct frame){ .addr = addr, .obj = obj };
	idtab_add_exact(&t->tab, hash, obj, t->n);
	return t->n++;
}

void frames_free(struct frames *t)
{
	free(t->frame);
	idtab_free(&t->tab);
}
