// SPDX-License-Identifier: BSD-2-Clause
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "elf/diestring.h"

/* Of other sections libdw has read nothing, and elf_rawdata() would. */
static bool is_debug(Elf *elf, Elf_Scn *scn, size_t names)
{
	GElf_Shdr sh;
	const char *name;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
		return false;
	name = elf_strptr(elf, names, sh.sh_name);
	return name && (!strncmp(name, ".debug_", 7) ||
			!strncmp(name, ".zdebug_", 8));
}

static void add_text(struct die_strings *t, const char *from, size_t size)
{
	const char *nul = memrchr(from, '\0', size);

	if (nul)
		APPEND(t->text, t->n, t->cap) = (struct die_text){
			from, (size_t)(nul - from),
		};
}

DEFINE_ORDER(by_place, struct die_text, ORDER(a->from, b->from))

void die_strings_add(struct die_strings *t, Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = is_debug(elf, scn, names) ?
				 elf_rawdata(scn, NULL) : NULL;

		if (data && data->d_buf)
			add_text(t, data->d_buf, data->d_size);
	}
	if (t->n)
		qsort(t->text, t->n, sizeof(*t->text), by_place);
}

const char *die_string(const struct die_strings *t, Dwarf_Die *die,
		       unsigned int name)
{
	Dwarf_Attribute attr;
	const char *s = dwarf_formstring(dwarf_attr(die, name, &attr));
	size_t n = s ? SEARCH(t->n, i, t->text[i].from <= s) : 0;

	return n && (size_t)(s - t->text[n - 1].from) <= t->text[n - 1].last ?
	       s : NULL;
}

void die_strings_free(struct die_strings *t)
{
	free(t->text);
	memset(t, 0, sizeof(*t));
}
