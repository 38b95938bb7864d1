// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of the stubs in the procedure linkage table.  Linkers lay the table out in many
 * ways, and not every relocation has a stub.  So the stubs are read: each jumps to the
 * address in a slot, and a relocation tells which function's address the slot gets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "base/order.h"
#include "elf/elfsyms.h"

#define SLOTS_MAX	(1U << 20)

/* a slot of the GOT, and the name of the function whose address it gets */
struct slot {
	uint64_t addr;
	const char *name;
};

/**
 * struct plt - the tables of a file
 * @got, @jump: types of the relocations of slots
 */
struct plt {
	struct symtab *t;
	Elf *elf;
	struct slot *slot;
	size_t n, cap;
	uint32_t got, jump;
};

static const char *reloc_name(const struct plt *p, Elf_Data *syms,
			      const GElf_Shdr *symsh, const GElf_Rela *rel)
{
	uint32_t type = (uint32_t)GELF_R_TYPE(rel->r_info);
	GElf_Sym s;

	if ((type != p->got && type != p->jump) ||
	    !gelf_getsym(syms, (int)GELF_R_SYM(rel->r_info), &s))
		return NULL;
	return elf_strptr(p->elf, symsh->sh_link, s.st_name);
}

static void add_slots(struct plt *p, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Scn *symscn = elf_getscn(p->elf, sh->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Data *syms = symscn ? elf_getdata(symscn, NULL) : NULL;
	GElf_Shdr symsh;
	GElf_Rela rel;
	int i;

	if (!data || !syms || !gelf_getshdr(symscn, &symsh))
		return;
	for (i = 0; p->n < SLOTS_MAX && gelf_getrela(data, i, &rel); i++) {
		const char *name = reloc_name(p, syms, &symsh, &rel);

		if (!name || !*name)
			continue;
		APPEND(p->slot, p->n, p->cap) = (struct slot){ rel.r_offset, name };
	}
}

DEFINE_ORDER(by_addr, struct slot, ORDER(a->addr, b->addr))

static const char *name_of(const struct plt *p, uint64_t addr)
{
	struct slot key = { .addr = addr };
	const struct slot *s = bsearch(&key, p->slot, p->n, sizeof(key), by_addr);

	return s ? s->name : NULL;
}

static void add_stub(struct plt *p, const char *name, uint64_t start, uint64_t size)
{
	struct sym sym = {
		.rank = SYM_WEAK_NAME, .start = start, .end = start + size,
	};
	char buf[512];

	snprintf(buf, sizeof(buf), "%s@plt", name);
	sym.name = buf;
	symtab_add(p->t, &sym);
}

/* jmp *disp(%rip), after endbr64 and bnd or not, at the beginning of an entry */
static void read_amd64(struct plt *p, const unsigned char *b, size_t n, uint64_t addr,
		       size_t entry)
{
	const char *name;
	int32_t disp;
	size_t i, at;

	for (i = 0; i < n; i += entry) {
		at = i;
		if (n - at >= 4 && !memcmp(b + at, "\xf3\x0f\x1e\xfa", 4))
			at += 4;
		if (n - at >= 1 && b[at] == 0xf2)
			at++;
		if (n - at < 6 || b[at] != 0xff || b[at + 1] != 0x25)
			continue;
		memcpy(&disp, b + at + 2, sizeof(disp));
		name = name_of(p, addr + at + 6 + (uint64_t)(int64_t)disp);
		if (name)
			add_stub(p, name, addr + i, entry);
	}
}

static uint32_t word(const unsigned char *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

#define ARM64_BTI_C	0xd503245fU
#define ARM64_BR_X17	0xd61f0220U
#define IS_ADRP_X16(w)	(((w) & 0x9f00001fU) == 0x90000010U)
#define IS_LDR_X17(w)	(((w) & 0xffc003ffU) == 0xf9400211U)

/* The slot of adrp x16, page; ldr x17, [x16, offset] */
static uint64_t arm64_slot(uint64_t pc, uint32_t adrp, uint32_t ldr)
{
	int64_t page = (int64_t)((uint64_t)(adrp >> 5 & 0x7ffff) << 45) >> 43;

	page |= adrp >> 29 & 3;
	return (pc & ~(uint64_t)4095) + ((uint64_t)page << 12) + (ldr >> 10 & 4095) * 8;
}

static void read_arm64(struct plt *p, const unsigned char *b, size_t n, uint64_t addr)
{
	const char *name;
	size_t i, start, end;

	for (i = 0; i + 8 <= n; i += 4) {
		if (!IS_ADRP_X16(word(b + i)) || !IS_LDR_X17(word(b + i + 4)))
			continue;
		name = name_of(p, arm64_slot(addr + i, word(b + i), word(b + i + 4)));
		if (!name)
			continue;
		start = i >= 4 && word(b + i - 4) == ARM64_BTI_C ? i - 4 : i;
		for (end = i + 8; end + 4 <= n && end < i + 20; end += 4)
			if (word(b + end) == ARM64_BR_X17)
				break;
		add_stub(p, name, addr + start, end + 4 - start);
	}
}

static void read_table(struct plt *p, Elf_Scn *scn, const GElf_Shdr *sh, uint16_t machine)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	if (!data || !data->d_buf)
		return;
	if (machine == EM_AARCH64)
		read_arm64(p, data->d_buf, data->d_size, sh->sh_addr);
	else
		read_amd64(p, data->d_buf, data->d_size, sh->sh_addr,
			   sh->sh_entsize == 8 ? 8 : 16);
}

static void each_table(struct plt *p, uint16_t machine)
{
	Elf_Scn *scn = NULL;
	size_t strndx;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(p->elf, &strndx))
		return;
	while ((scn = elf_nextscn(p->elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		s = elf_strptr(p->elf, strndx, sh.sh_name);
		if (s && !strncmp(s, ".plt", 4) && (!s[4] || s[4] == '.'))
			read_table(p, scn, &sh, machine);
	}
}

void elfsyms_plt(struct symtab *t, Elf *elf)
{
	struct plt p = { .t = t, .elf = elf };
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Shdr sh;

	if (!gelf_getehdr(elf, &eh))
		return;
	if (eh.e_machine == EM_AARCH64) {
		p.got = R_AARCH64_GLOB_DAT;
		p.jump = R_AARCH64_JUMP_SLOT;
	} else if (eh.e_machine == EM_X86_64) {
		p.got = R_X86_64_GLOB_DAT;
		p.jump = R_X86_64_JUMP_SLOT;
	} else {
		return;
	}
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA)
			add_slots(&p, scn, &sh);
	if (p.n) {
		qsort(p.slot, p.n, sizeof(*p.slot), by_addr);
		each_table(&p, eh.e_machine);
	}
	free(p.slot);
}
