// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks that follow the one before: of a thread that calls and returns at random,
 * through functions of all kinds of frames, the chain is what a walk without a
 * memory finds, and what was called; and most of the stack is not looked at again.
 */
#include <string.h>

#include "../../../src/unwind/unwind_recall.h"
#include "rnd.h"
#include "tap.h"

#define NFUNCS		48
#define DEPTH_MAX	50
#define WORDS		4096
#define STACK		0x7ffd00000000ULL
#define TOP		(STACK + WORDS * 8)
#define NEXT_FUNC	0x100
#define FIRST_PC	0x401000

enum { RBX = 3, RBP = 6 };

static struct hwpmc_unwind_rule rules[NFUNCS];
static u64 words[WORDS];
static unsigned long nsteps;

/* The registers of the thread, and what it has called */
static u64 regs[UNWIND_NREGS], sp;
static struct {
	u64	sp, rbx, rbp, pc;
} called[DEPTH_MAX];
static unsigned int depth, current;

static bool read_word(void *arg, u64 addr, u64 *word)
{
	if (addr < STACK || addr >= TOP)
		return false;
	*word = words[(addr - STACK) / 8];
	return true;
}

static u64 as_it_is(u64 pc)
{
	return pc;
}

/* Function 0 has no caller. */
static void make_rules(void)
{
	unsigned int i;

	rules[0].ra = HWPMC_AT_UNDEFINED;
	rules[0].cfa = HWPMC_CFA_SP;
	for (i = 1; i < NFUNCS; i++) {
		struct hwpmc_unwind_rule *r = &rules[i];

		r->ra = HWPMC_AT_CFA;
		r->ra_offset = -8;
		r->cfa = HWPMC_CFA_SP;
		r->cfa_offset = 32 + 8 * (s32)rnd(6);
		if (rnd(2)) {
			r->fp = HWPMC_AT_CFA;
			r->fp_offset = -16;
			if (rnd(2)) {
				r->cfa = HWPMC_CFA_FP;
				r->cfa_offset = 16;
			}
		}
		if (rnd(2)) {
			r->lr = HWPMC_AT_CFA;
			r->lr_offset = -24;
			/* its frame is found by rbx */
			if (UNWIND_KEPT < UNWIND_NREGS && !rnd(3)) {
				r->cfa = HWPMC_CFA_REG + RBX;
				r->cfa_offset = 0;
			}
		}
	}
}

static const struct hwpmc_unwind_rule *rule_at(u64 pc)
{
	u64 i = (pc - FIRST_PC) / NEXT_FUNC;

	return pc >= FIRST_PC && i < NFUNCS ? &rules[i] : NULL;
}

static u64 pc_in(unsigned int func)
{
	return FIRST_PC + func * NEXT_FUNC + 2 + rnd(4) * 8;
}

static void store(u64 addr, u64 word)
{
	words[(addr - STACK) / 8] = word;
}

static void call(unsigned int func)
{
	const struct hwpmc_unwind_rule *r = &rules[func];
	u64 cfa = sp;

	called[depth].sp = sp;
	called[depth].rbx = regs[RBX];
	called[depth].rbp = regs[RBP];
	called[depth].pc = pc_in(current);
	store(cfa - 8, called[depth].pc);
	depth++;
	sp = cfa - (r->cfa == HWPMC_CFA_SP ? (u64)r->cfa_offset : 32 + rnd(5) * 8);
	if (r->fp == HWPMC_AT_CFA) {
		store(cfa - 16, regs[RBP]);
		regs[RBP] = r->cfa == HWPMC_CFA_FP ? cfa - 16 : rnd(1000);
	}
	if (r->lr == HWPMC_AT_CFA) {
		store(cfa - 24, regs[RBX]);
		regs[RBX] = r->cfa == HWPMC_CFA_REG + RBX ? cfa : rnd(1000);
	}
	current = func;
}

static void leave(void)
{
	depth--;
	sp = called[depth].sp;
	regs[RBX] = called[depth].rbx;
	regs[RBP] = called[depth].rbp;
	current = (unsigned int)((called[depth].pc - FIRST_PC) / NEXT_FUNC);
}

static struct unwind_frame frame_now(u64 pc)
{
	return (struct unwind_frame){
		.pc = pc, .sp = sp, .fp = regs[RBP], .regs = regs,
		.sp_known = true, .fp_known = true, .exact = true,
	};
}

struct way {
	u64		pc[DEPTH_MAX + 2];
	unsigned int	n;
	enum unwind_result res;
};

/* @recall: NULL: without a memory */
static void walk(struct way *way, struct unwind_recall *recall,
		 struct unwind_frame f, unsigned int max)
{
	const struct hwpmc_unwind_rule *r;
	struct recall_walk w;
	bool usual;

	if (recall)
		recall_begin(&w, recall, 1);
	for (way->n = 0; ; ) {
		way->res = UNWIND_NONSENSE;
		r = rule_at(f.pc - !f.exact);
		if (!r)
			break;
		way->res = UNWIND_CALLER;
		if (way->n == max)
			break;
		way->pc[way->n++] = f.pc;
		usual = f.sp_known && f.fp_known && unwind_is_usual(r);
		if (recall)
			recall_at(&w, &f, r, usual);
		nsteps++;
		way->res = unwind_step(&f, r, read_word, NULL, as_it_is);
		if (way->res != UNWIND_CALLER)
			break;
		if (!recall)
			continue;
		recall_left(&w);
		way->n = recall_follow(&w, &f, way->pc, way->n, max, read_word,
				       NULL, as_it_is);
	}
	if (recall)
		recall_end(&w);
}

static bool same(const struct way *a, const struct way *b)
{
	return a->n == b->n && a->res == b->res &&
	       !memcmp(a->pc, b->pc, a->n * sizeof(*a->pc));
}

/* What was called, innermost first */
static bool is_true(const struct way *way)
{
	unsigned int i;

	if (way->n != depth + 1 || way->res != UNWIND_TOP)
		return false;
	for (i = 1; i < way->n; i++)
		if (way->pc[i] != called[depth - i].pc)
			return false;
	return true;
}

static void move_on(unsigned int most)
{
	unsigned int n = (unsigned int)rnd(most) + 1;

	while (n--) {
		if (depth && (depth == DEPTH_MAX || rnd(2)))
			leave();
		else
			call((unsigned int)rnd(NFUNCS - 1) + 1);
	}
}

static void begin(void)
{
	memset(words, 0, sizeof(words));
	depth = 0;
	current = 0;
	sp = TOP - 64;
	while (depth < DEPTH_MAX / 2)
		call((unsigned int)rnd(NFUNCS - 1) + 1);
}

/* @max: frames of a chain; @hurt: words are changed that no call has written */
static void run(const char *what, unsigned int max, bool hurt)
{
	static struct unwind_recall recall;
	unsigned long plain = 0, again = 0, before;
	unsigned int i, differ = 0, untrue = 0;
	struct way a, b;

	memset(&recall, 0, sizeof(recall));
	begin();
	for (i = 0; i < 200000; i++) {
		struct unwind_frame f = frame_now(pc_in(current));

		if (i % 5000 == 0)
			begin();
		f = frame_now(pc_in(current));
		before = nsteps;
		walk(&a, NULL, f, max);
		plain += nsteps - before;
		before = nsteps;
		walk(&b, &recall, f, max);
		again += nsteps - before;
		differ += !same(&a, &b);
		untrue += !hurt && max > DEPTH_MAX && !is_true(&b);
		move_on(4);
		if (hurt && !rnd(4))
			words[rnd(WORDS)] = rnd(2) ? pc_in((unsigned int)rnd(NFUNCS)) :
						     STACK + rnd(WORDS) * 8;
	}
	ok(!differ, "%s: %u of %u chains differ", what, differ, i);
	ok(!untrue, "%s: %u chains are not what was called", what, untrue);
	ok(again < plain, "%s: %.1f steps by rules a chain, %.1f without", what,
	   (double)again / i, (double)plain / i);
}

/* How many frames the last of two equal walks looks up */
static void spared(void)
{
	static struct unwind_recall recall;
	struct recall_walk w;
	struct unwind_frame f;
	unsigned int n;
	struct way a;

	begin();
	while (rules[current].cfa != HWPMC_CFA_SP)
		call((unsigned int)rnd(NFUNCS - 1) + 1);
	walk(&a, &recall, frame_now(pc_in(current)), DEPTH_MAX + 2);
	f = frame_now(pc_in(current));
	recall_begin(&w, &recall, 1);
	unwind_step(&f, &rules[current], read_word, NULL, as_it_is);
	recall_left(&w);
	n = recall_follow(&w, &f, a.pc, 1, DEPTH_MAX + 2, read_word, NULL, as_it_is);
	ok(n > 1, "%u of %u frames are passed at once", n - 1, a.n);
	recall_begin(&w, &recall, 2);
	f = frame_now(pc_in(current));
	unwind_step(&f, &rules[current], read_word, NULL, as_it_is);
	recall_left(&w);
	n = recall_follow(&w, &f, a.pc, 1, DEPTH_MAX + 2, read_word, NULL, as_it_is);
	ok(n == 1, "none in another map of code");
}

int main(void)
{
	make_rules();
	run("calls", DEPTH_MAX + 2, false);
	run("short chains", 12, false);
	run("hurt stacks", DEPTH_MAX + 2, true);
	spared();
	return done();
}
