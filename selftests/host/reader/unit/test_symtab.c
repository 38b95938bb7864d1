// SPDX-License-Identifier: BSD-2-Clause
/* Which symbol an address gets. */
#include <string.h>

#include "elf/symtab.h"
#include "tap.h"

static void add(struct symtab *t, uint64_t start, uint64_t size,
		const char *name, enum sym_rank rank)
{
	struct sym s = {
		.start = start, .end = size ? start + size : 0,
		.name = name, .rank = (uint8_t)rank,
	};

	symtab_add(t, &s);
}

static bool is(const struct symtab *t, uint64_t addr, const char *name)
{
	const struct sym *s = symtab_find(t, addr);
	const char *got = s ? s->name ? s->name : "(entry)" : "(none)";

	if (!strcmp(got, name))
		return true;
	printf("# %#llx: %s, not %s\n", (unsigned long long)addr, got, name);
	return false;
}

static void test_sizes(void)
{
	struct symtab t = { 0 };

	add(&t, 0x1000, 0x100, "sized", SYM_GLOBAL);
	add(&t, 0x1200, 0, "open", SYM_GLOBAL);
	add(&t, 0x1300, 0x10, "next", SYM_LOCAL);
	add(&t, 0x1400, 0, NULL, SYM_ENTRY);
	add(&t, 0x1500, 0, NULL, SYM_GAP);
	symtab_sort(&t);
	ok(is(&t, 0xfff, "(none)") && is(&t, 0x1000, "sized") &&
	   is(&t, 0x10ff, "sized") && is(&t, 0x1100, "(none)"),
	   "a size is respected");
	ok(is(&t, 0x1200, "open") && is(&t, 0x12ff, "open"),
	   "without one it goes on to the next");
	ok(is(&t, 0x1310, "(none)") && is(&t, 0x1400, "(entry)") &&
	   is(&t, 0x14ff, "(entry)") && is(&t, 0x1500, "(none)"),
	   "unnamed entries fill holes, up to the end of the section");
	symtab_free(&t);
}

static void test_nested(void)
{
	struct symtab t = { 0 };

	add(&t, 0x1000, 0x1000, "outer", SYM_GLOBAL);
	add(&t, 0x1100, 0x100, "inner", SYM_LOCAL);
	add(&t, 0x1140, 0x20, "innermost", SYM_LOCAL);
	add(&t, 0x1800, 0, "label", SYM_LOCAL);
	add(&t, 0x1900, 0, NULL, SYM_ENTRY);
	symtab_sort(&t);
	ok(is(&t, 0x10ff, "outer") && is(&t, 0x1100, "inner") &&
	   is(&t, 0x1150, "innermost") && is(&t, 0x1160, "inner") &&
	   is(&t, 0x1200, "outer") && is(&t, 0x1fff, "outer") &&
	   is(&t, 0x2000, "(none)"), "the innermost has it, then the outer");
	ok(is(&t, 0x1800, "outer") && is(&t, 0x1900, "outer"),
	   "labels inside of a function are none");
	symtab_free(&t);
}

static void test_aliases(void)
{
	struct symtab t = { 0 };

	add(&t, 0x1000, 0x10, "__libc_malloc", SYM_GLOBAL);
	add(&t, 0x1000, 0x10, "malloc", SYM_GLOBAL);
	add(&t, 0x1000, 0x10, "aaa_local", SYM_LOCAL);
	add(&t, 0x2000, 0x10, "short", SYM_GLOBAL);
	add(&t, 0x2000, 0x10, "much_longer", SYM_GLOBAL);
	add(&t, 0x3000, 0, "a_long_unsized_name", SYM_GLOBAL);
	add(&t, 0x3000, 0x10, "sized", SYM_LOCAL);
	add(&t, 0x4000, 0, NULL, SYM_ENTRY);
	add(&t, 0x4000, 0x10, "named", SYM_LOCAL);
	symtab_sort(&t);
	ok(is(&t, 0x1008, "malloc"), "global, and fewer underscores");
	ok(is(&t, 0x2008, "much_longer"), "the longer name");
	ok(is(&t, 0x3008, "sized"), "the one with a size");
	ok(is(&t, 0x4008, "named"), "a name before an unnamed entry");
	symtab_free(&t);
}

static void test_odd(void)
{
	struct symtab t = { 0 };
	uint64_t i;

	symtab_sort(&t);
	ok(is(&t, 0, "(none)"), "an empty table");
	for (i = 0; i < 200; i++)
		add(&t, 0x1000 + i, 0x10000 - i, "nest", SYM_LOCAL);
	add(&t, UINT64_MAX - 1, 0, "last", SYM_GLOBAL);
	symtab_sort(&t);
	ok(is(&t, 0x1010, "nest") && is(&t, UINT64_MAX - 1, "last"),
	   "200 functions within each other");
	symtab_free(&t);
}

static void test_long(void)
{
	char name[SYM_NAME_MAX + 100] = "";
	struct symtab t = { 0 };

	memset(name, 'x', sizeof(name) - 1);
	add(&t, 0x1000, 16, name, SYM_GLOBAL);
	symtab_sort(&t);
	strcpy(name + SYM_NAME_MAX, "...#1000");
	ok(is(&t, 0x1000, name), "the first 4096 bytes of a long name, and the address");
	symtab_free(&t);
}

int main(void)
{
	test_sizes();
	test_nested();
	test_aliases();
	test_odd();
	test_long();
	return done();
}
