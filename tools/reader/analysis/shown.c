// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/demangle.h"
#include "analysis/shown.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/strtab.h"

static bool printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	if (c == 0x200e || c == 0x200f || c == 0x61c || c == 0xfeff)
		return false;
	if ((c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return false;
	return (c & 0xfffe) != 0xfffe && (c < 0xd800 || c > 0xdfff);
}

/* Length of the piece at @s; @out is its replacement. */
static size_t clean_piece(const char *s, size_t len, char out[8])
{
	uint32_t c = 0;
	size_t k = utf8_next(s, len, &c);

	if (k && printable(c)) {
		memcpy(out, s, k);
		out[k] = '\0';
		return k;
	}
	snprintf(out, 8, "\\x%02x", (unsigned char)*s);
	return 1;
}

static uint32_t name_hash(const char *s)
{
	uint32_t hash = 2166136261U;	/* FNV-1a */

	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619U;
	return hash;
}

/*
 * @whole: what @s is a part of, or made of.  A name that was cut is not cut again: names
 * that are shown are shown by others.
 */
static void cleaned(char out[SHOWN_MAX], const char *s, size_t len, const char *whole)
{
	size_t n = 0, i = 0, k, cut = 0;
	char piece[8];

	while (i < len) {
		i += clean_piece(s + i, len - i, piece);
		k = strlen(piece);
		if (n + k >= SHOWN_MAX) {
			snprintf(out + cut, SHOWN_MAX - cut, "...#%08x", name_hash(whole));
			return;
		}
		memcpy(out + n, piece, k);
		n += k;
		if (n + sizeof("...#12345678") <= SHOWN_MAX)
			cut = n;
	}
	out[n] = '\0';
}

int shown_columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

const char *shown_name(char out[SHOWN_MAX], const char *name, bool demangle)
{
	char buf[DEMANGLED_MAX];
	const char *s = demangle && demangled_name(buf, name) ? buf : name;

	cleaned(out, s, strnlen(s, SHOWN_MAX), name);
	return out;
}

const char *shown_str(char out[SHOWN_MAX], const struct strtab *t, uint32_t id)
{
	return shown_name(out, strtab_str(t, id), false);
}

char *shown_whole(const char *name)
{
	size_t len = strlen(name), i = 0;
	char *s = xmalloc(4 * len + 8), *to = s;

	*s = '\0';
	while (i < len) {
		i += clean_piece(name + i, len - i, to);
		to += strlen(to);
	}
	return s;
}
