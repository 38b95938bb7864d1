// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections that tables are made of, in other forms: .debug_frame is the same when it is
 * compressed, and .sframe says what .eh_frame does.  Also code that has none of these:
 * signal restorers, .plt, _init() and _fini().
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../src/unwind/unwind_table.h"
#include "libpmc_elf.h"
#include "libpmc_sframe.h"
#include "libpmc_unwind.h"
#include "scratch.h"
#include "tap.h"

static char bin[3000];

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

	abort_if(pmc_elf_read(&e, fd) || !(row = pmc_elf_section(&e, section)));
	at = FIELD(&e, row, Shdr, sh_offset);
	*header = (uint64_t)(row - e.shdr);
	pmc_elf_close(&e);
	close(fd);
	return at;
}

static void patch(const char *name, uint64_t at, const void *bytes, size_t n)
{
	int fd = open(name, O_RDWR);

	abort_if(pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n);
	close(fd);
}

/* A section that is damaged is as if it were not there. */
static void damaged(const char *what, uint64_t at, const void *bytes, size_t n,
		    const struct pmc_unwind *without)
{
	uint64_t header;

	abort_if(shell("cp packed damaged"));
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

	if (shell("objcopy --decompress-debug-sections "
			      "%s/unwind-debug plain 2>/dev/null", bin) ||
	    shell("objcopy --compress-debug-sections=%s plain packed "
		    "2>/dev/null", how)) {
		ok(true, ".debug_frame, by %s # SKIP not here", how);
		return;
	}
	abort_if(shell("objcopy -R .debug_frame plain without"));
	abort_if(compile("plain", &plain) || compile("without", &without));
	ok(plain.len > without.len && is_like("packed", &plain),
	   ".debug_frame, by %s", how);
	test_damaged(&without);
	pmc_unwind_free(&plain);
	pmc_unwind_free(&without);
}

static bool look(struct unwind_table *view, const struct pmc_unwind *t)
{
	return !hwpmc_unwind_table_check(view, t->table, t->len, EM_X86_64);
}

/* Of rbx .sframe says nothing. */
static void compare(const char *what, const struct pmc_unwind *a,
		    const struct pmc_unwind *b)
{
	unsigned int both = 0, same = 0, one = 0;
	struct unwind_table x, y;
	uint32_t pc;

	if (!look(&x, a) || !look(&y, b)) {
		ok(false, "%s: tables", what);
		return;
	}
	for (pc = x.pc[0]; pc < x.pc[x.nrows - 1] + 100; pc++) {
		const struct hwpmc_unwind_rule *p =
			hwpmc_unwind_table_find(&x, pc);
		const struct hwpmc_unwind_rule *q =
			hwpmc_unwind_table_find(&y, pc);
		struct hwpmc_unwind_rule r;

		one += !p != !q;
		if (!p || !q)
			continue;
		r = *p;
		if (r.ra != HWPMC_AT_UNDEFINED)
			r.lr = HWPMC_AT_UNDEFINED;
		both++;
		same += !memcmp(&r, q, sizeof(r));
	}
	ok(both > 70000 && same == both && !one,
	   "%s: %u of %u the same, %u in one only", what, same, both, one);
}

/* A file without section headers: what is a segment of no use becomes .sframe's. */
static void strip_headers(const char *name)
{
	Elf64_Phdr seg = { .p_type = PT_SFRAME };
	const uint64_t zero = 0;
	uint64_t header;
	const unsigned char *row;
	int fd = open(name, O_RDONLY);
	struct elf e;
	uint64_t at;

	abort_if(pmc_elf_read(&e, fd));
	row = pmc_elf_section(&e, ".sframe");
	seg.p_vaddr = FIELD(&e, row, Shdr, sh_addr);
	seg.p_filesz = FIELD(&e, row, Shdr, sh_size);
	seg.p_offset = find(name, ".sframe", &header);
	row = pmc_elf_segment(&e, PT_GNU_STACK);
	at = sizeof(Elf64_Ehdr) + (uint64_t)(row - e.phdr);
	pmc_elf_close(&e);
	close(fd);
	patch(name, at, &seg, sizeof(seg));
	patch(name, offsetof(Elf64_Ehdr, e_shoff), &zero, 8);
	patch(name, offsetof(Elf64_Ehdr, e_shnum), &zero, 4);
}

static void test_sframe(int version)
{
	struct pmc_unwind both, frames;
	char name[32];

	sprintf(name, ".sframe, version %d", version);
	if (shell("objcopy --rename-section .sframe_later=.sframe "
		    "%s/sframe-%d both 2>/dev/null", bin, version) ||
	    shell("objcopy -R .eh_frame both frames")) {
		ok(true, "%s # SKIP it is not built", name);
		return;
	}
	abort_if(compile("both", &both));
	ok(is_like("both", &both) && !compile("frames", &frames), "%s", name);
	compare(name, &both, &frames);
	strip_headers("frames");
	ok(is_like("frames", &frames), "%s: without section headers", name);
	pmc_unwind_free(&both);
	pmc_unwind_free(&frames);
}

static int on_function(void *arg, uint64_t start, uint64_t end)
{
	*(uint64_t *)arg = start;
	return end <= start;
}

static int on_row(void *arg, uint64_t addr, const struct hwpmc_unwind_rule *r)
{
	uint64_t *last = arg;

	if (addr < *last)
		return 1;
	*last = addr;
	return r->cfa != HWPMC_CFA_UNTOLD;
}

/* Rows of a kind that no rule can tell, the second before the first */
static void test_back(void)
{
	static const unsigned char section[] = {
		0xe2, 0xde, 3, 4, 3, 0, 0xf8, 0,
		1, 0, 0, 0, 2, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0,
		0, 1, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 0, 1, 0, 9, 3, 8, 5, 3, 8,
	};
	struct cfi_section s = {
		.data = section, .len = sizeof(section), .addr = 0x10000,
		.machine = EM_X86_64,
	};
	uint64_t last = 0;
	struct cfi_sink sink = { on_function, on_row, &last };

	ok(!pmc_sframe_walk(&s, &sink) &&
	   last == 0x10000 + 28 + 0x100 + 10, "rows that go back");
}

/* What is wrong with it is left out, and all the rest of the section. */
static void test_hostile(void)
{
	const uint32_t many = 0x7fffffff;
	const unsigned char wrong = 9;
	struct pmc_unwind t;
	uint64_t at, header;

	if (shell("objcopy --rename-section .sframe_later=.sframe "
		    "-R .eh_frame %s/sframe-2 one 2>/dev/null", bin))
		return;
	at = find("one", ".sframe", &header);
	patch("one", at + 8, &many, 4);
	ok(compile("one", &t), "more functions than it has");
	patch("one", at + 8, "\5\0\0\0", 4);
	patch("one", at + 28 + 12, &many, 4);
	ok(!compile("one", &t), "more rows than it has");
	pmc_unwind_free(&t);
	patch("one", at + 2, &wrong, 1);
	ok(compile("one", &t), "a version that nobody knows");
}

/* Is the CFA the stack pointer + @offset, the return address in LR or below the CFA? */
static bool is_by_sp(const struct unwind_table *t, uint64_t at, int offset)
{
	const struct hwpmc_unwind_rule *r = hwpmc_unwind_table_find(t, (u32)at);

	return r && r->cfa == HWPMC_CFA_SP && r->cfa_offset == offset &&
	       r->ra == (offset ? HWPMC_AT_CFA : HWPMC_AT_SAME) &&
	       r->ra_offset == (offset ? -8 : 0) && r->fp == HWPMC_AT_SAME;
}

static bool arm64_table(const char *name, struct pmc_unwind *u,
			struct unwind_table *t)
{
	return !compile(name, u) &&
	       !hwpmc_unwind_table_check(t, u->table, u->len, EM_AARCH64);
}

/*
 * .plt of arm64: its first entry, where the instruction before byte @push pushes two
 * words, and four others
 */
static void test_arm64_plt(const char *what, const char *compiler,
			   unsigned int push)
{
	struct pmc_unwind u = { 0 };
	struct unwind_table t;
	uint64_t plt, header;
	bool good = true;
	unsigned int at;

	if (shell("echo 'int a(void), b(void), c(void), d(void);"
		    "int f(void) { return a() + b() + c() + d(); }' | "
		    "%s -O2 -fPIC -shared -nostdlib -Wl,-z,lazy "
		    "-o arm64 -x c - 2>/dev/null", compiler)) {
		ok(true, ".plt of arm64, %s # SKIP it is not built", what);
		return;
	}
	if (!arm64_table("arm64", &u, &t)) {
		ok(false, ".plt of arm64, %s: a table", what);
		return;
	}
	plt = find("arm64", ".plt", &header);
	for (at = 0; at < 32 + 4 * 16; at += 4)
		good &= is_by_sp(&t, plt + at, at >= push && at < 32 ? 16 : 0);
	ok(good, ".plt of arm64, %s", what);
	pmc_unwind_free(&u);
}

/* Are the rules for the first @n entries of a section of lld's those that ld writes? */
static void test_amd64_plt(const char *what, const char *section,
			   const char *flags, unsigned int n)
{
	static const char source[] =
		"int a(void), b(void), c(void); int f(void)"
		"{ return a() + b() + c(); }";
	struct pmc_unwind u[2] = { 0 };
	struct unwind_table t[2];
	const struct hwpmc_unwind_rule *r[2];
	uint64_t plt[2], header;
	unsigned int at, same = 0;

	if (shell("echo '%s' | gcc -O2 -fPIC -shared -nostdlib -Wl,-z,lazy "
		    "%s -o ld -x c - 2>/dev/null", source,
		    *flags ? "-fcf-protection -Wl,-z,ibtplt" : "") ||
	    shell("echo '%s' | clang -O2 -fPIC -shared -nostdlib -Wl,-z,lazy "
		    "-fuse-ld=lld %s -o lld -x c - 2>/dev/null", source, flags)) {
		ok(true, "%s # SKIP it is not built", what);
		return;
	}
	abort_if(compile("ld", &u[0]) || compile("lld", &u[1]) ||
		 !look(&t[0], &u[0]) || !look(&t[1], &u[1]));
	plt[0] = find("ld", section, &header);
	plt[1] = find("lld", section, &header);
	for (at = 0; at < n * 16; at++) {
		r[0] = hwpmc_unwind_table_find(&t[0], (u32)plt[0] + at);
		r[1] = hwpmc_unwind_table_find(&t[1], (u32)plt[1] + at);
		same += r[0] && r[1] && !memcmp(r[0], r[1], sizeof(**r));
	}
	ok(same == n * 16, "%s: %u bytes of %u as ld has them", what, same,
	   n * 16);
	pmc_unwind_free(&u[0]);
	pmc_unwind_free(&u[1]);
}

/* Has the section the rules of _init(), whose stack pointer is moved behind @head bytes? */
static bool is_init(const char *name, const char *section, unsigned int head,
		    unsigned int size)
{
	struct pmc_unwind u = { 0 };
	struct unwind_table t;
	uint64_t start, header;
	unsigned int at;
	bool good = true;

	abort_if(compile(name, &u) || !look(&t, &u));
	start = find(name, section, &header);
	for (at = 0; at < size; at++)
		good &= is_by_sp(&t, start + at, at < head || at == size - 1 ? 8 : 16);
	pmc_unwind_free(&u);
	return good;
}

/* _init() and _fini(): those of a library of this machine, and others */
static void test_init(void)
{
	static const char library[] = "/lib/x86_64-linux-gnu/libz.so.1";
	static const char source[] =
		"gcc -O2 -fPIC -shared -nostdlib -o %s -x c - 2>/dev/null <<'EOF'\n"
		"void f(void) { }\n"
		"__asm__(\".section .init, \\\"ax\\\"; %s sub $8, %%rsp; %s add $8, %%rsp; ret; .previous\");\n"
		"EOF";

	if (!access(library, R_OK))
		ok(is_init(library, ".init", 4, 23) && is_init(library, ".fini", 4, 9),
		   "_init() and _fini() of a library of the machine");
	abort_if(shell(source, "ibt", "endbr64;", "") ||
		 shell(source, "calls", "", "call f@plt; call f@plt;") ||
		 shell(source, "half", "", "call f@plt; nop;") ||
		 shell(source, "other", "", "push %rax; pop %rax;"));
	ok(is_init("ibt", ".init", 8, 13), "_init() with endbr64");
	ok(is_init("calls", ".init", 4, 19), "an _init() that calls, as libcrypto's does");
	ok(!is_init("half", ".init", 4, 15), "one that calls, and does more");
	ok(!is_init("other", ".init", 4, 11), "an _init() that does more");
}

/* Is it the rule of a signal's frame, with struct ucontext at the stack pointer? */
static bool is_signal(const struct unwind_table *t, uint64_t at, bool arm64)
{
	const struct hwpmc_unwind_rule *r = hwpmc_unwind_table_find(t, (u32)at);

	return r && (r->flags & HWPMC_RULE_SIGNAL) &&
	       r->cfa == HWPMC_CFA_SP_DEREF &&
	       r->cfa_offset == (arm64 ? 560 : 160) && r->ra == HWPMC_AT_SP &&
	       r->ra_offset == (arm64 ? 568 : 168) && r->fp == HWPMC_AT_SP &&
	       r->fp_offset == (arm64 ? 544 : 120);
}

/*
 * A signal restorer at byte @at of the code, @len bytes long and without call frame
 * information of its own, is found at these bytes and the @before bytes before it.
 */
static void test_restorer(const char *what, const char *compiler,
			  const char *code, unsigned int at, unsigned int before,
			  unsigned int len)
{
	const bool arm64 = before == 4;
	struct pmc_unwind u = { 0 };
	struct unwind_table t;
	uint64_t text, header;
	bool good = true;
	unsigned int i;

	if (shell("printf '%%s\\n' f: %s | %s -shared -nostdlib "
		    "-o restorer -x assembler - 2>/dev/null", code, compiler)) {
		ok(true, "%s # SKIP it is not built", what);
		return;
	}
	text = find("restorer", ".text", &header);
	if (compile("restorer", &u) ||
	    hwpmc_unwind_table_check(&t, u.table, u.len,
				     arm64 ? EM_AARCH64 : EM_X86_64)) {
		ok(!len, "%s: a table", what);
		return;
	}
	for (i = 0; i < at + len + 8; i++)
		good &= is_signal(&t, text + i, arm64) ==
			(i + before >= at && i < at + len);
	ok(good, "%s", what);
	pmc_unwind_free(&u);
}

#define RESTORE	"'mov $15, %rax' syscall "

static void test_restorers(void)
{
	test_restorer("a restorer", "gcc", "ret nop " RESTORE "ret '.skip 8'",
		      2, 1, 9);
	/* the file is read in pieces of 1 << 20 bytes, which have 9 in common */
	test_restorer("one of which a piece has all but a byte", "gcc",
		      "'.skip 1048567' nop " RESTORE "ret '.skip 8'", 1048568, 1,
		      9);
	test_restorer("one at the end of a piece", "gcc",
		      "'.skip 3145700' nop " RESTORE "ret '.skip 8'", 3145701, 1,
		      9);
	test_restorer("a restorer that is told to be a function", "gcc",
		      "nop .cfi_startproc " RESTORE ".cfi_endproc ret "
		      "'.skip 8'", 1, 1, 9);
	test_restorer("a system call within a function", "gcc",
		      ".cfi_startproc nop " RESTORE ".cfi_endproc ret "
		      "'.skip 8'", 0, 0, 0);
	test_restorer("a restorer of arm64", "aarch64-linux-gnu-gcc",
		      "ret nop 'mov x8, #139' 'svc #0' ret nop nop", 8, 4, 8);
	test_restorer("another call of arm64", "aarch64-linux-gnu-gcc",
		      "ret nop 'mov x8, #138' 'svc #0' ret nop nop", 0, 4, 0);
}

/* As in glibc's _dl_runtime_resolve(), behind two words that .plt has pushed */
static void test_arm64_resolver(void)
{
	struct pmc_unwind u = { 0 };
	struct unwind_table t;
	uint64_t text, header;

	if (shell("printf '%%s\n' f: .cfi_startproc nop "
		    "'.cfi_rel_offset lr, 8' 'sub sp, sp, #208' "
		    "'.cfi_adjust_cfa_offset 208' nop .cfi_endproc | "
		    "aarch64-linux-gnu-gcc -shared -nostdlib -o arm64 "
		    "-x assembler - 2>/dev/null")) {
		ok(true, "arm64's resolver # SKIP it is not built");
		return;
	}
	text = find("arm64", ".text", &header);
	ok(arm64_table("arm64", &u, &t) && is_by_sp(&t, text + 4, 16) &&
	   is_by_sp(&t, text + 8, 16 + 208), "arm64's resolver");
	pmc_unwind_free(&u);
}

int main(void)
{
	if (!getenv("BIN") || !realpath(getenv("BIN"), bin))
		return 2;
	scratch_begin();
#ifdef WITH_ZLIB
	test_packed("zlib");
#endif
#ifdef WITH_ZSTD
	test_packed("zstd");
#endif
	test_sframe(2);
	test_sframe(3);
	test_hostile();
	test_back();
	test_arm64_plt("ld", "aarch64-linux-gnu-gcc", 4);
	test_arm64_plt("lld", "clang --target=aarch64-linux-gnu -fuse-ld=lld",
		       4);
	test_arm64_plt("with BTI", "aarch64-linux-gnu-gcc -Wl,-z,force-bti", 8);
	test_arm64_resolver();
	test_amd64_plt(".plt of lld", ".plt", "", 4);
	test_amd64_plt(".plt of lld with IBT", ".plt",
		       "-fcf-protection -Wl,-z,force-ibt", 4);
	test_amd64_plt(".plt.sec of lld", ".plt.sec",
		       "-fcf-protection -Wl,-z,force-ibt", 3);
	test_init();
	test_restorers();
	scratch_end();
	return done();
}
