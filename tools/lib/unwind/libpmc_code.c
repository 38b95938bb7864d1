// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpmc_code.h"

#define PLT_HEAD	32		/* bytes; of arm64 before the first entry */
#define PLT_PUSH	0xa9bf7bf0	/* stp x16, x30, [sp, #-16]! */
#define PLT_ENTRY	16

/* 0: the file has no such part, or none that is whole; -1: it cannot be read now. */
static int absent(void)
{
	return errno == ENOEXEC ? 0 : -1;
}

/* A row for the state with the CFA at the stack pointer + @offset */
static int by_sp(const struct cfi_sink *sink, uint64_t addr, int32_t offset)
{
	const struct hwpmc_unwind_rule rule = {
		.cfa = HWPMC_CFA_SP, .cfa_offset = offset,
		.ra = offset ? HWPMC_AT_CFA : HWPMC_AT_SAME,
		.ra_offset = offset ? -8 : 0,
	};

	return sink->row(sink->arg, addr, &rule);
}

/*
 * arm64: the entries do not change the stack.  They jump to the beginning of the section
 * for what the loader has not found yet.  There two words are pushed, the return address
 * above the other.
 */
static int arm64_plt(const unsigned char *head, uint64_t start,
		     const struct cfi_sink *sink)
{
	int status = by_sp(sink, start, 0);
	uint32_t code[2];
	unsigned int i;

	memcpy(code, head, sizeof(code));
	for (i = 0; i < 2 && !status; i++) {
		if (code[i] != PLT_PUSH)
			continue;
		status = by_sp(sink, start + (i + 1) * 4, 16);
		if (!status)
			status = by_sp(sink, start + PLT_HEAD, 0);
		break;
	}
	return status;
}

static const unsigned char push_got[] = { 0xff, 0x35 };
static const unsigned char jmp_got[] = { 0xff, 0x25 };
static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

#define PUSH	0x68

/* The byte of each entry from which on its number is pushed; 0: it is another kind */
static int32_t amd64_pushed(const unsigned char *entry)
{
	if (!memcmp(entry, jmp_got, sizeof(jmp_got)) && entry[6] == PUSH)
		return 11;
	if (!memcmp(entry, endbr, sizeof(endbr)) && entry[4] == PUSH)
		return 9;
	return 0;
}

/* amd64: the beginning pushes a word, above the number that the entry has pushed. */
static int amd64_plt(const unsigned char *head, uint64_t start,
		     const struct cfi_sink *sink)
{
	struct hwpmc_unwind_rule entries = {
		.cfa = HWPMC_CFA_PLT, .cfa_offset = 8,
		.cfa_add = amd64_pushed(head + PLT_ENTRY),
		.ra = HWPMC_AT_CFA, .ra_offset = -8,
	};
	int status;

	status = by_sp(sink, start, 16);
	if (!status)
		status = by_sp(sink, start + 6, 24);
	return status ?: sink->row(sink->arg, start + PLT_ENTRY, &entries);
}

/* Retpolines, for example, are another kind: nothing is known of them. */
static int amd64_plt_known(const unsigned char *head)
{
	return !memcmp(head, push_got, sizeof(push_got)) &&
	       !memcmp(head + 6, jmp_got, sizeof(jmp_got)) &&
	       amd64_pushed(head + PLT_ENTRY);
}

/* The first @len bytes of a section; NULL: absent() */
static unsigned char *begin(const struct elf *e, const char *name,
			    uint64_t len, uint64_t *start, uint64_t *end)
{
	const unsigned char *row = pmc_elf_section(e, name);
	uint64_t size;

	if (!row)
		return NULL;
	*start = FIELD(e, row, Shdr, sh_addr);
	size = FIELD(e, row, Shdr, sh_size);
	*end = *start + size;
	if (size >= len && *end > *start)
		return pmc_elf_part(e, FIELD(e, row, Shdr, sh_offset), len);
	errno = ENOEXEC;
	return NULL;
}

static int plt_section(const struct elf *e, const struct cfi_sink *sink)
{
	const int arm64 = e->machine == EM_AARCH64;
	uint64_t start, end;
	unsigned char *head;
	int status = 0;

	head = begin(e, ".plt", PLT_HEAD, &start, &end);
	if (!head)
		return absent();
	if (arm64 || amd64_plt_known(head)) {
		status = sink->function(sink->arg, start, end);
		if (!status)
			status = (arm64 ? arm64_plt : amd64_plt)(head, start,
								 sink);
	}
	free(head);
	return status;
}

/* amd64: entries that only jump */
static int jumps_section(const struct elf *e, const char *name,
			 const struct cfi_sink *sink)
{
	uint64_t start, end;
	unsigned char *head;
	int status = 0, at;

	head = begin(e, name, PLT_ENTRY, &start, &end);
	if (!head)
		return absent();
	at = memcmp(head, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	if (!memcmp(head + at, jmp_got, sizeof(jmp_got))) {
		status = sink->function(sink->arg, start, end);
		if (!status)
			status = by_sp(sink, start, 8);
	}
	free(head);
	return status;
}

/* ld describes these sections for amd64, lld for none. */
int pmc_code_plt(const struct elf *e, const struct cfi_sink *sink)
{
	int status = plt_section(e, sink);

	if (!status && e->machine == EM_X86_64)
		status = jumps_section(e, ".plt.sec", sink);
	if (!status && e->machine == EM_X86_64)
		status = jumps_section(e, ".iplt", sink);
	return status;
}
