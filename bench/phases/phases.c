// SPDX-License-Identifier: GPL-2.0-only
/*
 * A QEMU plugin that counts the instructions of the guest's kernel by phase: a
 * phase is a function with all that it calls, but for the phases called there.
 *
 * Options: out=FILE, and for all that runs in the kernel, by address, flat=FILE.
 * The guest (work/lib/mark.h) tells by instructions that do
 * nothing, "nopl CONSTANT(%rax,%rax)" in pairs, a command and its argument:
 *	ADD	the phases: low half of an address in the kernel, in order
 *	START	counting begins
 *	STOP	counting ends, and a line "phase N instructions calls" for each
 *		is added to FILE, then "other", "user" and "all"
 * x86 only, one CPU. Made for "-icount": without, the sum is the same, but the
 * guest's clock runs wild.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"
#include "../work/lib/mark.h"

#define MAX_PHASES	64
#define MAX_DEPTH	64
#define USER_END	(1ULL << 47)

struct block {
	struct block *next;
	uint64_t start, end;
	uint32_t insns;
	bool call;		/* ends with a call */
	bool marks;		/* compared with marks at each execution */
	uint32_t command, argument;
	uint64_t hits;		/* while counting */
};

struct frame {
	unsigned int phase;
	uint64_t ret[2];	/* where it may return to, see entered() */
};

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static const char *out_name = "phases.out", *flat_name;
static struct block *blocks;
static uint64_t address[MAX_PHASES];
static unsigned int phases;
static uint64_t insns[MAX_PHASES], calls[MAX_PHASES];
static uint64_t other, user, all;
static struct frame stack[MAX_DEPTH];
static unsigned int depth;
static uint64_t called_from[2];	/* return addresses of the last calls */
static bool counting;

static void start(void)
{
	memset(insns, 0, sizeof(insns));
	memset(calls, 0, sizeof(calls));
	other = user = all = 0;
	depth = 0;
	for (struct block *b = blocks; b; b = b->next)
		b->hits = 0;
	counting = true;
}

/* "ADDRESS instructions" for each block, a line "end" after each run */
static void write_flat(void)
{
	FILE *out = fopen(flat_name, "a");

	if (!out) {
		perror(flat_name);
		return;
	}
	for (const struct block *b = blocks; b; b = b->next)
		if (b->hits && b->start >= USER_END)
			fprintf(out, "%llx %llu\n",
				(unsigned long long)b->start,
				(unsigned long long)(b->hits * b->insns));
	fprintf(out, "end\n");
	fclose(out);
}

static void stop(void)
{
	FILE *out = fopen(out_name, "a");

	counting = false;
	if (!out) {
		perror(out_name);
		return;
	}
	for (unsigned int i = 0; i < phases; i++)
		fprintf(out, "phase %u %llu %llu\n", i,
			(unsigned long long)insns[i],
			(unsigned long long)calls[i]);
	fprintf(out, "other %llu\nuser %llu\nall %llu\n",
		(unsigned long long)other, (unsigned long long)user,
		(unsigned long long)all);
	fclose(out);
	if (flat_name)
		write_flat();
}

static void obey(uint32_t command, uint32_t argument)
{
	switch (command) {
	case MARK_CLEAR:
		phases = 0;
		break;
	case MARK_ADD:
		if (phases < MAX_PHASES)
			address[phases++] = 0xffffffff00000000ULL | argument;
		break;
	case MARK_START:
		start();
		break;
	case MARK_STOP:
		stop();
		break;
	}
}

/* Called at the return address of a call: it and its callees have ended. */
static void returned(uint64_t at)
{
	for (unsigned int i = depth; i-- > 0; ) {
		if (stack[i].ret[0] == at || stack[i].ret[1] == at) {
			depth = i;
			return;
		}
	}
}

/*
 * An indirect call goes through a thunk with a call of its own.  The function
 * then returns to the address that the previous call pushed.
 */
static void entered(uint64_t at)
{
	for (unsigned int i = 0; i < phases; i++) {
		if (address[i] != at)
			continue;
		if (depth < MAX_DEPTH) {
			stack[depth].phase = i;
			memcpy(stack[depth++].ret, called_from,
			       sizeof(called_from));
		}
		calls[i]++;
		return;
	}
}

static void count(struct block *b)
{
	all += b->insns;
	b->hits++;
	if (b->start < USER_END) {
		/* the kernel was left, or will not return to these functions */
		depth = 0;
		user += b->insns;
		return;
	}
	if (depth)
		returned(b->start);
	entered(b->start);
	if (depth)
		insns[stack[depth - 1].phase] += b->insns;
	else
		other += b->insns;
}

static void executed(unsigned int cpu, void *arg)
{
	struct block *b = arg;

	(void)cpu;
	if (b->marks)
		obey(b->command, b->argument);
	if (counting)
		count(b);
	if (b->call) {
		called_from[1] = called_from[0];
		called_from[0] = b->end;
	}
}

/* call rel32; call r/m64, with or without a prefix */
static bool is_call(const struct qemu_plugin_insn *insn)
{
	const uint8_t *p = qemu_plugin_insn_data(insn);

	if (*p == 0x2e || (*p & 0xf0) == 0x40)
		p++;
	return p[0] == 0xe8 || (p[0] == 0xff && (p[1] & 0x38) == 0x10);
}

/* mark.h puts jumps around a mark, so that it is a block of its own. */
static void find_mark(struct block *b, const struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint32_t word[2];

	for (size_t i = 0; i + 1 < n; i++) {
		struct qemu_plugin_insn *a = qemu_plugin_tb_get_insn(tb, i);
		struct qemu_plugin_insn *c = qemu_plugin_tb_get_insn(tb, i + 1);

		if (qemu_plugin_insn_size(a) != 8 ||
		    qemu_plugin_insn_size(c) != 8)
			continue;
		memcpy(word, qemu_plugin_insn_data(a), 8);
		if (word[0] != MARK_NOP || (word[1] & ~0xFU) != MARK_MAGIC)
			continue;
		b->marks = true;
		b->command = word[1] & 0xF;
		memcpy(word, qemu_plugin_insn_data(c), 8);
		b->argument = word[1];
	}
}

/* Never freed: QEMU does not report when it discards a block. */
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	struct block *b = calloc(1, sizeof(*b));

	(void)id;
	if (!b)
		abort();
	b->start = qemu_plugin_tb_vaddr(tb);
	b->end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
	b->insns = n;
	b->call = is_call(last);
	b->next = blocks;
	blocks = b;
	find_mark(b, tb);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed,
					     QEMU_PLUGIN_CB_NO_REGS, b);
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out_name = strdup(argv[i] + 4);
		if (!strncmp(argv[i], "flat=", 5))
			flat_name = strdup(argv[i] + 5);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
