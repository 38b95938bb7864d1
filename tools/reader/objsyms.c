// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <gelf.h>

#include "objsyms.h"

#define DELETED		" (deleted)"

/* Is the log of this very machine (as far as one can tell)? */
static bool logged_here(const struct log_facts *log)
{
	struct utsname uts;

	return log->release && !uname(&uts) &&
	       !strcmp(uts.release, log->release) &&
	       !strcmp(uts.nodename, log->host);
}

/* Another file has the name now. */
static bool replaced(const struct profile *p, const struct object *o, int fd)
{
	struct stat st;

	if (!o->ino || (p->root && p->root->dir) || !logged_here(&p->log))
		return false;
	/* some filesystems show stat() another device than the kernel uses */
	return !fstat(fd, &st) && major(st.st_dev) == o->dev_major &&
	       minor(st.st_dev) == o->dev_minor && st.st_ino != o->ino;
}

/* Why the file can't be the one that ran, or NULL. */
static const char *not_it(struct profile *p, const struct object *o,
			  const struct image *im, bool deleted)
{
	const struct buildid *b = profile_buildid(p, o->path);
	const void *id;
	size_t n;

	if (b) {
		n = image_buildid(im, &id);
		return n == b->len && !memcmp(id, b->id, n) ? NULL :
			"has another build-id now";
	}
	if (deleted)
		return "was deleted";
	return replaced(p, o, im->fd) ? "was replaced" : NULL;
}

/* Names from where all are, else from what was left; NULL, or what lacks. */
static const char *load_names(struct objsyms *s, struct profile *p,
			      const struct image *im, const char *path)
{
	struct image debug;
	bool any = elfsyms_load(&s->tab, im->elf, SHT_SYMTAB);

	if (!any && path && image_open_debug(&debug, im, p->root, path)) {
		any = elfsyms_load(&s->tab, debug.elf, SHT_SYMTAB);
		image_close(&debug);
	}
	if (any)
		return NULL;
	elfsyms_load(&s->tab, im->elf, SHT_DYNSYM);
	return s->tab.n ? "is stripped: only exported functions have names" :
			  "is stripped";
}

static const char *load(struct objsyms *s, struct profile *p,
			const struct image *im, const char *path)
{
	const char *why = load_names(s, p, im, path);

	elfsyms_plt(&s->tab, im->elf);
	elfsyms_entries(&s->tab, im->elf);
	elfsyms_bounds(&s->tab, im->elf);
	elfsyms_segments(&s->segs, im->elf);
	symtab_sort(&s->tab);
	return why;
}

static const char *open_vdso(struct objsyms *s, struct profile *p)
{
	const char *why = NULL;
	struct image im;
	GElf_Ehdr eh;

	if (!logged_here(&p->log))
		return "is of another machine";
	if (!image_open_vdso(&im, &why))
		return why;
	if (!gelf_getehdr(im.elf, &eh) || eh.e_machine != p->log.machine)
		why = "is of another machine";
	else
		why = load(s, p, &im, NULL);
	image_close(&im);
	return why;
}

static const char *open_file(struct objsyms *s, struct profile *p,
			     const struct object *o)
{
	char *path = xstrdup(strtab_str(&p->str, o->path));
	size_t len = strlen(path), tail = sizeof(DELETED) - 1;
	bool deleted = len > tail && !strcmp(path + len - tail, DELETED);
	const char *why = NULL;
	struct image im;

	if (deleted)
		path[len - tail] = '\0';
	if (image_open(&im, p->root, path, &why)) {
		why = not_it(p, o, &im, deleted);
		if (!why)
			why = load(s, p, &im, path);
		image_close(&im);
	}
	free(path);
	return why;
}

const char *objsyms_open(struct objsyms *s, struct profile *p, uint32_t obj)
{
	struct object o = p->objs.obj[obj];

	memset(s, 0, sizeof(*s));
	if (o.kind == OBJ_VDSO)
		return open_vdso(s, p);
	if (o.kind == OBJ_FILE)
		return open_file(s, p, &o);
	return o.kind == OBJ_UNKNOWN ? "nothing was mapped there" :
				       "memory without a file";
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
