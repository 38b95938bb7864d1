// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include <gelf.h>

#include "elf/elfsyms.h"

void elfsyms_segments(struct elfsegs *t, Elf *elf)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		uint64_t slack = ph.p_align > 1 ?
				 ph.p_offset & (ph.p_align - 1) : 0;

		if (ph.p_type != PT_LOAD)
			continue;
		if (slack > ph.p_vaddr || slack > ph.p_offset)
			slack = 0;
		APPEND(t->seg, t->n, t->cap) = (struct elfseg){
			.offset = ph.p_offset, .vaddr = ph.p_vaddr,
			.len = ph.p_filesz, .slack = slack,
			.exec = ph.p_flags & PF_X,
		};
	}
}

static bool vaddr_in(const struct elfsegs *t, uint64_t offset, bool exec,
		     bool slack, uint64_t *vaddr)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct elfseg *s = &t->seg[i];
		uint64_t before = slack ? s->slack : 0;

		if (s->exec != exec || offset < s->offset - before ||
		    offset - (s->offset - before) >= s->len + before)
			continue;
		*vaddr = offset - s->offset + s->vaddr;
		return true;
	}
	return false;
}

/*
 * One page of a file can be mapped by two segments at two addresses.  The code
 * segment is preferred, since samples are of code.
 */
bool elfsyms_vaddr(const struct elfsegs *t, uint64_t offset, uint64_t *vaddr)
{
	return vaddr_in(t, offset, true, false, vaddr) ||
	       vaddr_in(t, offset, true, true, vaddr) ||
	       vaddr_in(t, offset, false, true, vaddr);
}

static Elf_Scn *find_type(Elf *elf, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	return NULL;
}

static uint8_t rank_of(const GElf_Sym *s)
{
	switch (GELF_ST_BIND(s->st_info)) {
	case STB_LOCAL:
		return SYM_LOCAL;
	case STB_WEAK:
		return SYM_WEAK;
	default:
		return SYM_GLOBAL;
	}
}

/* the section looked up last: most symbols are in the same one */
struct asked {
	uint16_t shndx;		/* 0: none yet */
	bool code;
};

static bool in_code(Elf *elf, const GElf_Sym *s, struct asked *last)
{
	GElf_Shdr sh;
	Elf_Scn *scn;

	if (s->st_shndx == SHN_UNDEF)
		return false;
	if (s->st_shndx >= SHN_LORESERVE)
		return s->st_shndx == SHN_XINDEX;
	if (last->shndx != s->st_shndx) {
		scn = elf_getscn(elf, s->st_shndx);
		last->shndx = s->st_shndx;
		last->code = scn && gelf_getshdr(scn, &sh) &&
			     sh.sh_flags & SHF_EXECINSTR;
	}
	return last->code;
}

/*
 * Accepts functions, and the labels that assembly code has instead.  "$x" and ".Lx" are
 * labels of the assembler; but Swift's functions begin with "$s".
 */
static bool wanted(Elf *elf, const GElf_Sym *s, const char *name,
		   struct asked *last)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (!name || !*name)
		return false;
	if (type == STT_NOTYPE && (*name == '$' || !strncmp(name, ".L", 2)))
		return false;
	return in_code(elf, s, last);
}

/* False: its section was not loaded. */
static bool moved(const struct elfmove *m, const GElf_Sym *from, struct sym *s)
{
	if (from->st_shndx >= m->n || !m->addr[from->st_shndx])
		return false;
	s->start += m->addr[from->st_shndx];
	s->mod = m->mod;
	return true;
}

/*
 * Any number of symbols can share the bytes of one long string.  The names of a real file
 * have about as many bytes as its string table, in which some share their ends.
 */
#define NAMES_SHARED	4
#define NAMES_FEW	((uint64_t)16 << 20)	/* in small files more may be shared */

static uint64_t room_for_names(Elf *elf, uint32_t strtab)
{
	Elf_Scn *scn = elf_getscn(elf, strtab);
	GElf_Shdr sh;

	return NAMES_FEW + (scn && gelf_getshdr(scn, &sh) ? NAMES_SHARED * sh.sh_size : 0);
}

/* Without room for its name, only the start of the function is known. */
static void add_named(struct symtab *t, struct sym *s, uint64_t *room)
{
	size_t len = strnlen(s->name, SYM_NAME_MAX);

	if (len > *room) {
		t->cut = true;
		s->name = NULL;
		s->rank = SYM_ENTRY;
	} else {
		*room -= len;
	}
	symtab_add(t, s);
}

static bool load(struct symtab *t, Elf *elf, uint32_t type,
		 const struct elfmove *move)
{
	GElf_Shdr sh;
	Elf_Scn *scn = find_type(elf, type, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	struct asked last = { 0 };
	uint64_t room;
	GElf_Ehdr eh;
	GElf_Sym s;
	int i;

	if (!data || !gelf_getehdr(elf, &eh))
		return false;
	room = room_for_names(elf, sh.sh_link);
	for (i = 0; gelf_getsym(data, i, &s); i++) {
		const char *name = elf_strptr(elf, sh.sh_link, s.st_name);
		struct sym sym = { .name = name, .rank = rank_of(&s) };

		if (!wanted(elf, &s, name, &last))
			continue;
		sym.start = s.st_value;
		if (eh.e_machine == EM_ARM)
			sym.start &= ~(uint64_t)1;	/* Thumb */
		if (move && !moved(move, &s, &sym))
			continue;
		if (sym.start + s.st_size > sym.start)
			sym.end = sym.start + s.st_size;
		add_named(t, &sym, &room);
	}
	return true;
}

bool elfsyms_load(struct symtab *t, Elf *elf, uint32_t type)
{
	return load(t, elf, type, NULL);
}

bool elfsyms_load_moved(struct symtab *t, Elf *elf, const struct elfmove *m)
{
	return load(t, elf, SHT_SYMTAB, m);
}

/* NULL, or why names are missing. */
static const char *load_all(struct symtab *t, const struct image *im,
			    const struct image_root *root, const char *path)
{
	struct image more;
	bool all = elfsyms_load(t, im->elf, SHT_SYMTAB);

	if (!all && path && image_open_debug(&more, im, root, path)) {
		all = elfsyms_load(t, more.elf, SHT_SYMTAB);
		image_close(&more);
	}
	if (all)
		return NULL;
	elfsyms_load(t, im->elf, SHT_DYNSYM);
	/* .gnu_debugdata lacks the exported symbols */
	if (image_open_packed(&more, im)) {
		all = elfsyms_load(t, more.elf, SHT_SYMTAB);
		image_close(&more);
	}
	if (all)
		return NULL;
	return t->n ? "is stripped: only exported functions have names" :
		      "is stripped";
}

const char *elfsyms_names(struct symtab *t, const struct image *im,
			  const struct image_root *root, const char *path)
{
	const char *why = load_all(t, im, root, path);

	return t->cut ? ELFSYMS_CUT : why;
}

/* .eh_frame_hdr: version, three encodings, two words, then a sorted table */
#define EH_HDR_LEN	12
#define EH_VERSION	1
#define EH_UDATA4	0x03
#define EH_PCREL_SDATA4	0x1b
#define EH_DATAREL_SDATA4 0x3b

void elfsyms_entries(struct symtab *t, Elf *elf)
{
	GElf_Shdr sh;
	const Elf_Data *data = image_section(elf, ".eh_frame_hdr", &sh);
	const unsigned char *p;
	uint32_t n, i;

	if (!data || data->d_size < EH_HDR_LEN)
		return;
	p = data->d_buf;
	if (p[0] != EH_VERSION || p[1] != EH_PCREL_SDATA4 ||
	    p[2] != EH_UDATA4 || p[3] != EH_DATAREL_SDATA4)
		return;
	memcpy(&n, p + 8, sizeof(n));
	if (n > (data->d_size - EH_HDR_LEN) / 8)
		return;
	for (i = 0; i < n; i++) {
		struct sym sym = { .rank = SYM_ENTRY };
		int32_t off;

		memcpy(&off, p + EH_HDR_LEN + (size_t)i * 8, sizeof(off));
		sym.start = sh.sh_addr + (uint64_t)(int64_t)off;
		symtab_add(t, &sym);
	}
}

void elfsyms_bounds(struct symtab *t, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		struct sym sym = { .rank = SYM_GAP };

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		sym.start = sh.sh_addr + sh.sh_size;
		symtab_add(t, &sym);
	}
}
