// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a program on unwind tables: what the module asks for, and what it
 * is given.
 *
 * Tables are libpmc's of this program and of the vdso, or made here: heads are good
 * ones, rules of every kind and offset.  Faults are put in afterwards.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/hwpmc.h>
#include <linux/hwpmc_unwind.h>

#include "libpmc_unwind.h"

#include "calls.h"
#include "executor.h"

#ifdef __aarch64__
#define MACHINE		EM_AARCH64
#else
#define MACHINE		EM_X86_64
#endif

#define RULES		40
#define ROWS		300
#define ROWS_MANY	70000		/* more than the module checks at a stretch */
#define TABLE_ROOM	(sizeof(struct hwpmc_unwind_table) +			\
			 RULES * sizeof(struct hwpmc_unwind_rule) +		\
			 ROWS_MANY * (sizeof(uint32_t) + sizeof(uint16_t)) + 64)

/* libpmc's; made before there are executors */
static struct pmc_unwind real, real_vdso;
static struct stat self;

/* Where the code is that HOSTILE runs: offsets in the file. */
static uint32_t code_from;
extern const char __ehdr_start[];	/* the linker's; at address 0 of the file */

static void note_code(void)
{
	const Elf64_Phdr *ph = (const void *)getauxval(AT_PHDR);
	const uintptr_t at = (uintptr_t)hostile_code, base = (uintptr_t)__ehdr_start;
	unsigned long i, n = getauxval(AT_PHNUM);

	for (i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) &&
		    at - base - ph[i].p_vaddr < ph[i].p_filesz)
			code_from = at - base - ph[i].p_vaddr + ph[i].p_offset;
}

uint32_t code_offset(void)
{
	return code_from;
}

void unwind_setup(void)
{
	const Elf64_Ehdr *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	note_code();
	if (fd < 0 || fstat(fd, &self) || pmc_unwind_compile(fd, &real))
		perror("fuzz-guest: its own unwind table");
	close(fd);
	/* some architectures' has none */
	if (vdso)
		pmc_unwind_compile_image(vdso, vdso->e_shoff +
			(size_t)vdso->e_shnum * vdso->e_shentsize, &real_vdso);
}

/* ------------------------------------------------------------------------
 * Tables
 */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static int32_t some_offset(uint32_t *state)
{
	static const int32_t odd[] = {
		0, 1, 4, -1, -16, -4096, 4096, 65536, 1 << 20, INT32_MIN,
		INT32_MAX, INT32_MAX - 7,
	};

	if (next_random(state) % 4)
		return (int32_t)(next_random(state) % 12) * 8 - 24;
	return odd[next_random(state) % SIZE(odd)];
}

static struct hwpmc_unwind_rule some_rule(uint32_t *state)
{
	static const uint8_t cfa[] = {
		HWPMC_CFA_SP, HWPMC_CFA_SP, HWPMC_CFA_FP, HWPMC_CFA_SP_DEREF,
		HWPMC_CFA_FP_DEREF, HWPMC_CFA_PLT, HWPMC_CFA_UNTOLD,
		HWPMC_CFA_NONE,
	};
	struct hwpmc_unwind_rule r = { 0 };

	r.cfa = next_random(state) % 4 ? cfa[next_random(state) % SIZE(cfa)] :
		HWPMC_CFA_REG + next_random(state) % 16;
	r.ra = next_random(state) % 3 ? HWPMC_AT_CFA :
	       next_random(state) % HWPMC_AT_KINDS;
	r.fp = next_random(state) % HWPMC_AT_KINDS;
	r.lr = next_random(state) % HWPMC_AT_KINDS;
	r.flags = next_random(state) % 4 ? 0 : HWPMC_RULE_SIGNAL;
	r.cfa_offset = some_offset(state);
	r.cfa_add = some_offset(state);
	r.ra_offset = next_random(state) % 3 ? -8 : some_offset(state);
	r.fp_offset = next_random(state) % 3 ? -16 : some_offset(state);
	r.lr_offset = some_offset(state);
	return r;
}

/* A rule that walks up any stack, eight bytes at a time */
static const struct hwpmc_unwind_rule next_word = {
	.cfa = HWPMC_CFA_SP, .cfa_offset = 8,
	.ra = HWPMC_AT_CFA, .ra_offset = -8,
};

struct view {
	struct hwpmc_unwind_table *head;
	struct hwpmc_unwind_rule *rule;
	uint32_t	*pc;
	uint16_t	*number;
};

static struct view view_of(void *data)
{
	struct view v = { .head = data };

	v.rule = (void *)(v.head + 1);
	v.pc = (void *)(v.rule + v.head->nrules);
	v.number = (void *)(v.pc + v.head->nrows);
	return v;
}

static size_t length_of(const struct hwpmc_unwind_table *h)
{
	return sizeof(*h) + h->nrules * sizeof(struct hwpmc_unwind_rule) +
	       h->nrows * (sizeof(uint32_t) + sizeof(uint16_t));
}

static void *begin_table(void *data, uint32_t nrows, uint32_t nrules)
{
	*(struct hwpmc_unwind_table *)data = (struct hwpmc_unwind_table){
		.magic = HWPMC_UNWIND_MAGIC, .version = HWPMC_UNWIND_VERSION,
		.machine = MACHINE, .nrows = nrows, .nrules = nrules,
	};
	return data;
}

/* One rule for everything */
static void make_one(void *data, struct hwpmc_unwind_rule rule)
{
	struct view v = view_of(begin_table(data, 2, 2));

	v.rule[0] = (struct hwpmc_unwind_rule){ 0 };
	v.rule[1] = rule;
	v.pc[0] = 0;
	v.pc[1] = UINT32_MAX;
	v.number[0] = 1;
	v.number[1] = 0;
}

/* Rows as near to each other as instructions, in the code that HOSTILE runs. */
static void make_many(void *data, uint32_t nrows, uint32_t *state)
{
	struct view v = view_of(begin_table(data, nrows, 2 + next_random(state) % (RULES - 1)));
	uint32_t at = next_random(state) % 4 ? code_from - code_from % 64 : 0, i;
	uint32_t step = 1 + next_random(state) % (next_random(state) % 2 ? 8 : 4096);

	v.rule[0] = (struct hwpmc_unwind_rule){ 0 };
	for (i = 1; i < v.head->nrules; i++)
		v.rule[i] = some_rule(state);
	for (i = 0; i < nrows; i++, at += 1 + next_random(state) % step) {
		v.pc[i] = at;
		v.number[i] = next_random(state) % v.head->nrules;
	}
	v.number[nrows - 1] = 0;
}

/* What is not as it has to be; the last ones are lengths. */
static size_t spoil(void *data, size_t len, unsigned int how)
{
	struct view v = view_of(data);
	uint32_t last = v.head->nrows - 1;

	switch (how % 24) {
	case 1:
		v.head->magic++;
		break;
	case 2:
		v.head->version++;
		break;
	case 3:
		v.head->machine++;
		break;
	case 4:
		v.head->nrows = 0;
		break;
	case 5:
		v.head->nrows++;
		break;
	case 6:
		v.head->nrows = UINT32_MAX;
		break;
	case 7:
		v.head->nrules = 0;
		break;
	case 8:
		v.head->nrules--;
		break;
	case 9:
		v.head->nrules = 1U << 31;
		break;
	case 10:
		v.head->reserved[how / 24 % 4] = 1;
		break;
	case 11:
		v.rule[1].cfa = how & 1 ? HWPMC_CFA_REGS : HWPMC_CFA_UNTOLD + 1;
		break;
	case 12:
		v.rule[1].ra = HWPMC_AT_KINDS;
		break;
	case 13:
		v.rule[1].fp = HWPMC_AT_KINDS;
		break;
	case 14:
		v.rule[1].lr = 255;
		break;
	case 15:
		v.rule[1].flags = 0x80;
		break;
	case 16:
		v.rule[1].reserved[how / 24 % 3] = 1;
		break;
	case 17:
		v.pc[last] = v.pc[last ? last - 1 : 0];
		break;
	case 18:
		v.number[0] = v.head->nrules;
		break;
	case 19:	/* may be the NONE that is asked for */
		v.number[last] = v.head->nrules - 1;
		break;
	case 20:
		return len - 1;
	case 21:
		return len + 1;
	case 22:
		return how / 24 * 4;
	case 23:	/* both agree with a length of more than 32 bits */
		v.head->nrows = 1U << 31;
		v.head->nrules = 1U << 30;
		break;
	}
	return len;
}

/* A table in @data, of a length that is returned; 0: none */
static size_t make_table(const struct op *op, void *data)
{
	uint32_t state = op->arg[2] | op->arg[3] << 8;
	const struct pmc_unwind *known = op->arg[1] % 8 == 1 ? &real_vdso : &real;

	switch (op->arg[1] % 8) {
	case 0:
	case 1:
		if (!known->len || known->len > TABLE_ROOM)
			return 0;
		memcpy(data, known->table, known->len);
		break;
	case 2:
		return 0;
	case 3:
		make_one(data, next_word);
		break;
	case 4:
		make_one(data, some_rule(&state));
		break;
	case 5:
		make_many(data, ROWS_MANY, &state);
		break;
	default:
		make_many(data, 1 + next_random(&state) % ROWS, &state);
	}
	return spoil(data, length_of(data), op->arg[4]);
}

/* ------------------------------------------------------------------------
 * UNWINDNEXT and UNWINDTABLE
 */

/* A file of HOSTILE's gets one rule for everything, another one for each @seed. */
void give_rule(const struct op *op, int fd, uint32_t seed)
{
	struct {
		struct hwpmc_unwind_table head;
		struct hwpmc_unwind_rule rule[2];
		uint32_t pc[2];
		uint16_t number[2];
	} data;
	struct hwpmc_unwindtable a = {
		.fd = fd, .data = (uintptr_t)&data, .len = sizeof(data),
	};

	make_one(&data, some_rule(&seed));
	ioctl(dev_of(op), HWPMC_IOC_UNWINDTABLE, &a);
}

static int answer(const struct op *op, const struct hwpmc_unwindnext *next)
{
	const struct pmc_unwind *t = &real_vdso, none = { 0 };
	struct hwpmc_unwindtable a = { .id = next->id, .fd = -1 };
	struct stat st;

	if (next->fd >= 0)
		t = !fstat(next->fd, &st) && st.st_size == self.st_size ? &real :
									 &none;
	a.data = (uintptr_t)t->table;
	a.len = t->len;
	return ioctl(dev_of(op), HWPMC_IOC_UNWINDTABLE, &a);
}

/*
 * arg: slot; 1: answered with libpmc's table, 2: twice, 4: the descriptor is passed
 * on, 8: and closed; how often, until there is nothing more; what it asks with
 */
void do_unwindnext(const struct op *op)
{
	unsigned int i, slot = op->arg[0] % NEXTS;

	for (i = 0; i <= op->arg[2] % 32 && !sh->stop; i++) {
		ARG(hwpmc_unwindnext, x, .reserved = 0);

		if (io(op, HWPMC_IOC_UNWINDNEXT, &x))
			break;
		if (op->arg[1] & 1)
			answer(op, &x.a);
		if ((op->arg[1] & 3) == 3)
			answer(op, &x.a);
		sh->next[slot].id = x.a.id;
		if (x.a.fd < 0)
			continue;
		if (op->arg[1] & 4)
			mail_send(x.a.fd);
		if (op->arg[1] & 8 || x.a.fd >= FD_OWN)
			close(x.a.fd);
		else
			sh->next[slot].fd = x.a.fd;
	}
}

static int some_file(unsigned int n, unsigned int slot)
{
	switch (n % 8) {
	case 0:
	case 1:
		return open("/proc/self/exe", O_RDONLY);
	case 2:
		return open("/fz/plain", O_RDONLY);
	case 3:
		return open(n & 8 ? "/fz/over/plain" : "/usr/bin/busybox",
			    O_RDONLY);
	case 4:
		return open("/proc/self/exe", O_PATH);
	case 5:
		return memfd_create("code", 0);
	case 6:
		return dup(sh->next[slot].fd);
	default:
		return open("/dev/zero", O_RDWR);
	}
}

/* Which object: an answer, a file, the vdso, a number, or what names none or two. */
static int set_object(const struct op *op, struct hwpmc_unwindtable *a)
{
	unsigned int n = op->arg[0] / 8, slot = n % NEXTS;

	a->fd = -1;
	switch (op->arg[0] % 8) {
	case 0:
	case 1:
		a->id = sh->next[slot].id;
		break;
	case 2:
	case 3:
		return a->fd = some_file(n, slot);
	case 4:
		a->flags = HWPMC_UNWIND_VDSO;
		break;
	case 5:
		a->id = n;
		break;
	case 6:
		a->id = n & 1;
		a->flags = n & 2 ? HWPMC_UNWIND_VDSO : 0;
		a->fd = n & 4 ? dev_of(op) : -1 - (int)(n & 8);
		break;
	default:
		a->fd = n & 1 ? sh->next[slot].fd : dev_of(op);
	}
	return -1;
}

/*
 * arg: object, table (see make_table()), seed of that, what is wrong with it; 1: the
 * wrong word is in the table, 2: the table's address is a bad one
 */
void do_unwindtable(const struct op *op)
{
	ARG(hwpmc_unwindtable, x, .fd = -1);
	struct op plain = *op;
	void *data = mmap(NULL, TABLE_ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file;

	if (data == MAP_FAILED)
		return;
	file = set_object(op, &x.a);
	x.a.data = (uintptr_t)data;
	x.a.len = make_table(op, data);
	if ((op->how & HOW_WORD) && (op->arg[5] & 1)) {
		if (x.a.len > 4)
			memcpy((char *)data + word_at(op, x.a.len & -4UL), &op->word, 4);
		plain.how &= ~HOW_WORD;
	}
	if (op->arg[5] & 2)
		x.a.data = (uintptr_t)bad_address(op);
	io(&plain, HWPMC_IOC_UNWINDTABLE, &x);
	if (file >= 0)
		close(file);
	munmap(data, TABLE_ROOM);
}
