// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>
#include <gelf.h>

#include "base/mem.h"
#include "elf/disasm.h"

static const struct machine {
	int elf;
	cs_arch arch;
	cs_mode mode;
	uint32_t least;
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, 1 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4 },
};

static const struct machine *machine_of(uint32_t elf)
{
	size_t i;

	for (i = 0; i < nitems(machines); i++)
		if ((uint32_t)machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

/* Debug files have the section headers of the code, but not the code. */
static bool left_out(Elf *elf, uint64_t addr)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_ALLOC &&
		    addr >= sh.sh_addr && addr - sh.sh_addr < sh.sh_size)
			return sh.sh_type == SHT_NOBITS;
	return false;
}

static const unsigned char *code_at(Elf *elf, uint64_t start, uint64_t len)
{
	Elf_Data *data;
	GElf_Phdr ph;
	size_t n, i;

	if (elf_getphdrnum(elf, &n) || left_out(elf, start))
		return NULL;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		uint64_t off = start - ph.p_vaddr;

		if (ph.p_type != PT_LOAD || start < ph.p_vaddr ||
		    off >= ph.p_filesz || ph.p_filesz - off < len ||
		    ph.p_offset + off > INT64_MAX)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)(ph.p_offset + off),
					    len, ELF_T_BYTE);
		return data && data->d_size == len ? data->d_buf : NULL;
	}
	return NULL;
}

const char *disasm_memory(struct disasm *d, uint32_t machine,
			  const unsigned char *code, size_t len,
			  uint64_t start, bool intel)
{
	const struct machine *m = machine_of(machine);
	csh handle;

	memset(d, 0, sizeof(*d));
	if (!m)
		return "is of a machine that is not known here";
	d->code = code;
	if (!d->code)
		return "has no code";
	if (cs_open(m->arch, m->mode, &handle) != CS_ERR_OK)
		return "can't be disassembled by this capstone";
	d->handle = handle;
	d->x86 = m->arch == CS_ARCH_X86;
	if (d->x86 && !intel)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->insn = cs_malloc(handle);
	d->addr = start;
	d->left = len;
	d->least = m->least;
	return NULL;
}

const char *disasm_open(struct disasm *d, const struct image *im,
			uint64_t start, uint64_t end, bool intel)
{
	GElf_Ehdr eh;

	memset(d, 0, sizeof(*d));
	return disasm_memory(d, gelf_getehdr(im->elf, &eh) ? eh.e_machine :
							     EM_NONE,
			     code_at(im->elf, start, end - start), end - start,
			     start, intel);
}

static bool ends_with_jump(const char *mnemonic)
{
	const char *last = strrchr(mnemonic, ' ');	/* after prefixes */

	last = last ? last + 1 : mnemonic;
	return *last == 'j' || !strncmp(last, "call", 4) ||
	       !strncmp(last, "loop", 4) || !strncmp(last, "xbegin", 6);
}

static bool branches(const char *mnemonic)
{
	static const char *const names[] = {
		"b", "bl", "cbz", "cbnz", "tbz", "tbnz",
	};
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (!strcmp(mnemonic, names[i]))
			return true;
	return !strncmp(mnemonic, "b.", 2);
}

/* The target is the last operand, a plain number. */
static void find_target(const struct disasm *d, struct insn *i,
			const cs_insn *c)
{
	const char *op = strrchr(i->text, ' ');
	char *end;

	if (!op || !(d->x86 ? ends_with_jump(c->mnemonic) :
			      branches(c->mnemonic)))
		return;
	op++;
	i->tail = (uint32_t)(op - i->text);
	if (*op == '#')
		op++;
	if (strncmp(op, "0x", 2))
		return;
	i->target = strtoull(op, &end, 16);
	i->jumps = !*end;
}

static void as_bytes(struct disasm *d, struct insn *i)
{
	uint32_t k, n;

	i->size = d->left < d->least ? (uint32_t)d->left : d->least;
	n = (uint32_t)snprintf(i->text, sizeof(i->text), ".byte");
	for (k = 0; k < i->size; k++)
		n += (uint32_t)snprintf(i->text + n, sizeof(i->text) - n,
					"%s 0x%02x", k ? "," : "", d->code[k]);
	d->code += i->size;
	d->addr += i->size;
	d->left -= i->size;
}

bool disasm_next(struct disasm *d, struct insn *i)
{
	const unsigned char *from = d->code;
	cs_insn *c = d->insn;

	if (!d->left)
		return false;
	memset(i, 0, sizeof(*i));
	i->addr = d->addr;
	if (cs_disasm_iter((csh)d->handle, &d->code, &d->left, &d->addr, c)) {
		i->size = c->size;
		snprintf(i->text, sizeof(i->text), "%s%s%s", c->mnemonic,
			 *c->op_str ? " " : "", c->op_str);
		find_target(d, i, c);
	} else {
		as_bytes(d, i);
	}
	memcpy(i->bytes, from, i->size < DISASM_BYTES ? i->size :
							DISASM_BYTES);
	return true;
}

void disasm_close(struct disasm *d)
{
	csh handle = (csh)d->handle;

	if (d->insn)
		cs_free(d->insn, 1);
	if (handle)
		cs_close(&handle);
	memset(d, 0, sizeof(*d));
}
