// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections that tables are made of, in other forms: .debug_frame is the same when it is
 * compressed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmc_elf.h"
#include "libpmc_unwind.h"
#include "tap.h"

static char bin[3000];

__attribute__((format(printf, 1, 2)))
static int command(const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return system(text);
}

static int compile(const char *name, struct pmc_unwind *t)
{
	int fd = open(name, O_RDONLY), status;

	status = pmc_unwind_compile(fd, t);
	close(fd);
	return status;
}

static bool is_like(const char *name, const struct pmc_unwind *want)
{
	struct pmc_unwind t;
	bool same;

	if (compile(name, &t))
		return false;
	same = t.len == want->len && !memcmp(t.table, want->table, t.len);
	pmc_unwind_free(&t);
	return same;
}

/* Where a section of the file begins, and its header */
static uint64_t find(const char *name, const char *section, uint64_t *header)
{
	int fd = open(name, O_RDONLY);
	const unsigned char *row;
	struct elf e;
	uint64_t at;

	if (pmc_elf_read(&e, fd) || !(row = pmc_elf_section(&e, section)))
		abort();
	at = FIELD(&e, row, Shdr, sh_offset);
	*header = (uint64_t)(row - e.shdr);
	pmc_elf_close(&e);
	close(fd);
	return at;
}

static void patch(const char *name, uint64_t at, const void *bytes, size_t n)
{
	int fd = open(name, O_RDWR);

	if (pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n)
		abort();
	close(fd);
}

/* A section that is damaged is as if it were not there. */
static void damaged(const char *what, uint64_t at, const void *bytes, size_t n,
		    const struct pmc_unwind *without)
{
	uint64_t header;

	if (command("cp packed damaged"))
		abort();
	patch("damaged", find("damaged", ".debug_frame", &header) + at, bytes,
	      n);
	ok(is_like("damaged", without), "%s", what);
}

static void test_damaged(const struct pmc_unwind *without)
{
	const uint64_t huge[] = { 1ULL << 40, ~0ULL, 60 << 20, 0 };
	uint32_t type = 99;

	damaged("a kind of compression that nobody knows", 0, &type, 4,
		without);
	damaged("a size that nothing has", 8, &huge[0], 8, without);
	damaged("all bytes that there are", 8, &huge[1], 8, without);
	damaged("a size that it does not have", 8, &huge[2], 8, without);
	damaged("no bytes", 8, &huge[3], 8, without);
	damaged("bytes that are none of it", 40, &huge[1], 8, without);
}

static void test_packed(const char *how)
{
	struct pmc_unwind plain, without;

	if (command("objcopy --decompress-debug-sections "
			      "%s/unwind-debug plain 2>/dev/null", bin) ||
	    command("objcopy --compress-debug-sections=%s plain packed "
		    "2>/dev/null", how)) {
		ok(true, ".debug_frame, by %s # SKIP not here", how);
		return;
	}
	if (command("objcopy -R .debug_frame plain without"))
		abort();
	if (compile("plain", &plain) || compile("without", &without))
		abort();
	ok(plain.len > without.len && is_like("packed", &plain),
	   ".debug_frame, by %s", how);
	test_damaged(&without);
	pmc_unwind_free(&plain);
	pmc_unwind_free(&without);
}

int main(void)
{
	char dir[] = "/tmp/test_sections.XXXXXX";

	if (!getenv("BIN") || !realpath(getenv("BIN"), bin) || !mkdtemp(dir) ||
	    chdir(dir))
		return 2;
#ifdef WITH_ZLIB
	test_packed("zlib");
#endif
#ifdef WITH_ZSTD
	test_packed("zstd");
#endif
	if (chdir("/") || command("rm -r %s", dir))
		perror(dir);
	return done();
}
