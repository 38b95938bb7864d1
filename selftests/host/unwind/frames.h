/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An .eh_frame of amd64, byte by byte, and the errors that come of it.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <elf.h>
#include <string.h>

#include "abort.h"
#include "libpmc_cfi.h"
#include "libpmc_dwarf.h"

#define SECTION		(1U << 20)

static unsigned char section[SECTION];
static size_t len;

static inline void bytes(const void *from, size_t n)
{
	abort_if(len + n > sizeof(section));
	memcpy(section + len, from, n);
	len += n;
}

static inline void byte(unsigned int value)
{
	const unsigned char b = (unsigned char)value;

	bytes(&b, 1);
}

static inline void word(size_t value)
{
	const uint32_t w = (uint32_t)value;

	bytes(&w, sizeof(w));
}

static inline void fill(unsigned int value, size_t n)
{
	while (n--)
		byte(value);
}

/* @value in @n + 1 bytes */
static inline void padded(unsigned int value, size_t n)
{
	byte(value | 0x80);
	if (n) {
		fill(0x80, n - 1);
		byte(0);
	}
}

static inline void uleb(size_t value)
{
	for (; value >= 0x80; value >>= 7)
		byte(0x80 | (value & 0x7f));
	byte((unsigned int)value);
}

static inline size_t begin_entry(uint32_t id)
{
	size_t at = len;

	word(0);
	word(id);
	return at;
}

static inline void end_entry(size_t at)
{
	const uint32_t n = (uint32_t)(len - at - 4);

	memcpy(section + at, &n, sizeof(n));
}

/* The beginning of a CIE with @letters behind the 'z' */
static inline size_t begin_common(size_t letters)
{
	size_t at = begin_entry(0);

	byte(1);
	byte('z');
	fill('B', letters);
	byte(0);
	byte(1);			/* code_align */
	byte(0x78);			/* data_align: -8 */
	byte(16);
	byte(0);			/* no augmentation data */
	return at;
}

static inline size_t begin_function(size_t common, uint32_t start, uint32_t size)
{
	size_t at = begin_entry((uint32_t)(len + 4 - common));

	word(start);
	word(0);
	word(size);
	word(0);
	byte(0);
	return at;
}

/* The last rule that was told, and how many were one, or none of the module's */
static struct hwpmc_unwind_rule last;
static size_t told, unknown;

static int on_function(void *arg, uint64_t start, uint64_t end)
{
	return 0;
}

static int on_row(void *arg, uint64_t addr, const struct hwpmc_unwind_rule *rule)
{
	last = *rule;
	told += rule->cfa != HWPMC_CFA_UNTOLD;
	unknown += rule->cfa == HWPMC_CFA_UNTOLD;
	return 0;
}

/* @open: the section's length is not known */
static inline void walk_section(int open)
{
	const struct cfi_section s = {
		.data = section, .len = len, .addr = 0x10000, .open = open,
		.machine = EM_X86_64,
	};
	const struct cfi_sink sink = { on_function, on_row, NULL };

	last = (struct hwpmc_unwind_rule){ 0 };
	told = unknown = 0;
	abort_if(pmc_cfi_walk(&s, &sink));
}

/* What the headers of all objects of amd64 have */
#define OBJECT_OF_AMD64							\
	.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },	\
	.e_type = ET_DYN, .e_machine = EM_X86_64,			\
	.e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr)

#endif /* FRAMES_H */
