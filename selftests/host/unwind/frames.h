/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An .eh_frame of amd64, byte by byte.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "libpmc_cfi.h"
#include "libpmc_dwarf.h"

#define SECTION		(1U << 20)

static unsigned char section[SECTION];
static size_t len;

static inline void bytes(const void *from, size_t n)
{
	if (len + n > sizeof(section))
		abort();
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

#endif /* FRAMES_H */
