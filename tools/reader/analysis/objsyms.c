// SPDX-License-Identifier: BSD-2-Clause
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <gelf.h>

#include "analysis/objsyms.h"
#include "profile/here.h"
#include "profile/jitmap.h"
#include "profile/live.h"

#define DELETED		" (deleted)"
/* A file's time is that of the last tick before, and the log's may be a little wrong. */
#define WRITTEN_SLACK	100000000	/* ns */

/*
 * Has the file that was mapped another inode?  stat() has another device than the
 * kernel uses on btrfs, but the same inode.  On an overlay of several file systems both
 * may be others, and they are those of the file below in logs of Linux before 6.8.
 */
static bool other_inode(const struct object *o, int fd, const struct stat *st)
{
	struct statfs fs;

	if (st->st_ino == o->ino)
		return false;
	if (major(st->st_dev) == o->dev_major &&
	    minor(st->st_dev) == o->dev_minor)
		return true;
	return !fstatfs(fd, &fs) && fs.f_type != OVERLAYFS_SUPER_MAGIC;
}

/* Nanoseconds since 1970, and less by what may be wrong */
static int64_t written_at(const struct stat *st)
{
	int64_t ns;

	if (__builtin_mul_overflow(st->st_mtim.tv_sec, 1000000000, &ns) ||
	    __builtin_add_overflow(ns, st->st_mtim.tv_nsec - WRITTEN_SLACK, &ns))
		return st->st_mtim.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

/* Since it was mapped first, or since the log's end if that is not known */
static bool written_since(const struct profile *p, const struct object *o,
			  const struct stat *st)
{
	int64_t end = log_wall_end(&p->log);
	int64_t mapped = o->first_wall;

	if (!mapped && o->first)
		mapped = wallclock_at(&p->log.wall, o->first);

	if (mapped)
		return written_at(st) > mapped;
	return end && st->st_mtime > end + 1;
}

/*
 * Has another file the name now, or was it written since?  An inode number is
 * soon reused for another file, but with another time.
 */
static bool replaced(const struct profile *p, const struct object *o, int fd)
{
	struct stat st;

	if (!o->ino || !logged_here(&p->log) || fstat(fd, &st))
		return false;
	return other_inode(o, fd, &st) || written_since(p, o, &st);
}

/* Why the file can't be the one that ran, or NULL. */
static const char *not_it(struct profile *p, const struct object *o,
			  const struct image *im, bool deleted)
{
	const struct buildid *b = buildids_of(&p->ids, &p->str, o);
	const void *id;
	size_t n = image_buildid(im, &id);

	if (b)
		return buildid_is(b, id, n) ? NULL :
			"file was replaced since (build-id differs)";
	if (deleted)
		return "was deleted";
	if (n && buildids_of_other(&p->ids, o, id, n))
		return "is another file of that path";
	/* of several files of one path, an archive has one */
	if (p->root && p->root->dir)
		return o->ino && o->shares_path ?
		       "was replaced during the recording" : NULL;
	return replaced(p, o, im->fd) ? "was replaced" : NULL;
}

static const char *load(struct objsyms *s, const struct image *im,
			const struct image_root *root, const char *path)
{
	const char *why = elfsyms_names(&s->tab, im, root, path);
	const void *id = "";
	size_t n;

	elfsyms_plt(&s->tab, im->elf);
	elfsyms_entries(&s->tab, im->elf);
	elfsyms_bounds(&s->tab, im->elf);
	elfsyms_segments(&s->segs, im->elf);
	symtab_sort(&s->tab);
	n = image_buildid(im, &id);
	if (n <= BUILDID_MAX) {
		memcpy(s->id.id, id, n);
		s->id.len = (uint32_t)n;
	}
	return why;
}

/* Is it the recorded vdso?  It comes with the kernel, or with an archive. */
static bool same_vdso(struct profile *p, const struct image *im)
{
	const struct buildid *b;
	const void *id;
	size_t n = image_buildid(im, &id);

	b = buildids_find(&p->ids, strtab_id(&p->str, "[vdso]"));
	return b ? buildid_is(b, id, n) : im->fd >= 0 || logged_here(&p->log);
}

bool objsyms_vdso(struct image *im, struct profile *p, const char **why)
{
	GElf_Ehdr eh;

	if (!(has_root(p) && image_open(im, p->root, VDSO_FILE, why)) &&
	    !image_open_vdso(im, why))
		return false;
	*why = NULL;
	if (!gelf_getehdr(im->elf, &eh) || eh.e_machine != p->log.machine)
		*why = "is of another machine";
	else if (!same_vdso(p, im))
		*why = "is of another kernel than the one that runs here";
	if (*why)
		image_close(im);
	return !*why;
}

static const char *open_vdso(struct objsyms *s, struct profile *p)
{
	const char *why;
	struct image im;

	if (!objsyms_vdso(&im, p, &why))
		return why;
	why = load(s, &im, p->root, NULL);
	image_close(&im);
	return why;
}

/* The path without the suffix that the kernel appends for a deleted file. */
static char *path_of(const struct profile *p, const struct object *o,
		     bool *deleted)
{
	char *path = xstrdup(strtab_str(&p->str, o->path));
	size_t len = strlen(path), tail = sizeof(DELETED) - 1;

	*deleted = len > tail && !strcmp(path + len - tail, DELETED);
	if (*deleted)
		path[len - tail] = '\0';
	return path;
}

/*
 * Opens the file in a container that still runs.  Its files are not trusted, so
 * only a file with the logged build-id is accepted.
 */
static bool open_live(struct image *im, struct profile *p, uint32_t obj,
		      const char *path, struct image_root *root)
{
	const struct buildid *b = buildids_of(&p->ids, &p->str,
					      &p->objs.obj[obj]);
	uint32_t at = 0;
	const char *why;
	const void *id;
	size_t n;

	while (b && live_root(p, obj, &at, root)) {
		if (!image_open(im, root, path, &why))
			continue;
		n = image_buildid(im, &id);
		if (buildid_is(b, id, n))
			return true;
		image_close(im);
	}
	return false;
}

/* Opens the file that was mapped, and sets its location; NULL, or why not. */
static const char *open_mapped(struct image *im, struct profile *p,
			       uint32_t obj, struct objfile *f)
{
	const struct object o = p->objs.obj[obj];
	const char *why = NULL;
	bool deleted;

	f->path = path_of(p, &o, &deleted);
	f->root = p->root ? *p->root : (struct image_root){ 0 };
	if (image_open(im, &f->root, f->path, &why)) {
		why = not_it(p, &o, im, deleted);
		if (why)
			image_close(im);
	}
	if (why && !has_root(p) && open_live(im, p, obj, f->path, &f->root))
		why = NULL;
	return why;
}

static const char *open_file(struct objsyms *s, struct profile *p,
			     uint32_t obj)
{
	struct objfile f;
	struct image im;
	const char *why = open_mapped(&im, p, obj, &f);

	if (!why) {
		why = load(s, &im, &f.root, f.path);
		image_close(&im);
	}
	free(f.path);
	return why;
}

static const char *open_jit(struct objsyms *s, struct profile *p,
			    const struct object *o)
{
	const struct jit *j = jits_of(p, o);
	const char *why;

	if (j) {
		why = j->why;
		jitdump_names(&j->dump, &s->tab);
	} else {
		why = jitmap_load(&s->tab, p, (uint32_t)o->ino);
	}
	/* frames have run-time addresses, or a jitdump's offsets */
	APPEND(s->segs.seg, s->segs.n, s->segs.cap) = (struct elfseg){
		.len = UINT64_MAX, .exec = true,
	};
	symtab_sort(&s->tab);
	return why;
}

bool objsyms_file(struct objfile *f, struct profile *p, uint32_t obj)
{
	struct image im;

	f->path = NULL;
	if (p->objs.obj[obj].kind != OBJ_FILE)
		return false;
	if (!open_mapped(&im, p, obj, f)) {
		image_close(&im);
		return true;
	}
	free(f->path);
	f->path = NULL;
	return false;
}

const char *objsyms_open(struct objsyms *s, struct profile *p, uint32_t obj)
{
	struct object o = p->objs.obj[obj];

	memset(s, 0, sizeof(*s));
	if (o.kind == OBJ_VDSO)
		return open_vdso(s, p);
	if (o.kind == OBJ_FILE)
		return open_file(s, p, obj);
	if (o.kind == OBJ_JIT)
		return open_jit(s, p, &o);
	return o.kind == OBJ_UNKNOWN ? "nothing was mapped there" :
				       "memory without a file";
}

bool objsyms_are_wrong(const struct objsyms *s, struct profile *p, uint32_t obj)
{
	const struct object *o = &p->objs.obj[obj];
	const struct buildid *b;

	if (o->why || (o->kind != OBJ_FILE && o->kind != OBJ_VDSO))
		return false;
	b = buildids_of(&p->ids, &p->str, o);
	return b && !buildid_is(b, s->id.id, s->id.len);
}

const struct sym *objsyms_find(const struct objsyms *s, uint64_t addr)
{
	uint64_t vaddr;

	if (!elfsyms_vaddr(&s->segs, addr, &vaddr))
		return NULL;
	return symtab_find(&s->tab, vaddr);
}

void objsyms_close(struct objsyms *s)
{
	symtab_free(&s->tab);
	free(s->segs.seg);
}
