// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer: what the module does with a table and a stack, both hostile.
 *
 * The input: where the walk begins, the length of the table in words, the table, and
 * the stack's words.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "../../src/unwind/unwind_recall.h"
#include "../../src/unwind/unwind_step.h"

#define STEPS_MAX	512
#define STACK		0x7ffd00000000ULL	/* where it is, for the walk */

struct start {
	u64	pc, sp, fp, lr;
	u8	known;			/* bits: sp, fp, lr, exact, regs */
	u8	reserved;
	u16	table_words;
	u32	more;
};

struct stack {
	const u8	*words;
	u64		len;
};

static bool read_stack(void *arg, u64 addr, u64 *word)
{
	const struct stack *s = arg;

	if ((addr & 7) || addr < STACK || addr - STACK >= s->len ||
	    s->len - (addr - STACK) < sizeof(*word))
		return false;
	memcpy(word, s->words + (addr - STACK), sizeof(*word));
	return true;
}

static u64 as_it_is(u64 pc)
{
	return pc;
}

static const struct hwpmc_unwind_rule *find(const struct unwind_table *t, u64 pc)
{
	return pc <= UINT32_MAX ? hwpmc_unwind_table_find(t, (u32)pc) : NULL;
}

/* A frame that is refused stays as it was; one that is left lies below its caller. */
static void check_step(const struct unwind_frame *was,
		       const struct unwind_frame *is,
		       const struct hwpmc_unwind_rule *r, enum unwind_result res)
{
	bool in_register = r->ra == HWPMC_AT_SAME || r->ra >= HWPMC_AT_REG;

	if (res != UNWIND_CALLER) {
		abort_if(memcmp(was, is, sizeof(*was)));
		return;
	}
	abort_if(is->regs || (is->exact && !(r->flags & HWPMC_RULE_SIGNAL)));
	if (r->flags & HWPMC_RULE_SIGNAL)
		return;
	abort_if(is->sp < was->sp || (is->sp == was->sp && !in_register));
	/* calls have changed the link register */
	abort_if(is->lr_known);
}

/* A usual rule is a rule like others. */
static void check_usual(const struct unwind_frame *was,
			const struct unwind_frame *is,
			const struct hwpmc_unwind_rule *r,
			enum unwind_result res, struct stack *s)
{
	struct unwind_frame f;

	if (!was->sp_known || !was->fp_known || !unwind_is_usual(r))
		return;
	memcpy(&f, was, sizeof(f));
	abort_if(unwind_step_usual(&f, r, read_stack, s, as_it_is) != res ||
		 memcmp(&f, is, sizeof(f)));
}

/* Where a walk has come by */
struct way {
	u64		pc[STEPS_MAX];
	unsigned int	n;
	enum unwind_result res;
};

static void walk(const struct unwind_table *t, const struct unwind_frame *from,
		 struct stack *s, struct way *way)
{
	struct unwind_frame f, was;

	memcpy(&f, from, sizeof(f));
	way->res = UNWIND_CALLER;
	for (way->n = 0; way->n < STEPS_MAX && way->res == UNWIND_CALLER;) {
		const struct hwpmc_unwind_rule *r = find(t, f.pc - !f.exact);

		if (!r)
			r = &unwind_by_fp;
		way->pc[way->n++] = f.pc;
		memcpy(&was, &f, sizeof(was));
		way->res = unwind_step(&f, r, read_stack, s, as_it_is);
		check_step(&was, &f, r, way->res);
		check_usual(&was, &f, r, way->res, s);
	}
}

/* The same, with what the walk before has seen */
static void walk_again(const struct unwind_table *t, struct unwind_recall *recall,
		       const struct unwind_frame *from, struct stack *s,
		       struct way *way)
{
	struct unwind_frame f;
	struct recall_walk w;

	memcpy(&f, from, sizeof(f));
	recall_begin(&w, recall, 1);
	way->res = UNWIND_CALLER;
	for (way->n = 0; way->n < STEPS_MAX;) {
		const struct hwpmc_unwind_rule *r = find(t, f.pc - !f.exact);
		bool usual = r && f.sp_known && f.fp_known && unwind_is_usual(r);

		if (!r)
			r = &unwind_by_fp;
		way->pc[way->n++] = f.pc;
		recall_at(&w, &f, r, usual);
		way->res = unwind_step(&f, r, read_stack, s, as_it_is);
		if (way->res != UNWIND_CALLER)
			break;
		recall_left(&w);
		way->n = recall_follow(&w, &f, way->pc, way->n, STEPS_MAX,
				       read_stack, s, as_it_is);
	}
	recall_end(&w);
}

static void check_same(const struct way *a, const struct way *b)
{
	abort_if(a->n != b->n || a->res != b->res ||
		 memcmp(a->pc, b->pc, a->n * sizeof(*a->pc)));
}

/*
 * Whatever was seen of other stacks, from other places, a walk's way is the same: of
 * stacks that differ in a word here and there, which one sees as often as not.
 */
static void walk_all(const struct unwind_table *t, const struct unwind_frame *f,
		     const struct stack *s)
{
	static struct unwind_recall recall;
	u8 *words = malloc(s->len ? s->len : 1);
	struct stack other = { words, s->len };
	struct way plain, again;
	struct unwind_frame g;
	u64 word;
	size_t i;

	memset(&recall, 0, sizeof(recall));
	memcpy(words, s->words, s->len);
	for (i = 0; i <= 8; i++) {
		memcpy(&g, f, sizeof(g));
		if (i % 3 == 2) {	/* from a frame further in, or out */
			g.sp += (i - 4) * 8;
			g.exact = !g.exact;
		}
		walk(t, &g, &other, &plain);
		walk_again(t, &recall, &g, &other, &again);
		check_same(&plain, &again);
		walk_again(t, &recall, &g, &other, &again);
		check_same(&plain, &again);
		if (s->len < 8)
			break;
		memcpy(&word, words + (i * 40) % (s->len - 7), sizeof(word));
		word += 16;
		memcpy(words + (i * 72) % (s->len - 7), &word, sizeof(word));
	}
	free(words);
}

/* Where a walk begins near its stack's beginning there is more to see. */
static u64 near_stack(u64 addr)
{
	return addr >> 32 == 0xffffffff ? addr : STACK + (addr & 0xffff8);
}

static void set_frame(struct unwind_frame *f, const struct start *s,
		      const u64 *regs)
{
	memset(f, 0, sizeof(*f));
	f->pc = s->pc;
	f->sp = near_stack(s->sp);
	f->fp = near_stack(s->fp);
	f->lr = s->lr;
	f->sp_known = s->known & 1;
	f->fp_known = s->known & 2;
	f->lr_known = s->known & 4;
	f->exact = s->known & 8;
	f->regs = s->known & 16 ? regs : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 regs[UNWIND_NREGS] = { 0 };
	struct unwind_table t;
	struct unwind_frame f;
	struct stack stack;
	struct start s;
	size_t len;
	void *table;

	if (size < sizeof(s))
		return 0;
	memcpy(&s, data, sizeof(s));
	data += sizeof(s);
	size -= sizeof(s);
	len = s.table_words * 2ULL;
	if (len > size)
		len = size;
	/* of its own: the end is where ASan sees it */
	table = malloc(len ? len : 1);
	memcpy(table, data, len);
	stack = (struct stack){ data + len, size - len };
	memcpy(regs, stack.words, stack.len < sizeof(regs) ? stack.len :
				  sizeof(regs));
	set_frame(&f, &s, regs);
	if (!hwpmc_unwind_table_check(&t, table, len, EM_X86_64))
		walk_all(&t, &f, &stack);
	free(table);
	return 0;
}
