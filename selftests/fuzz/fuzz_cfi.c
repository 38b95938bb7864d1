// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: tables of any ELF file; what comes of it the module takes.  What begins
 * as SFrame does is that section alone.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "libpmc_sframe.h"
#include "libpmc_unwind.h"
#include "../../src/unwind/unwind_table.h"

/* Of inputs with a table so many are also a file: that takes longer. */
#define FILES_EACH	8

/* Rows are found by looking at each; those of short tables are few enough. */
static void look_up(const struct unwind_table *t)
{
	u32 i;

	for (i = 0; i < t->nrows && i < 4096; i++) {
		const struct hwpmc_unwind_rule *r =
			hwpmc_unwind_table_find(t, t->pc[i]);

		abort_if(r != (t->rules[t->rule[i]].cfa == HWPMC_CFA_NONE ? NULL :
			       &t->rules[t->rule[i]]));
	}
}

struct func {
	u64	at, end;
};

static int on_function(void *arg, uint64_t start, uint64_t end)
{
	struct func *f = arg;

	abort_if(start >= end);
	*f = (struct func){ start, end };
	return 0;
}

/* Inside the function, and never back */
static int on_row(void *arg, uint64_t addr, const struct hwpmc_unwind_rule *r)
{
	struct func *f = arg;

	abort_if(addr < f->at || addr >= f->end || r->cfa == HWPMC_CFA_NONE);
	f->at = addr;
	return 0;
}

static void walk_sframe(const uint8_t *data, size_t size, unsigned int machine)
{
	struct func f;
	struct cfi_sink sink = { on_function, on_row, &f };
	struct cfi_section s = {
		.data = data, .len = size, .addr = 0x10000, .machine = machine,
	};

	pmc_sframe_walk(&s, &sink);
}

/* A file is read as its image is. */
static void compile_file(const uint8_t *data, size_t size,
			 const struct pmc_unwind *u)
{
	int fd = open(fuzz_file(0, data, size), O_RDONLY | O_CLOEXEC);
	struct pmc_unwind file;

	abort_if(fd < 0 || pmc_unwind_compile(fd, &file));
	abort_if(file.len != u->len || memcmp(file.table, u->table, u->len));
	pmc_unwind_free(&file);
	abort_if(lseek(fd, 0, SEEK_SET) || pmc_unwind_of(fd, &file));
	abort_if(file.len != u->len || memcmp(file.table, u->table, u->len));
	pmc_unwind_free(&file);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmc_unwind u;
	struct unwind_table t;

	if (size > 2 && data[0] == 0xe2 && data[1] == 0xde) {
		walk_sframe(data, size, EM_X86_64);
		walk_sframe(data, size, EM_AARCH64);
		return 0;
	}
	if (pmc_unwind_compile_image(data, size, &u))
		return 0;
	abort_if(hwpmc_unwind_table_check(&t, u.table, u.len, EM_X86_64) &&
		 hwpmc_unwind_table_check(&t, u.table, u.len, EM_AARCH64));
	look_up(&t);
	if (!(size % FILES_EACH))
		compile_file(data, size, &u);
	pmc_unwind_free(&u);
	return 0;
}
