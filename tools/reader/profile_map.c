// SPDX-License-Identifier: BSD-2-Clause
/* Records that change what is mapped, and the look-up of a pc. */
#include "profile.h"

/*
 * How far a mapping reaches whose length nobody told: to the next one, but not
 * further than this.
 */
#define GUESSED_LEN	((uint64_t)64 << 20)

/* x86: the only page in the upper half that user code can run in */
#define VSYSCALL_PAGE	0xffffffffff600000ULL

static void clip_to_next(const struct aspace *as, struct mapping *m)
{
	const struct mapping *next = aspace_next(as, m->start);

	/* what is there already and begins here is superseded */
	if (next && next->start > m->start && next->start < m->end)
		m->end = next->start;
}

static uint64_t add_clamped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* A process mapping whose extent was not logged: ask the file. */
static void guess_mapping(struct profile *p, const struct pending_map *w)
{
	struct proc *proc = procs_get(&p->procs, &p->str, w->pid);
	struct object o = { .path = w->path };
	struct mapping m = { .start = w->start };
	struct image_extent e;

	o.kind = objects_kind(strtab_str(&p->str, w->path));
	m.obj = objects_id(&p->objs, &p->str, &o);
	if (o.kind == OBJ_FILE &&
	    image_exec_extent(p->root, strtab_str(&p->str, w->path), &e)) {
		m.offset = e.offset;
		m.end = add_clamped(m.start, e.len);
	} else {
		m.end = add_clamped(m.start, GUESSED_LEN);
		clip_to_next(proc->as, &m);
	}
	aspace_insert(&proc->as, &m);
}

/* The kernel's or a module's; MODULE may tell its length later. */
static void kernel_mapping(struct profile *p, const struct pending_map *w)
{
	struct mapping m = { .start = w->start, .obj = OBJ_ID_KERNEL };
	const char *path = strtab_str(&p->str, w->path);

	if (strcmp(path, "[kernel]") && strcmp(path, "[kernel.kallsyms]")) {
		struct object o = { .kind = OBJ_MODULE };
		const char *base = strrchr(path, '/');
		size_t len;

		base = base ? base + 1 : path;
		len = strcspn(base, ".]");
		if (*base == '[') {
			base++;
			len--;
		}
		o.path = strtab_id_len(&p->str, base, len);
		m.obj = objects_id(&p->objs, &p->str, &o);
	}
	m.end = add_clamped(m.start, GUESSED_LEN);
	clip_to_next(p->kernel, &m);
	aspace_insert(&p->kernel, &m);
}

void profile_settle_slow(struct profile *p)
{
	p->pending.valid = false;
	if (p->pending.pid == PMCLOG_PID_KERNEL)
		kernel_mapping(p, &p->pending);
	else
		guess_mapping(p, &p->pending);
}

void profile_map_in(struct profile *p, const struct pmclog_rec *r)
{
	const char *path = (const char *)r->data +
			   offsetof(struct pmclog_map_in, path);

	profile_settle(p);
	p->pending.valid = true;
	p->pending.pid = PMCLOG_FIELD32(r, struct pmclog_map_in, pid);
	p->pending.start = PMCLOG_FIELD64(r, struct pmclog_map_in, start);
	p->pending.path = strtab_id(&p->str, path);
}

void profile_map_out(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t pid = PMCLOG_FIELD32(r, struct pmclog_map_out, pid);
	uint64_t start = PMCLOG_FIELD64(r, struct pmclog_map_out, start);
	uint64_t end = PMCLOG_FIELD64(r, struct pmclog_map_out, end);

	profile_settle(p);
	if (pid == PMCLOG_PID_KERNEL)
		aspace_cut(&p->kernel, start, end);
	else
		aspace_cut(&procs_get(&p->procs, &p->str, pid)->as, start,
			   end);
}

/*
 * The path for an extent: normally of the MAP_IN just read, else of a mapping
 * with a guessed extent, which then gets its real one.
 */
static bool take_path(struct profile *p, uint32_t pid, uint64_t start,
		      uint32_t *path)
{
	const struct mapping *m;
	struct proc *proc;

	if (p->pending.valid && p->pending.pid == pid &&
	    p->pending.start == start) {
		*path = p->pending.path;
		p->pending.valid = false;
		return true;
	}
	profile_settle(p);
	proc = procs_get(&p->procs, &p->str, pid);
	m = aspace_find(proc->as, start);
	if (!m || m->start != start || m->exact)
		return false;
	*path = p->objs.obj[m->obj].path;
	aspace_cut(&proc->as, m->start, m->end);
	return true;
}

/* The extent of the kernel itself, or of a module that sits there. */
static void kernel_extent(struct profile *p, struct mapping *m)
{
	const struct mapping *guess;

	profile_settle(p);
	guess = aspace_find(p->kernel, m->start);
	m->obj = OBJ_ID_KERNEL;
	if (guess && guess->start == m->start) {
		m->obj = guess->obj;
		aspace_cut(&p->kernel, guess->start, guess->end);
	}
	aspace_insert(&p->kernel, m);
}

void profile_ext_mapping(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t pid = PMCLOG_FIELD32(r, struct pmclog_ext_mapping, pid);
	struct mapping m = {
		.start = PMCLOG_FIELD64(r, struct pmclog_ext_mapping, start),
		.offset = PMCLOG_FIELD64(r, struct pmclog_ext_mapping, offset),
		.exact = true,
	};
	struct object o = {
		.dev_major = PMCLOG_FIELD32(r, struct pmclog_ext_mapping,
					    dev_major),
		.dev_minor = PMCLOG_FIELD32(r, struct pmclog_ext_mapping,
					    dev_minor),
		.ino = PMCLOG_FIELD64(r, struct pmclog_ext_mapping, ino),
	};
	uint64_t len = PMCLOG_FIELD64(r, struct pmclog_ext_mapping, len);
	struct proc *proc;

	m.end = add_clamped(m.start, len);
	if (pid == PMCLOG_PID_KERNEL) {
		kernel_extent(p, &m);
		return;
	}
	if (!take_path(p, pid, m.start, &o.path))
		return;
	o.kind = objects_kind(strtab_str(&p->str, o.path));
	if (o.kind != OBJ_FILE)
		o.ino = o.dev_major = o.dev_minor = 0;
	m.obj = objects_id(&p->objs, &p->str, &o);
	proc = procs_get(&p->procs, &p->str, pid);
	aspace_insert(&proc->as, &m);
}

void profile_ext_module(struct profile *p, const struct pmclog_rec *r)
{
	const char *name = (const char *)r->data +
			   offsetof(struct pmclog_ext_module, name);
	struct mapping m = {
		.start = PMCLOG_FIELD64(r, struct pmclog_ext_module, start),
		.exact = true,
	};
	uint64_t len = PMCLOG_FIELD64(r, struct pmclog_ext_module, len);
	struct object o = { .kind = OBJ_MODULE };
	const struct mapping *guess;

	if (p->pending.valid && p->pending.pid == PMCLOG_PID_KERNEL &&
	    p->pending.start == m.start)
		p->pending.valid = false;
	profile_settle(p);
	guess = aspace_find(p->kernel, m.start);
	if (guess && guess->start == m.start && !guess->exact)
		aspace_cut(&p->kernel, guess->start, guess->end);
	m.end = add_clamped(m.start, len ? len : GUESSED_LEN);
	if (!len)
		clip_to_next(p->kernel, &m);
	o.path = strtab_id(&p->str, name);
	m.obj = objects_id(&p->objs, &p->str, &o);
	aspace_insert(&p->kernel, &m);
}

static uint32_t kernel_frame(struct profile *p, uint64_t pc)
{
	const struct mapping *m = aspace_find(p->kernel, pc);

	return frames_id(&p->frames, m ? m->obj : OBJ_ID_KERNEL, pc);
}

uint32_t profile_frame(struct profile *p, const struct aspace *as, uint64_t pc,
		       bool ret)
{
	const struct mapping *m;

	pc -= ret && pc;
	if (pc >> 63 && (pc & ~0xfffULL) != VSYSCALL_PAGE)
		return kernel_frame(p, pc);
	m = aspace_find(as, pc);
	if (!m)
		return frames_id(&p->frames, OBJ_ID_UNKNOWN, 0);
	switch (p->objs.obj[m->obj].kind) {
	case OBJ_FILE:
		return frames_id(&p->frames, m->obj, pc - m->start + m->offset);
	case OBJ_VDSO:
		/* the 32-bit one is another image and not looked at */
		if (m->start >> 32)
			return frames_id(&p->frames, m->obj, pc - m->start);
		return frames_id(&p->frames, m->obj, 0);
	default:
		return frames_id(&p->frames, m->obj, 0);
	}
}
