// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shown.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/strtab.h"

/*
 * libiberty's.  Its header is in another folder than Debian's on some distributions, and in
 * none on others, which have the library.
 */
#define DMGL_PARAMS	(1 << 0)
#define DMGL_ANSI	(1 << 1)
typedef void demangle_write(const char *s, size_t len, void *opaque);
int cplus_demangle_v3_callback(const char *name, int options, demangle_write *write, void *opaque);
int rust_demangle_callback(const char *name, int options, demangle_write *write, void *opaque);
char *dlang_demangle(const char *name, int options);

#define MANGLED_MAX	4096
#define D_MAX		512	/* of D: they take memory */
#define BACK_REFS_MAX	20	/* of D: some double all that is before them */

/**
 * struct demangling - where a demangler writes
 *
 * A short name can expand to gigabytes, and the demanglers have no way to stop.
 * So they are left by longjmp(), which is safe as they use no heap here.
 */
struct demangling {
	char buf[SHOWN_MAX + 1];	/* more than is shown: it is cut then */
	size_t n;
	jmp_buf full;
};

static void demangled(const char *s, size_t len, void *opaque)
{
	struct demangling *d = opaque;
	size_t room = sizeof(d->buf) - 1 - d->n;

	if (len > room)
		len = room;
	memcpy(d->buf + d->n, s, len);
	d->n += len;
	if (len == room)
		longjmp(d->full, 1);
}

static bool run_demangler(const char *name, struct demangling *d)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (!strncmp(name, "_R", 2))
		return rust_demangle_callback(name, options, demangled, d);
	if (strncmp(name, "_Z", 2) && strncmp(name, "__Z", 3))
		return false;
	if (rust_demangle_callback(name, options, demangled, d))
		return true;
	d->n = 0;
	return cplus_demangle_v3_callback(name, options, demangled, d);
}

static bool refers_back_often(const char *name)
{
	unsigned int n = 0;

	for (; *name; name++)
		n += *name == 'Q';
	return n > BACK_REFS_MAX;
}

static bool demangle_d(const char *name, struct demangling *d)
{
	char *s;

	if (strcmp(name, "_Dmain") &&
	    (strncmp(name, "_D", 2) || name[2] < '1' || name[2] > '9' ||
	     strlen(name) > D_MAX || refers_back_often(name)))
		return false;
	s = dlang_demangle(name, DMGL_PARAMS);
	if (!s)
		return false;
	snprintf(d->buf, sizeof(d->buf), "%s", s);
	free(s);
	return true;
}

static bool try_demangle(const char *name, struct demangling *d)
{
	if (strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return false;
	if (demangle_d(name, d))
		return true;
	d->n = 0;
	if (!setjmp(d->full) && !run_demangler(name, d))
		return false;
	d->buf[d->n] = '\0';
	return true;
}

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
	struct demangling d;
	const char *s = demangle && try_demangle(name, &d) ? d.buf : name;

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
