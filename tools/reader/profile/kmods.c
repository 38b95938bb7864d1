// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elfsyms.h"
#include "elf/unpack.h"
#include "profile/here.h"
#include "profile/kmods.h"

#define FILE_MAX	((off_t)256 << 20)
#define SECTIONS_MAX	65536U		/* of all modules, or of a file */
#define NAME_MAX_LEN	256U		/* of a section */

static void set(struct kmods_values *t, uint64_t hash, uint64_t value)
{
	uint32_t id = idtab_find_exact(&t->tab, hash, 0);

	if (id != IDTAB_NONE) {
		t->value[id] = value;
	} else if (t->n < SECTIONS_MAX) {
		idtab_add_exact(&t->tab, hash, 0, t->n);
		APPEND(t->value, t->n, t->cap) = value;
	}
}

/* 0: there is none */
static uint64_t get(const struct kmods_values *t, uint64_t hash)
{
	uint32_t id = idtab_find_exact(&t->tab, hash, 0);

	return id == IDTAB_NONE ? 0 : t->value[id];
}

/* @mod and @name are string numbers. */
static uint64_t section_hash(uint32_t mod, uint32_t name)
{
	return hash_number((uint64_t)mod << 32 | name);
}

void kmods_section(struct kmods *t, struct strtab *str, const char *mod,
		   const char *name, uint64_t addr)
{
	set(&t->sections, section_hash(strtab_id(str, mod), strtab_id(str, name)), addr);
}

void kmods_file(struct kmods *t, uint32_t mod, uint32_t path)
{
	set(&t->files, hash_number(mod), path);
}

void kmods_free(struct kmods *t)
{
	free(t->sections.value);
	free(t->files.value);
	idtab_free(&t->sections.tab);
	idtab_free(&t->files.tab);
	memset(t, 0, sizeof(*t));
}

/* Modules are often compressed as whole files. */
static bool open_module(struct image *im, const struct image_root *root,
			const char *path, const char **why)
{
	unsigned char *file, *plain;
	struct stat st;
	size_t len = 0;
	int fd;

	if (image_open(im, root, path, why))
		return true;
	fd = image_open_file(root, path, why);
	if (fd < 0)
		return false;
	*why = "not an ELF file";
	if (fstat(fd, &st) || st.st_size > FILE_MAX) {
		close(fd);
		return false;
	}
	file = xmalloc((size_t)st.st_size + 1);
	plain = pread(fd, file, (size_t)st.st_size, 0) == st.st_size ?
		unpack(file, (size_t)st.st_size, &len) : NULL;
	free(file);
	close(fd);
	return plain && image_open_memory(im, plain, len);
}

static uint64_t address_of(struct profile *p, uint32_t mod, const char *name)
{
	return strnlen(name, NAME_MAX_LEN) == NAME_MAX_LEN ? 0 :
	       get(&p->kmods.sections, section_hash(mod, strtab_id(&p->str, name)));
}

/* Load address by section of the file, 0 if not known. */
static uint64_t *addresses(struct profile *p, uint32_t mod, Elf *elf, size_t *n)
{
	size_t strndx, i;
	uint64_t *at;

	if (elf_getshdrnum(elf, n) || *n > SECTIONS_MAX ||
	    elf_getshdrstrndx(elf, &strndx))
		return NULL;
	at = xcalloc(*n + 1, sizeof(*at));
	for (i = 1; i < *n; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		const char *name;
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh) ||
		    !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, strndx, sh.sh_name);
		if (name)
			at[i] = address_of(p, mod, name);
	}
	return at;
}

static const char *not_it(struct profile *p, const struct object *o,
			  const struct image *im)
{
	const struct buildid *b = buildids_find(&p->ids, o->path);
	const void *id;
	size_t n = image_buildid(im, &id);

	if (b)
		return buildid_is(b, id, n) ? NULL :
			"file was replaced since (build-id differs)";
	return logged_here(&p->log) || (p->root && p->root->dir) ? NULL :
		"is of another machine, and its build-id is not known";
}

static const char *load(struct symtab *t, struct profile *p,
			const struct object *o, const char *path)
{
	struct elfmove move = { .mod = o->path };
	const char *why;
	uint64_t *at;
	struct image im;

	if (!open_module(&im, p->root, path, &why))
		return why;
	why = not_it(p, o, &im);
	at = why ? NULL : addresses(p, o->path, im.elf, &move.n);
	move.addr = at;
	if (!why && (!at || !elfsyms_load_moved(t, im.elf, &move)))
		why = "has no symbols";
	else if (!why && t->cut)
		why = ELFSYMS_CUT;
	t->cut = false;
	free(at);
	image_close(&im);
	return why;
}

/* By string number: has the table functions of a module of that name? */
static bool *have(const struct symtab *t, const struct strtab *str)
{
	bool *has = xcalloc((size_t)str->n + 1, sizeof(*has));
	size_t i;

	for (i = 0; i < t->n; i++)
		has[t->sym[i].mod] = true;
	return has;
}

void kmods_load(struct symtab *t, struct profile *p)
{
	bool *has = have(t, &p->str), any = false;
	uint32_t i;

	for (i = 0; i < p->objs.n; i++) {
		struct object *o = &p->objs.obj[i];
		size_t before = t->n;
		uint32_t path;

		if (o->kind != OBJ_MODULE || has[o->path])
			continue;
		path = (uint32_t)get(&p->kmods.files, hash_number(o->path));
		if (!path)
			continue;
		o->why = load(t, p, o, strtab_str(&p->str, path));
		o->names_from = o->why ? 0 : path;
		any |= t->n > before;
	}
	free(has);
	if (any)
		symtab_sort(t);
}
