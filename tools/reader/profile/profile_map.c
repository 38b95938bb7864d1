// SPDX-License-Identifier: BSD-2-Clause
/* Records that change what is mapped. */
#include <string.h>

#include "profile/profile.h"
#include "profile/profile_guess.h"

uint32_t profile_user_object(struct profile *p, uint32_t pid, struct object *o)
{
	o->kind = objects_kind(strtab_str(&p->str, o->path));
	if (o->kind != OBJ_FILE)
		o->ino = o->dev_major = o->dev_minor = 0;
	if (o->kind == OBJ_ANON)
		jits_object(p, pid, o);
	return objects_id(&p->objs, &p->str, o);
}

/* FreeBSD's kernel is a file beside its modules: /boot/kernel/kernel. */
static bool is_kernel(const char *path)
{
	return !strcmp(path, "[kernel]") || !strcmp(path, "[kernel.kallsyms]") ||
	       !strcmp(basename(path), "kernel");
}

/* Maps the kernel or a module; a MODULE record may have the length later. */
static void kernel_mapping(struct profile *p, const struct pending_map *w)
{
	struct mapping m = { .start = w->start, .obj = OBJ_ID_KERNEL };
	const char *path = strtab_str(&p->str, w->path);

	if (!is_kernel(path)) {
		struct object o = { .kind = OBJ_MODULE };
		const char *base = basename(path);
		size_t len = strcspn(base, ".]");

		if (*base == '[') {
			base++;
			len--;
		}
		o.path = strtab_id_len(&p->str, base, len);
		m.obj = objects_id(&p->objs, &p->str, &o);
	}
	m.end = map_end(m.start, GUESSED_LEN);
	map_clip(p->kernel, &m);
	aspace_insert(&p->kernel, &m);
}

void profile_settle_slow(struct profile *p)
{
	p->pending.valid = false;
	if (p->pending.pid == PMCLOG_PID_KERNEL)
		kernel_mapping(p, &p->pending);
	else
		profile_guess_map(p, &p->pending);
}

void profile_map_in(struct profile *p, const struct pmclog_rec *r)
{
	const char *path = REC_STR(r, map_in, path);

	profile_settle(p);
	p->pending.valid = true;
	p->pending.pid = REC32(r, map_in, pid);
	p->pending.start = REC64(r, map_in, start);
	p->pending.path = strtab_id(&p->str, path);
	if (p->pending.pid != PMCLOG_PID_KERNEL)
		procs_lives(procs_get(&p->procs, &p->str, p->pending.pid));
}

void profile_map_out(struct profile *p, const struct pmclog_rec *r)
{
	uint32_t pid = REC32(r, map_out, pid);
	uint64_t start = REC64(r, map_out, start);
	uint64_t end = REC64(r, map_out, end);

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

/* The extent of the kernel itself, or of a module at that address. */
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
	uint32_t pid = REC32(r, ext_mapping, pid);
	struct mapping m = {
		.start = REC64(r, ext_mapping, start), .offset = REC64(r, ext_mapping, offset),
		.exact = true,
	};
	struct object o = {
		.dev_major = REC32(r, ext_mapping, dev_major),
		.dev_minor = REC32(r, ext_mapping, dev_minor),
		.ino = REC64(r, ext_mapping, ino),
	};
	uint64_t len = REC64(r, ext_mapping, len);
	struct proc *proc;

	m.end = map_end(m.start, len);
	if (pid == PMCLOG_PID_KERNEL) {
		kernel_extent(p, &m);
		return;
	}
	if (!take_path(p, pid, m.start, &o.path))
		return;
	m.obj = profile_user_object(p, pid, &o);
	objects_mapped(&p->objs, m.obj, r->tsc);
	proc = procs_get(&p->procs, &p->str, pid);
	aspace_insert(&proc->as, &m);
	jits_mapped(p, pid, &o);
}

void profile_next_log(struct profile *p)
{
	profile_settle(p);
	late_free(&p->late);
	procs_forget(&p->procs);
	aspace_put(p->kernel);
	p->kernel = NULL;
	p->other = (struct other_boot){ 0 };
}

static bool same_kernel(const struct log_facts *log, const char *symbol,
			uint64_t moved)
{
	return !strcmp(symbol, log->ref_symbol) && !(moved % SLIDE_GRAIN) &&
	       (!log->release || !log->ref_release ||
		!strcmp(log->release, log->ref_release));
}

/* Each boot moves the kernel; names are those of its place in the first log. */
void profile_ext_kernel(struct profile *p, const struct pmclog_rec *r)
{
	const char *s = REC_STR(r, ext_kernel, symbol);
	struct mapping here = { .obj = OBJ_ID_KERNEL };
	struct log_facts *log = &p->log;
	uint64_t moved;

	here.start = REC64(r, ext_kernel, addr);
	if (!*s)
		return;
	if (!log->ref_symbol) {
		log->ref_addr = here.start;
		log->ref_symbol = strtab_str(&p->str, strtab_id(&p->str, s));
		log->ref_release = log->release;
		return;
	}
	moved = here.start - log->ref_addr;
	p->other.alien = !same_kernel(log, s, moved);
	p->other.moved = p->other.alien ? 0 : moved;
	if (!p->other.alien && !moved)
		return;
	/* what is known of the same addresses is of another generation */
	profile_settle(p);
	here.end = map_end(here.start, 1);
	if (!aspace_find(p->kernel, here.start))
		aspace_insert(&p->kernel, &here);
}

void profile_ext_module(struct profile *p, const struct pmclog_rec *r)
{
	const char *name = REC_STR(r, ext_module, name);
	struct mapping m = {
		.start = REC64(r, ext_module, start),
		.exact = true,
	};
	uint64_t len = REC64(r, ext_module, len);
	struct object o = { .kind = OBJ_MODULE };
	const struct mapping *guess;

	if (p->pending.valid && p->pending.pid == PMCLOG_PID_KERNEL &&
	    p->pending.start == m.start) {
		p->pending.valid = false;
		if (*strtab_str(&p->str, p->pending.path) == '/')
			kmods_file(&p->kmods, strtab_id(&p->str, name),
				   p->pending.path);
	}
	profile_settle(p);
	guess = aspace_find(p->kernel, m.start);
	if (guess && guess->start == m.start && !guess->exact)
		aspace_cut(&p->kernel, guess->start, guess->end);
	m.end = map_end(m.start, len ? len : GUESSED_LEN);
	if (!len)
		map_clip(p->kernel, &m);
	o.path = strtab_id(&p->str, name);
	m.obj = objects_id(&p->objs, &p->str, &o);
	aspace_insert(&p->kernel, &m);
}
