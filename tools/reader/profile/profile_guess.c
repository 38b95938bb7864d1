// SPDX-License-Identifier: BSD-2-Clause
#include "profile/profile_guess.h"

#define PAGE_MASK	4095ULL

void map_clip(const struct aspace *as, struct mapping *m)
{
	const struct mapping *next = aspace_next(as, m->start);

	/* an older mapping with the same start is replaced */
	if (next && next->start > m->start && next->start < m->end)
		m->end = next->start;
}

/* Maps all code of a file, moved by @bias. */
static void map_code(struct profile *p, uint32_t pid, uint32_t obj,
		     const struct image_layout *l, uint64_t bias)
{
	struct proc *proc = procs_get(&p->procs, &p->str, pid);
	unsigned int i;

	for (i = 0; i < l->n; i++) {
		const struct image_code *c = &l->code[i];
		struct mapping m = {
			.start = c->vaddr + bias, .obj = obj,
			.end = map_end(c->vaddr + bias, c->len),
			.offset = c->offset,
		};

		aspace_insert(&proc->as, &m);
	}
}

/* Was it already mapped by a guess for an earlier mapping of the object? */
static bool known(const struct proc *proc, uint64_t start, uint32_t obj)
{
	const struct mapping *m = aspace_find(proc->as, start);

	return m && m->start == start && m->obj == obj && !m->exact;
}

/* Difference to the file's addresses if it is mapped at @start. */
static uint64_t bias_at(const struct image_layout *l, uint64_t start)
{
	unsigned int i;

	for (i = 0; l->fixed && i < l->n; i++)
		if (l->code[i].vaddr == start)
			return 0;
	return start - l->code[0].vaddr;
}

void profile_guess_map(struct profile *p, const struct pending_map *w)
{
	struct proc *proc = procs_get(&p->procs, &p->str, w->pid);
	struct object o = { .path = w->path };
	struct mapping m = { .start = w->start };
	struct image_layout l;

	m.obj = profile_user_object(p, w->pid, &o);
	if (known(proc, m.start, m.obj))
		return;
	if (o.kind == OBJ_FILE &&
	    image_layout(p->root, strtab_str(&p->str, w->path), &l)) {
		map_code(p, w->pid, m.obj, &l, bias_at(&l, m.start));
		return;
	}
	m.end = map_end(m.start, GUESSED_LEN);
	map_clip(proc->as, &m);
	aspace_insert(&proc->as, &m);
}

/*
 * @base is the address of the loader, or in older logs the entry point of the
 * loader, or of a program without one.
 */
static bool bias_of_loader(const struct image_layout *l, uint64_t base,
			   uint64_t *bias)
{
	*bias = base & PAGE_MASK ? base - l->entry : base;
	return base && !(*bias & PAGE_MASK);
}

static bool bias_of_program(const struct image_layout *l, uint64_t base,
			    uint64_t dyn, uint64_t *bias)
{
	if (l->fixed || dyn) {
		*bias = l->fixed ? 0 : dyn;
		return true;
	}
	return !*l->interp && bias_of_loader(l, base, bias);
}

static uint32_t file_object(struct profile *p, const char *path)
{
	struct object o = {
		.kind = OBJ_FILE, .path = strtab_id(&p->str, path),
	};

	return objects_id(&p->objs, &p->str, &o);
}

void profile_guess_exec(struct profile *p, const struct pmclog_rec *r)
{
	const char *path = REC_STR(r, procexec, path);
	uint32_t pid = REC32(r, procexec, pid);
	uint64_t base = REC64(r, procexec, base);
	uint64_t dyn = REC64(r, procexec, dyn), bias;
	struct image_layout l, loader;

	/* our own logs have all mappings */
	if (p->log.release || objects_kind(path) != OBJ_FILE ||
	    !image_layout(p->root, path, &l))
		return;
	if (bias_of_program(&l, base, dyn, &bias))
		map_code(p, pid, file_object(p, path), &l, bias);
	if (objects_kind(l.interp) == OBJ_FILE &&
	    image_layout(p->root, l.interp, &loader) &&
	    bias_of_loader(&loader, base, &bias))
		map_code(p, pid, file_object(p, l.interp), &loader, bias);
}
