// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call frame information that is written to take long: the time is in proportion to the
 * length of the section.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "frames.h"
#include "libpmc_event.h"
#include "libpmc_unwind.h"
#include "scratch.h"
#include "seconds.h"
#include "tap.h"

#define LONG		(SECTION / 4)	/* bytes of what is read again and again */
#define SECONDS_MAX	2

/* Functions of which each has another CIE than the one before it */
static void functions(const size_t common[2])
{
	uint32_t i;

	for (i = 0; len + 32 <= sizeof(section); i++)
		end_entry(begin_function(common[i % 2], 0x1000 + i, 1));
}

static void is_quick(const char *what)
{
	double took = cpu_now();

	walk_section(0);
	took = cpu_now() - took;
	printf("# %s: %.2f s\n", what, took);
	ok(took < SECONDS_MAX, "%s: quick", what);
	len = 0;
}

static void test_letters(void)
{
	size_t common[2], i;

	for (i = 0; i < 2; i++) {
		common[i] = begin_common(LONG);
		end_entry(common[i]);
	}
	functions(common);
	is_quick("a long augmentation");
}

static void test_numbers(void)
{
	size_t common[2], i;

	for (i = 0; i < 2; i++) {
		common[i] = begin_common(0);
		byte(DW_CFA_def_cfa);
		padded(7, LONG);
		byte(8);
		end_entry(common[i]);
	}
	functions(common);
	is_quick("a long number in a common program");
}

/* Each row has it. */
static void test_cfa(void)
{
	size_t common = begin_common(0), at;

	end_entry(common);
	at = begin_function(common, 0x1000, SECTION);
	byte(DW_CFA_def_cfa_expression);
	uleb(LONG + 2);
	byte(DW_OP_breg0 + 7);
	padded(0, LONG);
	fill(DW_CFA_advance_loc | 1, SECTION / 2);
	end_entry(at);
	is_quick("a long expression of the CFA");
}

/* Assemblers and linkers pad numbers that they know late. */
static void test_padded(void)
{
	size_t common = begin_common(4);

	byte(DW_CFA_def_cfa);
	padded(7, 9);
	padded(8, 9);
	end_entry(common);
	end_entry(begin_function(common, 0x1000, 1));
	walk_section(0);
	ok(told == 1 && !unknown, "numbers of ten bytes");
	len = 0;
}

/* Sections in a file of 4 GB that has a few kilobytes on disk */
static int sparse(uint64_t names, uint64_t frames)
{
	static const char strings[] = "\0.eh_frame\0.shstrtab";
	const struct {
		Elf64_Ehdr	e;
		Elf64_Phdr	p;
		Elf64_Shdr	s[3];
	} head = {
		.e = {
			OBJECT_OF_AMD64, .e_shstrndx = 2,
			.e_phoff = offsetof(typeof(head), p), .e_phnum = 1,
			.e_shoff = offsetof(typeof(head), s), .e_shnum = 3,
		},
		.p = { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 1UL << 20 },
		.s[1] = {
			.sh_name = 1, .sh_type = SHT_PROGBITS,
			.sh_offset = 0x10000, .sh_size = frames,
		},
		.s[2] = {
			.sh_name = 11, .sh_type = SHT_STRTAB,
			.sh_offset = 0x1000, .sh_size = names,
		},
	};
	int fd = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600), err = 0;
	struct pmc_unwind t;

	abort_if(pwrite(fd, &head, sizeof(head), 0) != sizeof(head) ||
		 pwrite(fd, strings, sizeof(strings), 0x1000) != sizeof(strings) ||
		 ftruncate(fd, 1L << 32));
	if (pmc_unwind_compile(fd, &t))
		err = errno;
	else
		pmc_unwind_free(&t);
	close(fd);
	return err;
}

static void test_sparse(void)
{
	double start = cpu_now();

	ok(sparse(100, 100) == ENOEXEC, "a section without functions");
	ok(sparse(100, 1UL << 30) == EFBIG, "a section of 1 GB");
	ok(sparse(100, 1UL << 63) == ENOEXEC, "a section beyond the file");
	ok(sparse(1UL << 30, 100) == ENOEXEC, "names of 1 GB");
	ok(cpu_now() - start < SECONDS_MAX, "they are not read");
}

/* Code of 64 GB that has no section, nor needs a library: it may have a restorer. */
static void test_sparse_code(void)
{
	const struct {
		Elf64_Ehdr	e;
		Elf64_Phdr	p;
	} head = {
		.e = {
			OBJECT_OF_AMD64,
			.e_phoff = offsetof(typeof(head), p), .e_phnum = 1,
		},
		.p = { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 1UL << 36 },
	};
	int fd = open("code", O_RDWR | O_CREAT | O_TRUNC, 0600);
	double start = cpu_now();
	struct pmc_unwind t;

	abort_if(pwrite(fd, &head, sizeof(head), 0) != sizeof(head) ||
		 ftruncate(fd, 1L << 36));
	ok(pmc_unwind_compile(fd, &t) && errno == ENOEXEC, "code of 64 GB");
	ok(cpu_now() - start < SECONDS_MAX, "not all of it is read");
	close(fd);
}

static void no_symbol(void *arg, const char *name, uint64_t offset, int global)
{
	abort();
}

/* All are the same 16 MB, which are not on disk. */
static void test_symbols(void)
{
	static struct {
		Elf64_Ehdr	e;
		Elf64_Shdr	s[2000];
	} head = {
		.e = {
			OBJECT_OF_AMD64,
			.e_shoff = offsetof(typeof(head), s), .e_shnum = 2000,
		},
	};
	int fd = open("symbols", O_RDWR | O_CREAT | O_TRUNC, 0600);
	double start = cpu_now();
	size_t i;

	for (i = 0; i < 2000; i++)
		head.s[i] = (Elf64_Shdr){
			.sh_type = SHT_SYMTAB, .sh_offset = 0x100000,
			.sh_size = 16 << 20, .sh_entsize = sizeof(Elf64_Sym),
		};
	abort_if(pwrite(fd, &head, sizeof(head), 0) != sizeof(head) ||
		 ftruncate(fd, 32 << 20));
	close(fd);
	ok(!pmc_elf_functions("symbols", no_symbol, NULL), "symbol tables");
	ok(cpu_now() - start < SECONDS_MAX, "all the same: they are not read");
}

int main(void)
{
	scratch_begin();
	test_sparse();
	test_sparse_code();
	test_symbols();
	test_letters();
	test_numbers();
	test_cfa();
	test_padded();
	scratch_end();
	return done();
}
