// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
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

/* sub $8, %rsp; add $8, %rsp and ret: the C library's ends of _init() and _fini() */
static const unsigned char init_head[] = { 0x48, 0x83, 0xec, 8 };
static const unsigned char init_tail[] = { 0x48, 0x83, 0xc4, 8, 0xc3 };
/* test %rax, %rax; je over the next one; call *%rax: between them in _init(), behind mov */
static const unsigned char init_call[] = { 0x48, 0x85, 0xc0, 0x74, 2, 0xff, 0xd0 };

#define INIT_MOV	7U	/* bytes: mov REL(%rip), %rax */
#define INIT_CALL	5U	/* bytes: call REL, which libcrypto puts behind that */
#define INIT_CALL_CODE	0xe8
#define INIT_MAX	(sizeof(endbr) + sizeof(init_head) + INIT_MOV + \
			 sizeof(init_call) + 16 * INIT_CALL + sizeof(init_tail))

/* Does the code leave the stack pointer alone? */
static bool is_init_body(const unsigned char *code, uint64_t size)
{
	const uint64_t first = INIT_MOV + sizeof(init_call);

	if (size >= first && !memcmp(code + INIT_MOV, init_call, sizeof(init_call))) {
		code += first;
		size -= first;
	}
	for (; size >= INIT_CALL && *code == INIT_CALL_CODE; size -= INIT_CALL)
		code += INIT_CALL;
	return !size;
}

/* Bytes before the stack pointer changes; -1: other objects have code there, too */
static int init_at(const unsigned char *code, uint64_t size)
{
	const uint64_t ends = sizeof(init_head) + sizeof(init_tail);
	uint64_t at = 0;

	if (size > sizeof(endbr) && !memcmp(code, endbr, sizeof(endbr)))
		at = sizeof(endbr);
	if (size < at + ends || memcmp(code + at, init_head, sizeof(init_head)) ||
	    memcmp(code + size - sizeof(init_tail), init_tail, sizeof(init_tail)))
		return -1;
	return is_init_body(code + at + sizeof(init_head), size - at - ends) ? (int)at : -1;
}

static int init_section(const struct elf *e, const char *name,
			const struct cfi_sink *sink)
{
	const unsigned char *row = pmc_elf_section(e, name);
	uint64_t start, size;
	unsigned char *code;
	int at, status = 0;

	if (!row)
		return absent();
	start = FIELD(e, row, Shdr, sh_addr);
	size = FIELD(e, row, Shdr, sh_size);
	if (!size || size > INIT_MAX || start + size < start)
		return 0;
	code = pmc_elf_part(e, FIELD(e, row, Shdr, sh_offset), size);
	if (!code)
		return absent();
	at = init_at(code, size);
	free(code);
	if (at < 0)
		return 0;
	status = sink->function(sink->arg, start, start + size);
	if (!status)
		status = by_sp(sink, start, 8);
	if (!status)
		status = by_sp(sink, start + (unsigned int)at + sizeof(init_head), 16);
	return status ?: by_sp(sink, start + size - 1, 8);
}

int pmc_code_init(const struct elf *e, const struct cfi_sink *sink)
{
	int status;

	if (e->machine != EM_X86_64)
		return 0;
	status = init_section(e, ".init", sink);
	return status ?: init_section(e, ".fini", sink);
}

/*
 * struct restorer - the instructions of a function that ends signal handlers
 * @before: bytes before it that have its rule, too: a handler returns to its first
 *	instruction, and a return address is looked up before itself.  It is one
 *	instruction, and the function is aligned to it
 */
struct restorer {
	unsigned char	code[9];
	unsigned int	len;
	unsigned int	before;
	struct hwpmc_unwind_rule rule;
};

/* mov $15, %rax; syscall.  The stack pointer is at struct ucontext. */
static const struct restorer amd64_restorer = {
	.code = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 }, .len = 9,
	.before = 1,
	.rule = {
		.cfa = HWPMC_CFA_SP_DEREF, .cfa_offset = 160,
		.ra = HWPMC_AT_SP, .ra_offset = 168,
		.fp = HWPMC_AT_SP, .fp_offset = 120,
		.lr = HWPMC_AT_SP, .lr_offset = 128,	/* rbx */
		.flags = HWPMC_RULE_SIGNAL,
	},
};

/* mov x8, #139; svc #0 */
static const struct restorer arm64_restorer = {
	.code = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 }, .len = 8,
	.before = 4,
};

static int restorer_at(const struct restorer *r, const struct elf *e,
		       uint64_t addr, const struct cfi_sink *sink)
{
	const struct cfi_state unused = { 0 };
	struct hwpmc_unwind_rule rule = r->rule;
	int status;

	if (e->machine == EM_AARCH64)
		pmc_cfi_rule(&rule, &unused, EM_AARCH64, 1);
	status = sink->function(sink->arg, addr - r->before, addr + r->len);
	return status ?: sink->row(sink->arg, addr - r->before, &rule);
}

/* @code: @len bytes that are loaded at @addr */
static int restorers_in(const struct restorer *r, const struct elf *e,
			const unsigned char *code, uint64_t len, uint64_t addr,
			const struct cfi_sink *sink)
{
	const unsigned char *p = code + r->before, *end = code + len;
	int status = 0;

	while (!status && p < end &&
	       (p = memmem(p, (size_t)(end - p), r->code, r->len))) {
		if (!((addr + (uint64_t)(p - code)) % r->before))
			status = restorer_at(r, e, addr + (uint64_t)(p - code),
					     sink);
		p++;
	}
	return status;
}

#define PIECE	(1U << 20)	/* searched at a time */
#define SEARCH_MAX	(512ULL << 20)	/* of a file, which can be sparse and of any size */
#define DYNAMIC_MAX	(1U << 20)

/* Of @len bytes from @offset on, loaded at @addr; the pieces overlap. */
static int restorers_of(const struct restorer *r, const struct elf *e,
			uint64_t offset, uint64_t len, uint64_t addr,
			const struct cfi_sink *sink)
{
	const uint64_t both = r->before + r->len - 1;
	unsigned char *code;
	uint64_t at, n;
	int status = 0;

	for (at = 0; !status && at + both < len; at += PIECE - both) {
		n = len - at < PIECE ? len - at : PIECE;
		code = pmc_elf_part(e, offset + at, n);
		if (!code)
			return absent();
		status = restorers_in(r, e, code, n, addr + at, sink);
		free(code);
	}
	return status;
}

/* Does the file need others, among them a C library?  1; 0; or -1, see above. */
static int needs_others(const struct elf *e)
{
	const unsigned char *row = pmc_elf_segment(e, PT_DYNAMIC);
	uint64_t len, i;
	Elf64_Dyn *dyn;
	int found = 0;

	if (!row)
		return 0;
	len = FIELD(e, row, Phdr, p_filesz);
	if (len > DYNAMIC_MAX)
		len = DYNAMIC_MAX;
	dyn = pmc_elf_part(e, FIELD(e, row, Phdr, p_offset), len);
	if (!dyn)
		return absent();
	for (i = 0; i < len / sizeof(*dyn) && dyn[i].d_tag != DT_NULL; i++)
		found |= dyn[i].d_tag == DT_NEEDED;
	free(dyn);
	return found;
}

/*
 * A restorer is in a C library, in what is linked with one, in the vdso, or in a program
 * of Go.  The search takes as long as the rest of the table, so others are not searched.
 */
static int may_have_restorer(const struct elf *e)
{
	int needs = needs_others(e);

	if (needs <= 0)
		return needs ? -1 : 1;
	return pmc_elf_section(e, ".go.buildinfo") ? 1 : absent();
}

static int search(const struct restorer *r, const struct elf *e,
		  const struct cfi_sink *sink)
{
	const unsigned char *row = e->phdr;
	/* hostile segments may be the same */
	uint64_t len, left = e->size < SEARCH_MAX ? e->size : SEARCH_MAX;
	int status = 0;
	size_t i;

	for (i = 0; i < e->nphdr && !status; i++, row += SIZE(e, Phdr)) {
		len = FIELD(e, row, Phdr, p_filesz);
		if (FIELD(e, row, Phdr, p_type) != PT_LOAD ||
		    !(FIELD(e, row, Phdr, p_flags) & PF_X) || len > left)
			continue;
		left -= len;
		status = restorers_of(r, e, FIELD(e, row, Phdr, p_offset), len,
				      FIELD(e, row, Phdr, p_vaddr), sink);
	}
	return status;
}

int pmc_code_restorers(const struct elf *e, const struct cfi_sink *sink)
{
	int may = may_have_restorer(e);

	if (may <= 0)
		return may;
	return search(e->machine == EM_AARCH64 ? &arm64_restorer :
						 &amd64_restorer, e, sink);
}
