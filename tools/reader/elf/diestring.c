// SPDX-License-Identifier: BSD-2-Clause
#include <dwarf.h>
#include <gelf.h>
#include <string.h>

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

/* The bytes from @s to the end of the section of @elf that @s is in, or 0. */
static size_t room(Elf *elf, const char *s)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = is_debug(elf, scn, names) ?
				 elf_rawdata(scn, NULL) : NULL;
		uintptr_t at;

		if (!data || !data->d_buf)
			continue;
		at = (uintptr_t)s - (uintptr_t)data->d_buf;
		if (at < data->d_size)
			return data->d_size - at;
	}
	return 0;
}

/* The file that the string is in: only these forms may ask for another. */
static Dwarf *file_of(Dwarf_Attribute *attr)
{
	Dwarf *dw = dwarf_cu_getdwarf(attr->cu);
	unsigned int form = dwarf_whatform(attr);

	return form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup ?
	       dwarf_getalt(dw) : dw;
}

const char *die_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *s = dwarf_formstring(dwarf_attr(die, name, &attr));
	size_t n = s ? room(dwarf_getelf(file_of(&attr)), s) : 0;

	return n && memchr(s, '\0', n) ? s : NULL;
}
